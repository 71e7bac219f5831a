"""The sizing formulas one by one, against figures worked out by hand or published. Whole runs: test_sizing_runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planning import catalog
from planning.catalog.records import NodeType
from planning.sizing.advise import Advice, Recommendation, recommend, recommend_on
from planning.sizing.checkpoints import checkpoint_bytes, daly_seconds, lost_share, weights_bytes, young_seconds
from planning.sizing.compute import attention_share, flops_per_token, gpu_hours, tokens_per_second
from planning.sizing.errors import ImpossibleError, SizingError
from planning.sizing.explain import arithmetic, verdicts
from planning.sizing.failures import failures_of
from planning.sizing.gpus import GIB, Accelerator, accelerator
from planning.sizing.layout import Setting, fewest_nodes
from planning.sizing.memory import STATES, Layout, memory_of
from planning.sizing.models import known_models, model_of
from planning.sizing.runs import Constraints, run_of


def gpu(name: str) -> Accelerator:
    found = accelerator(name)
    assert found is not None
    return found


def node(name: str) -> NodeType:
    found = catalog.node_type(name)
    assert found is not None
    return found


H100, P5, ND = gpu("H100"), "p5.48xlarge", "Standard_ND96isr_H100_v5"


@pytest.mark.parametrize(("model", "gib"), [("7B", 104), ("llama-2-13b", 194), ("llama-3-70b", 1051), ("405B", 6035)])
def test_states_of_a_model_are_16_bytes_a_parameter(model: str, gib: int) -> None:
    assert model_of(model).parameters * STATES["adamw"].total / GIB == pytest.approx(gib, rel=0.01)


@pytest.mark.parametrize(
    ("model", "full_gb", "weights_gb"), [("7B", 98, 14), ("llama-3-70b", 988, 141), ("llama-3.1-405b", 5682, 812)]
)
def test_a_full_checkpoint_is_14_bytes_a_parameter_and_weights_are_2(model: str, full_gb: int, weights_gb: int) -> None:
    assert checkpoint_bytes(model_of(model)) / 1e9 == pytest.approx(full_gb, rel=0.005)
    assert weights_bytes(model_of(model)) / 1e9 == pytest.approx(weights_gb, rel=0.005)


def test_the_checkpoint_of_bloom_is_as_large_as_it_was() -> None:
    assert checkpoint_bytes(model_of("bloom-176b")) / GIB == pytest.approx(2295, rel=0.005)


def test_work_is_6_n_d_and_a_run_is_its_work_over_what_the_accelerators_reach() -> None:
    work = flops_per_token(model_of("70e9")) * 1.4e12
    assert work == pytest.approx(5.88e23)
    # 64 nodes of 8 H100 at 40 % of 989 TFLOP/s: 34 days
    assert gpu_hours(work, H100, 0.4) / 512 / 24 == pytest.approx(34, abs=0.5)
    assert tokens_per_second(model_of("70e9"), H100, 0.4) == pytest.approx(942, rel=0.01)


@pytest.mark.parametrize(("model", "share"), [("llama-3-8b", 0.27), ("llama-3-70b", 0.15), ("llama-3.1-405b", 0.08)])
def test_full_attention_adds_at_8192_what_the_papers_formula_gives(model: str, share: float) -> None:
    assert 2 * attention_share(model_of(model), 8192) == pytest.approx(share, abs=0.01), "a causal kernel does half"


@pytest.mark.parametrize(("mtbf_h", "minutes"), [(24, 117), (6, 57), (0.25, 9.1)])
def test_dalys_own_cases_come_out(mtbf_h: float, minutes: float) -> None:
    assert daly_seconds(300, mtbf_h * 3600) / 60 == pytest.approx(minutes, rel=0.01)


def test_youngs_interval_is_the_root_of_twice_the_write_and_the_time_between_failures() -> None:
    assert young_seconds(200, 3600) == 1200
    assert daly_seconds(9000, 3600) == 3600, "a write longer than that is never worth more than one a failure"


def test_what_failures_take_of_a_70b_run_on_128_gpus() -> None:
    for hours, lost in ((78, 0.031), (391, 0.013)):
        interval = daly_seconds(105, hours * 3600)
        assert lost_share(105, interval, hours * 3600, 900) == pytest.approx(lost, abs=0.002)


def test_more_accelerators_fail_more_often() -> None:
    few, many = (failures_of(gpus, 100, gpu_hours_per_failure=20_000) for gpus in (128, 1024))
    assert (few.mtbf_s, many.mtbf_s) == (20_000 * 3600 / 128, 20_000 * 3600 / 1024)
    assert few.interval_s > many.interval_s


@pytest.mark.parametrize(
    ("model", "node_type", "most"),
    [("7B", P5, 1), ("llama-2-13b", P5, 1), ("llama-3-70b", P5, 4), ("llama-3.1-405b", P5, 15), ("175B", P5, 7)],
)
def test_the_memory_floor_is_that_of_the_published_table_or_a_little_above(
    model: str, node_type: str, most: int
) -> None:
    found = model_of(model)
    setting = Setting(model=found, node=node(node_type), sequence=4096, batch_tokens=2**22)
    floor = fewest_nodes(setting)
    states = found.parameters * 16 / (setting.gpu.usable_gib * GIB * 8)
    assert floor is not None
    assert states <= floor <= most


def test_sharding_spreads_states_and_recomputation_drops_activations() -> None:
    model = model_of("llama-3-8b")
    alone = memory_of(model, Layout(sharding="none"), sequence=8192)
    spread = memory_of(model, Layout(sharding="fsdp", data=8, shard_group=8), sequence=8192)
    again = memory_of(model, Layout(sharding="fsdp", data=8, shard_group=8, recompute="full"), sequence=8192)
    assert spread.states == pytest.approx(alone.states / 8)
    assert again.activations < spread.activations / 10
    assert alone.activations == pytest.approx(8192 * 4096 * 56 * 32), "56 bytes a token, hidden unit and layer"


def test_every_known_model_has_a_size_that_its_shape_gives_and_a_source() -> None:
    for model in known_models().values():
        assert model.source
        assert model.active <= model.parameters
        assert model.dense == (model.active == model.parameters), model.name
        assert model_of(model.name) is model


# Recommendations


def on(advice: Advice, cloud: str) -> Recommendation:
    return next(found for found in advice.recommendations if found.cloud == cloud)


def test_70b_in_60_days_is_one_fabric_on_both_clouds() -> None:
    advice = recommend(run_of("llama-3-70b", 1.5e12), Constraints(deadline_days=60))
    assert not advice.refusals
    for cloud, most in (("aws", 1000), ("azure", 100)):
        found = on(advice, cloud).estimate
        assert found.nodes <= most
        assert found.days.low < found.days.likely <= 60 < found.days.high
        assert found.fit is not None
        assert found.fit.memory.total <= found.gpu.usable_gib * GIB
        assert found.fit.layout.gpus == found.gpus


def test_70b_in_30_days_is_more_than_one_azure_fabric_and_the_answer_says_what_would_do() -> None:
    advice = recommend(run_of("llama-3-70b", 1.5e12), Constraints(deadline_days=30))
    assert [found.cloud for found in advice.recommendations] == ["aws"]
    no = advice.refusals["azure"]
    assert "100 is the most" in no.message
    assert any("days, on 100 nodes" in would for would in no.would)
    assert any("on AWS" in would for would in no.would)
    assert any("raises the limit to 300" in would for would in no.would)


def test_fine_tuning_13b_takes_one_node_without_a_fabric_or_a_filesystem() -> None:
    advice = recommend(run_of("13B", "300M"), Constraints(deadline_days=3))
    for found in advice.recommendations:
        assert found.one_node
        assert found.estimate.filesystem is None
        assert any("One node is enough" in text for text in verdicts(found, advice.constraints))


def test_pre_training_405b_is_more_than_one_fabric_and_names_islands() -> None:
    advice = recommend(run_of("llama-3.1-405b", "15T"), Constraints(deadline_days=90))
    assert not advice.recommendations
    assert any("islands" in would for would in advice.refusals["aws"].would)
    assert all(no.would for no in advice.refusals.values())


@pytest.mark.parametrize("node_type", ["Standard_NC24ads_A100_v4", "g6e.48xlarge"])
def test_nodes_without_a_fabric_are_one_or_none(node_type: str) -> None:
    advice = recommend(run_of("mixtral-8x7b", "1T"), Constraints(deadline_days=30, node_type=node_type))
    assert not advice.recommendations
    assert all(no.would for no in advice.refusals.values())


@pytest.mark.parametrize("name", known_models())
def test_every_known_model_has_an_answer_or_a_reason(name: str) -> None:
    advice = recommend(run_of(name, "100B"), Constraints(deadline_days=30))
    assert len(advice.recommendations) + len(advice.refusals) == 2
    for found in advice.recommendations:
        assert found.estimate.fit is not None
        assert arithmetic(found)


def test_a_measured_utilisation_takes_the_place_of_the_predicted_one() -> None:
    fast = on(recommend(run_of("llama-3-70b", 1.5e12, mfu=0.45), Constraints(deadline_days=60)), "aws")
    usual = on(recommend(run_of("llama-3-70b", 1.5e12), Constraints(deadline_days=60)), "aws")
    assert fast.estimate.nodes < usual.estimate.nodes
    assert any("measured" in line.text for line in arithmetic(fast))


def test_a_budget_that_is_too_small_says_which_one_is_not() -> None:
    with pytest.raises(ImpossibleError, match="more than 1,000") as no:
        recommend_on("aws", run_of("llama-3-70b", "1T"), Constraints(budget_usd=Decimal(1000)))
    assert any("a budget of" in would for would in no.value.would)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"tokens": 0}, "tokens: 0 is not a number above 0"),
        ({"tokens": "-3"}, "is not a number above 0"),
        ({"tokens": "many"}, "write it as 1.5T or 1.5e12"),
        ({"tokens": float("nan")}, "is not a number above 0"),
        ({"tokens": float("inf")}, "is not a number above 0"),
        ({"tokens": "1e400"}, "more than anybody has"),
        ({"model": "llama-3-70"}, "did you mean llama-3-70b"),
        ({"model": "gpt-99"}, "is not a model that is known here"),
        ({"model": "0B"}, "is not a number above 0"),
        ({"precision": "fp4"}, "did you mean fp8"),
        ({"optimizer": "adam"}, "did you mean adamw"),
        ({"sequence": 0}, "sequence length"),
        ({"mfu": 1.5}, "is not a share of the peak rate"),
    ],
)
def test_a_mistake_in_the_question_is_told_with_what_to_write(question: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"model": "llama-3-70b", "tokens": "1T", **question}
    with pytest.raises(SizingError) as mistake:
        run_of(asked.pop("model"), asked.pop("tokens"), **asked)
    assert said in str(mistake.value)


@pytest.mark.parametrize("days", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_deadline_that_is_no_time_is_refused(days: float) -> None:
    with pytest.raises(SizingError, match="no time to train in"):
        Constraints(deadline_days=days)


def test_a_utilisation_above_what_a_matrix_product_reaches_is_refused() -> None:
    with pytest.raises(SizingError, match="more than a plain matrix product reaches"):
        recommend(run_of("llama-3-70b", "1T", mfu=0.95))
