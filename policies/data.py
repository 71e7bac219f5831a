"""Data stores are encrypted, at rest and on the way, and do not go away by accident. Public access:
`policies.stores`.

Pulumi tells a policy whether a resource is protected, but not whether it is retained on delete. A store that
is only retained says so with the tag `on-delete: retain`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.stores import belonging
from policies.view import UNKNOWN, View, flag, shown

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
    area="data",
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
    area="data",
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
    area="data",
    description="A bucket that holds objects cannot be destroyed.",
    why="With forceDestroy a destroy empties the bucket first, all versions included.",
    fix="Leave forceDestroy out, and empty the bucket by hand when it really has to go.",
    severity=Severity.CRITICAL,
)
def bucket_force_destroy(bucket: Resource) -> Iterator[Fault]:
    if bucket.true("forceDestroy"):
        yield bucket.fault("forceDestroy", "is true")


@stack_policy(
    "checkpoints-never-expire",
    *kinds.BUCKETS,
    kinds.STORAGE_ACCOUNT,
    area="data",
    description="Every bucket and storage account has lifecycle rules.",
    why="A training run writes a checkpoint of terabytes every hour or so, and nobody deletes them by hand.",
    fix="Declare a lifecycle rule for the prefix of the checkpoints that cools them and lets them expire "
    "(aws.s3.BucketLifecycleConfiguration, storage.ManagementPolicy).",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    reference="https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lifecycle-mgmt.html",
)
def checkpoints_never_expire(stack: Stack) -> Iterator[Fault]:
    for store in stack.of(*kinds.BUCKETS, kinds.STORAGE_ACCOUNT):
        inline = any(View(store.value).each("lifecycleRules[]"))
        if not inline and not belonging(stack, store, *kinds.BUCKET_LIFECYCLES, kinds.LIFECYCLE):
            yield store.fault("lifecycleRules", "are not set")


@resource_policy(
    "aws-storage-unencrypted",
    kinds.EBS_VOLUME,
    kinds.EFS,
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    area="data",
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
    area="data",
    description="Storage accounts speak HTTPS with TLS 1.2 or later, and nothing else.",
    why="The API's own defaults still take TLS 1.0, and what goes over plain HTTP, tokens included, can be "
    "read on the way.",
    fix="Set minimumTlsVersion to TLS1_2 and leave enableHttpsTrafficOnly true; NFSv3, which takes plain transport "
    "only, can be left off where nodes mount with blobfuse2.",
    reference="https://learn.microsoft.com/azure/storage/common/transport-layer-security-configure-minimum-version",
    mends=True,
)
def azure_storage_insecure_transport(account: Resource) -> Iterator[Fault]:
    if account.differs("minimumTlsVersion", "TLS1_2", "TLS1_3"):
        found = f"is {shown(account.get('minimumTlsVersion'))}"
        yield account.fault("minimumTlsVersion", found, mend={"minimumTlsVersion": "TLS1_2"})
    if account.differs("enableHttpsTrafficOnly", True, None):
        mend = {} if account.peek("enableNfsV3") else {"enableHttpsTrafficOnly": True}
        yield account.fault("enableHttpsTrafficOnly", "is false", mend=mend)


@resource_policy(
    "azure-storage-shared-key",
    kinds.STORAGE_ACCOUNT,
    area="data",
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
    area="data",
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
