"""What a cluster costs by being used: checkpoints kept, data stored and moved, requests, logs, and work lost to spot.

Nothing of it follows from a spec alone, so each line comes from an assumption, which is printed with it. Checkpoints
are counted as they lie at the end of the run, when they are most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from planning import catalog
from planning.cost.lines import HOURS_PER_MONTH, Line, hourly, monthly, once
from planning.cost.pricebook import Prices
from planning.cost.standing import AnyNode, AnySpec
from planning.spec import AwsFilesystem

GB = Decimal(10**9)
"""Bytes, as both clouds' price lists are read here; where a bill counts 2^30 for one it is 7 % less."""
PART = 64 * 1024**2
"""Bytes of one write request, of a multipart upload."""
USUAL_INTERVAL = Decimal(2)
"""Hours between checkpoints: about what Young and Daly give 128 GPUs with 70B parameters (docs/sizing.md)."""
USUAL_INTERRUPTIONS = Decimal(20)
"""Per cent of spot nodes taken back in a month: where AWS's Spot Instance Advisor puts its worst class. Rates of GPU
nodes are not published."""
RESTART_HOURS = Decimal("0.5")
"""From an interruption to training again, once there is capacity (ours)."""
LOG_GB_PER_NODE = 1
"""Flow logs that a node writes in a month (ours): EFA traffic is not in them."""
INTELLIGENT_FIRST_DAYS = 30
"""Intelligent-Tiering moves what was not read for so long (S3 user guide)."""
LEAST_COOL_DAYS = 30
"""Standard-IA and the cool tier bill so many days of everything (S3 user guide; Azure documentation, access tiers)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Sizes in bytes; None: not asked about."""

    hours: Decimal | None = None
    """Of training, in one run."""
    checkpoint: int | None = None
    interval: Decimal = USUAL_INTERVAL
    """Hours between checkpoints."""
    dataset: int | None = None
    dataset_region: str | None = None
    """Where the dataset is before the run; None: in the cluster's region."""
    egress: int | None = None
    """What leaves to the internet in a month."""
    interruptions: Decimal = USUAL_INTERRUPTIONS

    @property
    def days(self) -> Decimal:
        """Over which checkpoints pile up: of the run, or of a month."""
        return (self.hours or HOURS_PER_MONTH) / 24


def used(spec: AnySpec, node: AnyNode | None, usage: Usage, prices: Prices) -> Iterator[Line]:
    if node is not None and spec.nodes.running:
        yield from _lost_to_spot(spec, node, usage, prices)
        yield from _checkpoints(spec, usage, prices)
    yield from _dataset(spec, usage, prices)
    yield from _backups(spec, usage, prices)
    yield from _traffic(spec, usage, prices)
    if spec.network.flow_logs and spec.nodes.running:
        gb = spec.nodes.count * LOG_GB_PER_NODE
        yield monthly("logs", "flow logs written", gb, "GB", prices.item("log-gb", spec.region))


def assumed(spec: AnySpec, usage: Usage) -> Iterator[str]:
    """What the lines of `used` stand on, and what is not counted."""
    checkpoints = spec.storage.objects.checkpoints
    if usage.checkpoint is not None:
        kept = f"{checkpoints.expire_after_days} days" if checkpoints.expire_after_days else "for good"
        yield (
            f"a checkpoint of {_gb(usage.checkpoint):,.0f} GB every {usage.interval:f} h goes to the store of objects, "
            f"is kept {kept}, and is counted after {usage.days:,.0f} days (--checkpoint-size, --checkpoint-interval)"
        )
    else:
        yield "checkpoints are not counted (--checkpoint-size)"
    if usage.dataset is None:
        yield "no data are stored, copied or backed up (--dataset-size, --dataset-region)"
    if usage.egress is None:
        yield "nothing leaves to the internet (--egress)"
    if spec.nodes.purchase == "spot" and spec.nodes.running:
        yield (
            f"{usage.interruptions:f} % of spot nodes are taken back in a month, each stops the whole run, half an "
            f"interval is lost and {RESTART_HOURS} h pass until it trains again (--interruptions); waiting for "
            "capacity is not counted"
        )
    if spec.network.flow_logs:
        yield f"each node writes {LOG_GB_PER_NODE} GB of flow logs a month"
    if spec.storage.filesystem is not None and spec.storage.filesystem.kms_key:
        yield "the filesystem's key is paid where it was made"
    yield "nodes, filesystem and endpoints are in one zone, so that nothing is paid between zones"
    yield f"a GB is 10^9 bytes, and a month {HOURS_PER_MONTH} hours"


def lost_share(nodes: int, usage: Usage) -> Decimal:
    """Of a spot gang's time, which any one node's end stops: (interval / 2 + restart) / time between interruptions."""
    a_month = nodes * usage.interruptions / 100
    return min((usage.interval / 2 + RESTART_HOURS) * a_month / HOURS_PER_MONTH, Decimal("0.9"))


def _lost_to_spot(spec: AnySpec, node: AnyNode, usage: Usage, prices: Prices) -> Iterator[Line]:
    if spec.nodes.purchase != "spot":
        return
    lost = lost_share(spec.nodes.count, usage)
    again = spec.nodes.count * lost / (1 - lost)
    price = prices.node(node.name, spec.region, "spot")
    note = f"{lost:.1%} of the time is done again or waited for, so that a useful node-hour costs 1 / {1 - lost:.3f}"
    yield hourly("nodes", f"{node.name}, spot, work lost", again.quantize(Decimal("0.001")), "node", price, note)


