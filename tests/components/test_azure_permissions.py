"""The roles of docs/azure, as Azure reads them. What they must hold, on both clouds: test_permissions.

The local cloud's ids say what a type is called in Azure, and a dry run which resources name which others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from components.azure import filesystem, identity
from localcloud.azure.cloud import Azure
from tests import permissions
from tests.clusters import AZURE, ROOT
from tests.permissions import ROLES, actions, role

NEEDS, TYPES = permissions.NEEDS["azure"], permissions.TYPES["azure"]
SET_BACK = "azure-native:storage:BlobServiceProperties"
"""Always there: a deletion sets it back."""
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
GIVEN = {
    identity.STORAGE_BLOB_DATA_CONTRIBUTOR,
    filesystem.STORAGE_ACCOUNT_CONTRIBUTOR,
    filesystem.KEY_VAULT_CRYPTO_SERVICE_ENCRYPTION_USER,
}
"""Roles that clusters give."""
NAMED = {
    "azure-native:managedidentity:UserAssignedIdentity": (
        "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action"
    ),
    "azure-native:network:NatGateway": "Microsoft.Network/natGateways/join/action",
    "azure-native:network:NetworkSecurityGroup": "Microsoft.Network/networkSecurityGroups/join/action",
    "azure-native:network:PublicIPAddress": "Microsoft.Network/publicIPAddresses/join/action",
    "azure-native:network:Subnet": "Microsoft.Network/virtualNetworks/subnets/join/action",
    "azure-native:network:VirtualNetwork": "Microsoft.Network/virtualNetworks/join/action",
    "azure-native:privatedns:PrivateZone": "Microsoft.Network/privateDnsZones/join/action",
    "azure-native:storage:StorageAccount": (
        "Microsoft.Storage/storageAccounts/privateEndpointConnectionsApproval/action"
    ),
}
"""What whoever names a resource of a type by its id must be allowed with it."""


def azure_type(token: str) -> str:
    """Microsoft.Network/virtualNetworks/subnets."""
    if token == "azure-native:resources:ResourceGroup":  # whose id begins like all others
        return "Microsoft.Resources/subscriptions/resourceGroups"
    return Azure.kinds[token].arm_type


@pytest.mark.parametrize("name", TYPES)
def test_a_type_is_made_read_and_deleted_under_the_name_that_azure_has_for_it(name: str) -> None:
    deleted = "write" if name == SET_BACK else "delete"
    assert f"{azure_type(name)}/write" in NEEDS[name]["create"]
    assert f"{azure_type(name)}/write" in NEEDS[name]["update"]
    assert NEEDS[name]["read"] == [f"{azure_type(name)}/read"]
    assert NEEDS[name]["delete"] == [f"{azure_type(name)}/{deleted}"]


@pytest.mark.parametrize("name", AZURE)
def test_whoever_names_a_resource_by_its_id_may_use_it(name: str, cluster: Callable[[str], Any]) -> None:
    """Azure looks at the deployer, too: a scale set in a subnet needs `join` on that subnet."""
    here, seen = cluster(name), set()
    for resource in here.run.resources:
        for prop in resource.inputs.keys() - set(Azure.kinds[resource.type].parameters):
            for other in here.made_from(resource, prop):
                if other.type in NAMED and f"'{other.name}-id'" in str(resource.inputs[prop]):
                    seen.add(other.type)
                    assert NAMED[other.type] in NEEDS[resource.type]["create"], f"{resource.name}: {prop}"
    assert seen == NAMED.keys() or name != "azure-on-demand", "nothing was looked at"


def test_the_preview_role_only_reads() -> None:
    assert {action for action in actions("azure", "preview") if not action.endswith("/read")} == set()


@pytest.mark.parametrize("name", ROLES)
def test_no_role_reaches_data_or_keys(name: str) -> None:
    assert role("azure", name)["DataActions"] == []
    assert not [action for action in role("azure", name)["Actions"] if re.search("(?i)key|secret|sas", action)]


@pytest.mark.parametrize("name", ROLES)
def test_a_role_is_a_definition_for_one_subscription_that_its_reader_puts_in(name: str) -> None:
    assert role("azure", name)["IsCustom"] is True
    assert role("azure", name)["AssignableScopes"] == [f"/subscriptions/{SUBSCRIPTION}"]
    assert role("azure", name)["NotActions"] == role("azure", name)["NotDataActions"] == []
    assert role("azure", name)["Actions"] == sorted(set(role("azure", name)["Actions"]))


def test_the_deployer_gives_and_takes_away_only_the_roles_that_clusters_give() -> None:
    text = (ROOT / "docs/azure/deploy-condition.txt").read_text(encoding="utf-8")
    giving, taking = text.split("\nAND\n")
    for part, step, of in ((giving, "write", "@Request"), (taking, "delete", "@Resource")):
        attribute = re.escape(f"{of}[Microsoft.Authorization/roleAssignments:")
        assert f"!(ActionMatches{{'Microsoft.Authorization/roleAssignments/{step}'}})" in part
        [roles] = re.findall(rf"{attribute}RoleDefinitionId\] ForAnyOfAnyValues:GuidEquals {{(.*)}}", part)
        assert set(roles.split(", ")) == GIVEN
        assert re.search(rf"{attribute}PrincipalType\] StringEqualsIgnoreCase 'ServicePrincipal'", part)
        assert part.count("(") == part.count(")")


@pytest.mark.parametrize("name", AZURE)
def test_a_cluster_gives_no_other_role_and_to_no_person(name: str, cluster: Callable[[str], Any]) -> None:
    for assignment in cluster(name).of("RoleAssignment"):
        assert re.findall(GUID, assignment.inputs["roleDefinitionId"])[-1] in GIVEN
        assert assignment.inputs["principalType"] == "ServicePrincipal"


@pytest.mark.parametrize("name", ROLES)
def test_the_page_replaces_the_place_holder_and_names_the_role_as_azure_has_it(name: str) -> None:
    page = (ROOT / "docs/azure.md").read_text(encoding="utf-8")
    assert f"s/{SUBSCRIPTION}/" in page
    assert role("azure", name)["Name"] in page


def test_the_page_names_the_condition_and_its_roles() -> None:
    page = (ROOT / "docs/azure.md").read_text(encoding="utf-8")
    assert "azure/deploy-condition.txt" in page
    for name in ("Storage Blob Data Contributor", "Storage Account Contributor", "Crypto Service Encryption User"):
        assert name in page
