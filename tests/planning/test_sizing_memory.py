"""What a model takes of an accelerator's memory, and how it is split, against figures worked out by hand.

The other formulas: test_sizing.
"""

from __future__ import annotations

from itertools import product

import pytest

from planning import catalog
from planning.catalog.records import NodeType
from planning.sizing.advise import recommend
from planning.sizing.explain import verdicts
from planning.sizing.gpus import GIB, accelerator
from planning.sizing.layout import Setting, best_layout, fewest_nodes
from planning.sizing.memory import STATES, Layout, Memory, memory_of
from planning.sizing.models import Model, known_models, model_of
from planning.sizing.runs import Constraints, run_of


def node(name: str) -> NodeType:
    found = catalog.node_type(name)
    assert found is not None
    return found


def setting(model: str, on: str = "p5.48xlarge", sequence: int | None = None, batch: int = 2**22) -> Setting:
    of = model_of(model)
    return Setting(model=of, node=node(on), sequence=sequence or of.sequence, batch_tokens=batch)


def full_shards(model: str, *, gpus: int, tensor: int = 1, sequence: int | None = None) -> Memory:
    """Everything spread over all, activations computed again: the least memory there is."""
    of, data = model_of(model), gpus // tensor
    layout = Layout(tensor=tensor, data=data, shard_group=data, recompute="full")
    return memory_of(of, layout, sequence=sequence or of.sequence)


def test_mixed_precision_adam_keeps_16_bytes_a_parameter_and_18_with_fp32_gradients() -> None:
    assert (STATES["adamw"].total, STATES["adamw-fp32-gradients"].total) == (16, 18)
    assert (STATES["adamw"].saved, STATES["adamw-8bit"].total, STATES["sgd"].total) == (14, 10, 12)


@pytest.mark.parametrize(
    ("model", "gib"),
    [("llama-1-7b", 100), ("llama-1-13b", 194), ("llama-3-70b", 1051), ("gpt-3", 2602), ("llama-3.1-405b", 6048)],
)
def test_states_of_a_whole_model(model: str, gib: int) -> None:
    layout = Layout(sharding="none")
    assert memory_of(model_of(model), layout, sequence=2048).states / GIB == pytest.approx(gib, abs=0.6)


def test_what_stays_of_an_accelerator_is_70_gib_of_80_and_125_of_141() -> None:
    h100, h200 = accelerator("H100"), accelerator("H200")
    assert h100 is not None
    assert h200 is not None
    assert (round(h100.usable_gib), round(h200.usable_gib)) == (70, 125)


@pytest.mark.parametrize(
    ("accelerator_name", "model", "tensor", "sequence", "least"),
    [
        ("H100", "llama-1-7b", 1, 4096, 2),
        ("H100", "llama-1-13b", 1, 4096, 4),
        ("H100", "llama-3-70b", 1, 8192, 27),
        ("H100", "llama-3-70b", 8, 8192, 16),
        ("H100", "gpt-3", 8, 2048, 40),
        ("H100", "llama-3.1-405b", 8, 8192, 104),
        ("H200", "llama-1-7b", 1, 4096, 1),
        ("H200", "llama-1-13b", 1, 4096, 2),
        ("H200", "llama-3-70b", 1, 8192, 12),
        ("H200", "gpt-3", 8, 2048, 24),
        ("H200", "gpt-3", 1, 2048, 25),
        ("H200", "llama-3.1-405b", 8, 8192, 56),
    ],
)
def test_the_fewest_accelerators_that_hold_a_model(
    accelerator_name: str, model: str, tensor: int, sequence: int, least: int
) -> None:
    on = accelerator(accelerator_name)
    assert on is not None
    assert full_shards(model, gpus=least, tensor=tensor, sequence=sequence).total / GIB <= on.usable_gib
    fewer = least - tensor
    if fewer:
        assert full_shards(model, gpus=fewer, tensor=tensor, sequence=sequence).total / GIB > on.usable_gib


def test_a_405b_model_does_not_fit_80_gib_by_sharding_alone() -> None:
    assert full_shards("llama-3.1-405b", gpus=1024).total / GIB > 70


@pytest.mark.parametrize(("on", "nodes"), [("p5.48xlarge", (1, 1, 2, 5, 13)), ("p5en.48xlarge", (1, 1, 2, 3, 7))])
def test_the_memory_floor_in_nodes(on: str, nodes: tuple[int, ...]) -> None:
    models = ("llama-1-7b", "llama-1-13b", "llama-3-70b", "gpt-3", "llama-3.1-405b")
    assert tuple(fewest_nodes(setting(model, on)) for model in models) == nodes


