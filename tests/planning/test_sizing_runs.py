"""The sizing formulas against published training runs (sizing_runs.toml): given utilisation, and predicted.

`fitted` rows are those on which the one fitted constant was chosen; `held_out` ones were not looked at for it. Figures
of single parts: test_sizing.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from planning.sizing.compute import flops_per_token, gpu_hours
from planning.sizing.gpus import Accelerator, accelerator
from planning.sizing.models import Model, model_of
from planning.sizing.utilisation import GOODPUT, SPREAD, predict

FILE = tomllib.loads((Path(__file__).parent / "sizing_runs.toml").read_text(encoding="utf-8"))
USUAL_GPUS = 512
"""Of a run whose number of GPUs was not published."""
WIDEST = 2.6
"""High over low of a range that still says something."""


@dataclass(frozen=True)
class PublishedRun:
    row: dict[str, Any]

    @property
    def model(self) -> Model:
        row = self.row
        return Model(
            name=row["name"], parameters=row.get("total", row["parameters"]), active=row["parameters"],
            layers=row["layers"], hidden=row["hidden"], heads=0, kv_heads=0, intermediate=0, vocabulary=0,
            sequence=row["sequence"], experts=row.get("experts", 0), source=row["source"], published=date(2026, 1, 1),
        )  # fmt: skip

    @property
    def gpu(self) -> Accelerator:
        found = accelerator(self.row["accelerator"], self.row["memory_mib"])
        assert found is not None
        return found

    @property
    def flops(self) -> float:
        return flops_per_token(self.model) * self.row["tokens"]

    def predicted(self) -> tuple[float, float, float]:
        """GPU-hours: at best, likely, at worst."""
        row = self.row
        by = predict(
            self.model,
            self.gpu,
            nodes=row.get("gpus", USUAL_GPUS) / 8,
            sequence=row["sequence"],
            precision=row.get("precision", "bf16"),
            goodput=1 if row.get("steady") else GOODPUT,
        )
        low, likely, high = (gpu_hours(self.flops, self.gpu, mfu) for mfu in (by.high, by.likely, by.low))
        return low, likely, high


RUNS = {part: [PublishedRun(row) for row in FILE[part]] for part in ("fitted", "held_out")}
JUDGED = {part: [run for run in runs if "aside" not in run.row] for part, runs in RUNS.items()}
PARTS = pytest.mark.parametrize("runs", [JUDGED["fitted"], JUDGED["held_out"]], ids=["fitted", "held out"])


@pytest.mark.parametrize(
    "run", [run for runs in RUNS.values() for run in runs if "mfu" in run.row], ids=lambda run: run.row["name"]
)
def test_with_the_utilisation_given_the_gpu_hours_are_those_reported(run: PublishedRun) -> None:
    assert gpu_hours(run.flops, run.gpu, run.row["mfu"]) == pytest.approx(run.row["gpu_hours"], rel=0.03)


@PARTS
def test_the_predicted_range_holds_what_nine_of_ten_runs_took(runs: list[PublishedRun]) -> None:
    missed = []
    for run in runs:
        low, _, high = run.predicted()
        assert high / low <= WIDEST
        if not low <= run.row["gpu_hours"] <= high:
            missed.append(run.row["name"])
    assert len(missed) <= len(runs) * 0.1, missed


@PARTS
def test_half_of_the_runs_are_predicted_to_a_quarter(runs: list[PublishedRun]) -> None:
    errors = [abs(run.predicted()[1] / run.row["gpu_hours"] - 1) for run in runs]
    assert median(errors) <= 0.25


def test_rows_set_aside_are_right_to_the_order_of_magnitude() -> None:
    for run in (run for runs in RUNS.values() for run in runs if "aside" in run.row):
        assert 1 / 3 < run.predicted()[1] / run.row["gpu_hours"] < 3, run.row["name"]


def test_a_benchmark_that_counts_attention_has_the_utilisation_that_it_reports() -> None:
    # Llama 3 8B on 4 p5, 32 H100 over EFA: 6,785 tokens a second and GPU, reported as 39.73 % of 989 TFLOP/s
    # (awslabs/awsome-distributed-training, torchtitan, 2025-03).
    flops = flops_per_token(model_of("llama-3-8b"), 8192, "6N+attention")
    assert flops * 6785 / 989e12 == pytest.approx(0.3973, abs=0.0003)


def test_the_data_tell_each_run_once_with_its_source() -> None:
    names = [run.row["name"] for runs in RUNS.values() for run in runs]
    assert len(names) == len(set(names))
    assert all(run.row["source"] for runs in RUNS.values() for run in runs)
    assert SPREAD**2 <= WIDEST


def test_the_page_says_how_true_the_prediction_is() -> None:
    page = " ".join((Path(__file__).parent.parent.parent / "docs/sizing.md").read_text(encoding="utf-8").split())
    shares, held = [], []
    for runs in JUDGED.values():
        found = [(run.predicted(), run.row["gpu_hours"]) for run in runs]
        shares.append(median(abs(likely / took - 1) for (_, likely, _), took in found))
        held.append(f"{sum(low <= took <= high for (low, _, high), took in found)}")
    assert f"within {shares[0]:.0%}".replace("%", " %") in page
    assert f"{shares[1]:.0%}".replace("%", " %") + " (held out)" in page
    assert f"holds all {held[0]} judged rows of the first and {held[1]} of {len(JUDGED['held_out'])}" in page
    assert f"holds {sum(map(len, RUNS.values()))} published runs" in page
