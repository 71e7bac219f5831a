"""Zones of each region: their names, which are an account's own, and their ids, which are everybody's.

Data: zones.toml.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from localcloud.kinds import Refusal


def zones_of(region: str) -> dict[str, str]:
    """Zone name -> zone id."""
    zones = _table().get(region)
    if zones is None:
        known = ", ".join(sorted(_table()))
        raise Refusal("InvalidParameterValue", f"the local cloud knows no zones of region {region}; it knows {known}")
    return {f"{region}{letter}": zone_id for letter, zone_id in zones.items()}


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("zones.toml").read_text())["zones"]
