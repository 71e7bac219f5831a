"""Functions that programs call on AWS: who and where one is, which zones there are, which image a parameter names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from localcloud.aws import lookups, searches
from localcloud.aws.documents import policy_document
from localcloud.aws.instance_types import zones_with
from localcloud.aws.kind import LOCAL_ID, partition_of
from localcloud.aws.offerings import Offering, soonest
from localcloud.aws.zones import zones_of
from localcloud.kinds import Refusal
from localcloud.values import Properties

if TYPE_CHECKING:
    from localcloud.aws.cloud import Aws


def _image_of(name: str) -> str:
    """A stable image id for whatever a name or a filter says."""
    return f"ami-{LOCAL_ID}{hashlib.sha256(name.encode()).hexdigest()[:11]}"


def _caller(cloud: Aws, _: Properties) -> Properties:
    arn = f"arn:aws:iam::{cloud.account}:user/local-cloud"
    return {"id": cloud.account, "accountId": cloud.account, "arn": arn, "userId": "AIDALOCALCLOUD000000"}


def _region(cloud: Aws, args: Properties) -> Properties:
    region = args.get("region") or args.get("name") or cloud.region
    return {
        "id": region,
        "region": region,
        "name": region,
        "description": region,
        "endpoint": f"ec2.{region}.amazonaws.com",
    }


_ENDINGS = {"aws-cn": "amazonaws.com.cn"}


def _partition(cloud: Aws, _: Properties) -> Properties:
    partition = partition_of(cloud.region)
    ending = _ENDINGS.get(partition, "amazonaws.com")
    reverse = ".".join(reversed(ending.split(".")))
    return {"id": partition, "partition": partition, "dnsSuffix": ending, "reverseDnsPrefix": reverse}


def _service_principal(cloud: Aws, args: Properties) -> Properties:
    """Nearly all services have the same name in all regions."""
    region, service = args.get("region") or cloud.region, args["serviceName"]
    reverse = _partition(cloud, {})["reverseDnsPrefix"]
    return {
        "id": f"{reverse}.{region}.{service}",
        "name": f"{service}.amazonaws.com",
        "serviceName": service,
        "suffix": "amazonaws.com",
        "region": region,
    }


def _zones(cloud: Aws, args: Properties) -> Properties:
    zones = zones_of(args.get("region") or cloud.region)
    excluded = {*args.get("excludeNames", []), *args.get("excludeZoneIds", [])}
    for chosen in args.get("filters", []):
        by_name = {"zone-name": lambda n, _: n, "zone-id": lambda _, i: i}.get(chosen["name"])
        if by_name is not None:
            zones = {n: i for n, i in zones.items() if by_name(n, i) in chosen["values"]}
    zones = {n: i for n, i in zones.items() if not {n, i} & excluded}
    return {"id": cloud.region, "names": list(zones), "zoneIds": list(zones.values()), "groupNames": [cloud.region]}


def _parameter(cloud: Aws, args: Properties) -> Properties:
    name = args["name"]
    if not name.startswith("/aws/service/"):
        raise Refusal("ParameterNotFound", f"{name}: the local cloud has only AWS's public parameters (/aws/service/…)")
    image = _image_of(name)
    region = args.get("region") or cloud.region
    return {
        "id": name,
        "name": name,
        "arn": f"arn:aws:ssm:{region}::parameter{name}",
        "type": "String",
        "value": image,
        "insecureValue": image,
        "version": 1,
        "region": region,
        "withDecryption": True,
    }


def _image(cloud: Aws, args: Properties) -> Properties:
    words = [str(filter_) for filter_ in args.get("filters", [])] + [str(args.get("nameRegex", ""))]
    named = [value for filter_ in args.get("filters", []) if filter_["name"] == "name" for value in filter_["values"]]
    arm = any("arm64" in word for word in words)
    image = _image_of("".join(words))
    return {
        "id": image,
        "imageId": image,
        "arn": f"arn:aws:ec2:{args.get('region') or cloud.region}::image/{image}",
        "name": named[0].replace("*", "local") if named else image,
        "architecture": "arm64" if arm else "x86_64",
        "rootDeviceName": "/dev/sda1",
        "rootDeviceType": "ebs",
        "state": "available",
        "ownerId": next(iter(args.get("owners", [])), "amazon"),
        "platformDetails": "Linux/UNIX",
    }


def _block_offering(cloud: Aws, args: Properties) -> Properties:
    """The first zone that has as many, from the day that is asked for."""
    region, count, type_ = args.get("region") or cloud.region, args["instanceCount"], args["instanceType"]
    judged = zones_with(region, type_)
    for name, id_ in zones_of(region).items():
        there_is = cloud.scarcity.available(cloud.name, type_, id_, "capacity-block")
        if (judged is None or id_ in judged) and (there_is is None or there_is >= count):
            start = args.get("startDateRange") or soonest()
            hours = args["capacityDurationHours"]
            offering = Offering(type=type_, zone=name, count=count, hours=hours, start=start)
            return {
                **args,
                "id": offering.id,
                "capacityBlockOfferingId": offering.id,
                "availabilityZone": name,
                "startDateRange": start,
                "endDateRange": args.get("endDateRange") or offering.end,
                "currencyCode": "USD",
                "upfrontFee": "0.0",
                "tenancy": "default",
                "region": region,
            }
    raise Refusal(
        "InvalidParameterValue", f"no Capacity Block offering of {count} {type_} in {region}: no zone has that many"
    )


FUNCTIONS: dict[str, Callable[..., Properties]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getServicePrincipal:getServicePrincipal": _service_principal,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    "aws:ssm/getParameter:getParameter": _parameter,
    "aws:ec2/getAmi:getAmi": _image,
    "aws:ec2/getCapacityBlockOffering:getCapacityBlockOffering": _block_offering,
    "aws:iam/getPolicyDocument:getPolicyDocument": policy_document,
    **lookups.FUNCTIONS,
    **searches.FUNCTIONS,
}
