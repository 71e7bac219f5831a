"""Networks under the real engine: one that exists is judged in the preview, and a way out comes and goes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.clusters import changes_of, stack_file

TRIAL = "trial"
EXISTING = changes_of("aws-existing-network")


def test_an_existing_subnet_in_another_zone_fails_the_preview_and_not_the_next_one(
    workspace: Callable[..., Any],
) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5", {**EXISTING, "zone": "use1-az4"}))
    refused = cloud.pulumi("preview", "--stack", TRIAL, check=False)
    assert refused.returncode != 0
    said = refused.stdout + refused.stderr
    assert "subnet-0123456789abcdef0 is in zone use1-az6, and the cluster in use1-az4" in said
    assert "Traceback" not in said
    cloud.stack(TRIAL, stack_file("aws-p5", EXISTING))
    cloud.pulumi("preview", "--stack", TRIAL)


def test_a_subnet_that_does_not_exist_is_named_in_the_preview(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    gone = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-010ca1ffffffffff0"}
    cloud.stack(TRIAL, stack_file("aws-p5", {**EXISTING, "network.existing": gone}))
    refused = cloud.pulumi("preview", "--stack", TRIAL, check=False)
    said = refused.stdout + refused.stderr
    assert "error: network.existing.subnet: subnet-010ca1ffffffffff0 of vpc-0123456789abcdef0 can not be read" in said
    assert "Traceback" not in said


def test_a_cluster_loses_and_regains_its_way_out_and_its_nodes_stay(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    lasting: set[tuple[str, str]] = set()
    for egress in ("nat", "none", "nat"):
        cloud.stack(TRIAL, stack_file("aws-p5", {"network.egress": egress}))
        cloud.up(TRIAL)
        state = cloud.state(TRIAL)
        ids = {(r["type"], r["id"]) for r in state if r["type"].endswith((":Group", ":Subnet", ":LustreFileSystem"))}
        lasting = lasting & ids if lasting else ids
        gateways = [r for r in state if r["type"].endswith((":NatGateway", ":InternetGateway"))]
        assert bool(gateways) == (egress == "nat")
    assert {kind.rpartition(":")[2] for kind, _ in lasting} == {"Group", "Subnet", "LustreFileSystem"}


def test_a_cluster_without_a_way_out_moves_to_another_zone(workspace: Callable[..., Any]) -> None:
    """Endpoints would hold the old subnet back, and a second set of them would want the same private names."""
    cloud = workspace()
    for zone in ("use1-az6", "use1-az4"):
        changes = {"network.egress": "none", "storage.filesystem": ..., "zone": zone}
        cloud.stack(TRIAL, stack_file("aws-p5", changes))
        cloud.up(TRIAL)
    (subnet,) = [r for r in cloud.state(TRIAL) if r["type"].endswith(":Subnet")]
    assert subnet["outputs"]["availabilityZoneId"] == "use1-az4"


def test_the_smallest_network_that_is_let_through_holds_nodes_servers_and_endpoints(
    workspace: Callable[..., Any],
) -> None:
    """27 usable addresses: 6 nodes, 17 file servers, 4 endpoints. One node more is refused by the check."""
    cloud = workspace()
    changes = {"nodes.count": 6, "network.egress": "none", "network.cidr": "10.40.0.0/26"}
    cloud.stack(TRIAL, stack_file("aws-p5", changes))
    cloud.up(TRIAL)
    assert cloud.outputs(TRIAL)["node_count"] == 6


# Azure

AZURE_EXISTING = changes_of("azure-existing-network")
BARE = {"storage.filesystem": ..., "storage.on_delete": "delete"}


def test_a_subnet_that_its_group_does_not_have_is_named_in_the_preview(workspace: Callable[..., Any]) -> None:
    """The cluster's own group is one that the local cloud knows all about."""
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100", BARE))
    cloud.up(TRIAL)
    own = AZURE_EXISTING["network.existing"]["subnet"].replace(
        "/resourceGroups/research/", "/resourceGroups/llama-70b/"
    )
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {**AZURE_EXISTING, "network.existing": {"subnet": own}, **BARE}))
    refused = cloud.pulumi("preview", "--stack", TRIAL, check=False)
    said = refused.stdout + refused.stderr
    assert refused.returncode != 0
    assert "error: network.existing.subnet: the VNet research can not be read" in said
    assert "ResourceNotFound" in said
    assert "Traceback" not in said


def test_an_azure_cluster_changes_its_ways_in_and_out_and_its_nodes_stay(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    lasting: set[tuple[str, str]] = set()
    for egress, bastion in (("nat", False), ("none", True), ("nat", False)):
        cloud.stack(TRIAL, stack_file("azure-nd-h100", {"network.egress": egress, "access.bastion": bastion}))
        cloud.up(TRIAL)
        state = cloud.state(TRIAL)
        kept = (":VirtualMachineScaleSet", ":Subnet", ":AmlFilesystem", ":PrivateEndpoint")
        ids = {(r["type"], r["id"]) for r in state if r["type"].endswith(kept) and "Bastion" not in r["id"]}
        lasting = lasting & ids if lasting else ids
        kinds = {r["type"].rpartition(":")[2] for r in state}
        assert ("NatGateway" in kinds, "BastionHost" in kinds) == (egress == "nat", bastion)
    assert len(lasting) == 7


def test_the_smallest_network_with_a_bastion_holds_nodes_endpoints_and_bastion(workspace: Callable[..., Any]) -> None:
    """A /24: 123 usable addresses for the nodes. A /25 is refused by the check, since its half is no place for both."""
    cloud = workspace()
    changes = {**BARE, "nodes.count": 100, "network.cidr": "10.50.0.0/24", "access.bastion": True}
    cloud.stack(TRIAL, stack_file("azure-nd-h100", changes))
    cloud.up(TRIAL)
    assert cloud.outputs(TRIAL)["node_count"] == 100


def test_an_azure_cluster_moves_to_another_zone(workspace: Callable[..., Any]) -> None:
    """Gateway and address are of a zone, and a subnet holds its gateway: others are made before it lets go."""
    cloud = workspace()
    base = {"storage.filesystem": ..., "storage.on_delete": "delete"}
    cloud.stack(TRIAL, stack_file("azure-nd-h100", base))
    cloud.up(TRIAL)
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {**base, "zone": "2"}))
    cloud.up(TRIAL)
    zones = {tuple(record.inputs["zones"]) for record in cloud.exists() if record.inputs.get("zones")}
    assert zones == {("2",)}
    cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes")
