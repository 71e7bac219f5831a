"""Whether inputs have the names, nesting, types and required members that the cloud's SDK declares.

What values mean: the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from localcloud.schema_index import PACKAGES, Spec, index_of, sdk_version
from localcloud.values import SIGNATURE, UNKNOWN


@dataclass(frozen=True, slots=True)
class Failure:
    """One reason to refuse inputs, before anything is made."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What the SDK says of one resource type."""

    token: str
    properties: Mapping[str, Spec]
    required: tuple[str, ...]
    outputs: tuple[str, ...]
    objects: Mapping[str, Any]

    def failures(self, inputs: Mapping[str, Any]) -> list[Failure]:
        entry = {"properties": self.properties, "required": self.required}
        return list(_object(entry, inputs, "", self.objects))


def shape_of(cloud: str, token: str) -> Shape | None:
    """None where the SDK that is installed has no such type."""
    _, module, name = token.split(":")
    index = index_of(cloud, module.partition("/")[0])
    resource = index["resources"].get(name) if index else None
    if index is None or resource is None:
        return None
    entry = index["objects"][resource["inputs"]]
    outputs = tuple(resource["outputs"])
    return Shape(token, entry["properties"], tuple(entry["required"]), outputs, index["objects"])


def unknown_type(cloud: str, token: str) -> str:
    return (
        f"{PACKAGES[cloud]} {sdk_version(cloud)} has no resource type {token}, so the local cloud cannot judge it. "
        f"Check the spelling, or install the SDK version that has it."
    )


def _value(spec: Spec, value: Any, path: str, objects: Mapping[str, Any]) -> Iterator[Failure]:
    if value is None or value == UNKNOWN or spec == "any":
        return
    if isinstance(spec, str):
        if not _is_scalar(spec, value):
            yield Failure(path, f"'{path}' should be {_with_article(spec)} but got {_kind(value)} ({_short(value)})")
        return
    kind, *inner = spec
    if kind == "union":
        yield from _best_of(inner, value, path, objects)
    elif kind == "list":
        if not isinstance(value, list):
            yield Failure(path, f"'{path}' should be a list but got {_kind(value)} ({_short(value)})")
            return
        for i, item in enumerate(value):
            yield from _value(inner[0], item, f"{path}[{i}]", objects)
    elif not isinstance(value, Mapping):
        yield Failure(path, f"'{path}' should be an object but got {_kind(value)} ({_short(value)})")
    elif kind == "map":
        for key, item in value.items():
            yield from _value(inner[0], item, f"{path}.{key}", objects)
    else:
        yield from _object(objects[inner[0]], value, path, objects)


def _object(
    entry: Mapping[str, Any], value: Mapping[str, Any], path: str, objects: Mapping[str, Any]
) -> Iterator[Failure]:
    prefix = f"{path}." if path else ""
    for key, item in value.items():
        if key.startswith("__"):
            continue
        spec = entry["properties"].get(key)
        if spec is None:
            yield Failure(f"{prefix}{key}", _unknown_name(f"{prefix}{key}", key, entry["properties"]))
        else:
            yield from _value(spec, item, f"{prefix}{key}", objects)
    for key in entry["required"]:
        if value.get(key) is None:
            yield Failure(f"{prefix}{key}", f"missing required property '{prefix}{key}'")


def _best_of(specs: list[Spec], value: Any, path: str, objects: Mapping[str, Any]) -> Iterator[Failure]:
    """Failures against the member that fits best; none where one fits."""
    attempts = [list(_value(spec, value, path, objects)) for spec in specs]
    yield from min(attempts, key=lambda failures: (any(f.path == path for f in failures), len(failures)))


def _is_scalar(spec: str, value: Any) -> bool:
    match spec:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return isinstance(value, Mapping) and SIGNATURE in value


def _unknown_name(path: str, name: str, known: Mapping[str, Spec]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}?" if near else f"it has: {', '.join(sorted(known))}"
    return f"unknown property '{path}'; {hint}"


def _with_article(spec: str) -> str:
    return f"an {spec}" if spec[0] in "aeiou" else f"a {spec}"


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
