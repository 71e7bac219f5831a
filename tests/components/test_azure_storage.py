"""The Azure data stores by value: filesystem, link, container, those of one's own; and what a node may do with them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from components.azure.filesystem import advice

GROUP = "/subscriptions/01234567-89ab-cdef-0123-456789abcdef/resourceGroups/research/providers"
ACCOUNT = f"{GROUP}/Microsoft.Storage/storageAccounts/researchdata"
CONTAINER = f"{ACCOUNT}/blobServices/default/containers/corpus"
LUSTRE = f"{GROUP}/Microsoft.StorageCache/amlFilesystems/research"
KEY = f"{GROUP}/Microsoft.KeyVault/vaults/research/keys/lustre"
VERSION = "0123456789abcdef0123456789abcdef"
PRINCIPAL = "44444444-4444-4444-4444-444444444444"
LINKED = {"storage.objects.link": True, "storage.objects.link_principal": PRINCIPAL}
OWN = {"storage.objects": {"existing": CONTAINER}}
OWN_LINKED = {"storage.objects": {"existing": CONTAINER, "link": True, "link_principal": PRINCIPAL}}
MOUNTED = {"storage.filesystem": {"existing": LUSTRE}}
WITH_KEY = {"storage.filesystem.kms_key": f"{KEY}/versions/{VERSION}"}
BLOB_DATA, ACCOUNT_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe", "17d1049b-9a84-46fb-8f53-869881c3d3ab"
KEY_USER = "e147488a-f6f5-4113-8e2d-b22465e65bf6"


def _files(cluster: Any) -> dict[str, str]:
    data = cluster.one("VirtualMachineScaleSet").inputs["virtualMachineProfile"]["osProfile"]["customData"]
    written = yaml.safe_load(base64.b64decode(data))["write_files"]
    return {file["path"]: file["content"] for file in written}


def _mount(cluster: Any, kind: str) -> dict[str, Any]:
    return yaml.safe_load(_files(cluster)[f"/etc/gpu-clusters/objects-{kind}.yaml"])


def _role(assignment: Any) -> str:
    return assignment.inputs["roleDefinitionId"].rpartition("/")[2]


# The account


def test_the_storage_account_is_hierarchical_and_closed(declared: Callable[..., Any]) -> None:
    inputs = declared("azure").one("StorageAccount").inputs
    said = {
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"},  # Premium_LRS of this kind takes no hierarchy: pulumi-azure-native#2581
        "isHnsEnabled": True,
        "allowSharedKeyAccess": False,
        "allowBlobPublicAccess": False,
        "defaultToOAuthAuthentication": True,
        "allowCrossTenantReplication": False,
        "enableHttpsTrafficOnly": True,
        "minimumTlsVersion": "TLS1_2",
        "publicNetworkAccess": "Disabled",
        "isLocalUserEnabled": False,
        "isSftpEnabled": False,
    }
    assert {key: inputs[key] for key in said} == said


def test_nfs_is_off_and_the_network_is_denied_by_default(declared: Callable[..., Any]) -> None:
    """With NFS and the default Allow, Azure refuses the account: azurerm#15968."""
    inputs = declared("azure").one("StorageAccount").inputs
    assert inputs["enableNfsV3"] is False
    assert inputs["networkRuleSet"] == {
        "defaultAction": "Deny",
        "bypass": "AzureServices",
        "ipRules": [],
        "virtualNetworkRules": [],
    }


def test_deleted_blobs_come_back_for_a_week_without_versions_which_a_hierarchy_excludes(
    declared: Callable[..., Any],
) -> None:
    """azurerm#32722"""
    inputs = declared("azure").one("BlobServiceProperties").inputs
    assert inputs["deleteRetentionPolicy"] == inputs["containerDeleteRetentionPolicy"] == {"enabled": True, "days": 7}
    assert not {"isVersioningEnabled", "changeFeed", "restorePolicy"} & set(inputs)


