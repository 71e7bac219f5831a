"""Drift, dead nodes, failures and kills under the real engine: each shows, and `up` or `refresh` repairs it.

The faults themselves: tests/localcloud/test_faults and test_events.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest

from localcloud import events, faults
from localcloud.faults import Fault
from localcloud.store import Store

STACKS = Path(__file__).parent.parent.parent / "stacks"
TRIAL = "trial"
VPC = "aws:ec2/vpc:Vpc"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
PROGRAM = """\
import pulumi

def make(kind, name, inputs, *after):
    return pulumi.CustomResource(kind, name, inputs, pulumi.ResourceOptions(depends_on=list(after)))

vpc = make("aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "10.0.0.0/16", "tags": {"team": "a"}})
for n in range(int(pulumi.Config().get("subnets") or 6)):
    make("aws:ec2/subnet:Subnet", f"subnet-{n}", {"vpcId": vpc.id, "cidrBlock": f"10.0.{n}.0/24"})
make("aws:ec2/securityGroup:SecurityGroup", "group", {"vpcId": vpc.id})
make("aws:s3/bucket:Bucket", "data", {})
"""


@pytest.fixture
def small(workspace: Callable[..., Any], tmp_path: Path) -> Any:
    """A local cloud with a project of a few resources that starts fast."""
    project = tmp_path / "small"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: small\nruntime: python\n")
    (project / "__main__.py").write_text(PROGRAM)
    cloud = workspace(project)
    cloud.stack(TRIAL, "config:\n  aws:region: us-east-1\n")
    return cloud


def stack_file(stack: str) -> str:
    return (STACKS / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")


def on(cloud: Any, do: Callable[[Store], Any]) -> Any:
    with closing(Store(cloud.workspace.store_path)) as store:
        return do(store)


def same(cloud: Any, stack: str = TRIAL) -> None:
    """The state and the cloud hold the same, each thing once."""
    state = {r["id"] for r in cloud.state(stack) if r.get("id") and not r["type"].startswith("pulumi:")}
    exists = [r for r in cloud.exists() if f":{stack}::" in r.urn]
    assert len(exists) == len(state)
    assert {record.id for record in exists} == state
    assert not any(record.lost for record in exists)


def test_drift_is_seen_by_a_refreshing_preview_and_repaired_by_up(small: Any):
    small.up(TRIAL)
    on(small, lambda store: events.drift(store, "Vpc/vpc", "tags.team", "someone else"))
    small.pulumi("preview", "--stack", TRIAL, "--expect-no-changes")
    seen = small.pulumi("preview", "--refresh", "--stack", TRIAL, "--expect-no-changes", check=False)
    assert seen.returncode != 0
    assert "someone else" in small.pulumi("preview", "--refresh", "--diff", "--stack", TRIAL).stdout
    small.up(TRIAL, "--refresh")
    (vpc,) = [record for record in small.exists() if record.type == VPC]
    assert vpc.inputs["tags"] == {"team": "a"}
    small.pulumi("preview", "--refresh", "--stack", TRIAL, "--expect-no-changes")


def test_a_dead_node_of_a_scale_set_shows_at_refresh_and_up_brings_it_back(workspace: Callable[..., Any]):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100"))
    cloud.up(TRIAL)
    (nodes,) = [record for record in cloud.exists() if record.type == SCALE_SET]
    loss = on(cloud, lambda store: events.kill_nodes(store, nodes.id, 1))
    assert loss.left == 15
    cloud.pulumi("refresh", "--yes", "--skip-preview", "--stack", TRIAL)
    (known,) = [r for r in cloud.state(TRIAL) if r["type"] == SCALE_SET]
    assert known["outputs"]["sku"]["capacity"] == 15
    cloud.up(TRIAL)
    (nodes,) = [record for record in cloud.exists() if record.type == SCALE_SET]
    assert nodes.outputs["sku"]["capacity"] == 16


def test_a_dead_node_of_an_auto_scaling_group_is_replaced_into_held_capacity(workspace: Callable[..., Any]):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5"))
    cloud.up(TRIAL)
    (group,) = [r for r in cloud.exists() if r.type == "aws:autoscaling/group:Group"]
    loss = on(cloud, lambda store: events.kill_nodes(store, group.id, 1))
    assert loss.left == 16
    cloud.pulumi("preview", "--refresh", "--stack", TRIAL, "--expect-no-changes")


def test_protection_stops_destroy_and_without_it_nothing_stands_in_the_way_of_anything(
    workspace: Callable[..., Any],
):
    cloud = workspace()
    for stack in ("aws-p5", "azure-nd-h100"):
        cloud.stack(stack, stack_file(stack))
        cloud.up(stack)
        before = {record.id for record in cloud.exists()}
        stopped = cloud.pulumi("destroy", "--yes", "--stack", stack, check=False)
        assert stopped.returncode != 0
        assert "protect" in stopped.stdout + stopped.stderr
        assert {record.id for record in cloud.exists()} == before
        cloud.pulumi("state", "unprotect", "--all", "--yes", "--stack", stack)
        cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", stack)
        assert [record.type for record in cloud.exists() if f":{stack}::" in record.urn] == []


def test_a_resource_that_failed_after_it_was_made_is_kept_and_the_next_up_is_green(small: Any):
    fault = Fault(cloud="aws", type=VPC, operation="after-create", code="Broken", message="It broke.")
    on(small, lambda store: faults.order(store, fault))
    failed = small.up(TRIAL, check=False)
    assert failed.returncode != 0
    assert "It broke." in failed.stdout + failed.stderr
    (kept,) = [r for r in small.state(TRIAL) if r["type"] == VPC]
    assert kept["initErrors"]
    small.up(TRIAL)
    (whole,) = [r for r in small.state(TRIAL) if r["type"] == VPC]
    assert whole["id"] == kept["id"]
    assert not whole.get("initErrors")
    same(small)


def test_a_failed_update_is_covered_up_by_the_state_until_a_refresh(small: Any):
    small.up(TRIAL)
    program = small.workspace.project / "__main__.py"
    program.write_text(PROGRAM.replace('"team": "a"', '"team": "b"'))
    on(small, lambda store: faults.order(store, faults.server_error("aws", VPC, 1)))
    assert small.up(TRIAL, check=False).returncode != 0
    small.up(TRIAL)  # green, and the cloud is as it was
    (vpc,) = [record for record in small.exists() if record.type == VPC]
    assert vpc.inputs["tags"] == {"team": "a"}
    small.up(TRIAL, "--refresh")
    (vpc,) = [record for record in small.exists() if record.type == VPC]
    assert vpc.inputs["tags"] == {"team": "b"}


@pytest.mark.parametrize("victim", ["engine", "plugin"])
@pytest.mark.parametrize("made", [1, 20])
def test_a_kill_at_any_moment_is_got_over_by_the_next_up(small: Any, victim: str, made: int):
    small.stack(TRIAL, "config:\n  aws:region: us-east-1\n  small:subnets: '40'\n")
    _killed(small, victim, "up", lambda: small.workspace.store_path.exists() and len(small.exists()) >= made)
    small.up(TRIAL)
    assert len(small.state(TRIAL)) == 45
    same(small)
    small.pulumi("preview", "--refresh", "--stack", TRIAL, "--expect-no-changes")


@pytest.mark.parametrize("victim", ["engine", "plugin"])
def test_a_kill_in_the_middle_of_an_update_is_got_over_by_the_next_up(small: Any, victim: str):
    def changed() -> int:
        return sum((record.inputs or {}).get("tags") == {"team": "b"} for record in small.exists())

    small.stack(TRIAL, "config:\n  aws:region: us-east-1\n  small:subnets: '40'\n")
    small.up(TRIAL)
    tagged = PROGRAM.replace('"team": "a"', '"team": "b"').replace('.0/24"}', '.0/24", "tags": {"team": "b"}}')
    (small.workspace.project / "__main__.py").write_text(tagged)
    _killed(small, victim, "up", lambda: changed() >= 5)
    small.up(TRIAL)
    assert changed() == 41
    same(small)
    small.pulumi("preview", "--refresh", "--stack", TRIAL, "--expect-no-changes")


@pytest.mark.parametrize("victim", ["engine", "plugin"])
def test_a_kill_in_the_middle_of_a_destroy_is_got_over_by_the_next_one(small: Any, victim: str):
    small.stack(TRIAL, "config:\n  aws:region: us-east-1\n  small:subnets: '40'\n")
    small.up(TRIAL)
    _killed(small, victim, "destroy", lambda: len(small.exists()) <= 40)
    small.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL)
    assert small.state(TRIAL) == []
    assert small.exists() == []


def test_eight_stacks_at_once_all_come_up_and_none_touches_another(small: Any):
    stacks = [f"team-{n}" for n in range(8)]
    for stack in stacks:
        small.stack(stack, "config:\n  aws:region: us-east-1\n")
    words = ("up", "--yes", "--skip-preview", "--non-interactive", "--stack")
    started = [small.workspace.start(*words, stack, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) for stack in stacks]
    engines = [one.__enter__() for one in started]
    try:
        assert [engine.wait(timeout=120) for engine in engines] == [0] * len(stacks)
    finally:
        for one in started:
            one.__exit__(None, None, None)
    assert len(small.exists()) == len(stacks) * 9
    for stack in stacks:
        same(small, stack)


def _killed(cloud: Any, victim: str, command: str, when: Callable[[], bool]) -> None:
    """Runs a command and kills the engine or its plugin as soon as it is so far."""
    words = (command, "--yes", "--skip-preview", "--stack", TRIAL)
    with cloud.workspace.start(*words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) as engine:
        plugin = _wait_for_plugin(engine.pid)
        deadline = time.monotonic() + 60
        while not when():
            assert time.monotonic() < deadline, "it never came so far"
            time.sleep(0.005)
        os.kill(engine.pid if victim == "engine" else plugin, signal.SIGKILL)
        engine.wait(timeout=60)


def _wait_for_plugin(engine: int) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{engine}/task").glob("*/children"):
            for pid in child.read_text().split():
                if b"localcloud.plugin" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return int(pid)
        time.sleep(0.01)
    pytest.fail("the engine started no plugin")
