"""The roles of docs/azure: enough for every resource that Azure clusters declare, and nothing beside.

What each type needs is in azure_permissions.toml. The local cloud's ids say what a type is called in Azure, and a dry
run which resources name which others.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.azure import filesystem, identity
from localcloud.azure.cloud import Azure
from tests.clusters import AZURE, ROOT

NEEDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "azure_permissions.toml").read_text(encoding="utf-8")
)
TYPES = sorted(NEEDS.keys() - {"beside"})
STEPS = ("create", "read", "update", "delete")
ROLES = ("preview", "deploy")
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


@cache
def role(name: str) -> Mapping[str, Any]:
    return json.loads((ROOT / f"docs/azure/{name}-role.json").read_text(encoding="utf-8"))


def actions(*roles: str) -> set[str]:
    return {action for name in roles for action in role(name)["Actions"]}


def needed(*steps: str, of: str | None = None) -> set[str]:
    return {action for name, row in NEEDS.items() if of in (None, name) for step in steps for action in row[step]}


def azure_type(token: str) -> str:
    """Microsoft.Network/virtualNetworks/subnets."""
    if token == "azure-native:resources:ResourceGroup":  # whose id begins like all others
        return "Microsoft.Resources/subscriptions/resourceGroups"
    return Azure.kinds[token].arm_type


@pytest.mark.parametrize("name", AZURE)
def test_all_that_a_cluster_declares_is_known_by_its_permissions(name: str, cluster: Callable[[str], Any]) -> None:
    assert {r.type for r in cluster(name).run.resources} - NEEDS.keys() == set()


@pytest.mark.parametrize("name", TYPES)
def test_a_type_with_permissions_is_one_that_the_components_declare(name: str) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "components/azure").glob("*.py"))
    assert re.search(rf"\.{name.rpartition(':')[2]}\(", sources)


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


@pytest.mark.parametrize("name", TYPES)
def test_the_deploy_role_may_do_all_that_a_type_needs_and_the_preview_role_may_read_it(name: str) -> None:
    assert needed(*STEPS, of=name) - actions(*ROLES) == set()
    assert needed("read", of=name) - actions("preview") == set()


def test_no_role_may_do_what_nothing_needs() -> None:
    """A wildcard would be such an action, since nothing needs one."""
    assert actions(*ROLES) == needed(*STEPS)
    assert not actions("preview") & actions("deploy"), "the deployer has both roles"


def test_the_preview_role_only_reads() -> None:
    assert {action for action in actions("preview") if not action.endswith("/read")} == set()


@pytest.mark.parametrize("name", ROLES)
def test_no_role_reaches_data_or_keys(name: str) -> None:
    assert role(name)["DataActions"] == []
    assert not [action for action in role(name)["Actions"] if re.search("(?i)key|secret|sas", action)]


@pytest.mark.parametrize("name", ROLES)
def test_a_role_is_a_definition_for_one_subscription_that_its_reader_puts_in(name: str) -> None:
    assert role(name)["IsCustom"] is True
    assert role(name)["AssignableScopes"] == [f"/subscriptions/{SUBSCRIPTION}"]
    assert role(name)["NotActions"] == role(name)["NotDataActions"] == []
    assert role(name)["Actions"] == sorted(set(role(name)["Actions"]))


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


@pytest.mark.parametrize("name", TYPES)
def test_what_is_unproved_of_a_type_is_among_what_it_needs(name: str) -> None:
    assert set(NEEDS[name].get("unproved", ())) <= needed(*STEPS, of=name)


@pytest.mark.parametrize("name", ROLES)
def test_the_page_names_the_role_and_its_place_holder(name: str) -> None:
    page = (ROOT / "docs/azure.md").read_text(encoding="utf-8")
    assert f"azure/{name}-role.json" in page
    assert f"s/{SUBSCRIPTION}/" in page
    assert role(name)["Name"] in page


def test_the_page_names_the_condition_and_its_roles() -> None:
    page = (ROOT / "docs/azure.md").read_text(encoding="utf-8")
    assert "azure/deploy-condition.txt" in page
    for name in ("Storage Blob Data Contributor", "Storage Account Contributor", "Crypto Service Encryption User"):
        assert name in page
