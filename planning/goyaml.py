"""The values of a YAML file as Go's yaml.v3 reads them: aliases, merge keys, keys given twice, and where all stands.

The parse tree: `planning.yamlnodes`; single scalars: `planning.goscalars`; what Pulumi makes of a stack file:
`planning.stackfile`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from planning import goscalars as scalars
from planning.findings import Place
from planning.goscalars import Moment, ScalarError
from planning.yamlnodes import MAX_DEPTH, Node, Unreadable, parse, too_deep

MAX_VALUES = 100_000
Keys = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be read."""

    keys: Keys
    place: Place
    message: str
    fix: str


@dataclass(slots=True)
class Document:
    """The first document of a file. `value` means nothing where there are problems."""

    value: object = None
    places: dict[Keys, Place] = field(default_factory=dict)
    """Line and column, from 1, of each key and list item; of the root under ()."""
    problems: list[Problem] = field(default_factory=list)
    zoned: list[Keys] = field(default_factory=list)
    """Where points in time with an offset from UTC stand."""
    odd_keys: list[Keys] = field(default_factory=list)
    """Keys that are no text in YAML, below and at the root: numbers, booleans, nothing."""
    anchored: set[Keys] = field(default_factory=set)
    """What carries an anchor, thus is meant to be used elsewhere."""
    more: Place | None = None
    """Where something follows the first document."""


def read(data: bytes) -> Document:
    """What `data` holds. Never raises for bad input: problems stand in the document."""
    document = Document()
    try:
        root, document.more = parse(data)
        if root is not None:
            document.places[()] = root.place
            document.value = _Reader(document).value(root, ())
    except Unreadable as stop:
        document.problems.append(Problem((), stop.place, stop.message, stop.fix))
    return document


