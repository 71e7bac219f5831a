"""What a check says: findings, and how they are shown. Who finds them: `planning.shape` and `planning.rules`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "info", "waived"]


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

    def as_json(self) -> dict[str, str]:
        order = ("rule", "level", "path", "message", "fix", "reference")
        return {name: getattr(self, name) for name in order}


def has_errors(findings: Iterable[Finding]) -> bool:
    return any(f.level == "error" for f in findings)


def render(findings: Iterable[Finding]) -> str:
    """Findings as text for people, errors first; the one form that `check` and `pulumi preview` show."""
    order = list(_LEVELS)
    return "\n".join(_shown(f) for f in sorted(findings, key=lambda f: (order.index(f.level), f)))


_LEVELS: tuple[Level, ...] = ("error", "warning", "info", "waived")


def _shown(finding: Finding) -> str:
    where = f"{finding.path}: " if finding.path else ""
    return f"{finding.level}: {where}{finding.message} [{finding.rule}]\n  fix: {finding.fix}"


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
