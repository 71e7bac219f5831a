"""Rules about checkpoints: the time that one takes, the room that it needs, and how long the store keeps it."""

from __future__ import annotations

from collections.abc import Iterator

from planning.facts.capacity import notice_of
from planning.facts.derive import Facts
from planning.facts.storage import MB_PER_GIB, Lustre, fits_tier, mbps_per_tib, seconds_to_write, written_in
from planning.rules.registry import AnySpec, Fault, rule
from planning.units import show_size

SIZE = "storage.objects.checkpoints.size"
S3_LIFECYCLE = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html"
BLOB_LIFECYCLE = "https://learn.microsoft.com/azure/storage/blobs/lifecycle-management-overview"
LIFECYCLES = {"aws": S3_LIFECYCLE, "azure": BLOB_LIFECYCLE}
SPOT_NOTICE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"
AZURE_SPOT = "https://learn.microsoft.com/azure/virtual-machines/spot-vms"
FSX_SPEED = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html"
AMLFS_SIZES = "https://learn.microsoft.com/azure/azure-managed-lustre/create-file-system-portal"
LAST_MINUTES = 30
"""Of a Capacity Block, in which EC2 terminates its nodes. Source: EC2 user guide, Capacity Blocks for ML."""
COOL_DAYS = 30
"""That cool storage charges at least. Sources: S3 user guide, Standard-IA; Azure documentation, access tiers."""
LONGEST_SECONDS = 15 * 60
SHORTEST_DAYS = 7
"""A run that stands still over a holiday still finds its last checkpoint."""


