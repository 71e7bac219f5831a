"""VPCs, their subnets and the addresses in those.

Ways in and out of them: `routing`. Who may talk to whom: `security_groups`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from localcloud.addresses import free_address, network_of
from localcloud.aws.kind import LOCAL_ID, AwsKind
from localcloud.aws.nodes import Nodes, refuse_while_running, running
from localcloud.aws.zones import places_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record, Transaction
from localcloud.values import UNKNOWN, Properties

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"

MORE_BLOCKS = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"

_NOBODYS = tuple(map(IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4")))
"""What no VPC can have: this host, loopback, link-local, multicast (VPC user guide; the code is assumed)."""
_KEPT_BY_AWS = 5
"""Addresses of each subnet: the first four and the last."""
_WITH_INTERFACES = (
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
)
"""What takes addresses of a subnet beside nodes: an equal part of its networkInterfaceIds in each, and at least one."""
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


def vpc_of(record: Record) -> str:
    """Of a subnet, a security group, a route table."""
    return record.outputs.get("vpcId", "")


def free_addresses(tx: Transaction, subnet: Record, nodes: Iterable[Nodes]) -> int:
    """How many addresses of the subnet nothing has. `nodes`: all there are in its account and region."""
    network = network_of(subnet.inputs.get("cidrBlock"))
    if network is None:
        return 2**32
    used = sum(len(alike.ids) * alike.addresses for alike in nodes if alike.subnet == subnet.id)
    for token in _WITH_INTERFACES:
        used += sum(_addresses_in(subnet.id, record) for record in tx.of_type(token, subnet.scope) if not record.lost)
    return network.num_addresses - _KEPT_BY_AWS - used


def take_address(call: Call, subnet: Record | None) -> str:
    """The address of one more interface; of a subnet that is not ours, some address."""
    if subnet is not None and free_addresses(call.tx, subnet, running(call.tx, subnet.scope)) < 1:
        raise Refusal(
            "InsufficientFreeAddressesInSubnet",
            f"The specified subnet ({subnet.id}, {subnet.inputs.get('cidrBlock')}) does not have enough free addresses "
            "to satisfy the request.",
        )
    return free_address(call.tx, subnet)


def _addresses_in(subnet: str, record: Record) -> int:
    given = record.inputs.get("subnetId") or record.inputs.get("subnetIds") or []
    subnets = [given] if isinstance(given, str) else given
    interfaces = record.outputs.get("networkInterfaceIds") or []
    return max(len(interfaces) // len(subnets), 1) if subnet in subnets else 0


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


def _judge_vpc(call: Call) -> None:
    block = network_of(call.inputs.get("cidrBlock"))
    if block is not None and any(block.overlaps(kept) for kept in _NOBODYS):
        raise Refusal("InvalidVpc.Range", f"The CIDR '{block}' is invalid.")


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
        blocks = [vpc.inputs["cidrBlock"], *(more.inputs.get("cidrBlock") for more in _more_blocks(call, vpc))]
        if not any(network.subnet_of(IPv4Network(whole)) for whole in blocks if whole):
            raise Refusal(
                "InvalidSubnet.Range",
                f"The CIDR '{block}' is invalid: it is not within {', '.join(filter(None, blocks))} of {vpc.id}.",
            )
        for other in call.others():
            theirs = network_of(other.inputs.get("cidrBlock"))
            if other.inputs["vpcId"] == vpc.id and theirs is not None and theirs.overlaps(network):
                raise Refusal(
                    "InvalidSubnet.Conflict", f"The CIDR '{block}' conflicts with another subnet ({other.id}, {theirs})"
                )


def _more_blocks(call: Call, vpc: Record) -> list[Record]:
    return [record for record in call.others(MORE_BLOCKS) if record.inputs["vpcId"] == vpc.id]


def _judge_more_blocks(call: Call) -> None:
    """Assumed: that only the overlap with the VPC's own blocks is refused."""
    block, vpc = network_of(call.inputs.get("cidrBlock")), call.find(VPC, call.inputs["vpcId"])
    if block is None or vpc is None:
        return
    for other in [vpc, *_more_blocks(call, vpc)]:
        theirs = network_of(other.inputs.get("cidrBlock"))
        if theirs is not None and theirs.overlaps(block):
            raise Refusal("InvalidVpc.Range", f"The CIDR '{block}' conflicts with another CIDR block of {vpc.id}")


def _zone(call: Call) -> Properties:
    zones = places_of(call.region)
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
        judge=_judge_vpc,
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
        delete=refuse_while_running,
        in_use=("DependencyViolation", "The subnet '{id}' has dependencies and cannot be deleted."),
        not_found="InvalidSubnetID.NotFound",
    ),
    AwsKind(
        token=MORE_BLOCKS,
        id_prefix="vpc-cidr-assoc",
        tagged=False,
        immutable=("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength", "vpcId"),
        refs=(Ref(path="vpcId", target=VPC, holds=False),),
        check=lambda inputs: _check_block(inputs, "cidrBlock"),
        judge=_judge_more_blocks,
    ),
)
