"""A run and its constraints -> what to build: nodes, split, time, filesystem, checkpoints, purchase; or why not, and
what would.

The numbers: `planning.sizing.estimates`; why not: `planning.sizing.refusals`; the words for both:
`planning.sizing.explain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from planning import catalog
from planning.catalog.records import Cloud, NodeType
from planning.sizing.errors import ImpossibleError, SizingError
from planning.sizing.estimates import (
    Alternative,
    Estimate,
    alternatives,
    candidates,
    estimate,
    nodes_needed,
    setting_of,
)
from planning.sizing.fabric import Limit, limit_of
from planning.sizing.filesystem import REFERENCE_REGION
from planning.sizing.gpus import accelerator_of
from planning.sizing.layout import fewest_nodes
from planning.sizing.purchases import Option, options_for
from planning.sizing.refusals import refuse
from planning.sizing.runs import Constraints, Run

USUAL_ACCELERATOR = "H100"
"""What is sized where no node type is named: most published runs of the last years were on it, so that its time is
known best."""
LONGEST_DAYS = 365
"""Of a run without a deadline, on all the nodes of one fabric (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    estimate: Estimate
    limit: Limit
    memory_floor_nodes: int
    options: tuple[Option, ...]
    """Ways to buy; the one that was asked for first."""
    nodes_if_slow: int | None
    """Nodes that hold the deadline at the low end of utilisation; None without a deadline, or where one fabric has not
    so many."""
    alternatives: tuple[Alternative, ...]

    @property
    def cloud(self) -> Cloud:
        return self.estimate.node.cloud

    @property
    def one_node(self) -> bool:
        """Whether no fabric between nodes is needed."""
        return self.estimate.nodes == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    run: Run
    constraints: Constraints
    recommendations: tuple[Recommendation, ...]
    refusals: Mapping[Cloud, ImpossibleError]
    """By cloud: why it can not be, and what would."""


def recommend(run: Run, constraints: Constraints | None = None) -> Advice:
    """An answer for each cloud that is asked about. Raises `SizingError` for a mistake in the question itself."""
    asked = constraints or Constraints()
    answers: list[Recommendation] = []
    refused: dict[Cloud, ImpossibleError] = {}
    for cloud in _clouds(asked):
        try:
            answers.append(recommend_on(cloud, run, asked))
        except ImpossibleError as no:
            refused[cloud] = no
    return Advice(run=run, constraints=asked, recommendations=tuple(answers), refusals=refused)


def recommend_on(cloud: Cloud, run: Run, constraints: Constraints) -> Recommendation:
    """Raises `ImpossibleError` where this cloud has no answer."""
    node = _node(cloud, constraints)
    region = constraints.regions.get(cloud, REFERENCE_REGION[cloud])
    limit = limit_of(node)
    floor = fewest_nodes(setting_of(run, node))
    needed = nodes_needed(run, node, region, constraints)
    if constraints.deadline_days is None and floor is not None and (needed is None or needed > limit.nodes):
        needed = _all_of_one_fabric(run, node, region, limit, constraints)
    if floor is None or needed is None or needed > limit.nodes:
        raise refuse(run, node, region, constraints, floor, needed)
    found = estimate(run, node, region, needed, constraints)
    options = _options(found, constraints)
    _check_budget(found, options[0], constraints)
    slow = nodes_needed(run, node, region, constraints, slow=True) if constraints.deadline_days else None
    return Recommendation(
        estimate=found,
        limit=limit,
        memory_floor_nodes=floor,
        options=options,
        nodes_if_slow=slow if slow and slow <= limit.nodes else None,
        alternatives=tuple(alternatives(run, node, region, constraints)),
    )


def _all_of_one_fabric(run: Run, node: NodeType, region: str, limit: Limit, constraints: Constraints) -> int | None:
    """What a run without a deadline gets where the usual time takes more; None where even that is no answer."""
    most = estimate(run, node, region, limit.nodes, constraints)
    return limit.nodes if most.fit and most.days.likely <= LONGEST_DAYS else None


def _clouds(constraints: Constraints) -> tuple[Cloud, ...]:
    """Those asked about; a node type that is named is of one cloud only."""
    node = catalog.node_type(constraints.node_type) if constraints.node_type else None
    if node is None or node.cloud not in constraints.clouds:
        return constraints.clouds
    return (node.cloud,)


def _node(cloud: Cloud, constraints: Constraints) -> NodeType:
    if constraints.node_type is None:
        usual = [n for n in candidates(cloud) if n.accelerator == USUAL_ACCELERATOR and limit_of(n).nodes > 1]
        return max(usual, key=lambda n: n.gpus)
    node = catalog.node_type(constraints.node_type)
    if node is None or node.cloud != cloud:
        likely = catalog.near_node_types(constraints.node_type, cloud)
        known = f"did you mean {' or '.join(likely)}?" if likely else f"leave it out for one with {USUAL_ACCELERATOR}"
        raise SizingError(f"nodes.type: {constraints.node_type!r} is not a node type of {cloud} that is known", known)
    accelerator_of(node)
    return node


def _options(found: Estimate, constraints: Constraints) -> tuple[Option, ...]:
    options = options_for(
        found.node,
        found.nodes,
        days=found.days.likely,
        node_hours=found.node_hours.likely,
        region=found.region,
        write_s=found.write_s,
        prices=constraints.prices,
    )
    if constraints.purchase not in found.node.purchase:
        sold = " or ".join(found.node.purchase)
        raise ImpossibleError(
            f"nodes.purchase: {found.node.name} is not sold as {constraints.purchase}", (f"buy it as {sold}",)
        )
    return tuple(sorted(options, key=lambda option: option.purchase != constraints.purchase))


def _check_budget(found: Estimate, option: Option, constraints: Constraints) -> None:
    budget = constraints.budget_usd
    if budget is None:
        return
    if option.usd is None or option.price is None:
        raise ImpossibleError(
            f"budget: no price of {found.node.name}, {option.purchase}, is known in {found.region}",
            (f"ask for {REFERENCE_REGION[found.node.cloud]}", "lay a price of your own over the list"),
        )
    if option.usd <= budget:
        return
    share = float(budget / option.usd)
    tokens = f"{found.run.tokens * share:.2g} tokens, which {budget:,.0f} USD pay for"
    cheaper = (
        f"{other.nodes} x {other.node_type}, about {other.usd:,.0f} USD"
        for other in alternatives(found.run, found.node, found.region, constraints)
        if other.usd is not None and other.usd <= budget
    )
    raise ImpossibleError(
        f"budget: the nodes alone cost about {option.usd:,.0f} USD ({found.node_hours.likely:,.0f} hours of "
        f"{found.node.name} at {option.price.usd} USD), more than {budget:,.0f}",
        (
            tokens,
            *cheaper,
            f"a budget of {ceil(option.usd * Decimal(found.utilisation.spread)):,} USD, which is enough at worst, too",
        ),
    )
