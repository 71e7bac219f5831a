"""Whether a custom timeout is shorter than what the cloud takes. Virtual time: nothing ever waits.

How long each type takes: durations.toml.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from localcloud.store import Cloud


def overdue(cloud: Cloud, token: str, doing: Literal["create", "delete"], allowed: float) -> str:
    """The provider's words when its wait ends before the cloud is done, else nothing. `allowed` in seconds, 0: none."""
    if not allowed or allowed >= _minutes(doing).get(token, 0) * 60:
        return ""
    if cloud == "aws":
        state = "'available' (last state: 'creating'" if doing == "create" else "'' (last state: 'deleting'"
        return f"waiting for {doing}: timeout while waiting for state to become {state}, timeout: {_go(allowed)})"
    return f"polling failed after {_go(allowed)}: context deadline exceeded"


@cache
def _minutes(doing: str) -> dict[str, float]:
    return tomllib.loads(Path(__file__).with_name("durations.toml").read_text(encoding="utf-8"))[doing]


def _go(seconds: float) -> str:
    """As Go writes a duration: 1h0m0s."""
    hours, rest = divmod(int(seconds), 3600)
    if hours:
        return f"{hours}h{rest // 60}m{rest % 60}s"
    return f"{rest // 60}m{rest % 60}s" if rest >= 60 else f"{rest}s"
