"""What one accelerator can do at most: catalog/gpus.toml."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from planning.catalog.reading import build, read
from planning.catalog.records import NodeType
from planning.sizing.errors import SizingError

FILE = "gpus.toml"
GIB = 1024**3
Precision = Literal["bf16", "fp8"]
HELD_BACK, RESERVE_GIB = 0.10, 2
"""Memory left to the driver, the communication library, fragments and peaks. With it 70 of an 80 GiB card remain; runs
on such cards have peaked at 68.6 GiB (awslabs/awsome-distributed-training, torchtitan on p5, 2025-03). The split is
ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    name: str
    memory_mib: int
    bf16_tflops: int
    """Dense peak, TFLOP/s."""
    fp8_tflops: int
    """Dense peak, TFLOP/s; 0: none."""
    best_matmul_tflops: int
    """Best bf16 matrix product that was measured, TFLOP/s; 0: none was read."""
    bandwidth_gb_per_s: int
    """Of its memory."""
    source: str
    published: date

    @property
    def usable_gib(self) -> float:
        return self.memory_mib / 1024 * (1 - HELD_BACK) - RESERVE_GIB

    @property
    def ridge_flop_per_byte(self) -> float:
        """FLOP that fit into the time in which one byte comes from memory."""
        return self.bf16_tflops * 1000 / self.bandwidth_gb_per_s

    @property
    def best_mfu(self) -> float:
        """Share of the peak that nothing has passed; 1 where it was not measured."""
        return self.best_matmul_tflops / self.bf16_tflops if self.best_matmul_tflops else 1.0


@cache
def accelerators() -> tuple[Accelerator, ...]:
    file = read(FILE)
    rows = [{**file["defaults"], **row} for row in file["accelerators"]]
    return tuple(build(Accelerator, FILE, row["name"], row) for row in rows)


def accelerator(name: str, memory_mib: int | None = None) -> Accelerator | None:
    """The accelerator of this name, with the memory nearest to `memory_mib`, else with the most; None: no peak is
    known."""
    found = [each for each in accelerators() if each.name == name]
    if memory_mib is None:
        return max(found, key=lambda each: each.memory_mib, default=None)
    return min(found, key=lambda each: abs(each.memory_mib - memory_mib), default=None)


def accelerator_of(node: NodeType) -> Accelerator:
    found = accelerator(node.accelerator, node.gpu_memory_mib)
    if found is None:
        names = ", ".join(dict.fromkeys(each.name for each in accelerators()))
        raise SizingError(
            f"nodes.type: no peak rate of {node.accelerator}, which {node.name} carries, is known",
            f"take a node type with one of {names}",
        )
    return found
