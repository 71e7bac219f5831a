"""Why no cluster of one cloud does what is asked, and what would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, floor

from planning.catalog.records import AwsNodeType, Cloud, NodeType
from planning.sizing.errors import ImpossibleError
from planning.sizing.estimates import (
    MOST_FABRICS,
    USUAL_DAYS,
    alternatives,
    candidates,
    estimate,
    nodes_needed,
    setting_of,
)
from planning.sizing.fabric import ULTRACLUSTER, limit_of
from planning.sizing.filesystem import REFERENCE_REGION
from planning.sizing.gpus import accelerator_of
from planning.sizing.layout import best_layout
from planning.sizing.runs import Constraints, Run

NAMES: dict[Cloud, str] = {"aws": "AWS", "azure": "Azure"}
MOST_TYPES = 2
"""Other node types that are named."""


def refuse(
    run: Run, node: NodeType, region: str, constraints: Constraints, memory_floor: int | None, needed: int | None
) -> ImpossibleError:
    """`memory_floor`: nodes that hold the model at all; `needed`: nodes that end the run in time, None for never."""
    limit = limit_of(node)
    days = constraints.deadline_days or USUAL_DAYS
    if memory_floor is None or memory_floor > limit.nodes:
        least = f"{memory_floor:,}" if memory_floor else "no number of"
        message = (
            f"nodes: {run.model.name} in training takes the memory of {least} {node.name}, and {limit.nodes:,} is the "
            f"most: {limit.why}"
        )
        return ImpossibleError(message, tuple(_elsewhere(run, node, region, constraints)) or ("a smaller model",))
    if needed is None and not best_layout(setting_of(run, node), limit.nodes):
        most = setting_of(run, node).sequences
        message = (
            f"batch: a step of {run.batch_tokens:,} tokens is {most:,} sequences, too few to keep {limit.nodes:,} "
            f"{node.name} at work, and fewer do not end the run in {days:g} days"
        )
        return ImpossibleError(message, ("a larger batch", *_elsewhere(run, node, region, constraints)))
    many = f"about {needed:,}" if needed else f"more than {MOST_FABRICS * limit.nodes:,}"
    message = (
        f"deadline: to end in {days:g} days, {run.tokens:.3g} tokens of {run.model.name} need {many} {node.name}, and "
        f"{limit.nodes:,} is the most: {limit.why}"
    )
    return ImpossibleError(message, tuple(_would(run, node, region, constraints, days, needed)))


def _would(
    run: Run, node: NodeType, region: str, constraints: Constraints, days: float, needed: int | None
) -> Iterator[str]:
    limit = limit_of(node)
    full = estimate(run, node, region, limit.nodes, constraints)
    if full.fit:
        yield f"{ceil(full.days.likely):,} days, on {limit.nodes:,} nodes"
        yield f"{_two_digits_down(run.tokens * days / full.days.likely):.2g} tokens in the same {days:g} days"
    yield from _elsewhere(run, node, region, constraints)
    if needed and limit.further >= needed:
        yield f"a fabric of {needed:,} nodes: the cloud's support raises the limit to {limit.further:,}"
    elif needed:
        islands = -(-needed // limit.nodes)
        yield (
            f"{islands} fabrics of up to {limit.nodes:,} nodes (islands) that exchange gradients over Ethernet, which "
            "one stack does not build"
        )
    if isinstance(node, AwsNodeType) and not node.ultraserver_sizes and limit.nodes > 1:
        yield f"nodes.start: elastic, which starts what comes and has no such limit ({ULTRACLUSTER})"


def _elsewhere(run: Run, node: NodeType, region: str, constraints: Constraints) -> Iterator[str]:
    """The same run on other accelerators, in fp8, on the other cloud."""
    others = [each for each in alternatives(run, node, region, constraints) if each.nodes <= limit_of(node).nodes]
    for other in others[:MOST_TYPES]:
        yield f"{other.nodes:,} x {other.node_type}"
    if run.precision == "bf16" and accelerator_of(node).fp8_tflops:
        in_fp8 = nodes_needed(replace(run, precision="fp8"), node, region, constraints)
        if in_fp8 and in_fp8 <= limit_of(node).nodes:
            yield f"fp8, on {in_fp8:,} of these nodes"
    for cloud, name in NAMES.items():
        if cloud != node.cloud:
            same = [n for n in candidates(cloud) if n.accelerator == node.accelerator and limit_of(n).nodes > 1]
            for twin in sorted(same, key=lambda n: -n.gpus)[:1]:
                there = nodes_needed(run, twin, REFERENCE_REGION[cloud], constraints)
                if there and there <= limit_of(twin).nodes:
                    yield f"{there:,} x {twin.name} on {name}"


def _two_digits_down(number: float) -> float:
    """Rounded down to two digits, so that what is promised holds."""
    scale = 10 ** (len(f"{number:.0f}") - 2)
    return floor(number / scale) * scale
