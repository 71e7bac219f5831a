"""Rules about reservations and Capacity Blocks: what they are called, what they hold and how they are placed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.catalog.records import AzureNodeType
from planning.facts.derive import Facts
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule
from planning.spec import Reserved

RESERVATIONS_AWS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html"
RESERVATIONS_AZURE = "https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview"
CAPACITY_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
IN_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html"
MOST_IN_A_BLOCK = 64
"""Instances of one Capacity Block. Source: EC2 user guide, Capacity Blocks for ML."""
AWS_ID = re.compile(r"cr-[0-9a-z]+")
AZURE_ID = re.compile(
    r"/subscriptions/[^/\s]+/resourceGroups/[^/\s]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/\s]+",
    re.I,
)
FROM_RESERVATION = ("reserved", "capacity-block")


@rule("reservation-missing", "error", reference="docs/spec.md")
def reservation_missing(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Reserved capacity and Capacity Blocks are named by id."""
    if spec.nodes.purchase in FROM_RESERVATION and spec.nodes.reservation is None:
        example = "cr-0123456789abcdef0" if spec.cloud == "aws" else "the id of a capacity reservation group"
        message = f"{spec.nodes.purchase} needs the id of a reservation"
        yield Fault("nodes.reservation", message, f"write nodes.reservation: {example}")


@rule("reservation-unused", "error", reference="https://github.com/aws/aws-parallelcluster/issues/4061")
def reservation_unused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A reservation is used only by nodes that are bought from it."""
    if spec.nodes.reservation is not None and spec.nodes.purchase not in FROM_RESERVATION:
        message = (
            f"{spec.nodes.purchase} nodes do not come from a reservation, so this one would be paid and stand empty"
        )
        fix = "write purchase: reserved or capacity-block, or remove the reservation"
        yield Fault("nodes.reservation", message, fix)


@rule("reservation-not-an-id", "error", reference=RESERVATIONS_AWS)
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
        fix = "write /subscriptions/…/resourceGroups/…/providers/Microsoft.Compute/capacityReservationGroups/…"
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
def capacity_block_too_large(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """One Capacity Block holds 64 instances."""
    if spec.nodes.purchase == "capacity-block" and spec.nodes.count > MOST_IN_A_BLOCK:
        message = f"a Capacity Block holds {MOST_IN_A_BLOCK} instances at most, and {spec.nodes.count} are asked for"
        yield Fault("nodes.count", message, f"write {MOST_IN_A_BLOCK} or fewer")


@rule("placement-around-block", "error", cloud="aws", reference=CAPACITY_BLOCKS)
def placement_around_block(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A Capacity Block is placed already; in a placement group it finds no capacity."""
    if spec.nodes.purchase == "capacity-block" and spec.nodes.placement == "cluster":
        message = (
            "a Capacity Block is placed close together already, and in a placement group its instances fail with "
            "InsufficientInstanceCapacity"
        )
        yield Fault("nodes.placement", message, "leave nodes.placement out")


@rule("placement-around-reservation", "error", cloud="aws", reference=IN_GROUPS)
def placement_around_reservation(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A reservation that was made outside of a placement group can not be used in one."""
    reservation = spec.nodes.reservation
    in_group = isinstance(reservation, Reserved) and reservation.placement_group is not None
    if spec.nodes.purchase == "reserved" and spec.nodes.placement == "cluster" and not in_group:
        message = (
            "a new placement group does not hold this reservation: nodes in the group fail with "
            "InsufficientInstanceCapacity though reserved capacity is left"
        )
        fix = "leave nodes.placement out, or name the group that it was made in: nodes.reservation.placement_group"
        yield Fault("nodes.placement", message, fix)


@rule("reservation-in-single-group", "error", cloud="azure", reference=RESERVATIONS_AZURE)
def reservation_in_single_group(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A capacity reservation does not go with a single placement group."""
    if spec.nodes.purchase == "reserved" and spec.nodes.placement == "cluster":
        message = "a scale set with a single placement group can not use a capacity reservation"
        yield Fault("nodes.placement", message, "write none, or purchase: on-demand")
