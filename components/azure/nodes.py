"""The nodes: one Uniform scale set, which is one InfiniBand fabric. What one is like: `template`.

Azure has no all-or-none start: a scale set may come up half and bill. InfiniBand joins the VMs of one scale set only,
and only with a single placement group; placement groups of the other kind (proximity) only get in the way.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pulumi
from pulumi_azure_native import compute

from components.azure.group import Group
from components.azure.identity import Identity
from components.azure.network import Network
from components.azure.objects import Objects
from components.azure.template import marketplace_plan, node_profile
from components.hooks import Inputs, advising, announcing
from planning.plan import Plan

UNSEEN_BY_NODES = ("sku", "tags", "upgradePolicy", "__defaults")
"""Of a scale set's inputs: what changes without another model of its nodes."""


def declare_nodes(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    group: Group,
    network: Network,
    objects: Objects,
    identity: Identity,
    first_boot: pulumi.Input[str],
) -> pulumi.Input[int]:
    """`first_boot` is the nodes' custom data, encoded. Returns how many nodes are asked for now."""
    if not plan.nodes.running:
        return 0
    told = announcing(f"{name}-nodes", partial(_what_ends, plan))
    refused = advising(f"{name}-start", partial(_advice, plan))
    compute.VirtualMachineScaleSet(
        f"{name}-nodes",
        vm_scale_set_name=f"{plan.name}-nodes",
        resource_group_name=group.name,
        location=plan.region,
        orchestration_mode="Uniform",
        single_placement_group=plan.nodes.placed,
        overprovision=False,
        platform_fault_domain_count=1,
        zones=[plan.zone] if plan.zone else None,
        sku={"name": plan.nodes.type, "tier": "Standard", "capacity": plan.nodes.count},
        plan=marketplace_plan(plan),
        identity=compute.VirtualMachineScaleSetIdentityArgs(
            type=compute.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity.id]
        ),
        # Manual: a changed model reaches running nodes only when somebody says so.
        upgrade_policy=compute.UpgradePolicyArgs(mode=compute.UpgradeMode.MANUAL),
        virtual_machine_profile=node_profile(plan, network, first_boot),
        tags=dict(plan.tags),
        opts=pulumi.ResourceOptions(
            parent=parent,
            depends_on=[*network.ready, *objects.ready, *identity.granted],
            # Whoever scales an elastic group is not undone.
            ignore_changes=["sku.capacity"] if plan.nodes.capacity.elastic else None,
            # Azure changes none of it in place, though azure-native previews that it would.
            replacement_trigger=_fixed(plan, network),
            delete_before_replace=True,
            hooks=pulumi.ResourceHookBinding(before_update=[told], on_error=[refused]),
        ),
    )
    return plan.nodes.declared


def _fixed(plan: Plan, network: Network) -> list[Any]:
    """What a scale set is made with once and for all."""
    nodes, capacity = plan.nodes, plan.nodes.capacity
    return [
        nodes.type,
        plan.zone or "",
        nodes.placed,
        capacity.purchase,
        capacity.eviction if capacity.purchase == "spot" else "",
        capacity.reservation or "",
        nodes.ephemeral_root,
        nodes.trusted_launch,
        network.subnet_id,
    ]


def _what_ends(plan: Plan, old: Inputs, new: Inputs) -> str | None:
    """Of a change in place: nodes that Azure deletes, and nodes that keep what they were made from."""
    told: list[str] = []
    before, after = _capacity(old), _capacity(new)
    if after < before and not plan.nodes.capacity.elastic:
        told.append(
            f"the scale set shrinks from {before} to {after} nodes: Azure chooses which running nodes it deletes, and "
            "a job that runs on all of them ends"
        )
    changed = {key for key in {**old, **new} if old.get(key) != new.get(key)} - set(UNSEEN_BY_NODES)
    if changed:
        told.append(
            f"the model of the scale set changes ({', '.join(sorted(changed))}): running nodes keep what they were "
            "made from until `az vmss update-instances` and `az vmss reimage`, which end a job on them (docs/azure.md)"
        )
    return "; ".join(told) or None


def _capacity(inputs: Inputs) -> int:
    return int((inputs.get("sku") or {}).get("capacity") or 0)


def _advice(plan: Plan, said: str) -> str | None:
    """What a refused start means, by the code in the cloud's words, what is left of it, and what to do."""
    reason = _reason(plan, said)
    if reason is None:
        return None
    where = f"--resource-group {plan.name} --name {plan.name}-nodes"
    return (
        f"{reason}. Nodes made so far are billed: `az vmss list-instances {where} --output table` lists them, and "
        f"`az vmss scale {where} --new-capacity 0` (or nodes.running: false) stops the bill"
    )


def _reason(plan: Plan, said: str) -> str | None:
    size, where = plan.nodes.type, f"{plan.region}{f' zone {plan.zone}' if plan.zone else ''}"
    if "Overconstrained" in said:
        return f"no capacity under all constraints at once: {where} may have {size} without the zone"
    if "AllocationFailed" in said:
        return (
            f"no capacity, not a quota: {where} has no room for {plan.nodes.count} {size} now; try later or elsewhere"
        )
    if "SkuNotAvailable" in said:
        return (
            f"not offered: {size} is restricted for this subscription in {where}: a support ticket lifts it, no quota"
        )
    if plan.quota and ("QuotaExceeded" in said or "exceeding approved" in said):
        quota = plan.quota[0]
        return f"quota: ask for {quota.need} {quota.unit} of {quota.code} in {plan.region}"
    return None
