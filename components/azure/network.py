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
    """Subnets with their rules and way out: what must exist before nodes boot."""


def declare_network(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, existing: NetworkInputs | None
) -> Network:
    ready: list[pulumi.Resource] = []
    if existing is None:
        existing, ready = _vnet(plan, name, parent, group)
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
    return inputs, [nodes, endpoints]


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
    rules = [_inbound("cluster", 100, cluster, cluster, "*", ["*"], "Nodes, filesystem and endpoints among themselves")]
    rules += [
        _inbound(
            f"ssh-{index}",
            200 + index,
            network,
            str(plan.network.nodes),
            "Tcp",
            ["22"],
            "SSH from a network of the spec",
        )
        for index, network in enumerate(plan.access.ssh_from)
    ]
    rules.append(_inbound("nothing-else", 4096, "*", "*", "*", ["*"], "No other way in", access="Deny"))
    return rules


def filesystem_rules(plan: Plan) -> list[azure.SecurityRuleArgs]:
    """Ways to the filesystem: Lustre from the nodes and among its servers; its way out to Azure is the default."""
    own, nodes = str(plan.network.filesystem), str(plan.network.nodes)
    return [
        _inbound("lustre-nodes", 100, nodes, own, "Tcp", list(LUSTRE_PORTS), "Lustre from the nodes"),
        _inbound("lustre-servers", 110, own, own, "Tcp", list(LUSTRE_PORTS), "Lustre among its servers"),
        _inbound("no-internet", 4096, "Internet", "*", "*", ["*"], "Nothing from the internet", access="Deny"),
    ]


def _inbound(
    name: str,
    priority: int,
    source: str,
    destination: str,
    protocol: str,
    ports: list[str],
    description: str,
    access: str = "Allow",
) -> azure.SecurityRuleArgs:
    return azure.SecurityRuleArgs(
        name=name,
        priority=priority,
        direction="Inbound",
        access=access,
        protocol=protocol,
        source_address_prefix=source,
        source_port_range="*",
        destination_address_prefix=destination,
        destination_port_ranges=ports,
        description=description,
    )
