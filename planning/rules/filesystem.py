"""Rules about the Lustre filesystem that a stack makes. Where it is mounted, and one that exists: `mounts`;
its key: `keys`.
"""

from __future__ import annotations

from collections.abc import Iterator

from planning import catalog
from planning.catalog.records import AwsNodeType
from planning.facts.derive import Facts
from planning.facts.storage import Lustre, fits_efa, fits_tier, nearest_capacities
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule
from planning.spec import AwsFilesystem
from planning.units import show_size

FSX = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-file-system.html"
FSX_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
FSX_METADATA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html"
AMLFS = "https://learn.microsoft.com/azure/azure-managed-lustre/create-file-system-portal"
TIERS = {"aws": FSX, "azure": AMLFS}
METADATA_IOPS = (1500, 3000, 6000, *range(12000, 192001, 12000))
"""Source: FSx for Lustre API reference, metadata configuration."""
MOST_EFA_CONNECTIONS = 1024
EFA_CONNECTIONS_PER_NODE = 8
"""What AWS's client set-up opens on a node with so many interfaces. Source: FSx for Lustre user guide, EFA clients."""


def _tiers(lustre: Lustre) -> str:
    return ", ".join(str(t.mbps_per_tib) for t in lustre.tiers)


@rule("throughput-not-sold", "error", reference=TIERS, waivable=False)
def throughput_not_sold(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The throughput is a tier that the cloud sells."""
    lustre, wanted = facts.lustre, spec.storage.filesystem
    if lustre is None or wanted is None or lustre.tier is not None or not lustre.tiers:
        return
    nearest = min(lustre.tiers, key=lambda t: abs(t.mbps_per_tib - (wanted.throughput_per_tib or 0)))
    message = f"no tier has {wanted.throughput_per_tib} MB/s per TiB; there are {_tiers(lustre)}"
    yield Fault("storage.filesystem.throughput_per_tib", message, f"write {nearest.mbps_per_tib}")


@rule("throughput-of-scratch", "error", cloud="aws", reference=FSX, waivable=False)
def throughput_of_scratch(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Scratch filesystems have no throughput tiers."""
    wanted = spec.storage.filesystem
    if wanted is not None and wanted.deployment == "scratch" and wanted.throughput_per_tib is not None:
        yield Fault(
            "storage.filesystem.throughput_per_tib",
            "scratch filesystems have no throughput tiers",
            "remove it, or write deployment: persistent",
        )


@rule("throughput-chosen", "info", reference=TIERS)
def throughput_chosen(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Where no tier is asked for, the chosen one is said."""
    if facts.lustre and facts.lustre.throughput_is_default and facts.lustre.tier:
        message = (
            f"no throughput_per_tib is given; {facts.lustre.tier.mbps_per_tib} MB/s per TiB is taken of "
            f"{_tiers(facts.lustre)}"
        )
        yield Fault("storage.filesystem.throughput_per_tib", message, "write the tier that you want")


@rule("capacity-not-sold", "error", reference=TIERS, waivable=False)
def capacity_not_sold(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The capacity is a step of its tier."""
    lustre = facts.lustre
    if lustre is None or lustre.tier is None or fits_tier(lustre.tier, lustre.capacity_gib):
        return
    tier = lustre.tier
    sizes = " or ".join(
        show_size(c) if spec.cloud == "azure" else f"{c}GiB" for c in nearest_capacities(tier, lustre.capacity_gib)
    )
    also = "".join(f"{c} GiB, or " for c in tier.also_gib)
    least = max(tier.smallest_gib, tier.step_gib)
    at = f" at {tier.mbps_per_tib} MB/s per TiB" if tier.mbps_per_tib else " as scratch"
    message = (
        f"{lustre.capacity_gib} GiB can not be bought{at}: the sizes are "
        f"{also}multiples of {tier.step_gib} GiB from {least} GiB on"
    )
    yield Fault("storage.filesystem.capacity", message, f"write {sizes}")


@rule("capacity-above-documents", "warning", reference=AMLFS)
def capacity_above_documents(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A capacity above what documents print may be refused; newer documents raise the limits."""
    lustre = facts.lustre
    if (
        lustre
        and lustre.tier
        and lustre.tier.documented_max_gib
        and lustre.capacity_gib > lustre.tier.documented_max_gib
    ):
        most = show_size(lustre.tier.documented_max_gib)
        yield Fault(
            "storage.filesystem.capacity",
            f"documents print {most} as the most of this tier, newer ones more",
            "ask support before counting on it",
        )


@rule("efa-capacity", "error", cloud="aws", reference=FSX_EFA, waivable=False)
def efa_capacity(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A filesystem over EFA has larger steps, a persistent deployment, and nodes with EFA."""
    wanted, lustre = spec.storage.filesystem, facts.lustre
    if not isinstance(wanted, AwsFilesystem) or wanted.efa is not True:
        return
    if wanted.deployment == "scratch":
        yield Fault("storage.filesystem.efa", "scratch filesystems have no EFA", "write efa: auto")
    elif isinstance(facts.node, AwsNodeType) and not facts.node.efa:
        message = f"{shown(spec.nodes.type)} has no EFA, so its clients can not reach a filesystem over it"
        yield Fault("storage.filesystem.efa", message, "write efa: auto")
    elif lustre and lustre.tier and not fits_efa(lustre.tier, lustre.capacity_gib):
        step = lustre.tier.efa_step_gib
        whole = max(-(-lustre.capacity_gib // step), 1) * step
        yield Fault(
            "storage.filesystem.capacity",
            f"over EFA the capacity comes in steps of {step} GiB, and {lustre.capacity_gib} is none",
            f"write {whole}GiB, or efa: auto",
        )


@rule("efa-left-off", "info", cloud="aws", reference=FSX_EFA)
def efa_left_off(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Where the nodes have EFA but the filesystem is too small for it, that is said."""
    wanted, lustre = spec.storage.filesystem, facts.lustre
    if (
        isinstance(wanted, AwsFilesystem)
        and wanted.efa == "auto"
        and lustre
        and lustre.tier
        and lustre.efa_possible
        and not lustre.efa
    ):
        step = lustre.tier.efa_step_gib
        message = (
            f"clients reach this filesystem over TCP: EFA takes multiples of {step} GiB at "
            f"{lustre.tier.mbps_per_tib} MB/s per TiB"
        )
        yield Fault(
            "storage.filesystem.capacity",
            message,
            f"for EFA write {max(-(-lustre.capacity_gib // step), 1) * step}GiB",
        )


@rule("metadata-iops-not-sold", "error", cloud="aws", reference=FSX, waivable=False)
def metadata_iops_not_sold(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Metadata IOPS come in steps."""
    wanted = spec.storage.filesystem
    iops = wanted.metadata_iops if isinstance(wanted, AwsFilesystem) else None
    if iops is None or iops in METADATA_IOPS:
        return
    nearest = min(METADATA_IOPS, key=lambda step: abs(step - iops))
    yield Fault(
        "storage.filesystem.metadata_iops",
        f"{iops} is no step: there are 1500, 3000, 6000 and multiples of 12000 up to 192000",
        f"write {nearest}",
    )


@rule("metadata-iops-below-capacity", "warning", cloud="aws", reference=FSX_METADATA)
def metadata_iops_below_capacity(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Metadata IOPS are no fewer than FSx gives by itself: it grows no filesystem that has fewer."""
    wanted = spec.storage.filesystem
    if not isinstance(wanted, AwsFilesystem) or wanted.metadata_iops is None or facts.lustre is None:
        return
    own = catalog.metadata_iops(facts.lustre.capacity_gib)
    if wanted.metadata_iops in METADATA_IOPS and wanted.metadata_iops < own:
        message = (
            f"FSx gives {facts.lustre.capacity_gib} GiB {own} metadata IOPS by itself; with {wanted.metadata_iops} it "
            "grows only after they are raised, and lowering them again makes a new filesystem"
        )
        yield Fault("storage.filesystem.metadata_iops", message, f"write {own}, or leave metadata_iops out")


@rule("scratch-cannot", "error", cloud="aws", reference=FSX, waivable=False)
def scratch_cannot(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Scratch filesystems have neither backups nor metadata settings nor a key of one's own."""
    wanted = spec.storage.filesystem
    if not isinstance(wanted, AwsFilesystem) or wanted.deployment != "scratch":
        return
    for field in ("backup_days", "metadata_iops", "kms_key"):
        if field in wanted.model_fields_set and getattr(wanted, field):
            yield Fault(
                f"storage.filesystem.{field}",
                f"scratch filesystems take no {field}: they are made to be lost",
                f"remove {field}, or write deployment: persistent",
            )


@rule(
    "scratch-without-link",
    "warning",
    cloud="aws",
    reference="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
)
def scratch_without_link(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """What is on scratch storage is lost with a file server unless it is exported."""
    wanted = spec.storage.filesystem
    if wanted is None or wanted.existing is not None:
        return
    if wanted.deployment == "scratch" and not spec.storage.objects.link:
        yield Fault(
            "storage.filesystem.deployment",
            "scratch storage is not replicated, and nothing exports it to the bucket",
            "write storage.objects.link: true, or deployment: persistent",
        )


@rule(
    "backups-off",
    "warning",
    cloud="aws",
    reference="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html",
)
def backups_off(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Persistent storage that nothing exports has backups, or what a mistake deletes is gone."""
    wanted = spec.storage.filesystem
    if not isinstance(wanted, AwsFilesystem) or facts.lustre is None or wanted.deployment == "scratch":
        return
    if wanted.backup_days == 0 and not spec.storage.objects.link:
        message = (
            "no daily backup is made, and nothing exports the files: one wrong command on a node, and they are gone"
        )
        yield Fault("storage.filesystem.backup_days", message, "write 7, or storage.objects.link: true")


@rule("efa-connections-exceeded", "warning", cloud="aws", reference=FSX_EFA)
def efa_connections_exceeded(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A filesystem takes a limited number of EFA connections, of which a node with several cards opens eight."""
    if not facts.lustre or not facts.lustre.efa:
        return
    each = min(facts.fabric.interfaces_per_node, EFA_CONNECTIONS_PER_NODE)
    if spec.nodes.count * each > MOST_EFA_CONNECTIONS:
        message = (
            f"{spec.nodes.count} nodes open {spec.nodes.count * each} EFA connections, and a filesystem takes "
            f"{MOST_EFA_CONNECTIONS}: the nodes after that fall back to TCP"
        )
        fix = f"take {MOST_EFA_CONNECTIONS // each} nodes or fewer, or expect the slower way"
        yield Fault("nodes.count", message, fix)
