"""Who a node is: a user-assigned identity that reads and writes the cluster's container. And how roles are given."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization, managedidentity

from components.azure.group import Group
from components.azure.objects import Objects
from planning.names import role_assignment_name
from planning.plan import Plan

STORAGE_BLOB_DATA_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
"""Source: Azure built-in roles, storage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    id: pulumi.Output[str]
    client_id: pulumi.Output[str]
    granted: list[pulumi.Resource]
    """The identity's permissions: nodes wait for them."""


def declare_identity(plan: Plan, name: str, parent: pulumi.Resource, group: Group, objects: Objects) -> Identity:
    child = pulumi.ResourceOptions(parent=parent)
    identity = user_assigned(plan, name, "nodes", group, child)
    # On the container alone: a mount lists, reads and writes in it, and asks nothing of its account.
    data = grant(
        plan,
        f"{name}-data",
        group,
        scope=objects.container_id,
        named=objects.container_path,
        role=STORAGE_BLOB_DATA_CONTRIBUTOR,
        principal=identity.principal_id,
        opts=child,
    )
    return Identity(id=identity.id, client_id=identity.client_id, granted=[data])


def user_assigned(
    plan: Plan, name: str, role: str, group: Group, opts: pulumi.ResourceOptions
) -> managedidentity.UserAssignedIdentity:
    return managedidentity.UserAssignedIdentity(
        f"{name}-{role}",
        resource_name_=f"{plan.name}-{role}",
        resource_group_name=group.name,
        location=plan.region,
        tags=dict(plan.tags),
        opts=opts,
    )


def grant(
    plan: Plan,
    name: str,
    group: Group,
    *,
    scope: pulumi.Input[str],
    named: pulumi.Input[str],
    role: str,
    principal: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> authorization.RoleAssignment:
    """Lets a principal do at a scope what a built-in role says. `named`: what a preview knows of the scope."""
    known = pulumi.Output.all(named, group.subscription)
    return authorization.RoleAssignment(
        name,
        role_assignment_name=known.apply(
            lambda of: role_assignment_name(of[0], role, f"{of[1]}/{plan.name}/{name}"),
        ),
        scope=scope,
        role_definition_id=pulumi.Output.concat(
            "/subscriptions/", group.subscription, "/providers/Microsoft.Authorization/roleDefinitions/", role
        ),
        principal_id=principal,
        # Said, Azure does not look the principal up, which a new identity would not survive (PrincipalNotFound).
        principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
        opts=opts,
    )
