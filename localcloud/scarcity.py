"""How much the clouds have: nodes by type, zone and purchase, and vCPU quotas. Unlimited where nothing is said.

Two layers, the later wins: the project's `localcloud.toml`, then what commands have set in the store.

    [[capacity]]
    cloud = "aws"               # or "azure"
    type = "p5.48xlarge"
    zone = "use1-az6"           # AWS: zone id. Azure: eastus-1, or eastus where no zone is named. Default "*"
    purchase = "on-demand"      # on-demand, spot, capacity-block. Default "*"
    nodes = 15

    [[quota]]
    cloud = "aws"
    code = "L-417A185B"         # AWS: quota code. Azure: family (standardNDSH100v5Family), lowPriorityCores, cores
    vcpus = 768                 # in each region

Both are TOTALS: who launches subtracts what the store shows as used (reservations and nodes outside them on AWS,
instances on Azure) and refuses in its cloud's words. A row with "*" holds for every zone, or purchase, by itself:
it is not one pool that they share. Of several rows that fit, the one that names the zone wins, then the one that
names the purchase. Azure's names are compared without case and spaces.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.store import Store, StoreError

CLOUDS = ("aws", "azure")
PURCHASES = ("on-demand", "spot", "capacity-block")
ANY = "*"
_KEYS = {
    "capacity": {"cloud": str, "type": str, "zone": str, "purchase": str, "nodes": int},
    "quota": {"cloud": str, "code": str, "vcpus": int},
}
_MAY_BE_ANY = ("zone", "purchase")
_ZONES = {
    "aws": (
        re.compile(r"[a-z0-9-]+-az\d+"),
        "a zone id as in use1-az6 (names such as us-east-1a are each account's own)",
    ),
    "azure": (re.compile(r"[a-z0-9 ]+(-\d)?", re.IGNORECASE), "a region with its zone, as in eastus-1, or a region"),
}


class ScarcityError(StoreError):
    """A limit that cannot be meant; the text says where and why, and what to write."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One row."""

    name: str
    """`capacity/aws/p5.48xlarge/use1-az6/on-demand`, `quota/aws/L-417A185B`."""
    amount: int


@dataclass(slots=True)
class Scarcity:
    """The limits of both clouds as of now: commands may change them while plugins run."""

    store: Store
    file: Mapping[str, int] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Take the limits of a `localcloud.toml`, if there is one. Raises ScarcityError."""
        self.file = {limit.name: limit.amount for limit in limits_of(path)}

    def available(self, cloud: str, type_: str, zone: str, purchase: str) -> int | None:
        """How many nodes there are in all, used ones included. None: no limit is set."""
        limits = self.limits()
        cloud = cloud.removesuffix("-native")
        for place, how in ((zone, purchase), (zone, ANY), (ANY, purchase), (ANY, ANY)):
            if (found := limits.get(capacity_name(cloud, type_, place, how))) is not None:
                return found
        return None

    def quota(self, cloud: str, code: str) -> int | None:
        """How many vCPUs of this kind a region may run, used ones included. None: no limit is set."""
        return self.limits().get(quota_name(cloud.removesuffix("-native"), code))

    def set_capacity(self, cloud: str, type_: str, zone: str, purchase: str, nodes: int | None) -> None:
        """None takes the limit away that a command has set. Raises ScarcityError."""
        name = capacity_name(cloud, type_, zone, purchase)
        if fault := _zone_fault(cloud, zone):
            raise ScarcityError(f"zone: {fault}.")
        self.store.set(name, nodes)

    def set_quota(self, cloud: str, code: str, vcpus: int | None) -> None:
        self.store.set(quota_name(cloud, code), vcpus)

    def limits(self) -> dict[str, int]:
        """Name -> amount, of both layers."""
        return {**self.file, **self.store.settings("capacity/"), **self.store.settings("quota/")}


def capacity_name(cloud: str, type_: str, zone: str, purchase: str) -> str:
    _one_of("cloud", cloud, CLOUDS)
    _one_of("purchase", purchase, (*PURCHASES, ANY))
    return f"capacity/{cloud}/{_folded(cloud, type_)}/{_folded(cloud, zone)}/{purchase}"


def quota_name(cloud: str, code: str) -> str:
    _one_of("cloud", cloud, CLOUDS)
    return f"quota/{cloud}/{_folded(cloud, code)}"


def limits_of(path: Path) -> list[Limit]:
    """The rows of a file; none where it does not exist. Raises ScarcityError with all that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise ScarcityError(f"{path} cannot be read as TOML ({error}). Correct it, or remove it.") from None
    limits: list[Limit] = []
    wrong: list[str] = []
    for kind, rows in document.items():
        if kind not in _KEYS or not isinstance(rows, list):
            wrong.append(f"{kind}: unknown; write rows of [[capacity]] or [[quota]]")
            continue
        for number, row in enumerate(rows):
            faults = list(_faults(kind, row))
            wrong += [f"{kind}[{number}]{fault}" for fault in faults]
            if not faults:
                limits.append(_limit(kind, row))
    if wrong:
        raise ScarcityError("\n".join([f"{path} cannot be used:", *(f"  {line}" for line in wrong)]))
    return limits


def _faults(kind: str, row: Any) -> Iterator[str]:
    keys = _KEYS[kind]
    if not isinstance(row, dict):
        yield f": found {row!r}; write a table with {', '.join(keys)}"
        return
    for key in row.keys() - keys.keys():
        yield f".{key}: unknown key; it has {', '.join(keys)}"
    for key, type_ in keys.items():
        value = row.get(key, ANY if key in _MAY_BE_ANY else None)
        if value is None:
            yield f".{key}: missing"
        elif isinstance(value, bool) or not isinstance(value, type_) or value == "":
            yield f".{key}: found {value!r}; write {'a whole number' if type_ is int else 'a word in quotes'}"
        elif isinstance(value, int) and value < 0:
            yield f".{key}: found {value}; write 0 or more"
        elif key == "cloud" and value not in CLOUDS:
            yield f".cloud: found {value!r}; write one of {', '.join(CLOUDS)}"
        elif key == "zone" and row.get("cloud") in CLOUDS and (fault := _zone_fault(row["cloud"], value)):
            yield f".zone: {fault}"
        elif key == "purchase" and value not in (*PURCHASES, ANY):
            yield f".purchase: found {value!r}; write one of {', '.join((*PURCHASES, ANY))}"


def _zone_fault(cloud: str, zone: str) -> str:
    form, words = _ZONES[cloud]
    return "" if zone == ANY or form.fullmatch(zone) else f"found {zone!r}; write {words}, or {ANY}"


def _limit(kind: str, row: Mapping[str, Any]) -> Limit:
    if kind == "quota":
        return Limit(quota_name(row["cloud"], row["code"]), row["vcpus"])
    place, how = row.get("zone", ANY), row.get("purchase", ANY)
    return Limit(capacity_name(row["cloud"], row["type"], place, how), row["nodes"])


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ScarcityError(f"{what}: found {value!r}; write one of {', '.join(allowed)}.")


def _folded(cloud: str, name: str) -> str:
    return name.replace(" ", "").casefold() if cloud == "azure" else name
