"""Findings as workflow commands of GitHub Actions, which shows them beside the lines of a pull request.

The form: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cli.repository import repository_path
from cli.stacks import Judged
from planning.findings import Finding

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice", "waived": "notice"}


def annotations(results: Iterable[Judged]) -> Iterator[str]:
    for result in results:
        for finding in result.findings:
            properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(result, finding))
            where = f"{finding.path}: " if finding.path else ""
            told = _data(f"{where}{finding.message}\nfix: {finding.fix}")
            yield f"::{_COMMANDS[finding.level]} {properties}::{told}"


def _properties(result: Judged, finding: Finding) -> Iterator[tuple[str, str]]:
    frames = result.frames()
    if frames:
        yield "file", repository_path(frames.stack.path)
        if place := frames.place(finding):
            yield "line", str(place[0])
            yield "col", str(place[1])
    yield "title", finding.rule


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
