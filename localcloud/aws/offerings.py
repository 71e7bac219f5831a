"""Offerings of Capacity Blocks: found by a function, bought by a resource.

Their ids carry what they offer, so that nothing needs to be kept. The id of a real offering says nothing: what is
bought with it then has no type, and nothing is judged by it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from localcloud.aws.kind import LOCAL_ID

_PREFIX = f"cb-{LOCAL_ID}"
_FORM = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    type: str
    zone: str
    """Name of the zone."""
    count: int
    hours: int
    start: str

    @property
    def end(self) -> str:
        start = datetime.fromisoformat(self.start)
        return (start + timedelta(hours=self.hours)).astimezone(UTC).strftime(_FORM)

    @property
    def id(self) -> str:
        words = json.dumps([self.type, self.zone, self.count, self.hours, self.start], separators=(",", ":"))
        return _PREFIX + base64.b32encode(words.encode()).decode().rstrip("=").lower()


def offering_of(id_: str) -> Offering | None:
    if not id_.startswith(_PREFIX):
        return None
    coded = id_.removeprefix(_PREFIX).upper()
    try:
        words = base64.b32decode(coded + "=" * (-len(coded) % 8))
        type_, zone, count, hours, start = json.loads(words)
    except ValueError:
        return None
    return Offering(type=type_, zone=zone, count=count, hours=hours, start=start)


def soonest() -> str:
    return datetime.now(UTC).strftime(_FORM)
