"""What EC2 says of its instance types, and where it offers them.

The source is independent of our catalogue: the answers of DescribeInstanceTypes and DescribeInstanceTypeOfferings that
moto ships. They are read as data (moto itself is never imported, which would take a second) and slimmed once per
version of moto. A type that moto does not know yet is nobody's mistake: callers let it pass with a warning.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from localcloud.cache import kept

_FORMAT = 1
"""Raised when the shape of the index changes, so that an older one is derived anew."""
_TYPES = "moto/ec2/resources/instance_types.json.gz"
_OFFERS = "moto/ec2/resources/instance_type_offerings/availability-zone-id/{}.json.gz"


@dataclass(frozen=True, slots=True)
class Card:
    """A network card of an instance type."""

    interfaces: int
    """How many it takes; device indices are below it."""
    efa: bool


@dataclass(frozen=True, slots=True)
class InstanceType:
    name: str
    vcpus: int
    architectures: tuple[str, ...]
    purchases: tuple[str, ...]
    """on-demand, spot, capacity-block."""
    strategies: tuple[str, ...]
    """Placement strategies that it can be launched with."""
    efa: int
    """EFA interfaces that a node can have at most, which is not the number of its cards; 0: no EFA."""
    cards: tuple[Card, ...]


def is_known() -> bool:
    """Whether there is any knowledge: moto is in the extra `local`."""
    return bool(_version())


def instance_type(name: str) -> InstanceType | None:
    row = _index().get(name)
    if row is None:
        return None
    vcpus, architectures, purchases, strategies, efa, cards = row
    pairs = tuple(Card(interfaces, bool(has_efa)) for interfaces, has_efa in cards)
    return InstanceType(name, vcpus, tuple(architectures), tuple(purchases), tuple(strategies), efa, pairs)


def described(name: str) -> dict[str, Any] | None:
    """What programs may ask of a type, as outputs of `ec2.getInstanceType`."""
    if not is_known():
        return None
    return kept(f"instance-types/moto-{_version()}-{_FORMAT}/described-{name}.json", lambda: _description(name))


def is_misspelt(name: str) -> bool:
    """Of a type that is not known: whether its family is, so that it is no newer family but a size that is not."""
    family = name.partition(".")[0]
    return name not in _index() and any(known.startswith(f"{family}.") for known in _index())


def sizes_of_family(name: str) -> list[str]:
    family = name.partition(".")[0]
    return sorted(known for known in _index() if known.startswith(f"{family}."))


def zones_with(region: str, name: str) -> frozenset[str] | None:
    """Ids of the zones of the region that offer the type; None: nothing is known of the region or of the type."""
    offers = _offers(region)
    if offers is None or name not in _index():
        return None
    return frozenset(offers.get(name, ()))


@cache
def _version() -> str:
    try:
        return metadata.version("moto")
    except metadata.PackageNotFoundError:
        return ""


@cache
def _index() -> dict[str, list[Any]]:
    if not _version():
        return {}
    return kept(f"instance-types/moto-{_version()}-{_FORMAT}/types.json", _slim) or {}


@cache
def _offers(region: str) -> dict[str, list[str]] | None:
    if not _version():
        return None
    return kept(f"instance-types/moto-{_version()}-{_FORMAT}/offers-{region}.json", lambda: _offers_of(region))


def _slim() -> dict[str, list[Any]] | None:
    described = _data(_TYPES)
    return described and {name: _row(facts) for name, facts in described.items()}


def _row(facts: dict[str, Any]) -> list[Any]:
    network = facts["NetworkInfo"]
    cards = sorted(network["NetworkCards"], key=lambda card: card["NetworkCardIndex"])
    return [
        facts["VCpuInfo"]["DefaultVCpus"],
        facts["ProcessorInfo"]["SupportedArchitectures"],
        facts["SupportedUsageClasses"],
        facts["PlacementGroupInfo"]["SupportedStrategies"],
        network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        [[card["MaximumNetworkInterfaces"], int("efa" in card["InterfaceTypes"])] for card in cards],
    ]


def _description(name: str) -> dict[str, Any] | None:
    facts = (_data(_TYPES) or {}).get(name)
    if facts is None:
        return None
    cpu, network, storage = facts["VCpuInfo"], facts["NetworkInfo"], facts.get("InstanceStorageInfo", {})
    gpus = facts.get("GpuInfo", {}).get("Gpus", [])
    return {
        "bareMetal": facts["BareMetal"],
        "currentGeneration": facts["CurrentGeneration"],
        "defaultVcpus": cpu["DefaultVCpus"],
        "defaultCores": cpu.get("DefaultCores"),
        "defaultThreadsPerCore": cpu.get("DefaultThreadsPerCore"),
        "ebsOptimizedSupport": facts["EbsInfo"]["EbsOptimizedSupport"],
        "efaSupported": network["EfaSupported"],
        "efaMaximumInterfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "enaSupport": network["EnaSupport"],
        "gpuses": [
            {"count": g["Count"], "manufacturer": g["Manufacturer"], "name": g["Name"], "memorySize": _mib(g)}
            for g in gpus
        ],
        "totalGpuMemory": facts.get("GpuInfo", {}).get("TotalGpuMemoryInMiB", 0),
        "hypervisor": facts.get("Hypervisor", ""),
        "instanceStorageSupported": facts["InstanceStorageSupported"],
        "totalInstanceStorage": storage.get("TotalSizeInGB", 0),
        "maximumIpv4AddressesPerInterface": network["Ipv4AddressesPerInterface"],
        "maximumNetworkCards": network["MaximumNetworkCards"],
        "maximumNetworkInterfaces": network["MaximumNetworkInterfaces"],
        "memorySize": _mib(facts),
        "networkCards": [
            {
                "index": card["NetworkCardIndex"],
                "maximumInterfaces": card["MaximumNetworkInterfaces"],
                "performance": card["NetworkPerformance"],
                "baselineBandwidth": card.get("BaselineBandwidthInGbps"),
                "peakBandwidth": card.get("PeakBandwidthInGbps"),
            }
            for card in network["NetworkCards"]
        ],
        "networkPerformance": network["NetworkPerformance"],
        "supportedArchitectures": facts["ProcessorInfo"]["SupportedArchitectures"],
        "supportedPlacementStrategies": facts["PlacementGroupInfo"]["SupportedStrategies"],
        "supportedUsagesClasses": facts["SupportedUsageClasses"],
    }


def _mib(facts: dict[str, Any]) -> int:
    return facts["MemoryInfo"]["SizeInMiB"]


def _offers_of(region: str) -> dict[str, list[str]] | None:
    offers: dict[str, list[str]] = {}
    for offer in _data(_OFFERS.format(region)) or ():
        offers.setdefault(offer["InstanceType"], []).append(offer["Location"])
    return offers or None


def _data(name: str) -> Any:
    """A file of the installed distribution; None where it has none of that name."""
    try:
        packed = metadata.distribution("moto").locate_file(name)
        with gzip.open(str(packed)) as file:
            return json.loads(file.read())
    except (OSError, ValueError):
        return None
