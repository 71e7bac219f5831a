"""Rules about the bucket or storage account, and about what destroy does with data. Its lifecycle: `checkpoints`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning import catalog
from planning.azureids import example
from planning.facts.derive import Facts
from planning.facts.storage import LOG_CONTAINER, existing_container
from planning.findings import LONGEST_SHOWN, shown
from planning.names import SHARED_KEY_TAG
from planning.rules.registry import AnySpec, Fault, refused_by, rule
from planning.spec import AwsFilesystem, AzureObjects

BUCKET = re.compile(
    r"(?!\d+\.\d+\.\d+\.\d+$)(?!xn--|sthree-|amzn-s3-demo-)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]"
)
ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
CONTAINER_ID = example("Microsoft.Storage/storageAccounts/researchdata/blobServices/default/containers/data")
AMLFS_LINK = "https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites"
AMLFS_JOBS = "https://learn.microsoft.com/azure/azure-managed-lustre/auto-export"
S3_NAMES = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
ACCOUNT_NAMES = "https://learn.microsoft.com/azure/storage/common/storage-account-overview#storage-account-name"
READ_ELSEWHERE = {
    "aws": "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
    "azure": "https://learn.microsoft.com/azure/storage/common/storage-network-security",
}
S3_LINKED = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html"


@rule("bucket-name", "error", cloud="aws", reference=S3_NAMES, waivable=False)
def bucket_name(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A bucket's name keeps to the rules of S3."""
    for field in ("name", "existing"):
        name = getattr(spec.storage.objects, field)
        if name is None or BUCKET.fullmatch(name):
            continue
        plain = re.sub(r"^(s3://|arn:aws[a-z-]*:s3:::)", "", name).partition("/")[0]
        legal = re.sub(r"[^a-z0-9-]+", "-", plain.lower()).strip("-")[:63]
        fix = (
            f"write {legal}"
            if len(name) <= LONGEST_SHOWN and BUCKET.fullmatch(legal)
            else "write a name such as llama-70b-data"
        )
        yield Fault(
            f"storage.objects.{field}",
            f"S3 refuses the name {shown(name)}: 3 to 63 lower-case letters, digits, hyphens and single dots",
            fix,
        )


