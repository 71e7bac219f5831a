"""Values for the fields of Azure clusters, in the order in which they are drawn. Those of both clouds: `specs`.

Ids of what exists stand for resources that `existing` makes on the local cloud.
"""

from __future__ import annotations

from typing import Any

from planning import catalog
from planning.azureids import EXAMPLE_SUBSCRIPTION, example
from planning.catalog.records import AzureNodeType
from tests.agreement.fields import ABSENT
from tests.agreement.specs import CIDRS, KEYS, SHARED, Draft, Value, days, often, within

TYPES = {node.name: node for node in catalog.node_types().values() if isinstance(node, AzureNodeType)}
IMAGES = {image.urn: image for image in catalog.images("azure").values()}
HERE = "00000000-0000-0000-0000-000000000000"
"""The subscription of the deployment where none is said."""
ELSEWHERE = EXAMPLE_SUBSCRIPTION
VNET = "Microsoft.Network/virtualNetworks/research"
ACCOUNT = example("Microsoft.Storage/storageAccounts/researchdata", ELSEWHERE)
CONTAINER = f"{ACCOUNT}/blobServices/default/containers/training"
FILESYSTEM = example("Microsoft.StorageCache/amlFilesystems/research", ELSEWHERE)
KEY = f"Microsoft.KeyVault/vaults/research/keys/lustre/versions/{'0123456789abcdef' * 2}"
PRINCIPAL = "44444444-4444-4444-4444-444444444444"
LIKELY = [name for name, node in TYPES.items() if not node.rdma_twin] + ["Standard_NC24ads_A100_v4"] * 8
REGIONS = ("eastus", "southcentralus", "westeurope", "swedencentral", "eastus2")


def _node(d: Draft) -> AzureNodeType:
    return TYPES[d["nodes.type"]]


def _count(d: Draft) -> int:
    node = _node(d)
    if node.rack_nodes:
        return d.pick(18, 36, 1, 20)
    return d.pick(1, 2, 4, 8, 16, 33, 64, 100, 101) if node.infiniband else d.pick(1, 1, 1, 1, 1, 2)


def _purchase(d: Draft) -> Any:
    return d.pick(*_node(d).purchase, _node(d).purchase[-1]) if d.chance(95) else d.pick("reserved", "capacity-block")


def _within_account(d: Draft, name: str) -> str:
    return example(f"{VNET}/subnets/{name}", d["account"] or HERE)


def _reservation(d: Draft) -> Any:
    return ABSENT if d["nodes.purchase"] != "reserved" else {} if d.chance(92) else _group(d)


def _group(d: Draft) -> str:
    return example("Microsoft.Compute/capacityReservationGroups/research", d["account"] or HERE)


def _known(value: Value) -> Value:
    return within("nodes.reservation", value)


def _image(d: Draft) -> Any:
    if not d.chance(30):
        return ABSENT
    node = _node(d)
    fitting = [urn for urn, image in IMAGES.items() if image.arch == node.arch and node.vendor in image.vendors]
    return d.pick(*fitting, "canonical:ubuntu-24_04-lts:server:latest") if d.chance(85) else d.pick(*IMAGES)


def _capacity(d: Draft) -> Any:
    wanted = d["storage.filesystem.throughput_per_tib"] or 250
    tier = next(t for t in catalog.lustre_tiers("azure", "persistent") if t.mbps_per_tib == wanted)
    return f"{tier.step_gib // 1024 * d.pick(1, 1, 2, 3, 8, 40)}TiB"


_FILESYSTEM = "storage.filesystem"
_MADE = "storage.filesystem.existing"


def _made(value: Value) -> Value:
    return within(_FILESYSTEM, lambda d: ABSENT if _MADE in d else value(d))


def _filesystem_subnet(d: Draft) -> Any:
    made = d[_FILESYSTEM] == {} and _MADE not in d
    return _within_account(d, "lustre") if d.chance(95 if made else 10) else ABSENT


