"""What makes nodes one fabric, on shapes other than our own: reservations, groups named by the Auto Scaling group,
inline rules, sizes outside the catalogue. Our own shape, broken: `test_happy_clusters`.
"""

from __future__ import annotations

from typing import Any

import pytest

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"


def _without_placement(cluster: Any) -> Any:
    cluster.set("nodes-template", "placement", None)
    del cluster.resources["nodes-template"].sources["placement"]
    return cluster


def _without_reservation(cluster: Any) -> Any:
    cluster.set("nodes-template", "capacityReservationSpecification", None)
    return cluster


def test_efa_nodes_with_neither_placement_group_nor_reservation_are_refused(aws_cluster: Any) -> None:
    refused = _without_reservation(_without_placement(aws_cluster)).refused_by()
    assert set(refused) == {"efa-nodes-without-placement"}
    assert "placement.groupName of nodes-template is not set" in refused["efa-nodes-without-placement"][0]


def test_a_targeted_reservation_alone_is_enough_since_capacity_blocks_take_no_placement_group(
    aws_cluster: Any,
) -> None:
    assert _without_placement(aws_cluster).refused_by() == {}


def test_a_reservation_that_is_only_preferred_is_not_a_target(aws_cluster: Any) -> None:
    _without_placement(aws_cluster)
    preference = {"capacityReservationPreference": "open"}
    aws_cluster.set("nodes-template", "capacityReservationSpecification", preference)
    assert set(aws_cluster.refused_by()) == {"efa-nodes-without-placement"}


@pytest.mark.parametrize("strategy", ["cluster", "partition"])
def test_the_group_that_an_auto_scaling_group_names_counts_for_its_template(aws_cluster: Any, strategy: str) -> None:
    _without_reservation(_without_placement(aws_cluster))
    aws_cluster.set("nodes", "placementGroup", "<unknown>")
    aws_cluster.set("placement", "strategy", strategy)
    aws_cluster.resources["nodes"].sources["placementGroup"] = ["placement"]
    expected = set() if strategy == "cluster" else {"efa-nodes-without-placement"}
    assert set(aws_cluster.refused_by()) == expected


def test_nodes_without_efa_may_stand_anywhere(aws_cluster: Any) -> None:
    _without_reservation(_without_placement(aws_cluster))
    for interface in aws_cluster.resources["nodes-template"].props["networkInterfaces"]:
        interface.pop("interfaceType", None)
    aws_cluster.set("nodes-template", "instanceType", "g5.xlarge")
    assert aws_cluster.refused_by() == {}


def test_a_template_whose_interfaces_a_preview_does_not_know_is_not_passed_in_silence(aws_cluster: Any) -> None:
    aws_cluster.set("nodes-template", "networkInterfaces", "<unknown>")
    refused = aws_cluster.refused_by()
    for policy in ("efa-nodes-without-placement", "efa-group-not-self-referring", "aws-public-address"):
        assert "can't run policy" in refused[policy][0]
        assert "networkInterfaces" in refused[policy][0]


@pytest.mark.parametrize("rule", ["fabric-in", "fabric-out"])
def test_a_security_group_without_one_half_of_the_pair_is_refused(aws_cluster: Any, rule: str) -> None:
    aws_cluster.drop(rule)
    assert set(aws_cluster.refused_by()) == {"efa-group-not-self-referring"}


def test_a_rule_that_refers_to_another_group_is_not_self_referring(aws_cluster: Any) -> None:
    aws_cluster.add(type(aws_cluster.resources["vpc"])(GROUP, "other-group", {"vpcId": "<unknown>"}))
    aws_cluster.resources["fabric-out"].sources["referencedSecurityGroupId"] = ["other-group"]
    assert set(aws_cluster.refused_by()) == {"efa-group-not-self-referring"}


def _efa_template(*groups: str) -> dict[str, Any]:
    interface = {"interfaceType": "efa", "securityGroups": list(groups)}
    return {
        "type": TEMPLATE,
        "props": {
            "networkInterfaces": [interface],
            "placement": {"groupName": "training"},
            "metadataOptions": {"httpTokens": "required"},
        },
    }


def test_inline_rules_with_self_count_both_ways(judge: Any) -> None:
    inward = {"fromPort": 0, "toPort": 0, "protocol": "-1", "self": True}
    outward = {"fromPort": 0, "toPort": 0, "protocol": "-1", "cidrBlocks": ["0.0.0.0/0"]}
    template = _efa_template("<unknown>") | {"sources": {"networkInterfaces": ["efa"]}}
    group = {"type": GROUP, "name": "efa", "props": {"ingress": [inward], "egress": [inward, outward]}}
    assert judge(template, group) == {}
    group["props"] = {"ingress": [inward], "egress": [outward]}
    assert set(judge(template, group)) == {"efa-group-not-self-referring"}


