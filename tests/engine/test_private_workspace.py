"""A whole project in its private folder under the real engine: any project, clean failures, and life after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """\
import json, pathlib, time
import pulumi

config = pulumi.Config()
gate = config.get("gate")
if gate:
    pathlib.Path(gate).touch()
    time.sleep(60)
if config.get("fault") == "run-error":
    raise pulumi.RunError("two errors:\\n  nodes.count: 0")
if config.get("fault") == "exception":
    {}["missing"]
if config.get("fault") == "apply":
    pulumi.Output.from_input({}).apply(lambda known: known["missing"])
pulumi.export("size", config.get("size"))
"""

PACK = """\
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

def refuse(stack, report):
    report("the tiny pack refuses this stack")

PolicyPack("tiny", [StackValidationPolicy("refuse", "Refuses.", refuse, EnforcementLevel.MANDATORY)])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project without resources, as anybody may have one."""
    folder = tmp_path / "small project"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: small\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "Pulumi.dev.yaml").write_text("config:\n  small:size: large\n")
    return folder


def set_config(project: Path, key: str, value: object) -> None:
    (project / "Pulumi.dev.yaml").write_text(f"config:\n  small:{key}: {json.dumps(str(value))}\n")


def test_up_runs_the_program_and_leaves_the_tracked_files_as_they_are(
    workspace: Callable[..., Any], project: Path
) -> None:
    before = {path: path.read_bytes() for path in project.iterdir()}
    cloud = workspace(project)
    log = cloud.up("dev")
    assert cloud.outputs("dev") == {"size": "large"}
    assert "warning" not in log.stdout + log.stderr
    cloud.up("dev", "--expect-no-changes")
    assert {path: path.read_bytes() for path in before} == before
    assert {path.name for path in project.iterdir()} - {path.name for path in before} <= {"__pycache__"}


def test_a_run_error_is_read_once_and_without_a_traceback(workspace: Callable[..., Any], project: Path) -> None:
    set_config(project, "fault", "run-error")
    failed = workspace(project).pulumi("preview", "--stack", "dev", check=False)
    diagnostics = failed.stdout.partition("Diagnostics:")[2]
    assert failed.returncode != 0
    assert diagnostics.count("error: two errors:\n      nodes.count: 0\n") == 1
    assert "Traceback" not in failed.stdout + failed.stderr


@pytest.mark.parametrize("fault", ["exception", "apply"])
def test_an_exception_is_read_with_the_line_of_the_program_and_without_the_machinery(
    workspace: Callable[..., Any], project: Path, fault: str
) -> None:
    set_config(project, "fault", fault)
    failed = workspace(project).pulumi("preview", "--stack", "dev", check=False)
    diagnostics = failed.stdout.partition("Diagnostics:")[2]
    assert failed.returncode != 0
    assert "KeyError: 'missing'" in diagnostics
    assert "__main__.py" in diagnostics
    assert "localcloud" not in diagnostics
    assert "asyncio" not in diagnostics


def test_a_policy_pack_is_in_force(workspace: Callable[..., Any], project: Path, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.1.0\n")
    (pack / "__main__.py").write_text(PACK)
    failed = workspace(project).up("dev", "--policy-pack", str(pack), check=False)
    assert failed.returncode != 0
    assert "the tiny pack refuses this stack" in failed.stdout


def test_a_pack_that_cannot_start_is_an_error_and_no_silence(
    workspace: Callable[..., Any], project: Path, tmp_path: Path
) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.1.0\n")
    (pack / "__main__.py").write_text("raise SystemExit('this pack is broken')\n")
    failed = workspace(project).up("dev", "--policy-pack", str(pack), check=False)
    assert failed.returncode != 0
    assert "this pack is broken" in failed.stdout + failed.stderr


def running_up(cloud: Any, project: Path) -> subprocess.Popen[str]:
    """An `up` that stands in the middle of its program."""
    gate = project.parent / "gate"
    set_config(project, "gate", gate)
    cloud.workspace.ready("dev")
    made = cloud.workspace
    command = [made.engine.path, "up", "--yes", "--skip-preview", "--non-interactive", "--stack", "dev"]
    run = subprocess.Popen(
        command, cwd=made.root / "project", env=made.environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not gate.exists():
        assert time.monotonic() < deadline, "the program never ran"
        time.sleep(0.05)
    set_config(project, "size", "small")
    return run


def test_after_ctrl_c_the_next_up_works(workspace: Callable[..., Any], project: Path) -> None:
    cloud = workspace(project)
    run = running_up(cloud, project)
    run.send_signal(signal.SIGINT)
    log, _ = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "Traceback" not in log
    cloud.up("dev")
    assert cloud.outputs("dev") == {"size": "small"}


def test_after_a_kill_the_next_up_works(workspace: Callable[..., Any], project: Path) -> None:
    cloud = workspace(project)
    run = running_up(cloud, project)
    run.kill()
    run.communicate()
    locks = cloud.workspace.root / "state/.pulumi/locks"
    assert list(locks.rglob("*.json")), "a killed engine leaves its lock; if not, recovery is for nothing"
    cloud.up("dev")
    assert cloud.outputs("dev") == {"size": "small"}