def _checkpoints(spec: AnySpec, usage: Usage, prices: Prices) -> Iterator[Line]:
    if usage.checkpoint is None:
        return
    size, a_day = _gb(usage.checkpoint), 24 / usage.interval
    for item, key, days in _classes(spec, usage.days):
        kept = (days * a_day).to_integral_value()
        if kept:
            price = prices.item(key, spec.region)
            yield monthly(
                "objects", f"checkpoints, {item}", kept * size, "GB-month", price, f"{kept:f} of {size:,.0f} GB"
            )
    yield from _written(spec, size * HOURS_PER_MONTH / usage.interval, prices)


def _classes(spec: AnySpec, days: Decimal) -> Iterator[tuple[str, str, Decimal]]:
    """Storage class, key of its price, and for how many of the last days checkpoints lie in it."""
    rule = spec.storage.objects.checkpoints
    own = spec.storage.objects.existing is None
    cool, expire = (rule.cool_after_days, rule.expire_after_days) if own else (None, None)
    lived = min(days, Decimal(expire)) if expire else days
    hot = min(lived, Decimal(cool)) if cool else lived
    cold = lived - hot
    if cold and (spec.cloud == "azure" or (cool or 0) >= LEAST_COOL_DAYS) and lived == expire:
        cold = max(cold, Decimal(LEAST_COOL_DAYS))
    if spec.cloud == "azure":
        yield "hot", "adls-hot-gb-month", hot
        yield "cool", "adls-cool-gb-month", cold
    elif (cool or 0) >= LEAST_COOL_DAYS:
        yield "Standard", "s3-standard-gb-month", hot
        yield "Standard-IA", "s3-standard-ia-gb-month", cold
    else:
        # Intelligent-Tiering bills its first 30 days like Standard, and later ones like Standard-IA.
        first = min(cold, Decimal(INTELLIGENT_FIRST_DAYS))
        yield "Standard", "s3-standard-gb-month", hot
        yield "Intelligent-Tiering, frequent", "s3-standard-gb-month", first
        yield "Intelligent-Tiering, infrequent", "s3-standard-ia-gb-month", cold - first


def _written(spec: AnySpec, gb: Decimal, prices: Prices) -> Iterator[Line]:
    """Requests, and on Azure the private endpoint, of so many GB a month; the gateway to S3 is free."""
    parts = (gb * GB / PART).to_integral_value(ROUND_CEILING)
    key, each = ("s3-put-1k", 1000) if spec.cloud == "aws" else ("blob-write-10k", 10_000)
    price = prices.item(key, spec.region)
    unit = f"{each:,} requests"
    yield monthly("objects", "write requests", parts / each, unit, price, f"in parts of {PART // 1024**2} MiB")
    if spec.cloud == "azure" and spec.storage.objects.existing is None:
        price = prices.item("endpoint-gb", spec.region)
        yield monthly("network", "private endpoints, checkpoints written", gb, "GB", price)


def _dataset(spec: AnySpec, usage: Usage, prices: Prices) -> Iterator[Line]:
    if not usage.dataset:
        return
    gb = _gb(usage.dataset)
    if spec.storage.objects.existing is None:
        key = "s3-standard-gb-month" if spec.cloud == "aws" else "adls-hot-gb-month"
        yield monthly("objects", "dataset", gb, "GB-month", prices.item(key, spec.region))
    if usage.dataset_region and usage.dataset_region != spec.region:
        same_cloud = usage.dataset_region in catalog.regions(spec.cloud)
        between, key = ("regions", "inter-region-gb") if same_cloud else ("clouds", "internet-gb")
        note = f"once, paid in {usage.dataset_region}"
        price = prices.item(key, usage.dataset_region)
        yield once("network", f"dataset copied between {between}", gb, "GB", price, note)
    if spec.cloud == "azure" and spec.storage.objects.existing is None:
        price = prices.item("endpoint-gb", spec.region)
        yield once("network", "private endpoints, dataset read", gb, "GB", price, "once")


def _backups(spec: AnySpec, usage: Usage, prices: Prices) -> Iterator[Line]:
    """Backups are incremental: what is stored counts once, here the dataset."""
    wanted = spec.storage.filesystem
    backed_up = isinstance(wanted, AwsFilesystem) and wanted.deployment == "persistent" and wanted.backup_days
    if backed_up and wanted.existing is None and not spec.storage.objects.link and usage.dataset:
        price = prices.item("fsx-backup-gb-month", spec.region)
        yield monthly("filesystem", "FSx backups of the dataset", _gb(usage.dataset), "GB-month", price)


def _traffic(spec: AnySpec, usage: Usage, prices: Prices) -> Iterator[Line]:
    if not usage.egress:
        return
    gb = _gb(usage.egress)
    steps = catalog.internet_steps()
    ends = [*(Decimal(start) for _, start in steps[1:]), max(gb, Decimal(steps[-1][1]))]
    for (key, start), end in zip(steps, ends, strict=True):
        amount = min(gb, end) - start
        if amount > 0:
            yield monthly("network", f"to the internet, from {start:,} GB", amount, "GB", prices.item(key, spec.region))
    if spec.network.egress == "nat" and spec.network.existing is None:
        yield monthly("network", "NAT gateway, data", gb, "GB", prices.item("nat-gb", spec.region))


def _gb(size: int) -> Decimal:
    return size / GB
