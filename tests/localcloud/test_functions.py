"""Functions that programs call beside those of test_provider_*.py and test_lookups.py: policies, searches, reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

DOCUMENT = "aws:iam/getPolicyDocument:getPolicyDocument"
SUBNETS = "aws:ec2/getSubnets:getSubnets"
GROUP = "aws:ec2/getSecurityGroup:getSecurityGroup"
TYPE = "aws:ec2/getInstanceType:getInstanceType"
OFFERINGS = "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings"

TRUST = {
    "actions": ["sts:AssumeRole"],
    "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
}
READ = {
    "sid": "Read",
    "actions": ["s3:GetObject", "s3:ListBucket"],
    "resources": ["arn:aws:s3:::data/&{aws:username}/*"],
    "conditions": [
        {"test": "StringEquals", "variable": "aws:SourceVpc", "values": ["vpc-1"]},
        {"test": "StringEquals", "variable": "aws:PrincipalTag/team", "values": ["b", "a"]},
    ],
}


def document(aws: Any, **args: Any) -> Any:
    return json.loads(aws.invoke(DOCUMENT, **args)["json"])


def test_a_policy_is_written_as_the_provider_writes_it(aws: Any) -> None:
    answer = aws.invoke(DOCUMENT, statements=[TRUST])
    assert answer["json"] == (
        '{\n  "Version": "2012-10-17",\n  "Statement": [\n    {\n      "Effect": "Allow",\n'
        '      "Action": "sts:AssumeRole",\n      "Principal": {\n        "Service": "ec2.amazonaws.com"\n'
        "      }\n    }\n  ]\n}"
    )
    assert answer["minifiedJson"].startswith('{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action"')


def test_several_words_are_a_list_in_the_provider_s_order_and_variables_get_their_sign(aws: Any) -> None:
    (statement,) = document(aws, statements=[READ])["Statement"]
    assert statement["Action"] == ["s3:ListBucket", "s3:GetObject"]
    assert statement["Resource"] == "arn:aws:s3:::data/${aws:username}/*"
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceVpc": "vpc-1", "aws:PrincipalTag/team": ["b", "a"]},
    }


@pytest.mark.parametrize(
    ("principals", "written"),
    [
        ([{"type": "*", "identifiers": ["*"]}], "*"),
        ([{"type": "AWS", "identifiers": ["*"]}], {"AWS": "*"}),
        (
            [{"type": "AWS", "identifiers": ["1"]}, {"type": "AWS", "identifiers": ["2"]}],
            {"AWS": ["2", "1"]},
        ),
    ],
)
def test_principals_of_a_type_come_together(aws: Any, principals: Any, written: Any) -> None:
    assert document(aws, statements=[{"principals": principals}])["Statement"][0]["Principal"] == written


def test_documents_are_merged_and_an_override_takes_the_place_of_its_sid(aws: Any) -> None:
    source = json.dumps({"Statement": {"Sid": "Write", "Effect": "Allow", "Action": "s3:PutObject"}})
    override = json.dumps({"Statement": [{"Sid": "Read", "Effect": "Deny"}, {"Effect": "Deny", "Action": "*"}]})
    merged = document(
        aws, policyId="p", sourcePolicyDocuments=[source], statements=[READ], overridePolicyDocuments=[override]
    )
    assert merged["Id"] == "p"
    assert [(s.get("Sid"), s["Effect"]) for s in merged["Statement"]] == [
        ("Write", "Allow"),
        ("Read", "Deny"),
        (None, "Deny"),
    ]


def test_two_statements_of_one_sid_or_a_source_that_is_no_policy_are_refused(aws: Any) -> None:
    assert "duplicate Sid (Read)" in aws.refusal(lambda: document(aws, statements=[READ, READ]))
    assert "is no JSON policy" in aws.refusal(lambda: document(aws, sourceJson="{"))


def test_a_written_policy_is_one_that_a_role_takes(aws: Any) -> None:
    policy = aws.invoke(DOCUMENT, statements=[TRUST])["json"]
    assert aws.up("aws:iam/role:Role", {"assumeRolePolicy": policy}).id


def test_subnets_are_found_by_filters_and_tags(aws_world: Any) -> None:
    here, vpc = aws_world["subnet"], aws_world["vpc"].id
    elsewhere = aws_world["foreign_subnet"].id
    search = aws_world.driver.invoke
    in_vpc = search(SUBNETS, filters=[{"name": "vpc-id", "values": [vpc]}])["ids"]
    assert here.id in in_vpc
    assert elsewhere not in in_vpc
    zone = {"name": "availability-zone-id", "values": ["use1-az?"]}
    assert here.id in search(SUBNETS, filters=[zone])["ids"]
    assert search(SUBNETS, tags={"role": "nobody"})["ids"] == []


def test_a_security_group_is_found_by_its_name_in_a_vpc(aws_world: Any) -> None:
    made = aws_world["security_group"]
    search = aws_world.driver.invoke
    assert search(GROUP, name=made.outputs["name"], vpcId=made.outputs["vpcId"])["id"] == made.id
    assert search(GROUP, id=made.id)["arn"] == made.outputs["arn"]
    assert "no matching EC2 Security Group" in aws_world.driver.refusal(lambda: search(GROUP, name="nobody"))


def test_a_filter_that_is_not_understood_is_not_passed_over(aws_world: Any) -> None:
    said = aws_world.driver.refusal(
        lambda: aws_world.driver.invoke(SUBNETS, filters=[{"name": "owner-id", "values": ["1"]}])
    )
    assert "does not know 'owner-id'; it knows vpc-id" in said


def test_an_instance_type_is_described_as_ec2_does(aws: Any) -> None:
    found = aws.invoke(TYPE, instanceType="p5.48xlarge")
    assert (found["efaMaximumInterfaces"], found["maximumNetworkCards"], found["defaultVcpus"]) == (32, 32, 192)
    assert found["gpuses"] == [{"count": 8, "manufacturer": "NVIDIA", "name": "H100", "memorySize": 81920}]
    assert found["networkCards"][31]["maximumInterfaces"] == 2
    assert aws.invoke(TYPE, instanceType="m5.large")["efaSupported"] is False
    assert "p9.48xlarge is not known" in aws.refusal(lambda: aws.invoke(TYPE, instanceType="p9.48xlarge"))


def test_zones_that_offer_a_type_are_found(aws: Any) -> None:
    wanted = [{"name": "instance-type", "values": ["p5.48xlarge"]}]
    found = aws.invoke(OFFERINGS, filters=wanted, locationType="availability-zone-id")
    assert "use1-az6" in found["locations"]
    assert set(found["instanceTypes"]) == {"p5.48xlarge"}
    assert aws.invoke(OFFERINGS, filters=wanted)["locations"] == ["us-east-1"]
    assert "takes instance-type" in aws.refusal(lambda: aws.invoke(OFFERINGS))


def test_names_of_a_partition_and_of_a_service_in_it(aws: Any) -> None:
    partition = "aws:index/getPartition:getPartition"
    assert aws.invoke(partition)["dnsSuffix"] == "amazonaws.com"
    principal = aws.invoke("aws:index/getServicePrincipal:getServicePrincipal", serviceName="ec2")
    assert (principal["name"], principal["id"]) == ("ec2.amazonaws.com", "com.amazonaws.us-east-1.ec2")
    aws.configure(region="cn-north-1")
    assert aws.invoke(partition)["reverseDnsPrefix"] == "cn.com.amazonaws"


def test_azure_reads_a_group_that_was_made_here_and_finds_no_other(world: Any) -> None:
    here = world("azure")
    read = "azure-native:resources:getResourceGroup"
    assert here.driver.invoke(read, resourceGroupName=here["rg"].outputs["name"])["location"] == "eastus"
    said = here.driver.refusal(lambda: here.driver.invoke(read, resourceGroupName="none"))
    assert "ResourceGroupNotFound: Resource group 'none'" in said


def test_the_nodes_of_a_group_are_found_by_the_tag_that_aws_gives_them(aws: Any) -> None:
    from localcloud.aws.nodes import GROUP, Nodes, as_output
    from localcloud.store import Record

    nodes = as_output([Nodes(ids=("i-2", "i-1"), type="p5.48xlarge", zone="use1-az6", purchase="on-demand")])
    scope = aws.provider.cloud.scope_of(aws.provider.cloud.kinds[GROUP], {})
    with aws.store.transaction("aws") as tx:
        tx.put(Record(cloud="aws", scope=scope, type=GROUP, id="train-1", outputs=nodes))

    def found(*names: str) -> Any:
        filters = [{"name": "tag:aws:autoscaling:groupName", "values": list(names)}]
        return aws.invoke("aws:ec2/getInstances:getInstances", filters=filters)["ids"]

    assert found("train-1") == ["i-1", "i-2"]
    assert found("train-2") == []
    with pytest.raises(Exception, match="finds instances by"):
        aws.invoke("aws:ec2/getInstances:getInstances", filters=[])
