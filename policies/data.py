"""Data stores are encrypted, at rest and on the way, and do not go away by accident. Public access:
`policies.stores`.

Pulumi tells a policy whether a resource is protected, but not whether it is retained on delete. A store that
is only retained says so with the tag `on-delete: retain`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, resource_policy
from policies.view import UNKNOWN, flag, shown

RETAIN_TAG = "on-delete"
SHARED_KEY_TAG = "shared-key-for"
"""Names the service that has no other way into a storage account, such as managed-lustre."""
_PROTECT = (
    "Give it the resource option protect=True, or retain_on_delete=True and the tag on-delete: retain "
    "(a policy cannot see the option itself)."
)


def _kept(resource: Resource) -> bool:
    return resource.protected or resource.get(f"tags.{RETAIN_TAG}") == "retain"


def _scratch(resource: Resource) -> bool:
    """A Lustre for data one can lose, by its kind; where no kind is said, FSx makes a SCRATCH_1."""
    if resource.type != kinds.FSX_LUSTRE:
        return False
    kind = resource.get("deploymentType")
    return kind is None or (isinstance(kind, str) and kind.startswith("SCRATCH"))


@resource_policy(
    "data-store-unprotected",
    *kinds.BUCKETS,
    kinds.EFS,
    kinds.FSX_LUSTRE,
    kinds.FSX_ONTAP,
    kinds.FSX_OPENZFS,
    kinds.MANAGED_LUSTRE,
    kinds.NETAPP_VOLUME,
    kinds.STORAGE_ACCOUNT,
    description="Data stores are protected from deletion, or retained when they leave the stack.",
    why="A renamed resource, a changed immutable property or a plain destroy would delete data that took "
    "weeks to compute.",
    fix=_PROTECT,
    severity=Severity.CRITICAL,
    reference="https://www.pulumi.com/docs/iac/concepts/options/protect/",
)
def data_store_unprotected(store: Resource) -> Iterator[Fault]:
    if not _scratch(store) and not _kept(store):
        yield store.fault("protect", "is not set")


@resource_policy(
    "lustre-without-final-backup",
    kinds.FSX_LUSTRE,
    description="A persistent FSx for Lustre leaves a final backup, or is protected from deletion.",
    why="Without saying otherwise the filesystem is deleted with its data and leaves nothing behind.",
    fix="Set skipFinalBackup to false; it has to be applied before the filesystem is deleted.",
    severity=Severity.CRITICAL,
    reference="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html",
)
def lustre_without_final_backup(filesystem: Resource) -> Iterator[Fault]:
    linked = filesystem.has("importPath")  # FSx takes no backup of a filesystem that is linked this way
    if _scratch(filesystem) or linked or _kept(filesystem):
        return
    if filesystem.differs("skipFinalBackup", False):
        yield filesystem.fault("skipFinalBackup", f"is {shown(filesystem.get('skipFinalBackup'))}")


@resource_policy(
    "bucket-force-destroy",
    *kinds.BUCKETS,
    description="A bucket that holds objects cannot be destroyed.",
    why="With forceDestroy a destroy empties the bucket first, all versions included.",
    fix="Leave forceDestroy out, and empty the bucket by hand when it really has to go.",
    severity=Severity.CRITICAL,
)
def bucket_force_destroy(bucket: Resource) -> Iterator[Fault]:
    if bucket.true("forceDestroy"):
        yield bucket.fault("forceDestroy", "is true")


@resource_policy(
    "aws-storage-unencrypted",
    kinds.EBS_VOLUME,
    kinds.EFS,
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    description="Disks and shared filesystems are encrypted at rest.",
    why="Disks of nodes hold data, tokens and checkpoints, and encryption can only be chosen when they are made.",
    fix="Set encrypted to true.",
    reference="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html",
)
def aws_storage_unencrypted(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.EBS_VOLUME, kinds.EFS):
        disks = [resource]
    else:
        paths = ("blockDeviceMappings[].ebs", "rootBlockDevice", "ebsBlockDevices[]")
        disks = [disk for path in paths for disk in resource.each(path)]
    for disk in disks:
        encrypted = disk.get("encrypted")
        if encrypted is not UNKNOWN and flag(encrypted) is not True:
            yield resource.fault(disk.where("encrypted"), f"is {shown(encrypted)}")


@resource_policy(
    "azure-storage-insecure-transport",
    kinds.STORAGE_ACCOUNT,
    description="Storage accounts speak HTTPS with TLS 1.2 or later, and nothing else.",
    why="The API's own defaults still take TLS 1.0, and what goes over plain HTTP, tokens included, can be "
    "read on the way.",
    fix="Set minimumTlsVersion to TLS1_2 and leave enableHttpsTrafficOnly true.",
    reference="https://learn.microsoft.com/azure/storage/common/transport-layer-security-configure-minimum-version",
)
def azure_storage_insecure_transport(account: Resource) -> Iterator[Fault]:
    if account.differs("minimumTlsVersion", "TLS1_2", "TLS1_3"):
        yield account.fault("minimumTlsVersion", f"is {shown(account.get('minimumTlsVersion'))}")
    if account.differs("enableHttpsTrafficOnly", True, None):
        yield account.fault("enableHttpsTrafficOnly", "is false")


@resource_policy(
    "azure-storage-shared-key",
    kinds.STORAGE_ACCOUNT,
    description="Storage accounts take identities, not shared keys.",
    why="An account key gives everything to whoever copies it, for as long as it is not rotated; left out, "
    "keys are allowed.",
    fix="Set allowSharedKeyAccess to false and give identities the role Storage Blob Data Contributor. Where a service "
    f"has no other way in, as Azure Managed Lustre, name it in the tag {SHARED_KEY_TAG}.",
    reference="https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent",
)
def azure_storage_shared_key(account: Resource) -> Iterator[Fault]:
    if account.peek(f"tags.{SHARED_KEY_TAG}"):
        return
    if account.differs("allowSharedKeyAccess", False):
        yield account.fault("allowSharedKeyAccess", f"is {shown(account.get('allowSharedKeyAccess'))}")


@resource_policy(
    "azure-storage-without-hierarchy",
    kinds.STORAGE_ACCOUNT,
    description="Storage accounts for training data have a hierarchical namespace (ADLS Gen2).",
    why="Without it a directory of checkpoints cannot be renamed or deleted in one step, and it can only be "
    "chosen at the start.",
    fix="Set isHnsEnabled to true; it replaces an account that exists.",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    reference="https://learn.microsoft.com/azure/storage/blobs/data-lake-storage-namespace",
)
def azure_storage_without_hierarchy(account: Resource) -> Iterator[Fault]:
    if account.differs("isHnsEnabled", True):
        yield account.fault("isHnsEnabled", f"is {shown(account.get('isHnsEnabled'))}")