@rule("bucket-name-with-dots", "warning", cloud="aws", reference=S3_NAMES)
def bucket_name_with_dots(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The certificate of S3 fits no bucket with a dot in its name."""
    for field in ("name", "existing"):
        name = getattr(spec.storage.objects, field)
        if name is not None and "." in name and BUCKET.fullmatch(name):
            message = f"S3's certificate does not fit {shown(name)} as a host name, so that many clients refuse it"
            fix = f"write {name.replace('.', '-')}" if field == "name" else "copy to a bucket without dots"
            yield Fault(f"storage.objects.{field}", message, fix)


@rule("storage-account-name", "error", cloud="azure", reference=ACCOUNT_NAMES, waivable=False)
def storage_account_name(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A storage account's name keeps to the rules of Azure."""
    name = spec.storage.objects.name
    if name is not None and not ACCOUNT.fullmatch(name):
        legal = re.sub(r"[^a-z0-9]+", "", name.lower())[:24]
        fix = (
            f"write {legal}"
            if len(name) <= LONGEST_SHOWN and ACCOUNT.fullmatch(legal)
            else "write a name such as llama70bdata"
        )
        yield Fault(
            "storage.objects.name",
            f"Azure refuses the name {shown(name)}: 3 to 24 lower-case letters and digits, no hyphens",
            fix,
        )


@rule("existing-container-id", "error", cloud="azure", reference="docs/spec.md", waivable=False)
def existing_container_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An existing container is named by its resource id, since nobody can be let into one known by name alone."""
    existing = spec.storage.objects.existing
    if existing is not None and existing_container(spec) is None:
        message = f"{shown(existing)} is not the resource id of a storage account, nor of a container in one"
        yield Fault("storage.objects.existing", message, f"write an id such as {CONTAINER_ID}")


@rule("objects-named-for-other-region", "warning", reference=READ_ELSEWHERE)
def objects_named_for_other_region(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A store that exists is in the cluster's region, as far as its name tells."""
    container = existing_container(spec)
    name = container.account if container is not None else spec.storage.objects.existing
    told = [region for region in catalog.regions(spec.cloud) if region in (name or "")]
    if name is not None and told and spec.region not in name:
        said = max(told, key=len)
        message = (
            f"{shown(name)} is called after {said}, and the cluster is in {spec.region}: reads between regions are "
            "slow and paid by the GB, and a link is refused"
        )
        yield Fault("storage.objects.existing", message, f"write a store of {spec.region}, or region: {said}")


@rule("objects-twice", "error", reference="docs/spec.md")
def objects_twice(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Objects are in a new store or in an existing one."""
    if spec.storage.objects.name is not None and spec.storage.objects.existing is not None:
        yield Fault(
            "storage.objects",
            "name makes a new store, and existing names one: only one can hold",
            "remove name or existing",
        )


@rule("existing-objects-settings", "error", reference="docs/spec.md")
def existing_objects_settings(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An existing store is used as it is: the stack sets no lifecycle of it."""
    objects = spec.storage.objects
    if objects.existing is None:
        return
    for field in ("cool_after_days", "expire_after_days"):
        if getattr(objects.checkpoints, field) is not None:
            message = f"{shown(objects.existing)} is existing and used as it is: {field} would change its lifecycle"
            yield Fault(f"storage.objects.checkpoints.{field}", message, f"remove {field}, or remove existing")


@rule("link-without-filesystem", "error", reference="docs/spec.md", waivable=False)
def link_without_filesystem(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A link joins objects with a filesystem."""
    if spec.storage.objects.link and spec.storage.filesystem is None:
        message = "a link joins the objects with a file system, and storage.filesystem is null"
        yield Fault("storage.objects.link", message, "add storage.filesystem, or write link: false")


@rule("link-of-existing-filesystem", "error", reference="docs/spec.md", waivable=False)
def link_of_existing_filesystem(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A link is of a filesystem that the stack makes: an existing one is used as it is."""
    existing = spec.storage.filesystem.existing if spec.storage.filesystem else None
    if spec.storage.objects.link and existing is not None:
        message = f"{shown(existing)} is existing and used as it is, and a link would change what is on it"
        yield Fault("storage.objects.link", message, "write link: false, and link it where it is managed")


@rule("backups-of-linked", "error", cloud="aws", reference=S3_LINKED)
def backups_of_linked(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A filesystem that is linked to a bucket has no backups."""
    wanted = spec.storage.filesystem
    if not spec.storage.objects.link or not isinstance(wanted, AwsFilesystem) or wanted.deployment == "scratch":
        return
    if "backup_days" in wanted.model_fields_set and wanted.backup_days:
        message = "FSx makes no backups of a filesystem that is linked to a bucket"
        yield Fault("storage.filesystem.backup_days", message, "remove backup_days, or write link: false")


@rule("linked-without-backups", "info", cloud="aws", reference=S3_LINKED)
def linked_without_backups(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Where a link takes away the backups that are made otherwise, that is said."""
    wanted = spec.storage.filesystem
    if not spec.storage.objects.link or not isinstance(wanted, AwsFilesystem) or wanted.existing is not None:
        return
    if wanted.deployment == "persistent" and "backup_days" not in wanted.model_fields_set:
        message = (
            "linked to the bucket, the filesystem has no backups: what is exported to the bucket is all that lasts"
        )
        yield Fault("storage.objects.link", message, "write backup_days: 0 to say so, or link: false")


@rule("link-roles-unseen", "warning", cloud="azure", reference=AMLFS_LINK)
def link_roles_unseen(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Managed Lustre's own service is let into the account before the filesystem is made."""
    objects = spec.storage.objects
    if not isinstance(objects, AzureObjects) or not objects.link or objects.link_principal is not None:
        return
    message = (
        "no filesystem is made unless the service principal HPC Cache Resource Provider has the roles Storage Account "
        "Contributor and Storage Blob Data Contributor on the account; its id differs from tenant to tenant"
    )
    find = 'az ad sp list --display-name "HPC Cache Resource Provider" --query "[].id" --output tsv'
    yield Fault("storage.objects.link_principal", message, f"write what this prints, and the stack grants both: {find}")


@rule("link-principal-alone", "error", cloud="azure", reference=AMLFS_LINK)
def link_principal_alone(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Nobody is let into the account for a link that is not there."""
    objects = spec.storage.objects
    if isinstance(objects, AzureObjects) and objects.link_principal is not None and not objects.link:
        message = "without a link nothing is granted to the service principal"
        yield Fault("storage.objects.link_principal", message, "write link: true, or remove link_principal")


@rule("link-takes-shared-keys", "warning", cloud="azure", reference=AMLFS_LINK)
def link_takes_shared_keys(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A linked account takes shared keys, with which Managed Lustre reads it: that is said."""
    objects = spec.storage.objects
    if not objects.link or spec.storage.filesystem is None:
        return
    message = (
        "Managed Lustre reads and writes with the account's shared key: whoever gets hold of that key does as well"
    )
    fix = f"say in `waive` that you take it (the account is tagged {SHARED_KEY_TAG}), or write link: false"
    if objects.existing is not None:
        fix = f"see that the account allows shared keys and has the container {LOG_CONTAINER}, or write link: false"
    yield Fault("storage.objects.link", message, fix)


@rule("link-imports-once", "info", cloud="azure", reference=AMLFS_JOBS)
def link_imports_once(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Managed Lustre follows no hierarchical account: what comes later is imported by hand."""
    if spec.storage.objects.link:
        message = (
            "the container's names are imported when the filesystem is made, and later files are exported; what others "
            "put into the container later does not show, and deletions go neither way (FSx does both)"
        )
        fix = "make an import job when you need them, and pause the export meanwhile"
        yield Fault("storage.objects.link", message, fix)


@rule("destroy-deletes-data", "warning", reference="docs/spec.md")
def destroy_deletes_data(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """on_delete: delete lets `pulumi destroy` take the data with it."""
    made = ["file system"] if facts.lustre is not None else []
    if spec.storage.objects.existing is None:
        made.append("objects")
    if spec.storage.on_delete == "delete" and made:
        message = (
            f"`pulumi destroy` would delete {' and '.join(made)}, and what is there is lost "
            f"({refused_by('data-store-unprotected')})"
        )
        yield Fault("storage.on_delete", message, "write protect or retain")
