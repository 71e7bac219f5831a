"""Resource groups, identities and what they may do."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from localcloud.azure.kind import AzureKind
from localcloud.azure.refusals import folded, raise_first
from localcloud.kinds import Call, Ref, Refusal
from localcloud.values import Properties, first

if TYPE_CHECKING:
    from localcloud.azure.cloud import Azure

RESOURCE_GROUP = "azure-native:resources:ResourceGroup"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
TENANT = "11111111-1111-1111-1111-111111111111"
_HAVE_PRINCIPALS = (IDENTITY, "azure-native:compute:VirtualMachineScaleSet")
_MOST_FEDERATIONS = 20
_GUID = r"(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _judge_group(call: Call) -> None:
    """Which regions there are is not known; what no region is called, is."""
    location = folded(call.inputs.get("location"))
    if not re.fullmatch(r"[a-z][a-z0-9]*", location):
        text = f"The provided location '{location}' is not available for resource group."
        raise Refusal("LocationNotAvailableForResourceGroup", text, target="location")


def _judge_assignment(call: Call) -> None:
    raise_first(_form_refusals(call.inputs))
    scope = str(call.inputs["scope"])
    cloud = cast("Azure", call.cloud)
    if cloud.is_ours(call.tx, scope) and not call.tx.with_id(scope):
        raise Refusal("ResourceNotFound", f"The resource '{scope}' was not found.", status=404, target="scope")
    if call.old and role_of(call.old.inputs) != role_of(call.inputs):
        text = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
        raise Refusal("RoleAssignmentUpdateNotPermitted", text, target="roleDefinitionId")
    raise_first(_principal_refusals(call))
    for other in call.others():
        if _grant(other.inputs) == _grant(call.inputs):
            raise Refusal("RoleAssignmentExists", f"The role assignment already exists. ({other.id})", status=409)


def _form_refusals(inputs: Properties) -> Iterator[Refusal]:
    name, role = inputs["roleAssignmentName"], str(inputs["roleDefinitionId"])
    if not re.match(_GUID, name):
        text = f"The role assignment ID '{name}' is not valid. The role assignment ID must be a GUID."
        yield Refusal("InvalidRoleAssignmentId", text, target="roleAssignmentName")
    if "/providers/microsoft.authorization/roledefinitions/" not in role.casefold() or not re.match(
        _GUID, role_of(inputs)
    ):
        text = (
            f"The role definition ID '{role}' is not valid: it looks like "
            "/subscriptions/…/providers/Microsoft.Authorization/roleDefinitions/<GUID>."
        )
        yield Refusal("InvalidRoleDefinitionId", text, target="roleDefinitionId")
    if not re.match(_GUID, str(inputs["principalId"])):
        text = "A valid principal ID must be provided for role assignment."
        yield Refusal("InvalidPrincipalId", text, target="principalId")


def _principal_refusals(call: Call) -> Iterator[Refusal]:
    """Principals that this cloud has made are known to it; any other is taken as one that was there before."""
    principal, said = str(call.inputs["principalId"]), str(call.inputs.get("principalType") or "User")
    for kind in call.cloud.kinds.values():
        for record in call.tx.of_type(kind.token) if kind.token in _HAVE_PRINCIPALS else ():
            if principal == record.outputs.get("clientId"):
                text = (
                    f"Principal {principal.replace('-', '')} does not exist in the directory {TENANT}. Check that you "
                    "have the correct principal ID. If you are creating this principal and then immediately assigning "
                    "a role, this error might be related to a replication delay. In this case, set the role assignment "
                    "principalType property to a value, such as ServicePrincipal, User, or Group."
                )
                yield Refusal("PrincipalNotFound", f"{text} (it is the client ID of {record.id})", target="principalId")
            theirs = (record.outputs.get("principalId"), first(record.outputs, "identity.principalId"))
            if principal in theirs and said != "ServicePrincipal":
                text = (
                    f"The PrincipalId '{principal.replace('-', '')}' has type 'ServicePrincipal', which is different "
                    f"from specified PrinciaplType '{said}'."
                )
                yield Refusal("UnmatchedPrincipalType", text, target="principalType")


def _grant(inputs: Properties) -> tuple[str, ...]:
    return (str(inputs["scope"]).casefold(), str(inputs["principalId"]).casefold(), role_of(inputs))


def role_of(inputs: Properties) -> str:
    """The GUID: a definition has several ids, with and without the subscription."""
    return str(inputs["roleDefinitionId"]).rpartition("/")[2].casefold()


def _judge_federation(call: Call) -> None:
    parent = call.id.rpartition("/federatedIdentityCredentials/")[0]
    others = [other for other in call.others() if other.key.startswith(f"{parent.casefold()}/")]
    if len(others) >= _MOST_FEDERATIONS:
        text = f"An identity has {_MOST_FEDERATIONS} federated identity credentials at most."
        raise Refusal("BadRequest", text)
    for other in others:
        if all(other.inputs.get(name) == call.inputs.get(name) for name in ("issuer", "subject")):
            text = "Issuer and subject combination already exists for this Managed Identity."
            raise Refusal("BadRequest", text, target="subject")


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
        judge=_judge_group,
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
        judge=_judge_federation,
    ),
    AzureKind(
        token=ROLE_ASSIGNMENT,
        path="{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
        api="2022-04-01",
        name_is_uuid=True,
        immutable=("principalId", "scope"),
        refs=(Ref(path="delegatedManagedIdentityResourceId", target=IDENTITY, holds=False),),
        judge=_judge_assignment,
        create=lambda _: {"createdOn": _now(), "updatedOn": _now(), "createdBy": TENANT, "updatedBy": TENANT},
    ),
)