FIELDS: dict[str, Value] = {
    "name": SHARED["name"],
    "nodes.type": lambda d: d.pick(*LIKELY) if d.chance(85) else d.pick(*TYPES),
    "region": lambda d: d.pick(*REGIONS),
    "account": often(50, ELSEWHERE, "89abcdef-0123-4567-89ab-cdef01234567"),
    "zone": often(70, "1", "2", "3"),
    "nodes.count": _count,
    "nodes.running": SHARED["nodes.running"],
    "nodes.purchase": _purchase,
    "nodes.start": SHARED["nodes.start"],
    "nodes.max_count": SHARED["nodes.max_count"],
    "nodes.reservation": _reservation,
    "nodes.reservation.id": _known(_group),
    "nodes.reservation.count": _known(
        lambda d: max(1, d["nodes.count"] + d.pick(0, 0, 0, 4, 0, -1)) if d.chance(90) else ABSENT
    ),
    "nodes.reservation.zone": _known(lambda d: d["zone"] or ("1" if d.chance(10) else ABSENT)),
    "nodes.reservation.start": _known(lambda d: d.day(-3, 0, -30, -1, -7, 5) if d.chance(90) else ABSENT),
    "nodes.reservation.end": _known(lambda d: d.day(6, 20, 90, 15, 30, 60, 8, 1, -1) if d.chance(90) else ABSENT),
    "nodes.reservation.placement_group": _known(often(90, "research")),
    "nodes.reservation.buy": lambda d: "cb-0123456789abcdef0" if _buys(d) else ABSENT,
    "nodes.reservation.confirm": lambda d: True if "nodes.reservation.buy" in d else ABSENT,
    "nodes.spot": lambda d: {} if d["nodes.purchase"] == "spot" and d.chance(70) else ABSENT,
    "nodes.spot.max_price": within("nodes.spot", often(60, 60.5, 99.12345, 0.5, 12, 7, 80, 1.1234567)),
    "nodes.spot.on_eviction": within("nodes.spot", often(60, "delete", "deallocate")),
    "nodes.placement": often(30, "cluster", "none", "auto"),
    "nodes.image": _image,
    "nodes.root_disk": often(30, "100GiB", "512GiB", "2TiB", "64GiB", "4095GiB", "1TiB", "128GiB", "5TiB"),
    "nodes.setup": SHARED["nodes.setup"],
    _FILESYSTEM: often(80, {}),
    _MADE: within(_FILESYSTEM, often(20, FILESYSTEM)),
    "network.existing": often(30, {}),
    "network.existing.subnet": within("network.existing", lambda d: _within_account(d, "nodes")),
    "network.existing.filesystem_subnet": within("network.existing", _filesystem_subnet),
    "network.existing.endpoint_subnet": within(
        "network.existing", lambda d: _within_account(d, "endpoints") if d.chance(50) else ABSENT
    ),
    "network.cidr": lambda d: d.pick(*CIDRS) if d["network.existing"] is None and d.chance(50) else ABSENT,
    "network.egress": lambda d: "none" if d["network.existing"] is None and d.chance(25) else ABSENT,
    "network.flow_logs": often(10, True),
    "storage.filesystem.throughput_per_tib": _made(often(70, 40, 125, 250, 500)),
    "storage.filesystem.capacity": _made(lambda d: _capacity(d) if d.chance(80) else ABSENT),
    "storage.filesystem.kms_key": _made(lambda d: example(KEY, d["account"] or HERE) if d.chance(20) else ABSENT),
    "storage.filesystem.mount": within(_FILESYSTEM, often(25, "/amlfs", "/mnt/data", "/scratch", "/usr/local/x")),
    "storage.objects.name": often(30, "llama70bdata", "abc", "x" * 24),
    "storage.objects.existing": lambda d: (
        ABSENT if "storage.objects.name" in d or not d.chance(25) else d.pick(CONTAINER, ACCOUNT)
    ),
    "storage.objects.link": SHARED["storage.objects.link"],
    "storage.objects.link_principal": lambda d: PRINCIPAL if d["storage.objects.link"] and d.chance(90) else ABSENT,
    "storage.objects.checkpoints.size": SHARED["storage.objects.checkpoints.size"],
    "storage.objects.checkpoints.prefix": SHARED["storage.objects.checkpoints.prefix"],
    "storage.objects.checkpoints.cool_after_days": lambda d: days(d, "cool", 40, 1, 7, 30, 100),
    "storage.objects.checkpoints.expire_after_days": lambda d: days(d, "expire", 40, 1, 45, 400),
    "storage.on_delete": SHARED["storage.on_delete"],
    "access.ssh_public_key": often(97, *KEYS),
    "access.ssh_from": lambda d: ABSENT if d["network.existing"] == {} else SHARED["access.ssh_from"](d),
    "access.bastion": lambda d: True if d["network.existing"] is None and d.chance(20) else ABSENT,
    "lifetime.expires": SHARED["lifetime.expires"],
    "lifetime.max_usd_per_hour": SHARED["lifetime.max_usd_per_hour"],
    "tags": SHARED["tags"],
    "waive": SHARED["waive"],
}


def _buys(d: Draft) -> bool:
    """A Capacity Block, which Azure does not have: never accepted."""
    return "nodes.reservation" not in d and d.chance(16)
