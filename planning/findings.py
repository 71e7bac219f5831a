"""What a check says: findings, and how they are shown. Who finds them: `planning.shape` and `planning.rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "info", "waived"]
Place = tuple[int, int]
"""Line and column in a file, from 1."""
UNPLACED: Place = (0, 0)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing to say about a spec."""

    path: str
    """Where, dotted as in the spec: nodes.count. Empty for the whole."""
    rule: str
    """Id of the rule, or `schema` for a mistake of shape."""
    level: Level
    message: str
    """What was found and why it cannot work."""
    fix: str
    """What to do instead, with the nearest legal value where there is one."""
    reference: str = ""
    """The document or public issue behind the rule."""
    waiver: str = ""
    """The reason that the spec gives for living with it."""
    place: Place = UNPLACED
    """Where it stands in its file, if the path does not lead there. For all others: `planning.frames`."""

    def as_json(self) -> dict[str, str]:
        order = ("rule", "level", "path", "message", "fix", "reference")
        return {name: getattr(self, name) for name in order}


def has_errors(findings: Iterable[Finding]) -> bool:
    return any(f.level == "error" for f in findings)


Paint = Callable[[str, str], str]
"""Colours a text by what it is: of a level, or `faint` for what only frames it."""


def unpainted(_what: str, text: str) -> str:
    return text


def render(
    findings: Iterable[Finding],
    frame: Callable[[Finding], list[str]] = lambda _: [],
    paint: Paint = unpainted,
) -> str:
    """Findings as text for people, errors first; the one form that `check` and `pulumi preview` show.

    `frame` gives the lines that show where a finding is: see `planning.frames`.
    """
    order = list(_LEVELS)
    ordered = sorted(findings, key=lambda f: (order.index(f.level), f))
    return "\n".join(f"{paint(f.level, f'{f.level}:')} {render_told(f, frame)}" for f in ordered)


def render_told(finding: Finding, frame: Callable[[Finding], list[str]] = lambda _: []) -> str:
    """A finding without its level, for a log that says the level itself."""
    where = f"{finding.path}: " if finding.path else ""
    first = printable(f"{where}{finding.message} [{finding.rule}]")
    # The source of a warning is in the JSON and in the list of rules; an error is worth a line more.
    source = finding.level == "error" and finding.reference.startswith("https://")
    last = [f"  fix: {finding.fix}", *([f"  see: {finding.reference}"] if source else [])]
    return "\n".join([first, *frame(finding), *map(printable, last)])


_LEVELS: tuple[Level, ...] = ("error", "warning", "info", "waived")


def printable(text: str) -> str:
    """The text in one line that no terminal and no log takes for a command: keys of a file are quoted in messages."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def shown(value: object) -> str:
    """A value as a message may show it: short, and never a long text, which may be a secret in the wrong place."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | Sequence | Set) and not isinstance(value, str):
        return f"a {kind(value)}"
    if isinstance(value, int) and abs(value) >= 10**LONGEST_SHOWN:
        return f"a number of more than {LONGEST_SHOWN} digits"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"a {kind(value)} of {len(text) - 2} characters"


LONGEST_SHOWN = 60


def kind(value: object) -> str:
    """What a value is, in the words of YAML."""
    words = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", tuple: "list", dict: "mapping"}
    return words.get(type(value), type(value).__name__)


def near(word: str, known: list[str]) -> list[str]:
    """Up to three of `known` that `word` may have meant, best first, whatever their case."""
    from difflib import get_close_matches  # only after a mistake: it costs every start

    by_fold = {k.casefold(): k for k in known}
    return [by_fold[m] for m in get_close_matches(word.casefold(), list(by_fold), n=3, cutoff=0.6)]
