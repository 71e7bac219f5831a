"""Azure's rules by the table semantics_azure.yaml, each with the code and the property of the refusal; then what needs
more than one request: scarcity, quotas, addresses, and what is only warned of."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcloud.azure.sizes import sizes
from localcloud.values import from_struct
from tests.localcloud.conftest import Driver, Made, Refused, World, table_of

TABLE = yaml.safe_load(Path(__file__).with_name("semantics_azure.yaml").read_text())
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
H100 = "Standard_ND96isr_H100_v5"


def _id(case: dict[str, Any]) -> str:
    what = [case[key] for key in ("of", "when", "code", "target", "says") if key in case]
    return "-".join(what) if "code" in case or "says" in case else "-".join([*what, *case["set"]])


def with_paths(inputs: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with values at dotted paths; None takes one away."""
    result = copy.deepcopy(inputs)
    for path, value in changes.items():
        *above, last = re.findall(r"[^.\[\]]+", path)
        here: Any = result
        for key in above:
            here = here[int(key)] if isinstance(here, list) else here.setdefault(key, {})
        if value is None:
            here.pop(last, None)
        else:
            here[last] = value
    return result


def rows() -> dict[str, Any]:
    known = dict(table_of("azure")["types"])
    pending = dict(TABLE["rows"])
    for name, row in pending.items():
        known[name] = {"type": known[row["of"]]["type"], "inputs": with_paths(known[row["of"]]["inputs"], row["set"])}
    return known


@pytest.fixture
def here(azure: Driver) -> World:
    return World(azure, {"types": rows()})


def inputs_of(here: World, name: str, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    return here.resolved(with_paths(here.rows[name]["inputs"], changes or {}))


def attempt(here: World, case: dict[str, Any]) -> object:
    driver, name = here.driver, case["of"]
    token, when = here.rows[name]["type"], case.get("when", "create")
    if when == "delete":
        made = here[name]
    elif when == "update":
        first = inputs_of(here, name, case.get("from"))
        made = here.made[name] = driver.up(token, first, name)
    elif when == "second":
        here.made[name] = driver.up(token, inputs_of(here, name, case["first"]), name)
    for other in case.get("while", []):
        assert here[other]
    inputs = inputs_of(here, name, case.get("set")) if when != "delete" else {}
    match when:
        case "delete":
            return driver.delete(made)
        case "update":
            return driver.update(made, inputs)
        case _:
            return driver.up(token, inputs, "another")


@pytest.mark.parametrize("case", [pytest.param(case, id=_id(case)) for case in TABLE["refused"]])
def test_azure_refuses_with_its_code_and_names_the_property(here: World, case: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        attempt(here, case)
    said = str(refused.value)
    if "says" in case:
        assert case["says"] in said
        return
    assert f'Code="{case["code"]}"' in said
    assert ("Target=" in said) == ("target" in case), said
    if "target" in case:
        assert said.endswith(f'Target="{case["target"]}"'), said


@pytest.mark.parametrize("case", [pytest.param(case, id=_id(case)) for case in TABLE["accepted"]])
def test_azure_takes_what_is_just_inside_a_border(here: World, case: dict[str, Any]) -> None:
    made = attempt(here, case)
    assert isinstance(made, Made)
    assert made["provisioningState"] == "Succeeded"
    assert here.driver.read(made.token, made.id, made.outputs).id == made.id


def nodes(driver: Driver, made: Made) -> int:
    [record] = [record for record in driver.store.list() if record.id == made.id]
    return record.outputs["__nodes"]


@pytest.fixture
def scarce(here: World) -> Callable[..., None]:
    """scarce(size, place, purchase, nodes)"""

    def set_capacity(size: str, place: str, purchase: str, number: int | None) -> None:
        here.driver.provider.cloud.scarcity.set_capacity("azure", size, place, purchase, number)

    return set_capacity


def quota(here: World, name: str, vcpus: int) -> None:
    here.driver.provider.cloud.scarcity.set_quota("azure", name, vcpus)


def half_made(here: World, changes: dict[str, Any], name: str = "nodes") -> tuple[Made, str]:
    """What the engine keeps of a scale set whose creation ended in an error, and the error."""
    inputs = inputs_of(here, "scale_set", changes)
    with pytest.raises(Refused) as refused:
        here.driver.up(SCALE_SET, inputs, name)
    kept = refused.value.kept
    assert kept is not None, refused.value
    urn = f"urn:pulumi:stack::project::{SCALE_SET}::{name}"
    return Made(SCALE_SET, urn, kept.id, from_struct(kept.inputs), from_struct(kept.properties)), str(refused.value)


def test_a_scale_set_that_gets_less_than_it_wants_exists_and_has_failed(here: World, scarce: Callable[..., None]):
    scarce(H100, "eastus-1", "on-demand", 12)
    made, said = half_made(here, {})
    assert 'Code="ZonalAllocationFailed"' in said
    assert "sufficient capacity for the requested VM size in this zone" in said
    assert "12 of 16 instances are running" in said
    assert made["provisioningState"] == "Failed"
    assert nodes(here.driver, made) == 12


def test_the_same_request_again_asks_for_the_rest(here: World, scarce: Callable[..., None]):
    scarce(H100, "eastus-1", "on-demand", 12)
    made, _ = half_made(here, {})
    again = inputs_of(here, "scale_set")
    assert "12 of 16" in here.driver.refusal(lambda: here.driver.update(made, again))
    scarce(H100, "eastus-1", "on-demand", 20)
    whole = here.driver.update(made, again)
    assert whole["provisioningState"] == "Succeeded"
    assert nodes(here.driver, whole) == 16


def test_a_scale_set_that_grows_beyond_what_there_is_keeps_what_it_has(here: World, scarce: Callable[..., None]):
    scarce(H100, "eastus-1", "on-demand", 18)
    made = here.driver.up(SCALE_SET, inputs_of(here, "scale_set"), "nodes")
    said = here.driver.refusal(lambda: here.driver.update(made, inputs_of(here, "scale_set", {"sku.capacity": 24})))
    assert "18 of 24 instances are running" in said
    smaller = here.driver.update(made, inputs_of(here, "scale_set", {"sku.capacity": 4}))
    assert smaller["provisioningState"] == "Succeeded"
    assert nodes(here.driver, smaller) == 4


def test_two_scale_sets_share_what_a_zone_has(here: World, scarce: Callable[..., None]):
    scarce(H100, "eastus-1", "on-demand", 20)
    here.driver.up(SCALE_SET, inputs_of(here, "scale_set"), "first")
    made, _ = half_made(here, {}, "second")
    assert nodes(here.driver, made) == 4
    elsewhere = here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {"zones": ["2"]}), "third")
    assert nodes(here.driver, elsewhere) == 16


