"""The Azure side by value: the scale set, the storage account and its endpoints, network rules, permissions, names."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

NAMES = {
    "accountName": r"[a-z0-9]{3,24}",
    "amlFilesystemName": r"[0-9a-zA-Z][-0-9a-zA-Z_]{0,78}[0-9a-zA-Z]",
    "containerName": r"[a-z0-9](-?[a-z0-9])+",
    "natGatewayName": r"[a-zA-Z0-9][\w.-]{0,78}\w",
    "networkSecurityGroupName": r"[a-zA-Z0-9][\w.-]{0,78}\w",
    "privateEndpointName": r"[a-zA-Z0-9][\w.-]{0,62}\w",
    "publicIpAddressName": r"[a-zA-Z0-9][\w.-]{0,78}\w",
    "resourceGroupName": r"[\w.()-]{0,89}[\w()-]",
    "resourceName": r"[a-zA-Z0-9][\w-]{2,127}",
    "roleAssignmentName": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "subnetName": r"[a-zA-Z0-9][\w.-]{0,78}\w",
    "virtualNetworkLinkName": r"[a-zA-Z0-9][\w.-]{0,78}\w",
    "virtualNetworkName": r"[a-zA-Z0-9][\w.-]{0,62}\w",
    "vmScaleSetName": r"[a-zA-Z0-9][\w-]{0,62}\w",
}


@pytest.mark.parametrize("name", ["ab", "abcdefghijklmn-pqrst"])
def test_every_explicit_name_is_legal_from_the_shortest_to_the_longest_cluster_name(
    name: str, declared: Callable[..., Any]
) -> None:
    checked = set()
    for resource in declared("azure", {"name": name}).run.resources:
        for key, pattern in NAMES.items():
            if key in resource.inputs:
                checked.add(key)
                assert re.fullmatch(pattern, resource.inputs[key]), f"{key} {resource.inputs[key]}"
    assert checked == set(NAMES)


@pytest.mark.parametrize("name", ["ab", "abcdefghijklmn-pqrst"])
def test_the_host_names_prefix_is_short_and_does_not_end_in_a_hyphen(name: str, declared: Callable[..., Any]) -> None:
    profile = declared("azure", {"name": name}).one("VirtualMachineScaleSet").inputs["virtualMachineProfile"]
    assert re.fullmatch(r"[a-z]([a-z0-9-]{0,13}[a-z0-9])?", profile["osProfile"]["computerNamePrefix"])


def test_the_nodes_are_one_uniform_scale_set_that_is_one_fabric(declared: Callable[..., Any]) -> None:
    inputs = declared("azure").one("VirtualMachineScaleSet").inputs
    assert inputs["orchestrationMode"] == "Uniform"
    assert inputs["singlePlacementGroup"] is True
    assert inputs["overprovision"] is False
    assert inputs["platformFaultDomainCount"] == 1
    assert inputs["zones"] == ["1"]
    assert inputs["sku"] == {"name": "Standard_ND96isr_H100_v5", "tier": "Standard", "capacity": 16}
    assert inputs["upgradePolicy"] == {"mode": "Manual"}
    assert "proximityPlacementGroup" not in inputs


def test_without_a_zone_nothing_names_one(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", {"zone": ...})
    assert not [r.name for r in cluster.run.resources if "zones" in r.inputs]
    assert cluster.run.exports["zone"] == ""


def test_a_node_takes_keys_only_has_no_public_address_and_runs_the_pinned_image(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    profile = cluster.one("VirtualMachineScaleSet").inputs["virtualMachineProfile"]
    linux = profile["osProfile"]["linuxConfiguration"]
    assert linux["disablePasswordAuthentication"] is True
    assert [k["keyData"] for k in linux["ssh"]["publicKeys"]] == [cluster.plan.access.ssh_public_key]
    assert "adminPassword" not in profile["osProfile"]
    (interface,) = profile["networkProfile"]["networkInterfaceConfigurations"]
    assert interface["enableAcceleratedNetworking"] is True
    (address,) = interface["ipConfigurations"]
    assert set(address) == {"name", "primary", "subnet"}
    image = profile["storageProfile"]["imageReference"]
    assert (image["publisher"], image["offer"]) == ("microsoft-dsvm", "ubuntu-hpc")
    assert re.fullmatch(r"\d+\.\d+\.\d+", image["version"])


def test_an_image_with_a_marketplace_plan_names_it(declared: Callable[..., Any]) -> None:
    image = "almalinux:almalinux-hpc:8_10-hpc-gen2:8.10.2025040101"
    inputs = declared("azure", {"nodes.image": image}).one("VirtualMachineScaleSet").inputs
    assert inputs["plan"] == {"publisher": "almalinux", "product": "almalinux-hpc", "name": "8_10-hpc-gen2"}
    assert "plan" not in declared("azure").one("VirtualMachineScaleSet").inputs


@pytest.mark.parametrize(
    ("size", "profile"),
    [
        (
            "Standard_ND96isr_H100_v5",
            {"securityType": "TrustedLaunch", "uefiSettings": {"secureBootEnabled": False, "vTpmEnabled": True}},
        ),
        ("Standard_ND96amsr_A100_v4", None),
    ],
)
def test_trusted_launch_is_on_where_the_size_takes_it_and_secure_boot_never(
    size: str, profile: dict[str, Any] | None, declared: Callable[..., Any]
) -> None:
    inputs = declared("azure", {"nodes.type": size}).one("VirtualMachineScaleSet").inputs
    assert inputs["virtualMachineProfile"].get("securityProfile") == profile


def test_nodes_start_after_subnets_endpoints_names_permissions_and_filesystem(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    before = cluster.before(cluster.one("VirtualMachineScaleSet"))
    assert before >= {
        "AmlFilesystem llama-70b-lustre",
        "NatGateway llama-70b-nat",
        "PrivateDnsZoneGroup llama-70b-blob",
        "PrivateDnsZoneGroup llama-70b-dfs",
        "RoleAssignment llama-70b-data",
        "Subnet llama-70b-nodes",
        "VirtualNetworkLink llama-70b-blob",
        "VirtualNetworkLink llama-70b-dfs",
    }


def test_changes_of_one_network_wait_for_each_other(declared: Callable[..., Any]) -> None:
    """Azure refuses two at a time: the subnets one by one, then the endpoints one by one."""
    cluster = declared("azure")
    order = ["Subnet llama-70b-nodes", "Subnet llama-70b-endpoints", "Subnet llama-70b-filesystem"]
    order += ["PrivateEndpoint llama-70b-blob", "PrivateEndpoint llama-70b-dfs"]
    by_title = {f"{r.type.rsplit(':', 1)[-1]} {r.name}": r for r in cluster.run.resources}
    for earlier, later in pairwise(order):
        assert earlier in cluster.before(by_title[later])


def test_nodes_go_out_by_nat_and_by_nothing_else(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    nodes = cluster.one("Subnet", "-nodes")
    assert nodes.inputs["defaultOutboundAccess"] is False
    assert [r.name for r in cluster.made_from(nodes, "natGateway")] == ["llama-70b-nat"]
    assert [r.name for r in cluster.made_from(nodes, "networkSecurityGroup")] == ["llama-70b-nodes"]


def test_subnets_are_resources_of_their_own_and_never_inline(declared: Callable[..., Any]) -> None:
    assert "subnets" not in declared("azure").one("VirtualNetwork").inputs


def test_nothing_enters_the_nodes_subnet_but_what_is_named(declared: Callable[..., Any]) -> None:
    rules = declared("azure").one("NetworkSecurityGroup", "-nodes").inputs["securityRules"]
    allowed = [(r["sourceAddressPrefix"], r["destinationAddressPrefix"]) for r in rules if r["access"] == "Allow"]
    assert allowed == [("10.50.0.0/16", "10.50.0.0/16")]
    (deny,) = [r for r in rules if r["access"] == "Deny"]
    assert (deny["priority"], deny["sourceAddressPrefix"], deny["direction"]) == (4096, "*", "Inbound")


def test_lustre_passes_both_ways_between_servers_and_nodes(declared: Callable[..., Any]) -> None:
    rules = declared("azure").one("NetworkSecurityGroup", "-filesystem").inputs["securityRules"]
    nodes = "10.50.0.0/17"
    lustre = {
        (r["direction"], r["sourceAddressPrefix"], r["destinationAddressPrefix"])
        for r in rules
        if r["destinationPortRanges"] == ["988", "1019-1023"]
    }
    own = next(destination for direction, source, destination in lustre if source == nodes)
    assert lustre == {
        ("Inbound", nodes, own),
        ("Inbound", own, own),
        ("Outbound", own, nodes),
        ("Outbound", own, own),
    }
    assert len({(r["direction"], r["priority"]) for r in rules}) == len(rules)


def test_the_storage_account_is_hierarchical_and_closed(declared: Callable[..., Any]) -> None:
    inputs = declared("azure").one("StorageAccount").inputs
    said = {
        "kind": "StorageV2",
        "isHnsEnabled": True,
        "allowSharedKeyAccess": False,
        "allowBlobPublicAccess": False,
        "defaultToOAuthAuthentication": True,
        "allowCrossTenantReplication": False,
        "enableHttpsTrafficOnly": True,
        "minimumTlsVersion": "TLS1_2",
        "publicNetworkAccess": "Disabled",
        "enableNfsV3": False,
        "isSftpEnabled": False,
    }
    assert {key: inputs[key] for key in said} == said
    assert inputs["networkRuleSet"] == {
        "defaultAction": "Deny",
        "bypass": "AzureServices",
        "ipRules": [],
        "virtualNetworkRules": [],
    }


def test_the_account_has_endpoints_and_names_for_blob_and_dfs(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    for service in ("blob", "dfs"):
        (connection,) = cluster.one("PrivateEndpoint", service).inputs["privateLinkServiceConnections"]
        assert connection["groupIds"] == [service]
        zone = cluster.one("PrivateZone", service)
        assert zone.inputs["privateZoneName"] == f"privatelink.{service}.core.windows.net"
        assert cluster.made_from(cluster.one("VirtualNetworkLink", service), "privateZoneName") == [zone]
        records = cluster.one("PrivateDnsZoneGroup", service)
        assert cluster.made_from(records, "privateDnsZoneConfigs") == [zone]


def test_checkpoints_are_cooled_and_deleted_below_the_containers_name(declared: Callable[..., Any]) -> None:
    policy = declared("azure").one("ManagementPolicy").inputs
    assert policy["managementPolicyName"] == "default"
    (rule,) = policy["policy"]["rules"]
    assert rule["definition"]["filters"] == {"blobTypes": ["blockBlob"], "prefixMatch": ["data/checkpoints/"]}
    assert rule["definition"]["actions"]["baseBlob"] == {
        "tierToCool": {"daysAfterModificationGreaterThan": 7},
        "delete": {"daysAfterModificationGreaterThan": 45},
    }
    assert not declared("azure", {"storage.objects.checkpoints": ...}).of("ManagementPolicy")


def test_the_nodes_identity_may_use_the_account_and_its_assignment_has_a_stable_name(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("azure")
    assignment = cluster.one("RoleAssignment")
    assert [r.type for r in cluster.made_from(assignment, "scope")] == ["azure-native:storage:StorageAccount"]
    assert assignment.inputs["roleDefinitionId"].endswith("/ba92f5b4-2d11-453d-a403-e96b0029c9fe")
    assert assignment.inputs["principalType"] == "ServicePrincipal"
    again = declared("azure", {"nodes.count": 2}).one("RoleAssignment")
    assert again.inputs["roleAssignmentName"] == assignment.inputs["roleAssignmentName"]
    elsewhere = declared("azure", {"name": "other"}).one("RoleAssignment")
    assert elsewhere.inputs["roleAssignmentName"] != assignment.inputs["roleAssignmentName"]
    nodes = cluster.one("VirtualMachineScaleSet")
    assert [r.type for r in cluster.made_from(nodes, "identity")] == [
        "azure-native:managedidentity:UserAssignedIdentity"
    ]


def test_managed_lustre_has_its_own_subnet_in_the_nodes_zone(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    lustre = cluster.one("AmlFilesystem")
    assert lustre.inputs["storageCapacityTiB"] == 48
    assert lustre.inputs["sku"] == {"name": "AMLFS-Durable-Premium-125"}
    assert lustre.inputs["zones"] == cluster.one("VirtualMachineScaleSet").inputs["zones"]
    assert [s.name for s in cluster.made_from(lustre, "filesystemSubnet")] == ["llama-70b-filesystem"]
