"""Where prices come from: the catalogue's list prices, and a file of one's own that is laid over them.

Such a file is TOML. It says less off the list price in per cent, or prices, in US dollars, wherever they were agreed:

    [discount]
    nodes = 12                 # all of nodes, lustre or items
    "p5.48xlarge" = 30         # or one node type or item; the closer word wins

    [nodes."p5.48xlarge"]
    on-demand = "38.50"        # of a node-hour

    [lustre.aws.persistent]
    250 = "0.18"               # of a GB-month (Azure: GiB-month) at 250 MB/s per TiB

    [items]
    nat-gb = "0.03"            # keys as in planning/catalog/prices.toml
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

from planning import catalog
from planning.catalog.records import Cloud, Deployment, Price, Purchase
from planning.findings import near, shown

TABLES = ("nodes", "lustre", "items")
UNITS = {"nodes": "node-hour", "aws": "GB-month", "azure": "GiB-month"}
MOST = Decimal(10) ** 6
"""US dollars of one unit; more is a slip of the keyboard."""


class PriceFileError(ValueError):
    """All that is wrong with a file of prices, a line each."""


@dataclass(frozen=True, slots=True)
class Prices:
    """List prices, with what was agreed over them. Keys are paths in the file: nodes p5.48xlarge on-demand."""

    agreed: Mapping[tuple[str, ...], Decimal] = field(default_factory=dict)
    off: Mapping[str, Decimal] = field(default_factory=dict)
    """Per cent off the list price, by table, node type or item."""
    source: str = ""
    day: date = date.min

    def node(self, name: str, region: str, purchase: Purchase) -> Price | None:
        """Of a node-hour. Reserved capacity is billed as on-demand."""
        listed = "on-demand" if purchase == "reserved" else purchase
        price = catalog.node_price(name, region, purchase)
        return self._over(("nodes", name, listed), name, region, "node-hour", price)

    def lustre(self, cloud: Cloud, deployment: Deployment, mbps_per_tib: int, region: str) -> Price | None:
        price = catalog.lustre_price(cloud, deployment, mbps_per_tib, region)
        key = ("lustre", cloud, deployment, str(mbps_per_tib))
        return self._over(key, "lustre", region, UNITS[cloud], price)

    def item(self, key: str, region: str) -> Price | None:
        price = catalog.price(key, region)
        return self._over(("items", key), key, region, price.unit if price else "", price)

    def _over(self, key: tuple[str, ...], name: str, region: str, unit: str, price: Price | None) -> Price | None:
        if key in self.agreed:
            return Price(usd=self.agreed[key], unit=unit, region=region, source=self.source, date=self.day)
        off = self.off.get(name, self.off.get(key[0]))
        if price is None or off is None:
            return price
        less = price.usd * (100 - off) / 100
        return replace(price, usd=less, source=f"{price.source}; {off:f} % less by {self.source}")


LIST = Prices()


def read_prices(path: Path, day: date) -> Prices:
    """Raises `PriceFileError` with all that is wrong. `day`: what the prices are dated with where they are shown."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    except OSError as problem:
        raise PriceFileError(f"{path} can not be read: {problem.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        raise PriceFileError(f"{path} is no TOML: {problem}") from None
    faults: list[str] = []
    prices = Prices(agreed=dict(_agreed(table, faults)), off=dict(_discounts(table, faults)), source=path.name, day=day)
    faults += _strange(table)
    if faults:
        raise PriceFileError("\n".join(f"{path}: {fault}" for fault in faults))
    return prices


def _strange(table: Mapping[str, Any]) -> Iterator[str]:
    currency = table.get("currency", "USD")
    if currency != "USD":
        yield f"currency: {shown(currency)} is not taken, all prices are US dollars; convert them and write USD"
    for key in table:
        if key not in (*TABLES, "discount", "currency"):
            yield f"{key}: no such table; {_instead(key, [*TABLES, 'discount', 'currency'])}"


def _agreed(table: Mapping[str, Any], faults: list[str]) -> Iterator[tuple[tuple[str, ...], Decimal]]:
    for name, depth in (("nodes", 2), ("lustre", 3), ("items", 1)):
        for path, value in _leaves(table.get(name, {}), (name,), depth, faults):
            wrong = _unknown(path)
            price = _money(path, value, faults)
            if wrong:
                faults.append(f"{'.'.join(path)}: {wrong}")
            elif price is not None:
                yield path, price


def _leaves(value: Any, path: tuple[str, ...], depth: int, faults: list[str]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if depth and not isinstance(value, dict):
        faults.append(f"{'.'.join(path)}: {shown(value)} is no table of prices")
    elif depth:
        for key, below in value.items():
            yield from _leaves(below, (*path, key), depth - 1, faults)
    else:
        yield path, value


def _unknown(path: tuple[str, ...]) -> str:
    """What is wrong with the words that lead to a price; nothing where it is one that is asked for."""
    if path[0] == "nodes":
        if path[1] not in catalog.node_types():
            return f"no such node type; {_instead(path[1], list(catalog.node_types()))}"
        sold = [purchase for purchase in get_args(Purchase) if purchase != "reserved"]
        return "" if path[2] in sold else f"no such way to buy; write {', '.join(sold)}"
    if path[0] == "items":
        return "" if path[1] in catalog.price_items() else f"no such item; {_instead(path[1], catalog.price_items())}"
    tiers = {
        (tier.cloud, tier.deployment, str(tier.mbps_per_tib))
        for cloud in get_args(Cloud)
        for deployment in get_args(Deployment)
        for tier in catalog.lustre_tiers(cloud, deployment)
    }
    return "" if path[1:] in tiers else f"no such tier; there are {', '.join('.'.join(t) for t in sorted(tiers))}"


def _discounts(table: Mapping[str, Any], faults: list[str]) -> Iterator[tuple[str, Decimal]]:
    known = [*TABLES, *catalog.node_types(), *catalog.price_items()]
    for (_, name), value in _leaves(table.get("discount", {}), ("discount",), 1, faults):
        off = _decimal(value)
        if name not in known:
            faults.append(f"discount.{name}: nothing is sold by that name; {_instead(name, known)}")
        elif off is None or not 0 <= off < 100:
            faults.append(f"discount.{name}: {shown(value)} is no discount; write per cent from 0 to below 100, as 30")
        else:
            yield name, off


def _money(path: tuple[str, ...], value: Any, faults: list[str]) -> Decimal | None:
    amount = _decimal(value)
    if amount is not None and 0 < amount < MOST:
        return amount
    why = "leave out a price that is not known" if amount == 0 else 'write US dollars of one unit, such as "38.50"'
    faults.append(f"{'.'.join(path)}: {shown(value)} is no price; {why}")
    return None


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | str) or len(str(value)) > 30:
        return None
    try:
        amount = Decimal(value)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _instead(word: str, known: list[str]) -> str:
    close = near(word, known)
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known[:12])}, …"
