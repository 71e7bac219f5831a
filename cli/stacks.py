"""Stacks as commands name them, and what can be said of each: its file's mistakes and its spec's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from planning.findings import Finding, Paint, near, render, unpainted
from planning.frames import Frames
from planning.plan import Assessment, assess
from planning.shape import SCHEMA_RULE
from planning.stackfile import MISSING, SECRET_RULE, StackFile, read_stack

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
    file: StackFile | None = None
    """The stack file as far as it could be read; None where the source is none."""

    @property
    def ok(self) -> bool:
        return not any(f.level == "error" for f in self.findings)

    @property
    def file_name(self) -> str | None:
        """Of the stack file: below the working directory as seen from there, else as it was named."""
        if self.file is None:
            return None
        path = self.file.path
        return str(path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path)

    def frames(self, paint: Paint = unpainted) -> Frames | None:
        """The findings as they stand in the stack file."""
        return None if self.file is None else Frames(self.file, self.file_name or "", paint)

    def as_text(self, findings: Iterable[Finding] | None = None, paint: Paint = unpainted) -> str:
        """All findings, or these, for people: each with the line of the file that it is about."""
        frames = self.frames(paint)
        findings = self.findings if findings is None else findings
        return render(findings, frames.frame, paint) if frames else render(findings, paint=paint)

    def as_json(self, findings: Iterable[Finding] | None = None) -> list[dict[str, object]]:
        """All findings, or these; file, line and column are null where there is no such place."""
        frames = self.frames()
        found: list[dict[str, object]] = []
        for finding in self.findings if findings is None else findings:
            line, column = (frames.place(finding) if frames else None) or (None, None)
            found.append({**finding.as_json(), "file": self.file_name, "line": line, "column": column})
        return found


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
        return Judged(source, tuple(stack.findings), None, file=stack)
    if stack.spec is MISSING:
        return Judged(source, tuple(stack.findings), Assessment(findings=()), file=stack)
    assessment = assess(stack.spec, datetime.now(UTC).date(), path.parent)
    encrypted = {f.path for f in stack.findings if f.rule == SECRET_RULE}
    findings = {*stack.findings, *(f for f in assessment.findings if f.path not in encrypted)}
    return Judged(source, tuple(sorted(findings)), assessment, path, stack)


def stack_names() -> list[str]:
    """Of this project's own stacks."""
    return sorted(p.name.removeprefix("Pulumi.").removesuffix(".yaml") for p in STACKS.glob("Pulumi.*.yaml"))


def _path(source: str) -> Path | None:
    named = STACKS / f"Pulumi.{source}.yaml"
    if "/" not in source and named.is_file():
        return named
    path = Path(source)
    return path if path.exists() or path.suffix in (".yaml", ".yml") or "/" in source else None