def test_deleting_a_scale_set_gives_its_nodes_back(here: World, scarce: Callable[..., None]):
    scarce(H100, "*", "on-demand", 16)
    first = here.driver.up(SCALE_SET, inputs_of(here, "scale_set"), "first")
    here.driver.delete(first)
    assert nodes(here.driver, here.driver.up(SCALE_SET, inputs_of(here, "scale_set"), "second")) == 16


def test_without_a_zone_the_region_is_short(here: World, scarce: Callable[..., None]):
    scarce(H100, "eastus", "*", 3)
    _, said = half_made(here, {"zones": None})
    assert 'Code="AllocationFailed"' in said
    assert "in this region" in said


def test_with_a_proximity_placement_group_the_constraints_are_to_blame(here: World, scarce: Callable[..., None]):
    scarce(H100, "*", "*", 3)
    group = here["proximity_group"]
    _, said = half_made(here, {"proximityPlacementGroup": {"id": group.id}})
    assert 'Code="OverconstrainedZonalAllocationRequest"' in said
    for constraint in ("Availability Zone", "Networking Constraints", "Proximity Placement Group", "VM Size"):
        assert f"\n  - {constraint}" in said


def test_a_size_that_a_place_does_not_have_is_refused_whole(here: World, scarce: Callable[..., None]):
    scarce(H100, "eastus-1", "*", 0)
    with pytest.raises(Refused, match=r'Status=409 Code="SkuNotAvailable".*Standard_ND96isr_H100_v5') as refused:
        here.driver.up(SCALE_SET, inputs_of(here, "scale_set"))
    assert refused.value.kept is None
    assert here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {"zones": ["2"]}))


def test_spot_and_on_demand_are_counted_apart(here: World, scarce: Callable[..., None]):
    scarce(H100, "*", "spot", 2)
    here.driver.up(SCALE_SET, inputs_of(here, "scale_set"), "regular")
    spot = dict(TABLE["rows"]["spot_set"]["set"])
    made, _ = half_made(here, spot, "spot")
    assert nodes(here.driver, made) == 2


