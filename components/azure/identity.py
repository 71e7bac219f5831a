"""Who a node is: a user-assigned identity that reads and writes the cluster's objects."""

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
    granted: list[pulumi.Resource]
    """The identity's permissions: nodes wait for them."""


def declare_identity(plan: Plan, name: str, parent: pulumi.Resource, group: Group, objects: Objects) -> Identity:
    child = pulumi.ResourceOptions(parent=parent)
    identity = managedidentity.UserAssignedIdentity(
        f"{name}-nodes",
        resource_name_=f"{plan.name}-nodes",
        resource_group_name=group.name,
        location=plan.region,
        tags=dict(plan.tags),
        opts=child,
    )
    role = pulumi.Output.concat(
        "/subscriptions/",
        group.subscription,
        "/providers/Microsoft.Authorization/roleDefinitions/",
        STORAGE_BLOB_DATA_CONTRIBUTOR,
    )
    data = authorization.RoleAssignment(
        f"{name}-data",
        role_assignment_name=objects.account_name.apply(
            lambda account: role_assignment_name(account, STORAGE_BLOB_DATA_CONTRIBUTOR)
        ),
        scope=objects.account.id,
        role_definition_id=role,
        principal_id=identity.principal_id,
        # Said, Azure does not look the principal up, which a new identity would not survive (PrincipalNotFound).
        principal_type="ServicePrincipal",
        opts=child,
    )
    return Identity(id=identity.id, granted=[data])
