"""Findings as people see them who never run `check`: `pulumi preview` shows the text and the line of the stack file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clusters import ROOT, stack_file

PROJECT = """name: gpu-clusters
runtime: python
main: stacks
stackConfigDir: stacks
"""


@pytest.fixture
def preview(workspace: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """`preview(stack file)`: of a project as ours is, with this stack."""

    def run(text: str, check: bool) -> str:
        folder = tmp_path / "project"
        (folder / "stacks").mkdir(parents=True)
        (folder / "Pulumi.yaml").write_text(PROJECT)
        shutil.copy(ROOT / "stacks/__main__.py", folder / "stacks")
        (folder / "stacks/Pulumi.trial.yaml").write_text(text)
        ran = workspace(folder).pulumi("preview", "--stack", "trial", "--color", "never", check=check)
        assert (ran.returncode == 0) is check
        return ran.stdout + ran.stderr

    return run


def shown_at(text: str, field: str, said: str) -> list[str]:
    """The lines of the one finding of `field`, without the engine's indentation."""
    lines = [line.strip() for line in said.splitlines()]
    line, *_ = (number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(f"{field}:"))
    places = [at for at, told in enumerate(lines) if told.startswith(f"--> stacks/Pulumi.trial.yaml:{line}:")]
    assert len(places) == 1, said
    return lines[places[0] - 1 : places[0] + 4]


def test_a_preview_of_a_wrong_spec_shows_every_line_that_is_wrong_and_no_traceback(preview: Callable[..., str]) -> None:
    text = stack_file("aws-p5", {"nodes.count": 0, "storage.filesystem.capacity": "38.4TB"})
    said = preview(text, check=False)
    first, _, line, caret, fix = shown_at(text, "capacity", said)
    assert first.startswith("error: storage.filesystem.capacity: 38.4TB is a decimal size, 35,763 GiB")
    assert line.endswith("|         capacity: 38.4TB")
    assert caret.endswith("|         ^^^^^^^^")
    assert fix == "fix: did you mean 38400GiB?"
    assert shown_at(text, "count", said)[0] == "error: nodes.count: count is 0, and the least is 1 [schema]"
    assert "Traceback" not in said


def test_a_preview_with_warnings_says_the_word_once_and_goes_on(preview: Callable[..., str]) -> None:
    text = stack_file("aws-p5", {"zone": "use1-az9"})
    said = preview(text, check=True)
    first, _, line, caret, _ = shown_at(text, "zone", said)
    assert first.startswith("warning: zone: p5.48xlarge was seen in us-east-1 only in ")
    assert (line[-20:], caret[-8:]) == ("|     zone: use1-az9", "    ^^^^")
    assert "warning: warning:" not in said
    assert "aws:autoscaling:Group" in said
