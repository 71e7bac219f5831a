"""Rules about reservations and Capacity Blocks: what they are called, what they hold and how they are placed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from planning.azureids import example, resource_id
from planning.catalog.records import AzureNodeType
from planning.facts.capacity import FROM_RESERVATION
from planning.facts.derive import Facts
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule
from planning.spec import BuyBlock, Reserved

RESERVATIONS_AWS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html"
RESERVATIONS_AZURE = "https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview"
RESERVATIONS = {"aws": RESERVATIONS_AWS, "azure": RESERVATIONS_AZURE}
CAPACITY_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
IN_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html"
MOST_IN_A_BLOCK = 64
"""Instances of one Capacity Block. Source: EC2 user guide, Capacity Blocks for ML."""
AWS_ID = re.compile(r"cr-[0-9a-f]+")
OFFERING = re.compile(r"cb-[0-9a-z]+")
AZURE_ID = resource_id("Microsoft.Compute", r"capacityReservationGroups/[\w.-]{1,80}")
FUTURE_DATED = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-concepts.html"
MOST_AHEAD = timedelta(weeks=8)
"""Source: EC2 user guide, Capacity Blocks for ML."""
LAST_DAYS = 7
"""Of a Capacity Block: its end is told so long before."""


@rule("reservation-missing", "error", reference="docs/spec.md")
def reservation_missing(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Reserved capacity and Capacity Blocks are named by id."""
    said_by_others = spec.cloud == "azure" and spec.nodes.purchase == "capacity-block"
    if spec.nodes.purchase in FROM_RESERVATION and spec.nodes.reservation is None and not said_by_others:
        example = "cr-0123456789abcdef0" if spec.cloud == "aws" else "the id of a capacity reservation group"
        message = f"{spec.nodes.purchase} needs the id of a reservation"
        yield Fault("nodes.reservation", message, f"write nodes.reservation: {example}")


@rule("reservation-unused", "error", reference=RESERVATIONS)
def reservation_unused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A reservation is used only by nodes that are bought from it."""
    if spec.nodes.reservation is not None and spec.nodes.purchase not in FROM_RESERVATION:
        message = (
            f"{spec.nodes.purchase} nodes do not come from a reservation, so this one would be paid and stand empty"
        )
        fix = "write purchase: reserved or capacity-block, or remove the reservation"
        yield Fault("nodes.reservation", message, fix)


@rule("reservation-not-an-id", "error", reference=RESERVATIONS)
def reservation_not_an_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A reservation is named as its cloud names it."""
    reservation = spec.nodes.reservation
    path = "nodes.reservation.id" if isinstance(reservation, Reserved) else "nodes.reservation"
    name = reservation.id if isinstance(reservation, Reserved) else reservation
    if not isinstance(name, str):
        return
    if spec.cloud == "aws" and not AWS_ID.fullmatch(name):
        message = f"{shown(name)} is no capacity reservation or Capacity Block: their ids begin with cr-"
        yield Fault(path, message, "write an id such as cr-0123456789abcdef0")
    if spec.cloud == "azure" and not AZURE_ID.fullmatch(name):
        fix = f"write an id such as {example('Microsoft.Compute/capacityReservationGroups/research')}"
        yield Fault(path, f"{shown(name)} is not the id of a capacity reservation group", fix)


