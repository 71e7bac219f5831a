"""VPC, subnets, routes, NAT, gateways, endpoints. Who may talk to whom: `security_groups`."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from ipaddress import IPv4Network

from localcloud.addresses import free_address, network_of
from localcloud.aws.kind import LOCAL_ID, AwsKind, one_of
from localcloud.aws.zones import zones_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
INTERNET_GATEWAY = "aws:ec2/internetGateway:InternetGateway"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
EIP = "aws:ec2/eip:Eip"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
ROUTE = "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"

_DESTINATIONS = ("destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")
_TARGETS = (
    "carrierGatewayId",
    "coreNetworkArn",
    "egressOnlyGatewayId",
    "gatewayId",
    "localGatewayId",
    "natGatewayId",
    "networkInterfaceId",
    "odbNetworkArn",
    "transitGatewayId",
    "vpcEndpointId",
    "vpcPeeringConnectionId",
)
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


def _judge_gateway(call: Call) -> None:
    vpc = call.inputs.get("vpcId")
    for other in call.others():
        if vpc and other.inputs.get("vpcId") == vpc:
            raise Refusal("Resource.AlreadyAssociated", f"resource {vpc} is already attached to {other.id}")


def _create_eip(call: Call) -> Properties:
    address = f"203.0.113.{1 + secrets.randbelow(254)}"  # a block kept for documentation
    dns = f"ec2-{address.replace('.', '-')}.{call.region}.compute.amazonaws.com"
    return {"allocationId": call.id, "publicIp": address, "publicDns": dns, "publicIpv4Pool": "amazon", "domain": "vpc"}


def _check_nat(inputs: Properties) -> Iterator[Failure]:
    if inputs.get("connectivityType") == "private" and inputs.get("allocationId"):
        yield Failure("allocationId", 'allocation_id is not supported with connectivity_type = "private"')


def _judge_nat(call: Call) -> None:
    address = call.inputs.get("allocationId")
    if address and any(other.inputs.get("allocationId") == address for other in call.others()):
        raise Refusal("Resource.AlreadyAssociated", f"Elastic IP address [{address}] is already associated")


def _create_nat(call: Call) -> Properties:
    subnet = call.find(SUBNET, call.inputs.get("subnetId"))
    private = free_address(call.tx, subnet.inputs.get("cidrBlock") if subnet else None)
    return {"networkInterfaceId": new_id("eni"), "associationId": new_id("eipassoc"), "privateIp": private}


def _derive_nat(call: Call) -> Properties:
    address = call.find(EIP, call.inputs.get("allocationId"))
    return {"publicIp": address.outputs["publicIp"] if address else ""}


def _check_route(inputs: Properties) -> Iterator[Failure]:
    yield from one_of(inputs, *_DESTINATIONS)
    yield from one_of(inputs, *_TARGETS)


def _destination(inputs: Properties) -> str:
    return next(str(inputs[name]) for name in _DESTINATIONS if inputs.get(name))


def _judge_route(call: Call) -> None:
    table, destination = call.inputs["routeTableId"], _destination(call.inputs)
    for other in call.others():
        if other.inputs["routeTableId"] == table and _destination(other.inputs) == destination:
            raise Refusal("RouteAlreadyExists", f"The route identified by {destination} already exists in {table}")


def _route_id(inputs: Properties) -> str:
    return f"r-{inputs['routeTableId']}{hashlib.sha1(_destination(inputs).encode()).hexdigest()[:10]}"


def _judge_association(call: Call) -> None:
    subnet = call.inputs.get("subnetId")
    for other in call.others():
        if subnet and other.inputs.get("subnetId") == subnet:
            raise Refusal(
                "Resource.AlreadyAssociated",
                f"the specified association for route table {call.inputs['routeTableId']} conflicts with an existing "
                f"association: {subnet} has {other.inputs['routeTableId']}",
            )


def _judge_endpoint(call: Call) -> None:
    service = call.inputs.get("serviceName", "")
    region = call.inputs.get("serviceRegion") or call.region
    if service.startswith("com.amazonaws.") and f".{region}." not in service:
        raise Refusal("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist in {region}")
    gateway = call.inputs["vpcEndpointType"] == "Gateway"
    if gateway and service.rpartition(".")[2] not in ("s3", "dynamodb", "s3express"):
        raise Refusal(
            "InvalidParameter",
            f"Endpoint type (Gateway) does not match available service types of {service}: Interface",
        )


def _create_endpoint(call: Call) -> Properties:
    gateway = call.inputs["vpcEndpointType"] == "Gateway"
    return {
        "state": "available",
        "requesterManaged": False,
        "ipAddressType": "ipv4",
        "prefixListId": new_id("pl") if gateway else "",
        "cidrBlocks": [],
        "dnsEntries": [],
        "networkInterfaceIds": [] if gateway else [new_id("eni") for _ in call.inputs.get("subnetIds", [])],
    }


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
    AwsKind(
        token=INTERNET_GATEWAY,
        id_prefix="igw",
        arn=_EC2 + "internet-gateway/{id}",
        owned=True,
        refs=(Ref(path="vpcId", target=VPC),),
        judge=_judge_gateway,
        not_found="InvalidInternetGatewayID.NotFound",
    ),
    AwsKind(
        token=EIP,
        id_prefix="eipalloc",
        arn=_EC2 + "elastic-ip/{id}",
        immutable=("domain", "address", "ipamPoolId", "networkBorderGroup", "publicIpv4Pool"),
        create=_create_eip,
        in_use=("InvalidIPAddress.InUse", "Address {id} is in use."),
        not_found="InvalidAllocationID.NotFound",
    ),
    AwsKind(
        token=NAT_GATEWAY,
        id_prefix="nat",
        immutable=("allocationId", "connectivityType", "privateIp", "subnetId"),
        defaults={"connectivityType": "public"},
        refs=(Ref(path="subnetId", target=SUBNET), Ref(path="allocationId", target=EIP)),
        check=_check_nat,
        judge=_judge_nat,
        create=_create_nat,
        derive=_derive_nat,
        not_found="NatGatewayNotFound",
    ),
    AwsKind(
        token=ROUTE_TABLE,
        id_prefix="rtb",
        arn=_EC2 + "route-table/{id}",
        owned=True,
        immutable=("vpcId",),
        refs=(Ref(path="vpcId", target=VPC),),
        derive=lambda call: {"routes": call.inputs.get("routes", [])},
        in_use=("DependencyViolation", "The routeTable '{id}' has dependencies and cannot be deleted."),
        not_found="InvalidRouteTableID.NotFound",
    ),
    AwsKind(
        token=ROUTE,
        id_of=_route_id,
        tagged=False,
        immutable=("routeTableId", *_DESTINATIONS),
        refs=(
            Ref(path="routeTableId", target=ROUTE_TABLE, holds=False),
            Ref(path="natGatewayId", target=NAT_GATEWAY, holds=False),
            Ref(path="gatewayId", target=INTERNET_GATEWAY, holds=False),
        ),
        check=_check_route,
        judge=_judge_route,
        create=lambda _: {"origin": "CreateRoute", "state": "active"},
    ),
    AwsKind(
        token=ASSOCIATION,
        id_prefix="rtbassoc",
        tagged=False,
        immutable=("subnetId", "gatewayId"),
        refs=(
            Ref(path="routeTableId", target=ROUTE_TABLE),
            Ref(path="subnetId", target=SUBNET, holds=False),
            Ref(path="gatewayId", target=INTERNET_GATEWAY, holds=False),
        ),
        check=lambda inputs: one_of(inputs, "subnetId", "gatewayId"),
        judge=_judge_association,
    ),
    AwsKind(
        token=ENDPOINT,
        id_prefix="vpce",
        arn=_EC2 + "vpc-endpoint/{id}",
        owned=True,
        immutable=("serviceName", "vpcEndpointType", "vpcId", "serviceRegion"),
        replaces=lambda _, new: () if new.get("vpcEndpointType") == "Interface" else ("privateDnsEnabled",),
        defaults={"vpcEndpointType": "Gateway"},
        refs=(
            Ref(path="vpcId", target=VPC),
            Ref(path="routeTableIds[]", target=ROUTE_TABLE, holds=False),
            Ref(path="subnetIds[]", target=SUBNET),
            Ref(path="securityGroupIds[]", target=SECURITY_GROUP),
        ),
        judge=_judge_endpoint,
        create=_create_endpoint,
        not_found="InvalidVpcEndpointId.NotFound",
    ),
)
