"""What the cloud says of a network that exists, judged against the plan: only a deployment can look.

What can be said without looking: `planning.rules.existing_network`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from planning.facts.network import RDMA_NETWORK, STORAGE_ENDPOINTS, ExistingSubnet, prefix_for, usable_in
from planning.findings import Finding
from planning.plan import ExistingNetwork, Plan

RULE = "existing-network"
AWS_PAGE, AZURE_PAGE = "docs/aws.md", "docs/azure.md"
MULTIPLE_INTERFACES = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html"
NAMES = "https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html"
INFINIBAND = "https://learn.microsoft.com/azure/virtual-machines/setup-infiniband"
DELEGATION = "https://learn.microsoft.com/azure/virtual-network/subnet-delegation-overview"
LUSTRE_SUBNET = "https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites"
PLACES = "https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq"
PRIVATE_NAMES = "https://learn.microsoft.com/azure/private-link/private-endpoint-dns-integration"
OUTBOUND = "https://learn.microsoft.com/azure/virtual-network/ip-services/default-outbound-access"


def unreadable(plan: Plan, field: str, what: str, error: Exception) -> Finding:
    """`what` was looked up for that field of network.existing, and the cloud refused with `error`."""
    if plan.cloud == "aws":
        where, page = plan.region, AWS_PAGE
        fix = f"write ids of one VPC in this region and account, which the deployer may read ({page})"
    else:
        where, page = "the subscription of this deployment", AZURE_PAGE
        fix = f"write ids of one VNet in {plan.region}, which the deployer may read"
    return _error(f"network.existing.{field}", f"{what} can not be read in {where}: {error}", fix, page)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAws:
    """AWS: a subnet, and the settings of its VPC."""

    zone: str
    """Id of its zone."""
    cidr: str
    gives_public_addresses: bool
    resolves_names: bool
    gives_names: bool


def judge_aws(plan: Plan, existing: ExistingNetwork, found: FoundAws) -> list[Finding]:
    return [*_of_subnet(plan, existing.subnet, found), *_of_vpc(plan, existing.vpc, found)]


def _of_subnet(plan: Plan, subnet: str, found: FoundAws) -> Iterator[Finding]:
    path = "network.existing.subnet"
    if found.zone != plan.zone:
        message = f"{subnet} is in zone {found.zone}, and the cluster in {plan.zone}: a fabric never crosses a zone"
        yield _error(path, message, f"write a subnet of {plan.zone}, or zone: {found.zone}", AWS_PAGE)
    if found.gives_public_addresses:
        several = len(plan.nodes.interfaces) > 1
        why = (
            f"EC2 gives none to {len(plan.nodes.interfaces)} network interfaces" if several else "no node may have one"
        )
        message = f"{subnet} gives public addresses on launch (mapPublicIpOnLaunch is true), and {why}"
        fix = "write a private subnet, whose way out is a NAT gateway or endpoints"
        yield _error(path, message, fix, MULTIPLE_INTERFACES)
    usable = usable_in(IPv4Network(found.cidr))
    # Not the free ones: at the next `up` the cluster's own nodes have them.
    if usable < plan.network.needed:
        message = f"{subnet}, {found.cidr}, has {usable} usable addresses, and the cluster needs {plan.network.needed}"
        fix = f"write a subnet of /{prefix_for(plan.network.needed)} or larger, or take fewer nodes"
        yield _error(path, message, fix, AWS_PAGE)


def _of_vpc(plan: Plan, vpc: str, found: FoundAws) -> Iterator[Finding]:
    path = "network.existing.vpc"
    if not found.resolves_names:
        message = f"{vpc} resolves no names (enableDnsSupport is false), so that nodes find no service of AWS"
        yield _error(path, message, "switch DNS resolution of the VPC on", NAMES)
    elif plan.filesystem is not None and not found.gives_names:
        message = f"{vpc} gives no DNS host names (enableDnsHostnames is false), by one of which Lustre is mounted"
        yield _error(path, message, "switch DNS host names of the VPC on", NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAzure:
    """Azure: subnets, and the settings of their VNet."""

    vnet_id: str
    region: str
    address_space: Sequence[str]
    peered: Sequence[str]
    """Address spaces of the VNets that it is peered with."""
    name_servers: Sequence[str]
    """Of the VNet's own; none: Azure's."""
    subnets: Mapping[str, FoundSubnet]
    """By field of network.existing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSubnet:
    """Azure: a subnet."""

    prefixes: Sequence[str]
    delegated_to: Sequence[str]
    way_out: bool
    """A NAT gateway, a route table, or Azure's own way out, of which it says nothing where that is the default."""


