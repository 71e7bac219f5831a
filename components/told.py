"""Findings in the log of a run. Errors end it instead: see `components.program` and the networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pulumi

from planning.findings import Finding, render_told


def warn(
    findings: Iterable[Finding],
    frame: Callable[[Finding], list[str]] = lambda _: [],
    resource: pulumi.Resource | None = None,
) -> None:
    """One warning for each; the engine itself writes the word before it."""
    for finding in sorted(findings):
        waived = "waived: " if finding.level == "waived" else ""
        pulumi.log.warn(f"{waived}{render_told(finding, frame)}", resource)
