"""Rules about the bucket or storage account, and about what destroy does with data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.facts.derive import Facts
from planning.findings import LONGEST_SHOWN, shown
from planning.rules.registry import AnySpec, Fault, rule

BUCKET = re.compile(
    r"(?!\d+\.\d+\.\d+\.\d+$)(?!xn--|sthree-|amzn-s3-demo-)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]"
)
ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
S3_NAMES = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
ACCOUNT_NAMES = "https://learn.microsoft.com/azure/storage/common/storage-account-overview#storage-account-name"
S3_LIFECYCLE = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html"


@rule("bucket-name", "error", cloud="aws", reference=S3_NAMES, waivable=False)
def bucket_name(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A bucket's name keeps to the rules of S3."""
    name = spec.storage.objects.name
    if name is not None and not BUCKET.fullmatch(name):
        legal = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:63]
        fix = (
            f"write {legal}"
            if len(name) <= LONGEST_SHOWN and BUCKET.fullmatch(legal)
            else "write a name such as llama-70b-data"
        )
        yield Fault(
            "storage.objects.name",
            f"S3 refuses the name {shown(name)}: 3 to 63 lower-case letters, digits, hyphens and single dots",
            fix,
        )


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


@rule("objects-twice", "error", reference="docs/spec.md")
def objects_twice(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Objects are in a new store or in an existing one."""
    if spec.storage.objects.name is not None and spec.storage.objects.existing is not None:
        yield Fault(
            "storage.objects",
            "name makes a new store, and existing names one: only one can hold",
            "remove name or existing",
        )


@rule("expired-before-cooled", "error", reference=S3_LIFECYCLE)
def expired_before_cooled(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Checkpoints are cooled before they are deleted."""
    checkpoints = spec.storage.objects.checkpoints
    cool, expire = checkpoints.cool_after_days, checkpoints.expire_after_days
    if cool is not None and expire is not None and cool >= expire:
        message = f"checkpoints are deleted after {expire} days and would be cooled after {cool}"
        yield Fault(
            "storage.objects.checkpoints.cool_after_days",
            message,
            f"write a day before {expire}, or leave cool_after_days out",
        )


@rule("cooled-by-intelligent-tiering", "info", cloud="aws", reference=S3_LIFECYCLE)
def cooled_by_intelligent_tiering(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Standard-IA takes objects only after 30 days; earlier cooling uses Intelligent-Tiering."""
    cool = spec.storage.objects.checkpoints.cool_after_days
    if cool is not None and cool < 30:
        message = (
            f"Standard-IA takes objects after 30 days only; at {cool} days checkpoints move to Intelligent-Tiering"
        )
        yield Fault("storage.objects.checkpoints.cool_after_days", message, "write 30 or more for Standard-IA")


@rule("link-without-filesystem", "error", reference="docs/spec.md", waivable=False)
def link_without_filesystem(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A link joins objects with a filesystem."""
    if spec.storage.objects.link and spec.storage.filesystem is None:
        message = "a link joins the objects with a file system, and storage.filesystem is null"
        yield Fault("storage.objects.link", message, "add storage.filesystem, or write link: false")


@rule("destroy-deletes-data", "warning", reference="docs/spec.md")
def destroy_deletes_data(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """on_delete: delete lets `pulumi destroy` take the data with it."""
    if spec.storage.on_delete == "delete":
        yield Fault(
            "storage.on_delete",
            "`pulumi destroy` would delete file system and objects, and what is on them is lost",
            "write protect or retain",
        )
