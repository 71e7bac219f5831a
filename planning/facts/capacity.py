"""How nodes get their capacity: bought or reserved, all at once or as they come, and how many are asked for now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from planning.catalog.records import Purchase
from planning.facts.disks import Eviction, eviction_of
from planning.spec import AwsSpec, AzureSpec, BuyBlock, Reserved

FROM_RESERVATION = ("reserved", "capacity-block")
SPOT_NOTICE_SECONDS = {"aws": 120, "azure": 30}
"""Before a spot node is taken back, Azure's at best. Sources: EC2 user guide, Spot Instance interruption notices; Azure
documentation, Spot VMs."""
BLOCK_NOTICE_SECONDS = 600
"""EventBridge tells of a Capacity Block's end 40 minutes before it, and from 30 on EC2 terminates its nodes. Source:
EC2 user guide, Capacity Blocks for ML."""
Start = Literal["reservation", "fleet", "group"]
"""What starts the nodes. AWS: a group into a reservation of ours, which makes the start atomic; an instant fleet, since
spot capacity can not be reserved; a group by itself, or into capacity that is there already. Azure: a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    purchase: Purchase
    gang: bool
    """All nodes or none; otherwise as they come."""
    start: Start
    elastic: bool
    """The group may grow, and no later `up` undoes that."""
    most: int
    """Nodes that the group may grow to."""
    now: int
    """Nodes that are asked for: none while stopped, and none before a Capacity Block has begun."""
    reservation: str | None
    """Id of a reservation or Capacity Block that is there already."""
    offering: str | None
    """Id of the Capacity Block offering that is bought."""
    placement_group: str | None
    """AWS: name of the group in which that reservation was made."""
    begins: date | None
    """First day of the Capacity Block, where it is told."""
    ends: date | None
    today: date
    max_price: float | None
    """Most that is paid for a spot node-hour, in US dollars."""
    eviction: Eviction
    """What becomes of a spot node that is taken back."""

    def now_from(self, begin: str | None) -> int:
        """Nodes that are asked for now of a Capacity Block that begins at an RFC 3339 time, where that is known."""
        return self.now if begin and date.fromisoformat(begin[:10]) <= self.today else 0


STARTS: dict[Purchase, Start] = {"on-demand": "reservation", "spot": "fleet"}
"""Of a gang on AWS."""


def notice_of(spec: AwsSpec | AzureSpec) -> int | None:
    """Seconds between the cloud's word and a node's end; None where it does not take nodes back."""
    if spec.nodes.purchase == "spot":
        return SPOT_NOTICE_SECONDS[spec.cloud]
    return BLOCK_NOTICE_SECONDS if spec.nodes.purchase == "capacity-block" else None


def capacity_of(spec: AwsSpec | AzureSpec, today: date, *, ephemeral: bool) -> Capacity:
    """`ephemeral`: whether the nodes' root disk is."""
    nodes, reservation = spec.nodes, spec.nodes.reservation
    known = reservation if isinstance(reservation, Reserved) else None
    begins = known.start if known and nodes.purchase == "capacity-block" else None
    waiting = begins is not None and today < begins
    elastic = nodes.start == "elastic"
    gang = nodes.start == "gang" or (nodes.start == "auto" and nodes.purchase not in FROM_RESERVATION)
    return Capacity(
        purchase=nodes.purchase,
        gang=gang,
        start=STARTS.get(nodes.purchase, "group") if gang and spec.cloud == "aws" else "group",
        elastic=elastic,
        most=max(nodes.count, nodes.max_count or 0) if elastic else nodes.count,
        now=nodes.count if nodes.running and not waiting else 0,
        reservation=known.id if known else reservation if isinstance(reservation, str) else None,
        offering=reservation.buy if isinstance(reservation, BuyBlock) else None,
        placement_group=known.placement_group if known and nodes.placement != "none" else None,
        begins=begins,
        ends=known.end if known else None,
        today=today,
        max_price=nodes.spot.max_price if nodes.spot else None,
        eviction=eviction_of(spec, ephemeral=ephemeral),
    )
