"""Azure Managed Lustre in a subnet of its own, in the nodes' zone, its link to the container, or one of the user's own
that is mounted as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import storagecache

from components.azure.group import Group
from components.azure.identity import STORAGE_BLOB_DATA_CONTRIBUTOR, grant, user_assigned
from components.azure.network import Network
from components.azure.objects import Objects
from components.bootstrap.lustre import Filesystem, mounted
from components.cluster import data_store_options, ground_options
from components.hooks import advising
from planning.facts.storage import VaultKey
from planning.plan import FilesystemPlan, Plan

STORAGE_ACCOUNT_CONTRIBUTOR = "17d1049b-9a84-46fb-8f53-869881c3d3ab"
KEY_VAULT_CRYPTO_SERVICE_ENCRYPTION_USER = "e147488a-f6f5-4113-8e2d-b22465e65bf6"
"""Sources: Azure built-in roles, storage and security."""
UNCHANGEABLE = ["encryptionSettings", "hsm", "identity", "sku"]
"""What Azure refuses to change although the provider takes it for changeable; it knows of capacity, subnet and zone."""
ADVICE = {
    "MissingSubscriptionRegistration": (
        "register the service, once per subscription: az provider register --namespace Microsoft.StorageCache"
    ),
    "exceeding quota": (
        "a subscription has four Managed Lustre filesystems unless support raised that: delete one, or ask support"
    ),
    "is not found or is inaccessible": (
        "the service principal HPC Cache Resource Provider has no way into the container yet: roles take up to five "
        "minutes, then `pulumi up` again (storage.objects.link_principal grants them)"
    ),
    "SubnetIsFull": (
        "a filesystem that was retained keeps its addresses: mount it by storage.filesystem.existing, or delete it"
    ),
    "job is in progress": "names are still imported from the container: `pulumi up` again when that is done",
}
"""What to do, by what the service says. Sources: Azure Managed Lustre, prerequisites and blob integration."""


def declare_filesystem(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, network: Network, objects: Objects
) -> Filesystem | None:
    wanted = plan.filesystem
    if wanted is None:
        return None
    if wanted.existing is not None:
        # Read, never changed: the only way to its address.
        lustre = storagecache.AmlFilesystem.get(
            f"{name}-existing-lustre", wanted.existing, opts=pulumi.ResourceOptions(parent=parent)
        )
    else:
        lustre = _made(plan, wanted, name, parent, group, network, objects)
    source = pulumi.Output.concat(lustre.client_info.mgs_address, "@tcp:/lustrefs")
    return mounted(source, wanted.mount)


def _made(
    plan: Plan,
    wanted: FilesystemPlan,
    name: str,
    parent: pulumi.Resource,
    group: Group,
    network: Network,
    objects: Objects,
) -> storagecache.AmlFilesystem:
    let_in = _let_in(plan, name, parent, group, objects)
    key = _key(plan, wanted.vault_key, name, parent, group) if wanted.vault_key else None
    lustre = storagecache.AmlFilesystem(
        # The provider adds letters to the name, so that a new one can be made beside one that is retained.
        f"{name}-lustre",
        resource_group_name=group.name,
        location=plan.region,
        sku={"name": wanted.sku},
        storage_capacity_ti_b=wanted.capacity_gib / 1024,
        filesystem_subnet=network.filesystem_subnet_id,
        zones=[plan.zone] if plan.zone else None,
        # The same as on AWS.
        maintenance_window=storagecache.AmlFilesystemMaintenanceWindowArgs(
            day_of_week=storagecache.MaintenanceDayOfWeekType.SUNDAY, time_of_day_utc="03:00"
        ),
        hsm=_hsm(objects) if plan.objects.link else None,
        identity=key.identity if key else None,
        encryption_settings=key.settings if key else None,
        tags=dict(plan.tags),
        opts=data_store_options(
            plan,
            parent,
            depends_on=[*(objects.ready if plan.objects.link else []), *let_in, *(key.granted if key else [])],
            replace_on_changes=UNCHANGEABLE,
            hooks=pulumi.ResourceHookBinding(on_error=[advising(f"{name}-lustre", advice)]),
            # Its subnet has room for one. One that is retained stays in the state until a new one has found its place.
            delete_before_replace=plan.on_delete != "retain",
        ),
    )
    if plan.objects.link:
        _export(plan, name, parent, group, lustre)
    return lustre


def _hsm(objects: Objects) -> storagecache.AmlFilesystemHsmArgs:
    """The whole container, whose names are imported when the filesystem is made; contents come when they are read."""
    assert objects.log_container_id is not None
    return storagecache.AmlFilesystemHsmArgs(
        settings=storagecache.AmlFilesystemHsmSettingsArgs(
            container=objects.container_id, logging_container=objects.log_container_id
        )
    )


def _let_in(plan: Plan, name: str, parent: pulumi.Resource, group: Group, objects: Objects) -> list[pulumi.Resource]:
    """The service that reads and writes for a link: its roles must be there before the filesystem.

    Azure names it by an id that differs from tenant to tenant, and the provider can not look it up.
    """
    principal = plan.objects.link_principal
    if principal is None:
        return []
    roles = {"lustre-account": STORAGE_ACCOUNT_CONTRIBUTOR, "lustre-data": STORAGE_BLOB_DATA_CONTRIBUTOR}
    return [
        grant(
            plan,
            f"{name}-{purpose}",
            group,
            scope=objects.account_id,
            named=objects.account_name,
            role=role,
            principal=principal,
            opts=ground_options(plan, parent),
        )
        for purpose, role in roles.items()
    ]


def _export(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, lustre: storagecache.AmlFilesystem
) -> storagecache.AutoExportJob:
    """New and changed files go to the container by themselves.

    The same the other way needs the account's change feed, which hierarchical accounts have not, and one job runs at a
    time. Source: Azure Managed Lustre, auto-import.
    """
    return storagecache.AutoExportJob(
        f"{name}-lustre",
        auto_export_job_name="export",
        aml_filesystem_name=lustre.name,
        resource_group_name=group.name,
        location=plan.region,
        auto_export_prefixes=["/"],
        admin_status=storagecache.AutoExportJobAdminStatus.ENABLE,
        tags=dict(plan.tags),
        # It holds nothing itself, but a refused destroy deletes what is not protected, and a filesystem that is left
        # behind has to go on exporting.
        opts=data_store_options(
            plan, parent, hooks=pulumi.ResourceHookBinding(on_error=[advising(f"{name}-export", advice)])
        ),
    )


def advice(refusal: str, _is_change: bool) -> str | None:
    return next((told for said, told in ADVICE.items() if said in refusal), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    identity: storagecache.AmlFilesystemIdentityArgs
    settings: storagecache.AmlFilesystemEncryptionSettingsArgs
    granted: list[pulumi.Resource]


def _key(plan: Plan, key: VaultKey, name: str, parent: pulumi.Resource, group: Group) -> _Key:
    """The version of a key in a vault of the user's own, and an identity that may use that key and nothing else."""
    # Both stay as long as the filesystem, which can not be read without them.
    identity = user_assigned(plan, name, "lustre", group, ground_options(plan, parent))
    granted = grant(
        plan,
        f"{name}-lustre-key",
        group,
        scope=key.id,
        named=key.id,
        role=KEY_VAULT_CRYPTO_SERVICE_ENCRYPTION_USER,
        principal=identity.principal_id,
        opts=ground_options(plan, parent),
    )
    return _Key(
        identity=storagecache.AmlFilesystemIdentityArgs(
            type=storagecache.AmlFilesystemIdentityType.USER_ASSIGNED, user_assigned_identities=[identity.id]
        ),
        settings=storagecache.AmlFilesystemEncryptionSettingsArgs(
            key_encryption_key=storagecache.KeyVaultKeyReferenceArgs(
                key_url=key.url, source_vault=storagecache.KeyVaultKeyReferenceSourceVaultArgs(id=key.vault_id)
            )
        ),
        granted=[granted],
    )
