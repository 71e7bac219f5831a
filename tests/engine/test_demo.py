"""The main job, `make up` twice and `make down`, on the real engine, and the table that the README shows of it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from cli import demo
from localcloud.progress import Progress
from tests.pages import README, rewrite, shown

DRAWN = re.compile(r"\bfs-[0-9a-f]{17}\b|(?<=-objects-)[0-9a-f]{7}\b|(?<=tcp:/)[a-z0-9]{8}\b")
"""What a cloud draws by lot: ids, suffixes, mount names."""


def test_both_example_clusters_come_up_stay_as_they_are_and_go_without_a_trace(
    workspace: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    cloud = workspace()
    said = io.StringIO()
    assert demo.up(cloud.workspace, Progress(said)) == 0
    assert said.getvalue().count(" created (") == len(demo.EXAMPLES)
    table = capsys.readouterr().out
    if request.config.option.update_snapshots and DRAWN.sub("...", shown(README, "make up")) != DRAWN.sub("...", table):
        rewrite(README, "make up", table)
    assert DRAWN.sub("...", shown(README, "make up")) == DRAWN.sub("...", table)

    said = io.StringIO()
    assert demo.up(cloud.workspace, Progress(said)) == 0
    assert said.getvalue().count("no changes") == len(demo.EXAMPLES)
    assert capsys.readouterr().out == table

    said = io.StringIO()
    assert demo.down(cloud.workspace, Progress(said)) == 0
    assert said.getvalue().count("the protection of its data is lifted") == len(demo.EXAMPLES)
    assert cloud.exists() == []
    assert cloud.workspace.stacks() == []
    assert demo.down(cloud.workspace, Progress(said)) == 0
    assert "Nothing is up" in said.getvalue()
