"""Ways to buy the nodes of a run: what each costs, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from planning.catalog.records import Cloud, NodeType, Price, Purchase
from planning.cost.pricebook import Prices
from planning.sizing.fabric import LONGEST_BLOCK_DAYS, MOST_IN_A_BLOCK

SPOT_NOTICE_SECONDS: dict[Cloud, int] = {"aws": 120, "azure": 30}
"""Before a node is taken back; Azure's is best effort. Sources: EC2 user guide, spot interruption notices; Azure
Scheduled Events."""
TO_REACT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    purchase: Purchase
    price: Price | None
    """Of a node-hour; None where none is known for the region."""
    usd: Decimal | None
    """For the node-hours of the run, to the dollar."""
    risk: str


def options_for(
    node: NodeType, nodes: int, *, days: float, node_hours: float, region: str, write_s: float, prices: Prices
) -> tuple[Option, ...]:
    """All ways that the node type is sold in, on demand first. `write_s`: of one checkpoint."""
    return tuple(
        Option(
            purchase=purchase,
            price=(price := prices.node(node.name, region, purchase)),
            usd=usd_of(price, node_hours),
            risk="; ".join(_risks(node, nodes, purchase, days, write_s)),
        )
        for purchase in node.purchase
    )


def usd_of(price: Price | None, node_hours: float) -> Decimal | None:
    return (price.usd * Decimal(node_hours)).quantize(Decimal(1)) if price else None


def _risks(node: NodeType, nodes: int, purchase: Purchase, days: float, write_s: float) -> Iterator[str]:
    aws = node.cloud == "aws"
    if purchase == "on-demand" and aws:
        yield "capacity is not promised: the start gives all nodes or none, and none costs nothing"
    elif purchase == "on-demand":
        yield "capacity is not promised and quota not granted by default: a set may come up in part, and bill for it"
    elif purchase == "reserved":
        yield "billed from the moment it is made, used or not; it must lie in the placement group and zone of the nodes"
    elif purchase == "capacity-block":
        yield "paid up front and never given back; its nodes end 30 minutes before it does"
        if nodes > MOST_IN_A_BLOCK:
            yield f"one block holds {MOST_IN_A_BLOCK} nodes, so that this run needs several, which are not one fabric"
        if days > LONGEST_BLOCK_DAYS:
            yield f"a block lasts {LONGEST_BLOCK_DAYS} days at most, and the run about {days:.0f}"
    else:
        notice = SPOT_NOTICE_SECONDS[node.cloud]
        saved = write_s + TO_REACT_SECONDS <= notice
        yield f"the run stops when {'any one' if nodes > 1 else 'the'} node is taken back, {notice} s after the notice"
        if saved:
            yield f"a checkpoint, which takes {write_s:.0f} s, can be written in that time"
        else:
            yield f"a checkpoint takes {write_s:.0f} s, so that what was done since the last one is lost"
