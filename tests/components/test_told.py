"""Findings in the log of a run: once each, with the stack file's line where the spec comes from that file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime.config import set_all_config

from components.program import read_plan
from planning.plan import Plan
from planning.stackfile import read_stack
from tests.clusters import TODAY, stack_file

ReadPlan = Callable[[dict[str, Any]], Plan]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What goes to the log as warnings."""
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda message, *_: told.append(message))
    return told


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadPlan:
    """`read(changes)`: the plan that the program makes of a stack file beside it, with these changes."""
    monkeypatch.setattr(pulumi, "get_stack", lambda: "trial")

    def run(changes: dict[str, Any], elsewhere: bool = False) -> Plan:
        path = tmp_path / "Pulumi.trial.yaml"
        path.write_text(stack_file("aws-p5", changes))
        spec = read_stack(path).spec
        if elsewhere:
            path.write_text(stack_file("aws-p5", {**changes, "tags": {"team": "other"}}))
        set_all_config({"gpu-clusters:cluster": json.dumps(spec)})
        return read_plan(pulumi.Config("gpu-clusters"), TODAY, tmp_path)

    return run


def test_a_warning_has_the_line_of_the_stack_file_and_not_the_word_that_the_engine_writes(
    read: ReadPlan, logged: list[str], tmp_path: Path
) -> None:
    read({"zone": "use1-az9"})
    [told] = logged
    first, place, line, caret, _ = told.splitlines()
    assert first.startswith("zone: p5.48xlarge was seen in us-east-1 only in ")
    assert place.startswith(f"  --> {tmp_path.name}/Pulumi.trial.yaml:")
    assert (line.partition("| ")[2], caret.partition("| ")[2]) == ("    zone: use1-az9", "    ^^^^")


def test_a_waived_finding_is_logged_as_waived(read: ReadPlan, logged: list[str]) -> None:
    read({"zone": "use1-az9", "waive": {"zone-without-the-type": "a new zone"}})
    assert [told.startswith("waived: zone: ") for told in logged] == [True]


def test_each_finding_is_a_warning_of_its_own_and_infos_are_none(read: ReadPlan, logged: list[str]) -> None:
    assert read({}).name == "llama-70b"
    assert logged == []
    read({"zone": "use1-az9", "lifetime.expires": "2026-12-02", "storage.on_delete": "delete"})
    assert len(logged) == sum("fix: " in told for told in logged) > 0
    assert all(told.count("\n  fix: ") == 1 for told in logged)


def test_a_spec_from_elsewhere_than_the_stack_file_is_told_without_its_lines(read: Any, logged: list[str]) -> None:
    read({"zone": "use1-az9"}, elsewhere=True)
    assert ["-->" in told for told in logged] == [False]


def test_an_error_has_its_line_too(read: ReadPlan, logged: list[str]) -> None:
    with pytest.raises(
        pulumi.RunError, match=r"error: nodes\.count: .*\n  --> .*/Pulumi\.trial\.yaml:\d+:\d+\n.*count: 0\n"
    ):
        read({"nodes.count": 0})
    assert logged == []
