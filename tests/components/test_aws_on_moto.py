"""A cluster's requests, answered by moto in process: nothing is sent, and the credentials are none.

That AWS's models take them: test_aws_requests.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import boto3
import pytest
from botocore import xform_name
from moto import mock_aws

from components.dryrun import Registered
from localcloud.aws import requests
from localcloud.aws.cloud import Aws
from tests.aws_requests import input_of, named, requests_of

ANSWERS = {
    "AllocateAddress": "AllocationId",
    "CreateFileSystem": "FileSystem.FileSystemId",
    "CreateFleet": "FleetId",
    "CreateInternetGateway": "InternetGateway.InternetGatewayId",
    "CreateLaunchTemplate": "LaunchTemplate.LaunchTemplateId",
    "CreateNatGateway": "NatGateway.NatGatewayId",
    "CreateRouteTable": "RouteTable.RouteTableId",
    "CreateSecurityGroup": "GroupId",
    "CreateSubnet": "Subnet.SubnetId",
    "CreateVpc": "Vpc.VpcId",
    "CreateVpcEndpoint": "VpcEndpoint.VpcEndpointId",
}
"""Where the answer of an operation has the id that it gives."""
NOT_ON_MOTO = {"CreateCapacityReservation", "CreatePlacementGroup", "PutBucketVersioning"}
"""The first two moto does not have; the third is not sent while a bucket never had versions."""


@pytest.fixture
def moto(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield


class Account:
    """Sends the requests of a program's resources, each after those that its inputs come from."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.clients = cache(boto3.client)
        self.ids: dict[str, str] = {}

    def make(self, resource: Registered) -> None:
        if resource.urn in self.ids:
            return
        self.ids[resource.urn] = named(resource).get(Aws.kinds[resource.type].named, resource.name)
        for urn in resource.request.dependencies:
            if found := self.program.by_urn(urn):
                self.make(found)
        inputs = {prop: self._with_ids(resource, prop, value) for prop, value in named(resource).items()}
        client = self.clients(requests.rows()[resource.type].service)
        for operation, params in requests_of(resource.type, inputs).items():
            if not operation.startswith("Delete") and operation not in NOT_ON_MOTO:
                self._send(client, operation, params, resource.urn)

    def _send(self, client: Any, operation: str, params: dict[str, Any], urn: str) -> None:
        required = input_of(client.meta.service_model.service_name, operation).required_members
        given = {member: self.ids[urn] for member in required if member not in params}
        answer = getattr(client, xform_name(operation))(**given, **params)
        if operation in ANSWERS:
            for word in ANSWERS[operation].split("."):
                answer = answer[word]
            self.ids[urn] = answer
        if operation == "CreateSecurityGroup":  # the provider takes away the rule that every group begins with
            everything = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
            client.revoke_security_group_egress(GroupId=answer, IpPermissions=[everything])

    def _with_ids(self, resource: Registered, prop: str, value: Any) -> Any:
        """Ids of the dry run are names; which resource each is of, the program's dependencies say."""
        if isinstance(value, Mapping):
            return {key: self._with_ids(resource, prop, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._with_ids(resource, prop, item) for item in value]
        return next((self.ids[r.urn] for r in self.program.made_from(resource, prop) if value == f"{r.name}-id"), value)


@pytest.mark.usefixtures("moto")
@pytest.mark.parametrize("name", ["aws-on-demand", "aws-spot"])
def test_a_cluster_can_be_made_on_moto(name: str, cluster: Callable[[str], Any]) -> None:
    account = Account(cluster(name))
    for resource in account.program.run.resources:
        account.make(resource)
    ec2 = account.clients("ec2")
    (template,) = ec2.describe_launch_template_versions(Versions=["$Latest"])["LaunchTemplateVersions"]
    assert len(template["LaunchTemplateData"]["NetworkInterfaces"]) == 33
    launched = ec2.describe_instances()["Reservations"]
    assert sum(len(reservation["Instances"]) for reservation in launched) == 16
    (filesystem,) = account.clients("fsx").describe_file_systems()["FileSystems"]
    assert filesystem["LustreConfiguration"]["EfaEnabled"] is True
    groups = [group for group in ec2.describe_security_groups()["SecurityGroups"] if group["GroupName"] != "default"]
    assert {_is_open_to_itself(group) for group in groups} == {True}, "EFA needs it both ways"


def _is_open_to_itself(group: Any) -> bool:
    ways = (group["IpPermissions"], group["IpPermissionsEgress"])
    return all(group["GroupId"] in [p["GroupId"] for rule in way for p in rule["UserIdGroupPairs"]] for way in ways)
