"""The parse tree of a YAML file, of its first document as Go's yaml.v3 takes it. Its values: `planning.goyaml`.

PyYAML does the parsing, with its C parser where that is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml
from yaml.reader import ReaderError

from planning.findings import Place
from planning.goscalars import short_tag

MAX_DEPTH = 100

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Unreadable(Exception):  # noqa: N818 - a state of a file
    def __init__(self, place: Place, message: str, fix: str) -> None:
        super().__init__(message)
        self.place, self.message, self.fix = place, message, fix


@dataclass(slots=True, eq=False)
class Node:
    kind: Literal["scalar", "sequence", "mapping", "alias"]
    text: str
    tag: str
    place: Place
    plain: bool = False
    anchor: bool = False
    children: list[Node] = field(default_factory=list)
    target: Node | None = None


def parse(data: bytes) -> tuple[Node | None, Place | None]:
    """The root of the first document, None where there is none, and where something follows it."""
    events = _events(data)
    root = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            root = _Composer(events).node(next(events))
            next(events)
            break
    after = next(events, None)
    return root, None if isinstance(after, yaml.StreamEndEvent | None) else _place(after)


def _events(data: bytes) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(data, Loader=_LOADER)
    except ReaderError as problem:
        start = data[: problem.position].decode("utf-8", "replace")
        place = start.count("\n") + 1, len(start) - start.rfind("\n")
        raise Unreadable(place, f"a character that YAML does not allow: {problem.reason}", "remove it") from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise Unreadable(place, problem.problem or "bad YAML", _fix(data, place, problem.problem or "")) from None


def _fix(data: bytes, place: Place, problem: str) -> str:
    lines = data.decode("utf-8", "replace").splitlines()
    line = lines[place[0] - 1] if place[0] <= len(lines) else ""
    if re.match(r" *\t", line):
        return "indent with spaces, never with tabs"
    if "document start" in problem:
        return "begin all keys of one level in the same column"
    if "mapping values" in problem:
        return "put a text that holds a colon and a space in quotes, and indent keys of one level alike"
    return "correct the YAML there"


class _Composer:
    """Events to nodes. PyYAML's own composer refuses an anchor that is set twice; Go takes the later one."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._anchors: dict[str, Node] = {}

    def node(self, event: Any, depth: int = 0, in_flow: bool = False) -> Node:
        place = _place(event)
        if depth > MAX_DEPTH:
            raise too_deep(place)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, place)
        tag = short_tag("" if event.tag in (None, "!") else event.tag)
        if isinstance(event, yaml.ScalarEvent):
            plain = event.style in (None, "")
            if plain and in_flow and "?" in event.value:
                # YAML allows it, and Go's reader takes the ? for the mark of a key.
                raise Unreadable(place, "within [] and {}, a text that holds a ? needs quotes", "put it in quotes")
            return self._anchored(event, Node("scalar", event.value, tag, place, plain))
        kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
        node = self._anchored(event, Node(kind, "", tag, place))
        for child in self._events:
            if isinstance(child, yaml.CollectionEndEvent):
                break
            node.children.append(self.node(child, depth + 1, event.flow_style))
        return node

    def _alias(self, event: Any, place: Place) -> Node:
        target = self._anchors.get(event.anchor)
        if target is None:
            raise Unreadable(place, f"*{event.anchor} has no anchor before it", f"set &{event.anchor} first")
        return Node("alias", event.anchor, "", place, target=target)

    def _anchored(self, event: Any, node: Node) -> Node:
        if event.anchor:
            node.anchor = True
            self._anchors[event.anchor] = node
        return node


def _place(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1


def too_deep(place: Place) -> Unreadable:
    return Unreadable(place, f"nested deeper than {MAX_DEPTH} levels, which no stack needs", "write it flatter")
