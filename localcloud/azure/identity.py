"""Resource groups, identities and what they may do."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from localcloud.azure.kind import AzureKind
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties

if TYPE_CHECKING:
    from localcloud.azure.cloud import Azure

RESOURCE_GROUP = "azure-native:resources:ResourceGroup"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
TENANT = "11111111-1111-1111-1111-111111111111"
_GUID = r"(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _check_assignment(inputs: Properties) -> Iterator[Failure]:
    name = inputs.get("roleAssignmentName")
    if isinstance(name, str) and name != UNKNOWN and not re.match(_GUID, name):
        yield Failure("roleAssignmentName", f"The role assignment ID '{name}' is not valid: it must be a GUID")
    role = inputs.get("roleDefinitionId")
    if (
        isinstance(role, str)
        and UNKNOWN not in role
        and "/providers/Microsoft.Authorization/roleDefinitions/" not in role
    ):
        yield Failure(
            "roleDefinitionId",
            f"'{role}' is not a role definition id; one looks like "
            "/subscriptions/…/providers/Microsoft.Authorization/roleDefinitions/<GUID>",
        )


def _judge_assignment(call: Call) -> None:
    wanted = [str(call.inputs[name]).casefold() for name in ("scope", "principalId", "roleDefinitionId")]
    scope = call.inputs["scope"]
    cloud = cast("Azure", call.cloud)
    if cloud.is_ours(call.tx, scope) and not call.tx.with_id(scope):
        raise Refusal("ResourceNotFound", f"The resource '{scope}' was not found.", status=404)
    if call.old and call.old.inputs["roleDefinitionId"] != call.inputs["roleDefinitionId"]:
        raise Refusal(
            "RoleAssignmentUpdateNotPermitted",
            "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.",
        )
    for other in call.others():
        theirs = [str(other.inputs[name]).casefold() for name in ("scope", "principalId", "roleDefinitionId")]
        if theirs == wanted:
            raise Refusal("RoleAssignmentExists", f"The role assignment already exists ({other.id}).", status=409)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


KINDS = (
    AzureKind(
        token=RESOURCE_GROUP,
        path="/subscriptions/{subscription}/resourceGroups/{resourceGroupName}",
        api="2024-03-01",
        longest=90,
        pattern=r"^[-\w\._\(\)]+$",
        immutable=("location",),
        create=lambda _: {
            "type": "Microsoft.Resources/resourceGroups",
            "properties": {"provisioningState": "Succeeded"},
        },
    ),
    AzureKind(
        token=IDENTITY,
        path="Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}",
        api="2023-01-31",
        shortest=3,
        longest=128,
        immutable=("location",),
        create=lambda _: {"principalId": str(uuid.uuid4()), "clientId": str(uuid.uuid4()), "tenantId": TENANT},
    ),
    AzureKind(
        token="azure-native:managedidentity:FederatedIdentityCredential",
        path="Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}/federatedIdentityCredentials"
        "/{federatedIdentityCredentialResourceName}",
        api="2023-01-31",
        shortest=3,
        longest=120,
    ),
    AzureKind(
        token=ROLE_ASSIGNMENT,
        path="{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
        api="2022-04-01",
        name_is_uuid=True,
        immutable=("principalId", "scope"),
        refs=(Ref(path="delegatedManagedIdentityResourceId", target=IDENTITY, holds=False),),
        check=_check_assignment,
        judge=_judge_assignment,
        create=lambda _: {"createdOn": _now(), "updatedOn": _now(), "createdBy": TENANT, "updatedBy": TENANT},
    ),
)
