"""Counts as people write them in this field: 13B, 1.5T, 1.5e12, 15_000."""

from __future__ import annotations

import re
from decimal import Decimal

from planning.findings import shown
from planning.sizing.errors import SizingError

_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_COUNT = re.compile(r"(?P<number>\d[\d_]*(\.\d+)?(e\+?\d{1,3})?) ?(?P<unit>[kmbgt]?)")
_MOST = 10**24


def count_of(what: str, value: str | float, example: str) -> int:
    """A whole number above 0; `what` and `example` are for the message."""
    if isinstance(value, str):
        found = _COUNT.fullmatch(value.strip().casefold())
        number = Decimal(found["number"]) * _TIMES[found["unit"]] if found else None
    elif isinstance(value, bool) or value != value or value in (float("inf"), float("-inf")):
        number = None
    else:
        number = Decimal(value)
    if number is None or number < 1:
        raise SizingError(f"{what}: {shown(value)} is not a number above 0", f"write it as {example}")
    if number > _MOST:
        raise SizingError(f"{what}: {shown(value)} is more than anybody has", f"write it as {example}")
    return int(number)
