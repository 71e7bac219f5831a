"""What the AWS plugin does for all types: names, tags, regions, versions, functions. Type by type: test_types."""

from __future__ import annotations

import pytest
from pulumi.runtime.proto.provider_pb2 import CheckRequest, DiffResponse

from localcloud.values import UNKNOWN

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROLE = "aws:iam/role:Role"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NETWORK_ACL = "aws:ec2/networkAcl:NetworkAcl"
BACKUP = "aws:fsx/backup:Backup"
A_VPC = {"cidrBlock": "10.0.0.0/16"}
A_ROLE = {"assumeRolePolicy": "{}"}


def test_a_generated_name_stays_over_updates_and_a_removed_one_is_generated_anew(aws):
    made = aws.up(PLACEMENT_GROUP, {"strategy": "cluster"}, "fabric")
    again, _ = aws.check(PLACEMENT_GROUP, {"strategy": "spread"}, "fabric", made.inputs)
    assert again["name"] == made["name"]

    named, _ = aws.check(PLACEMENT_GROUP, {"strategy": "cluster", "name": "mine"}, "fabric", made.inputs)
    unnamed, _ = aws.check(PLACEMENT_GROUP, {"strategy": "cluster"}, "fabric", named)
    assert unnamed["name"].startswith("fabric-")


def test_the_same_seed_gives_the_same_name(aws):
    names = {aws.check(PLACEMENT_GROUP, {"strategy": "cluster"}, randomSeed=b"seed")[0]["name"] for _ in range(3)}
    assert len(names) == 1


def test_a_long_logical_name_is_cut_so_that_the_generated_one_fits(aws):
    inputs, failures = aws.check(ROLE, A_ROLE, "node" * 30)
    assert not failures
    assert len(inputs["name"]) == 64


def test_autonaming_of_the_stack_is_followed(aws):
    options = CheckRequest.AutonamingOptions(proposed_name="proposed", mode=CheckRequest.AutonamingOptions.PROPOSE)
    inputs, _ = aws.check(PLACEMENT_GROUP, {"strategy": "cluster"}, autonaming=options)
    assert inputs["name"] == "proposed"


def test_a_name_prefix_gives_a_name_that_only_the_outputs_hold(aws):
    made = aws.up(ROLE, {**A_ROLE, "namePrefix": "node-"})
    assert made["name"].startswith("node-")
    assert made.id == made["name"]
    assert "name" not in made.inputs
    assert aws.update(made, {**A_ROLE, "namePrefix": "node-", "description": "d"})["name"] == made["name"]


def test_bucket_names_are_generated_in_lower_case(aws):
    assert aws.up("aws:s3/bucket:Bucket", {}, "DataBucket").id.startswith("databucket-")


@pytest.mark.parametrize(("name", "first"), [("explicit", True), (None, False)])
def test_the_old_one_goes_first_only_where_an_explicit_name_would_collide(aws, name: str | None, first: bool):
    inputs = {"strategy": "cluster"} | ({"name": name} if name else {})
    diff = aws.diff(aws.up(PLACEMENT_GROUP, inputs), {**inputs, "strategy": "spread"})
    assert list(diff.replaces) == ["strategy"]
    assert diff.deleteBeforeReplace is first


def test_default_tags_are_merged_under_the_resource_s_own(aws):
    aws.configure(region="us-east-1", defaultTags='{"tags": {"team": "default", "cost": "gpu"}}')
    made = aws.up(VPC, {**A_VPC, "tags": {"team": "own"}})
    assert made["tagsAll"] == {"team": "own", "cost": "gpu"}
    assert "tagsAll" not in aws.up("aws:ec2/route:Route", _route(aws)).outputs


def _route(aws) -> dict[str, str]:
    vpc = aws.up(VPC, A_VPC, "routed")
    table = aws.up("aws:ec2/routeTable:RouteTable", {"vpcId": vpc.id})
    gateway = aws.up("aws:ec2/internetGateway:InternetGateway", {"vpcId": vpc.id})
    return {"routeTableId": table.id, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway.id}


def test_another_region_of_the_provider_replaces_what_lives_in_a_region(aws):
    vpc, role = aws.up(VPC, A_VPC), aws.up(ROLE, A_ROLE)
    aws.configure(region="us-west-2")
    assert "region" in aws.diff(vpc, A_VPC).replaces
    assert aws.diff(role, A_ROLE).changes == DiffResponse.DIFF_NONE
    aws.delete(vpc)
    assert [record.type for record in aws.store.list()] == [ROLE]


