"""Notation that people write and code must not guess: sizes with a binary unit, dates, networks.

Each parser takes what YAML gave and returns a plain value, or raises `PydanticCustomError` whose context holds `fix`.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time
from decimal import Decimal
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from typing import LiteralString

from pydantic_core import PydanticCustomError

from planning.findings import shown

GIB_PER = {"GiB": 1, "TiB": 1024, "PiB": 1024**2}
_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>[A-Za-z]+)")
_MOST_DIGITS = 15
"""A longer number is a slip of the keyboard, and would not be exact."""
_SIZE_FIX = "write a number with a binary unit, such as 38400GiB or 48TiB"
_PREFIXES = "kmgtp"
_UNIT = re.compile(rf"(?P<prefix>[{_PREFIXES}]?)(?P<binary>i?)(?P<bytes>b|bytes?|)", re.I)
_GROUPED = re.compile(r"[0-9]{1,3}([,_' ][0-9]{3})+")
_GO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?: 00:00:00 \+0000 UTC)?")


def _wrong(kind: LiteralString, message: str, fix: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{text}", {"text": message, "fix": fix})


def parse_size(value: object) -> int:
    """GiB of a size such as `38400GiB` or `48TiB`."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < 10**_MOST_DIGITS:
        raise _without_unit(f"{value:f}".rstrip("0").rstrip("."))
    text = value.strip() if isinstance(value, str) else ""
    found = _SIZE.fullmatch(text)
    if not found or len(found["number"]) > _MOST_DIGITS:
        if re.fullmatch(r"[1-9][0-9]{0,14}", text):
            raise _without_unit(text)
        raise _wrong("size", f"{shown(value)} is not a size", _ungrouped(text) or _SIZE_FIX)
    number, unit = Decimal(found["number"]), found["unit"]
    gib = number * GIB_PER[unit] if unit in GIB_PER else None
    if gib is None:
        raise _wrong("size", *_unit_advice(found[0], number, unit))
    if gib != int(gib):
        raise _wrong("size", f"{value} is {gib:f} GiB, not a whole number of GiB", f"write {_whole(number, unit)}")
    return int(gib)


def _without_unit(number: str) -> PydanticCustomError:
    whole = [f"{number}{unit}" for unit in ("GiB", "TiB") if Decimal(number) * GIB_PER[unit] % 1 == 0]
    meant = " or ".join(whole) or _whole(Decimal(number), "TiB")
    return _wrong("size", f"{number} has no unit, and GiB and TiB differ a thousandfold", f"write {meant}")


def _ungrouped(text: str) -> str | None:
    """What to write for a number with signs between its thousands, or too many blanks before the unit."""
    grouped = _GROUPED.match(text)
    digits = re.sub(r"[^0-9]", "", grouped[0]) + text[grouped.end() :] if grouped else text
    size = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]+)?)\s*([GTP]iB)", digits)
    return f"write {_whole_or_same(Decimal(size[1]), size[2])}" if size else None


def _whole_or_same(number: Decimal, unit: str) -> str:
    return f"{number:f}{unit}" if number * GIB_PER[unit] % 1 == 0 else _whole(number, unit)


def _whole(number: Decimal, unit: str) -> str:
    """A whole size near this one. Vendors call 1200 GiB 1.2 TiB, so that thousands are more often meant than 1024."""
    below = {"PiB": "TiB", "TiB": "GiB"}.get(unit)
    thousands = number * 1000
    if below and thousands == int(thousands):
        return f"{int(thousands)}{below}"
    return f"{int(number * GIB_PER[unit]) + 1}GiB"


def _unit_advice(value: str, number: Decimal, unit: str) -> tuple[str, str]:
    """Message and fix for a unit that is none of ours; decimal ones are told in GiB."""
    found = _UNIT.fullmatch(unit)
    if not found:
        return f"{shown(value)} has an unknown unit", "use GiB, TiB or PiB, such as 38400GiB or 48TiB"
    prefix = found["prefix"].upper()
    power = _PREFIXES.find(prefix.lower()) + 1 if prefix else 0
    ours = f"{prefix}iB"
    if found["binary"]:
        if ours in GIB_PER:
            return f"{value} spells its unit {unit!r}", f"write {_whole_or_same(number, ours)}"
        gib = number * 1024**power / 1024**3
        return f"{value} is {_amount(gib)}, and sizes are in GiB, TiB or PiB", f"write {_at_least_one(gib)}GiB"
    gib = number * 1000**power / 1024**3
    meant = _meant(number, power, ours)
    if prefix and not found["bytes"]:
        return f"{value} does not say if it counts by 1000 or by 1024", f"did you mean {meant}?"
    what = f"{value} is a decimal size, {_amount(gib)}" if prefix else f"{value} counts bytes, and is {_amount(gib)}"
    return f"{what}; both clouds sell file systems and disks in binary units", f"did you mean {meant}?"


def _amount(gib: Decimal) -> str:
    return f"{gib:,.0f} GiB" if gib >= 1 else "less than one GiB"


def _at_least_one(gib: Decimal) -> int:
    return max(1, math.ceil(gib))


def _meant(number: Decimal, power: int, ours: str) -> str:
    """The size that somebody who counts in thousands has in mind; of bytes also the one that they make exactly."""
    if power == 0 and number and number % 1024**3 == 0:
        return show_size(int(number / 1024**3))
    if ours in GIB_PER and number == int(number) and number:
        return f"{int(number)}{ours}"
    return f"{_at_least_one(Decimal(round(number * 1000**power / 10**9)))}GiB"


def show_size(gib: int) -> str:
    """The shortest legal spelling of a size: 48TiB rather than 49152GiB where it is whole."""
    return f"{gib // 1024}TiB" if gib and gib % 1024 == 0 else f"{gib}GiB"


def parse_date(value: object) -> date:
    """A calendar day, as YAML gives it, as text, or as Pulumi hands a YAML date to a program."""
    if isinstance(value, datetime):
        # What YAML's own readers make of a date with a time; Pulumi hands on text.
        if value.time() == time():
            return value.date()
    elif isinstance(value, date):
        return value
    found = _GO_DATE.fullmatch(value) if isinstance(value, str) else None
    try:
        if found:
            return date.fromisoformat(found[1])
    except ValueError:
        pass
    raise _wrong("date", f"{shown(value)} is not a calendar day", "write the day as 2035-12-31")


def parse_network(value: object) -> IPv4Network:
    """An IPv4 network in CIDR form without host bits."""
    if isinstance(value, IPv4Network):
        return value
    found = _NETWORK.fullmatch(value) if isinstance(value, str) else None
    try:
        whole = IPv4Network(found[0], strict=False) if found else None
    except (AddressValueError, NetmaskValueError):
        whole = None
    if whole is None:
        fix = "write an address and a prefix, such as 10.40.0.0/16"
        raise _wrong("network", f"{shown(value)} is not an IPv4 network", fix)
    if str(whole) != value:
        why = f"{value} has host bits set, which both clouds refuse"
        raise _wrong("network", why, f"write {whole}, the network that holds it")
    return whole


_NETWORK = re.compile(r"[0-9.]+/(0|[1-9][0-9]?)")
"""Not a netmask, not a host mask: IPv4Network would take both."""
