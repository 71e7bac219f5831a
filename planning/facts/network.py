"""The address plan: which subnets a network is cut into, and whether what must live there fits.

Nodes get the lower half of the network, whatever their number, so that a growing cluster never renumbers. Everything
else lies at fixed places of the upper half; what is between stays free for later roles. Both clouds keep five
addresses of every subnet.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from planning.azureids import id_to, resource_id
from planning.facts.fabric import Interface
from planning.facts.storage import Lustre
from planning.spec import DEFAULT_CIDR, AwsSpec, AzureExistingNetwork, AzureSpec

KEPT_BY_CLOUD = 5
PUBLIC_PREFIX = 28
"""AWS: the subnet that holds the NAT gateway alone; the smallest that EC2 takes."""
SESSION_SERVICES = ("ssm", "ssmmessages", "ec2messages")
"""What Session Manager's agent calls. Source: Systems Manager user guide, ec2messages and ssmmessages."""
RDMA_NETWORK = IPv4Network("172.16.0.0/16")
"""Of Azure's InfiniBand alone. Source: Azure documentation, setup-infiniband."""
ENDPOINTS_PREFIX = 28
BASTION_PREFIX = 26
"""Azure Bastion takes nothing smaller. Source: Azure Bastion configuration settings."""
STORAGE_ENDPOINTS = 2
"""Azure: private endpoints of a storage account that the stack makes, blob and dfs; an address each."""
SUBNET_FIELDS = ("subnet", "filesystem_subnet", "endpoint_subnet")
"""Azure: of network.existing, each the id of a subnet."""
_SUBNET = resource_id("Microsoft.Network", r"virtualNetworks/(?P<vnet>[\w.-]{1,64})/subnets/(?P<subnet>[\w.-]{1,80})")
"""Source: Azure resource naming rules, Microsoft.Network."""


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
    bastion: IPv4Network | None
    """Azure: for Bastion, where one is asked for."""
    services: tuple[str, ...]
    """AWS: what nodes without a way out reach by an interface endpoint, each with an address in their subnet."""
    per_node: int
    """Addresses that one node takes."""
    needed: int
    """Addresses that the nodes' subnet must give."""
    usable: int | None
    """Addresses that it has; None where it exists, so that only the cloud knows."""
    upper_prefix: int
    """Prefix of the smallest upper half that holds all but the nodes' subnet."""

    @property
    def smallest_prefix(self) -> int:
        """Prefix of the smallest network in which all of it fits."""
        return min(prefix_for(self.needed), self.upper_prefix) - 1

    @property
    def fits(self) -> bool:
        return self.usable is None or self.cidr.prefixlen <= self.smallest_prefix


def address_plan(spec: AwsSpec | AzureSpec, interfaces: tuple[Interface, ...], lustre: Lustre | None) -> AddressPlan:
    cidr = spec.network.cidr or DEFAULT_CIDR
    per_node = sum(i.has_address for i in interfaces) or 1
    services = services_of(spec)
    roles: dict[str, IPv4Network | None] = {"public": None, "filesystem": None, "endpoints": None, "bastion": None}
    if spec.cloud == "aws":
        upper_prefix = PUBLIC_PREFIX
        roles["public"] = _last(cidr, PUBLIC_PREFIX)
    else:
        upper_prefix = _azure_upper_prefix(lustre.subnet_prefix if lustre else None, bastion=spec.access.bastion)
        roles["filesystem"] = _at(int(_upper(cidr).network_address), lustre.subnet_prefix) if lustre else None
        roles["endpoints"] = _endpoints(cidr)
        roles["bastion"] = _last(cidr, BASTION_PREFIX) if spec.access.bastion else None
    nodes = _lower(cidr)
    return AddressPlan(
        cidr=cidr,
        nodes=nodes,
        services=services,
        per_node=per_node,
        needed=most_nodes(spec) * per_node + len(services) + beside_nodes(spec, lustre),
        usable=usable_in(nodes) if spec.network.existing is None else None,
        upper_prefix=upper_prefix,
        **roles,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingSubnet:
    """Azure: a subnet that exists, by names and ids."""

    id: str
    name: str
    vnet_id: str
    vnet: str
    group: str
    subscription: str


def existing_subnet(said: str) -> ExistingSubnet | None:
    """None where that is not the id of a subnet."""
    found = _SUBNET.fullmatch(said)
    if found is None:
        return None
    return ExistingSubnet(
        id=said,
        name=found["subnet"],
        vnet_id=id_to(found, "vnet"),
        vnet=found["vnet"],
        group=found["group"],
        subscription=found["subscription"],
    )


def subnets_said(given: AzureExistingNetwork) -> dict[str, str]:
    """What network.existing says of subnets, by field."""
    said = {field: getattr(given, field) for field in SUBNET_FIELDS}
    return {field: value for field, value in said.items() if value is not None}


def subscription_of(spec: AwsSpec | AzureSpec) -> str | None:
    """Azure: where the cluster is. Nodes are in the subscription of their subnet, whoever deploys; None: not told."""
    given = spec.network.existing
    subnet = existing_subnet(given.subnet) if isinstance(given, AzureExistingNetwork) else None
    return spec.account or (subnet.subscription if subnet else None)


def most_nodes(spec: AwsSpec | AzureSpec) -> int:
    """That the cluster can grow to by itself."""
    return max(spec.nodes.count, spec.nodes.max_count or 0)


def beside_nodes(spec: AwsSpec | AzureSpec, lustre: Lustre | None) -> int:
    """Addresses of others than nodes and interface endpoints in the nodes' subnet."""
    if spec.cloud == "aws":
        return lustre.interfaces if lustre else 0
    existing = spec.network.existing
    shared = isinstance(existing, AzureExistingNetwork) and existing.endpoint_subnet is None
    return STORAGE_ENDPOINTS if shared and spec.storage.objects.existing is None else 0


def services_of(spec: AwsSpec | AzureSpec) -> tuple[str, ...]:
    """The services whose interface endpoints a new VPC without a way out gets. S3 has a gateway, which is free."""
    if spec.cloud == "azure" or spec.network.egress == "nat" or spec.network.existing is not None:
        return ()
    # The EFA client of Lustre asks FSx for its filesystem.
    return (*SESSION_SERVICES, "fsx") if spec.storage.filesystem is not None else SESSION_SERVICES


def usable_in(network: IPv4Network) -> int:
    """Addresses of a subnet that its owner can use."""
    return max(network.num_addresses - KEPT_BY_CLOUD, 0)


def prefix_for(addresses: int) -> int:
    """Prefix of the smallest subnet that has so many usable addresses."""
    return min(28, 32 - (addresses + KEPT_BY_CLOUD - 1).bit_length())


def _azure_upper_prefix(filesystem_prefix: int | None, *, bastion: bool) -> int:
    """Prefix of the smallest upper half that holds endpoints, the filesystem's subnet, and Bastion or its place.

    A half of /25 or larger keeps that place for one to come; a smaller one has no room for it.
    """
    wanted = 2 ** (32 - ENDPOINTS_PREFIX) + (2 ** (32 - filesystem_prefix) if filesystem_prefix is not None else 0)
    for prefix in range(ENDPOINTS_PREFIX, 0, -1):
        kept = 2 ** (32 - BASTION_PREFIX) if bastion or prefix < BASTION_PREFIX else 0
        if 2 ** (32 - prefix) >= wanted + kept:
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
