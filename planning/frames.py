"""Where a finding stands in its stack file, and the line of the file that shows it.

A line may hold secrets: what stands under `secure:`, a key in the wrong place, config of another program. So a frame
shows keys, and values of the spec's own fields that are as short as messages show them; it ends before anything else.
How findings are told: `planning.findings`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from planning.findings import LONGEST_SHOWN, UNPLACED, Finding, Paint, Place, printable, unpainted
from planning.shape import field_names
from planning.stackfile import StackFile
from planning.stackkeys import CLUSTER_KEYS

WIDEST = 100
"""Columns of a line that are shown; of a longer one those around the caret."""
CUT = "…"


@dataclass(frozen=True)
class Frames:
    """The findings of one stack file, as they are placed and shown in it."""

    stack: StackFile
    file: str
    """How the file is called."""
    paint: Paint = unpainted

    def place(self, finding: Finding) -> Place | None:
        """Line and column; None where the file could not be had at all."""
        if finding.place != UNPLACED:
            return finding.place
        return _nearest(finding.path, self.stack.positions) if self.stack.data or self.stack.readable else None

    def frame(self, finding: Finding) -> list[str]:
        """File, line and column; below it, but for what is merely said, the line with a caret under the field."""
        place = self.place(finding)
        if place is None:
            return []
        line, column = place
        where = self.paint("faint", "  --> ") + printable(f"{self.file}:{line}:{column}")
        if finding.level == "info" or line > len(self._lines):
            return [where]
        below = next((text for text in self._lines[line:] if text.strip()), "")
        clear = _clear(self._lines[line - 1], below, column - 1, finding.path)
        if len(clear) < column:
            return [where]
        shown, caret = _cut_out(clear, column - 1)
        number = f"{line:>4}"
        mark = self.paint("faint", f"{' ' * len(number)} | ") + self.paint(finding.level, caret)
        return [where, self.paint("faint", f"{number} | ") + shown, mark]

    @cached_property
    def _lines(self) -> list[str]:
        data = self.stack.data
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
        return _LINE_BREAK.split(text)


def _nearest(path: str, positions: Mapping[str, Place]) -> Place:
    """Where the field stands, or the nearest one around it that is written."""
    while path not in positions:
        path = path.rpartition(".")[0]
    return positions[path]


_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""Those of YAML."""


# What of a line may be shown

_KEY = re.compile(r"""(?:(?<=[\s{,\[])|^)(?P<name>"[^"\\]*"|'[^']*'|[^\s"'{}\[\],#&*!|>%@`]+)\s*:(?=\s|$)""")
_STRUCTURE = re.compile(r"[\s{}\[\],?-]*")
_OPENING = re.compile(r"\s*(&\S+\s*)?\{?\s*")
_COMMENT = re.compile(r"\s+#.*")


def _clear(line: str, below: str, column: int, path: str) -> str:
    """As much of the line as holds keys, and values that may be shown."""
    line = _COMMENT.sub("", line)
    keys = list(_KEY.finditer(line))
    if not keys:
        return _clear_item(line, below, column, path)
    lead = line[: keys[0].start()]
    if not _STRUCTURE.fullmatch(lead):
        return ""
    clear = lead
    ends = [key.start() for key in keys[1:]] + [len(line)]
    for key, end in zip(keys, ends, strict=True):
        name, value = key["name"].strip("\"'"), line[key.end() : end]
        clear += key[0]
        own = key.start() == column and path.startswith(("tags.", "waive.")) and path.endswith(f".{name}")
        around = name in _AROUND and _OPENING.fullmatch(value)
        if not around and not ((own or name in _known()) and _may_be_shown(value) and not _goes_on(value, line, below)):
            return f"{clear} {CUT}" if value.strip() else clear
        clear += value
    return clear.rstrip()


def _clear_item(line: str, below: str, column: int, path: str) -> str:
    """An entry of a list, which its path says the field of."""
    *_, field, index = ["", *path.split(".")]
    value = line[column:]
    known = field in _known() and index.isdigit() and _STRUCTURE.fullmatch(line[:column])
    return line[:column] + value if known and _may_be_shown(value) and not _goes_on(value, line, below) else ""


def _may_be_shown(value: str) -> bool:
    return len(value.strip()) <= LONGEST_SHOWN and "PRIVATE" not in value


def _goes_on(value: str, line: str, below: str) -> bool:
    """Whether the value may be longer than this line shows."""
    value = value.strip()
    if not value:
        return False
    if value[0] in "\"'" and not (len(value) > 1 and value.rstrip(" ,}]")[-1] == value[0]):
        return True
    if not below or value[0] in "{[&" or _KEY.search(below) or below.lstrip()[0] in "#-]}":
        return False
    return len(below) - len(below.lstrip()) > len(line) - len(line.lstrip())


@cache
def _known() -> frozenset[str]:
    """Keys whose values may be shown: the spec's own fields, but for those that take any text."""
    return frozenset(field_names() - {"setup", "ssh_public_key", "tags", "waive"})


_AROUND = frozenset({"config", *CLUSTER_KEYS, "tags", "waive"})
"""Keys around others, which may be shown as such only."""


# How it is drawn


def _cut_out(line: str, column: int) -> tuple[str, str]:
    """The line, or the part of it around the column, and a caret under what stands there."""
    found = _KEY.match(line, column) or _WORD.match(line, column)
    under = found["name"] if found else line[column : column + 1]
    start = 0 if len(line) <= WIDEST else max(0, min(column - WIDEST // 2, len(line) - WIDEST))
    before = (CUT if start else "") + _drawn(line[start:column])
    rest = _drawn(line[column : start + WIDEST])
    after = CUT if len(line) > start + WIDEST else ""
    return before + rest + after, " " * _width(before) + "^" * max(1, min(_width(_drawn(under)), _width(rest)))


_WORD = re.compile(r"(?P<name>[^\s,\[\]{}]+)")


def _drawn(text: str) -> str:
    return printable(text.replace("\t", "→"))


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(_columns(text))


def _columns(text: str) -> Iterator[int]:
    for char in text:
        yield 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
