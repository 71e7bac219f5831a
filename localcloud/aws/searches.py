"""Functions that look for something by what it is like: subnets, security groups, nodes, types and their zones.

What is found was made here: of a real account nothing is known. By their ids: `lookups`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from localcloud.aws import instance_types
from localcloud.aws.network import SECURITY_GROUP, SUBNET
from localcloud.aws.nodes import GROUP, nodes_of
from localcloud.aws.zones import zones_of
from localcloud.kinds import CloudError, Refusal
from localcloud.store import Record
from localcloud.values import Properties

if TYPE_CHECKING:
    from localcloud.aws.cloud import Aws

IN_GROUP = "tag:aws:autoscaling:groupName"
_FILTERS: Mapping[str, Mapping[str, str]] = {
    SUBNET: {
        "vpc-id": "vpcId",
        "subnet-id": "id",
        "availability-zone": "availabilityZone",
        "availability-zone-id": "availabilityZoneId",
        "cidr-block": "cidrBlock",
    },
    SECURITY_GROUP: {"vpc-id": "vpcId", "group-id": "id", "group-name": "name", "description": "description"},
}
"""Filters of EC2 that are understood, and the outputs that they are about."""


def _subnets(cloud: Aws, args: Properties) -> Properties:
    ids = sorted(record.id for record in _found(cloud, SUBNET, args))
    return {**args, "id": _region(cloud, args), "ids": ids, "region": _region(cloud, args)}


def _security_group(cloud: Aws, args: Properties) -> Properties:
    found = _found(cloud, SECURITY_GROUP, args)
    for name, output in (("id", "id"), ("name", "name"), ("vpcId", "vpcId")):
        found = [record for record in found if args.get(name) in (None, "", _value(record, output))]
    if len(found) != 1:
        reason = "no matching EC2 Security Group found" if not found else f"{len(found)} EC2 Security Groups matched"
        raise CloudError(f"reading EC2 Security Group: {reason}")
    return {**found[0].outputs, "id": found[0].id, "region": _region(cloud, args)}


def _instances(cloud: Aws, args: Properties) -> Properties:
    """The running nodes of Auto Scaling groups, by the tag that AWS gives them."""
    said = {f["name"]: f["values"] for f in args.get("filters") or ()}
    if set(said) != {IN_GROUP} or args.get("instanceTags"):
        raise Refusal("InvalidParameterValue", f"filters: the local cloud finds instances by {IN_GROUP} alone")
    with cloud.store.transaction(cloud.name) as tx:
        groups = [r for r in tx.of_type(GROUP, cloud.scope_of(cloud.kinds[GROUP], args)) if not r.lost]
    wanted = "running" in (args.get("instanceStateNames") or ["running"])
    ids = [
        id_
        for group in groups
        if wanted and any(fnmatch.fnmatchcase(group.id, name) for name in said[IN_GROUP])
        for alike in nodes_of(group)
        for id_ in alike.ids
    ]
    return {**args, "id": _region(cloud, args), "ids": sorted(ids), "region": _region(cloud, args)}


def _found(cloud: Aws, token: str, args: Properties) -> list[Record]:
    wanted = [(f["name"], f["values"]) for f in args.get("filters") or ()]
    wanted += [(f"tag:{key}", [value]) for key, value in (args.get("tags") or {}).items()]
    for name, _ in wanted:
        if not name.startswith("tag:") and name not in _FILTERS[token]:
            known = ", ".join([*_FILTERS[token], "tag:…"])
            raise Refusal("InvalidParameterValue", f"filters: the local cloud does not know '{name}'; it knows {known}")
    with cloud.store.transaction(cloud.name) as tx:
        records = list(tx.of_type(token, cloud.scope_of(cloud.kinds[token], args)))
    return [r for r in records if not r.lost and all(_fits(r, token, name, values) for name, values in wanted)]


def _fits(record: Record, token: str, name: str, values: list[str]) -> bool:
    if name.startswith("tag:"):
        value = (record.outputs.get("tagsAll") or {}).get(name.removeprefix("tag:"))
    else:
        value = _value(record, _FILTERS[token][name])
    return value is not None and any(fnmatch.fnmatchcase(str(value), pattern) for pattern in values)


def _value(record: Record, output: str) -> object:
    return record.id if output == "id" else record.outputs.get(output)


def _instance_type(cloud: Aws, args: Properties) -> Properties:
    name = args["instanceType"]
    facts = instance_types.described(name)
    if facts is None:
        raise CloudError(f"reading EC2 Instance Type: {name} is not known to the local cloud (package moto)")
    return {**facts, "id": name, "instanceType": name, "region": _region(cloud, args)}


def _offerings(cloud: Aws, args: Properties) -> Properties:
    """Where types are offered. Without a filter there would be a thousand of them in each zone."""
    region, kind = _region(cloud, args), args.get("locationType") or "region"
    zones = zones_of(region).items()
    said = {f["name"]: f["values"] for f in args.get("filters") or ()}
    if set(said) - {"instance-type", "location"} or "instance-type" not in said:
        raise Refusal("InvalidParameterValue", "filters: the local cloud takes instance-type, and location beside it")
    places = {id_: {"availability-zone": name, "availability-zone-id": id_}.get(kind, region) for name, id_ in zones}
    pairs = sorted(
        {
            (name, places[id_])
            for name in said["instance-type"]
            for id_ in instance_types.zones_with(region, name) or ()
            if id_ in places and places[id_] in said.get("location", [places[id_]])
        }
    )
    return {
        **args,
        "id": region,
        "instanceTypes": [name for name, _ in pairs],
        "locations": [place for _, place in pairs],
        "locationTypes": [kind for _ in pairs],
        "region": region,
    }


def _region(cloud: Aws, args: Properties) -> str:
    return args.get("region") or cloud.region


FUNCTIONS: dict[str, Callable[..., Properties]] = {
    "aws:ec2/getSubnets:getSubnets": _subnets,
    "aws:ec2/getSecurityGroup:getSecurityGroup": _security_group,
    "aws:ec2/getInstances:getInstances": _instances,
    "aws:ec2/getInstanceType:getInstanceType": _instance_type,
    "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": _offerings,
}
