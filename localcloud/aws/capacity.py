"""How many nodes can still be had: capacity by type, zone and purchase, what is held of it, and vCPU quotas.

On-demand capacity is used up by reservations, whether nodes run in them or not, and by the nodes outside of them. The
limits themselves: `localcloud.scarcity`. The reservations: `placement`. Launching: `launches`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from localcloud.aws.instance_types import instance_type, zones_with
from localcloud.aws.nodes import Nodes, nodes_of, running
from localcloud.aws.quotas import quota_code
from localcloud.aws.zones import places_of
from localcloud.kinds import Call, Refusal
from localcloud.store import Record, Transaction

RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
CAPACITY_BLOCK = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
_UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True)
class Room:
    nodes: int
    why: Refusal | None = None
    """What the cloud says to one node more."""


@dataclass(slots=True)
class Census:
    """All nodes while a request changes some: those of the request are counted apart, as they come and go."""

    call: Call
    own: list[Nodes] = field(default_factory=list)
    """Of the group, fleet or instance that the request is about."""
    others: list[Nodes] = field(init=False)
    others_here: list[Nodes] = field(init=False)
    """Those in the same account and region."""

    def __post_init__(self) -> None:
        before = nodes_of(self.call.old) if self.call.old else []
        mine = {id_ for alike in before for id_ in alike.ids}
        self.others = [alike for alike in running(self.call.tx) if not mine.intersection(alike.ids)]
        self.others_here = [
            alike for alike in running(self.call.tx, self.call.scope) if not mine.intersection(alike.ids)
        ]

    def everywhere(self) -> list[Nodes]:
        return [*self.others, *self.own]

    def here(self) -> list[Nodes]:
        return [*self.others_here, *self.own]

    def in_reservation(self, id_: str) -> int:
        return sum(len(alike.ids) for alike in self.here() if alike.reservation == id_)


def zone_id(region: str, name: str) -> str:
    return places_of(region).get(name, "") if name else ""


def state_of(record: Record) -> str:
    """Of a reservation or a block: scheduled, active or expired."""
    now = datetime.now(UTC)
    start, end = _date(record.outputs.get("startDate")), _date(record.outputs.get("endDate"))
    if end and now >= end:
        return "expired"
    return "scheduled" if start and now < start else "active"


def room(census: Census, type_: str, zone: str, purchase: str) -> Room:
    """Of nodes outside of any reservation."""
    return min(_by_capacity(census, type_, zone, purchase), _by_quota(census, type_, purchase), key=lambda r: r.nodes)


def judge_held(call: Call, type_: str, zone: str, number: int) -> None:
    """A reservation of so many more nodes is granted whole or not at all, and counts as if they were running."""
    found = room(Census(call), type_, zone, "on-demand")
    if number > found.nodes and found.why is not None:
        short = f" {number} were asked for, {max(found.nodes, 0)} can be had."
        raise Refusal(found.why.code, found.why.message + short, status=found.why.status)


def no_capacity(call: Call, type_: str, zone: str, purchase: str) -> Refusal:
    if purchase == "spot":
        text = "There is no Spot capacity available that matches your request."
        return Refusal("InsufficientInstanceCapacity", text, status=500)
    zones = places_of(call.region)
    name = next((name for name, id_ in zones.items() if id_ == zone), zone)
    elsewhere = [n for n, id_ in zones.items() if id_ != zone and _has_some(call, type_, id_, purchase)]
    hint = (
        f" You can currently get {type_} capacity by not specifying an Availability Zone in your request or choosing "
        f"{', '.join(elsewhere)}."
    )
    return Refusal(
        "InsufficientInstanceCapacity",
        f"We currently do not have sufficient {type_} capacity in the Availability Zone you requested ({name}). Our "
        f"system will be working on provisioning additional capacity.{hint if elsewhere else ''}",
        status=500,
    )


def _has_some(call: Call, type_: str, zone: str, purchase: str) -> bool:
    offered = zones_with(call.region, type_)
    if offered is not None and zone not in offered:
        return False
    return _by_capacity(Census(call), type_, zone, purchase, explain=False).nodes > 0


def _by_capacity(census: Census, type_: str, zone: str, purchase: str, *, explain: bool = True) -> Room:
    call = census.call
    there_is = call.cloud.scarcity.available(call.cloud.name, type_, zone, purchase) if zone else None
    if there_is is None:
        return Room(_UNLIMITED)
    why = no_capacity(call, type_, zone, purchase) if explain else None
    return Room(there_is - _used(census, type_, zone, purchase), why)


def _used(census: Census, type_: str, zone: str, purchase: str) -> int:
    if purchase == "capacity-block":
        return sum(count for _, count in _held(census.call.tx, CAPACITY_BLOCK, type_, zone))
    number: Counter[str] = Counter()  # by reservation; "" outside of any
    for alike in census.everywhere():
        if (alike.type, alike.zone, alike.purchase) == (type_, zone, purchase):
            number[alike.reservation] += len(alike.ids)
    if purchase == "on-demand":
        for id_, count in _held(census.call.tx, RESERVATION, type_, zone):
            number[id_] = max(number[id_], count)
    return number.total()


def _held(tx: Transaction, token: str, type_: str, zone: str) -> Iterator[tuple[str, int]]:
    for record in tx.of_type(token):
        region = record.scope.rpartition("/")[2]
        given = record.outputs
        if record.lost or given.get("instanceType") != type_ or state_of(record) == "expired":
            continue
        if zone_id(region, given.get("availabilityZone", "")) == zone:
            yield record.id, given["instanceCount"]


def _by_quota(census: Census, type_: str, purchase: str) -> Room:
    call, code, facts = census.call, quota_code(type_, purchase), instance_type(type_)
    limit = call.cloud.scarcity.quota(call.cloud.name, code) if code else None
    if limit is None or facts is None:
        return Room(_UNLIMITED)
    why = Refusal(
        "VcpuLimitExceeded",
        f"You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance bucket "
        f"that the specified instance type belongs to. Please visit the Service Quotas console (quota {code}) to "
        "request an adjustment to this limit.",
    )
    if purchase == "spot":
        why = Refusal("MaxSpotInstanceCountExceeded", f"Max spot instance count exceeded (quota {code}: {limit} vCPUs)")
    return Room((limit - _used_vcpus(census, code, purchase)) // facts.vcpus, why)


def _used_vcpus(census: Census, code: str, purchase: str) -> int:
    number: Counter[tuple[str, str]] = Counter()  # by type and reservation
    for alike in census.here():
        if alike.purchase == purchase and quota_code(alike.type, purchase) == code:
            number[alike.type, alike.reservation] += len(alike.ids)
    if purchase == "on-demand":
        for record in census.call.tx.of_type(RESERVATION, census.call.scope):
            type_ = record.outputs.get("instanceType", "")
            if not record.lost and state_of(record) != "expired" and quota_code(type_, purchase) == code:
                number[type_, record.id] = max(number[type_, record.id], record.outputs["instanceCount"])
    return sum(count * _vcpus(type_) for (type_, _), count in number.items())


def _vcpus(type_: str) -> int:
    facts = instance_type(type_)
    return facts.vcpus if facts else 0


def _date(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
