"""The launcher environment: what NCCL and torchrun need to know and a node can not tell better itself."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _environments() -> dict[str, Any]:
    return tomllib.loads(files("planning.catalog").joinpath("launcher.toml").read_text(encoding="utf-8"))


def launcher_env(fabric: str, cloud: str, nodes: int, gpus_per_node: int) -> dict[str, str]:
    """Variables by name, sorted. torchrun reads its options from PET_ variables."""
    key = f"ethernet-{cloud}" if fabric == "ethernet" else fabric
    env = {**_environments()[key]["env"], "PET_NNODES": str(nodes), "PET_NPROC_PER_NODE": str(gpus_per_node)}
    return dict(sorted(env.items()))
