"""The Azure side by value: the scale set, names. Stores: test_azure_storage; the network: test_azure_network."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

NAMES = {
    "accountName": r"[a-z0-9]{3,24}",
    "containerName": r"[a-z0-9](-?[a-z0-9])+",
    "networkSecurityGroupName": r"[a-zA-Z0-9][\w.-]{0,78}\w",
    "privateEndpointName": r"[a-zA-Z0-9][\w.-]{0,62}\w",
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
