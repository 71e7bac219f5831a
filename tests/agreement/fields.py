"""The fields of a spec as the models have them, with their defaults. Values for them: `specs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic_core import PydanticUndefined

from planning.shape import fields_at
from planning.spec import SPECS

ABSENT = object()


@cache
def fields(cloud: str) -> dict[str, Any]:
    """Dotted path -> default (ABSENT where it has none), of all that a user can write in more than one way."""
    return dict(_fields(cloud, ()))


def _fields(cloud: str, above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, field in fields_at(SPECS[cloud], above).items():
        path = (*above, name)
        only = get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1
        always_there = field.default_factory is not None or (field.is_required() and fields_at(SPECS[cloud], path))
        if not (always_there or (only and not field.is_required()) or path == ("cloud",)):
            yield ".".join(path), ABSENT if field.default is PydanticUndefined else field.default
        yield from _fields(cloud, path)


def left_default(cloud: str, spec: Mapping[str, Any]) -> Iterator[str]:
    """Fields of a spec that say something of their own."""
    for path, default in fields(cloud).items():
        value = _at(spec, path)
        if value is not ABSENT and value != default:
            yield path


def _at(spec: Any, path: str) -> Any:
    for key in path.split("."):
        spec = spec.get(key, ABSENT) if isinstance(spec, Mapping) else ABSENT
    return spec
