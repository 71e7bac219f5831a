"""A run on so many nodes of one type: time, memory, filesystem, checkpoints, failures; and how many nodes end it in
time.

Which of the answers to take: `planning.sizing.advise`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from planning import catalog
from planning.catalog.records import Cloud, NodeType
from planning.sizing.checkpoints import checkpoint_bytes
from planning.sizing.compute import flops_per_token, gpu_hours
from planning.sizing.fabric import client_gb_per_second, limit_of, round_up
from planning.sizing.failures import BURNED_IN_GPU_HOURS, NEW_CLUSTER_GPU_HOURS, Failures, failures_of
from planning.sizing.filesystem import CHECKPOINTS_KEPT, Lustre, lustre_for
from planning.sizing.gpus import Accelerator, accelerator, accelerator_of
from planning.sizing.layout import Fit, Setting, best_layout, fewest_nodes
from planning.sizing.purchases import usd_of
from planning.sizing.runs import Constraints, Run
from planning.sizing.utilisation import GOODPUT, Utilisation, measured, predict

USUAL_DAYS = 30
"""A run without a deadline gets the nodes that end it in about this time (ours)."""
MOST_FABRICS = 16
"""Nodes are looked for up to so many times what one fabric holds, to say how far off an answer is."""
ONE_NODE_BYTES = 2 * 10**12
"""One node whose checkpoints and data are smaller keeps them on its own disks and in object storage (ours)."""


@dataclass(frozen=True, slots=True)
class Span:
    low: float
    likely: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A run on so many nodes of one type: everything that can be computed, whether or not it is wanted."""

    run: Run
    node: NodeType
    region: str
    nodes: int
    fit: Fit | None
    """None where no split of the model fits."""
    utilisation: Utilisation
    checkpoint_bytes: int
    filesystem: Lustre | None
    """None where the node's own disks and object storage do."""
    write_s: float
    """Of one checkpoint."""
    failures: Failures
    failures_span: tuple[float, float]
    """Share of time lost on a burned-in cluster, and on a new one."""

    @property
    def gpu(self) -> Accelerator:
        return accelerator_of(self.node)

    @property
    def gpus(self) -> int:
        return self.nodes * self.node.gpus

    @property
    def flops(self) -> float:
        return flops_per_token(self.run.model) * self.run.tokens

    @property
    def gpu_hours(self) -> Span:
        by = self.utilisation
        return Span(*(gpu_hours(self.flops, self.gpu, mfu) for mfu in (by.high, by.likely, by.low)))

    @property
    def node_hours(self) -> Span:
        return _scaled(self.gpu_hours, 1 / self.node.gpus)

    @property
    def days(self) -> Span:
        return _scaled(self.gpu_hours, 1 / self.gpus / 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another node type of the same cloud for the same run in the same time."""

    node_type: str
    nodes: int
    days: Span
    usd: Decimal | None


def estimate(run: Run, node: NodeType, region: str, nodes: int, constraints: Constraints) -> Estimate:
    size = checkpoint_bytes(run.model, run.optimizer)
    rate = constraints.gpu_hours_per_failure
    gpus = nodes * node.gpus
    lustre = None
    if nodes > 1 or CHECKPOINTS_KEPT * size + run.dataset_bytes > ONE_NODE_BYTES:
        lustre = lustre_for(
            node,
            nodes,
            checkpoint_bytes=size,
            dataset_bytes=run.dataset_bytes,
            mtbf_s=rate * 3600 / gpus,
            region=region,
        )
    # To object storage, a node writes no faster than to Lustre.
    write_s = lustre.write_s if lustre else size / (client_gb_per_second(node) * 1e9)
    failures = failures_of(gpus, write_s, gpu_hours_per_failure=rate)
    ends = (BURNED_IN_GPU_HOURS, NEW_CLUSTER_GPU_HOURS)
    burned, new = (
        failures_of(gpus, write_s, gpu_hours_per_failure=end, asynchronous=failures.asynchronous).lost for end in ends
    )
    return Estimate(
        run=run,
        node=node,
        region=region,
        nodes=nodes,
        fit=best_layout(setting_of(run, node), nodes),
        utilisation=_utilisation(run, node, nodes, min(GOODPUT, max(0.01, 1 - failures.lost))),
        checkpoint_bytes=size,
        filesystem=lustre,
        write_s=write_s,
        failures=failures,
        failures_span=(burned, new),
    )


def _utilisation(run: Run, node: NodeType, nodes: int, goodput: float) -> Utilisation:
    gpu = accelerator_of(node)
    if run.mfu is not None:
        return measured(gpu, run.mfu, goodput)
    return predict(run.model, gpu, nodes=nodes, sequence=run.sequence, precision=run.precision, goodput=goodput)


def nodes_needed(run: Run, node: NodeType, region: str, constraints: Constraints, *, slow: bool = False) -> int | None:
    """The fewest nodes, of a count that is sold, that hold the model and end it in time; `slow`: at the low end of
    utilisation.

    May be more than one fabric has. None: however many, they never do.
    """
    days = constraints.deadline_days or USUAL_DAYS
    floor = fewest_nodes(setting_of(run, node))
    if floor is None:
        return None
    nodes = floor
    most = MOST_FABRICS * max(limit_of(node).nodes, floor)
    while nodes <= most:
        plan = estimate(run, node, region, nodes, constraints)
        takes = plan.days.high if slow else plan.days.likely
        if takes <= days:
            return next((n for n in (round_up(node, nodes), nodes) if best_layout(setting_of(run, node), n)), None)
        # More nodes lose a little more each, so that this does not go past the answer.
        nodes = max(nodes + 1, int(nodes * max(takes / days, 1.002)))
    return None


def alternatives(run: Run, chosen: NodeType, region: str, constraints: Constraints) -> Iterator[Alternative]:
    """Other types of the cloud that end the run in time on one fabric, cheapest first."""
    found = []
    for node in candidates(chosen.cloud):
        if node.name == chosen.name or (run.precision == "fp8" and not accelerator_of(node).fp8_tflops):
            continue
        needed = nodes_needed(run, node, region, constraints)
        if needed is not None and needed <= limit_of(node).nodes:
            plan = estimate(run, node, region, needed, constraints)
            price = constraints.prices.node(node.name, region, constraints.purchase)
            usd = usd_of(price, plan.node_hours.likely)
            found.append(Alternative(node_type=node.name, nodes=needed, days=plan.days, usd=usd))
    yield from sorted(found, key=lambda each: (each.usd is None, each.usd or 0, each.nodes))


def candidates(cloud: Cloud) -> list[NodeType]:
    return [node for node in catalog.node_types(cloud).values() if accelerator(node.accelerator)]


def setting_of(run: Run, node: NodeType) -> Setting:
    return Setting(
        model=run.model,
        node=node,
        sequence=run.sequence,
        batch_tokens=run.batch_tokens,
        optimizer=run.optimizer,
    )


def _scaled(span: Span, by: float) -> Span:
    return Span(span.low * by, span.likely * by, span.high * by)
