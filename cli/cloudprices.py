"""What a thing on the local cloud would cost per day on the real one, from the catalogue's price table.

Priced are nodes and reserved capacity, Lustre and NAT; all else is small, or is paid for by use.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from localcloud.aws.nodes import nodes_of
from localcloud.azure.allocation import nodes_of as nodes_in
from localcloud.store import Record
from planning import catalog
from planning.catalog.records import Deployment, Price, Purchase
from planning.cost import HOURS_PER_MONTH

HOURS_PER_DAY = 24


def usd_per_day(record: Record) -> Decimal | None:
    """None where no price is known, or where it is paid for by use."""
    price = _AWS.get(record.type) if record.cloud == "aws" else _AZURE.get(record.type)
    hourly = price(record) if price else None
    return None if hourly is None else (hourly * HOURS_PER_DAY).quantize(Decimal("0.01"))


def _times(quantity: Any, price: Price | None) -> Decimal | None:
    return Decimal(str(quantity)) * price.usd if price else None


def _monthly(quantity: Any, price: Price | None) -> Decimal | None:
    amount = _times(quantity, price)
    return amount / HOURS_PER_MONTH if amount is not None else None


def _launched(record: Record) -> Decimal | None:
    """Nodes in reserved capacity are paid for by the reservation."""
    total = Decimal(0)
    for alike in nodes_of(record):
        if alike.reservation:
            continue
        amount = _times(len(alike.ids), _node_price(alike.type, record.outputs["region"], alike.purchase))
        if amount is None:
            return None
        total += amount
    return total


def _node_price(type_: str, region: str, purchase: str) -> Price | None:
    known: dict[str, Purchase] = {"on-demand": "on-demand", "spot": "spot", "capacity-block": "capacity-block"}
    return catalog.node_price(type_, region, known[purchase]) if purchase in known else None


def _reserved(record: Record) -> Decimal | None:
    held = record.outputs
    return _times(held["instanceCount"], _node_price(held["instanceType"], held["region"], "on-demand"))


def _fsx(record: Record) -> Decimal | None:
    has = record.outputs
    deployment: Deployment = "scratch" if has["deploymentType"].startswith("SCRATCH") else "persistent"
    price = catalog.lustre_price("aws", deployment, has.get("perUnitStorageThroughput") or 0, has["region"])
    return _monthly(has.get("storageCapacity", 0), price)


def _nat(record: Record) -> Decimal | None:
    return _times(1, catalog.price("nat-hour", _region(record)))


def _scale_set(record: Record) -> Decimal | None:
    spot = (record.outputs.get("virtualMachineProfile") or {}).get("priority") in ("Spot", "Low")
    sku = record.outputs.get("sku") or {}
    return _times(nodes_in(record), _node_price(sku.get("name", ""), _region(record), "spot" if spot else "on-demand"))


def _amlfs(record: Record) -> Decimal | None:
    tier = re.search(r"(\d+)$", (record.outputs.get("sku") or {}).get("name", ""))
    price = catalog.lustre_price("azure", "persistent", int(tier[1]), _region(record)) if tier else None
    return _monthly(Decimal(str(record.outputs["storageCapacityTiB"])) * 1024, price)


def _region(record: Record) -> str:
    return record.outputs.get("region") or str(record.outputs.get("location", "")).replace(" ", "").casefold()


_AWS = {
    "aws:ec2/capacityReservation:CapacityReservation": _reserved,
    "aws:autoscaling/group:Group": _launched,
    "aws:ec2/fleet:Fleet": _launched,
    "aws:ec2/instance:Instance": _launched,
    "aws:fsx/lustreFileSystem:LustreFileSystem": _fsx,
    "aws:ec2/natGateway:NatGateway": _nat,
}
_AZURE = {
    "azure-native:compute:VirtualMachineScaleSet": _scale_set,
    "azure-native:storagecache:AmlFilesystem": _amlfs,
    "azure-native:network:NatGateway": _nat,
}
