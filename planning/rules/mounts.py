"""Rules about where the Lustre filesystem is mounted, and about mounting one that exists already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.azureids import example
from planning.catalog.records import AwsNodeType
from planning.facts.derive import Facts
from planning.facts.storage import MANAGED_LUSTRE
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule
from planning.spec import AwsExistingNetwork, AwsFilesystem

LUSTRE_ACCESS = {
    "aws": "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
    "azure": "https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites",
}
FSX_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
FSX_ID = re.compile(r"fs-[0-9a-f]{8,}")
OF_A_NEW_ONE = (
    "capacity", "throughput_per_tib", "deployment", "backup_days", "metadata_iops", "compression", "kms_key",
)  # fmt: skip


@rule("mount-over-system", "error", reference="https://refspecs.linuxfoundation.org/FHS_3.0/fhs/index.html")
def mount_over_system(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The mount point hides no directory that the system or the project needs."""
    mount = spec.storage.filesystem.mount if spec.storage.filesystem else ""
    top = "/" + mount.split("/")[1] if mount else ""
    hidden = mount if mount in HIDDEN_BY_MOUNT else top if top in NOTHING_BELOW else None
    if hidden:
        what = "be mounted over" if hidden == mount else "be mounted below"
        message = f"the filesystem would {what} {hidden}, which the system needs itself"
        yield Fault("storage.filesystem.mount", message, "write a path such as /lustre")


@rule("mount-over-scratch", "warning", reference="docs/spec.md")
def mount_over_scratch(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The mount point leaves the nodes' own NVMe scratch in sight."""
    mounted = spec.storage.filesystem is not None and spec.storage.filesystem.mount == SCRATCH
    if mounted and facts.node is not None and facts.node.local_disks:
        message = f"{SCRATCH} is where the nodes mount their own NVMe disks, which the filesystem would hide"
        yield Fault("storage.filesystem.mount", message, "write a path such as /lustre")


SCRATCH = "/scratch"
NOTHING_BELOW = frozenset(("/bin", "/boot", "/dev", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys"))
HIDDEN_BY_MOUNT = NOTHING_BELOW | {
    "/etc", "/home", "/opt", "/root", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin",
    "/usr/local/sbin", "/usr/sbin", "/usr/share", "/var", "/var/lib", "/var/log", "/var/run", "/var/tmp",
}  # fmt: skip
"""/media, /mnt and /srv are made for mounts. Source: Filesystem Hierarchy Standard 3.0."""


@rule("existing-filesystem-id", "error", reference="docs/spec.md")
def existing_filesystem_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An existing filesystem is named by its id."""
    existing = spec.storage.filesystem.existing if spec.storage.filesystem else None
    if existing is None:
        return
    form, kind, such = FSX_ID, "an FSx", "fs-0123456789abcdef0"
    if spec.cloud == "azure":
        such = example("Microsoft.StorageCache/amlFilesystems/research")
        form, kind = MANAGED_LUSTRE, "a Managed Lustre"
    if not form.fullmatch(existing):
        message = f"{shown(existing)} is not the id of {kind} filesystem"
        yield Fault("storage.filesystem.existing", message, f"write an id such as {such}")


@rule("existing-filesystem-settings", "error", reference="docs/spec.md")
def existing_filesystem_settings(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An existing filesystem is mounted as it is: nothing about a new one is said beside it."""
    wanted = spec.storage.filesystem
    if wanted is None or wanted.existing is None:
        return
    for field in OF_A_NEW_ONE:
        if field in wanted.model_fields_set:
            message = f"{shown(wanted.existing)} is existing and used as it is: {field} is for one that the stack makes"
            yield Fault(f"storage.filesystem.{field}", message, f"remove {field}, or remove existing")


@rule("existing-filesystem-apart", "warning", reference=LUSTRE_ACCESS)
def existing_filesystem_apart(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The nodes reach an existing filesystem: they are in its VPC, and in a security group that it lets in."""
    existing = spec.storage.filesystem.existing if spec.storage.filesystem else None
    if existing is None:
        return
    network = spec.network.existing
    if network is None:
        kind = "VPC" if spec.cloud == "aws" else "VNet"
        message = f"the stack makes a {kind} of its own, from which {shown(existing)} is not reached without a peering"
        yield Fault("storage.filesystem.existing", message, f"write network.existing with the filesystem's {kind}")
    elif isinstance(network, AwsExistingNetwork) and not network.security_groups:
        message = (
            f"nothing of {shown(existing)} is changed, so that it is for its own security group to let the nodes in "
            "(TCP 988 and 1018-1023 both ways, with EFA all traffic)"
        )
        fix = "write a security group that it lets in to network.existing.security_groups"
        yield Fault("storage.filesystem.existing", message, fix)


@rule("existing-filesystem-tcp", "info", cloud="aws", reference=FSX_EFA)
def existing_filesystem_tcp(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Whether an existing filesystem takes EFA is not known; without a word it is mounted over TCP."""
    wanted = spec.storage.filesystem
    if not isinstance(wanted, AwsFilesystem) or wanted.existing is None or not isinstance(facts.node, AwsNodeType):
        return
    if wanted.efa == "auto" and facts.node.efa:
        message = f"whether {shown(wanted.existing)} takes EFA is not known here: it is mounted over TCP"
        yield Fault("storage.filesystem.efa", message, "write efa: true where it was made with EFA")
