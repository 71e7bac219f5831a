"""The catalogue: nodes, images, Lustre tiers, regions and list prices, each record with source and date.

The data are the TOML files beside this module. A file is read when something in it is first asked for, and a node
type is made a record when it is first named. Shapes: `planning.catalog.records`; checks: `planning.catalog.reading`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from planning.catalog.reading import CatalogError, build, read
from planning.catalog.records import (
    AwsNodeType,
    AzureNodeType,
    Cloud,
    Deployment,
    Image,
    LustreTier,
    NodeType,
    Price,
    Purchase,
    Region,
)

__all__ = [
    "CatalogError",
    "default_image",
    "image",
    "images",
    "internet_steps",
    "lustre_price",
    "lustre_tier",
    "lustre_tiers",
    "metadata_iops",
    "near_node_types",
    "node_price",
    "node_type",
    "node_types",
    "price",
    "price_items",
    "regions",
]

_CLOUDS: tuple[Cloud, ...] = ("aws", "azure")
_NODES: Mapping[Cloud, str] = {"aws": "aws_nodes.toml", "azure": "azure_nodes.toml"}
_IMAGES = "images.toml"
_LUSTRE = "lustre.toml"
_PRICES = "prices.toml"
_REGIONS = "regions.toml"


@cache
def node_type(name: str) -> AwsNodeType | AzureNodeType | None:
    """The node type of exactly this name, of whichever cloud; None where the catalogue has none."""
    if name.startswith("Standard_"):
        return _azure_node(name) if name in read(_NODES["azure"])["nodes"] else None
    return _aws_node(name) if name in read(_NODES["aws"])["nodes"] else None


@cache
def node_types(cloud: Cloud | None = None) -> Mapping[str, NodeType]:
    """All node types by name, in the order of the files."""
    clouds = _CLOUDS if cloud is None else (cloud,)
    names = [name for each in clouds for name in read(_NODES[each])["nodes"]]
    return MappingProxyType({name: found for name in names if (found := node_type(name))})


def near_node_types(name: str, cloud: Cloud) -> list[str]:
    """Up to three node types of the cloud that `name` may have meant, best first."""
    from planning.findings import near  # only after a mistake: keeps difflib out of every start

    names = list(read(_NODES[cloud])["nodes"])
    return near(name, names) or [known for known in names if name.casefold() in known.casefold()][:3]


@cache
def images(cloud: Cloud) -> Mapping[str, Image]:
    file = read(_IMAGES)
    rows = {key: {"key": key, **file["defaults"], **row} for key, row in file["images"].items()}
    return MappingProxyType(
        {key: build(Image, _IMAGES, key, row) for key, row in rows.items() if row.get("cloud") == cloud}
    )


def image(key: str) -> Image:
    for cloud in _CLOUDS:
        if key in images(cloud):
            return images(cloud)[key]
    raise CatalogError(_IMAGES, key, "", "no such image")


def default_image(node: NodeType) -> Image:
    """The pinned image that fits the node's accelerators and architecture."""
    return image(node.image)


@cache
def lustre_tiers(cloud: Cloud, deployment: Deployment = "persistent") -> tuple[LustreTier, ...]:
    """Tiers by rising throughput; empty where the cloud has no such deployment."""
    file = read(_LUSTRE)
    rows = [{**file["defaults"], **row} for row in file["tiers"]]
    tiers = [
        build(LustreTier, _LUSTRE, f"{cloud} {deployment} {row.get('mbps_per_tib')}", row)
        for row in rows
        if row.get("cloud") == cloud and row.get("deployment") == deployment
    ]
    return tuple(sorted(tiers, key=lambda tier: tier.mbps_per_tib))


def lustre_tier(cloud: Cloud, deployment: Deployment, mbps_per_tib: int) -> LustreTier | None:
    return next((t for t in lustre_tiers(cloud, deployment) if t.mbps_per_tib == mbps_per_tib), None)


