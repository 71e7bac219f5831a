"""Rules about how nodes are bought and started. Reservations: the module of that name."""

from __future__ import annotations

from collections.abc import Iterator

from planning.catalog import node_price
from planning.catalog.records import AwsNodeType
from planning.facts.capacity import FROM_RESERVATION, notice_of
from planning.facts.derive import Facts
from planning.facts.storage import written_in
from planning.rules.registry import AnySpec, Fault, rule

CAPACITY_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
FLEETS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instant-fleet.html"
ELASTIC = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-instance-protection.html"
GROUPS = {
    "aws": "https://docs.aws.amazon.com/autoscaling/ec2/userguide/asg-capacity-limits.html",
    "azure": "https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-autoscale-overview",
}
RESERVED_CAPACITY = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html"
SPOT_NOTICE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"
SPOT_STOP = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html"
MOST_RESERVED_AT_ONCE = 1000
"""Instances of one CreateCapacityReservation, and of one fleet's MinTargetCapacity. Source: EC2 API reference."""


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
    """One reservation or fleet, which makes the start atomic, holds 1000 instances."""
    if isinstance(facts.node, AwsNodeType) and facts.capacity.gang and spec.nodes.count > MOST_RESERVED_AT_ONCE:
        message = (
            f"an all-or-none start gets all nodes in one call, which takes {MOST_RESERVED_AT_ONCE:,} instances at "
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


@rule("gang-of-reserved", "info", cloud="aws", reference=RESERVED_CAPACITY)
def gang_of_reserved(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Capacity that is reserved already is taken node by node; what makes a start whole is that it is free."""
    if spec.nodes.start == "gang" and spec.nodes.purchase in FROM_RESERVATION:
        message = (
            "nodes come out of a reservation one by one: where others use a part of it, the run fails, and the nodes "
            "that did start stay"
        )
        yield Fault("nodes.start", message, "leave nodes.start out, and see that nothing else uses the reservation")


@rule("max-count-unused", "error", reference=GROUPS)
def max_count_unused(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """An upper bound is for groups that may grow."""
    if spec.nodes.max_count is not None and not facts.capacity.elastic:
        message = f"nodes start as one gang of {spec.nodes.count}, which nothing grows to {spec.nodes.max_count}"
        yield Fault("nodes.max_count", message, "write nodes.start: elastic, or remove max_count")


@rule("max-count-below-count", "error", reference=GROUPS)
def max_count_below_count(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A group starts with no more nodes than it may have."""
    most = spec.nodes.max_count
    if most is not None and most < spec.nodes.count:
        message = f"the group may have {most} nodes at most, and starts with {spec.nodes.count}"
        yield Fault("nodes.max_count", message, f"write {spec.nodes.count} or more")


@rule("elastic-start", "info", cloud="aws", reference=ELASTIC)
def elastic_start(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """An elastic group takes what comes, which a run does not wait for."""
    if facts.capacity.elastic:
        message = "the run ends before the nodes are there, and succeeds with fewer of them; no later run scales back"
        yield Fault("nodes.start", message, "write gang for a job that needs all of its nodes")


@rule(
    "elastic-on-azure",
    "info",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-autoscale-overview",
)
def elastic_on_azure(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """On Azure an elastic scale set starts like any other; what is elastic is that no later run undoes its scaling."""
    if facts.capacity.elastic:
        bound = f", and nothing holds it at {spec.nodes.max_count}" if spec.nodes.max_count is not None else ""
        message = f"the scale set starts whole or its run fails; no later run undoes how it was scaled{bound}"
        fix = "scale it by `az vmss scale`; addresses and quota are planned for max_count"
        yield Fault("nodes.start", message, fix)


@rule("spot-options-unused", "error", reference="docs/spec.md")
def spot_options_unused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Options of spot are for nodes that are bought so."""
    if spec.nodes.spot is not None and spec.nodes.purchase != "spot":
        message = f"nodes are bought {spec.nodes.purchase}, so that neither a spot price nor an eviction concerns them"
        yield Fault("nodes.spot", message, "write purchase: spot, or remove nodes.spot")


@rule("spot-can-not-stop", "error", cloud="aws", reference=SPOT_STOP)
def spot_can_not_stop(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """In a placement group EC2 does not stop spot nodes, it terminates them."""
    if spec.nodes.spot is not None and spec.nodes.spot.on_eviction == "deallocate":
        message = "EC2 keeps no interrupted spot node of a placement group or a fleet that starts at once"
        yield Fault("nodes.spot.on_eviction", message, "write delete, or leave it out")


@rule(
    "spot-price-digits",
    "error",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machines/spot-vms#pricing",
)
def spot_price_digits(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Azure takes a spot price with five decimals."""
    price = spec.nodes.spot.max_price if spec.nodes.spot is not None else None
    if price is not None and round(price, 5) != price:
        yield Fault(
            "nodes.spot.max_price",
            f"{price} has more decimals than the five that Azure takes",
            f"write {max(price, 0.00001):.5f}",
        )


@rule("spot-evicted", "info", cloud="azure", reference="https://learn.microsoft.com/azure/virtual-machines/spot-vms")
def spot_evicted(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Azure takes spot nodes back after half a minute's notice; the disk decides what is left of one."""
    if facts.capacity.purchase == "spot":
        left = "deleted" if facts.capacity.eviction == "delete" else "deallocated, and its disk and quota stay"
        message = (
            "Azure takes spot nodes back with 30 seconds' notice at best (a Preempt event among the metadata "
            f"service's scheduled events){_written(spec, facts)}; such a node is {left}"
        )
        again = "`pulumi up --refresh` asks for the missing nodes again"
        if facts.capacity.eviction == "deallocate":
            again = "`az vmss start` starts it again"
        elif facts.capacity.elastic:
            again = "`az vmss scale` asks for the missing nodes again"
        yield Fault("nodes.purchase", message, f"save often; {again}")


@rule("spot-price-too-low", "warning", reference="docs/spec.md")
def spot_price_too_low(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Nodes start where the spot price is no higher than the most that is paid."""
    most = spec.nodes.spot.max_price if spec.nodes.spot is not None else None
    price = node_price(spec.nodes.type, spec.region, "spot")
    if spec.nodes.purchase == "spot" and most is not None and price is not None and most < price.usd:
        message = (
            f"no node starts while spot costs more than {most:g} USD an hour, and it was {price.usd} on {price.date}"
        )
        yield Fault("nodes.spot.max_price", message, f"write {price.usd} or more, or leave max_price out")


@rule("spot-taken-back", "info", cloud="aws", reference=SPOT_NOTICE)
def spot_taken_back(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """EC2 takes spot nodes back after two minutes' notice, those of an elastic group as well."""
    if facts.capacity.purchase == "spot" and not facts.capacity.gang:
        message = (
            f"EC2 takes spot nodes back with two minutes' notice{_written(spec, facts)}; the group asks for others"
        )
        yield Fault("nodes.purchase", message, "save often, and let the job go on with the nodes that are left")


@rule("spot-gang-not-mended", "info", cloud="aws", reference=FLEETS)
def spot_gang_not_mended(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A spot gang is launched once; EC2 takes nodes back after two minutes' notice and nothing starts others."""
    if facts.capacity.purchase == "spot" and facts.capacity.gang:
        message = (
            f"EC2 takes spot nodes back with two minutes' notice{_written(spec, facts)}, and a gang is launched once: "
            "nothing starts a node in the place of a lost one, and another count launches all anew"
        )
        fix = (
            "keep checkpoints under two minutes; a run with --refresh tells of lost nodes, and `pulumi up --replace` "
            "of the fleet launches all again"
        )
        yield Fault("nodes.purchase", message, fix)


def _written(spec: AnySpec, facts: Facts) -> str:
    """What the filesystem takes in the notice, where the size of a checkpoint is not said."""
    notice, lustre = notice_of(spec), facts.lustre
    if notice is None or lustre is None or spec.storage.objects.checkpoints.size is not None:
        return ""
    return f", in which the filesystem takes {written_in(notice, lustre.throughput_mbps):,} GiB at best"
