"""The address plan: which subnets a network is cut into, and whether what must live there fits.

Nodes get the lower half of the network, whatever their number, so that a growing cluster never renumbers. Everything
else lies at fixed places of the upper half; what is between stays free for later roles. Both clouds keep five
addresses of every subnet.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from planning.facts.fabric import Interface
from planning.facts.storage import Lustre
from planning.spec import DEFAULT_CIDR, AwsSpec, AzureSpec

KEPT_BY_CLOUD = 5
PUBLIC_PREFIX = 28
"""AWS: the subnet that holds the NAT gateway alone; the smallest that EC2 takes."""
ENDPOINTS_PREFIX = 28
BASTION_PREFIX = 26
"""Azure Bastion takes nothing smaller. Source: Azure Bastion configuration settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPlan:
    cidr: IPv4Network
    nodes: IPv4Network
    public: IPv4Network | None
    """AWS: for NAT."""
    filesystem: IPv4Network | None
    """Azure: for Managed Lustre alone. On AWS, FSx has its interfaces in the nodes' subnet."""
    endpoints: IPv4Network | None
    """Azure: for the private endpoints of the storage account."""
    per_node: int
    """Addresses that one node takes."""
    needed: int
    """Addresses that the nodes' subnet must give."""
    usable: int
    """Addresses that it has."""
    smallest_prefix: int
    """Prefix of the smallest network in which all of it fits."""

    @property
    def fits(self) -> bool:
        return self.cidr.prefixlen <= self.smallest_prefix


def address_plan(spec: AwsSpec | AzureSpec, interfaces: tuple[Interface, ...], lustre: Lustre | None) -> AddressPlan:
    cidr = spec.network.cidr or DEFAULT_CIDR
    per_node = sum(i.has_address for i in interfaces) or 1
    in_node_subnet = lustre.interfaces if lustre and spec.cloud == "aws" else 0
    needed = max(spec.nodes.count, spec.nodes.max_count or 0) * per_node + in_node_subnet
    roles: dict[str, IPv4Network | None] = {"public": None, "filesystem": None, "endpoints": None}
    if spec.cloud == "aws":
        upper_prefix = PUBLIC_PREFIX
        roles["public"] = _last(cidr, PUBLIC_PREFIX)
    else:
        filesystem_prefix = lustre.subnet_prefix if lustre else 32
        upper_prefix = _azure_upper_prefix(filesystem_prefix)
        roles["filesystem"] = _at(int(_upper(cidr).network_address), filesystem_prefix) if lustre else None
        roles["endpoints"] = _endpoints(cidr)
    nodes = _lower(cidr)
    return AddressPlan(
        cidr=cidr,
        nodes=nodes,
        per_node=per_node,
        needed=needed,
        usable=max(nodes.num_addresses - KEPT_BY_CLOUD, 0),
        smallest_prefix=min(prefix_for(needed), upper_prefix) - 1,
        **roles,
    )


def prefix_for(addresses: int) -> int:
    """Prefix of the smallest subnet that has so many usable addresses."""
    return min(28, 32 - (addresses + KEPT_BY_CLOUD - 1).bit_length())


def _azure_upper_prefix(filesystem_prefix: int) -> int:
    """Prefix of the smallest upper half that holds endpoints, a Bastion to come, and the filesystem's subnet."""
    if filesystem_prefix > ENDPOINTS_PREFIX:
        return ENDPOINTS_PREFIX
    for prefix in range(ENDPOINTS_PREFIX, 0, -1):
        half = 2 ** (32 - prefix)
        room = half - 2 ** (32 - ENDPOINTS_PREFIX) - (2 ** (32 - BASTION_PREFIX) if prefix < BASTION_PREFIX else 0)
        if room >= 2 ** (32 - filesystem_prefix):
            return prefix
    return 1


def _endpoints(cidr: IPv4Network) -> IPv4Network:
    """The /28 below the place of a Bastion, which is the network's last /26 where there is room for one."""
    bastion = 2 ** (32 - BASTION_PREFIX) if cidr.prefixlen + 1 < BASTION_PREFIX else 0
    size = 2 ** (32 - ENDPOINTS_PREFIX)
    return _at(max(int(cidr.broadcast_address) + 1 - bastion - size, int(cidr.network_address)), ENDPOINTS_PREFIX)


def _lower(cidr: IPv4Network) -> IPv4Network:
    return cidr if cidr.prefixlen == 32 else next(cidr.subnets(prefixlen_diff=1))


def _upper(cidr: IPv4Network) -> IPv4Network:
    return cidr if cidr.prefixlen == 32 else list(cidr.subnets(prefixlen_diff=1))[1]


def _last(cidr: IPv4Network, prefix: int) -> IPv4Network:
    return _at(int(cidr.broadcast_address), prefix)


def _at(address: int, prefix: int) -> IPv4Network:
    """The network of that prefix in which the address lies."""
    return IPv4Network((IPv4Address(address), prefix), strict=False)