@pytest.mark.parametrize("changes", [{}, LINKED, OWN], ids=["made", "linked", "own"])
def test_the_account_has_endpoints_and_names_for_blob_and_for_dfs(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    """Clients call both: with one of them a mount fails (azure-storage-fuse#1042)."""
    cluster = declared("azure", changes)
    for service in ("blob", "dfs"):
        (connection,) = cluster.one("PrivateEndpoint", service).inputs["privateLinkServiceConnections"]
        assert connection["groupIds"] == [service]
        assert connection["privateLinkServiceId"] == (ACCOUNT if changes is OWN else "llama-70b-objects-id")
        zone = cluster.one("PrivateZone", service)
        assert zone.inputs["privateZoneName"] == f"privatelink.{service}.core.windows.net"
        assert cluster.made_from(cluster.one("VirtualNetworkLink", service), "privateZoneName") == [zone]
        records = cluster.one("PrivateDnsZoneGroup", service)
        assert cluster.made_from(records, "privateDnsZoneConfigs") == [zone]


def test_checkpoints_are_cooled_and_deleted_below_the_containers_name(declared: Callable[..., Any]) -> None:
    """Of the one policy that an account has, by its only name: pulumi-azure-native#1336."""
    policy = declared("azure").one("ManagementPolicy").inputs
    assert policy["managementPolicyName"] == "default"
    (rule,) = policy["policy"]["rules"]
    assert rule["definition"]["filters"] == {"blobTypes": ["blockBlob"], "prefixMatch": ["data/checkpoints/"]}
    assert rule["definition"]["actions"]["baseBlob"] == {
        "tierToCool": {"daysAfterModificationGreaterThan": 7},
        "delete": {"daysAfterModificationGreaterThan": 45},
    }
    assert not declared("azure", {"storage.objects.checkpoints": ...}).of("ManagementPolicy")


@pytest.mark.parametrize("name", ["ab", "abcdefghijklmn-pqrst"])
def test_an_account_that_is_not_named_gets_a_legal_name_from_every_clusters_name(
    name: str, declared: Callable[..., Any]
) -> None:
    """Pulumi's own are refused: pulumi-azure-native#3665, #4294."""
    assert re.fullmatch(
        r"[a-z0-9]{3,24}", declared("azure", {"name": name}).one("StorageAccount").inputs["accountName"]
    )


def test_another_kind_of_account_previews_as_the_replacement_that_it_is(declared: Callable[..., Any]) -> None:
    assert list(declared("azure").one("StorageAccount").request.replaceOnChanges) == ["kind"]


# A container of one's own


def test_of_an_existing_account_nothing_is_declared_but_a_role_and_a_way_to_it(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", OWN)
    assert not {"StorageAccount", "BlobContainer", "BlobServiceProperties", "ManagementPolicy"} & cluster.kinds()
    uri = "abfss://corpus@researchdata.dfs.core.windows.net"
    assert cluster.run.exports["objects"] == {"uri": uri, "checkpoint_uri": f"{uri}/checkpoints"}
    assert cluster.one("RoleAssignment").inputs["scope"] == CONTAINER
    assert (
        _mount(cluster, "files")["azstorage"].items() >= {"account-name": "researchdata", "container": "corpus"}.items()
    )


def test_an_account_without_a_container_means_the_container_data(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", {"storage.objects": {"existing": ACCOUNT}})
    assert cluster.one("RoleAssignment").inputs["scope"] == f"{ACCOUNT}/blobServices/default/containers/data"


# What a node may do, and how it mounts


def test_a_node_may_use_the_container_and_nothing_else(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    assignment = cluster.one("RoleAssignment")
    assert [r.name for r in cluster.made_from(assignment, "scope")] == ["llama-70b-data"]
    assert cluster.made_from(assignment, "scope")[0].type == "azure-native:storage:BlobContainer"
    assert _role(assignment) == BLOB_DATA
    assert assignment.inputs["principalType"] == "ServicePrincipal"
    assert cluster.made_from(assignment, "principalId") == [cluster.one("UserAssignedIdentity")]
    assert cluster.made_from(cluster.one("VirtualMachineScaleSet"), "identity") == [cluster.one("UserAssignedIdentity")]


def test_a_role_assignment_keeps_its_name_and_no_other_cluster_has_it(declared: Callable[..., Any]) -> None:
    """Another name for the same role is refused (RoleAssignmentExists); one name for two principals is, too."""

    def named(changes: dict[str, Any]) -> str:
        return declared("azure", changes).one("RoleAssignment").inputs["roleAssignmentName"]

    assert named({"nodes.count": 2}) == named({})
    assert named({"name": "other"}) != named({})
    assert named({**OWN, "name": "other"}) != named(OWN), "both use one container"


def test_checkpoints_are_mounted_in_blocks_and_small_files_whole_on_the_nodes_disks(
    declared: Callable[..., Any],
) -> None:
    """The two caches exclude each other, so that each has a configuration."""
    cluster = declared("azure")
    checkpoints, files = _mount(cluster, "checkpoints"), _mount(cluster, "files")
    assert checkpoints["components"] == ["libfuse", "block_cache", "attr_cache", "azstorage"]
    assert files["components"] == ["libfuse", "file_cache", "attr_cache", "azstorage"]
    assert 16 <= checkpoints["block_cache"]["block-size-mb"] <= 32
    assert checkpoints["block_cache"]["prefetch"] >= 11, "fewer are refused"
    assert files["file_cache"]["path"].startswith("/scratch/")


def test_a_mount_is_made_with_the_nodes_identity_and_its_configuration_holds_no_secret(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("azure")
    account = cluster.one("StorageAccount").inputs["accountName"]
    for kind in ("checkpoints", "files"):
        assert _mount(cluster, kind)["azstorage"] == {
            "type": "adls",
            "account-name": account,
            "container": "data",
            "endpoint": f"https://{account}.dfs.core.windows.net",
            "mode": "msi",
            "appid": "00000000-0000-0000-0000-000000000000",
        }


# The filesystem


def test_managed_lustre_has_its_own_subnet_in_the_nodes_zone(declared: Callable[..., Any]) -> None:
    """In another zone it would be slower than what it costs."""
    cluster = declared("azure")
    lustre = cluster.one("AmlFilesystem")
    assert lustre.inputs["storageCapacityTiB"] == 48
    assert lustre.inputs["sku"] == {"name": "AMLFS-Durable-Premium-125"}
    assert lustre.inputs["zones"] == cluster.one("VirtualMachineScaleSet").inputs["zones"]
    assert [s.name for s in cluster.made_from(lustre, "filesystemSubnet")] == ["llama-70b-filesystem"]
    assert not {"hsm", "encryptionSettings", "identity"} & set(lustre.inputs)


def test_what_azure_refuses_to_change_of_a_filesystem_previews_as_a_replacement(declared: Callable[..., Any]) -> None:
    """The provider knows it of capacity, subnet and zone only."""
    request = declared("azure").one("AmlFilesystem").request
    assert list(request.replaceOnChanges) == ["encryptionSettings", "hsm", "identity", "sku"]


@pytest.mark.parametrize(("on_delete", "first"), [("protect", True), ("delete", True), ("retain", False)])
def test_a_retained_filesystem_is_in_nobodys_way_by_name_and_leaves_the_state_last(
    on_delete: str, first: bool, declared: Callable[..., Any]
) -> None:
    lustre = declared("azure", {"storage.on_delete": on_delete}).one("AmlFilesystem")
    assert "amlFilesystemName" not in lustre.inputs, "the provider names it, each time otherwise"
    assert lustre.request.deleteBeforeReplace is first


def test_a_key_of_ones_own_is_used_by_an_identity_that_may_do_nothing_else(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", WITH_KEY)
    lustre, granted = cluster.one("AmlFilesystem"), cluster.one("RoleAssignment", "-lustre-key")
    identity = cluster.one("UserAssignedIdentity", "-lustre")
    assert lustre.inputs["encryptionSettings"]["keyEncryptionKey"] == {
        "keyUrl": f"https://research.vault.azure.net/keys/lustre/{VERSION}",
        "sourceVault": {"id": KEY.partition("/keys/")[0]},
    }
    assert cluster.made_from(lustre, "identity") == [identity]
    assert (granted.inputs["scope"], _role(granted)) == (KEY, KEY_USER)
    assert cluster.made_from(granted, "principalId") == [identity]
    assert "RoleAssignment llama-70b-lustre-key" in cluster.before(lustre)


def test_without_its_key_a_retained_filesystem_could_not_be_read(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", {**WITH_KEY, "storage.on_delete": "retain"})
    assert cluster.one("RoleAssignment", "-lustre-key").request.retainOnDelete
    assert cluster.one("UserAssignedIdentity", "-lustre").request.retainOnDelete


def test_an_existing_filesystem_is_read_and_nothing_of_it_is_declared(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", MOUNTED)
    assert not {"AmlFilesystem", "AutoExportJob"} & cluster.kinds()
    assert not [s.name for s in cluster.of("Subnet") if "filesystem" in s.name]
    command = cluster.run.exports["filesystem"]["mount_command"]
    assert command.endswith("10.0.0.4@tcp:/lustrefs /lustre")
    assert "LUSTRE_SOURCE=10.0.0.4@tcp:/lustrefs\n" in _files(cluster)["/etc/gpu-clusters/boot.env"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'Code="MissingSubscriptionRegistration" Message="..."',
            "az provider register --namespace Microsoft.StorageCache",
        ),
        ("Operation results in exceeding quota limits of resource type AmlFilesystem.", "four"),
        ("Storage Container c is not found or is inaccessible.", "HPC Cache Resource Provider"),
        ('Code="SubnetIsFull"', "storage.filesystem.existing"),
        ('Code="InternalError"', None),
    ],
)
def test_a_refused_filesystem_says_what_to_do(said: str, told: str | None, declared: Callable[..., Any]) -> None:
    advised = advice(said, False)
    assert advised is None if told is None else told in (advised or "")
    assert {"llama-70b-lustre", "llama-70b-export"} <= set(declared("azure", LINKED).run.hooks)


# The link


@pytest.mark.parametrize("changes", [LINKED, OWN_LINKED], ids=["made", "own"])
def test_a_link_is_made_with_two_containers_of_one_account(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    settings = declared("azure", changes).one("AmlFilesystem").inputs["hsm"]["settings"]
    if changes is LINKED:
        containers = ("llama-70b-data-id", "llama-70b-lustre-logs-id")
    else:
        containers = (CONTAINER, f"{ACCOUNT}/blobServices/default/containers/lustre-logs")
    assert (settings["container"], settings["loggingContainer"]) == containers
    assert settings["importPrefix"] == "/", "all that is there already shows as files"


def test_the_service_of_the_link_has_its_roles_before_the_filesystem_is_made(declared: Callable[..., Any]) -> None:
    """Azure looks at them when it makes it, and by the account's private endpoints."""
    cluster = declared("azure", LINKED)
    lustre = cluster.one("AmlFilesystem")
    assert cluster.before(lustre) >= {
        "BlobContainer llama-70b-data",
        "BlobContainer llama-70b-lustre-logs",
        "PrivateDnsZoneGroup llama-70b-blob",
        "RoleAssignment llama-70b-lustre-account",
        "RoleAssignment llama-70b-lustre-data",
        "VirtualNetworkLink llama-70b-blob",
    }
    granted = [cluster.one("RoleAssignment", f"-lustre-{what}") for what in ("account", "data")]
    assert [_role(g) for g in granted] == [ACCOUNT_CONTRIBUTOR, BLOB_DATA]
    assert [g.inputs["principalId"] for g in granted] == [PRINCIPAL] * 2
    assert [cluster.made_from(g, "scope") for g in granted] == [[cluster.one("StorageAccount")]] * 2


def test_without_the_id_of_the_service_nothing_is_granted_and_that_is_said(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", {"storage.objects.link": True})
    assert [r.name for r in cluster.of("RoleAssignment")] == ["llama-70b-data"]
    assert "link-roles-unseen" in {finding.rule for finding in cluster.plan.findings}


def test_only_a_linked_account_takes_shared_keys_and_says_for_what(declared: Callable[..., Any]) -> None:
    linked, plain = (declared("azure", changes).one("StorageAccount").inputs for changes in (LINKED, {}))
    assert (linked["allowSharedKeyAccess"], linked["tags"]["shared-key-for"]) == (True, "managed-lustre")
    assert plain["allowSharedKeyAccess"] is False
    assert "shared-key-for" not in plain["tags"]


def test_new_and_changed_files_are_exported_by_themselves(declared: Callable[..., Any]) -> None:
    """The one job that can run: following the container needs a change feed, which a hierarchy excludes."""
    cluster = declared("azure", LINKED)
    job = cluster.one("AutoExportJob")
    assert cluster.made_from(job, "amlFilesystemName") == [cluster.one("AmlFilesystem")]
    assert (job.inputs["adminStatus"], job.inputs["autoExportPrefixes"]) == ("Enable", ["/"])
    assert not {"AutoImportJob", "ImportJob"} & cluster.kinds()


@pytest.mark.parametrize(
    ("on_delete", "protect", "retain"), [("protect", True, False), ("retain", False, True), ("delete", False, False)]
)
def test_a_link_stays_as_long_as_its_filesystem_which_exports_to_the_last(
    on_delete: str, protect: bool, retain: bool, declared: Callable[..., Any]
) -> None:
    cluster = declared("azure", {**LINKED, "storage.on_delete": on_delete})
    request = cluster.one("AutoExportJob").request
    assert (request.protect, request.retainOnDelete) == (protect, retain)
    needed = [cluster.one(kind, "blob") for kind in ("PrivateEndpoint", "PrivateZone", "VirtualNetworkLink")]
    needed += [cluster.one("RoleAssignment", "-lustre-data"), cluster.one("Subnet", "-endpoints")]
    assert [r.request.retainOnDelete for r in needed] == [retain] * 5
