"""Tags of AWS resources: the plan's, and the name that consoles show."""

from __future__ import annotations

from planning.plan import Plan


def named(plan: Plan, role: str) -> dict[str, str]:
    """Said on every taggable resource explicitly; the provider's default tags are not relied on (pulumi-aws#5740)."""
    return {**plan.tags, "Name": f"{plan.name}-{role}"}
