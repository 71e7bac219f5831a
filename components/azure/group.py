"""The resource group, and the subscription that it is in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pulumi
from pulumi_azure_native import authorization, resources

from components.cluster import data_store_options
from components.hooks import advising
from planning.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    name: pulumi.Output[str]
    subscription: pulumi.Output[str]


def declare_group(plan: Plan, name: str, parent: pulumi.Resource) -> Group:
    group = resources.ResourceGroup(
        f"{name}-group",
        resource_group_name=plan.name,
        location=plan.region,
        tags=dict(plan.tags),
        # Deleting a resource group deletes whatever is in it, the data stores too.
        opts=data_store_options(
            plan, parent, hooks=pulumi.ResourceHookBinding(on_error=[advising(f"{name}-group", partial(_advice, plan))])
        ),
    )
    subscription = authorization.get_client_config_output(opts=pulumi.InvokeOptions(parent=parent)).subscription_id
    return Group(name=group.name, subscription=subscription)


def _advice(plan: Plan, said: str, _is_change: bool) -> str | None:
    if "already exist" not in said:
        return None
    return (
        f"a resource group {plan.name} is there: of a cluster whose data was retained, perhaps. Take another name, and "
        "mount what is in it by storage.filesystem.existing and storage.objects.existing"
    )
