"""What AWS refuses for what things mean, rule by rule: semantics_aws.yaml. What launches get: test_aws_launches.

The rows of each type, and what is refused for a single value: test_types.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from localcloud.aws.nodes import nodes_of
from localcloud.values import from_struct

TABLE = yaml.safe_load(Path(__file__).with_name("semantics_aws.yaml").read_text())
GROUP = "aws:autoscaling/group:Group"
INSTANCE = "aws:ec2/instance:Instance"
FLEET = "aws:ec2/fleet:Fleet"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
LAUNCHES = [pytest.param(case, id=case["says"]) for case in TABLE["launches"]]


def template(aws_world: Any, change: dict[str, Any]) -> Any:
    return aws_world.driver.up(
        aws_world.rows["plain_template"]["type"], aws_world.inputs("plain_template", change), "template"
    )


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c['of']}-{c['says']}") for c in TABLE["refusals"]])
def test_what_cannot_be_meant_is_refused(aws_world: Any, case: dict[str, Any]):
    assert case["says"] in aws_world.driver.refusal(lambda: aws_world.attempt(case))


@pytest.mark.parametrize("case", LAUNCHES)
def test_a_template_is_taken_and_a_group_of_it_refused(aws_world: Any, case: dict[str, Any]):
    made = template(aws_world, case["change"])
    inputs = aws_world.inputs("small_group", {"launchTemplate": {"id": made.id, "version": "1"}})
    message = aws_world.driver.refusal(lambda: aws_world.driver.up(GROUP, inputs))
    assert "api error ValidationError: launchTemplate: You must use a valid fully-formed launch template." in message
    assert f"{case['code']}: " in message
    assert case["says"] in message
    assert [record.type for record in aws_world.driver.store.list() if record.type == GROUP] == []


@pytest.mark.parametrize("case", LAUNCHES)
def test_a_template_is_taken_and_an_instance_of_it_refused(aws_world: Any, case: dict[str, Any]):
    made = template(aws_world, case["change"])
    place = {} if case["change"].get("networkInterfaces") else {"subnetId": aws_world["subnet"].id}
    message = aws_world.driver.refusal(
        lambda: aws_world.driver.up(INSTANCE, {"launchTemplate": {"id": made.id}, **place})
    )
    assert f"api error {case['code']}: " in message
    assert case["says"] in message


@pytest.mark.parametrize("case", LAUNCHES)
def test_a_fleet_of_it_is_made_without_a_node_and_only_the_stand_in_says_why(aws_world: Any, case: dict[str, Any]):
    made = template(aws_world, case["change"])
    spec = {"launchTemplateId": made.id, "version": "1"}
    overrides = [{"subnetId": aws_world["subnet"].id}]
    purchase = case["change"].get("instanceMarketOptions", {}).get("marketType", "on-demand")
    capacity = {"totalTargetCapacity": 1, "defaultTargetCapacityType": purchase}
    fleet = aws_world.driver.up(
        FLEET,
        {
            "type": "instant",
            "terminateInstances": True,
            "launchTemplateConfigs": [{"launchTemplateSpecification": spec, "overrides": overrides}],
            "targetCapacitySpecification": capacity,
        },
    )
    assert (fleet["fulfilledCapacity"], fleet["fleetInstanceSets"]) == (0, [])
    assert case["says"] in aws_world.driver.warnings[-1]


def test_a_subnet_may_lie_in_a_second_block_of_its_vpc(aws_world: Any):
    assert aws_world["more_addresses"]
    made = aws_world.driver.up("aws:ec2/subnet:Subnet", aws_world.inputs("subnet", {"cidrBlock": "10.60.1.0/24"}))
    assert made["cidrBlock"] == "10.60.1.0/24"


def test_security_groups_on_both_levels_are_refused_by_the_group_in_its_own_words(aws_world: Any):
    sg = aws_world["security_group"].id
    made = template(aws_world, {"networkInterfaces": [{"securityGroups": [sg]}], "vpcSecurityGroupIds": [sg]})
    inputs = aws_world.inputs("small_group", {"launchTemplate": {"id": made.id}})
    message = aws_world.driver.refusal(lambda: aws_world.driver.up(GROUP, inputs))
    assert "InvalidQueryParameter: vpcSecurityGroupIds: Invalid launch template: When a network interface" in message


def test_a_nat_gateway_without_a_way_out_of_its_vpc_is_made_and_has_failed(aws_world: Any):
    inputs = {"subnetId": aws_world["subnet"].id, "allocationId": aws_world["eip"].id}
    failure = aws_world.driver.failure(lambda: aws_world.driver.up("aws:ec2/natGateway:NatGateway", inputs))
    assert "Gateway.NotAttached: Network vpc-" in str(failure)
    assert failure.kept.id.startswith("nat-")


def test_a_private_nat_gateway_needs_none(aws_world: Any):
    made = aws_world.driver.up(
        "aws:ec2/natGateway:NatGateway", {"subnetId": aws_world["subnet"].id, "connectivityType": "private"}
    )
    assert made["privateIp"] == "10.40.0.4"


def test_an_attached_gateway_counts_as_well_as_one_with_the_vpc_in_it(aws_world: Any):
    assert aws_world["attachment_of_gateway"]
    inputs = {"subnetId": aws_world["subnet"].id, "allocationId": aws_world["eip"].id}
    assert aws_world.driver.up("aws:ec2/natGateway:NatGateway", inputs).id.startswith("nat-")


@pytest.mark.parametrize("group", ["inline_efa_group", "self_out"])
def test_a_group_open_within_itself_is_enough_for_efa_however_its_rules_are_written(aws_world: Any, group: str):
    made = aws_world[group]
    inputs = aws_world.inputs("lustre", {"securityGroupIds": [made.outputs.get("securityGroupId", made.id)]})
    assert aws_world.driver.up(LUSTRE, inputs)["efaEnabled"] is True


def test_the_group_that_a_vpc_brings_is_taken_where_none_is_given(aws_world: Any):
    made = aws_world.driver.up(LUSTRE, aws_world.inputs("plain_lustre", {"securityGroupIds": None}))
    assert made["vpcId"] == aws_world["vpc"].id


def test_a_group_of_another_account_is_not_judged(aws_world: Any):
    inputs = aws_world.inputs("lustre", {"securityGroupIds": ["sg-0123456789abcdef0"]})
    assert aws_world.driver.up(LUSTRE, inputs).id.startswith("fs-")


def test_without_the_client_ports_the_filesystem_is_made_and_the_stand_in_warns(aws_world: Any):
    assert aws_world["group_with_port_988"]
    inputs = aws_world.inputs("plain_lustre", {"securityGroupIds": [aws_world["bare_group"].id]})
    aws_world.driver.up(LUSTRE, inputs)
    assert "no rule lets TCP 1018 in" in aws_world.driver.warnings[-1]


@pytest.mark.parametrize(
    ("deployment", "throughput", "capacity", "efa"),
    [
        ("SCRATCH_1", None, 3600, False),
        ("SCRATCH_2", None, 4800, False),
        ("PERSISTENT_1", 100, 1200, False),
        ("PERSISTENT_2", 1000, 1200, False),
        ("PERSISTENT_2", 125, 38400, True),
        ("PERSISTENT_2", 250, 38400, True),
        ("PERSISTENT_2", 500, 9600, True),
        ("PERSISTENT_2", 1000, 14400, True),
    ],
)
def test_every_tier_is_sold_in_its_steps(
    aws_world: Any, deployment: str, throughput: int | None, capacity: int, efa: bool
):
    change = {
        "deploymentType": deployment,
        "perUnitStorageThroughput": throughput,
        "storageCapacity": capacity,
        "efaEnabled": efa or None,
        "metadataConfiguration": {"mode": "AUTOMATIC"} if efa else None,
    }
    made = aws_world.driver.up(LUSTRE, aws_world.inputs("plain_lustre", change))
    assert made["storageCapacity"] == capacity


def test_a_ninth_link_to_s3_is_one_too_many(aws_world: Any):
    for i in range(8):
        aws_world.driver.up(
            aws_world.rows["data_link"]["type"], aws_world.inputs("data_link", {"fileSystemPath": f"/{i}"}), f"l{i}"
        )
    inputs = aws_world.inputs("data_link", {"fileSystemPath": "/ninth"})
    message = aws_world.driver.refusal(lambda: aws_world.driver.up(aws_world.rows["data_link"]["type"], inputs))
    assert "ServiceLimitExceeded: fileSystemId: it has 8 associations; 8 is all" in message


def test_a_link_to_a_bucket_that_is_elsewhere_is_taken_and_said(aws_world: Any):
    inputs = aws_world.inputs("data_link", {"dataRepositoryPath": "s3://public-data/imagenet"})
    aws_world.driver.up(aws_world.rows["data_link"]["type"], inputs)
    assert "the bucket public-data is not of this local cloud" in aws_world.driver.warnings[-1]


def test_a_filesystem_that_was_there_before_is_read_and_not_kept(aws_world: Any):
    """As `LustreFileSystem.get` does for one that no stack manages."""
    first, second = (aws_world.driver.read(LUSTRE, "fs-0123456789abcdef0") for _ in range(2))
    assert first.id == "fs-0123456789abcdef0"
    outputs = from_struct(first.properties)
    assert outputs["dnsName"] == "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com"
    assert outputs["mountName"]
    assert outputs == from_struct(second.properties)
    assert aws_world.driver.store.list() == []


def test_a_filesystem_that_is_gone_and_an_id_of_something_else_are_not_read(aws_world: Any):
    assert aws_world.driver.read(LUSTRE, "fs-010ca1ffffffffff0").id == ""
    assert aws_world.driver.read(aws_world.rows["bucket"]["type"], "somebodys-bucket").id == ""
    message = aws_world.driver.refusal(lambda: aws_world.driver.read(LUSTRE, "my-lustre"))
    assert "FileSystemNotFound: File system 'my-lustre' does not exist." in message


def test_another_architecture_replaces_an_instance_and_another_size_does_not(aws_world: Any):
    made = aws_world["instance"]
    for type_, replaces in (("t4g.micro", ["instanceType"]), ("t3.large", [])):
        assert (
            list(aws_world.driver.diff(made, aws_world.inputs("instance", {"instanceType": type_})).replaces)
            == replaces
        )


def test_user_data_replaces_an_instance_only_where_that_is_asked_for(aws_world: Any):
    made = aws_world["instance"]
    for asked, replaces in ((True, ["userData"]), (None, [])):
        change = {"userData": "#!/bin/sh", "userDataReplaceOnChange": asked}
        assert list(aws_world.driver.diff(made, aws_world.inputs("instance", change)).replaces) == replaces


def test_what_the_cloud_keeps_for_itself_does_not_reach_the_engine(aws_world: Any):
    for row in ("group", "launch_template"):
        made = aws_world[row]
        assert [key for key in made.outputs if key.startswith("__")] == []
    (group,) = (record for record in aws_world.driver.store.list() if record.type == GROUP)
    assert sum(len(alike.ids) for alike in nodes_of(group)) == 16
