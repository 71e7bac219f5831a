"""A recommendation in words: the arithmetic behind each number, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planning.catalog.records import Cloud
from planning.sizing.advise import Recommendation
from planning.sizing.estimates import Estimate
from planning.sizing.fabric import ULTRACLUSTER
from planning.sizing.failures import BURNED_IN_GPU_HOURS, NEW_CLUSTER_GPU_HOURS
from planning.sizing.filesystem import CHECKPOINTS_KEPT, FULLEST
from planning.sizing.gpus import GIB
from planning.sizing.memory import STATES
from planning.sizing.runs import Constraints
from planning.sizing.utilisation import GOODPUT, factors
from planning.units import show_size

WAITS_TOO_LONG = 1.0
"""Time lost in the best split over time at work, beyond which the time that whole published runs took says nothing."""
OWN_NAMES: dict[Cloud, str] = {"aws": "FSx for Lustre", "azure": "Azure Managed Lustre"}


@dataclass(frozen=True, slots=True)
class Line:
    topic: str
    text: str


def arithmetic(found: Recommendation) -> tuple[Line, ...]:
    """How each number comes about, in the order in which one follows from the other."""
    of = found.estimate
    return tuple(
        Line(topic, text)
        for topic, text in (
            ("work", _work(of)),
            ("utilisation", _utilisation(of)),
            ("time", _time(of)),
            ("memory", _memory(of)),
            (
                "memory floor",
                f"the model in training takes {_nodes(found.memory_floor_nodes)} of {of.node.name} at least",
            ),
            ("checkpoint", _checkpoint(of)),
            ("filesystem", _filesystem(of)),
            ("failures", _failures(of)),
        )
    )


def verdicts(found: Recommendation, constraints: Constraints) -> tuple[str, ...]:
    """What to know before one commits."""
    return tuple(_verdicts(found, constraints))


def _verdicts(found: Recommendation, constraints: Constraints) -> Iterator[str]:
    of = found.estimate
    if found.one_node:
        yield "One node is enough: no fabric between nodes is needed, and node types without one do as well."
    else:
        yield f"Needs the fabric: {_nodes(of.nodes)} act as one; {found.limit.why}."
    if constraints.deadline_days and of.days.high > constraints.deadline_days:
        late = f"At the slow end it takes {of.days.high:.0f} days, not {constraints.deadline_days:g}"
        if found.nodes_if_slow:
            yield f"{late}; {_nodes(found.nodes_if_slow)} hold the deadline even then."
        else:
            yield f"{late}; one fabric has too few nodes to hold the deadline even then."
    if of.fit and of.fit.overhead > WAITS_TOO_LONG:
        yield (
            f"A step of {of.run.batch_tokens:,} tokens is too little work for {_nodes(of.nodes)}: they wait more than "
            "they compute, and the time above does not count on that. A larger batch or fewer nodes do better."
        )
    if 1 - of.failures.lost < GOODPUT:
        yield (
            "Failures alone take more than is usual: health checks, spare nodes and fast restarts are worth more than "
            "further nodes."
        )
    if found.cloud == "aws" and not found.one_node:
        yield f"{ULTRACLUSTER}."
    yield from _data(of, constraints)


def _data(of: Estimate, constraints: Constraints) -> Iterator[str]:
    size = f"{of.run.dataset_bytes / 1e12:.3g} TB"
    if constraints.data_cloud and constraints.data_cloud != of.node.cloud:
        yield (
            f"The data, {size}, are on the other cloud, which charges for each GB that leaves it: copy them once, "
            "beforehand."
        )
    elif constraints.data_region and constraints.data_region != of.region:
        yield (
            f"The data, {size}, are in {constraints.data_region} and the nodes in {of.region}: a filesystem imports "
            "from its own region, so copy them once, beforehand."
        )


def _work(of: Estimate) -> str:
    model, run = of.run.model, of.run
    of_which = "" if model.dense else f" activated of {model.parameters / 1e9:.4g}B"
    return f"6 x {model.active / 1e9:.4g}B parameters{of_which} x {run.tokens:.4g} tokens = {of.flops:.3g} FLOP"


def _utilisation(of: Estimate) -> str:
    by, gpu = of.utilisation, of.gpu
    if of.run.mfu is not None:
        how = f"{of.run.mfu:.1%} measured"
    else:
        each = factors(of.run.model, gpu, nodes=of.nodes, sequence=of.run.sequence, precision=of.run.precision)
        how = " x ".join(f"{factor:.3f} {name}" for name, factor in each) + f" = {by.steady:.1%}"
    return (
        f"{how} of {gpu.bf16_tflops} TFLOP/s in steady state, x {by.goodput:.2f} over a whole run = {by.likely:.1%} "
        f"({by.low:.1%} to {by.high:.1%})"
    )


def _time(of: Estimate) -> str:
    hours, days = of.gpu_hours, of.days
    return (
        f"{of.flops:.3g} FLOP / ({of.gpu.bf16_tflops} TFLOP/s x {of.utilisation.likely:.1%} x 3,600 s) = "
        f"{hours.likely:,.0f} GPU-hours ({hours.low:,.0f} to {hours.high:,.0f}); on {of.gpus:,} GPUs "
        f"{days.likely:.1f} days ({days.low:.1f} to {days.high:.1f})"
    )


def _memory(of: Estimate) -> str:
    if of.fit is None:
        return "no split of the model fits"
    split, memory = of.fit.layout, of.fit.memory
    parts = (
        ("states", memory.states),
        ("gathered layers", memory.gathered),
        ("activations", memory.activations),
        ("logits", memory.logits),
    )
    sums = " + ".join(f"{size / GIB:.1f} {name}" for name, size in parts if size)
    again = ", activations computed again" if split.recompute == "full" else ""
    return (
        f"{split}{again}: {sums} = {memory.total / GIB:.1f} GiB of {of.gpu.usable_gib:.0f} usable "
        f"({STATES[of.run.optimizer].total} bytes a parameter with {of.run.optimizer})"
    )


def _checkpoint(of: Estimate) -> str:
    each = STATES[of.run.optimizer].saved
    size = f"{each} bytes x {of.run.model.parameters / 1e9:.4g}B = {of.checkpoint_bytes / 1e9:,.0f} GB"
    beside = ", beside the training" if of.failures.asynchronous else ""
    return f"{size}; written in {of.write_s:.0f} s{beside}, every {of.failures.interval_s / 60:.0f} minutes (Daly)"


def _filesystem(of: Estimate) -> str:
    checkpoint, data = of.checkpoint_bytes / 1e12, of.run.dataset_bytes / 1e12
    needs = f"({CHECKPOINTS_KEPT} x {checkpoint:.3g} TB + {data:.3g} TB data) / {FULLEST}"
    if of.filesystem is None:
        return f"none: the node's own disks and object storage hold {needs}"
    of_it = of.filesystem
    efa = " with EFA" if of_it.efa else ""
    return (
        f"{OWN_NAMES[of.node.cloud]} of {show_size(of_it.capacity_gib)} at {of_it.mbps_per_tib} MB/s per TiB{efa}, "
        f"{of_it.gb_per_second:.1f} GB/s: holds {needs}"
    )


def _failures(of: Estimate) -> str:
    burned, new = of.failures_span
    return (
        f"one in {of.failures.mtbf_s / 3600:,.0f} hours; {of.failures.lost:.1%} of the time lost ({burned:.1%} at "
        f"{BURNED_IN_GPU_HOURS:,} GPU-hours a failure to {new:.1%} at {NEW_CLUSTER_GPU_HOURS:,}), within the "
        f"{1 - of.utilisation.goodput:.0%} that a whole run loses"
    )


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count:,} nodes"
