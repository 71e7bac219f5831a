"""Which managed Lustre a run needs: the cheapest legal size and tier that takes the checkpoints in time and holds what
there is."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from planning import catalog
from planning.catalog.records import AwsNodeType, Cloud, LustreTier, NodeType
from planning.sizing.checkpoints import write_seconds
from planning.sizing.fabric import client_gb_per_second
from planning.sizing.gpus import GIB

CHECKPOINTS_KEPT = 3
FULLEST = 0.8
"""A Lustre target slows down and refuses writes near full (stas00/ml-engineering, storage)."""
WRITE_SHARE = 0.02
"""Of the time between checkpoints that writing one may take; by Young that is a write of 2 * 0.02^2 of the time
between failures."""
FASTEST_WORTH_PAYING, SLOWEST_SECONDS = 120, 600
"""No faster than two minutes, since asynchronous saving hides the rest; no slower than ten, since all nodes read as
much to start (ours)."""
REFERENCE_REGION: dict[Cloud, str] = {"aws": "us-east-1", "azure": "eastus"}
"""Whose prices rank tiers where the asked region has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lustre:
    tier: LustreTier
    capacity_gib: int
    gb_per_second: float
    """Nominal rate of the whole, GB/s."""
    write_s: float
    """Of one full checkpoint."""
    efa: bool

    @property
    def mbps_per_tib(self) -> int:
        return self.tier.mbps_per_tib


def allowed_write_seconds(mtbf_s: float) -> float:
    return min(SLOWEST_SECONDS, max(FASTEST_WORTH_PAYING, 2 * WRITE_SHARE**2 * mtbf_s))


def needed_bytes(checkpoint_bytes: int, dataset_bytes: int) -> float:
    """Capacity: checkpoints and data, with room."""
    return (CHECKPOINTS_KEPT * checkpoint_bytes + dataset_bytes) / FULLEST


def lustre_for(
    node: NodeType, nodes: int, *, checkpoint_bytes: int, dataset_bytes: int, mtbf_s: float, region: str
) -> Lustre:
    """The cheapest persistent filesystem; nodes themselves may be what limits a write, which money does not mend."""
    clients = nodes * client_gb_per_second(node)
    by_clients = write_seconds(checkpoint_bytes, bytes_per_second=clients * 1e9)
    allowed = max(allowed_write_seconds(mtbf_s), by_clients)
    needed_gib = needed_bytes(checkpoint_bytes, dataset_bytes) / GIB
    choices = [
        _smallest(node, tier, needed_gib, write_seconds(checkpoint_bytes, bytes_per_second=1e9) / allowed)
        for tier in catalog.lustre_tiers(node.cloud, "persistent")
    ]
    tier, capacity, efa = min(choices, key=lambda choice: _usd_per_month(choice[0], choice[1], region))
    rate = capacity / 1024 * tier.mbps_per_tib / 1000
    written = write_seconds(checkpoint_bytes, bytes_per_second=min(rate, clients) * 1e9)
    return Lustre(tier=tier, capacity_gib=capacity, gb_per_second=rate, write_s=written, efa=efa)


def _smallest(
    node: NodeType, tier: LustreTier, needed_gib: float, needed_gb_per_s: float
) -> tuple[LustreTier, int, bool]:
    """The smallest legal capacity of a tier for both needs; with EFA where the node has it and the steps are met."""
    gib = ceil(max(needed_gib, needed_gb_per_s * 1000 / tier.mbps_per_tib * 1024, 1))
    small = [size for size in (*tier.also_gib, tier.smallest_gib) if size >= gib]
    efa = isinstance(node, AwsNodeType) and node.efa > 0 and tier.efa_step_gib > 0
    if efa and gib > tier.efa_step_gib / 2:
        return tier, ceil(gib / tier.efa_step_gib) * tier.efa_step_gib, True
    return tier, min(small, default=ceil(gib / tier.step_gib) * tier.step_gib), False


def _usd_per_month(tier: LustreTier, capacity_gib: int, region: str) -> tuple[Decimal, int]:
    asked = (region, REFERENCE_REGION[tier.cloud])
    prices = (catalog.lustre_price(tier.cloud, tier.deployment, tier.mbps_per_tib, where) for where in asked)
    price = next((found for found in prices if found), None)
    return (price.usd if price else Decimal(1)) * capacity_gib, tier.mbps_per_tib
