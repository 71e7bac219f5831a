"""Rules about how nodes are bought and started. Reservations: the module of that name."""

from __future__ import annotations

from collections.abc import Iterator

from planning.catalog.records import AwsNodeType
from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule

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
    said_by_others = spec.cloud == "azure" and purchase in ("reserved", "capacity-block")
    if node is None or purchase in node.purchase or said_by_others:
        return
    offered = ", ".join(node.purchase)
    yield Fault(
        "nodes.purchase",
        f"{node.name} is not sold as {purchase}, but as {offered}",
        f"write {node.purchase[0]}",
    )


@rule(
    "gang-above-limit",
    "error",
    cloud="aws",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html",
)
def gang_above_limit(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """One reservation, which makes the start atomic, holds 1000 instances."""
    if isinstance(facts.node, AwsNodeType) and starts_as_gang(spec) and spec.nodes.count > MOST_RESERVED_AT_ONCE:
        message = (
            f"an all-or-none start reserves all nodes in one call, which takes {MOST_RESERVED_AT_ONCE:,} instances at "
            f"most, and {spec.nodes.count:,} are asked for"
        )
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
        message = (
            "Azure has no all-or-none start: where capacity runs out, the deployment fails and the nodes made so far "
            "are billed"
        )
        yield Fault("nodes.start", message, "after a failure, set nodes.running: false until capacity is there")
