"""Where nodes are put and what is held for them: placement groups, capacity reservations, Capacity Blocks.

Known: a reservation is granted whole or refused; one inside a placement group serves only launches into that group, one
outside only launches into none; a block serves no placement group; deleting a block only forgets it. Unproved and
therefore allowed: lowering a reservation's count below what runs in it, after which those nodes run on.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.aws import instance_types
from localcloud.aws.capacity import CAPACITY_BLOCK, RESERVATION, Census, Room, judge_held, room, state_of, zone_id
from localcloud.aws.kind import AwsKind, in_range
from localcloud.aws.network import new_id
from localcloud.aws.nodes import refuse_while_running, running
from localcloud.aws.offerings import offering_of
from localcloud.aws.zones import places_of, zones_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties

PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
_TARGET = "capacityReservationTarget"
_MOST_AT_ONCE = 1000
"""Source: EC2 API reference, CreateCapacityReservation and ModifyCapacityReservation."""


def judge_type(call: Call, name: str) -> None:
    """Refuse a size that its family does not have; of a family that is not known, say that it was not judged."""
    if not name or instance_types.instance_type(name) is not None:
        return
    if instance_types.is_misspelt(name):
        sizes = ", ".join(instance_types.sizes_of_family(name))
        raise Refusal("InvalidParameterValue", f"instanceType: Invalid value '{name}' for InstanceType; sizes: {sizes}")
    reason = "is newer than" if instance_types.is_known() else "cannot be looked up without"
    call.warn(
        f"instance type {name} {reason} the local cloud's list of types (package moto): its network cards, EFA "
        "interfaces, zones and vCPUs are not judged"
    )


def judge_offered(call: Call, name: str, zone: str) -> None:
    zones = instance_types.zones_with(call.region, name)
    if zone and zones is not None and zone not in zones:
        names = {id_: n for n, id_ in places_of(call.region).items()}
        there = ", ".join(sorted(names[id_] for id_ in zones if id_ in names))
        better = f"or choosing {there}" if there else f"in another region than {call.region}"
        raise Refusal(
            "Unsupported",
            f"Your requested instance type ({name}) is not supported in your requested Availability Zone "
            f"({names.get(zone, zone)}). Please retry your request by not specifying an Availability Zone {better}.",
        )


def _check_placement(inputs: Properties) -> Iterator[Failure]:
    strategy = inputs.get("strategy")
    for name, of in (("partitionCount", "partition"), ("spreadLevel", "spread")):
        if inputs.get(name) is not None and strategy not in (of, UNKNOWN):
            yield Failure(name, f'{name} must not be set when strategy = "{strategy}"')


def judge_zone_of_group(call: Call, group: str, zone: str) -> None:
    """A cluster placement group lies in the zone of whatever came into it first (wording assumed)."""
    record = call.find(PLACEMENT_GROUP, group)
    if record is None or record.inputs.get("strategy") != "cluster":
        return
    arn = record.outputs["arn"]
    held = [r.inputs["availabilityZone"] for r in call.others(RESERVATION) if r.inputs.get("placementGroupArn") == arn]
    there = [alike.zone for alike in running(call.tx, call.scope) if alike.placement_group == group]
    there += [zone_id(call.region, zone) for zone in held]
    other = next((z for z in there if z and z != zone), None)
    if zone and other:
        raise Refusal(
            "InvalidParameterCombination",
            f"The cluster placement group {group} cannot span Availability Zones: it is in {other}, not in {zone}.",
        )


def _check_reservation(inputs: Properties) -> Iterator[Failure]:
    yield from in_range(inputs, "instanceCount", 1)


def _judge_reservation(call: Call) -> None:
    zones, zone, type_ = places_of(call.region), call.inputs["availabilityZone"], call.inputs["instanceType"]
    if zone not in zones:
        near = next((n for n, i in zones.items() if i == zone), "")
        hint = f" It takes the zone's name, here {near}." if near else f" Zones: {', '.join(zones)}."
        raise Refusal("InvalidParameterValue", f"The availability zone '{zone}' is invalid.{hint}")
    if (call.inputs["endDateType"] == "limited") != bool(call.inputs.get("endDate")):
        raise Refusal(
            "InvalidParameterCombination", "endDate: it is needed where endDateType is limited, and only there."
        )
    group = _group_of(call, call.inputs.get("placementGroupArn"))
    if group is not None and group.inputs.get("strategy") != "cluster":
        raise Refusal(
            "InvalidParameterValue",
            f"placementGroupArn: {group.id} has the strategy {group.inputs.get('strategy')}; capacity is reserved only "
            "in cluster placement groups.",
        )
    if group is not None:
        judge_zone_of_group(call, group.id, zones[zone])
    if call.old is None:
        judge_type(call, type_)
        judge_offered(call, type_, zones[zone])
    before = call.old.outputs["instanceCount"] if call.old else 0
    if abs(call.inputs["instanceCount"] - before) > _MOST_AT_ONCE:
        text = f"instanceCount: a request adds or takes away {_MOST_AT_ONCE} instances at most; there are {before}."
        raise Refusal("InvalidParameterValue", text)
    judge_held(call, type_, zones[zone], call.inputs["instanceCount"] - before)


def _group_of(call: Call, arn: str | None) -> Record | None:
    return call.find(PLACEMENT_GROUP, arn, "arn") if arn else None


def _create_block(call: Call) -> Properties:
    offering = offering_of(call.inputs["capacityBlockOfferingId"])
    always = {"reservationType": "capacity-block", "tenancy": "default", "endDateType": "limited"}
    if offering is None:
        zone = next(iter(zones_of(call.region)))
        return {**always, "availabilityZone": zone, "instanceCount": 1}
    zone = zone_id(call.region, offering.zone)
    found = room(Census(call), offering.type, zone, "capacity-block")
    if found.nodes < offering.count:
        call.unfinished(
            f"waiting for EC2 Capacity Block Reservation ({call.id}) create: unexpected state 'payment-failed', "
            f"wanted target 'active, scheduled': {found.nodes} of {offering.count} {offering.type} are left"
        )
    return {
        **always,
        "availabilityZone": offering.zone,
        "instanceCount": offering.count,
        "instanceType": offering.type,
        "startDate": offering.start,
        "endDate": offering.end,
        "createdDate": offering.start,
    }


def room_in(census: Census, record: Record, type_: str, zone: str, group: str) -> Room:
    """Of nodes launched into this reservation or block: what is free in it, if they match it at all."""
    call = census.call
    state = state_of(record)
    if state != "active":
        text = f"{_TARGET}: The Capacity Reservation {record.id} is {state}."
        return Room(0, Refusal("InvalidCapacityReservationState", text))
    own_group = _group_of(call, record.inputs.get("placementGroupArn"))
    arn = record.inputs.get("placementGroupArn", "")
    if (own_group.id if own_group else arn.rpartition("/")[2]) != group:
        where = f"in the placement group {own_group.id if own_group else arn}" if arn else "in no placement group"
        launched = f"in {group}" if group else "in none"
        text = f"{_TARGET}: Insufficient capacity: {record.id} is {where}, the launch {launched}."
        return Room(0, Refusal("InsufficientInstanceCapacity", text, status=500))
    given = record.outputs
    wanted = {"instanceType": type_, "availabilityZone": zone}
    has = {
        "instanceType": given.get("instanceType") or type_,
        "availabilityZone": zone_id(call.region, given["availabilityZone"]) if zone else zone,
    }
    text = (
        f"{_TARGET}: The requested reservation does not have sufficient compatible and available capacity for this "
        "request."
    )
    for name, value in wanted.items():
        if has[name] != value:
            return Room(
                0, Refusal("ReservationCapacityExceeded", f"{text} {record.id} is for {has[name]}, not {value}.")
            )
    used, count = census.in_reservation(record.id), given["instanceCount"]
    return Room(
        count - used, Refusal("ReservationCapacityExceeded", f"{text} {used} of {count} of {record.id} are used.")
    )


_EC2 = "arn:{partition}:ec2:{region}:{account}:"

KINDS = (
    AwsKind(
        token=PLACEMENT_GROUP,
        id_form="{name}",
        named="name",
        arn=_EC2 + "placement-group/{name}",
        immutable=("name", "strategy", "partitionCount", "spreadLevel"),
        check=_check_placement,
        create=lambda _: {"placementGroupId": new_id("pg")},
        delete=refuse_while_running,
        taken=("InvalidPlacementGroup.Duplicate", "The Placement Group '{name}' already exists."),
        in_use=("InvalidPlacementGroup.InUse", "The placement group '{id}' is in use and may not be deleted."),
        not_found="InvalidPlacementGroup.Unknown",
    ),
    AwsKind(
        token=RESERVATION,
        id_prefix="cr",
        arn=_EC2 + "capacity-reservation/{id}",
        owned=True,
        immutable=(
            "availabilityZone",
            "instancePlatform",
            "instanceType",
            "tenancy",
            "ebsOptimized",
            "ephemeralStorage",
            "instanceMatchCriteria",
        ),
        defaults={"endDateType": "unlimited", "instanceMatchCriteria": "open", "tenancy": "default"},
        refs=(Ref(path="placementGroupArn", target=PLACEMENT_GROUP, by="arn"),),
        check=_check_reservation,
        judge=_judge_reservation,
        not_found="InvalidCapacityReservationId.NotFound",
    ),
    AwsKind(
        token=CAPACITY_BLOCK,
        id_prefix="cr",
        arn=_EC2 + "capacity-reservation/{id}",
        immutable=("capacityBlockOfferingId", "instancePlatform"),
        create=_create_block,
        forgotten=True,
        not_found="InvalidCapacityReservationId.NotFound",
    ),
)
