"""What a cluster costs while it runs: nodes, Lustre and NAT, from dated list prices.

Money is `Decimal` US dollars; a month is 730 hours. A price that is not known is never taken as zero: its line has no
amount, and the total is then a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, overload

from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType, Price
from planning.facts.network import services_of
from planning.facts.storage import Lustre
from planning.spec import AwsFilesystem, AwsSpec, AzureSpec

HOURS_PER_MONTH = Decimal(730)
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that is paid for. Amounts are None where no price is known."""

    item: str
    quantity: Decimal
    unit: str
    unit_price: Decimal | None
    usd_per_hour: Decimal | None
    usd_per_month: Decimal | None
    price_date: str
    source: str
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return {k: float(v) if isinstance(v, Decimal) else v for k, v in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    lines: tuple[Line, ...]
    assumptions: tuple[str, ...]

    @property
    def usd_per_hour(self) -> Decimal:
        """Sum of the known lines, to the cent."""
        return _cents(sum((line.usd_per_hour for line in self.lines if line.usd_per_hour is not None), Decimal(0)))

    @property
    def usd_per_month(self) -> Decimal:
        return _cents(sum((line.usd_per_month for line in self.lines if line.usd_per_month is not None), Decimal(0)))

    @property
    def is_lower_bound(self) -> bool:
        return any(line.usd_per_hour is None for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "currency": "USD",
            "lines": [line.as_json() for line in self.lines],
            "usd_per_hour": float(self.usd_per_hour),
            "usd_per_month": float(self.usd_per_month),
            "assumptions": list(self.assumptions),
        }


def cost_of(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None, lustre: Lustre | None) -> Cost:
    lines = tuple(_lines(spec, node, lustre))
    assumptions = ["list prices for Linux without discounts", f"a month has {HOURS_PER_MONTH} hours"]
    assumptions.append("data transfer, requests and objects stored are not counted")
    if spec.network.flow_logs:
        assumptions.append("flow logs are charged per GB written and kept, which is not counted")
    if any(line.usd_per_hour is None for line in lines):
        assumptions.append("the total is a lower bound: a line has no known price")
    return Cost(lines=lines, assumptions=tuple(assumptions))


def _lines(
    spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None, lustre: Lustre | None
) -> Iterator[Line]:
    if node is not None and spec.nodes.running:
        price = catalog.node_price(node.name, spec.region, spec.nodes.purchase)
        yield _hourly(f"{node.name}, {spec.nodes.purchase}", Decimal(spec.nodes.count), "node", price)
    if lustre is not None and lustre.tier is not None:
        tier = lustre.tier
        price = catalog.lustre_price(spec.cloud, tier.deployment, tier.mbps_per_tib, spec.region)
        name = "FSx for Lustre" if spec.cloud == "aws" else "Azure Managed Lustre"
        sold = f"{tier.mbps_per_tib} MB/s per TiB" if tier.mbps_per_tib else tier.deployment
        yield _monthly(f"{name}, {sold}", Decimal(lustre.capacity_gib), "GiB", price)
    filesystem = spec.storage.filesystem
    if isinstance(filesystem, AwsFilesystem) and filesystem.metadata_iops:
        price = catalog.price("fsx-metadata-iops-month", spec.region)
        yield _monthly("FSx metadata IOPS", Decimal(filesystem.metadata_iops), "IOPS", price)
    if spec.network.egress == "nat" and spec.network.existing is None:
        price = catalog.price("nat-hour", spec.region)
        yield _hourly("NAT gateway", Decimal(1), "gateway", price, note="traffic through it is charged per GB besides")
    if spec.cloud == "azure" and spec.access.bastion:
        # Public tables disagree on the hour of this SKU by more than a third: 0.19 is Basic's.
        yield _hourly("Azure Bastion, Standard", Decimal(1), "host", None)
    if services := services_of(spec):
        price = catalog.price("endpoint-hour", spec.region)
        note = "traffic through them is charged per GB besides"
        yield _hourly("interface endpoints", Decimal(len(services)), "endpoint", price, note=note)


def _hourly(item: str, quantity: Decimal, unit: str, price: Price | None, note: str = "") -> Line:
    per_hour = quantity * price.usd if price else None
    return _line(item, quantity, f"{unit}-hour", price, per_hour, note)


def _monthly(item: str, quantity: Decimal, unit: str, price: Price | None) -> Line:
    per_hour = quantity * price.usd / HOURS_PER_MONTH if price else None
    return _line(item, quantity, f"{unit}-month", price, per_hour, "")


def _line(item: str, quantity: Decimal, unit: str, price: Price | None, per_hour: Decimal | None, note: str) -> Line:
    if price is None:
        note = "no price known for this region and purchase"
    elif price.confidence == "unproved":
        note = "; ".join(filter(None, (note, "the price is unproved")))
    return Line(
        item=item,
        quantity=quantity,
        unit=unit,
        unit_price=price.usd if price else None,
        usd_per_hour=_cents(per_hour),
        usd_per_month=_cents(per_hour * HOURS_PER_MONTH) if per_hour is not None else None,
        price_date=price.date.isoformat() if price else "",
        source=price.source if price else "",
        note=note,
    )


@overload
def _cents(amount: Decimal) -> Decimal: ...
@overload
def _cents(amount: None) -> None: ...
def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(CENT, ROUND_HALF_UP)
