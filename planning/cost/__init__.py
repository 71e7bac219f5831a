"""What a cluster costs, in dated list prices or in prices of one's own.

What it costs by being there: `planning.cost.standing`; by being used, as far as that is assumed: `planning.cost.usage`.
Where prices come from: `planning.cost.pricebook`. Lines and sums: `planning.cost.lines`.
"""

from __future__ import annotations

from datetime import date
from typing import Protocol

from planning.cost.lines import HOURS_PER_MONTH, Cost, Line
from planning.cost.pricebook import LIST, Prices
from planning.cost.standing import AnyNode, AnySpec, standing
from planning.cost.usage import Usage, assumed, used
from planning.facts.storage import Lustre

__all__ = ["HOURS_PER_MONTH", "LIST", "Cost", "Line", "Prices", "Usage", "cost_of", "whole_cost"]


def cost_of(spec: AnySpec, node: AnyNode | None, lustre: Lustre | None, *, ephemeral_root: bool, today: date) -> Cost:
    """By being there, at list prices: what `plan`, limits and exports tell."""
    lines = tuple(standing(spec, node, lustre, ephemeral_root=ephemeral_root, today=today, prices=LIST))
    assumptions = ["list prices for Linux without discounts", f"a month has {HOURS_PER_MONTH} hours"]
    assumptions.append("data transfer, requests and objects stored are not counted (`gpu-clusters cost` does)")
    if spec.network.flow_logs:
        assumptions.append("flow logs are charged per GB written and kept, which is not counted")
    return Cost(lines=lines, assumptions=(*assumptions, *_bound(lines)))


class Derived(Protocol):
    """What a cost takes of the facts, which are derived with a cost of their own."""

    @property
    def node(self) -> AnyNode | None: ...
    @property
    def lustre(self) -> Lustre | None: ...
    @property
    def ephemeral_root(self) -> bool: ...
    @property
    def today(self) -> date: ...


def whole_cost(spec: AnySpec, facts: Derived, usage: Usage, prices: Prices = LIST) -> Cost:
    """By being there and by being used."""
    lines = (
        *standing(
            spec, facts.node, facts.lustre, ephemeral_root=facts.ephemeral_root, today=facts.today, prices=prices
        ),
        *used(spec, facts.node, usage, prices),
    )
    priced = f"prices of {prices.source} over list prices" if prices is not LIST else "list prices without discounts"
    assumptions = (f"{priced}, for Linux", *assumed(spec, usage), *_bound(lines))
    return Cost(lines=lines, assumptions=assumptions, hours=usage.hours)


def _bound(lines: tuple[Line, ...]) -> tuple[str, ...]:
    unknown = any(line.unit_price is None for line in lines)
    return ("the total is a lower bound: a line has no known price",) if unknown else ()
