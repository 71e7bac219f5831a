"""What the hooks of AWS nodes say: which running nodes a change ends or leaves behind, what a refused start means."""

from __future__ import annotations

from components.hooks import Inputs, changes
from planning.plan import Plan

TOLD_BY_NAME = {"userData": "first boot and launcher environment", "imageId": "image"}
UNSEEN_BY_NODES = ("tags", "tagSpecifications", "description", "__defaults")
"""Of a launch template's inputs: what changes without another kind of node."""


def what_nodes_keep(plan: Plan, old: Inputs, new: Inputs) -> str | None:
    """Of another launch template, which reaches new nodes only."""
    changed = changes(old, new, UNSEEN_BY_NODES)
    if not changed or not plan.nodes.declared:
        return None
    what = ", ".join(sorted(TOLD_BY_NAME.get(key, key) for key in changed))
    way = (
        "`pulumi up --replace` of the fleet"
        if plan.nodes.capacity.start == "fleet"
        else "`aws autoscaling start-instance-refresh`"
    )
    return (
        f"the launch template changes ({what}): running nodes keep what they have booted with until they are replaced "
        f"by {way}, which ends the job on them (docs/aws.md)"
    )


def what_ends(plan: Plan, old: Inputs, new: Inputs) -> str | None:
    """Of a group that asks for fewer nodes."""
    before, after = _wanted(old), _wanted(new)
    if after >= before:
        return None
    if plan.nodes.capacity.elastic:
        return (
            f"the group may have {after} nodes, no more {before}: those above run on and are paid, since they are "
            "protected from scale-in, until somebody terminates them"
        )
    return (
        f"the group shrinks from {before} to {after} nodes: EC2 Auto Scaling chooses which running nodes end, and a "
        "job that runs on all of them ends"
    )


def _wanted(inputs: Inputs) -> int:
    """Nodes that a group asks for; where it does not say, as many as it may have. What is not known yet ends none."""
    most = inputs.get("maxSize") or 0
    wanted = inputs.get("desiredCapacity", most)
    return int(wanted if isinstance(wanted, int | float) else most)


def advice(plan: Plan, said: str, is_change: bool) -> str | None:
    """What to do about a refused start, by the code in the cloud's words."""
    if "InsufficientInstanceCapacity" in said:
        gang = plan.nodes.capacity.gang
        left = "nothing of what was asked for is held or paid" if gang else "the group keeps trying"
        left = f"{left}, and the nodes that ran run on" if is_change else left
        return (
            f"{plan.zone} has no room for {plan.nodes.count} {plan.nodes.type} now; {left}. Run `pulumi up "
            "--refresh` later, try another zone, or take a Capacity Block or a reservation (nodes.purchase)"
        )
    if "VcpuLimitExceeded" in said and plan.quota:
        code, unit, need = plan.quota[0].code, plan.quota[0].unit, plan.quota[0].need
        return f"ask for {need} {unit} of EC2 quota {code} in {plan.region}, and run `pulumi up --refresh`"
    return None
