"""How AWS nodes get their capacity: what each way to buy and to start declares, and what its hooks tell.

The same under the engine: tests/engine/test_capacity.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

URN = "urn:pulumi:s::p::aws:ec2/fleet:Fleet::llama-70b-nodes"


def market(cluster: Any) -> Any:
    return cluster.one("LaunchTemplate").inputs.get("instanceMarketOptions")


def target(cluster: Any) -> Any:
    said = cluster.one("LaunchTemplate").inputs.get("capacityReservationSpecification") or {}
    return (said.get("capacityReservationTarget") or {}).get("capacityReservationId")


def sizes(cluster: Any) -> tuple[Any, ...]:
    inputs = cluster.one("Group").inputs
    return tuple(inputs.get(size) for size in ("minSize", "desiredCapacity", "maxSize"))


def test_a_spot_gang_is_an_instant_fleet_of_one_zone_and_one_type_that_ends_with_its_nodes(
    cluster: Callable[[str], Any],
) -> None:
    spot = cluster("aws-spot")
    assert not spot.of("Group")
    assert not spot.of("CapacityReservation"), "spot capacity can not be reserved"
    inputs = spot.one("Fleet").inputs
    assert inputs["type"] == "instant"
    assert inputs["terminateInstances"] is True
    options = inputs["spotOptions"]
    assert (options["minTargetCapacity"], options["singleAvailabilityZone"], options["singleInstanceType"]) == (
        16, True, True,
    )  # fmt: skip
    assert inputs["targetCapacitySpecification"] == {"totalTargetCapacity": 16, "defaultTargetCapacityType": "spot"}
    assert market(spot) is None, "a fleet takes no template that asks for spot itself"
    assert spot.made_from(spot.one("LaunchTemplate"), "placement") == spot.of("PlacementGroup")


def test_a_fleet_that_changes_is_replaced_and_its_nodes_are_given_back_first(cluster: Callable[[str], Any]) -> None:
    request = cluster("aws-spot").one("Fleet").request
    assert request.deleteBeforeReplace
    assert set(request.replaceOnChanges) == {"targetCapacitySpecification", "launchTemplateConfigs"}


def test_another_template_version_does_not_replace_a_running_fleet(cluster: Callable[[str], Any]) -> None:
    (config,) = cluster("aws-spot").one("Fleet").inputs["launchTemplateConfigs"]
    assert config["launchTemplateSpecification"]["version"] == "$Latest"


def test_a_spot_price_is_an_upper_bound_of_the_launch(cluster: Callable[[str], Any], declared: Any) -> None:
    (config,) = cluster("aws-spot").one("Fleet").inputs["launchTemplateConfigs"]
    assert [o["maxPrice"] for o in config["overrides"]] == ["30"]
    elastic = {"nodes.purchase": "spot", "nodes.start": "elastic", "nodes.spot": {"max_price": 30.5}}
    assert market(declared("aws", elastic)) == {
        "marketType": "spot",
        "spotOptions": {
            "maxPrice": "30.5",
            "spotInstanceType": "one-time",
            "instanceInterruptionBehavior": "terminate",
        },
    }


@pytest.mark.parametrize("purchase", ["reserved", "capacity-block"])
def test_nodes_of_a_reservation_are_not_put_into_a_group_that_does_not_hold_it(
    purchase: str, declared: Callable[..., Any]
) -> None:
    """In another placement group EC2 finds no capacity, though the reservation has some."""
    from_it = declared("aws", {"nodes.purchase": purchase, "nodes.reservation": "cr-0123456789abcdef0"})
    assert not from_it.of("PlacementGroup")
    assert not from_it.of("CapacityReservation")
    assert "placementGroup" not in from_it.one("Group").inputs
    assert target(from_it) == "cr-0123456789abcdef0"
    assert market(from_it) == ({"marketType": "capacity-block"} if purchase == "capacity-block" else None)


def test_nodes_of_a_reservation_that_was_made_in_a_group_go_into_that_group(cluster: Callable[[str], Any]) -> None:
    reserved = cluster("aws-reserved")
    assert reserved.one("Group").inputs["placementGroup"] == "research"
    assert not reserved.of("PlacementGroup")


def test_an_elastic_group_is_never_scaled_in_and_says_no_wanted_size(cluster: Callable[[str], Any]) -> None:
    elastic = cluster("aws-elastic")
    assert sizes(elastic) == (16, None, 24)
    inputs = elastic.one("Group").inputs
    assert inputs["protectFromScaleIn"] is True
    assert inputs["waitForCapacityTimeout"] == "0"
    assert not elastic.of("CapacityReservation")


@pytest.mark.parametrize(("begins", "nodes"), [("2026-12-02", 0), ("2026-12-01", 16), ("2026-11-30", 16)])
def test_a_capacity_block_has_nodes_from_the_day_it_begins(
    begins: str, nodes: int, declared: Callable[..., Any]
) -> None:
    known = {"id": "cr-0123456789abcdef0", "start": begins}
    block = declared("aws", {"nodes.purchase": "capacity-block", "nodes.reservation": known})
    assert sizes(block) == (nodes, nodes, 16)
    assert block.run.exports["node_count"] == nodes


def test_a_bought_capacity_block_is_kept_whatever_happens_and_its_nodes_wait_for_it(
    cluster: Callable[[str], Any], declared: Callable[..., Any]
) -> None:
    bought = cluster("aws-capacity-block-bought")
    block = bought.one("CapacityBlockReservation")
    assert block.request.protect
    assert block.request.retainOnDelete
    assert bought.made_from(bought.one("Group"), "desiredCapacity") == [block]
    assert bought.made_from(bought.one("LaunchTemplate"), "capacityReservationSpecification") == [block]
    offer = {"buy": "cb-0123", "confirm": True}
    stopped = declared("aws", {"nodes.purchase": "capacity-block", "nodes.reservation": offer, "nodes.running": False})
    assert stopped.of("CapacityBlockReservation"), "what is paid is not forgotten over a weekend"
    assert not stopped.of("Group")


def test_nodes_of_another_type_or_place_are_other_nodes(declared: Callable[..., Any]) -> None:
    def trigger(changes: dict[str, Any]) -> Any:
        return declared("aws", changes).one("Group").request.replacement_trigger

    assert trigger({}) == trigger({"nodes.count": 12})
    assert trigger({}) != trigger({"nodes.type": "p5en.48xlarge"})
    assert trigger({}) != trigger({"nodes.placement": "none"})
    reserved = {"nodes.purchase": "reserved", "nodes.reservation": "cr-0123456789abcdef0"}
    assert trigger({}) != trigger(reserved) != trigger({**reserved, "nodes.reservation": "cr-0fedcba9876543210"})
    assert trigger({"nodes.start": "elastic"}) != trigger({}), "no running node moves into a reservation"


# Hooks


def args(**given: Any) -> Any:
    empty = dict.fromkeys(("old_inputs", "new_inputs", "old_outputs", "new_outputs"))
    return SimpleNamespace(**{**empty, "urn": URN, "errors": [], **given})


@pytest.mark.parametrize(("ids", "have"), [([], "none"), (15 * ["i-1"], "15")])
def test_a_fleet_with_fewer_nodes_than_wanted_fails_the_run_with_the_way_on(
    cluster: Callable[[str], Any], hook: Callable[..., Any], ids: list[str], have: str
) -> None:
    outputs = {"fleetInstanceSets": [{"instanceIds": ids}], "fulfilledCapacity": float(len(ids))}
    with pytest.raises(
        pulumi.RunError, match=rf"{have} of the 16 nodes started.*pulumi up --stack s --replace '{URN}'"
    ):
        hook(cluster("aws-spot"), "-fleet")(args(new_outputs=outputs))


def test_a_whole_fleet_passes(cluster: Callable[[str], Any], hook: Callable[..., Any]) -> None:
    hook(cluster("aws-spot"), "-fleet")(args(new_outputs={"fleetInstanceSets": [{"instanceIds": 16 * ["i-1"]}]}))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ((16, 16), (12, 12), "from 16 to 12"),
        ((16, 16), (16, 0), "from 16 to 0"),
        ((16, 16), (20, 20), None),
        ((16, 16), (16, 16), None),
        ((16, 0), (16, 16), None),
        ((16, None), (24, None), None),
    ],
)
def test_a_group_that_shrinks_says_that_running_nodes_end(
    old: tuple[Any, ...],
    new: tuple[Any, ...],
    says: str | None,
    cluster: Callable[[str], Any],
    hook: Callable[..., Any],
    told: list[str],
) -> None:
    def inputs(sizes: tuple[Any, ...]) -> dict[str, Any]:
        return {k: v for k, v in zip(("maxSize", "desiredCapacity"), sizes, strict=True) if v is not None}

    hook(cluster("aws-on-demand"), "-group")(args(old_inputs=inputs(old), new_inputs=inputs(new)))
    assert [str(says) in text for text in told] == ([True] if says else [])


def test_an_elastic_group_with_a_lower_bound_says_that_nodes_above_it_stay_and_are_paid(
    cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    hook(cluster("aws-elastic"), "-group")(args(old_inputs={"maxSize": 24}, new_inputs={"maxSize": 20}))
    assert ["20 nodes, no more 24" in text and "are paid" in text for text in told] == [True]


@pytest.mark.parametrize(
    ("changed", "says"),
    [({"imageId": "ami-1"}, "image"), ({"userData": "x"}, "first boot"), ({"tags": {}}, None), ({}, None)],
)
def test_a_template_that_changes_says_that_running_nodes_keep_the_old_one(
    changed: dict[str, Any], says: str | None, cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    old = {"imageId": "ami-0", "userData": "", "tags": {"a": "b"}}
    for name in ("aws-on-demand", "aws-spot"):
        hook(cluster(name), "-template")(args(old_inputs=old, new_inputs={**old, **changed}))
    assert [str(says) in text for text in told] == ([True, True] if says else [])
    if told:
        assert "start-instance-refresh" in told[0]
        assert "--replace" in told[1]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            "api error InsufficientInstanceCapacity: We currently do not",
            "nothing of what was asked for is held or paid",
        ),
        ("api error VcpuLimitExceeded: You have requested more", "3072 vCPU of EC2 quota L-417A185B"),
        ("api error UnauthorizedOperation", None),
    ],
)
def test_a_refused_start_says_what_to_do(
    error: str, says: str | None, cluster: Callable[[str], Any], hook: Callable[..., Any], told: list[str]
) -> None:
    again = hook(cluster("aws-on-demand"), "-reservation")(args(errors=[error], failed_operation="create"))
    assert again is False, "the provider has tried long enough"
    assert [str(says) in text for text in told] == ([True] if says else [])
