"""The main job, `make up` twice and `make down`, with the real engine on a local cloud of its own."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from cli import demo
from localcloud.progress import Progress


def test_both_example_clusters_come_up_stay_as_they_are_and_go_without_a_trace(
    workspace: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    cloud = workspace()
    said = io.StringIO()
    assert demo.up(cloud.workspace, Progress(said)) == 0
    assert said.getvalue().count(" created (") == len(demo.EXAMPLES)
    table = capsys.readouterr().out
    assert "16 x p5.48xlarge" in table
    assert "16 x Standard_ND96isr_H100_v5" in table

    said = io.StringIO()
    assert demo.up(cloud.workspace, Progress(said)) == 0
    assert said.getvalue().count("no changes") == len(demo.EXAMPLES)

    said = io.StringIO()
    assert demo.down(cloud.workspace, Progress(said)) == 0
    assert said.getvalue().count("the protection of its data is lifted") == len(demo.EXAMPLES)
    assert cloud.exists() == []
    assert cloud.workspace.stacks() == []