def test_a_quota_of_the_family_refuses_the_request_whole(here: World):
    quota(here, "standard NDSH100v5 Family", 96 * 20)
    here.driver.up(SCALE_SET, inputs_of(here, "scale_set"), "first")
    with pytest.raises(Refused) as refused:
        here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {"zones": ["2"]}), "second")
    assert refused.value.kept is None
    for part in (
        'Status=409 Code="OperationNotAllowed"',
        "exceeding approved standardNDSH100v5Family Cores quota",
        "Location: eastus, Current Limit: 1920, Current Usage: 1536, Additional Required: 1536",
        "(Minimum) New Limit Required: 3072",
        'Target="sku.capacity"',
    ):
        assert part in str(refused.value)
    assert here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {"sku.capacity": 4}), "third")


def test_spot_nodes_count_against_low_priority_cores_only(here: World):
    quota(here, "standardNDSH100v5Family", 0)
    quota(here, "cores", 0)
    spot = dict(TABLE["rows"]["spot_set"]["set"])
    assert here.driver.up(SCALE_SET, inputs_of(here, "scale_set", spot), "spot")
    quota(here, "lowPriorityCores", 96 * 16)
    said = here.driver.refusal(lambda: here.driver.up(SCALE_SET, inputs_of(here, "scale_set", spot), "more"))
    assert "exceeding approved lowPriorityCores Cores quota" in said


def test_all_cores_of_a_region_have_a_quota_too(here: World):
    quota(here, "cores", 100)
    said = here.driver.refusal(lambda: here.driver.up(SCALE_SET, inputs_of(here, "scale_set")))
    assert "exceeding approved Total Regional Cores quota" in said


def test_a_reservation_keeps_nodes_for_its_scale_set(here: World, scarce: Callable[..., None]):
    scarce("Standard_NC24ads_A100_v4", "eastus", "*", 3)
    assert here["reservation"]  # of two
    small = inputs_of(here, "small_set", {"zones": None, "singlePlacementGroup": False})
    assert "1 of 2 instances are running" in here.driver.refusal(lambda: here.driver.up(SCALE_SET, small, "small"))
    assert nodes(here.driver, here["reserved_set"]) == 2


def test_a_reservation_that_cannot_be_filled_is_not_made(here: World, scarce: Callable[..., None]):
    scarce("Standard_NC24ads_A100_v4", "eastus", "*", 1)
    inputs = inputs_of(here, "reservation")
    token = here.rows["reservation"]["type"]
    assert 'Code="AllocationFailed"' in here.driver.refusal(lambda: here.driver.up(token, inputs))
    scarce("Standard_NC24ads_A100_v4", "eastus", "*", None)
    quota(here, "StandardNCADSA100v4Family", 24)
    assert 'Code="OperationNotAllowed"' in here.driver.refusal(lambda: here.driver.up(token, inputs))


def test_a_fifth_filesystem_exceeds_the_quota(here: World):
    token = here.rows["lustre"]["type"]
    subnets = [
        here.driver.up(
            here.rows["plain_subnet"]["type"],
            inputs_of(here, "plain_subnet", {"addressPrefix": f"10.50.{100 + i}.0/24"}),
            f"fs{i}",
        )
        for i in range(5)
    ]
    made = [
        here.driver.up(token, inputs_of(here, "lustre", {"filesystemSubnet": subnet.id}), f"lustre{i}")
        for i, subnet in enumerate(subnets[:4])
    ]
    fifth = inputs_of(here, "lustre", {"filesystemSubnet": subnets[4].id})
    said = here.driver.refusal(lambda: here.driver.up(token, fifth, "fifth"))
    assert "Maximum allowed: 4, Current in use: 4, Additional requested: 1." in said
    here.driver.delete(made[0])
    assert here.driver.up(token, fifth, "fifth")


def test_nodes_endpoints_and_filesystems_share_the_addresses_of_a_subnet(here: World):
    subnet = here["tiny_subnet"]  # 11 addresses
    path = "virtualMachineProfile.networkProfile.networkInterfaceConfigurations[0].ipConfigurations[0].subnet.id"
    here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {"sku.capacity": 10, path: subnet.id}), "nodes")
    endpoint = here.rows["endpoint"]["type"]
    made = here.driver.up(endpoint, inputs_of(here, "endpoint", {"subnet.id": subnet.id}), "first")
    assert made["customDnsConfigs"][0]["ipAddresses"] == ["10.50.21.14"]
    another = inputs_of(here, "endpoint", {"subnet.id": subnet.id})
    assert 'Code="SubnetIsFull"' in here.driver.refusal(lambda: here.driver.up(endpoint, another, "second"))
    here.driver.delete(made)
    assert here.driver.up(endpoint, another, "second")


