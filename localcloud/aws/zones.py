"""Zones of each region: their names, which are an account's own, and their ids, which are everybody's.

Data: zones.toml.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from localcloud.kinds import Refusal


def zones_of(region: str) -> dict[str, str]:
    """Zone name -> zone id, of those that every account has."""
    zones = _table()["zones"].get(region)
    if zones is None:
        known = ", ".join(sorted(_table()["zones"]))
        raise Refusal("InvalidParameterValue", f"the local cloud knows no zones of region {region}; it knows {known}")
    return {f"{region}{letter}": zone_id for letter, zone_id in zones.items()}


def places_of(region: str) -> dict[str, str]:
    """The same with Local Zones: all that a subnet or a node can be in."""
    local = _table()["local"].get(region, {})
    return zones_of(region) | {f"{region}{ending}": zone_id for ending, zone_id in local.items()}


@cache
def _table() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(Path(__file__).with_name("zones.toml").read_text())
