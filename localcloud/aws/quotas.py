"""Which vCPU quota an instance type counts in. The limits: `localcloud.scarcity`. Data: quotas.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


def quota_code(type_: str, purchase: str) -> str:
    """Code of the quota; empty where there is none."""
    family = type_.partition(".")[0]
    fitting = [prefix for prefix in _codes() if family.startswith(prefix)]
    return _codes()[max(fitting, key=len)].get(purchase, "") if fitting else ""


@cache
def _codes() -> dict[str, dict[str, str]]:
    rows = tomllib.loads(Path(__file__).with_name("quotas.toml").read_text())["quota"]
    return {prefix: row for row in rows for prefix in row["prefixes"]}
