"""What differs between two sets of inputs, property by property.

Which difference replaces a resource: the rows of each type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from localcloud.values import first

Kind = Literal["add", "delete", "update"]


@dataclass(frozen=True, slots=True)
class Change:
    """What an update would do. The engine decides the rest."""

    properties: Mapping[str, Kind]
    """Property path -> how it differs."""
    replaces: frozenset[str]
    """Those of the paths that cannot be changed in place."""
    delete_first: bool = False


Same = Callable[[str, Any, Any], bool]
"""(path, old, new) -> whether the cloud takes the two for one value."""


def differences(old: Any, new: Any, same: Same, path: str = "") -> Iterator[tuple[str, Kind]]:
    if same(path, old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            if not key.startswith("__"):
                yield from _member(old.get(key), new.get(key), same, _join(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for i in range(max(len(old), len(new))):
            yield from _member(_item(old, i), _item(new, i), same, f"{path}[{i}]")
    else:
        yield path, "update"


def covers(pattern: str, path: str) -> bool:
    """Whether `path` is what `pattern` names or lies in it: `rootBlockDevice` covers `rootBlockDevice.encrypted`."""
    plain = re.sub(r"\[[^\]]*\]", "", path)
    return plain == pattern or plain.startswith(f"{pattern}.")


def replacing(paths: Iterable[str], immutable: Iterable[str], *sides: Mapping[str, Any]) -> frozenset[str]:
    """`sides`: old and new inputs, for what lies in an object that comes or goes as a whole."""
    patterns = tuple(immutable)

    def inside(pattern: str, path: str) -> bool:
        return pattern.startswith(f"{path}.") and any(first(side, pattern) is not None for side in sides)

    return frozenset(path for path in paths if any(covers(p, path) or inside(p, path) for p in patterns))


def _member(old: Any, new: Any, same: Same, path: str) -> Iterator[tuple[str, Kind]]:
    if old is None:
        if new is not None:
            yield path, "add"
    elif new is None:
        yield path, "delete"
    else:
        yield from differences(old, new, same, path)


def _item(items: list[Any], i: int) -> Any:
    return items[i] if i < len(items) else None


def _join(path: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