def test_one_name_may_exist_in_two_regions(aws):
    inputs = {"strategy": "cluster", "name": "fabric"}
    aws.up(PLACEMENT_GROUP, inputs)
    assert aws.up(PLACEMENT_GROUP, {**inputs, "region": "us-west-2"}, "y")["arn"].startswith("arn:aws:ec2:us-west-2:")


def test_the_stand_in_is_the_account_that_the_program_allows(aws):
    aws.configure(region="us-east-1", allowedAccountIds='["210987654321"]')
    assert aws.invoke("aws:index/getCallerIdentity:getCallerIdentity")["accountId"] == "210987654321"
    assert ":210987654321:" in aws.up(VPC, A_VPC)["arn"]


@pytest.mark.parametrize(
    ("config", "path", "reason"),
    [
        ({}, "region", "missing region"),
        ({"region": "Virginia"}, "region", "'Virginia' is not an AWS region"),
        ({"region": "us-east-1", "allowedAccountIds": '["12"]'}, "allowedAccountIds", "12 digits are needed"),
    ],
)
def test_a_wrong_provider_configuration_is_refused(
    aws, monkeypatch: pytest.MonkeyPatch, config: dict[str, str], path: str, reason: str
):
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert reason in aws.check_config(**config)[path]


def test_a_changed_launch_template_is_a_new_version_that_preview_does_not_know(aws):
    inputs = {"instanceType": "p5.48xlarge", "updateDefaultVersion": True}
    made = aws.up(LAUNCH_TEMPLATE, inputs)
    changed = {**inputs, "instanceType": "p5en.48xlarge"}
    seen = aws.update(made, changed, preview=True)
    assert (seen["latestVersion"], seen["defaultVersion"]) == (UNKNOWN, UNKNOWN)
    updated = aws.update(made, changed)
    assert (updated["latestVersion"], updated["defaultVersion"]) == (2, 2)

    tagged = aws.update(updated, {**changed, "tags": {"a": "b"}}, preview=True)
    assert tagged["latestVersion"] == 2, "tags make no version"


def test_saying_what_the_cloud_had_chosen_replaces_nothing(aws):
    vpc = aws.up(VPC, A_VPC)
    inputs = {"vpcId": vpc.id, "cidrBlock": "10.0.0.0/24", "availabilityZoneId": "use1-az6"}
    diff = aws.diff(aws.up(SUBNET, inputs), {**inputs, "availabilityZone": "us-east-1a"})
    assert list(diff.replaces) == []


def test_ignored_changes_are_no_changes(aws):
    made = aws.up(VPC, {**A_VPC, "tags": {"team": "a"}})
    diff = aws.diff(made, {**A_VPC, "tags": {"team": "b"}}, ignoreChanges=["tags", "tagsAll"])
    assert diff.changes == DiffResponse.DIFF_NONE


def test_a_property_that_preview_does_not_know_yet_replaces_where_it_is_immutable(aws):
    vpc = aws.up(VPC, A_VPC)
    made = aws.up(SUBNET, {"vpcId": vpc.id, "cidrBlock": "10.0.0.0/24"})
    diff = aws.diff(made, {"vpcId": UNKNOWN, "cidrBlock": "10.0.0.0/24"})
    assert list(diff.replaces) == ["vpcId"]


def test_an_id_of_a_real_account_is_taken_as_it_is_and_said(aws):
    aws.up(SUBNET, {"vpcId": "vpc-0123456789abcdef0", "cidrBlock": "10.0.0.0/24"})
    assert aws.warnings == ["vpcId: vpc-0123456789abcdef0 is not of this local cloud; taken as something that exists"]


def test_the_group_that_a_vpc_brings_can_be_named(aws):
    vpc = aws.up(VPC, A_VPC)
    rule = {"securityGroupId": vpc["defaultSecurityGroupId"], "ipProtocol": "-1", "cidrIpv4": "10.0.0.0/8"}
    aws.up("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", rule)
    assert aws.warnings == []


def test_a_type_without_a_model_gets_an_id_an_arn_and_a_warning(aws):
    made = aws.up(NETWORK_ACL, {"vpcId": "vpc-0123456789abcdef0", "tags": {"a": "b"}})
    assert made.id.startswith("networkacl-")
    assert made["arn"].startswith("arn:aws:ec2:us-east-1:123456789012:networkacl/networkacl-")
    assert made["tagsAll"] == {"a": "b"}
    assert "knows the shape of aws:ec2/networkAcl:NetworkAcl but not its behaviour" in aws.warnings[0]
    aws.delete(made)
    assert aws.store.list() == []


