"""What an organisation says that a stack may cost: tags, types, regions, GPUs; and money that buys nothing.

A policy without its values passes everything: so do all clusters of `test_our_clusters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.dryrun import dry_run
from tests.clusters import CLUSTERS, changes_of, planned

INSTANCE = "aws:ec2/instance:Instance"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:autoscaling/group:Group"
POOL = "azure-native:containerservice:AgentPool"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
ND = "Standard_ND96isr_H100_v5"
COUNTED = "cost-gpus-per-stack"


def _gpus(judge: Any, *declared: dict[str, Any], **options: Any) -> int:
    """How many GPUs a stack is said to come to, with a limit of one."""
    messages = judge(*declared, config={COUNTED: {"maxGpus": 1, **options}}).get(COUNTED, [])
    if not messages:
        return 0
    return int(messages[0].partition("of the stack's ")[2].partition(" ")[0])


def _group(size: int, template: str = "t", **props: Any) -> dict[str, Any]:
    group = {"launchTemplate": {"id": "<unknown>"}, "minSize": 0, "maxSize": size, **props}
    return {"type": GROUP, "name": "group", "props": group, "sources": {"launchTemplate": [template]}}


def _template(node_type: str, **sources: list[str]) -> dict[str, Any]:
    return {"type": TEMPLATE, "name": "t", "props": {"instanceType": node_type}, "sources": sources}


def _held(count: int, node_type: str = "p5.48xlarge") -> dict[str, Any]:
    props = {"instanceType": node_type, "instanceCount": count, "instancePlatform": "Linux/UNIX"}
    return {"type": "aws:ec2/capacityReservation:CapacityReservation", "name": "held", "props": props}


def _scale_set(capacity: Any, size: str = ND, **props: Any) -> dict[str, Any]:
    return {"type": SCALE_SET, "name": "nodes", "props": {"sku": {"name": size, "capacity": capacity}, **props}}


@pytest.mark.parametrize(
    ("declared", "gpus"),
    [
        ([{"type": INSTANCE, "props": {"instanceType": "p5.4xlarge"}}] * 2, 2),
        ([_template("p5.48xlarge"), _group(4)], 32),
        ([_template("p5.48xlarge"), _group(4), _held(4)], 64),
        ([_template("p5.48xlarge", capacityReservationSpecification=["held"]), _group(4), _held(4)], 32),
        ([_template("p5.48xlarge", capacityReservationSpecification=["held"]), _group(4), _held(6)], 48),
        ([_held(2)], 16),
        ([_template("c7i.large"), _group(400)], 0),
        ([_scale_set(3)], 24),
        ([_scale_set(3, "Standard_D16ads_v5")], 0),
        ([{"type": "azure-native:compute:VirtualMachine", "props": {"hardwareProfile": {"vmSize": ND}}}], 8),
        ([{"type": POOL, "props": {"vmSize": ND, "count": 2}}], 16),
        ([{"type": POOL, "props": {"vmSize": ND, "count": 2, "enableAutoScaling": True, "maxCount": 5}}], 40),
        ([{"type": "aws:eks/nodeGroup:NodeGroup",
           "props": {"instanceTypes": ["p4d.24xlarge"], "scalingConfig": {"maxSize": 3}}}], 24),
        ([{"type": "aws:batch/computeEnvironment:ComputeEnvironment",
           "props": {"computeResources": {"instanceTypes": ["p5.48xlarge"], "maxVcpus": 384}}}], 16),
        ([{"type": "azure-native:machinelearningservices:Compute", "props": {"properties": {
            "computeType": "AmlCompute", "properties": {"vmSize": ND, "scaleSettings": {"maxNodeCount": 4}}}}}], 32),
    ],
)  # fmt: skip
def test_gpus_are_counted_once_over_all_that_launches_or_holds_nodes(
    judge: Any, declared: list[dict[str, Any]], gpus: int
) -> None:
    assert _gpus(judge, *declared) == gpus


def test_a_scale_set_in_a_reservation_of_azure_is_counted_with_it(judge: Any) -> None:
    group = {"type": "azure-native:compute:CapacityReservationGroup", "name": "group", "props": {"location": "eastus"}}
    held = {
        "type": "azure-native:compute:CapacityReservation",
        "name": "held",
        "props": {"sku": {"name": ND, "capacity": 5}, "capacityReservationGroupName": "<unknown>"},
        "sources": {"capacityReservationGroupName": ["group"]},
    }
    inside = _scale_set(3) | {"sources": {"virtualMachineProfile": ["group"]}}
    assert _gpus(judge, group, held, inside) == 40
    assert _gpus(judge, group, held, _scale_set(3)) == 64


CLUSTER_GPUS = {
    "aws-on-demand": 128,
    "aws-stopped": 0,
    "aws-spot": 128,
    "aws-elastic": 192,
    "aws-capacity-block": 128,
    "aws-capacity-block-bought": 128,
    "azure-on-demand": 128,
}


@pytest.mark.parametrize("name", CLUSTER_GPUS)
def test_our_own_clusters_count_as_many_gpus_as_they_have(name: str, analyze: Callable[..., list[Any]]) -> None:
    requests = dry_run(planned(CLUSTERS[name]["stack"], changes_of(name)), preview=True).requests
    gpus = CLUSTER_GPUS[name]
    if gpus:
        (verdict,) = _counted(analyze(requests, {COUNTED: {"maxGpus": gpus - 1}}))
        assert f"of the stack's {gpus} GPUs, and the limit is {gpus - 1}" in verdict.message
    assert _counted(analyze(requests, {COUNTED: {"maxGpus": max(gpus, 1)}})) == []


def _counted(verdicts: list[Any]) -> list[Any]:
    return [verdict for verdict in verdicts if verdict.policy == COUNTED]


def test_gpus_of_a_type_that_nobody_knows_have_to_be_said(judge: Any) -> None:
    new = {"type": INSTANCE, "props": {"instanceType": "p9.48xlarge", "metadataOptions": {"httpTokens": "required"}}}
    (message,) = judge(new, config={COUNTED: {"maxGpus": 100}})[COUNTED]
    assert "counts nodes of p9.48xlarge, whose GPUs nobody has said" in message
    assert _gpus(judge, new, new | {"name": "second"}, gpus={"p9.48xlarge": 16}) == 32


def test_the_largest_part_of_too_many_gpus_is_named(judge: Any) -> None:
    stack = (_scale_set(2), {"type": POOL, "name": "pool", "props": {"vmSize": ND, "count": 6}})
    (message,) = judge(*stack, config={COUNTED: {"maxGpus": 32}})[COUNTED]
    assert "count of pool brings 48 of the stack's 64 GPUs, and the limit is 32" in message


TAGS = {"cost-required-tags": {"keys": ["team", "cost.center/id"], "values": {"team": "research"}}}


@pytest.mark.parametrize(
    "tags",
    [{"tags": {"team": "a", "cost.center/id": "7"}}, {"tags": {"team": "a"}, "tagsAll": {"cost.center/id": "7"}}],
)
def test_tags_of_the_resource_and_of_the_provider_both_count(judge: Any, tags: dict[str, Any]) -> None:
    volume = {"type": "aws:ebs/volume:Volume", "props": {"encrypted": True, **tags}}
    assert judge(volume, config=TAGS) == {}
    volume["props"] = {"encrypted": True, "tags": {"team": "a"}}
    (message,) = judge(volume, config=TAGS)["cost-required-tags"]
    assert "tags.cost.center/id of r0 is not set" in message


def test_an_auto_scaling_group_says_its_tags_in_a_list(judge: Any) -> None:
    tags = [{"key": key, "value": "x", "propagateAtLaunch": True} for key in ("team", "cost.center/id")]
    assert judge(_group(0, tags=tags), config=TAGS) == {}
    assert len(judge(_group(0), config=TAGS)["cost-required-tags"]) == 2


def test_a_missing_tag_is_added_only_by_remediation_and_with_the_organisations_value(mended: Any) -> None:
    volume = {"type": "aws:ebs/volume:Volume", "props": {"encrypted": True, "size": 10, "tags": {"a": "b"}}}
    remedy = {"cost-required-tags": {**TAGS["cost-required-tags"], "enforcementLevel": "remediate"}}
    assert mended(volume, remedy)["tags"] == {"a": "b", "team": "research"}
    assert mended(volume, TAGS) == {}


@pytest.mark.parametrize(("value", "fine"), [("2035-12-31", True), ("2035-12-31T00:00Z", True), ("soon", False)])
def test_an_expiry_is_a_date(judge: Any, value: str, fine: bool) -> None:
    config = {"cost-expiry-tag": {"tag": "lab.example/expires"}}
    scale_set = _scale_set(2, singlePlacementGroup=True, overprovision=False, platformFaultDomainCount=1)
    scale_set["props"]["tags"] = {"lab.example/expires": value}
    assert set(judge(scale_set, config=config)) == (set() if fine else {"cost-expiry-tag"})


def test_nodes_without_accelerators_need_no_expiry_and_may_be_of_any_type(judge: Any) -> None:
    config = {"cost-expiry-tag": {"tag": "expires"}, "cost-node-type": {"types": ["p5.48xlarge"]}}
    login = {"type": INSTANCE, "props": {"instanceType": "m7i.large", "metadataOptions": {"httpTokens": "required"}}}
    assert judge(login, config=config) == {}
    gpus = login | {"props": login["props"] | {"instanceType": "g6.12xlarge", "tags": {"expires": "2035-01-01"}}}
    (message,) = judge(gpus, config=config)["cost-node-type"]
    assert 'instanceType of r0 is "g6.12xlarge", which is none of p5.48xlarge' in message


@pytest.mark.parametrize(
    ("declared", "refused"),
    [
        ({"type": "pulumi:providers:aws", "props": {"region": "us-east-1"}}, False),
        ({"type": "pulumi:providers:aws", "props": {"region": "eu-west-1"}}, True),
        ({"type": "pulumi:providers:aws", "props": {}}, True),
        ({"type": "aws:ebs/volume:Volume", "props": {"encrypted": True}}, False),
        ({"type": "aws:ebs/volume:Volume", "props": {"encrypted": True, "region": "eu-west-1"}}, True),
        ({"type": "azure-native:resources:ResourceGroup", "props": {"location": "East US"}}, False),
        ({"type": "azure-native:resources:ResourceGroup", "props": {"location": "westeurope"}}, True),
    ],
)
def test_a_region_is_judged_where_it_is_said(judge: Any, declared: dict[str, Any], refused: bool) -> None:
    verdicts = judge(declared, config={"cost-region": {"regions": ["us-east-1", "eastus"]}})
    assert set(verdicts) == ({"cost-region"} if refused else set())


def test_an_address_that_is_exported_but_used_by_nothing_is_idle(judge: Any) -> None:
    address = {"type": "aws:ec2/eip:Eip", "name": "address", "props": {"domain": "vpc"}}
    assert set(judge(address)) == {"cost-idle-address"}
    balancer = {"type": "aws:lb/loadBalancer:LoadBalancer", "sources": {"subnetMappings": ["address"]}}
    assert judge(address, balancer | {"props": {"subnetMappings": [{"allocationId": "<unknown>"}]}}) == {}


def test_a_nat_gateway_in_a_network_of_others_is_left_alone(judge: Any) -> None:
    nat = {"type": "aws:ec2/natGateway:NatGateway", "props": {"subnetId": "subnet-0123456789abcdef0"}}
    assert judge(nat) == {}
