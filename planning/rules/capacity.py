"""Rules about how nodes are bought and started."""

from __future__ import annotations

from collections.abc import Iterator

from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule

RESERVATIONS_AZURE = "https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview"
CAPACITY_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
MOST_RESERVED_AT_ONCE = 1000
"""Instances of one CreateCapacityReservation. Source: EC2 API reference."""


def starts_as_gang(spec: AnySpec) -> bool:
    return spec.nodes.start == "gang" or (spec.nodes.start == "auto" and spec.nodes.purchase in ("on-demand", "spot"))


@rule("capacity-block-on-azure", "error", cloud="azure", reference=CAPACITY_BLOCKS, waivable=False)
def capacity_block_on_azure(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Capacity Blocks are sold by AWS only."""
    if spec.nodes.purchase == "capacity-block":
        yield Fault(
            "nodes.purchase",
            "Capacity Blocks are sold by AWS only; Azure has no twin of them",
            "write on-demand or spot",
        )


@rule("purchase-not-offered", "error", reference="docs/spec.md", waivable=False)
def purchase_not_offered(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The node type can be bought in the way that is asked for."""
    node, purchase = facts.node, spec.nodes.purchase
    if (
        node is None
        or purchase in node.purchase
        or purchase == "reserved"
        or (spec.cloud == "azure" and purchase == "capacity-block")
    ):
        return
    offered = ", ".join(node.purchase)
    yield Fault(
        "nodes.purchase",
        f"{node.name} is not sold as {purchase}, but as {offered}",
        f"write {node.purchase[0]}",
    )


@rule("reservation-missing", "error", reference="docs/spec.md")
def reservation_missing(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Reserved capacity and Capacity Blocks are named by id."""
    if spec.nodes.purchase in ("reserved", "capacity-block") and spec.nodes.reservation is None:
        example = "cr-0123456789abcdef0" if spec.cloud == "aws" else "the id of a capacity reservation group"
        yield Fault(
            "nodes.reservation",
            f"{spec.nodes.purchase} needs the id of a reservation",
            f"write nodes.reservation: {example}",
        )


@rule("reservation-unused", "error", reference="https://github.com/aws/aws-parallelcluster/issues/4061")
def reservation_unused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A reservation is used only by nodes that are bought from it."""
    if spec.nodes.reservation is not None and spec.nodes.purchase in ("on-demand", "spot"):
        message = (
            f"{spec.nodes.purchase} nodes do not come from a reservation, so this one would be paid and stand empty"
        )
        yield Fault(
            "nodes.reservation",
            message,
            "write purchase: reserved or capacity-block, or remove the reservation",
        )


@rule("reservation-not-for-the-size", "error", cloud="azure", reference=RESERVATIONS_AZURE)
def reservation_not_for_the_size(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Capacity reservations exist for few GPU sizes; reserved instances are a discount, not capacity."""
    if (
        isinstance(facts.node, AzureNodeType)
        and spec.nodes.purchase == "reserved"
        and not facts.node.capacity_reservation
    ):
        message = f"Azure takes no capacity reservation for {facts.node.name}; reserved instances are a billing discount and hold no capacity"
        yield Fault("nodes.purchase", message, "write on-demand or spot")


@rule(
    "gang-above-limit",
    "error",
    cloud="aws",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html",
)
def gang_above_limit(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """One reservation, which makes the start atomic, holds 1000 instances."""
    if isinstance(facts.node, AwsNodeType) and starts_as_gang(spec) and spec.nodes.count > MOST_RESERVED_AT_ONCE:
        message = f"all-or-none start reserves all nodes in one call, which takes 1,000 instances, and {spec.nodes.count} are asked for"
        yield Fault("nodes.count", message, "write 1000 or fewer, or nodes.start: elastic")


@rule(
    "ultraserver-size",
    "error",
    cloud="aws",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-ultraservers.html",
)
def ultraserver_size(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """UltraServers come whole."""
    sizes = getattr(facts.node, "ultraserver_sizes", ())
    if sizes and spec.nodes.count not in sizes:
        legal = " or ".join(str(s) for s in sizes)
        yield Fault(
            "nodes.count",
            f"{spec.nodes.type} comes in UltraServers of {legal} nodes, and {spec.nodes.count} is neither",
            f"write {legal}",
        )


@rule(
    "no-atomic-start",
    "info",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machine-scale-sets/",
)
def no_atomic_start(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Azure has no all-or-none start: a scale set may come up half and bill."""
    if spec.nodes.start == "gang":
        message = "Azure has no all-or-none start: where capacity runs out, the deployment fails and the nodes made so far are billed"
        yield Fault("nodes.start", message, "after a failure, set nodes.running: false until capacity is there")
