"""Values for the fields of AWS clusters, in the order in which they are drawn. Those of both clouds: `specs`.

Ids of what exists stand for resources that `existing` makes on the local cloud.
"""

from __future__ import annotations

from typing import Any

from planning import catalog
from planning.catalog.records import AwsNodeType
from tests.agreement.fields import ABSENT
from tests.agreement.specs import CIDRS, KEYS, SHARED, Draft, Value, days, often, within

TYPES = {node.name: node for node in catalog.node_types().values() if isinstance(node, AwsNodeType)}
IMAGES = {image.parameter: image for image in catalog.images("aws").values()}
REGIONS = {region.zone_prefix: name for name, region in catalog.regions("aws").items()}
ACCOUNT = "123456789012"
VPC, SUBNET = "vpc-0123456789abcdef0", "subnet-0123456789abcdef0"
GROUPS = tuple(f"sg-0123456789abcdef{n}" for n in range(6))
RESERVATION, FILESYSTEM = "cr-0123456789abcdef0", "fs-0123456789abcdef0"
BUCKET = "research-data"
KEY_ID = "01234567-89ab-cdef-0123-456789abcdef"
OFFERING = "cb-0123456789abcdef0"


def _node(d: Draft) -> AwsNodeType:
    return TYPES[d["nodes.type"]]


def _zone(d: Draft) -> str:
    node = _node(d)
    return d.pick(*node.zones) if node.zones and d.chance(95) else d.pick("use1-az6", "usw2-az2", "euw1-az1")


def _region(d: Draft) -> str:
    prefix = d["zone"].partition("-")[0]
    return REGIONS.get(prefix, "us-east-1")


def _count(d: Draft) -> int:
    node = _node(d)
    if node.ultraserver_sizes:
        return d.pick(*node.ultraserver_sizes)
    return d.pick(16, 1, 2, 3, 4, 8, 16, 32, 64, 65, 200, 1000, 1001) if node.efa else d.pick(1, 1, 2)


def _purchase(d: Draft) -> Any:
    return (
        d.pick(*_node(d).purchase, _node(d).purchase[-1])
        if d.chance(95)
        else d.pick("spot", "reserved", "capacity-block")
    )


def _reservation(d: Draft) -> Any:
    if d["nodes.purchase"] not in ("reserved", "capacity-block"):
        return ABSENT
    return {} if d.chance(92) else RESERVATION


def _buy(d: Draft) -> Any:
    return OFFERING if d["nodes.purchase"] == "capacity-block" and d.chance(65) else ABSENT


def _known(value: Value) -> Value:
    """Of a reservation that is there."""
    return within("nodes.reservation", lambda d: ABSENT if "nodes.reservation.buy" in d else value(d))


def _image(d: Draft) -> Any:
    if not d.chance(30):
        return ABSENT
    node = _node(d)
    fitting = [p for p, image in IMAGES.items() if image.arch == node.arch and node.vendor in image.vendors]
    return d.pick("ami-0123456789abcdef0", *fitting) if d.chance(85) else d.pick(*IMAGES)


def _capacity(d: Draft) -> Any:
    if not d.chance(80):
        return ABSENT
    tier = next(
        t for t in catalog.lustre_tiers("aws", "persistent")
        if t.mbps_per_tib == (d["storage.filesystem.throughput_per_tib"] or 250)
    )  # fmt: skip
    return f"{d.pick(1200, 2400, 4800, 7200, tier.efa_step_gib, tier.efa_step_gib, tier.efa_step_gib * 2, 3600)}GiB"


def _objects_existing(d: Draft) -> Any:
    return ABSENT if "storage.objects.name" in d or not d.chance(20) else BUCKET


def _arn(d: Draft) -> str:
    return f"arn:aws:kms:{d['region'] if d.chance(90) else 'eu-west-1'}:{d['account'] or ACCOUNT}:key/{KEY_ID}"


def _key(d: Draft) -> Any:
    return KEY_ID if "account" in d or d.chance(20) else _arn(d)


_FILESYSTEM = "storage.filesystem"
_MADE = "storage.filesystem.existing"


def _made(percent: int, *values: Any) -> Value:
    """Of a filesystem that the stack makes."""
    return within(_FILESYSTEM, lambda d: ABSENT if _MADE in d else often(percent, *values)(d))


def _persistent(percent: int, *values: Any) -> Value:
    def value(d: Draft) -> Any:
        scratch = d["storage.filesystem.deployment"] == "scratch" and not d.chance(5)
        return ABSENT if scratch else _made(percent, *values)(d)

    return value