def judge_azure(plan: Plan, existing: ExistingNetwork, found: FoundAzure) -> list[Finding]:
    return [*_of_vnet(plan, existing.subnets["subnet"], found), *_of_subnets(plan, existing.subnets, found.subnets)]


def _of_vnet(plan: Plan, nodes: ExistingSubnet, found: FoundAzure) -> Iterator[Finding]:
    path, name = "network.existing.subnet", nodes.vnet
    if found.vnet_id.lower() != nodes.vnet_id.lower():
        # It is read in the deployment's subscription, whatever its id says.
        here = "the subscription of this deployment"
        message = f"{nodes.vnet_id} is not in {here}, where {found.vnet_id} was found instead"
        yield _error(path, message, "write a subnet of the cluster's subscription, or account: the subnet's", PLACES)
    if found.region.replace(" ", "").lower() != plan.region:
        message = f"the VNet {name} is in {found.region}, and the cluster in {plan.region}"
        yield _error(path, message, f"write a subnet of {plan.region}, or another region", PLACES)
    if found.name_servers and plan.objects.existing_container is None:
        servers = ", ".join(found.name_servers)
        message = f"the VNet {name} asks name servers of its own ({servers}), which do not know private endpoints"
        fix = (
            "have them forward blob.core.windows.net and dfs.core.windows.net to 168.63.129.16 from inside of the VNet"
        )
        yield Finding(path, RULE, "warning", message, fix, PRIVATE_NAMES)
    if plan.fabric.kind != "infiniband":
        return
    for whose, spaces in (("the VNet", found.address_space), ("a VNet peered with", found.peered)):
        for space in spaces:
            # IPv6 has no part in it.
            if ":" not in space and IPv4Network(space, strict=False).overlaps(RDMA_NETWORK):
                message = f"{whose} {name} has {space}, which overlaps {RDMA_NETWORK}: InfiniBand keeps that for itself"
                yield _error(path, message, "write a subnet of another VNet", INFINIBAND)


def _of_subnets(plan: Plan, said: Mapping[str, ExistingSubnet], found: Mapping[str, FoundSubnet]) -> Iterator[Finding]:
    for field, subnet in found.items():
        path, name = f"network.existing.{field}", said[field].name
        for service in subnet.delegated_to:
            message = f"{name} is delegated to {service}, which lets nothing else in"
            yield _error(path, message, "write a subnet without a delegation", DELEGATION)
        yield from _of_size(plan, field, name, subnet)
    if not found["subnet"].way_out:
        message = "the nodes' subnet has no NAT gateway and no route table, and default outbound access is off"
        fix = "give it a NAT gateway, unless another gateway announces a default route, or nodes need nothing"
        yield Finding("network.existing.subnet", RULE, "warning", message, fix, OUTBOUND)


def _of_size(plan: Plan, field: str, name: str, subnet: FoundSubnet) -> Iterator[Finding]:
    path = f"network.existing.{field}"
    blocks = [IPv4Network(prefix) for prefix in subnet.prefixes if ":" not in prefix]
    said = ", ".join(map(str, blocks)) or "without IPv4"
    servers = plan.network.filesystem
    if field == "filesystem_subnet":
        if servers is not None and min((block.prefixlen for block in blocks), default=32) > servers.prefixlen:
            message = f"{name}, {said}, is too small for the filesystem's servers, which take a /{servers.prefixlen}"
            yield _error(path, message, f"write a subnet of /{servers.prefixlen} or larger", LUSTRE_SUBNET)
        return
    of_nodes = field == "subnet"
    who, needed = ("the cluster needs", plan.network.needed) if of_nodes else ("endpoints need", STORAGE_ENDPOINTS)
    usable = sum(map(usable_in, blocks))
    # Not the free ones: at the next `up` the cluster's own nodes have them.
    if usable < needed:
        message = f"{name}, {said}, has {usable} usable addresses, and {who} {needed}"
        fix = f"write a subnet of /{prefix_for(needed)} or larger" + (", or take fewer nodes" if of_nodes else "")
        yield _error(path, message, fix, PLACES)


def _error(path: str, message: str, fix: str, reference: str) -> Finding:
    return Finding(path, RULE, "error", message, fix, reference)
