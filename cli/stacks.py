"""Stacks as commands name them, and what can be said of each: its file's mistakes and its spec's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from planning.findings import Finding, near
from planning.plan import Assessment, assess
from planning.shape import SCHEMA_RULE
from planning.stackfile import MISSING, read_stack

STACKS = Path(__file__).resolve().parent.parent / "stacks"


@dataclass(frozen=True, slots=True)
class Judged:
    source: str
    """As the command line named it."""
    findings: tuple[Finding, ...]
    assessment: Assessment | None
    """None where the file could not be read."""
    path: Path | None = None
    """Of the stack file, where there is one that could be read."""

    @property
    def ok(self) -> bool:
        return not any(f.level == "error" for f in self.findings)


def judge_stack(source: str) -> Judged:
    """Judges a stack by its name (stacks/Pulumi.<name>.yaml of this project) or a stack file by its path."""
    path = _path(source)
    if path is None:
        known = stack_names()
        close = near(source, known)
        fix = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(known)}"
        message = f"{source} is neither a stack of this project nor a file"
        return Judged(source, (Finding("", SCHEMA_RULE, "error", message, fix),), None)
    stack = read_stack(path)
    if not stack.readable:
        return Judged(source, tuple(stack.findings), None)
    if stack.spec is MISSING:
        return Judged(source, tuple(stack.findings), Assessment(findings=()))
    assessment = assess(stack.spec, datetime.now(UTC).date(), path.parent)
    return Judged(source, tuple(sorted({*stack.findings, *assessment.findings})), assessment, path)


def stack_names() -> list[str]:
    """Of this project's own stacks."""
    return sorted(p.name.removeprefix("Pulumi.").removesuffix(".yaml") for p in STACKS.glob("Pulumi.*.yaml"))


def _path(source: str) -> Path | None:
    named = STACKS / f"Pulumi.{source}.yaml"
    if "/" not in source and named.is_file():
        return named
    path = Path(source)
    return path if path.exists() or path.suffix in (".yaml", ".yml") or "/" in source else None
