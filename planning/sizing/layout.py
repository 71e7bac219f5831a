"""The split of a model over accelerators that fits their memory and loses least time; and the fewest nodes that hold
it.

The losses are rough on purpose: they rank splits. They do not enter the time of a run, which is taken from whole
published runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from planning.catalog.records import NodeType
from planning.sizing.fabric import gb_per_second_per_gpu
from planning.sizing.gpus import GIB, Accelerator, accelerator_of
from planning.sizing.memory import STATES, Layout, Memory, Optimizer, Sharding, memory_of
from planning.sizing.models import Model

RECOMPUTE = 1 / 3
"""A second forward pass. Source: Korthikanti et al., arXiv 2205.05198."""
LINK_SHARE = 0.13
"""Links inside a node over accelerator memory, GB/s: 300 of 2,039 (A100), 450 of 3,350 (H100), 900 of 8,000 (B200)."""
CONTEXT = 0.03
"""Loss per doubling of context parallelism (ours)."""
STEADY = 0.4
"""Share of the peak at which products run beside which transfers may hide (ours)."""
HOP_SECONDS = 5e-6
"""Of one step of a ring over the fabric (ours): what makes one shard group of thousands slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a layout is looked for in."""

    model: Model
    node: NodeType
    sequence: int
    batch_tokens: int
    """Tokens of one optimizer step."""
    optimizer: Optimizer = "adamw"

    @property
    def gpu(self) -> Accelerator:
        return accelerator_of(self.node)

    @property
    def sequences(self) -> int:
        return max(1, self.batch_tokens // self.sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    layout: Layout
    memory: Memory
    overhead: float
    """Time lost over time at work."""


def best_layout(setting: Setting, nodes: int) -> Fit | None:
    """None where nothing fits, or where nodes without a fabric would be many."""
    if nodes > 1 and not gb_per_second_per_gpu(setting.node):
        return None
    usable = setting.gpu.usable_gib * GIB
    fits = [
        Fit(layout=layout, memory=memory, overhead=_overhead(setting, layout, nodes))
        for layout in _layouts(setting, nodes)
        if (memory := memory_of(setting.model, layout, sequence=setting.sequence, optimizer=setting.optimizer)).total
        <= usable
    ]
    return min(fits, key=_preference, default=None)


def fewest_nodes(setting: Setting) -> int | None:
    """The memory floor: the first count that holds the model, by any layout. None: no count does."""
    states = setting.model.parameters * STATES[setting.optimizer].total
    first = ceil(states / (setting.gpu.usable_gib * GIB * setting.node.gpus))
    # Beyond the states there are activations, gathered layers and logits: never a few times as much.
    last = 4 * first + 4 if gb_per_second_per_gpu(setting.node) else 1
    return next((n for n in range(first, last + 1) if best_layout(setting, n)), None)


def _preference(fit: Fit) -> tuple[float, int, int, float]:
    """Least loss, to the percent; then the fewest ways of splitting; then the least memory."""
    split = fit.layout
    ways = sum(size > 1 for size in (split.tensor, split.pipeline, split.context, split.expert))
    return (round(fit.overhead, 2), ways, split.tensor * split.pipeline, fit.memory.total)


def _layouts(setting: Setting, nodes: int) -> Iterator[Layout]:
    gpus = nodes * setting.node.gpus
    for tensor in _powers(min(8, setting.node.gpus)):
        if setting.model.heads % tensor or setting.node.gpus % tensor:
            continue
        for context in _powers(8 if setting.sequence >= 16384 else 1):
            for pipeline in range(1, min(setting.model.layers, nodes) + 1):
                data, left = divmod(gpus, tensor * context * pipeline)
                if left or not data or data > setting.sequences or _wasteful(setting.model.layers, pipeline):
                    continue
                split = Layout(tensor=tensor, context=context, pipeline=pipeline, data=data)
                yield from _variants(setting, split, nodes)


def _powers(most: int) -> tuple[int, ...]:
    return tuple(size for size in (1, 2, 4, 8) if size <= most)


def _wasteful(layers: int, stages: int) -> bool:
    """Whether uneven stages would leave more than a tenth of the machines idle."""
    return ceil(layers / stages) * stages > layers * 1.1


def _variants(setting: Setting, split: Layout, nodes: int) -> Iterator[Layout]:
    spread = split.data * split.context
    in_node = max(1, setting.node.gpus // split.tensor)
    ways: list[tuple[Sharding, int]] = [("zero1", spread)] if spread > 1 else [("none", 1)]
    if split.pipeline == 1 and spread > 1:
        ways.append(("fsdp", spread))
        if nodes > 1 and 1 < in_node < spread and not spread % in_node:
            ways.append(("hsdp", in_node))
    expert = 1 if setting.model.dense else _expert(setting.model.experts, min(in_node, split.data))
    for sharding, group in ways:
        for micro_batch in (1, 2, 4):
            if split.data * micro_batch > setting.sequences:
                break
            eager = replace(
                split, sharding=sharding, shard_group=group, expert=expert, micro_batch=micro_batch, recompute="none"
            )
            yield eager
            yield replace(eager, recompute="full")


def _expert(experts: int, most: int) -> int:
    return max(size for size in range(1, most + 1) if not experts % size)


def _overhead(setting: Setting, layout: Layout, nodes: int) -> float:
    gpu, model = setting.gpu, setting.model
    rate = gpu.bf16_tflops * 1e12 * STEADY
    link = gpu.bandwidth_gb_per_s * 1e9 * LINK_SHARE
    fabric = gb_per_second_per_gpu(setting.node) * 1e9 if nodes > 1 else link
    tokens = setting.sequence * layout.micro_batch / layout.context
    micro_batches = max(1, setting.sequences // (layout.data * layout.micro_batch))
    lost = RECOMPUTE if layout.recompute == "full" else 0.0
    # Four all-reduces a layer, of 2 bytes a token and hidden unit, in a ring; 72 h^2 FLOP a token and layer.
    lost += 16 * (layout.tensor - 1) * rate / (72 * model.hidden * link)
    lost += (layout.pipeline - 1) / micro_batches
    lost += CONTEXT * (layout.context.bit_length() - 1)
    held = model.parameters / layout.tensor / layout.pipeline
    work = 6 * model.active * tokens / layout.tensor / layout.pipeline / rate
    if layout.sharding == "fsdp":
        hops = 3 * model.layers * layout.shard_group * HOP_SECONDS if nodes > 1 else 0
        return lost + _exposed(6 * held / fabric + hops, work)
    if layout.sharding == "hsdp":
        once = 4 * held / layout.shard_group / fabric
        return lost + _exposed(6 * held / link, work) + _exposed(once, work * micro_batches)
    if layout.sharding == "zero1":
        return lost + _exposed(4 * held / fabric, work * micro_batches)
    return lost


def _exposed(transfer_s: float, work_s: float) -> float:
    """What of a transfer is not hidden behind the work beside it, as a share of that work."""
    return max(0.0, transfer_s / work_s - 1)