def metadata_iops(capacity_gib: int) -> int:
    """Metadata IOPS that FSx gives a persistent filesystem of this size by itself."""
    rows = read(_LUSTRE)["metadata"]["rows"]
    row = [r for r in rows if r["gib"] <= capacity_gib][-1:] or rows[:1]
    whole = capacity_gib // row[0]["gib"] if row[0] is rows[-1] else 1
    return row[0]["iops"] * whole


@cache
def regions(cloud: Cloud) -> Mapping[str, Region]:
    """The regions known when the file was checked. A newer one is not wrong for being absent."""
    table = read(_REGIONS)[cloud]
    common = {"cloud": cloud, "source": table["source"], "checked": table["checked"]}
    rows: dict[str, dict[str, str]] = (
        {name: {"zone_prefix": prefix} for name, prefix in table["zone_prefixes"].items()}
        if cloud == "aws"
        else {name: {} for name in table["names"]}
    )
    return MappingProxyType(
        {name: build(Region, _REGIONS, name, {"name": name, **common, **row}) for name, row in rows.items()}
    )


@cache
def node_price(name: str, region: str, purchase: Purchase) -> Price | None:
    """List price of one node for an hour, or None where none is known for this very region.

    Reserved capacity is billed at the on-demand price for as long as it is held.
    """
    listed = "on-demand" if purchase == "reserved" else purchase
    rows = read(_PRICES)["nodes"].get(name, {}).get(listed, [])
    return _price(rows, f"nodes {name} {listed}", region, {"unit": "node-hour"})


@cache
def lustre_price(cloud: Cloud, deployment: Deployment, mbps_per_tib: int, region: str) -> Price | None:
    """Price of a month of provisioned storage. FSx prints GB and bills the number provisioned in GiB."""
    rows = read(_PRICES)["lustre"].get(cloud, {}).get(deployment, {}).get(str(mbps_per_tib), [])
    return _price(rows, f"lustre {cloud} {deployment} {mbps_per_tib}", region, {})


@cache
def price(item: str, region: str) -> Price | None:
    """Price of anything else by its key, such as nat-hour; a key that does not exist is an error."""
    items = read(_PRICES)["items"]
    if item not in items:
        raise CatalogError(_PRICES, item, "", f"no such item; there are {', '.join(items)}")
    return _price(items[item], f"items {item}", region, {})


def price_items() -> list[str]:
    """The keys that `price` takes."""
    return list(read(_PRICES)["items"])


def internet_steps() -> tuple[tuple[str, int], ...]:
    """Keys of the prices of what leaves to the internet, each with the GB of a month from which it holds, rising."""
    return tuple(read(_PRICES)["internet"].items())


def _price(rows: Sequence[Mapping[str, Any]], where: str, region: str, common: Mapping[str, str]) -> Price | None:
    for row in rows:
        if region in row.get("regions", ()):
            values = {**common, **row, "region": region}
            del values["regions"]
            values["source"] = read(_PRICES)["sources"].get(row.get("source"), "")
            return build(Price, _PRICES, where, values)
    return None


def _aws_node(name: str) -> AwsNodeType:
    file = read(_NODES["aws"])
    row: dict[str, Any] = {"name": name, "cloud": "aws", **file["defaults"], **file["nodes"][name]}
    cards = row.get("interfaces_per_card")
    if isinstance(cards, int):
        row["interfaces_per_card"] = (cards,) * row.get("network_cards", 0)
    row.setdefault("efa_cards", tuple(range(row.get("efa", 0))))
    codes = file["quotas"].get(row.get("quota"))
    if codes is None:
        raise CatalogError(_NODES["aws"], name, "quota", f"{row.get('quota')!r} is not in [quotas]")
    row["quota"] = {purchase: code for purchase, code in codes.items() if purchase in row.get("purchase", ())}
    return build(AwsNodeType, _NODES["aws"], name, row)


def _azure_node(name: str) -> AzureNodeType:
    file = read(_NODES["azure"])
    row = {"name": name, "cloud": "azure", **file["defaults"], **file["nodes"][name]}
    return build(AzureNodeType, _NODES["azure"], name, row)
