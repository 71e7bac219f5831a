"""Notation that people write and code must not guess: sizes with a binary unit, dates, networks.

Each parser takes what YAML gave and returns a plain value, or raises `PydanticCustomError` whose context holds `fix`.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from typing import LiteralString

from pydantic_core import PydanticCustomError

GIB_PER = {"GiB": 1, "TiB": 1024, "PiB": 1024**2}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[A-Za-z]+)")
_DECIMAL_BYTES = {"gb": 10**9, "tb": 10**12, "pb": 10**15}
_GO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?: 00:00:00 \+0000 UTC)?")


def _wrong(kind: LiteralString, message: str, fix: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{text}", {"text": message, "fix": fix})


def parse_size(value: object) -> int:
    """GiB of a size such as `38400GiB` or `48TiB`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _wrong(
            "size",
            f"{_shown(value)} is not a size",
            "write a number with a binary unit, such as 38400GiB or 48TiB",
        )
    if not isinstance(value, str):
        raise _wrong(
            "size",
            f"{value} has no unit, and GiB and TiB differ a thousandfold",
            f"write {value:g}GiB or {value:g}TiB",
        )
    found = _SIZE.fullmatch(value.strip())
    if not found:
        raise _wrong("size", f"{value!r} is not a size", "write a number with a binary unit, such as 38400GiB or 48TiB")
    number, unit = Decimal(found["number"]), found["unit"]
    gib = number * GIB_PER[unit] if unit in GIB_PER else None
    if gib is None:
        raise _wrong("size", *_unit_advice(value, number, unit))
    if gib != int(gib):
        raise _wrong("size", f"{value} is {gib:f} GiB, not a whole number of GiB", f"write {int(gib) + 1}GiB")
    return int(gib)


def _unit_advice(value: str, number: Decimal, unit: str) -> tuple[str, str]:
    """Message and fix for a unit that is none of ours; decimal ones are told in GiB."""
    spelled = {name.casefold(): name for name in GIB_PER}
    if unit.casefold() in spelled:
        return f"{value!r} spells its unit {unit!r}", f"write {number:f}{spelled[unit.casefold()]}"
    bytes_per = _DECIMAL_BYTES.get(unit.casefold())
    if bytes_per is None:
        return f"{value!r} has the unknown unit {unit!r}", "use GiB, TiB or PiB, such as 38400GiB or 48TiB"
    gib = number * bytes_per / 1024**3
    binary = unit[0].upper() + "iB"
    if number == int(number):
        meant = f"{int(number)}{binary}"
    else:
        meant = f"{number * bytes_per / 10**9:.0f}GiB"
    message = f"{value} is a decimal size, {gib:,.0f} GiB; both clouds sell file systems and disks in binary units"
    return message, f"did you mean {meant}?"


def show_size(gib: int) -> str:
    """The shortest legal spelling of a size: 48TiB rather than 49152GiB where it is whole."""
    return f"{gib // 1024}TiB" if gib and gib % 1024 == 0 else f"{gib}GiB"


def parse_date(value: object) -> date:
    """A calendar day, as YAML gives it, as text, or as Pulumi hands a YAML date to a program."""
    if isinstance(value, date):
        return value
    found = _GO_DATE.fullmatch(value) if isinstance(value, str) else None
    try:
        if found:
            return date.fromisoformat(found[1])
    except ValueError:
        pass
    raise _wrong("date", f"{_shown(value)} is not a calendar day", "write the day as 2035-12-31")


def parse_network(value: object) -> IPv4Network:
    """An IPv4 network in CIDR form without host bits."""
    if not isinstance(value, str) or "/" not in value:
        raise _wrong(
            "network",
            f"{_shown(value)} is not an IPv4 network",
            "write an address and a prefix, such as 10.40.0.0/16",
        )
    try:
        return IPv4Network(value)
    except (AddressValueError, NetmaskValueError):
        raise _wrong(
            "network",
            f"{value!r} is not an IPv4 network",
            "write an address and a prefix, such as 10.40.0.0/16",
        ) from None
    except ValueError:
        whole = IPv4Network(value, strict=False)
        raise _wrong(
            "network",
            f"{value} has host bits set, which both clouds refuse",
            f"write {whole}, the network that holds it",
        ) from None


def _shown(value: object) -> str:
    """A value as a message may show it: short, and never a long text that might be a secret."""
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__} of {len(text)} characters"
