"""What is asked: a training run, and what it may take. Checked here, once; answered by `planning.sizing.advise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar, get_args

from planning.catalog.records import Cloud, Purchase
from planning.cost.pricebook import LIST, Prices
from planning.findings import near, shown
from planning.sizing.errors import SizingError
from planning.sizing.failures import LIKELY_GPU_HOURS
from planning.sizing.gpus import Precision
from planning.sizing.memory import STATES, Optimizer
from planning.sizing.models import Model, model_of
from planning.sizing.quantities import count_of

Word = TypeVar("Word", bound=str)
CLOUDS: tuple[Cloud, ...] = get_args(Cloud)
SMALLEST_BATCH, LARGEST_BATCH = 2**18, 2**24
"""Tokens of one optimizer step; upper: Llama 3 405B (arXiv 2407.21783)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    model: Model
    tokens: int
    sequence: int
    batch_tokens: int
    """Of one optimizer step."""
    precision: Precision
    optimizer: Optimizer
    dataset_bytes: int
    mfu: float | None = None
    """Steady utilisation by 6N, where a run like this one was watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    deadline_days: float | None = None
    budget_usd: Decimal | None = None
    """For the nodes; what else a cluster costs is a few per cent (`planning.cost`)."""
    clouds: tuple[Cloud, ...] = CLOUDS
    regions: Mapping[Cloud, str] = field(default_factory=dict)
    """Where one is preferred; else the region whose prices are known best."""
    node_type: str | None = None
    purchase: Purchase = "on-demand"
    data_cloud: Cloud | None = None
    data_region: str | None = None
    """Where the data are now."""
    gpu_hours_per_failure: float = LIKELY_GPU_HOURS
    prices: Prices = LIST

    def __post_init__(self) -> None:
        if self.deadline_days is not None and not 0 < self.deadline_days < 10_000:
            raise SizingError(
                f"deadline: {shown(self.deadline_days)} days are no time to train in", "write days, such as 60"
            )
        if self.budget_usd is not None and not (self.budget_usd.is_finite() and self.budget_usd > 0):
            raise SizingError(f"budget: {shown(str(self.budget_usd))} is no money", "write US dollars, such as 250000")
        if not self.clouds:
            raise SizingError("cloud: none is named", f"name {' or '.join(CLOUDS)}")
        if not 0 < self.gpu_hours_per_failure < 1e12:
            raise SizingError(
                f"failures: {shown(self.gpu_hours_per_failure)} is not a number of GPU-hours", "write 10000 to 50000"
            )


def run_of(
    model: str | float,
    tokens: str | float,
    *,
    sequence: int | None = None,
    batch_tokens: int | None = None,
    precision: str = "bf16",
    optimizer: str = "adamw",
    dataset_bytes: int | None = None,
    mfu: float | None = None,
) -> Run:
    """A run from what people write. Raises `SizingError`."""
    found = model_of(model)
    count = count_of("tokens", tokens, "1.5T or 1.5e12")
    length = found.sequence if sequence is None else count_of("sequence length", sequence, "8192")
    if length > count:
        raise SizingError(f"sequence length: {length:,} tokens are more than the {count:,} of the run", "write fewer")
    batch = usual_batch_tokens(found, count) if batch_tokens is None else count_of("batch", batch_tokens, "4M")
    if dataset_bytes is not None and dataset_bytes < 0:
        raise SizingError(f"dataset size: {dataset_bytes:,} bytes are less than nothing", "write bytes, 0 for none")
    if mfu is not None and not 0 < mfu < 1:
        raise SizingError(f"mfu: {shown(mfu)} is not a share of the peak rate", "write a number such as 0.4")
    return Run(
        model=found,
        tokens=count,
        sequence=length,
        batch_tokens=max(length, batch),
        precision=_word("precision", precision, get_args(Precision)),
        optimizer=_word("optimizer", optimizer, tuple(STATES)),
        dataset_bytes=tokenized_bytes(found, count) if dataset_bytes is None else dataset_bytes,
        mfu=mfu,
    )


def usual_batch_tokens(model: Model, tokens: int) -> int:
    """Tokens of one optimizer step, growing with the run: 0.292 C^0.3271, within what is in use, a power of two.

    Source: DeepSeek LLM, arXiv 2401.02954, equation 1, with C the work of the run in FLOP.
    """
    fitted = 0.292 * (6.0 * model.active * tokens) ** 0.3271
    within = min(LARGEST_BATCH, max(SMALLEST_BATCH, int(fitted)))
    return 2 ** (within.bit_length() - 1)


def tokenized_bytes(model: Model, tokens: int) -> int:
    """Of the data as numbers of the vocabulary: two bytes each up to 65,536 words, else four."""
    return tokens * (2 if model.vocabulary <= 2**16 else 4)


def _word(what: str, said: str, words: tuple[Word, ...]) -> Word:
    for word in words:
        if said == word:
            return word
    likely = near(said, list(words))
    fix = f"did you mean {' or '.join(likely)}?" if likely else f"write {' or '.join(words)}"
    raise SizingError(f"{what}: {shown(said)} is not known here", fix)