def test_a_type_that_the_sdk_lacks_is_refused(aws):
    _, failures = aws.check("aws:ec2/vpcs:Vpcs", {})
    assert "has no resource type aws:ec2/vpcs:Vpcs" in failures[""]


def test_a_persistent_filesystem_leaves_its_final_backup(aws, world):
    here = world("aws")
    lustre = here["lustre"]
    aws.delete(lustre)
    (backup,) = aws.store.leftovers()
    assert (backup.type, backup.outputs["fileSystemId"]) == (BACKUP, lustre.id)


A_SCRATCH = {
    "deploymentType": "SCRATCH_2",
    **dict.fromkeys(("metadataConfiguration", "perUnitStorageThroughput", "efaEnabled")),
}


@pytest.mark.parametrize("change", [{"skipFinalBackup": True}, A_SCRATCH])
def test_declining_it_or_scratch_leaves_no_backup(aws, world, change: dict[str, object]):
    here = world("aws")
    aws.delete(aws.up("aws:fsx/lustreFileSystem:LustreFileSystem", here.inputs("lustre", change)))
    assert aws.store.leftovers() == []


def test_force_destroy_empties_the_bucket(aws, world):
    here = world("aws")
    made = aws.up("aws:s3/bucket:Bucket", {"forceDestroy": True})
    aws.up("aws:s3/bucketObjectv2:BucketObjectv2", {"bucket": made.id, "key": "a"})
    aws.delete(made)
    assert here.driver.store.list() == []


def test_what_is_gone_reads_as_nothing_and_deletes_silently(aws):
    made = aws.up(VPC, A_VPC)
    aws.delete(made)
    assert aws.read(VPC, made.id, made.outputs).id == ""
    aws.delete(made)
    assert "run `pulumi refresh`" in aws.refusal(lambda: aws.update(made, {**A_VPC, "enableDnsHostnames": True}))


def test_an_import_finds_a_resource_by_its_id_alone(aws):
    made = aws.up(VPC, A_VPC)
    assert aws.read(VPC, made.id).id == made.id


def test_functions_answer_what_programs_ask(aws):
    zones = aws.invoke("aws:index/getAvailabilityZones:getAvailabilityZones", state="available")
    assert dict(zip(zones["names"], zones["zoneIds"], strict=True))["us-east-1a"] == "use1-az6"
    region = aws.invoke("aws:index/getRegion:getRegion")
    assert (region["region"], region["name"]) == ("us-east-1", "us-east-1")
    parameter = {"name": "/aws/service/deeplearning/ami/x86_64/base/latest/ami-id"}
    image = aws.invoke("aws:ssm/getParameter:getParameter", **parameter)["value"]
    assert image == aws.invoke("aws:ssm/getParameter:getParameter", **parameter)["value"]
    assert len(image) == len("ami-") + 17
    found = aws.invoke("aws:ec2/getAmi:getAmi", owners=["amazon"], filters=[{"name": "name", "values": ["dl-*"]}])
    assert found["id"].startswith("ami-")


@pytest.mark.parametrize(
    ("token", "args", "says"),
    [
        ("aws:ec2/getVpcs:getVpcs", {}, "the local cloud does not answer this function"),
        ("aws:ssm/getParameter:getParameter", {"name": "/mine"}, "ParameterNotFound"),
        ("aws:index/getAvailabilityZones:getAvailabilityZones", {"region": "xx-east-1"}, "knows no zones of region"),
    ],
)
def test_a_function_that_cannot_be_answered_says_so(aws, token: str, args: dict[str, str], says: str):
    assert says in aws.refusal(lambda: aws.invoke(token, **args))


def test_a_refused_creation_has_the_form_of_the_provider_s_message(aws):
    vpc = aws.up(VPC, A_VPC)
    message = aws.refusal(lambda: aws.up(SUBNET, {"vpcId": vpc.id, "cidrBlock": "10.1.0.0/24"}))
    assert message.startswith("creating aws:ec2 Subnet: https response error StatusCode: 400, RequestID: ")
    assert "api error InvalidSubnet.Range: The CIDR '10.1.0.0/24' is invalid" in message
    assert [record.type for record in aws.store.list()] == [VPC]
