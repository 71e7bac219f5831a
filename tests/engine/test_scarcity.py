"""Launches beyond what the clouds have, under the real engine: what stays, what the person reads, how it ends well.

Which limit holds: tests/localcloud/test_scarcity. What each launch says: the semantics tests of each cloud there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcloud.scarcity import Scarcity
from localcloud.store import Record, Store

STACKS = Path(__file__).parent.parent.parent / "stacks"
TRIAL = "trial"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
GROUP = "aws:autoscaling/group:Group"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"


def stack_file(stack: str) -> str:
    return (STACKS / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")


def spec(stack: str) -> dict[str, Any]:
    return yaml.safe_load(stack_file(stack))["config"]["gpu-clusters:cluster"]


def limit(cloud: Any, set_: Callable[[Scarcity], None]) -> None:
    with closing(Store(cloud.workspace.store_path)) as store:
        set_(Scarcity(store))


def existing(cloud: Any, *types: str) -> list[Record]:
    return [record for record in cloud.exists() if record.type in types]


def outcome(cloud: Any) -> tuple[int, str]:
    done = cloud.up(TRIAL, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_gang_start_with_15_of_16_nodes_holds_none_and_a_plain_up_starts_it_later(workspace: Callable[..., Any]):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5"))
    zone = spec("aws-p5")["zone"]
    limit(cloud, lambda s: s.set_capacity("aws", "p5.48xlarge", zone, "on-demand", 15))
    code, said = outcome(cloud)
    assert code != 0
    assert "InsufficientInstanceCapacity" in said
    assert "16" in said
    assert "15" in said
    assert existing(cloud, RESERVATION, GROUP) == [], "something of the gang was left to pay for"
    assert "nothing of what was asked for is held or paid. Run `pulumi up --refresh` later" in said
    assert "Traceback" not in said

    limit(cloud, lambda s: s.set_capacity("aws", "p5.48xlarge", zone, "on-demand", 16))
    assert outcome(cloud)[0] == 0
    (reservation,) = existing(cloud, RESERVATION)
    assert reservation.outputs["instanceCount"] == 16
    assert len(existing(cloud, GROUP)) == 1


def test_a_quota_too_small_is_refused_before_anything_of_the_gang_exists(workspace: Callable[..., Any]):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5"))
    limit(cloud, lambda s: s.set_quota("aws", "L-417A185B", 15 * 192))
    code, said = outcome(cloud)
    assert code != 0
    assert "VcpuLimitExceeded" in said
    assert "ask for 3072 vCPU of EC2 quota L-417A185B in us-east-1" in said
    assert existing(cloud, RESERVATION, GROUP) == []


def test_a_scale_set_without_enough_capacity_is_left_half_made_and_a_second_up_completes_it(
    workspace: Callable[..., Any],
):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100"))
    limit(cloud, lambda s: s.set_capacity("azure", "Standard_ND96isr_H100_v5", "*", "*", 10))
    code, said = outcome(cloud)
    assert code != 0
    assert "Allocation" in said
    assert "no capacity, not a quota" in said
    assert "az vmss list-instances --resource-group llama-70b --name llama-70b-nodes" in said
    (half,) = existing(cloud, SCALE_SET)
    assert half.outputs["provisioningState"] == "Failed"
    (kept,) = [r for r in cloud.state(TRIAL) if r["type"] == SCALE_SET]
    assert kept["initErrors"]
    assert kept["id"] == half.id

    limit(cloud, lambda s: s.set_capacity("azure", "Standard_ND96isr_H100_v5", "*", "*", 16))
    assert outcome(cloud)[0] == 0
    (whole,) = existing(cloud, SCALE_SET)
    assert whole.outputs["provisioningState"] == "Succeeded"
    (known,) = [r for r in cloud.state(TRIAL) if r["type"] == SCALE_SET]
    assert not known.get("initErrors")


@pytest.mark.parametrize("text", ["[[capacity]]\ncloud = 'gcp'\n", "[[", "[[nodes]]\n"])
def test_a_limits_file_that_cannot_be_meant_stops_the_run_before_the_engine(
    workspace: Callable[..., Any], tmp_path: Path, text: str
):
    from localcloud.scarcity import ScarcityError

    project = tmp_path / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: train\nruntime: python\n")
    (project / "localcloud.toml").write_text(text)
    with pytest.raises(ScarcityError, match=r"localcloud\.toml"):
        workspace(project)


def test_limits_beside_pulumi_yaml_hold_for_every_run_of_the_project(workspace: Callable[..., Any], tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: train\nruntime: python\n")
    (project / "localcloud.toml").write_text(
        '[[capacity]]\ncloud = "aws"\ntype = "p4d.24xlarge"\nzone = "use1-az6"\nnodes = 1\n'
    )
    (project / "__main__.py").write_text(
        "import pulumi\n"
        "zone = 'us-east-1a'\n"
        "pulumi.CustomResource('aws:ec2/capacityReservation:CapacityReservation', 'held', {\n"
        "    'instanceType': 'p4d.24xlarge', 'instancePlatform': 'Linux/UNIX', 'instanceCount': 2,\n"
        "    'availabilityZone': pulumi.Config().require('zone'),\n"
        "})\n"
    )
    cloud = workspace(project)
    cloud.stack(TRIAL, f"config:\n  aws:region: us-east-1\n  train:zone: {_zone_named('use1-az6')}\n")
    code, said = outcome(cloud)
    assert code != 0
    assert "InsufficientInstanceCapacity" in said


def _zone_named(zone_id: str) -> str:
    from localcloud.aws.zones import zones_of

    return next(name for name, id_ in zones_of("us-east-1").items() if id_ == zone_id)


def test_a_half_made_scale_set_is_told_of_after_a_refresh_too(workspace: Callable[..., Any]):
    """Refreshed, the state holds the wanted number and no error, and a run finds nothing to do."""
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100"))
    limit(cloud, lambda s: s.set_capacity("azure", "Standard_ND96isr_H100_v5", "*", "*", 10))
    outcome(cloud)
    for words in (("--refresh",), ()):
        done = cloud.up(TRIAL, *words)
        told = done.stdout + done.stderr
        assert "fewer than 16 nodes may run" in told
        assert "--new-capacity 16` asks for the rest" in told


def test_a_growth_that_is_refused_leaves_the_running_nodes_and_a_refreshing_up_completes_it(
    workspace: Callable[..., Any],
):
    cloud = workspace()
    zone = spec("aws-p5")["zone"]
    limit(cloud, lambda s: s.set_capacity("aws", "p5.48xlarge", zone, "on-demand", 17))
    cloud.stack(TRIAL, stack_file("aws-p5"))
    cloud.up(TRIAL)
    cloud.stack(TRIAL, stack_file("aws-p5").replace("count: 16", "count: 20"))
    code, said = outcome(cloud)
    assert code != 0
    assert "Run `pulumi up --refresh` later" in said, "the state holds the wanted number by now"
    (group,) = existing(cloud, GROUP)
    assert group.outputs["desiredCapacity"] == 16
    limit(cloud, lambda s: s.set_capacity("aws", "p5.48xlarge", zone, "on-demand", 20))
    cloud.up(TRIAL, "--refresh")
    (reservation,) = existing(cloud, RESERVATION)
    (group,) = existing(cloud, GROUP)
    assert reservation.outputs["instanceCount"] == group.outputs["desiredCapacity"] == 20
