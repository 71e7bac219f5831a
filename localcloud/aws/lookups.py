"""Functions that read a network: one that was made here as it is, any other as something that was there before.

Of a network that is not of this cloud nothing is known: it is answered as a program hopes for, with a subnet in the
first zone of its region. Other functions: `invokes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from localcloud.aws.network import SUBNET, VPC, free_addresses
from localcloud.aws.nodes import running
from localcloud.aws.zones import zones_of
from localcloud.kinds import CloudError, Refusal
from localcloud.store import Record, Transaction
from localcloud.values import Properties

if TYPE_CHECKING:
    from localcloud.aws.cloud import Aws

_A_SUBNET = {"cidrBlock": "10.0.0.0/17", "availableIpAddressCount": 32763, "mapPublicIpOnLaunch": False}
_A_VPC = {
    "cidrBlock": "10.0.0.0/16",
    "enableDnsSupport": True,
    "enableDnsHostnames": True,
    "instanceTenancy": "default",
}


def _subnet(cloud: Aws, args: Properties) -> Properties:
    with cloud.store.transaction(cloud.name) as tx:
        found = _found(cloud, tx, SUBNET, args, "InvalidSubnetID.NotFound", "subnet")
        if found is not None:
            free = free_addresses(tx, found, list(running(tx, found.scope)))
            return _answer(cloud, args, {**found.outputs, "availableIpAddressCount": free})
    name, zone = next(iter(zones_of(args.get("region") or cloud.region).items()))
    place = {"availabilityZone": name, "availabilityZoneId": zone, "vpcId": args.get("vpcId", "")}
    return _answer(cloud, args, {**_A_SUBNET, **place})


def _vpc(cloud: Aws, args: Properties) -> Properties:
    with cloud.store.transaction(cloud.name) as tx:
        found = _found(cloud, tx, VPC, args, "InvalidVpcID.NotFound", "vpc")
    return _answer(cloud, args, found.outputs if found is not None else _A_VPC)


def _found(cloud: Aws, tx: Transaction, token: str, args: Properties, code: str, what: str) -> Record | None:
    """By its id alone, or in a VPC; None where it is not of this cloud."""
    id_ = args.get("id")
    if not id_:
        raise Refusal("InvalidParameterValue", f"the local cloud finds a {what} by its id only")
    record = tx.get(cloud.scope_of(cloud.kinds[token], args), token, id_)
    if record is None and cloud.is_ours(tx, id_):
        raise Refusal(code, f"The {what} ID '{id_}' does not exist")
    if record is not None and args.get("vpcId") not in (None, record.outputs.get("vpcId")):
        raise CloudError(f"reading EC2 {what.capitalize()}: no matching EC2 {what.capitalize()} found")
    return record


def _answer(cloud: Aws, args: Properties, known: Properties) -> Properties:
    said = {key: value for key, value in known.items() if not key.startswith("__")}
    return {**said, "id": args["id"], "state": "available", "region": args.get("region") or cloud.region}


FUNCTIONS: dict[str, Callable[..., Properties]] = {
    "aws:ec2/getSubnet:getSubnet": _subnet,
    "aws:ec2/getVpc:getVpc": _vpc,
}
