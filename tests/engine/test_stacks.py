"""The life of the example stacks under the real engine with the policy pack: up, refresh, changes, the end.

What the components declare is judged on mocks in tests/components; here it is what engine and clouds make of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clusters import stack_file

PACK = ("--policy-pack", str(Path(__file__).parent.parent.parent / "policies"))
NODE_ROOM = {
    "aws-p5": {
        "aws:ec2/placementGroup:PlacementGroup",
        "aws:ec2/capacityReservation:CapacityReservation",
        "aws:ec2/launchTemplate:LaunchTemplate",
        "aws:autoscaling/group:Group",
    },
    "azure-nd-h100": {"azure-native:compute:VirtualMachineScaleSet"},
}
DATA = {
    "aws-p5": {"aws:fsx/lustreFileSystem:LustreFileSystem", "aws:s3/bucket:Bucket"},
    "azure-nd-h100": {
        "azure-native:storagecache:AmlFilesystem",
        "azure-native:storage:StorageAccount",
        "azure-native:storage:BlobContainer",
    },
}
both_stacks = pytest.mark.parametrize("stack", ["aws-p5", "azure-nd-h100"])


TRIAL = "trial"
"""The stack of each test: a name that no tracked file has, so that its file is the test's own."""


def cloud_resources(state: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Resources of a cloud by URN, without components and providers."""
    return {r["urn"]: r for r in state if not r["type"].startswith(("pulumi:", "gpu-clusters:"))}


def ids(state: list[dict[str, Any]]) -> dict[str, str]:
    return {urn: r["id"] for urn, r in cloud_resources(state).items()}


def of_type(state: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [r for r in state if r["type"] == kind]


@both_stacks
def test_a_stack_lives_from_up_to_destroy(workspace: Callable[..., Any], stack: str) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(stack))
    cloud.up(TRIAL, *PACK)
    first = cloud.state(TRIAL)
    cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes", *PACK)
    cloud.pulumi("refresh", "--yes", "--skip-preview", "--stack", TRIAL, "--expect-no-changes")

    for count in (12, 20):
        cloud.stack(TRIAL, stack_file(stack, {"nodes.count": count}))
        cloud.up(TRIAL, *PACK)
        assert ids(cloud.state(TRIAL)) == ids(first), "a change of count replaced something"
        assert cloud.outputs(TRIAL)["node_count"] == count

    cloud.stack(TRIAL, stack_file(stack, {"tags": {"team": "inference"}}))
    cloud.up(TRIAL, *PACK)
    tagged = cloud.state(TRIAL)
    assert ids(tagged) == ids(first), "a change of a tag replaced something"
    assert "research" not in json.dumps([r["inputs"] for r in cloud_resources(tagged).values()])

    cloud.stack(TRIAL, stack_file(stack, {"nodes.running": False}))
    cloud.up(TRIAL, *PACK)
    stopped = cloud_resources(cloud.state(TRIAL))
    kinds = {r["type"] for r in cloud_resources(first).values()}
    assert kinds - {r["type"] for r in stopped.values()} == NODE_ROOM[stack]
    assert {r["type"] for r in stopped.values()} >= DATA[stack]
    assert cloud.outputs(TRIAL)["node_count"] == 0

    refused = cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL, check=False)
    assert refused.returncode != 0
    assert "protect" in refused.stdout + refused.stderr
    assert {r["type"] for r in cloud.state(TRIAL)} >= DATA[stack]

    cloud.pulumi("state", "unprotect", "--all", "--yes", "--stack", TRIAL)
    cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL)
    assert cloud.state(TRIAL) == []


def test_the_state_of_aws_p5_holds_every_interface_and_an_atomic_start(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5"))
    cloud.up(TRIAL, *PACK)
    state = cloud.state(TRIAL)
    [template] = of_type(state, "aws:ec2/launchTemplate:LaunchTemplate")
    kinds = [i["interfaceType"] for i in template["inputs"]["networkInterfaces"]]
    assert len(kinds) == 33
    assert kinds.count("efa-only") == 32
    [group] = of_type(state, "aws:ec2/placementGroup:PlacementGroup")
    [reservation] = of_type(state, "aws:ec2/capacityReservation:CapacityReservation")
    assert reservation["outputs"]["instanceCount"] == 16
    assert reservation["outputs"]["instanceMatchCriteria"] == "targeted"
    assert reservation["outputs"]["placementGroupArn"] == group["outputs"]["arn"]
    target = template["outputs"]["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target["capacityReservationId"] == reservation["id"]
    [nodes] = of_type(state, "aws:autoscaling/group:Group")
    assert [nodes["outputs"][size] for size in ("minSize", "desiredCapacity", "maxSize")] == [16, 16, 16]
    assert nodes["outputs"]["launchTemplate"]["id"] == template["id"]


def test_the_state_of_azure_nd_h100_holds_one_fabric(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100"))
    cloud.up(TRIAL, *PACK)
    [nodes] = of_type(cloud.state(TRIAL), "azure-native:compute:VirtualMachineScaleSet")
    assert nodes["outputs"]["singlePlacementGroup"] is True
    assert nodes["outputs"]["overprovision"] is False
    assert nodes["outputs"]["platformFaultDomainCount"] == 1
    assert nodes["outputs"]["sku"]["capacity"] == 16


@both_stacks
def test_a_spec_with_errors_ends_a_preview_with_its_findings(workspace: Callable[..., Any], stack: str) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(stack, {"nodes.count": 0, "nodes.purchse": "spot"}))
    failed = cloud.pulumi("preview", "--stack", TRIAL, check=False)
    assert failed.returncode != 0
    said = failed.stdout + failed.stderr
    assert "nodes.count: " in said
    assert "did you mean purchase?" in said
    assert "Traceback" not in said


def test_a_provider_key_that_would_be_dropped_is_refused(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    document = yaml.safe_load(stack_file("aws-p5"))
    document["config"]["aws:region"] = "eu-west-1"
    cloud.stack(TRIAL, yaml.safe_dump(document))
    failed = cloud.pulumi("preview", "--stack", TRIAL, check=False)
    assert failed.returncode != 0
    assert "aws:region has no effect" in failed.stdout + failed.stderr


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"zone": "use1-az5"}, id="zone"),
        pytest.param({"network.cidr": "10.61.0.0/16"}, id="cidr"),
        pytest.param({"nodes.placement": "none"}, id="placement"),
    ],
)
def test_nodes_move_with_their_subnet_and_placement_group(
    workspace: Callable[..., Any], changes: dict[str, Any]
) -> None:
    """Left where they were, they would hold the old subnet or group, and the update would stop half-way."""
    cloud = workspace()
    without_data = {"storage.filesystem": None, "storage.on_delete": "delete"}
    cloud.stack(TRIAL, stack_file("aws-p5", without_data))
    cloud.up(TRIAL)
    [before] = of_type(cloud.state(TRIAL), "aws:autoscaling/group:Group")
    cloud.stack(TRIAL, stack_file("aws-p5", {**without_data, **changes}))
    cloud.up(TRIAL)
    [after] = of_type(cloud.state(TRIAL), "aws:autoscaling/group:Group")
    assert after["id"] != before["id"]
    cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes")
