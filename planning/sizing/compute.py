"""How much work a run is, and how long accelerators take for it at a given utilisation.

The utilisation, where it is not given: `planning.sizing.utilisation`.
"""

from __future__ import annotations

from typing import Literal

from planning.sizing.errors import SizingError
from planning.sizing.gpus import Accelerator
from planning.sizing.models import Model

Convention = Literal["6N", "6N+attention"]
"""What counts as work. 6N: parameters alone, as most reports do. 6N+attention: the scores over the whole sequence too,
and no embedding table, as torchtitan and Megatron-LM do: the same run then has a higher utilisation, and no other
time."""


def attention_share(model: Model, sequence: int) -> float:
    """Work of causal attention over that of the parameters, which 6N leaves out: 6 L h s / 6 N."""
    return model.layers * model.hidden * sequence / model.active


def flops_per_token(model: Model, sequence: int = 0, convention: Convention = "6N") -> float:
    """FLOP to train on one token, forward and backward.

    Sources: Kaplan et al., arXiv 2001.08361 (6 N); PaLM, arXiv 2204.02311, appendix B (12 L h s for attention; a
    causal kernel does half of it). In a mixture of experts N is what a token passes through.
    """
    if convention == "6N":
        return 6.0 * model.active
    embedding = model.vocabulary * model.hidden
    return 6.0 * (model.active - embedding) + 12.0 * model.layers * model.hidden * sequence


def gpu_hours(flops: float, gpu: Accelerator, mfu: float) -> float:
    """GPU-hours for this much work. `mfu` is a share of the dense bf16 peak, whatever the precision, in the convention
    of `flops`."""
    if not 0 < mfu <= 1:
        raise SizingError(f"mfu: {mfu:g} is not a share of the peak rate", "write a number such as 0.4")
    return flops / (gpu.bf16_tflops * 1e12 * mfu) / 3600


def tokens_per_second(model: Model, gpu: Accelerator, mfu: float) -> float:
    """Of one accelerator, by 6N."""
    return gpu.bf16_tflops * 1e12 * mfu / flops_per_token(model)