class _Reader:
    """Nodes to plain values."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: list[Node] = []
        """Aliases and merged mappings that are being read."""
        self._count = 0

    def value(self, node: Node, keys: Keys) -> object:
        self._guard(node, keys)
        if node.target is not None:
            if node in self._open:
                raise Unreadable(node.place, f"the anchor &{node.text} holds itself", "write the values out")
            self._open.append(node)
            value = self.value(node.target, keys)
            self._open.pop()
            return value
        if node.anchor:
            self._document.anchored.add(keys)
        if node.kind == "scalar":
            return self._scalar(node, keys)[1]
        return self._mapping(node, keys) if node.kind == "mapping" else self._sequence(node, keys)

    def _guard(self, node: Node, keys: Keys) -> None:
        """Bounds work and recursion, which aliases can multiply."""
        self._count += 1
        if self._count > MAX_VALUES:
            raise Unreadable(node.place, f"more than {MAX_VALUES:,} values with all aliases", "write a smaller file")
        if len(keys) + len(self._open) > MAX_DEPTH:
            raise too_deep(node.place)

    def _scalar(self, node: Node, keys: Keys) -> tuple[str, object]:
        try:
            tag, value = _typed(node)
        except ScalarError as problem:
            self._refuse(keys, node, f"{_where(keys)} {problem}", "remove the tag, or give it a value that fits")
            return node.tag, node.text
        if isinstance(value, Moment):
            if value.zoned:
                self._document.zoned.append(keys)
            return tag, value.text
        return tag, self._written_again(value, node, keys) if isinstance(value, str) else value

    def _sequence(self, node: Node, keys: Keys) -> list[object]:
        items: list[object] = []
        for index, child in enumerate(node.children):
            here = (*keys, index)
            self._document.places[here] = child.place
            items.append(self.value(child, here))
        return items

    def _mapping(self, node: Node, keys: Keys) -> dict[str, object]:
        entries = _Entries(all(_key_tag(key) in (scalars.STR, scalars.MERGE) for key in node.children[::2]))
        self._fill(entries, node, keys)
        values: dict[str, object] = {}
        for text, value in entries.found.values():
            if text in values:
                self._twice((*keys, text), node, "in two spellings")
            values[text] = value
        return values

    def _fill(self, entries: _Entries, node: Node, keys: Keys, merged: bool = False) -> None:
        """Adds what `node` holds and `entries` does not, then what it merges."""
        spelt: dict[object, Node] = {}
        merges: list[Node] = []
        for key, child in zip(node.children[::2], node.children[1::2], strict=True):
            if _is_merge(key):
                merges.append(child)
                continue
            found = self._key(key, keys, raw=merged and entries.texts_only)
            if found is None:
                continue
            identity, text = found
            here = (*keys, text)
            earlier = spelt.get(identity) or spelt.get(key.text)
            if earlier:
                self._twice(here, key, f"on line {earlier.place[0]} and on line {key.place[0]}")
            spelt[identity] = spelt[key.text] = key
            if identity in entries.found:
                continue
            self._document.places[here] = key.place
            if identity[0] != scalars.STR:
                self._document.odd_keys.append(here)
            entries.found[identity] = text, self.value(child, here)
        if len(merges) > 1:
            self._refuse(keys, merges[1], "<< stands twice in one mapping", "give one << a list: [*a, *b]")
        for child in merges:
            self._merge(entries, child, keys)

    def _merge(self, entries: _Entries, node: Node, keys: Keys) -> None:
        for source in node.children if node.kind == "sequence" else [node]:
            target = source.target or source
            self._guard(source, keys)
            if target.kind != "mapping":
                raise Unreadable(
                    node.place, "<< takes a mapping or a list of mappings", "give it an alias of a mapping"
                )
            if target in self._open:
                raise Unreadable(node.place, "a mapping merges itself", "write the values out")
            self._open.append(target)
            self._fill(entries, target, keys, merged=True)
            self._open.pop()

    def _key(self, node: Node, keys: Keys, raw: bool) -> tuple[tuple[str, object], str] | None:
        """What makes the key equal to another, and its text; None where Go drops it."""
        target = node.target or node
        if target.kind != "scalar":
            raise Unreadable(node.place, "a key is a list or a mapping", "write the key as one word")
        tag, value = self._scalar(target, keys)
        if value != value:
            self._refuse(keys, node, ".nan is a key, and a key that equals nothing loses its value", "put it in quotes")
        if value == "<<":
            self._refuse(keys, node, "<< is a key in quotes, and Pulumi merges it all the same", "write another key")
        if raw and (tag == scalars.TIME or not isinstance(value, str)):
            # Merged into a mapping of texts, a key is taken as it is written.
            return None if value is None else ((scalars.STR, target.text), target.text)
        kind = scalars.STR if isinstance(value, str) and tag != scalars.TIME else tag
        return (kind, value), scalars.as_text(value)

    def _written_again(self, text: str, node: Node, keys: Keys) -> str:
        """The text after Pulumi wrote the file anew and read it again, as it does before it takes the values.

        A text of several lines is a block then, whose reader drops a line break at the start and takes a tab there
        for bad indentation.
        """
        if "\n" not in text or _NO_BLOCK.search(text):
            return text
        if text[0] == "\t":
            message = f"{_where(keys)} is a text of several lines that begins with a tab, which Pulumi cannot read back"
            self._refuse(keys, node, message, "begin it with spaces, or with its first word")
        return text[1:] if text[0] in "\n\u2028\u2029" else text

    def _twice(self, keys: Keys, node: Node, how: str) -> None:
        self._refuse(keys, node, f"{_where(keys)} is given twice, {how}", "keep one of them")

    def _refuse(self, keys: Keys, node: Node, message: str, fix: str) -> None:
        self._document.problems.append(Problem(keys, node.place, message, fix))


@dataclass(slots=True)
class _Entries:
    """A mapping while it is filled: by what makes a key equal to another, its text and its value."""

    texts_only: bool
    """Whether Go reads the mapping into one that takes texts only as keys."""
    found: dict[tuple[str, object], tuple[str, object]] = field(default_factory=dict)


# What keeps Go from writing a text of several lines as a block: a character that is not printable to it, a space
# before a line break, a space at the end.
_NO_BLOCK = re.compile("[^\n\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]| [\n\u2028\u2029]| \\Z")


def _typed(node: Node) -> tuple[str, object]:
    if node.tag and node.plain and not node.text:
        # In [!!str, a] Go's reader takes the comma for a part of the tag: what stands there is not what it looks like.
        raise ScalarError("has a tag and no value")
    if node.tag:
        return scalars.tagged(node.tag, node.text)
    return scalars.implied(node.text) if node.plain else (scalars.STR, node.text)


def _key_tag(node: Node) -> str:
    node = node.target or node
    if node.kind != "scalar":
        return node.kind
    if node.tag:
        return node.tag
    return scalars.implied(node.text)[0] if node.plain else scalars.STR


def _is_merge(node: Node) -> bool:
    plain = node.plain and not node.tag
    return node.kind == "scalar" and node.text == "<<" and (plain or node.tag == scalars.MERGE)


def _where(keys: Keys) -> str:
    if not keys:
        return "the file"
    *before, last = keys
    return f"item {last + 1} of {before[-1] if before else 'the list'}" if isinstance(last, int) else last