def test_published_runs_on_80_gib_fit_where_they_ran() -> None:
    assert full_shards("mpt-30b", gpus=8, sequence=2048).total / GIB < 70, "30B on 8 H100 with full recomputation"
    assert full_shards("llama-1-65b", gpus=32).total / GIB < 70, "65B on 32"


@pytest.mark.parametrize(
    ("model", "nodes"),
    list(product(("llama-1-7b", "llama-2-70b", "llama-3.1-405b", "deepseek-v3"), (1, 2, 16, 22, 64, 100))),
)
def test_a_split_uses_every_accelerator_and_no_more_memory_than_there_is(model: str, nodes: int) -> None:
    at = setting(model, batch=2**24)
    fit = best_layout(at, nodes)
    floor = fewest_nodes(at)
    assert (fit is not None) == (floor is not None and nodes >= floor)
    if fit is not None:
        assert fit.layout.gpus == nodes * 8
        assert fit.memory.total / GIB <= at.gpu.usable_gib
        assert fit.layout.data * fit.layout.micro_batch <= at.sequences, "each replica has a sequence to work on"
        assert at.model.heads % fit.layout.tensor == 0
        assert fit.layout.tensor <= 8, "tensor parallelism does not leave the node"


def test_a_model_that_fits_without_is_not_split_nor_recomputed() -> None:
    fit = best_layout(setting("llama-1-7b"), 8)
    assert fit is not None
    assert (fit.layout.tensor, fit.layout.pipeline, fit.layout.recompute) == (1, 1, "none")


def test_sharding_over_a_slow_fabric_is_avoided() -> None:
    """p4d has an eighth of p5's bandwidth between nodes: gathering all weights at each step would wait for it."""
    fit = best_layout(setting("llama-2-13b", "p4d.24xlarge"), 16)
    assert fit is not None
    assert fit.layout.sharding != "fsdp"


def test_a_long_sequence_is_split_too() -> None:
    fit = best_layout(setting("llama-3-70b", sequence=131072, batch=2**24), 64)
    assert fit is not None
    assert fit.layout.context > 1


def test_a_batch_too_small_for_the_nodes_is_told() -> None:
    limits = Constraints(deadline_days=0.05, clouds=("aws",))
    for batch, told in ((2**22, False), (2048 * 16, True)):
        advice = recommend(run_of("llama-1-7b", "12B", batch_tokens=batch), limits)
        (found,) = advice.recommendations
        assert any("larger batch" in text for text in verdicts(found, limits)) == told


def test_more_replicas_than_sequences_have_no_split() -> None:
    alone = setting("falcon-7b", batch=2048 * 8)
    assert best_layout(alone, 1) is not None
    assert best_layout(alone, 128) is None, "71 heads do not split, and 32 layers make 32 stages at most"


def test_a_node_without_a_fabric_holds_what_one_node_holds() -> None:
    assert fewest_nodes(setting("llama-2-13b", "Standard_ND96is_H100_v5")) == 1
    assert fewest_nodes(setting("llama-3-70b", "Standard_ND96is_H100_v5")) is None


def test_experts_are_counted_whole_in_memory_and_in_part_in_work() -> None:
    mixtral = model_of("mixtral-8x7b")
    assert memory_of(mixtral, Layout(sharding="none"), sequence=4096).states == 16 * mixtral.parameters
    apart = memory_of(mixtral, Layout(data=8, shard_group=8, expert=8, sharding="zero1"), sequence=4096)
    together = memory_of(mixtral, Layout(data=8, shard_group=8, sharding="zero1"), sequence=4096)
    assert apart.states < together.states


def by_shape(model: Model) -> set[int]:
    """Parameters that the shape gives, with one or two embedding tables and two or three matrices in a block."""
    attention = 2 * model.hidden**2 * (1 + model.kv_heads / model.heads)
    return {
        int(tables * model.vocabulary * model.hidden + model.layers * (attention + matrices * model.hidden * inner))
        for tables, matrices, inner in product((1, 2), (2, 3), (model.intermediate,))
    }


@pytest.mark.parametrize("model", [m for m in known_models().values() if m.dense], ids=lambda m: m.name)
def test_the_shape_of_a_known_model_gives_its_size(model: Model) -> None:
    assert min(abs(size / model.parameters - 1) for size in by_shape(model)) < 0.005