def test_two_nodes_less_in_a_scale_set_free_two_addresses(here: World):
    subnet = here["tiny_subnet"]
    path = "virtualMachineProfile.networkProfile.networkInterfaceConfigurations[0].ipConfigurations[0].subnet.id"
    full = inputs_of(here, "scale_set", {"sku.capacity": 11, path: subnet.id})
    made = here.driver.up(SCALE_SET, full, "nodes")
    here.driver.update(made, inputs_of(here, "scale_set", {"sku.capacity": 9, path: subnet.id}))
    endpoint = here.rows["endpoint"]["type"]
    for name in ("first", "second"):
        assert here.driver.up(endpoint, inputs_of(here, "endpoint", {"subnet.id": subnet.id}), name)


def test_custom_data_may_be_as_long_as_azure_says_and_no_longer(here: World):
    path = "virtualMachineProfile.osProfile.customData"
    assert here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {path: "A" * 87380}), "fits")
    said = here.driver.refusal(lambda: here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {path: "A" * 87384})))
    assert "must be in Base64 encoding and with a maximum length of 87380 characters." in said


def test_an_unknown_size_passes_with_a_warning(here: World):
    here.driver.up(SCALE_SET, inputs_of(here, "scale_set", {"sku.name": "Standard_ND200isr_X_v9"}))
    assert any("does not know the size Standard_ND200isr_X_v9" in text for text in here.driver.warnings)


def test_part_of_a_rack_passes_with_a_warning(here: World):
    here.driver.up(SCALE_SET, inputs_of(here, "rack_set"), "whole")
    assert here.driver.warnings == []
    here.driver.up(SCALE_SET, inputs_of(here, "rack_set", {"sku.capacity": 20}), "part")
    assert any("given out in racks of 18" in text for text in here.driver.warnings)


def test_a_scale_set_with_an_identity_of_its_own_is_a_principal(here: World):
    own = {"identity": {"type": "SystemAssigned"}}
    made = here.driver.up(SCALE_SET, inputs_of(here, "scale_set", own), "nodes")
    principal = made["identity"]["principalId"]
    assert here.driver.update(made, inputs_of(here, "scale_set", own))["identity"]["principalId"] == principal
    token = here.rows["role_assignment"]["type"]
    as_user = inputs_of(here, "role_assignment", {"principalId": principal, "principalType": "User"})
    assert "UnmatchedPrincipalType" in here.driver.refusal(lambda: here.driver.up(token, as_user))
    assert here.driver.up(token, {**as_user, "principalType": "ServicePrincipal"})


def test_subnets_inside_a_network_exist_as_others_do(here: World):
    vnet = here["second_vnet_with_subnets"]
    one, two = (subnet["id"] for subnet in vnet["subnets"])
    assert one == f"{vnet.id}/subnets/one"
    inputs = inputs_of(
        here, "second_vnet_with_subnets", {"subnets": [{"name": "two", "addressPrefix": "10.50.1.0/24"}]}
    )
    here.driver.update(vnet, inputs)
    token = here.rows["subnet"]["type"]
    assert here.driver.read(token, one).id == ""
    assert here.driver.read(token, two).id == two
    here.driver.delete(vnet)
    assert here.driver.read(token, two).id == ""


def test_a_network_that_declares_no_subnets_leaves_those_of_others_alone(here: World):
    subnet, vnet = here["plain_subnet"], here["vnet"]
    here.driver.update(vnet, inputs_of(here, "vnet", {"tags": {"a": "b"}}))
    assert here.driver.read(subnet.token, subnet.id).id == subnet.id
    here.driver.update(vnet, inputs_of(here, "vnet", {"subnets": []}))
    assert here.driver.read(subnet.token, subnet.id).id == ""


def test_the_table_of_sizes_is_plausible():
    known = sizes()
    assert {"standard_nd96isr_h100_v5", "standard_nd96isr_h200_v5", "standard_nd96isr_mi300x_v5"} <= known.keys()
    for size in known.values():
        # r in the letters behind the number means RDMA
        letters = re.fullmatch(r"Standard_[A-Z]+\d+([a-zG0-9]*).*", size.name)
        assert letters is not None
        assert ("r" in letters[1]) == bool(size.rdma), size.name
        assert str(size.vcpus) in size.name or size.vcpus in (176, 120)
        assert size.rack_nodes == (18 if "GB" in size.name else 1)
