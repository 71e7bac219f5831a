"""Which share of their peak accelerators will reach (MFU, 6N convention, of the dense bf16 peak), with its
uncertainty.

One law and few factors, none of them about a single run:

    steady = 1 / (1 + ridge / 150) / (1 + attention share) * 0.99^log2(nodes) [* 0.85 experts] [* 1.16 fp8]
    whole run = steady * goodput

The first term adds the time of the products to that of everything that moves bytes instead: a run behaves as if each
byte of accelerator memory came with 150 FLOP of work, so that a faster chip whose memory did not keep up reaches less
of its peak. 150 is the only number fitted here, on the published runs in tests/planning/sizing_runs.toml.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod

from planning.sizing.compute import attention_share
from planning.sizing.errors import SizingError
from planning.sizing.gpus import Accelerator, Precision
from planning.sizing.models import Model

WORK_PER_BYTE = 150
"""FLOP per byte of accelerator memory; fitted to two figures."""
LOSS_PER_DOUBLING = 0.01
"""Of the number of nodes, with the work of each kept. Measured: 0 to 1 % (pytorch/torchtitan, 8B, 8 to 128 H100)."""
EXPERTS = 0.85
"""Mixture of experts: tokens cross the fabric twice a layer, and products are small. Ours, between no loss and the 6
to 12 % of FP8 peak that NVIDIA-NeMo/Megatron-Bridge prints for models of many small experts."""
FP8 = 1.16
"""Gain over bf16 of a whole step: 46.1 against 39.7 % of the bf16 peak (awslabs/awsome-distributed-training,
torchtitan on p5)."""
GOODPUT = 0.85
"""Whole run over steady state: failures, restarts, evaluation, ramp. Published: 0.84 to 0.88 for very large runs, 1.0
for a short one, 0.55 for a first run on a new cluster."""
SPREAD = 1.6
"""Both ways. Equal models on equal accelerators differ by this much with software and tuning, which nobody knows
beforehand."""
SPREAD_WHEN_MEASURED = 1.2
"""Of a run whose steady utilisation is known: what is left is its goodput (ours)."""


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Shares of the dense bf16 peak."""

    steady: float
    """While it trains."""
    goodput: float
    """Share of the run's time in which it trains."""
    spread: float
    """How much better or worse it may be, as a factor."""

    @property
    def likely(self) -> float:
        """Over the whole run."""
        return self.steady * self.goodput

    @property
    def low(self) -> float:
        return self.likely / self.spread

    @property
    def high(self) -> float:
        return self.likely * self.spread


def factors(
    model: Model, gpu: Accelerator, *, nodes: float, sequence: int, precision: Precision = "bf16"
) -> tuple[tuple[str, float], ...]:
    """What the steady utilisation is the product of, each by name."""
    if precision == "fp8" and not gpu.fp8_tflops:
        raise SizingError(f"precision: {gpu.name} has no fp8", "write bf16, or take H100 or newer")
    found = [
        ("memory traffic", 1 / (1 + gpu.ridge_flop_per_byte / WORK_PER_BYTE)),
        ("attention", 1 / (1 + attention_share(model, sequence))),
        ("scaling", (1 - LOSS_PER_DOUBLING) ** log2(max(1.0, nodes))),
    ]
    if not model.dense:
        found.append(("experts", EXPERTS))
    if precision == "fp8":
        found.append(("fp8", FP8))
    return tuple(found)


def predict(
    model: Model,
    gpu: Accelerator,
    *,
    nodes: float,
    sequence: int,
    precision: Precision = "bf16",
    goodput: float = GOODPUT,
) -> Utilisation:
    """`nodes` of eight accelerators or so; `goodput` 1 for a benchmark or a stage of steady training."""
    each = factors(model, gpu, nodes=nodes, sequence=sequence, precision=precision)
    return Utilisation(prod(factor for _, factor in each), goodput, SPREAD)


def measured(gpu: Accelerator, mfu: float, goodput: float = GOODPUT) -> Utilisation:
    """Of a run like this one that was watched in steady state."""
    if mfu > gpu.best_mfu:
        raise SizingError(
            f"mfu: {mfu:.0%} of the peak of {gpu.name} is more than a plain matrix product reaches, {gpu.best_mfu:.0%}",
            "write what a run reached by 6 N FLOP a token, mostly 0.2 to 0.5",
        )
    return Utilisation(mfu, goodput, SPREAD_WHEN_MEASURED)
