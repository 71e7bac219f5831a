"""How a policy follows launchers, templates and subnets: what it must see through, and what it may not conclude."""

from __future__ import annotations

from typing import Any

import pytest

SUBNET = "aws:ec2/subnet:Subnet"
GROUP = "aws:autoscaling/group:Group"
INTERFACE = {"interfaceType": "efa", "securityGroups": ["sg-0123456789abcdef0"]}
ZONES, PLACEMENT = "efa-nodes-over-zones", "efa-nodes-without-placement"


def _template(**props: Any) -> dict[str, Any]:
    return {
        "type": "aws:ec2/launchTemplate:LaunchTemplate",
        "name": "template",
        "props": {"instanceType": "g5.48xlarge", "networkInterfaces": [INTERFACE], **props},
    }


def _group(subnets: int, *sources: str, **props: Any) -> dict[str, Any]:
    return {
        "type": GROUP,
        "name": "nodes",
        "props": {"launchTemplate": {"id": "<unknown>"}, "vpcZoneIdentifiers": ["<unknown>"] * subnets, **props},
        "sources": {"launchTemplate": ["template"], "vpcZoneIdentifiers": list(sources)},
    }


def _subnets(**zones: str) -> list[dict[str, Any]]:
    return [{"type": SUBNET, "name": name, "props": {"availabilityZone": zone}} for name, zone in zones.items()]


@pytest.mark.parametrize(
    ("named", "zones", "refused"),
    [
        (1, {"a": "az-1", "b": "az-2"}, False),
        (2, {"a": "az-1", "b": "az-2"}, True),
        (2, {"a": "az-1", "b": "az-1"}, False),
        (2, {"a": "az-1", "b": "az-1", "c": "az-2"}, False),
        (3, {"a": "az-1", "b": "az-1", "c": "az-2"}, True),
    ],
)
def test_a_group_is_split_only_where_no_zone_can_hold_all_of_its_subnets(
    judge: Any, named: int, zones: dict[str, str], refused: bool
) -> None:
    assert (ZONES in judge(_template(), *_subnets(**zones), _group(named, *zones))) is refused


def test_subnets_that_are_named_by_plain_ids_are_passed(judge: Any) -> None:
    group = _group(0, vpcZoneIdentifiers=["subnet-1", "subnet-2"])
    assert ZONES not in judge(_template(), group)


def test_zones_named_by_the_group_itself_count(judge: Any) -> None:
    group = _group(0, availabilityZones=["us-east-1a", "us-east-1b"])
    del group["props"]["vpcZoneIdentifiers"]
    assert "lie in 2 zones (us-east-1a, us-east-1b)" in judge(_template(), group)[ZONES][0]


def test_a_template_named_by_its_name_is_followed_as_one_named_by_its_id(judge: Any) -> None:
    group = _group(2, "a", "b", launchTemplate={"name": "p5-nodes"})
    del group["sources"]["launchTemplate"]
    subnets = _subnets(a="az-1", b="az-2")
    assert ZONES in judge(_template(name="p5-nodes"), *subnets, group)
    assert ZONES not in judge(_template(name="other"), *subnets, group)


@pytest.mark.parametrize(("most", "refused"), [(1, False), (2, True), ("<unknown>", True)])
def test_a_group_of_at_most_one_node_needs_no_placement(judge: Any, most: Any, refused: bool) -> None:
    group = _group(1, "a", maxSize=most)
    assert (PLACEMENT in judge(_template(), *_subnets(a="az-1"), group)) is refused


def test_what_the_cloud_fills_in_does_not_count_as_said(judge: Any) -> None:
    """A preview shows placementGroup of an instance as unknown when the program left it out."""
    interfaces = [
        {"type": "aws:ec2/networkInterface:NetworkInterface", "name": f"efa-{n}", "props": INTERFACE} for n in (1, 2)
    ]
    instances: list[dict[str, Any]] = [
        {
            "type": "aws:ec2/instance:Instance",
            "name": f"node-{n}",
            "props": {"networkInterfaces": [{"networkInterfaceId": "<unknown>"}], "placementGroup": "<unknown>"},
            "sources": {"networkInterfaces": [f"efa-{n}"]},
        }
        for n in (1, 2)
    ]
    assert "is not set" in judge(*interfaces, *instances)[PLACEMENT][0]
    group = {"type": "aws:ec2/placementGroup:PlacementGroup", "name": "group", "props": {"strategy": "cluster"}}
    for instance in instances:
        instance["sources"]["placementGroup"] = ["group"]
    assert PLACEMENT not in judge(*interfaces, *instances, group)


def test_an_instance_type_of_the_launcher_goes_before_the_one_of_the_template(judge: Any) -> None:
    group = {
        "type": "aws:eks/nodeGroup:NodeGroup",
        "name": "nodes",
        "props": {"launchTemplate": {"id": "<unknown>"}, "instanceTypes": ["p4d.24xlarge"]},
        "sources": {"launchTemplate": ["template"]},
    }
    assert "efa-interfaces-missing" not in judge(_template())
    assert "holds 1 of the 4 EFA interfaces of p4d.24xlarge" in judge(_template(), group)["efa-interfaces-missing"][0]


def test_an_eks_group_of_a_capacity_block_takes_no_placement_group(judge: Any) -> None:
    group = {
        "type": "aws:eks/nodeGroup:NodeGroup",
        "name": "nodes",
        "props": {"launchTemplate": {"id": "<unknown>"}, "capacityType": "CAPACITY_BLOCK"},
        "sources": {"launchTemplate": ["template"]},
    }
    template = _template(placement={"groupName": "training"})
    assert "launches into a Capacity Block" in judge(template, group)["reservation-and-placement-apart"][0]


@pytest.mark.parametrize("second", ["az-1", "az-2"])
def test_instances_that_share_the_placement_group_of_a_template_are_one_cluster(judge: Any, second: str) -> None:
    instances = [
        {
            "type": "aws:ec2/instance:Instance",
            "name": f"node-{subnet}",
            "props": {"launchTemplate": {"id": "<unknown>"}, "subnetId": "<unknown>"},
            "sources": {"launchTemplate": ["template"], "subnetId": [subnet]},
        }
        for subnet in ("a", "b")
    ]
    found = judge(_template(placement={"groupName": "training"}), *_subnets(a="az-1", b=second), *instances)
    assert (ZONES in found) is (second == "az-2")


def test_a_lone_instance_in_a_group_is_held_to_the_group_of_its_reservation(judge: Any) -> None:
    held = {"type": "aws:ec2/capacityReservation:CapacityReservation", "name": "held", "props": {}}
    target = {"capacityReservationTarget": {"capacityReservationId": "<unknown>"}}
    instance = {
        "type": "aws:ec2/instance:Instance",
        "name": "node",
        "props": {"placementGroup": "training", "capacityReservationSpecification": target},
        "sources": {"capacityReservationSpecification": ["held"]},
    }
    assert "placementGroupArn of held is not set" in judge(held, instance)["reservation-and-placement-apart"][0]
    held["props"] = {"placementGroupArn": "arn:aws:ec2:us-east-1:123456789012:placement-group/training"}
    assert "reservation-and-placement-apart" not in judge(held, instance)
