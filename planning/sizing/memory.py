"""Memory of one accelerator in training, by what is kept and how it is split. The search for a split:
`planning.sizing.layout`.

Sizes in bytes. What is kept: Korthikanti et al., arXiv 2205.05198 (activations), NVIDIA/Megatron-LM's page on its
distributed optimizer and Rajbhandari et al., arXiv 1910.02054 (states).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planning.sizing.models import Model

Optimizer = Literal["adamw", "adamw-fp32-gradients", "adamw-8bit", "muon", "sgd"]
Sharding = Literal["none", "zero1", "hsdp", "fsdp"]
Recompute = Literal["none", "full"]


@dataclass(frozen=True, slots=True)
class States:
    """Bytes per parameter."""

    weights: int
    gradients: int
    optimizer: int
    """Its own states, the fp32 copy of the weights among them."""

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer

    @property
    def saved(self) -> int:
        """What a full checkpoint holds: everything but the gradients."""
        return self.weights + self.optimizer


STATES: dict[Optimizer, States] = {
    "adamw": States(2, 2, 4 + 4 + 4),
    "adamw-fp32-gradients": States(2, 4, 4 + 4 + 4),
    "adamw-8bit": States(2, 2, 4 + 1 + 1),
    "muon": States(2, 2, 4 + 4),
    "sgd": States(2, 2, 4 + 4),
}
"""Mixed precision: bf16 weights and gradients, fp32 copy, first and second moment. Muon and SGD keep one moment. With
fp8 the copies that products read are made from the bf16 weights layer by layer, and are not counted (unproved)."""
COPIES_KEPT = 56
"""Bytes per token, hidden unit and layer that the backward pass needs, attention scores not stored (FlashAttention):
28 copies in bf16 as measured for Llama 3 8B (stas00/ml-engineering, training/performance). A plain GPT block keeps
34."""
COPIES_RECOMPUTED = 2
"""The same with full recomputation: the input of each layer."""
GATHERED_LAYERS = 3
"""FSDP holds the layer at work, the next one and one gradient, whole (ours)."""
LOGITS = 3 * 4
"""Bytes per token and word of the vocabulary: fp32 logits, their softmax and gradient; a chunked loss avoids them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a model is split over accelerators."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    data: int = 1
    expert: int = 1
    """Accelerators, out of the data-parallel ones, that share the experts of a layer."""
    sharding: Sharding = "fsdp"
    shard_group: int = 1
    """Accelerators over which the states of a data-parallel group are spread."""
    recompute: Recompute = "none"
    micro_batch: int = 1
    """Sequences at a time."""

    @property
    def gpus(self) -> int:
        return self.tensor * self.pipeline * self.context * self.data

    def __str__(self) -> str:
        named = (("TP", self.tensor), ("PP", self.pipeline), ("CP", self.context), ("EP", self.expert))
        shards = {"none": "DP", "zero1": "ZeRO-1", "hsdp": "HSDP", "fsdp": "FSDP"}
        parts = [f"{name} {size}" for name, size in named if size > 1]
        group = f" in groups of {self.shard_group}" if self.sharding == "hsdp" else ""
        return " x ".join([*parts, f"{shards[self.sharding]} {self.data * self.context}{group}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Bytes of one accelerator, of the stage that needs most."""

    states: float
    gathered: float
    activations: float
    logits: float

    @property
    def total(self) -> float:
        return self.states + self.gathered + self.activations + self.logits


def memory_of(model: Model, layout: Layout, *, sequence: int, optimizer: Optimizer = "adamw") -> Memory:
    """What `layout` takes. With a pipeline, the first stage holds as many micro-batches as there are stages (1F1B)."""
    layers = -(-model.layers // layout.pipeline)
    tokens = sequence * layout.micro_batch / layout.context
    kept_per_layer = tokens * model.hidden / layout.tensor
    in_flight = layers * layout.pipeline if layout.pipeline > 1 else layers
    if layout.recompute == "full":
        activations = kept_per_layer * (COPIES_RECOMPUTED * in_flight + COPIES_KEPT)
    else:
        activations = kept_per_layer * COPIES_KEPT * in_flight
    return Memory(
        states=_states(model, layout, layers, STATES[optimizer]),
        gathered=_gathered(model, layout),
        activations=activations,
        logits=LOGITS * tokens * model.vocabulary / layout.tensor,
    )


def _states(model: Model, layout: Layout, layers: int, states: States) -> float:
    held = model.parameters * layers / model.layers / layout.tensor
    group = layout.shard_group
    if layout.sharding in ("fsdp", "hsdp"):
        return held * states.total / group
    # Experts are spread before the optimizer's states are, and what they lie on then shares fewer copies.
    shared = held * shared_share(model)
    spread = (held - shared) / layout.expert
    whole = states.weights + states.gradients
    if layout.sharding == "none":
        return (shared + spread) * states.total
    return (shared + spread) * whole + held * states.optimizer / group


def _gathered(model: Model, layout: Layout) -> float:
    if layout.sharding not in ("fsdp", "hsdp") or layout.shard_group == 1:
        return 0.0
    shared = shared_share(model)
    whole = shared + (1 - shared) / layout.expert
    return GATHERED_LAYERS * 2 * model.parameters * whole / model.layers / layout.tensor


def shared_share(model: Model) -> float:
    """Parameters outside the experts, as a share of all: from what one token passes through. 1 in a dense model."""
    if model.dense:
        return 1.0
    used = model.experts_per_token / model.experts
    return max(0.0, (model.active / model.parameters - used) / (1 - used))
