"""What the hooks of Azure nodes say: which running nodes a change ends or leaves behind, what a refused start means."""

from __future__ import annotations

from components.hooks import Inputs, changes
from planning.plan import Plan

UNSEEN_BY_NODES = ("sku", "tags", "upgradePolicy", "__defaults")
"""Of a scale set's inputs: what changes without another model of its nodes."""


def what_ends(plan: Plan, old: Inputs, new: Inputs) -> str | None:
    """Of a change in place: nodes that Azure deletes, and nodes that keep what they were made from."""
    told: list[str] = []
    before, after = _capacity(old), _capacity(new)
    if after < before and not plan.nodes.capacity.elastic:
        told.append(
            f"the scale set shrinks from {before} to {after} nodes: Azure chooses which running nodes it deletes, and "
            "a job that runs on all of them ends"
        )
    if changed := changes(old, new, UNSEEN_BY_NODES):
        told.append(
            f"the model of the scale set changes ({', '.join(changed)}): running nodes keep what they were "
            "made from until `az vmss update-instances` and `az vmss reimage`, which end a job on them (docs/azure.md)"
        )
    return "; ".join(told) or None


def _capacity(inputs: Inputs) -> int:
    return int((inputs.get("sku") or {}).get("capacity") or 0)


def advice(plan: Plan, said: str, is_change: bool) -> str | None:
    """What a refused start means, by the code in the cloud's words, what is left of it, and what to do."""
    where = _options(plan)
    if "AllocationFailed" not in said and "Overconstrained" not in said:
        return _refused_whole(plan, said)
    reason = _no_room(plan, said)
    if is_change:
        return (
            f"{reason}. The nodes that ran run on, and some of the new ones may: `az vmss list-instances {where} "
            "--output table` lists them. To have as many as before, write the old nodes.count and run `pulumi up "
            "--refresh`"
        )
    return (
        f"{reason}. Nodes made so far are billed: `az vmss list-instances {where} --output table` lists them, and "
        f"`az vmss scale {where} --new-capacity 0` (or nodes.running: false) stops the bill"
    )


def half_made(plan: Plan) -> str:
    """Of a scale set that Azure calls failed. A run that refreshes finds nothing to do: the wanted number is there."""
    where = _options(plan)
    return (
        f"Azure calls the scale set failed, so that fewer than {plan.nodes.count} nodes may run: `az vmss "
        f"list-instances {where} --output table` lists them, and `az vmss scale {where} --new-capacity "
        f"{plan.nodes.count}` asks for the rest"
    )


def _options(plan: Plan) -> str:
    """Of `az vmss`."""
    return f"--resource-group {plan.name} --name {plan.name}-nodes"


def _place(plan: Plan) -> str:
    return f"{plan.region}{f' zone {plan.zone}' if plan.zone else ''}"


def _no_room(plan: Plan, said: str) -> str:
    size, where = plan.nodes.type, _place(plan)
    if "Overconstrained" in said:
        return f"no capacity under all constraints at once: {where} may have {size} without the zone"
    return f"no capacity, not a quota: {where} has no room for {plan.nodes.count} {size} now; try later or elsewhere"


def _refused_whole(plan: Plan, said: str) -> str | None:
    """The request was refused before any node was made."""
    if "SkuNotAvailable" in said:
        return (
            f"not offered: {plan.nodes.type} is restricted for this subscription in {_place(plan)}: a support ticket "
            "lifts it, no quota. No node was made"
        )
    if plan.quota and ("QuotaExceeded" in said or "exceeding approved" in said):
        quota = plan.quota[0]
        name = "cores (Total Regional vCPUs)" if "Total Regional" in said else quota.code
        return f"quota: ask for {quota.need} {quota.unit} of {name} in {plan.region}. No node was made"
    return None
