"""The nodes: one Uniform scale set, which is one InfiniBand fabric. What one is like: `template`.

Azure has no all-or-none start: a scale set may come up half and bill. InfiniBand joins the VMs of one scale set only,
and only with a single placement group; placement groups of the other kind (proximity) only get in the way.
"""

from __future__ import annotations

from functools import partial

import pulumi
from pulumi_azure_native import compute

from components.azure.advice import advice, half_made, what_ends
from components.azure.group import Group
from components.azure.identity import Identity
from components.azure.network import Network
from components.azure.objects import Objects
from components.azure.template import marketplace_plan, node_profile
from components.hooks import advising, announcing
from planning.plan import Plan


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
    told = announcing(f"{name}-nodes", partial(what_ends, plan))
    refused = advising(f"{name}-start", partial(advice, plan))
    scale_set = compute.VirtualMachineScaleSet(
        f"{name}-nodes",
        vm_scale_set_name=f"{plan.name}-nodes",
        resource_group_name=group.name,
        location=plan.region,
        orchestration_mode="Uniform",
        single_placement_group=plan.nodes.placed,
        overprovision=False,
        platform_fault_domain_count=1,
        zones=[plan.zone] if plan.zone else None,
        sku={"name": plan.nodes.type, "tier": "Standard", "capacity": _capacity(plan, parent)},
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
            # Azure changes none of it in place, though azure-native previews that it would.
            replacement_trigger=_fixed(plan),
            delete_before_replace=True,
            hooks=pulumi.ResourceHookBinding(before_update=[told], on_error=[refused]),
        ),
    )
    if not pulumi.runtime.is_dry_run():
        scale_set.provisioning_state.apply(partial(_tell_half_made, plan))
    return plan.nodes.declared


def _capacity(plan: Plan, parent: pulumi.Resource) -> int:
    """Of an elastic scale set what somebody scaled it to: every change sends the whole of it, the number too."""
    if not plan.nodes.capacity.elastic:
        return plan.nodes.count
    try:
        found = compute.get_virtual_machine_scale_set(
            resource_group_name=plan.name,
            vm_scale_set_name=f"{plan.name}-nodes",
            opts=pulumi.InvokeOptions(parent=parent),
        )
    except Exception as error:
        if "NotFound" in str(error) or "404" in str(error):
            return plan.nodes.count
        raise pulumi.RunError(f"how many nodes the elastic scale set has can not be asked: {error}") from None
    return max(plan.nodes.count, int((found.sku.capacity if found.sku else 0) or 0))


def _tell_half_made(plan: Plan, state: str | None) -> None:
    if state == "Failed":
        pulumi.log.warn(half_made(plan))


def _fixed(plan: Plan) -> list[str | bool]:
    """What a scale set is made with once and for all. Plain values only: of an unknown one a preview would say nothing
    but that it replaces."""
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
        plan.existing_network.subnet if plan.existing_network else "",
    ]
