"""How Azure nodes get their capacity and their root disk: what each way declares, and what its hooks tell.

The same under the engine: tests/engine/test_scarcity, test_changes.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest


def scale_set(cluster: Any) -> Any:
    return cluster.one("VirtualMachineScaleSet").inputs


def profile(cluster: Any) -> Any:
    return scale_set(cluster)["virtualMachineProfile"]


def root_disk(cluster: Any) -> Any:
    return profile(cluster)["storageProfile"]["osDisk"]


def test_a_node_lives_on_its_own_disk_where_the_size_has_the_room(
    cluster: Callable[[str], Any], declared: Callable[..., Any]
) -> None:
    disk = root_disk(cluster("azure-on-demand"))
    assert disk["diffDiskSettings"] == {"option": "Local", "placement": "ResourceDisk"}
    assert disk["caching"] == "ReadOnly"
    assert "managedDisk" not in disk
    for larger in ("azure-a100", "azure-gb200"):
        assert root_disk(cluster(larger))["managedDisk"] == {"storageAccountType": "Premium_LRS"}
        assert "diffDiskSettings" not in root_disk(cluster(larger))
    assert "managedDisk" in root_disk(declared("azure", {"nodes.root_disk": "1000GiB"})), "trusted launch takes 1 GiB"
    assert "managedDisk" not in root_disk(declared("azure", {"nodes.root_disk": "999GiB"}))


def test_a_spot_node_on_its_own_disk_is_deleted_when_it_is_taken_back(cluster: Callable[[str], Any]) -> None:
    """An ephemeral disk is lost with its node: Azure refuses to deallocate one."""
    spot = profile(cluster("azure-spot"))
    assert (spot["priority"], spot["evictionPolicy"]) == ("Spot", "Delete")
    assert spot["billingProfile"] == {"maxPrice": 60.5}
    assert "diffDiskSettings" in spot["storageProfile"]["osDisk"]


def test_a_spot_node_that_is_to_be_kept_has_a_disk_that_can_be_kept(cluster: Callable[[str], Any]) -> None:
    kept = profile(cluster("azure-spot-kept"))
    assert (kept["priority"], kept["evictionPolicy"]) == ("Spot", "Deallocate")
    assert "managedDisk" in kept["storageProfile"]["osDisk"]
    assert kept["billingProfile"] == {"maxPrice": -1}, "no price is a reason to evict"


def test_nodes_on_demand_have_neither_a_price_nor_an_eviction_policy(cluster: Callable[[str], Any]) -> None:
    assert not {"evictionPolicy", "billingProfile", "capacityReservation"} & set(profile(cluster("azure-on-demand")))
    assert profile(cluster("azure-on-demand"))["priority"] == "Regular"


def test_a_capacity_reservation_is_used_without_a_placement_group(cluster: Callable[[str], Any]) -> None:
    reserved = cluster("azure-nc-reserved")
    group = profile(reserved)["capacityReservation"]["capacityReservationGroup"]["id"]
    assert group.endswith("/capacityReservationGroups/research")
    assert scale_set(reserved)["singlePlacementGroup"] is False


def test_rack_scale_sizes_and_sizes_without_infiniband_have_no_single_placement_group(
    cluster: Callable[[str], Any],
) -> None:
    single = {name: scale_set(cluster(name))["singlePlacementGroup"] for name in ("azure-gb200", "azure-h200")}
    assert single == {"azure-gb200": False, "azure-h200": True}


def test_what_a_scale_set_is_made_with_once_and_for_all_replaces_it(declared: Callable[..., Any]) -> None:
    """azure-native previews these as updates, and Azure refuses them."""

    def trigger(changes: dict[str, Any]) -> Any:
        return declared("azure", changes).one("VirtualMachineScaleSet").request.replacement_trigger

    assert trigger({}) == trigger({"nodes.count": 12, "nodes.setup": ["true"]})
    for changes in (
        {"zone": "2"},
        {"nodes.type": "Standard_ND96isr_H200_v5"},
        {"nodes.purchase": "spot"},
        {"nodes.root_disk": "1100GiB"},
    ):
        assert trigger({}) != trigger(changes)


# Hooks


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ({"sku": {"capacity": 12}}, "shrinks from 16 to 12 nodes"),
        ({"virtualMachineProfile": {"osProfile": {}}}, "the model of the scale set changes (virtualMachineProfile)"),
        ({"sku": {"capacity": 20}}, None),
        ({"tags": {"a": "b"}}, None),
        ({}, None),
    ],
)
def test_a_change_in_place_says_what_becomes_of_running_nodes(
    new: dict[str, Any], says: str | None, cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    old = {"sku": {"capacity": 16.0}, "virtualMachineProfile": {}, "tags": {}}
    hook(cluster("azure-on-demand"), "-nodes")(SimpleNamespace(old_inputs=old, new_inputs={**old, **new}))
    assert [str(says) in text for text in told] == ([True] if says else [])


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("Code=AllocationFailed Message=Allocation failed. We do not have sufficient capacity", "no capacity, not a"),
        ("Code=OverconstrainedZonalAllocationRequest", "under all constraints at once"),
    ],
)
def test_a_start_without_capacity_says_what_is_left_and_how_to_stop_the_bill(
    error: str, says: str, cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    refused = hook(cluster("azure-on-demand"), "-start")
    assert refused(SimpleNamespace(errors=[error], failed_operation="create")) is False
    (text,) = told
    assert says in text
    assert "az vmss list-instances" in text
    assert "--new-capacity 0" in text


def test_a_growth_without_capacity_is_never_told_to_end_the_nodes_that_run(
    cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    refused = hook(cluster("azure-on-demand"), "-start")
    refused(SimpleNamespace(errors=["Code=AllocationFailed"], failed_operation="update"))
    (text,) = told
    assert "The nodes that ran run on" in text
    assert "--new-capacity 0" not in text
    assert "running: false" not in text


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("Code=SkuNotAvailable The requested VM size", "a support ticket lifts it"),
        ("OperationNotAllowed: exceeding approved standardNDSH100v5Family Cores quota", "of standardNDSH100v5Family"),
        ("OperationNotAllowed: exceeding approved Total Regional Cores quota", "of cores (Total Regional vCPUs)"),
        ("Code=AuthorizationFailed", None),
    ],
)
def test_a_request_that_is_refused_whole_says_why_and_that_nothing_is_left(
    error: str, says: str | None, cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    hook(cluster("azure-on-demand"), "-start")(SimpleNamespace(errors=[error], failed_operation="create"))
    assert [str(says) in text for text in told] == ([True] if says else [])
    assert all("No node was made" in text for text in told)


def test_a_group_that_is_there_already_says_how_to_go_on(
    cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    refused = hook(cluster("azure-on-demand"), "-group")
    refused(SimpleNamespace(errors=["cannot create already existing resource '/x'"], failed_operation="create"))
    assert ["Take another name" in text for text in told] == [True]