@rule("checkpoint-outlasts-notice", "warning", reference={"aws": SPOT_NOTICE, "azure": AZURE_SPOT})
def checkpoint_outlasts_notice(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Between the cloud's word and a node's end a checkpoint is written."""
    size, notice, lustre = spec.storage.objects.checkpoints.size, notice_of(spec), facts.lustre
    if size is None or notice is None or lustre is None or not lustre.throughput_mbps:
        return
    takes = seconds_to_write(size, lustre.throughput_mbps)
    if takes <= notice:
        return
    who = "a spot node has" if spec.nodes.purchase == "spot" else "the end of a Capacity Block gives"
    message = (
        f"a checkpoint of {show_size(size)} takes {takes:,.0f} s at the filesystem's {lustre.throughput_mbps:,} MB/s, "
        f"and {who} {notice} s' notice"
    )
    fix = _in_time(lustre, size, notice)
    if spec.nodes.purchase == "capacity-block":
        early = -int(-(LAST_MINUTES + takes / 60) // 1)
        fix += f", or begin the last one {early} minutes before the block's end"
    yield Fault(SIZE, message, fix)


def _in_time(lustre: Lustre, size: int, notice: int) -> str:
    """What would take the checkpoint in the notice, and what is taken in it as it is."""
    most = written_in(notice, lustre.throughput_mbps)
    ways = _ways(lustre, size, notice)
    return (
        f"{ways}; {most}GiB are written in the notice at best: save that little, or save often and lose the last steps"
    )


def _ways(lustre: Lustre, size: int, seconds: int) -> str:
    """The nearest capacity that takes it in that time, and the tier that does with the capacity as it is."""
    needed = size * MB_PER_GIB / seconds
    ways = []
    if capacity := _capacity_for(lustre, needed):
        ways.append(f"storage.filesystem.capacity: {capacity}GiB")
    faster = [t for t in lustre.tiers if fits_tier(t, lustre.capacity_gib)]
    enough = [t.mbps_per_tib for t in faster if lustre.capacity_gib * t.mbps_per_tib / 1024 >= needed]
    if enough:
        ways.append(f"throughput_per_tib: {min(enough)}")
    return f"write {' or '.join(ways)}"


def _capacity_for(lustre: Lustre, mbps: float) -> int | None:
    tier = lustre.tier
    return _steps(lustre, mbps * 1024 / mbps_per_tib(tier)) if tier is not None else None


def _steps(lustre: Lustre, gib: float) -> int:
    """The smallest capacity in the steps of this filesystem that is no less."""
    step = 1
    if lustre.tier is not None:
        step = (lustre.tier.efa_step_gib if lustre.efa else 0) or lustre.tier.step_gib
    return max(-int(-gib // step), 1) * step


@rule("checkpoint-slow", "warning", reference={"aws": FSX_SPEED, "azure": AMLFS_SIZES})
def checkpoint_slow(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A checkpoint is written within a quarter of an hour, in which all nodes may wait for it."""
    size, lustre = spec.storage.objects.checkpoints.size, facts.lustre
    if size is None or lustre is None or not lustre.throughput_mbps:
        return
    takes = seconds_to_write(size, lustre.throughput_mbps)
    if takes > LONGEST_SECONDS and notice_of(spec) is None:
        message = (
            f"a checkpoint of {show_size(size)} takes {takes / 60:,.0f} minutes to write, and as long to read, at the "
            f"filesystem's {lustre.throughput_mbps:,} MB/s"
        )
        yield Fault(SIZE, message, f"for {LONGEST_SECONDS // 60} minutes {_ways(lustre, size, LONGEST_SECONDS)}")


@rule("checkpoint-above-filesystem", "warning", reference={"aws": FSX_SPEED, "azure": AMLFS_SIZES})
def checkpoint_above_filesystem(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The filesystem holds two checkpoints: the last whole one, and the one that is being written."""
    size, lustre = spec.storage.objects.checkpoints.size, facts.lustre
    if size is None or lustre is None or not lustre.capacity_gib or 2 * size <= lustre.capacity_gib:
        return
    held = "does not hold one" if size > lustre.capacity_gib else "holds one, and not the next beside it"
    message = f"a checkpoint has {show_size(size)}, and a filesystem of {lustre.capacity_gib} GiB {held}"
    yield Fault(SIZE, message, f"write storage.filesystem.capacity: {_steps(lustre, 2 * size)}GiB or more")


@rule("checkpoints-expire-soon", "warning", reference=LIFECYCLES)
def checkpoints_expire_soon(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The store keeps checkpoints longer than a run may stand still: it counts their age, and spares no last one."""
    days = spec.storage.objects.checkpoints.expire_after_days
    if days is not None and days < SHORTEST_DAYS:
        message = (
            f"every checkpoint is deleted {days} day{'s' if days > 1 else ''} after it was written, also the last one "
            "of a run that waits for nodes"
        )
        fix = f"write {SHORTEST_DAYS} or more, or leave expire_after_days out"
        yield Fault("storage.objects.checkpoints.expire_after_days", message, fix)


@rule("expired-before-cooled", "error", reference=LIFECYCLES)
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


@rule("cooled-too-briefly", "warning", reference=LIFECYCLES)
def cooled_too_briefly(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Cool storage is paid for 30 days at least, so that it saves nothing for less."""
    checkpoints = spec.storage.objects.checkpoints
    cool, expire = checkpoints.cool_after_days, checkpoints.expire_after_days
    if cool is None or expire is None or not 0 < expire - cool < COOL_DAYS:
        return
    if spec.cloud == "aws" and cool < COOL_DAYS:
        return  # Intelligent-Tiering has no such charge
    tier = "Standard-IA" if spec.cloud == "aws" else "the cool tier"
    message = f"checkpoints are {expire - cool} days in {tier}, which charges {COOL_DAYS} days of it all the same"
    fix = f"leave cool_after_days out, or write expire_after_days: {cool + COOL_DAYS}"
    yield Fault("storage.objects.checkpoints.cool_after_days", message, fix)


@rule("cooled-by-intelligent-tiering", "info", cloud="aws", reference=S3_LIFECYCLE)
def cooled_by_intelligent_tiering(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Standard-IA takes objects only after 30 days; earlier cooling uses Intelligent-Tiering."""
    cool = spec.storage.objects.checkpoints.cool_after_days
    if cool is not None and cool < COOL_DAYS:
        message = (
            f"Standard-IA takes objects after 30 days only; at {cool} days checkpoints move to Intelligent-Tiering"
        )
        yield Fault("storage.objects.checkpoints.cool_after_days", message, "write 30 or more for Standard-IA")
