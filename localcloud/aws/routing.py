"""Gateways, NAT and route tables: the ways in and out of a VPC. To services of AWS: `endpoints`."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator

from localcloud.aws.kind import AwsKind, one_of
from localcloud.aws.network import ROUTE_TABLE, SUBNET, VPC, new_id, take_address, vpc_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import Properties

INTERNET_GATEWAY = "aws:ec2/internetGateway:InternetGateway"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
EIP = "aws:ec2/eip:Eip"
ROUTE = "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
_ATTACHMENT = "aws:ec2/internetGatewayAttachment:InternetGatewayAttachment"

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
    if subnet is not None and call.inputs["connectivityType"] == "public" and not _has_gateway(call, vpc_of(subnet)):
        call.unfinished(
            f"waiting for EC2 NAT Gateway ({call.id}) create: unexpected state 'failed', wanted target 'available'. "
            f"last error: Gateway.NotAttached: Network {vpc_of(subnet)} has no Internet gateway attached"
        )
    private = call.inputs.get("privateIp") or take_address(call, subnet)
    return {"networkInterfaceId": new_id("eni"), "associationId": new_id("eipassoc"), "privateIp": private}


def _has_gateway(call: Call, vpc: str) -> bool:
    if call.find(VPC, vpc) is None:
        return True  # not of this cloud
    attached = [r.inputs.get("vpcId") for r in [*call.others(INTERNET_GATEWAY), *call.others(_ATTACHMENT)]]
    return vpc in attached


def _derive_nat(call: Call) -> Properties:
    address = call.find(EIP, call.inputs.get("allocationId"))
    return {"publicIp": address.outputs["publicIp"] if address else ""}


def _check_route(inputs: Properties) -> Iterator[Failure]:
    yield from one_of(inputs, *_DESTINATIONS)
    yield from one_of(inputs, *_TARGETS)


def _destination(inputs: Properties) -> str:
    return next(str(inputs[name]) for name in _DESTINATIONS if inputs.get(name))


def _judge_route(call: Call) -> None:
    destination = _destination(call.inputs)
    if call.old is None and call.tx.get(call.scope, call.kind.token, call.id):
        table = call.inputs["routeTableId"]
        raise Refusal("RouteAlreadyExists", f"The route identified by {destination} already exists in {table}")
    table = call.find(ROUTE_TABLE, call.inputs["routeTableId"])
    for name, target in (("gatewayId", INTERNET_GATEWAY), ("natGatewayId", NAT_GATEWAY)):
        gateway = call.find(target, call.inputs.get(name)) if call.inputs.get(name) else None
        vpc = _vpc_of_gateway(call, gateway) if gateway else ""
        if table is not None and vpc and vpc != vpc_of(table):
            raise Refusal(
                "InvalidParameterValue",
                f"{name}: route table {table.id} and network gateway {call.inputs[name]} belong to different networks",
            )


def _vpc_of_gateway(call: Call, gateway: Record) -> str:
    if gateway.type == INTERNET_GATEWAY:
        return gateway.inputs.get("vpcId", "")
    subnet = call.find(SUBNET, gateway.inputs.get("subnetId"))
    return vpc_of(subnet) if subnet else ""


def _route_id(inputs: Properties) -> str:
    return f"r-{inputs['routeTableId']}{hashlib.sha1(_destination(inputs).encode()).hexdigest()[:10]}"


def _judge_association(call: Call) -> None:
    subnet = call.inputs.get("subnetId")
    table, place = call.find(ROUTE_TABLE, call.inputs["routeTableId"]), call.find(SUBNET, subnet)
    if table is not None and place is not None and vpc_of(table) != vpc_of(place):
        raise Refusal(
            "InvalidParameterValue",
            f"routeTableId: Route table {table.id} and subnet {place.id} belong to different networks",
        )
    for other in call.others():
        if subnet and other.inputs.get("subnetId") == subnet:
            raise Refusal(
                "Resource.AlreadyAssociated",
                f"the specified association for route table {call.inputs['routeTableId']} conflicts with an existing "
                f"association: {subnet} has {other.inputs['routeTableId']}",
            )


_EC2 = "arn:{partition}:ec2:{region}:{account}:"

KINDS = (
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
        token=_ATTACHMENT,
        id_of=lambda inputs: f"{inputs['internetGatewayId']}:{inputs['vpcId']}",
        tagged=False,
        immutable=("internetGatewayId", "vpcId"),
        refs=(Ref(path="internetGatewayId", target=INTERNET_GATEWAY), Ref(path="vpcId", target=VPC)),
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
)