@rule("reservation-not-for-the-size", "error", cloud="azure", reference=RESERVATIONS_AZURE)
def reservation_not_for_the_size(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Capacity reservations exist for few GPU sizes; reserved instances are a discount, not capacity."""
    node = facts.node
    if isinstance(node, AzureNodeType) and spec.nodes.purchase == "reserved" and not node.capacity_reservation:
        message = (
            f"Azure takes no capacity reservation for {node.name}; reserved instances are a billing discount and hold "
            "no capacity"
        )
        yield Fault("nodes.purchase", message, "write on-demand or spot")


@rule("capacity-block-too-large", "error", cloud="aws", reference=CAPACITY_BLOCKS)
def capacity_block_too_large(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """One Capacity Block holds 64 instances."""
    if spec.nodes.purchase == "capacity-block" and facts.capacity.most > MOST_IN_A_BLOCK:
        message = f"a Capacity Block holds {MOST_IN_A_BLOCK} instances at most, and {facts.capacity.most} are asked for"
        yield Fault("nodes.count", message, f"write {MOST_IN_A_BLOCK} or fewer")


@rule("placement-around-block", "error", cloud="aws", reference=CAPACITY_BLOCKS)
def placement_around_block(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A Capacity Block is placed already; in a placement group it finds no capacity."""
    message = (
        "a Capacity Block is placed close together already, and in a placement group its instances fail with "
        "InsufficientInstanceCapacity"
    )
    if spec.nodes.purchase == "capacity-block" and spec.nodes.placement == "cluster":
        yield Fault("nodes.placement", message, "leave nodes.placement out")
    if spec.nodes.purchase == "capacity-block" and facts.capacity.placement_group is not None:
        yield Fault("nodes.reservation.placement_group", message, "leave placement_group out")


@rule("placement-around-reservation", "error", cloud="aws", reference=IN_GROUPS)
def placement_around_reservation(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A reservation serves the placement group that it was made in, or none where it was made in none."""
    reservation = spec.nodes.reservation
    in_group = isinstance(reservation, Reserved) and reservation.placement_group is not None
    if spec.nodes.purchase == "reserved" and spec.nodes.placement == "cluster" and not in_group:
        message = (
            "a new placement group does not hold this reservation: nodes in the group fail with "
            "InsufficientInstanceCapacity though reserved capacity is left"
        )
        fix = "leave nodes.placement out, or name the group that it was made in: nodes.reservation.placement_group"
        yield Fault("nodes.placement", message, fix)
    if spec.nodes.purchase == "reserved" and spec.nodes.placement == "none" and in_group:
        message = (
            "the reservation was made in a placement group and serves launches into that group only: nodes outside of "
            "it fail with InsufficientInstanceCapacity though reserved capacity is left"
        )
        yield Fault("nodes.placement", message, "leave nodes.placement out, or remove placement_group")


@rule("reservation-group-on-azure", "warning", cloud="azure", reference=RESERVATIONS_AZURE)
def reservation_group_on_azure(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Placement groups around reservations are AWS's; on Azure nothing is done with one."""
    known = spec.nodes.reservation
    if isinstance(known, Reserved) and known.placement_group is not None:
        message = "a placement group goes with reservations of AWS, and nothing is done with it here"
        yield Fault("nodes.reservation.placement_group", message, "remove it")


@rule("reservation-in-single-group", "error", cloud="azure", reference=RESERVATIONS_AZURE)
def reservation_in_single_group(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A capacity reservation does not go with a single placement group."""
    if spec.nodes.purchase == "reserved" and spec.nodes.placement == "cluster":
        message = "a scale set with a single placement group can not use a capacity reservation"
        yield Fault("nodes.placement", message, "write none, or purchase: on-demand")


@rule("reservation-too-small", "error", reference=RESERVATIONS)
def reservation_too_small(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A reservation holds all the nodes that are asked of it."""
    known, most = spec.nodes.reservation, facts.capacity.most
    if isinstance(known, Reserved) and known.count is not None and known.count < most:
        message = f"{known.id} holds {known.count} instances, and {most} nodes are asked of it"
        yield Fault("nodes.count", message, f"write {known.count} or fewer")


@rule("reservation-partly-used", "warning", reference=RESERVATIONS)
def reservation_partly_used(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Reserved instances are paid whether they are used or not."""
    known, most = spec.nodes.reservation, facts.capacity.most
    if isinstance(known, Reserved) and known.count is not None and known.count > most:
        message = f"{known.id} holds {known.count} instances, of which {known.count - most} are paid and stand empty"
        yield Fault("nodes.count", message, f"write {known.count}, or make the reservation smaller")


@rule("reservation-in-other-zone", "error", reference=RESERVATIONS)
def reservation_in_other_zone(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Nodes start in the zone of their reservation."""
    known = spec.nodes.reservation
    if isinstance(known, Reserved) and known.zone is not None and known.zone != spec.zone:
        message = f"{known.id} is in {known.zone}, and the cluster is in {spec.zone or 'no zone'}"
        yield Fault("zone", message, f"write the same zone in both: AWS as a zone id, such as {spec.zone}")


@rule("reservation-dates", "error", reference={"aws": CAPACITY_BLOCKS, "azure": RESERVATIONS_AZURE})
def reservation_dates(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A reservation begins before it ends, and has not ended."""
    known = spec.nodes.reservation
    if not isinstance(known, Reserved) or known.end is None:
        return
    if known.start is not None and known.end <= known.start:
        message = f"it ends on {known.end}, and begins on {known.start}"
        yield Fault("nodes.reservation.end", message, f"write a day after {known.start}")
    elif known.end < facts.today:
        message = f"{known.id} ended on {known.end}: no node starts from it any more"
        yield Fault("nodes.reservation.end", message, "take another reservation, or purchase: on-demand")


@rule("reservation-future-dated", "error", cloud="aws", reference=FUTURE_DATED)
def reservation_future_dated(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Reservations that begin later exist for families without accelerators only."""
    known = spec.nodes.reservation
    later = isinstance(known, Reserved) and known.start is not None and known.start > facts.today
    if later and spec.nodes.purchase == "reserved":
        message = (
            f"a reservation that begins later is made for the families C, M, R, I, T and G only, and {spec.nodes.type} "
            "has a Capacity Block for that"
        )
        yield Fault("nodes.reservation.start", message, "write purchase: capacity-block, or remove start")


@rule("capacity-block-not-begun", "warning", cloud="aws", reference=CAPACITY_BLOCKS)
def capacity_block_not_begun(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Before a Capacity Block begins its nodes can not start."""
    begins = facts.capacity.begins
    if begins is not None and begins > facts.today:
        message = f"the Capacity Block begins on {begins}, and until then no node can start: the group asks for none"
        yield Fault("nodes.reservation.start", message, f"run `pulumi up` again on {begins} after 11:30 UTC")


@rule("capacity-block-begins-today", "warning", cloud="aws", reference=CAPACITY_BLOCKS)
def capacity_block_begins_today(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """On its first day a Capacity Block has nodes from 11:30 UTC on, and a spec says no hour."""
    if facts.capacity.begins == facts.today and facts.capacity.now:
        message = f"the Capacity Block begins today, {facts.today}, and before 11:30 UTC EC2 starts none of its nodes"
        yield Fault("nodes.reservation.start", message, "run `pulumi up` after 11:30 UTC")


@rule("capacity-block-too-far", "warning", cloud="aws", reference=CAPACITY_BLOCKS)
def capacity_block_too_far(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Capacity Blocks are sold for a start within eight weeks."""
    begins = facts.capacity.begins
    if begins is not None and begins > facts.today + MOST_AHEAD:
        last = facts.today + MOST_AHEAD
        message = f"the Capacity Block begins on {begins}, and AWS sells none that begin after {last}, 8 weeks from now"
        yield Fault(
            "nodes.reservation.start", message, "see what the block itself says: aws ec2 describe-capacity-blocks"
        )


@rule("capacity-block-ends", "warning", cloud="aws", reference=CAPACITY_BLOCKS)
def capacity_block_ends(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """EC2 ends the nodes of a Capacity Block half an hour before its end."""
    ends = facts.capacity.ends
    if spec.nodes.purchase == "capacity-block" and ends is not None and 0 <= (ends - facts.today).days <= LAST_DAYS:
        message = f"the Capacity Block ends on {ends}, and EC2 terminates its nodes from 30 minutes before that on"
        fix = "take the last checkpoint 40 minutes before the end, and extend the block or write running: false"
        yield Fault("nodes.reservation.end", message, fix)


@rule("capacity-block-bought", "warning", cloud="aws", reference=CAPACITY_BLOCKS)
def capacity_block_bought(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A Capacity Block is paid in whole when it is bought, and never given back."""
    offer = spec.nodes.reservation
    if isinstance(offer, BuyBlock) and spec.nodes.purchase == "capacity-block":
        message = f"the first `pulumi up` buys {shown(offer.buy)}: all of it is paid at once, and nothing gives it back"
        fix = f"see that the offering is for {spec.nodes.count} {spec.nodes.type} in {spec.zone}"
        yield Fault("nodes.reservation.buy", message, fix)


@rule("offering-not-an-id", "error", cloud="aws", reference=CAPACITY_BLOCKS)
def offering_not_an_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """What is bought is an offering, not a block that is there."""
    offer = spec.nodes.reservation
    if isinstance(offer, BuyBlock) and not OFFERING.fullmatch(offer.buy):
        message = f"{shown(offer.buy)} is no offering of a Capacity Block: their ids begin with cb-"
        yield Fault("nodes.reservation.buy", message, "write an id such as cb-0123456789abcdef0")


@rule("reservation-still-paid", "warning", reference=RESERVATIONS)
def reservation_still_paid(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Stopped nodes leave a reservation of one's own as it is, and paid."""
    if not spec.nodes.running and spec.nodes.purchase in FROM_RESERVATION:
        message = "no node runs, and the reservation that they come from is paid all the same; no price line counts it"
        yield Fault("nodes.running", message, "cancel the reservation, if it can be, or use it")


@rule("purchase-without-block", "error", reference={"aws": CAPACITY_BLOCKS, "azure": RESERVATIONS_AZURE})
def purchase_without_block(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Only Capacity Blocks are bought by offering."""
    if isinstance(spec.nodes.reservation, BuyBlock) and spec.nodes.purchase == "reserved":
        message = "an offering is that of a Capacity Block, and reserved nodes come from a reservation that is there"
        yield Fault("nodes.reservation", message, "write purchase: capacity-block, or the reservation's id")