def test_older_rule_resources_count_as_well(judge: Any) -> None:
    template = _efa_template("<unknown>") | {"sources": {"networkInterfaces": ["efa"]}}
    group = {"type": GROUP, "name": "efa", "props": {}}
    rules = [
        {
            "type": "aws:ec2/securityGroupRule:SecurityGroupRule",
            "name": direction,
            "props": {"type": direction, "protocol": "-1", "self": True, "securityGroupId": "<unknown>"},
            "sources": {"securityGroupId": ["efa"]},
        }
        for direction in ("ingress", "egress")
    ]
    assert judge(template, group, *rules) == {}
    assert set(judge(template, group, rules[0])) == {"efa-group-not-self-referring"}


def test_a_group_made_elsewhere_is_passed_and_one_not_known_yet_is_said_to_be_unjudged(judge: Any) -> None:
    assert judge(_efa_template("sg-0123456789abcdef0")) == {}
    found_by = {"type": "aws:ec2/vpc:Vpc", "name": "vpc", "props": {}}
    looked_up = _efa_template("<unknown>") | {"sources": {"networkInterfaces": ["vpc"]}}
    (message,) = judge(looked_up, found_by)["efa-group-not-self-referring"]
    assert "can't run policy" in message


def test_a_second_group_from_elsewhere_may_hold_the_pair(judge: Any) -> None:
    group = {"type": GROUP, "name": "ssh", "props": {}}
    template = _efa_template("<unknown>", "sg-0123456789abcdef0") | {"sources": {"networkInterfaces": ["ssh"]}}
    assert judge(template, group) == {}


def test_groups_are_judged_alike_once_their_ids_are_known(judge: Any) -> None:
    group = {"type": GROUP, "name": "efa", "props": {"id": "sg-1"}}
    template = _efa_template("sg-1") | {"sources": {"networkInterfaces": ["efa"]}}
    assert set(judge(template, group)) == {"efa-group-not-self-referring"}
    group["props"] = {}
    assert set(judge(template, group)) == {"efa-group-not-self-referring"}


def test_an_efa_interface_of_its_own_is_judged_too(judge: Any) -> None:
    interface = {
        "type": "aws:ec2/networkInterface:NetworkInterface",
        "props": {"interfaceType": "efa", "securityGroups": ["<unknown>"], "subnetId": "subnet-1"},
        "sources": {"securityGroups": ["efa"]},
    }
    assert set(judge(interface, {"type": GROUP, "name": "efa", "props": {}})) == {"efa-group-not-self-referring"}


def _scale_set(size: str, **props: Any) -> dict[str, Any]:
    whole = {"singlePlacementGroup": True, "overprovision": False, "platformFaultDomainCount": 1, **props}
    return {"type": SCALE_SET, "props": {"sku": {"name": size, "capacity": 2}, **whole}}


@pytest.mark.parametrize(
    ("size", "single", "refused"),
    [
        ("Standard_ND96isr_H200_v5", False, True),
        ("Standard_ND96is_H100_v5", False, False),
        ("Standard_NC80adis_H100_v5", False, False),
        ("Standard_ND999isr_Z900_v9", False, True),
        ("Standard_ND999is_Z900_v9", False, False),
        ("Standard_HB176rs_v4", False, True),
        ("Standard_D16ads_v5", False, False),
        ("Standard_ND128isr_NDR_GB200_v6", True, True),
        ("Standard_ND128isr_NDR_GB200_v6", False, False),
        ("Standard_ND999isr_GB900_v9", False, False),
    ],
)
def test_one_placement_group_is_asked_of_rdma_sizes_only_and_never_of_racks(
    judge: Any, size: str, single: bool, refused: bool
) -> None:
    verdicts = judge(_scale_set(size, singlePlacementGroup=single))
    assert set(verdicts) == ({"rdma-scale-set-split"} if refused else set())


def test_a_flexible_scale_set_knows_no_overprovisioning_but_is_split_without_a_single_placement_group(
    judge: Any,
) -> None:
    size = "Standard_ND96isr_H100_v5"
    good = _scale_set(size, orchestrationMode="Flexible")
    del good["props"]["overprovision"]
    assert judge(good) == {}
    good["props"]["singlePlacementGroup"] = False
    (message,) = judge(good)["rdma-scale-set-split"]
    assert "singlePlacementGroup of r0 is false on Standard_ND96isr_H100_v5" in message


@pytest.mark.parametrize(
    "token",
    [
        "azure-native:compute/v20240701:VirtualMachineScaleSet",
        "azure-native_compute_v20241101:compute:VirtualMachineScaleSet",
    ],
)
def test_a_scale_set_is_known_in_every_api_version(judge: Any, token: str) -> None:
    split = _scale_set("Standard_ND96isr_H100_v5", singlePlacementGroup=False) | {"type": token}
    assert set(judge(split)) == {"rdma-scale-set-split"}
