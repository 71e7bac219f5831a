"""Rules about a new network: its addresses and its way out. One that exists: `existing_network`; ways in: `access`."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from planning.facts.derive import Facts
from planning.facts.network import (
    BASTION_PREFIX,
    ENDPOINTS_PREFIX,
    PUBLIC_PREFIX,
    RDMA_NETWORK,
    AddressPlan,
    most_nodes,
    usable_in,
)
from planning.rules.registry import AnySpec, Fault, rule

LARGEST_NETWORK = {"aws": 16, "azure": 8}
"""Prefix of the largest network. Source: VPC user guide, VPC CIDR blocks; Azure documentation, VNet FAQ."""
SHARED = IPv4Network("100.64.0.0/10")
"""Carrier-grade NAT (RFC 6598), which clusters use as if it were private."""
DOCKER_NETWORK = IPv4Network("172.17.0.0/16")
NO_NETWORKS = tuple(map(IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4")))
"""This host, loopback, link-local with the metadata services, multicast."""
PLATFORM_OF_AZURE = IPv4Network("168.63.129.16/32")
"""Where Azure's own name server and health probes are, on every network."""
FLOW_LOGS = "https://learn.microsoft.com/azure/network-watcher/vnet-flow-logs-overview"
SUBNETS = {
    "aws": "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",
    "azure": "https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq",
}
NETWORK_LIMITS = {
    "aws": "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html",
    "azure": "https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq",
}


