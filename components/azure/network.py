"""The VNet, its subnets, the way out, and the network security groups of nodes and filesystem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import network as azure

from components.azure.group import Group
from components.cluster import ground_options
from planning.plan import Plan

LUSTRE_PORTS = ("988", "1019-1023")
"""Source: Azure Managed Lustre prerequisites, network security group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInputs:
    """A network that the caller's program has: subnets by role, all of one VNet with a way out."""

    vnet_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    filesystem_subnet_id: pulumi.Input[str] | None = None
    """For Azure Managed Lustre alone; needed where the plan has a filesystem."""
    endpoint_subnet_id: pulumi.Input[str] | None = None
    """For private endpoints; absent: the nodes' subnet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    vnet_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    filesystem_subnet_id: pulumi.Input[str] | None
    endpoint_subnet_id: pulumi.Input[str]
    ready: Sequence[pulumi.Resource]
    """Subnets with their rules and way out: what must exist before endpoints are put into them and nodes boot."""


def declare_network(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, existing: NetworkInputs | None
) -> Network:
    ready: list[pulumi.Resource] = []
    if existing is None:
        existing, ready = _vnet(plan, name, parent, group)
    elif plan.filesystem is not None and existing.filesystem_subnet_id is None:
        raise pulumi.RunError(
            f"{name}: network.filesystem_subnet_id is missing: the plan has a filesystem, and Azure Managed Lustre "
            "takes a subnet of its own. Give that subnet's id, or a plan without storage.filesystem."
        )
    return Network(
        vnet_id=existing.vnet_id,
        subnet_id=existing.subnet_id,
        filesystem_subnet_id=existing.filesystem_subnet_id,
        endpoint_subnet_id=existing.endpoint_subnet_id or existing.subnet_id,
        ready=ready,
    )


def _vnet(plan: Plan, name: str, parent: pulumi.Resource, group: Group) -> tuple[NetworkInputs, list[pulumi.Resource]]:
    common: dict[str, Any] = {"resource_group_name": group.name, "location": plan.region, "tags": dict(plan.tags)}
    vnet = azure.VirtualNetwork(
        f"{name}-vnet",
        virtual_network_name=f"{plan.name}-vnet",
        address_space={"address_prefixes": [str(plan.network.cidr)]},
        **common,
        opts=ground_options(plan, parent),
    )
    nodes_rules = azure.NetworkSecurityGroup(
        f"{name}-nodes",
        network_security_group_name=f"{plan.name}-nodes",
        security_rules=node_rules(plan),
        **common,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    nat = _nat(plan, name, parent, common)
    nodes = azure.Subnet(
        f"{name}-nodes",
        subnet_name="nodes",
        resource_group_name=group.name,
        virtual_network_name=vnet.name,
        address_prefix=str(plan.network.nodes),
        default_outbound_access=False,
        nat_gateway={"id": nat.id},
        network_security_group={"id": nodes_rules.id},
        opts=pulumi.ResourceOptions(parent=parent),
    )
    # Azure refuses two subnet changes of one VNet at a time, so that each waits for the one before.
    endpoints = azure.Subnet(
        f"{name}-endpoints",
        subnet_name="endpoints",
        resource_group_name=group.name,
        virtual_network_name=vnet.name,
        address_prefix=str(plan.network.endpoints),
        default_outbound_access=False,
        network_security_group={"id": nodes_rules.id},
        opts=pulumi.ResourceOptions(parent=parent, depends_on=[nodes]),
    )
    filesystem = None
    if plan.network.filesystem is not None:
        filesystem = _filesystem_subnet(plan, name, parent, group, vnet, common, after=endpoints)
    inputs = NetworkInputs(
        vnet_id=vnet.id,
        subnet_id=nodes.id,
        endpoint_subnet_id=endpoints.id,
        filesystem_subnet_id=filesystem.id if filesystem else None,
    )
    return inputs, [nodes, endpoints, *([filesystem] if filesystem else [])]


def _nat(plan: Plan, name: str, parent: pulumi.Resource, common: dict[str, Any]) -> azure.NatGateway:
    """The nodes' only way out: none of them has a public address, and default outbound access is retired."""
    child = pulumi.ResourceOptions(parent=parent)
    zones = [plan.zone] if plan.zone else None
    address = azure.PublicIPAddress(
        f"{name}-nat",
        public_ip_address_name=f"{plan.name}-nat",
        public_ip_allocation_method="Static",
        sku={"name": "Standard"},
        zones=zones,
        **common,
        opts=child,
    )
    return azure.NatGateway(
        f"{name}-nat",
        nat_gateway_name=f"{plan.name}-nat",
        public_ip_addresses=[{"id": address.id}],
        sku={"name": "Standard"},
        zones=zones,
        **common,
        opts=child,
    )


