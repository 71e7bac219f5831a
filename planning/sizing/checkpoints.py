"""How large a checkpoint is, how long it takes to write, and how often to write one. Failures:
`planning.sizing.failures`."""

from __future__ import annotations

from math import sqrt

from planning.sizing.memory import STATES, Optimizer
from planning.sizing.models import Model

WRITE_EFFICIENCY = 0.7
"""Of a filesystem's nominal rate when all nodes write at once (ours)."""


def checkpoint_bytes(model: Model, optimizer: Optimizer = "adamw") -> int:
    """A full checkpoint: bf16 weights and the optimizer's states, 14 bytes a parameter with AdamW.

    BLOOM's were 2,295 GiB, which is 14.0. Without the bf16 copy it is 12: 336 GiB for MPT-30B
    (Azure/ai-infrastructure-on-azure).
    """
    return model.parameters * STATES[optimizer].saved


def weights_bytes(model: Model) -> int:
    """The bf16 weights alone: what is kept of a model once it is trained."""
    return 2 * model.parameters


def write_seconds(size_bytes: float, *, bytes_per_second: float, efficiency: float = WRITE_EFFICIENCY) -> float:
    return size_bytes / (bytes_per_second * efficiency)


def young_seconds(write_s: float, mtbf_s: float) -> float:
    """Interval between checkpoints that loses least: sqrt(2 C M). Source: Young, CACM 17 (1974) 530."""
    return sqrt(2 * write_s * mtbf_s)


def daly_seconds(write_s: float, mtbf_s: float) -> float:
    """The same to higher order. Source: Daly, Future Generation Computer Systems 22 (2006) 303, eq. 37."""
    if write_s >= 2 * mtbf_s:
        return mtbf_s
    x = sqrt(write_s / (2 * mtbf_s))
    return young_seconds(write_s, mtbf_s) * (1 + x / 3 + x * x / 9) - write_s


def lost_share(write_s: float, interval_s: float, mtbf_s: float, restart_s: float) -> float:
    """Of the run's time: writing, work done again (half an interval a failure) and restarts. At most 1."""
    return min(1.0, write_s / interval_s + (interval_s / 2 + restart_s) / mtbf_s)
