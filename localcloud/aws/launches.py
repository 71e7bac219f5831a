"""A launch of nodes: what EC2 refuses of it whatever its capacity, and how many of them it can have.

Launch templates are taken with almost any contents; RunInstances refuses, also when a group or a fleet calls it. So it
is here that templates are judged. Platforms are not: nothing is known of images. The texts are EC2's own as issues
quote them, but for those on the Capacity Block market and on spot with a target, which are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from localcloud.aws.capacity import CAPACITY_BLOCK, RESERVATION, Census, Room, no_capacity, room, state_of, zone_id
from localcloud.aws.compute import data_of
from localcloud.aws.identity import INSTANCE_PROFILE
from localcloud.aws.instance_types import instance_type
from localcloud.aws.interfaces import addresses_of, judge_interfaces
from localcloud.aws.network import SECURITY_GROUP, SUBNET, free_addresses, new_id, vpc_of
from localcloud.aws.nodes import Nodes
from localcloud.aws.placement import PLACEMENT_GROUP, judge_offered, judge_type, judge_zone_of_group, room_in
from localcloud.kinds import Call, Refusal
from localcloud.store import Record
from localcloud.values import Properties, at, first

_TARGET = "capacityReservationSpecification.capacityReservationTarget"
_ONLY = "capacity-reservations-only"
_MOST_GP3_GIB = 65_536
"""Source: EC2 API reference, LaunchTemplateEbsBlockDeviceRequest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What like nodes are launched as: a template with what the launcher has to say to it."""

    data: Properties
    """In the names of a launch template; whatever the launcher says wins."""
    purchase: str
    subnet: Record | None
    """None where it is not of this cloud."""
    zone: str
    """Its id; empty where it is not known."""
    weight: int = 1

    @property
    def type(self) -> str:
        return self.data.get("instanceType") or ""

    @property
    def interfaces(self) -> list[Properties]:
        return self.data.get("networkInterfaces") or []

    @property
    def placement_group(self) -> str:
        return first(self.data, "placement.groupName", "")

    @property
    def security_groups(self) -> tuple[str, ...]:
        on_interfaces = [group for i in self.interfaces for group in i.get("securityGroups") or ()]
        return tuple(dict.fromkeys([*(self.data.get("vpcSecurityGroupIds") or ()), *on_interfaces]))


def launch_of(
    call: Call, template: Properties | None, said: Properties, subnet: Any, purchase: str = "", weight: int = 1
) -> Launch:
    """`template`: how the launcher names it. `said`: what it says itself. `subnet`: an id, or the name of a zone."""
    data = {**(data_of(call, template) if template else {}), **{k: v for k, v in said.items() if v is not None}}
    name = subnet or data.get("subnetId") or first(data, "networkInterfaces[].subnetId")
    found = call.find(SUBNET, name) if name else None
    zone = found.outputs["availabilityZoneId"] if found else zone_id(call.region, name or "")
    purchase = purchase or first(data, "instanceMarketOptions.marketType", "")
    purchase = purchase if purchase in ("spot", "capacity-block") else "on-demand"
    return Launch(data=data, purchase=purchase, subnet=found, zone=zone, weight=weight)


def judge_launch(call: Call, launch: Launch) -> None:
    """Refuse what no capacity in the world would make right, in the words of RunInstances."""
    facts = instance_type(launch.type)
    judge_type(call, launch.type)
    _judge_request_level(launch)
    _judge_image(launch)
    judge_interfaces(launch.interfaces, launch.type, facts)
    _judge_market(call, launch)
    _judge_network(call, launch)
    _judge_profile(call, launch)
    group = call.find(PLACEMENT_GROUP, launch.placement_group) if launch.placement_group else None
    strategy = group.inputs["strategy"] if group else ""
    if facts is not None and strategy and strategy not in facts.strategies:
        raise Refusal(
            "InvalidParameterCombination",
            f"{strategy.capitalize()} placement groups are not supported by the '{launch.type}' instance type. Specify "
            "a supported instance type or change the placement group strategy, and try again.",
        )
    if launch.placement_group:
        judge_zone_of_group(call, launch.placement_group, launch.zone)


def _judge_image(launch: Launch) -> None:
    image = launch.data.get("imageId") or ""
    if image and not image.startswith(("ami-", "resolve:ssm:")):
        raise Refusal("InvalidAMIID.Malformed", f'imageId: Invalid id: "{image}" (expecting "ami-...")')
    for path, disk in at(launch.data, "blockDeviceMappings[].ebs"):
        if disk.get("volumeType") == "gp3" and (disk.get("volumeSize") or 0) > _MOST_GP3_GIB:
            text = f"Volume of {disk['volumeSize']}GiB is too large for volume type gp3; maximum is {_MOST_GP3_GIB}GiB."
            raise Refusal("InvalidParameterValue", f"{path}.volumeSize: {text}")


def _judge_request_level(launch: Launch) -> None:
    if not launch.interfaces:
        return
    for name, words in (("subnetId", "subnet ID"), ("vpcSecurityGroupIds", "security groups")):
        if launch.data.get(name):
            raise Refusal(
                "InvalidParameterCombination",
                f"{name}: Network interfaces and an instance-level {words} may not be specified on the same request; "
                "put it on each network interface",
            )


def _judge_market(call: Call, launch: Launch) -> None:
    market = first(launch.data, "instanceMarketOptions.marketType", "")
    targets = _targets(launch.data)
    facts = instance_type(launch.type)
    if facts is not None and launch.purchase not in facts.purchases and launch.purchase != "on-demand":
        raise Refusal(
            "InvalidParameterCombination",
            f"instanceMarketOptions.marketType: {launch.type} is not sold as {launch.purchase}; only as "
            f"{', '.join(facts.purchases)}.",
        )
    if launch.purchase == "spot" and targets:
        raise Refusal(
            "InvalidParameterCombination",
            "capacityReservationSpecification: Spot Instances do not run in Capacity Reservations; target none.",
        )
    if market == "capacity-block" and not targets:
        raise Refusal(
            "InvalidParameterCombination",
            f"{_TARGET}: the market type capacity-block needs the id of a Capacity Block as target.",
        )
    for target in targets:
        is_block = call.tx.get(call.scope, CAPACITY_BLOCK, target) is not None
        if is_block != (market == "capacity-block") and call.find(RESERVATION, target) is not None:
            needed = "needs the market type capacity-block" if is_block else "is no Capacity Block"
            raise Refusal("InvalidParameterCombination", f"instanceMarketOptions.marketType: {target} {needed}.")


def _judge_network(call: Call, launch: Launch) -> None:
    if launch.subnet is None:
        return
    for group in launch.security_groups:
        record = call.find(SECURITY_GROUP, group)
        if record is not None and vpc_of(record) != vpc_of(launch.subnet):
            raise Refusal(
                "InvalidParameter",
                f"Security group {group} and subnet {launch.subnet.id} belong to different networks.",
            )


def _judge_profile(call: Call, launch: Launch) -> None:
    for key, by in (("name", "name"), ("arn", "arn")):
        named = first(launch.data, f"iamInstanceProfile.{key}")
        record = call.find(INSTANCE_PROFILE, named, by) if named else None
        if record is not None and not record.inputs.get("role"):
            raise Refusal(
                "InvalidParameterValue",
                f"Value ({named}) for parameter iamInstanceProfile.{key} is invalid. IAM Instance Profile "
                f'"{record.id}" has no associated IAM Roles',
            )


def _targets(data: Properties) -> list[str]:
    target = first(data, _TARGET) or {}
    one = target.get("capacityReservationId")
    return [*([one] if one else []), *(target.get("capacityReservationIds") or ())]


def fill(call: Call, launches: Iterable[Launch], census: Census, wanted: int) -> Refusal | None:
    """Launch nodes, counted by weight, spread over the launches; they go to `census.own`. Answers why not all came."""
    open_, why = list(launches), None
    while wanted > 0 and open_:
        share = max(wanted // len(open_), 1)
        for launch in list(open_):
            if wanted <= 0:
                break
            number = -(-min(share, wanted) // launch.weight)
            started, refusal = _start(call, launch, census, number)
            wanted -= started * launch.weight
            if refusal is not None:
                why = why or refusal
                open_.remove(launch)
    return why if wanted > 0 else None


def _start(call: Call, launch: Launch, census: Census, wanted: int) -> tuple[int, Refusal | None]:
    started = 0
    for reservation, found in _rooms(call, launch, census):
        number = max(min(found.nodes, wanted - started), 0)
        if number:
            _add(census, launch, reservation, number)
            started += number
        if started == wanted:
            return started, None
        why = found.why
    return started, why


def _rooms(call: Call, launch: Launch, census: Census) -> Iterator[tuple[str, Room]]:
    """Where the nodes can run, in EC2's order: a reservation's id, or nothing for capacity that nobody holds."""
    try:
        judge_offered(call, launch.type, launch.zone)
    except Refusal as refusal:
        yield "", Room(0, refusal)
        return
    addresses = _by_addresses(launch, census)
    for reservation in _reservations(launch, census):
        record = call.find(RESERVATION, reservation)
        found = room_in(census, record, launch.type, launch.zone, launch.placement_group) if record else addresses
        yield reservation, min(found, addresses, key=lambda r: r.nodes)
        addresses = _by_addresses(launch, census)
    if _targets(launch.data):
        return
    if first(launch.data, "capacityReservationSpecification.capacityReservationPreference") == _ONLY:
        yield "", Room(0, no_capacity(call, launch.type, launch.zone, launch.purchase))
        return
    yield "", min(room(census, launch.type, launch.zone, launch.purchase), addresses, key=lambda r: r.nodes)


def _reservations(launch: Launch, census: Census) -> list[str]:
    """The targets, or the open reservations that match, unless they are declined."""
    targets = _targets(launch.data)
    preference = first(launch.data, "capacityReservationSpecification.capacityReservationPreference", "open")
    if targets or preference == "none" or launch.purchase != "on-demand":
        return targets
    return [
        record.id
        for record in census.call.others(RESERVATION)
        if record.inputs["instanceMatchCriteria"] == "open"
        and state_of(record) == "active"
        and room_in(census, record, launch.type, launch.zone, launch.placement_group).nodes > 0
    ]


def _by_addresses(launch: Launch, census: Census) -> Room:
    each = addresses_of(launch.interfaces)
    if launch.subnet is None or not each:
        return Room(1_000_000)
    why = Refusal(
        "InsufficientFreeAddressesInSubnet",
        f"There are not enough free addresses in subnet '{launch.subnet.id}' to satisfy the requested number of "
        f"instances; each takes {each}.",
    )
    return Room(free_addresses(census.call.tx, launch.subnet, census.here()) // each, why)


def _add(census: Census, launch: Launch, reservation: str, number: int) -> None:
    new = Nodes(
        ids=tuple(new_id("i") for _ in range(number)),
        type=launch.type,
        zone=launch.zone,
        purchase=launch.purchase,
        subnet=launch.subnet.id if launch.subnet else "",
        placement_group=launch.placement_group,
        reservation=reservation,
        security_groups=launch.security_groups,
        addresses=addresses_of(launch.interfaces),
        weight=launch.weight,
    )
    for i, alike in enumerate(census.own):
        if replace(alike, ids=()) == replace(new, ids=()):
            census.own[i] = replace(alike, ids=alike.ids + new.ids)
            return
    census.own.append(new)