def _filesystem_subnet(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    group: Group,
    vnet: azure.VirtualNetwork,
    common: dict[str, Any],
    after: pulumi.Resource,
) -> azure.Subnet:
    rules = azure.NetworkSecurityGroup(
        f"{name}-filesystem",
        network_security_group_name=f"{plan.name}-filesystem",
        security_rules=filesystem_rules(plan),
        **common,
        opts=ground_options(plan, parent),
    )
    return azure.Subnet(
        f"{name}-filesystem",
        subnet_name="filesystem",
        resource_group_name=group.name,
        virtual_network_name=vnet.name,
        address_prefix=str(plan.network.filesystem),
        network_security_group={"id": rules.id},
        opts=ground_options(plan, parent, depends_on=[after]),
    )


def node_rules(plan: Plan) -> list[azure.SecurityRuleArgs]:
    """Ways to the nodes: among themselves, SSH from the networks of the spec, and nothing from the internet.

    InfiniBand traffic does not pass network security groups.
    """
    cluster = str(plan.network.cidr)
    nodes = str(plan.network.nodes)
    return [
        _rule("cluster", 100, "Nodes, filesystem and endpoints among themselves", cluster, cluster),
        *(
            _rule(f"ssh-{index}", 200 + index, "SSH from a network of the spec", network, nodes, ["22"])
            for index, network in enumerate(plan.access.ssh_from)
        ),
        _rule("nothing-else", 4096, "No other way in", "*", "*", access="Deny"),
    ]


def filesystem_rules(plan: Plan) -> list[azure.SecurityRuleArgs]:
    """Ways of the filesystem: Lustre with the nodes and among its servers, both ways; out to Azure is the default."""
    own, nodes, ports = str(plan.network.filesystem), str(plan.network.nodes), list(LUSTRE_PORTS)
    return [
        _rule("lustre-from-nodes", 100, "Lustre from the nodes", nodes, own, ports),
        _rule("lustre-servers", 110, "Lustre among its servers", own, own, ports),
        _rule("no-internet", 4096, "Nothing from the internet", "Internet", "*", access="Deny"),
        _rule("lustre-to-nodes", 100, "Lustre back to the nodes", own, nodes, ports, direction="Outbound"),
        _rule("lustre-servers-out", 110, "Lustre among its servers", own, own, ports, direction="Outbound"),
    ]


def _rule(
    name: str,
    priority: int,
    description: str,
    source: str,
    destination: str,
    ports: list[str] | None = None,
    *,
    direction: str = "Inbound",
    access: str = "Allow",
) -> azure.SecurityRuleArgs:
    """A rule of a network security group; with `ports` it is for TCP, else for everything."""
    return azure.SecurityRuleArgs(
        name=name,
        priority=priority,
        direction=direction,
        access=access,
        protocol="Tcp" if ports else "*",
        source_address_prefix=source,
        source_port_range="*",
        destination_address_prefix=destination,
        destination_port_ranges=ports or ["*"],
        description=description,
    )
