"""VPCs and their subnets. Ways in and out of them: `routing`. Who may talk to whom: `security_groups`."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from ipaddress import IPv4Network

from localcloud.addresses import network_of
from localcloud.aws.kind import LOCAL_ID, AwsKind
from localcloud.aws.zones import zones_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"

_DEFAULTS_OF_A_VPC = {SECURITY_GROUP: "defaultSecurityGroupId", ROUTE_TABLE: "defaultRouteTableId"}


def new_id(prefix: str) -> str:
    return f"{prefix}-{LOCAL_ID}{secrets.token_hex(6)[:11]}"


def default_of_a_vpc(call: Call, token: str, id_: str) -> Record | None:
    """The security group or route table that a VPC brings with it, which no program made."""
    output = _DEFAULTS_OF_A_VPC.get(token)
    if output is None:
        return None
    for vpc in call.tx.of_type(VPC):
        if vpc.outputs[output] == id_:
            return Record(cloud="aws", scope=vpc.scope, type=token, id=id_, outputs={"vpcId": vpc.id})
    return None


def _check_vpc(inputs: Properties) -> Iterator[Failure]:
    yield from _check_block(inputs, "cidrBlock")


def _check_block(inputs: Properties, name: str) -> Iterator[Failure]:
    block = inputs.get(name)
    if block is None or block == UNKNOWN:
        return
    network = network_of(block)
    if network is None:
        yield Failure(name, f'"{block}" is not a valid IPv4 CIDR block; one looks like 10.0.0.0/16, without host bits')
    elif not 16 <= network.prefixlen <= 28:
        yield Failure(name, f"expected {name} to have a prefix between /16 and /28, got {block}")


def _create_vpc(call: Call) -> Properties:
    table = new_id("rtb")
    return {
        "defaultNetworkAclId": new_id("acl"),
        "defaultRouteTableId": table,
        "mainRouteTableId": table,
        "defaultSecurityGroupId": new_id("sg"),
        "dhcpOptionsId": new_id("dopt"),
        "enableNetworkAddressUsageMetrics": False,
    }


def _judge_subnet(call: Call) -> None:
    block = call.inputs.get("cidrBlock")
    network = network_of(block) if block else None
    vpc = call.find(VPC, call.inputs["vpcId"])
    if network is not None and vpc is not None and "cidrBlock" in vpc.inputs:
        if not network.subnet_of(IPv4Network(vpc.inputs["cidrBlock"])):
            raise Refusal(
                "InvalidSubnet.Range",
                f"The CIDR '{block}' is invalid: it is not within {vpc.inputs['cidrBlock']} of {vpc.id}.",
            )
        for other in call.others():
            theirs = network_of(other.inputs.get("cidrBlock"))
            if other.inputs["vpcId"] == vpc.id and theirs is not None and theirs.overlaps(network):
                raise Refusal(
                    "InvalidSubnet.Conflict", f"The CIDR '{block}' conflicts with another subnet ({other.id}, {theirs})"
                )


def _zone(call: Call) -> Properties:
    zones = zones_of(call.region)
    name, zone_id = call.inputs.get("availabilityZone"), call.inputs.get("availabilityZoneId")
    if call.old is not None and not name and not zone_id:
        name = call.old.outputs["availabilityZone"]
    if not name:
        name = next((n for n, i in zones.items() if i == zone_id), None) if zone_id else next(iter(zones))
    if name not in zones:
        given = call.inputs.get("availabilityZone") or zone_id
        parameter = "availabilityZone" if call.inputs.get("availabilityZone") else "availabilityZoneId"
        listed = ", ".join(f"{n} ({i})" for n, i in zones.items())
        raise Refusal(
            "InvalidParameterValue",
            f"Value ({given}) for parameter {parameter} is invalid. Subnets can currently only be created in the "
            f"following availability zones: {listed}.",
        )
    return {"availabilityZone": name, "availabilityZoneId": zones[name]}


_EC2 = "arn:{partition}:ec2:{region}:{account}:"

KINDS = (
    AwsKind(
        token=VPC,
        id_prefix="vpc",
        arn=_EC2 + "vpc/{id}",
        owned=True,
        immutable=("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
        replaces=lambda old, new: ("instanceTenancy",) if new.get("instanceTenancy") == "dedicated" else (),
        defaults={"enableDnsSupport": True, "instanceTenancy": "default"},
        check=_check_vpc,
        create=_create_vpc,
        derive=lambda call: {"enableDnsHostnames": call.inputs.get("enableDnsHostnames", False)},
        in_use=("DependencyViolation", "The vpc '{id}' has dependencies and cannot be deleted."),
        not_found="InvalidVpcID.NotFound",
    ),
    AwsKind(
        token=SUBNET,
        id_prefix="subnet",
        arn=_EC2 + "subnet/{id}",
        owned=True,
        immutable=(
            "vpcId",
            "cidrBlock",
            "availabilityZone",
            "availabilityZoneId",
            "ipv6Native",
            "outpostArn",
            "ipv4IpamPoolId",
        ),
        defaults={"mapPublicIpOnLaunch": False, "assignIpv6AddressOnCreation": False, "ipv6Native": False},
        refs=(Ref(path="vpcId", target=VPC),),
        check=lambda inputs: _check_block(inputs, "cidrBlock"),
        judge=_judge_subnet,
        derive=_zone,
        in_use=("DependencyViolation", "The subnet '{id}' has dependencies and cannot be deleted."),
        not_found="InvalidSubnetID.NotFound",
    ),
)
