"""What a cluster costs by being there: nodes, disks, Lustre, gateways, endpoints and addresses. What it costs by being
used: `planning.cost.usage`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.cost.lines import Line, hourly, monthly
from planning.cost.pricebook import Prices
from planning.facts.network import STORAGE_ENDPOINTS, services_of
from planning.facts.storage import Lustre
from planning.spec import AwsFilesystem, AwsSpec, AzureSpec, BuyBlock, Reserved

AnySpec = AwsSpec | AzureSpec
AnyNode = AwsNodeType | AzureNodeType
LUSTRE = {"aws": "FSx for Lustre", "azure": "Azure Managed Lustre"}


def standing(
    spec: AnySpec, node: AnyNode | None, lustre: Lustre | None, *, ephemeral_root: bool, today: date, prices: Prices
) -> Iterator[Line]:
    if node is not None and spec.nodes.running:
        yield from _nodes(spec, node, today, prices)
        yield from _root_disks(spec, ephemeral_root, prices)
    yield from _filesystem(spec, lustre, prices)
    yield from _network(spec, prices)


def _nodes(spec: AnySpec, node: AnyNode, today: date, prices: Prices) -> Iterator[Line]:
    nodes = spec.nodes
    price = prices.node(node.name, spec.region, nodes.purchase)
    yield hourly("nodes", f"{node.name}, {nodes.purchase}", nodes.count, "node", price, _bought(spec, today))


def _bought(spec: AnySpec, today: date) -> str:
    """What the way of buying does to the bill."""
    given = spec.nodes.reservation
    match spec.nodes.purchase:
        case "capacity-block" if isinstance(given, BuyBlock):
            return "paid up front for the whole block, at the price of the offering"
        case "capacity-block" if isinstance(given, Reserved) and given.start and today < given.start:
            return f"paid up front for the whole block, which begins on {given.start}"
        case "capacity-block":
            return "paid up front for the whole block"
        case "reserved":
            return "billed as on demand for as long as the reservation is held, used or not"
    return ""


def _root_disks(spec: AnySpec, ephemeral: bool, prices: Prices) -> Iterator[Line]:
    if ephemeral:
        return
    gib = spec.nodes.count * spec.nodes.root_disk
    if spec.cloud == "aws":
        yield monthly("nodes", "root disks, EBS gp3", gib, "GiB-month", prices.item("ebs-gp3-gb-month", spec.region))
    else:
        price = prices.item("premium-ssd-gib-month", spec.region)
        yield monthly("nodes", "root disks, Premium SSD", gib, "GiB-month", price, "sold by sizes, each up to the next")


def _filesystem(spec: AnySpec, lustre: Lustre | None, prices: Prices) -> Iterator[Line]:
    if lustre is None or lustre.tier is None:
        return
    tier = lustre.tier
    price = prices.lustre(spec.cloud, tier.deployment, tier.mbps_per_tib, spec.region)
    sold = f"{tier.mbps_per_tib} MB/s per TiB" if tier.mbps_per_tib else tier.deployment
    yield monthly("filesystem", f"{LUSTRE[spec.cloud]}, {sold}", lustre.capacity_gib, "GiB-month", price)
    wanted = spec.storage.filesystem
    if isinstance(wanted, AwsFilesystem) and wanted.metadata_iops:
        price = prices.item("fsx-metadata-iops-month", spec.region)
        yield monthly("filesystem", "FSx metadata IOPS", wanted.metadata_iops, "IOPS-month", price)


def _network(spec: AnySpec, prices: Prices) -> Iterator[Line]:
    new = spec.network.existing is None
    nat, bastion = new and spec.network.egress == "nat", spec.cloud == "azure" and spec.access.bastion
    if nat:
        price = prices.item("nat-hour", spec.region)
        yield hourly("network", "NAT gateway", 1, "gateway", price, "traffic through it is charged per GB besides")
    if bastion:
        price = prices.item("bastion-standard-hour", spec.region)
        yield hourly("network", "Azure Bastion, Standard", 1, "host", price)
    if addresses := nat + bastion:
        price = prices.item("public-address-hour", spec.region)
        yield hourly("network", "public IPv4 addresses", addresses, "address", price)
    private = spec.cloud == "azure" and spec.storage.objects.existing is None
    endpoints = STORAGE_ENDPOINTS if private else len(services_of(spec))
    if endpoints:
        price = prices.item("endpoint-hour", spec.region)
        name = "private endpoints" if spec.cloud == "azure" else "interface endpoints"
        yield hourly("network", name, endpoints, "endpoint", price, "traffic through them is charged per GB besides")
