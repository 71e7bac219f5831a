"""How a policy reads what a resource declares: by path, without tripping over values that a preview does not
know yet.

Properties come as the engine sends them: wire names in camelCase, nested values behind proxies that are a
`Mapping` or a `Sequence` but neither `dict` nor `list`, and that raise on a value known only at `up`. A
`View` keeps such values in mind instead of stopping, so that every fault which can be seen is reported, and
the policy then says that the rest could not be judged. Declaring a policy: `policies.declare`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pulumi_policy.proxy import UnknownValueError


class Unknown:
    """A value that a preview does not know. Neither true nor equal to anything."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "unknown until `up`"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class View:
    """A value at a path inside a resource's properties."""

    value: Any
    path: str = ""
    unknowns: list[UnknownValueError] = field(default_factory=list)
    """What was asked for and not known; shared by all views of one judgement."""

    def each(self, path: str) -> Iterator[View]:
        """Every known value at a path such as `ingress[].cidrBlocks[]`; none where a part is missing."""
        found = [self]
        for step in path.split("."):
            found = [child for view in found for child in view._child(step.removesuffix("[]"))]
            if step.endswith("[]"):
                found = [element for view in found for element in view._elements()]
        yield from found

    def get(self, path: str) -> Any:
        """The value at a path; None where there is none, UNKNOWN (and remembered) if not known yet."""
        return self._first(self.each(path))

    def at(self, key: str) -> Any:
        """As `get`, for one key of any spelling: keys of tags hold dots."""
        return self._first(self._child(key))

    def peek(self, path: str) -> Any:
        """As `get`, but not knowing is fine and is not remembered."""
        return replace(self, unknowns=[]).get(path)

    def has(self, path: str) -> bool:
        """Whether something is said at the path, be its value known or not."""
        *above, leaf = path.split(".")
        holder = self.get(".".join(above)) if above else self.value
        if holder is UNKNOWN:
            return True
        value = View(holder).peek(leaf) if above else self.peek(leaf)
        return value is UNKNOWN or not _empty(value)

    def differs(self, path: str, *allowed: Any) -> bool:
        """Whether the value is known, or known to be missing, and none of the allowed ones."""
        value = self.get(path)
        return value is not UNKNOWN and value not in allowed

    def true(self, path: str) -> bool:
        """Whether a flag is set; AWS launch templates write flags as the words "true" and "false"."""
        return flag(self.get(path)) is True

    def where(self, path: str) -> str:
        return f"{self.path}.{path}" if self.path else path

    def _first(self, views: Iterator[View]) -> Any:
        before = len(self.unknowns)
        for view in views:
            return view.value
        return UNKNOWN if len(self.unknowns) > before else None

    def _child(self, key: str) -> Iterator[View]:
        if isinstance(self.value, Mapping):
            try:
                value = self.value.get(key)
            except UnknownValueError as unknown:
                self.unknowns.append(unknown)
            else:
                if value is not None:
                    yield View(value, self.where(key), self.unknowns)

    def _elements(self) -> Iterator[View]:
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            return
        for index in range(len(self.value)):
            try:
                yield View(self.value[index], f"{self.path}[{index}]", self.unknowns)
            except UnknownValueError as unknown:
                self.unknowns.append(unknown)


def flag(value: Any) -> Any:
    """A flag as a boolean, whether it was written as one or as a word; anything else unchanged."""
    words = {"true": True, "false": False}
    return words.get(value.lower(), value) if isinstance(value, str) else value


def plain(value: Any) -> Any:
    """A value without its proxies; raises on one that a preview does not know, where it is behind a checking proxy."""
    if isinstance(value, Mapping):
        return {key: plain(value[key]) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(value[index]) for index in range(len(value))]
    return value


def shown(value: Any) -> str:
    """A value as a message quotes it."""
    if value is None:
        return "not set"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | Mapping | Sequence) and len(value) == 0)
