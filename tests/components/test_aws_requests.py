"""What the components declare becomes requests that AWS's own models take, and nothing of it gets lost on the way.

The requests are judged by botocore's validation and by its enumerations. One cluster on moto: test_aws_on_moto.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from localcloud.aws import requests
from tests.aws_requests import LostError, Requests, lost, named, problems, requests_of
from tests.clusters import AWS

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:autoscaling/group:Group"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


@pytest.mark.parametrize("name", AWS)
def test_every_declared_input_becomes_a_member_of_a_request_that_aws_takes(
    name: str, cluster: Callable[[str], Any]
) -> None:
    found = {}
    for resource in cluster(name).run.resources:
        faults = problems(requests.rows()[resource.type].service, requests_of(resource.type, named(resource)))
        found |= {f"{resource.type} {resource.name}": faults} if faults else {}
    assert found == {}


def test_the_interfaces_of_a_node_arrive_as_they_were_declared(declared: Callable[..., Any]) -> None:
    template = declared("aws").one("LaunchTemplate")
    data = requests_of(template.type, template.inputs)["CreateLaunchTemplate"]["LaunchTemplateData"]
    assert len(data["NetworkInterfaces"]) == 33
    assert data["NetworkInterfaces"][-1].items() >= {"NetworkCardIndex": 31, "InterfaceType": "efa-only"}.items()
    assert {interface["DeleteOnTermination"] for interface in data["NetworkInterfaces"]} == {True}


@pytest.mark.parametrize(
    ("token", "inputs", "becomes"),
    [
        (
            TEMPLATE,
            {"tags": {"a": "b"}, "tagSpecifications": [{"resourceType": "instance", "tags": {"c": "d"}}]},
            {
                "CreateLaunchTemplate": {
                    "TagSpecifications": [
                        {"ResourceType": "launch-template", "Tags": [{"Key": "a", "Value": "b"}]},
                    ],
                    "LaunchTemplateData": {
                        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "c", "Value": "d"}]}]
                    },
                }
            },
        ),
        (
            RULE,
            {"securityGroupId": "sg-1", "ipProtocol": "tcp", "fromPort": 988, "cidrIpv6": "::/0", "description": "all"},
            {
                "AuthorizeSecurityGroupIngress": {
                    "GroupId": "sg-1",
                    "IpPermissions": [
                        {
                            "IpProtocol": "tcp",
                            "FromPort": 988,
                            "Ipv6Ranges": [{"CidrIpv6": "::/0", "Description": "all"}],
                        }
                    ],
                }
            },
        ),
        (
            GROUP,
            {"vpcZoneIdentifiers": ["subnet-1", "subnet-2"], "launchTemplate": {"id": "lt-1", "version": 3.0}},
            {
                "CreateAutoScalingGroup": {
                    "VPCZoneIdentifier": "subnet-1,subnet-2",
                    "LaunchTemplate": {"LaunchTemplateId": "lt-1", "Version": "3"},
                }
            },
        ),
    ],
)
def test_inputs_go_where_the_provider_sends_them(token: str, inputs: dict[str, Any], becomes: Requests) -> None:
    assert requests_of(token, inputs) == becomes


@pytest.mark.parametrize(
    ("token", "inputs", "path"),
    [
        (TEMPLATE, {"gpuCount": 8}, "gpuCount"),
        (
            TEMPLATE,
            {"networkInterfaces": [{"deviceIndex": 0}, {"efaEnabled": True}]},
            "networkInterfaces[1].efaEnabled",
        ),
        (TEMPLATE, {"metadataOptions": "required"}, "metadataOptions"),
        (GROUP, {"minSize": 1, "launchTemplate": {"idd": "lt-1"}}, "launchTemplate.idd"),
        ("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", {"rules": [{"days": 1}]}, "rules[0].days"),
    ],
)
def test_a_made_up_input_is_not_dropped(token: str, inputs: dict[str, Any], path: str) -> None:
    with pytest.raises(LostError, match=re.escape(path)):
        requests_of(token, inputs)


def test_a_walk_that_stops_short_would_be_seen() -> None:
    assert list(lost(TEMPLATE, {"imageId": "ami-1", "placement": {"tenancy": "default"}}, {"placement"})) == [
        "imageId",
        "placement.tenancy",
    ]


@pytest.mark.parametrize(
    ("token", "inputs", "says"),
    [
        (TEMPLATE, {"metadataOptions": {"httpTokens": "always"}}, "MetadataOptions.HttpTokens: 'always'"),
        (TEMPLATE, {"instanceType": "p5.47xlarge"}, "InstanceType: 'p5.47xlarge'"),
        (TEMPLATE, {"blockDeviceMappings": [{"ebs": {"volumeSize": {"gib": 3}}}]}, "volumeSize"),
        ("aws:ec2/capacityReservation:CapacityReservation", {"instanceCount": 1}, "Missing required parameter"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", {"subnetIds": "s", "storageType": "TAPE"}, "'TAPE'"),
        (GROUP, {"name": "a", "minSize": 1, "maxSize": 1, "initialLifecycleHooks": [{}]}, "Missing required parameter"),
    ],
)
def test_what_aws_does_not_take_is_seen(token: str, inputs: dict[str, Any], says: str) -> None:
    try:
        found = str(problems(requests.rows()[token].service, requests_of(token, inputs)))
    except LostError as error:
        found = str(error)
    assert says in found
