"""What a cluster can and can not, beside its money: capacity, start, limits, fabric, storage."""

from __future__ import annotations

from collections.abc import Iterator

from planning import catalog
from planning.facts.capacity import SPOT_NOTICE_SECONDS
from planning.facts.storage import seconds_to_write
from planning.plan import Plan
from planning.sizing.fabric import limit_of

BLOCKS = {
    "aws": "Capacity Blocks of up to 64 nodes, paid up front, for 1 to 182 days",
    "azure": "none: reservations exist for few sizes, and reserved instances are a discount, no capacity",
}
LINKS = {
    "aws": "the filesystem follows the bucket, both ways",
    "azure": "imports once, exports by a job; shared keys have to be on",
}


def capabilities(plan: Plan) -> Iterator[tuple[str, str]]:
    nodes, fabric = plan.nodes, plan.fabric
    node = catalog.node_type(nodes.type)
    yield "nodes", f"{nodes.count:,} x {nodes.type}, {nodes.count * nodes.gpus:,} GPUs of {nodes.gpu_memory_gib:g} GiB"
    yield "fabric", f"{fabric.kind}, {fabric.gbps_per_node:,} Gbit/s a node"
    if node is not None:
        limit = limit_of(node)
        further = f" ({limit.further} by ticket)" if limit.further else ""
        yield "most nodes of one fabric", f"{limit.nodes:,}{further}: {limit.why}"
    yield "start", _start(plan)
    yield "capacity ahead", BLOCKS[plan.cloud]
    yield "spot notice", f"{SPOT_NOTICE_SECONDS[plan.cloud]} s" + (", best effort" if plan.cloud == "azure" else "")
    yield "filesystem", _filesystem(plan)
    tiers = ", ".join(f"{tier.mbps_per_tib} in {tier.step_gib:,} GiB" for tier in catalog.lustre_tiers(plan.cloud))
    yield "filesystem tiers and steps", f"MB/s per TiB: {tiers}"
    yield "filesystem backups", "daily, and a final one" if plan.cloud == "aws" else "none of its own"
    yield "filesystem and objects", LINKS[plan.cloud]


def _start(plan: Plan) -> str:
    if plan.cloud == "azure":
        return "not atomic: a scale set may come up in part, and bill for it"
    return {
        "reservation": "all nodes or none, through a reservation that costs nothing when it is refused",
        "fleet": "all nodes or none, by an instant fleet",
        "group": "as capacity comes",
    }[plan.nodes.capacity.start]


def _filesystem(plan: Plan) -> str:
    made = plan.filesystem
    if made is None:
        return "none"
    if made.existing is not None:
        return f"{made.existing}, which exists"
    size, mbps = plan.objects.checkpoint_gib, made.mbps or 0
    written = f"; a checkpoint takes {seconds_to_write(size, mbps):,.0f} s at best" if size and mbps else ""
    efa = " over EFA" if made.efa else ""
    return f"{made.capacity_gib:,} GiB, {mbps / 1000:.1f} GB/s{efa}{written}"
