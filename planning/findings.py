"""What a check says: findings, and how they are shown. Who finds them: `planning.shape` and `planning.rules`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
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
        return asdict(self)


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


def near(word: str, known: list[str]) -> list[str]:
    """Up to three of `known` that `word` may have meant, best first, whatever their case."""
    by_fold = {k.casefold(): k for k in known}
    return [by_fold[m] for m in get_close_matches(word.casefold(), list(by_fold), n=3, cutoff=0.6)]
