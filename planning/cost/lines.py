"""One thing that is paid for, and the sum of them.

Money is `Decimal` US dollars; a month is 730 hours. A price that is not known is never taken as zero: its line has no
amount, and the total is then a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from planning.catalog.records import Price

HOURS_PER_MONTH = Decimal(730)
CENT = Decimal("0.01")
HUNDREDTH_OF_A_CENT = Decimal("0.0001")
Kind = Literal["nodes", "filesystem", "objects", "network", "logs"]
KINDS: tuple[Kind, ...] = ("nodes", "filesystem", "objects", "network", "logs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Amounts are None where no price is known, and where a thing is paid once and not by the hour."""

    kind: Kind
    item: str
    quantity: Decimal
    unit: str
    unit_price: Decimal | None
    hourly: Decimal | None = None
    """US dollars an hour, not rounded."""
    once: Decimal | None = None
    """US dollars of the whole run, where it does not depend on its hours."""
    price_date: str = ""
    source: str = ""
    note: str = ""

    @property
    def usd_per_hour(self) -> Decimal | None:
        return None if self.hourly is None else rounded(self.hourly)

    @property
    def usd_per_month(self) -> Decimal | None:
        return None if self.hourly is None else rounded(self.hourly * HOURS_PER_MONTH)

    def usd_in(self, hours: Decimal) -> Decimal | None:
        """What it costs in a run of so many hours."""
        if self.hourly is None and self.once is None:
            return None
        return rounded((self.hourly or Decimal(0)) * hours + (self.once or Decimal(0)))

    def as_json(self, hours: Decimal | None = None) -> dict[str, Any]:
        amounts = {"usd_per_hour": self.usd_per_hour, "usd_per_month": self.usd_per_month}
        if hours is not None:
            amounts["usd_per_run"] = self.usd_in(hours)
        return {
            "kind": self.kind,
            "item": self.item,
            "quantity": float(self.quantity),
            "unit": self.unit,
            "unit_price": _number(self.unit_price),
            **{name: _number(amount) for name, amount in amounts.items()},
            "price_date": self.price_date,
            "source": self.source,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    lines: tuple[Line, ...]
    assumptions: tuple[str, ...]
    hours: Decimal | None = None
    """Of the run that is asked about."""

    @property
    def usd_per_hour(self) -> Decimal:
        """Sum of the known lines, to the cent."""
        return _sum(line.usd_per_hour for line in self.lines)

    @property
    def usd_per_month(self) -> Decimal:
        return _sum(line.usd_per_month for line in self.lines)

    @property
    def usd_per_run(self) -> Decimal | None:
        return None if self.hours is None else _sum(line.usd_in(self.hours) for line in self.lines)

    @property
    def is_lower_bound(self) -> bool:
        return any(line.unit_price is None for line in self.lines)

    def of(self, kind: Kind) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.kind == kind)

    @property
    def total(self) -> Decimal:
        """Of the run, where its hours are told; else of a month."""
        return self.usd_per_month if self.usd_per_run is None else self.usd_per_run

    def sum_of(self, kind: Kind) -> Decimal | None:
        """Of the same span as `total`, of the lines whose prices are known; None where none is."""
        lines = self.of(kind)
        if lines and all(line.unit_price is None for line in lines):
            return None
        return _sum(line.usd_per_month if self.hours is None else line.usd_in(self.hours) for line in lines)

    def shown_of(self, kind: Kind, digits: int = 2) -> str:
        """The same as people read it."""
        amount = self.sum_of(kind)
        least = "at least " if any(line.unit_price is None for line in self.of(kind)) else ""
        return "unknown" if amount is None else f"{least}{amount:,.{digits}f}"

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "currency": "USD",
            "lines": [line.as_json(self.hours) for line in self.lines],
            "usd_per_hour": float(self.usd_per_hour),
            "usd_per_month": float(self.usd_per_month),
        }
        if self.usd_per_run is not None:
            shown |= {"hours": _number(self.hours), "usd_per_run": float(self.usd_per_run)}
        return {**shown, "is_lower_bound": self.is_lower_bound, "assumptions": list(self.assumptions)}


def rounded(amount: Decimal) -> Decimal:
    """To the cent; what is less than one to a hundredth of it, so that small things are not shown as free."""
    return amount.quantize(CENT if amount >= CENT else HUNDREDTH_OF_A_CENT, ROUND_HALF_UP)


def hourly(kind: Kind, item: str, quantity: Decimal | int, unit: str, price: Price | None, note: str = "") -> Line:
    """Of a thing that is paid by the hour, `quantity` of them."""
    return _line(kind, item, quantity, f"{unit}-hour", price, note, each=Decimal(1))


def monthly(kind: Kind, item: str, quantity: Decimal | int, unit: str, price: Price | None, note: str = "") -> Line:
    """Of a thing that is there all the time, or of which so much is used in a month."""
    return _line(kind, item, quantity, unit, price, note, each=1 / HOURS_PER_MONTH)


def once(kind: Kind, item: str, quantity: Decimal | int, unit: str, price: Price | None, note: str = "") -> Line:
    """Of what is paid once a run."""
    return _line(kind, item, quantity, unit, price, note, each=None)


def _line(
    kind: Kind, item: str, quantity: Decimal | int, unit: str, price: Price | None, note: str, *, each: Decimal | None
) -> Line:
    """`each`: hours' worth of the price in an hour; None: paid once."""
    amount = Decimal(quantity) * price.usd if price else None
    if price is None:
        note = "; ".join(filter(None, ("no price known for this region and purchase", note)))
    elif price.confidence == "unproved":
        note = "; ".join(filter(None, (note, "the price is unproved")))
    return Line(
        kind=kind,
        item=item,
        quantity=Decimal(quantity),
        unit=unit,
        unit_price=price.usd if price else None,
        hourly=amount * each if amount is not None and each is not None else None,
        once=amount if each is None else None,
        price_date=price.date.isoformat() if price else "",
        source=price.source if price else "",
        note=note,
    )


def _sum(amounts: Any) -> Decimal:
    return sum((a for a in amounts if a is not None), Decimal(0)).quantize(CENT, ROUND_HALF_UP)


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)
