"""Rules about how long a cluster may live and what it may cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from planning.catalog import node_price
from planning.facts.capacity import FROM_RESERVATION
from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule

RESERVATIONS = {
    "aws": "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html",
    "azure": "https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview",
}
LONGEST_LIFE = timedelta(days=3 * 365)
"""No cluster is planned for longer; a day beyond is a slip of the keyboard."""


@rule("above-cost-limit", "error", reference="docs/spec.md")
def above_cost_limit(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """What the cluster costs stays below the limit of the spec."""
    limit = spec.lifetime.max_usd_per_hour
    if limit is not None and float(facts.cost.usd_per_hour) > limit:
        at_least = "at least " if facts.cost.is_lower_bound else ""
        message = (
            f"the cluster costs {at_least}{facts.cost.usd_per_hour} USD an hour at list prices, above the limit of "
            f"{limit:g}"
        )
        yield Fault("lifetime.max_usd_per_hour", message, "take fewer or cheaper nodes, or raise the limit")


@rule("grows-above-cost-limit", "warning", reference="docs/spec.md")
def grows_above_cost_limit(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A group stays below the limit of the spec when it has grown, too."""
    limit, more = spec.lifetime.max_usd_per_hour, facts.capacity.most - spec.nodes.count
    price = node_price(spec.nodes.type, spec.region, spec.nodes.purchase)
    if limit is None or price is None or more <= 0 or not spec.nodes.running:
        return
    now = float(facts.cost.usd_per_hour)
    grown = now + more * float(price.usd)
    if now <= limit < grown:
        message = f"grown to {facts.capacity.most} nodes the cluster costs {grown:,.2f} USD an hour, above {limit:g}"
        most = spec.nodes.count + int((limit - now) / float(price.usd))
        yield Fault("nodes.max_count", message, f"write {most}, or raise lifetime.max_usd_per_hour")


@rule("cost-limit-undecided", "warning", reference="docs/spec.md")
def cost_limit_undecided(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A limit can not be judged where a price is unknown."""
    limit = spec.lifetime.max_usd_per_hour
    if limit is not None and facts.cost.is_lower_bound and float(facts.cost.usd_per_hour) <= limit:
        unknown = ", ".join(line.item for line in facts.cost.lines if line.usd_per_hour is None)
        yield Fault(
            "lifetime.max_usd_per_hour",
            f"no price is known for {unknown}, so the limit is not proved",
            "check the price yourself",
        )


@rule("expired", "error", reference="docs/spec.md")
def expired(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The cluster's last day is still to come."""
    day = spec.lifetime.expires
    if day is not None and day < facts.today and spec.nodes.running:
        yield Fault(
            "lifetime.expires",
            f"the cluster expired on {day}, before today, {facts.today}",
            "write a later day, or nodes.running: false",
        )


@rule("expires-far-away", "warning", reference="docs/spec.md")
def expires_far_away(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The cluster's last day is near enough to remind anybody of it."""
    day = spec.lifetime.expires
    if day is not None and day - facts.today > LONGEST_LIFE:
        message = f"{day} is {(day - facts.today).days // 365} years away, so that nothing ever ends by it"
        yield Fault("lifetime.expires", message, "write the day that the work should be done by")


@rule("expires-after-reservation", "warning", reference=RESERVATIONS)
def expires_after_reservation(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The cluster ends with the reservation that its nodes come from."""
    day, ends = spec.lifetime.expires, facts.capacity.ends
    if day is not None and ends is not None and ends < day and spec.nodes.purchase in FROM_RESERVATION:
        message = (
            f"{facts.capacity.reservation} ends on {ends}, and the cluster on {day}: between them no node starts from "
            "it, and network and storage are paid"
        )
        yield Fault("lifetime.expires", message, f"write {ends}, or say where nodes come from after it")
