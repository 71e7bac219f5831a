"""How often a cluster of so many accelerators fails, and what a run loses by it."""

from __future__ import annotations

from dataclasses import dataclass

from planning.sizing.checkpoints import daly_seconds, lost_share

NEW_CLUSTER_GPU_HOURS, BURNED_IN_GPU_HOURS = 10_000, 50_000
"""GPU-hours to a failure of any cause. Lower: jobs of 8 to 1,024 A100 at 8,100 to 9,200 (arXiv 2410.21680) and
OPT-175B on a cloud at 12,300 (facebookresearch/metaseq, 2022). Upper: Llama 3 on 16,384 H100 at 50,700, unexpected
ones alone (arXiv 2407.21783, 2024)."""
LIKELY_GPU_HOURS = 22_000
"""Their geometric mean."""
RESTART_SECONDS = 15 * 60
"""To notice, start again and load. Median of 11 minutes between tries on 504 B200 (arXiv 2605.09370, 2026), and the
load."""
BLOCKING_SHARE = 6.3 / 148.8
"""Of a write, while the next steps wait for the copy out of accelerator memory, when saving is asynchronous: a 7B
model at pytorch.org/blog/reducing-checkpointing-times (2024). The write itself still has to end before the next
one."""
WORTH_ASYNC = 0.05
"""Loss from which on asynchronous saving is planned (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    mtbf_s: float
    """Mean time between failures of the whole cluster."""
    interval_s: float
    """Best interval between checkpoints."""
    lost: float
    """Share of the run's time that failures and checkpoints take."""
    asynchronous: bool
    """Whether checkpoints are written beside the training."""


def failures_of(
    gpus: int, write_s: float, *, gpu_hours_per_failure: float, asynchronous: bool | None = None
) -> Failures:
    """`asynchronous`: how checkpoints are saved; None: asynchronously where waiting for them loses much."""
    mtbf_s = gpu_hours_per_failure * 3600 / gpus
    if not asynchronous:
        waiting = _saving(write_s, write_s, mtbf_s, asynchronous=False)
        if waiting.lost < WORTH_ASYNC or asynchronous is False:
            return waiting
    return _saving(write_s * BLOCKING_SHARE, write_s, mtbf_s, asynchronous=True)


def _saving(blocked_s: float, write_s: float, mtbf_s: float, *, asynchronous: bool) -> Failures:
    interval_s = max(daly_seconds(blocked_s, mtbf_s), write_s)
    return Failures(
        mtbf_s=mtbf_s,
        interval_s=interval_s,
        lost=lost_share(blocked_s, interval_s, mtbf_s, RESTART_SECONDS),
        asynchronous=asynchronous,
    )