@rule(
    "network-too-small",
    "error",
    reference=SUBNETS,
    waivable=False,
)
def network_too_small(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Nodes, filesystem, endpoints and NAT find their addresses; the clouds keep five of each subnet."""
    plan, largest = facts.network, LARGEST_NETWORK[spec.cloud]
    if spec.network.existing is not None:
        if plan.needed > usable_in(IPv4Network((0, largest))):
            message = f"{_nodes_need(spec, facts)}, and the largest subnet, a /{largest}, does not have them"
            yield Fault("network.existing", message, "take fewer nodes" + _one_address(plan))
        return
    if plan.fits:
        return
    lacking = []
    if plan.usable is not None and plan.needed > plan.usable:
        lacking.append(
            f"{_nodes_need(spec, facts)} in their subnet, the lower half of {plan.cidr}, which has {plan.usable}"
        )
    if plan.cidr.prefixlen + 1 > plan.upper_prefix:
        lacking.append(f"the upper half of {plan.cidr} does not hold {_others(spec, plan)}")
    if plan.smallest_prefix >= largest:
        fix = f"write a network of /{plan.smallest_prefix} or larger"
    else:
        fix = f"take fewer nodes: the largest network, a /{largest}, does not hold them"
    yield Fault("network.cidr", "; ".join(lacking), fix + _one_address(plan))


def _nodes_need(spec: AnySpec, facts: Facts) -> str:
    """Who needs how many addresses in the nodes' subnet."""
    plan, lustre = facts.network, facts.lustre
    each = f"{plan.per_node} address{'es' if plan.per_node > 1 else ''} each"
    takers = [f"{most_nodes(spec)} nodes with {each}"]
    on_aws = spec.cloud == "aws"
    if on_aws and lustre is not None and lustre.interfaces:
        takers.append(f"{lustre.interfaces} file servers")
    if endpoints := plan.needed - most_nodes(spec) * plan.per_node - (lustre.interfaces if on_aws and lustre else 0):
        takers.append(f"{endpoints} endpoints")
    return f"{' and '.join(filter(None, (', '.join(takers[:-1]), takers[-1])))} need {plan.needed}"


def _others(spec: AnySpec, plan: AddressPlan) -> str:
    """What must find room in the upper half, with its sizes."""
    if spec.cloud == "aws":
        return f"the NAT gateway's subnet, a /{PUBLIC_PREFIX}"
    endpoints = f"the endpoints' subnet, a /{ENDPOINTS_PREFIX}"
    bastion = "Azure Bastion's subnet" if plan.bastion is not None else "the place kept for Azure Bastion"
    kept = f"{endpoints}, and {bastion}, a /{BASTION_PREFIX}"
    if plan.filesystem is None:
        return endpoints if plan.bastion is None else kept
    return f"the filesystem's subnet, a /{plan.filesystem.prefixlen}, beside {kept}"


def _one_address(plan: AddressPlan) -> str:
    return ", or nodes.interfaces: efa-only, which takes one address a node" if plan.per_node > 1 else ""


@rule("network-outside-limits", "error", reference=NETWORK_LIMITS, waivable=False)
def network_outside_limits(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The size of the network is one that the cloud takes."""
    largest = LARGEST_NETWORK[spec.cloud]
    if spec.network.cidr is not None and facts.network.cidr.prefixlen < largest:
        what = "VPC" if spec.cloud == "aws" else "VNet"
        smaller = IPv4Network((facts.network.cidr.network_address, largest))
        yield Fault(
            "network.cidr",
            f"{facts.network.cidr} is larger than a {what} may be, a /{largest}",
            f"write {smaller}",
        )


@rule(
    "network-not-for-hosts",
    "error",
    reference=NETWORK_LIMITS,
)
def network_not_for_hosts(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The network holds no addresses that mean something else everywhere."""
    cidr = facts.network.cidr
    kept = (*NO_NETWORKS, PLATFORM_OF_AZURE) if spec.cloud == "azure" else NO_NETWORKS
    if held := next((network for network in kept if cidr.overlaps(network)), None):
        message = (
            f"{cidr} holds addresses of {held}, which stands for the host itself, link-local services or multicast"
        )
        if held == PLATFORM_OF_AZURE:
            message = f"{cidr} holds {held.network_address}, which is Azure's own name server on every network"
        yield Fault("network.cidr", message, "write 10.40.0.0/16 or another private network")


@rule("network-public", "warning", reference="https://www.rfc-editor.org/rfc/rfc1918")
def network_public(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The network is private: hosts of the internet that have its addresses are out of reach."""
    cidr = facts.network.cidr
    if not (is_private(cidr) or cidr.is_multicast):
        message = f"{cidr} is not private, so the hosts of the internet that have these addresses can not be reached"
        yield Fault(
            "network.cidr", message, "write a part of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10"
        )


def is_private(network: IPv4Network) -> bool:
    return network.is_private or network.subnet_of(SHARED)


@rule("network-of-docker", "warning", reference="https://docs.docker.com/engine/network/drivers/bridge/")
def network_of_docker(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Docker, which the images carry, keeps 172.17.0.0/16 on each node for its bridge."""
    if spec.network.existing is None and facts.network.cidr.overlaps(DOCKER_NETWORK):
        message = (
            f"{facts.network.cidr} overlaps {DOCKER_NETWORK}, Docker's bridge on each node: what has such an address "
            "outside is not reached from it"
        )
        yield Fault("network.cidr", message, "write 10.40.0.0/16 or 172.20.0.0/16")


@rule(
    "network-of-infiniband",
    "error",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machines/setup-infiniband",
)
def network_of_infiniband(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """InfiniBand keeps 172.16.0.0/16 for itself."""
    if facts.fabric.kind == "infiniband" and facts.network.cidr.overlaps(RDMA_NETWORK):
        message = f"{facts.network.cidr} overlaps 172.16.0.0/16, which Azure's InfiniBand keeps for itself"
        yield Fault("network.cidr", message, "write 10.40.0.0/16 or 172.20.0.0/16")


@rule("no-way-out-at-first-boot", "warning", reference="docs/spec.md")
def no_way_out_at_first_boot(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Without a way out, first boot gets nothing that is neither in the image nor in a store reached privately."""
    if spec.network.egress != "none":
        return
    if spec.nodes.setup:
        message = "nodes without a way out get no packages and nothing else of the internet in their set-up"
        store = "bucket" if spec.cloud == "aws" else "container"
        yield Fault("nodes.setup", message, f"put what it installs into an image, or into the cluster's {store}")
    yield from _missed_on_aws(spec, facts) if spec.cloud == "aws" else _missed_on_azure()


def _missed_on_aws(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    if facts.lustre is None or (spec.nodes.image or "").startswith("ami-"):
        return
    over_efa = facts.lustre.efa
    missed = "a Lustre client that the image lacks" + (", nor the set-up that mounts it over EFA" if over_efa else "")
    fix = "write in nodes.image an AMI of yours with the client" + (", set up for EFA" if over_efa else "")
    yield Fault("storage.filesystem", f"nodes without a way out can not fetch {missed}", fix)


def _missed_on_azure() -> Iterator[Fault]:
    """HPC images have drivers and the Lustre client, and no blobfuse2."""
    message = (
        "nodes without a way out (no NAT gateway, nothing to the internet) get neither package updates nor blobfuse2, "
        "which HPC images lack; the storage account is reached by private endpoints all the same"
    )
    yield Fault("network.egress", message, "let nodes need nothing but their image and the container, or write nat")


@rule("flow-logs-on-azure", "error", cloud="azure", reference=FLOW_LOGS, waivable=False)
def flow_logs_on_azure(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Flow logs of a VNet belong to the subscription's Network Watcher, which is no part of a cluster."""
    if spec.network.flow_logs:
        message = (
            "Azure keeps flow logs of a VNet as a part of the region's Network Watcher, in the group NetworkWatcherRG "
            "of the whole subscription, which may be missing and where a cluster's deployer has no business, and "
            "writes them to a further storage account, since the cluster's is closed to all but its private endpoints"
        )
        fix = (
            "write false, and have whoever owns the Network Watcher run `az network watcher flow-log create` for the "
            f"VNet {spec.name}-vnet, or assign Azure's policies that log every VNet"
        )
        yield Fault("network.flow_logs", message, fix)