FIELDS: dict[str, Value] = {
    "name": SHARED["name"],
    "nodes.type": lambda d: d.pick("p5.48xlarge", *TYPES),
    "zone": _zone,
    "region": _region,
    "account": often(50, ACCOUNT, "210987654321"),
    "nodes.count": _count,
    "nodes.running": SHARED["nodes.running"],
    "nodes.purchase": _purchase,
    "nodes.start": SHARED["nodes.start"],
    "nodes.max_count": SHARED["nodes.max_count"],
    "nodes.reservation": _reservation,
    "nodes.reservation.buy": within("nodes.reservation", _buy),
    "nodes.reservation.confirm": lambda d: True if "nodes.reservation.buy" in d else ABSENT,
    "nodes.reservation.id": _known(lambda d: RESERVATION),
    "nodes.reservation.count": _known(
        lambda d: max(1, d["nodes.count"] + d.pick(0, 0, 0, 4, -1)) if d.chance(50) else ABSENT
    ),
    "nodes.reservation.zone": _known(
        lambda d: d.pick(d["zone"], d["zone"], d["zone"], "use1-az6") if d.chance(60) else ABSENT
    ),
    "nodes.reservation.start": _known(
        lambda d: d.day(-3, 0, -30, 5 if d["nodes.purchase"] == "capacity-block" else -1) if d.chance(50) else ABSENT
    ),
    "nodes.reservation.end": _known(lambda d: d.day(6, 20, 90, 15, 1, 7, 30, -1) if d.chance(50) else ABSENT),
    "nodes.reservation.placement_group": _known(
        lambda d: "research" if d.chance(80 if d["nodes.purchase"] == "reserved" else 8) else ABSENT
    ),
    "nodes.spot": lambda d: {} if d["nodes.purchase"] == "spot" and d.chance(70) else ABSENT,
    "nodes.spot.max_price": within("nodes.spot", often(85, 30.0, 99.123456789, 0.5, 12)),
    "nodes.spot.on_eviction": within("nodes.spot", often(85, "delete", "delete", "delete", "deallocate")),
    "nodes.placement": often(30, "cluster", "none", "auto"),
    "nodes.interfaces": often(25, "efa"),
    "nodes.image": _image,
    "nodes.root_disk": often(30, "100GiB", "512GiB", "2TiB", "64TiB", "75GiB", "1TiB", "65TiB"),
    "nodes.setup": SHARED["nodes.setup"],
    "network.existing": often(30, {}),
    "network.existing.vpc": within("network.existing", lambda d: VPC),
    "network.existing.subnet": within("network.existing", lambda d: SUBNET),
    "network.existing.security_groups": within(
        "network.existing", lambda d: d.some(GROUPS) if d.chance(70) else ABSENT
    ),
    "network.cidr": lambda d: d.pick(*CIDRS) if d["network.existing"] is None and d.chance(50) else ABSENT,
    "network.egress": lambda d: "none" if d["network.existing"] is None and d.chance(25) else ABSENT,
    "network.flow_logs": often(25, True),
    _FILESYSTEM: often(85, {}),
    _MADE: within(_FILESYSTEM, often(20, FILESYSTEM)),
    "storage.filesystem.deployment": _made(26, "scratch"),
    "storage.filesystem.throughput_per_tib": _persistent(70, 125, 250, 500, 1000),
    "storage.filesystem.capacity": within(_FILESYSTEM, lambda d: ABSENT if _MADE in d else _capacity(d)),
    "storage.filesystem.efa": within(_FILESYSTEM, often(20, True, False, False)),
    "storage.filesystem.metadata_iops": _persistent(34, 1500, 3000, 6000, 12000, 24000, 192000),
    "storage.filesystem.compression": _made(25, "none"),
    "storage.filesystem.kms_key": lambda d: _persistent(30, _arn(d), _arn(d), _key(d))(d),
    "storage.filesystem.mount": within(_FILESYSTEM, often(25, "/fsx", "/mnt/data", "/scratch", "/usr/local/x")),
    "storage.objects.name": often(30, "llama-70b-data", "a.b-c", "x" * 63, "abc"),
    "storage.objects.existing": _objects_existing,
    "storage.objects.link": SHARED["storage.objects.link"],
    "storage.filesystem.backup_days": lambda d: (
        ABSENT if d["storage.objects.link"] and not d.chance(10) else _persistent(30, 0, 1, 30, 90)(d)
    ),
    "storage.objects.checkpoints.size": SHARED["storage.objects.checkpoints.size"],
    "storage.objects.checkpoints.prefix": SHARED["storage.objects.checkpoints.prefix"],
    "storage.objects.checkpoints.cool_after_days": lambda d: days(d, "cool", 40, 1, 7, 30, 100),
    "storage.objects.checkpoints.expire_after_days": lambda d: days(d, "expire", 40, 1, 45, 400),
    "storage.on_delete": SHARED["storage.on_delete"],
    "access.ssh_public_key": often(40, *KEYS),
    "access.ssh_from": SHARED["access.ssh_from"],
    "access.bastion": often(9, True),
    "lifetime.expires": SHARED["lifetime.expires"],
    "lifetime.max_usd_per_hour": SHARED["lifetime.max_usd_per_hour"],
    "tags": SHARED["tags"],
    "waive": SHARED["waive"],
}
