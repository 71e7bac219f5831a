"""Rules about how long a cluster may live and what it may cost."""

from __future__ import annotations

from collections.abc import Iterator

from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule


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
