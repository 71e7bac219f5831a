"""The VNet, its subnets and the way out; or the network that exists. Who may talk to whom: `security_groups`.

Endpoints: `endpoints`. Bastion: `bastion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import network as azure

from components.azure.bastion import declare_bastion
from components.azure.group import Group
from components.azure.security_groups import filesystem_rules, node_rules
from components.cluster import ground_options
from components.told import warn
from planning.existing import FoundAzure, FoundSubnet, judge_azure, unreadable
from planning.facts.network import ExistingSubnet
from planning.findings import has_errors, render
from planning.plan import ExistingNetwork, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInputs:
    """A network that the caller's program has: subnets by role, all of one VNet with a way out. It is left as it is."""

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
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, given: NetworkInputs | None
) -> Network:
    """`given` is a network of the same program; without it the plan says whether one exists or is made."""
    _refuse_contradiction(plan, name, given)
    ready: list[pulumi.Resource] = []
    if plan.existing_network is not None:
        used = _look_up(plan, plan.existing_network, parent)
    elif given is not None:
        used = given
    else:
        used, ready = _vnet(plan, name, parent, group)
    return Network(
        vnet_id=used.vnet_id,
        subnet_id=used.subnet_id,
        filesystem_subnet_id=used.filesystem_subnet_id,
        endpoint_subnet_id=used.endpoint_subnet_id or used.subnet_id,
        ready=ready,
    )


def _refuse_contradiction(plan: Plan, name: str, given: NetworkInputs | None) -> None:
    if given is None:
        return
    # A filesystem that exists has its subnet already.
    takes_subnet = plan.filesystem is not None and plan.filesystem.existing is None
    if takes_subnet and given.filesystem_subnet_id is None:
        raise pulumi.RunError(
            f"{name}: network.filesystem_subnet_id is missing: the plan has a filesystem, and Azure Managed Lustre "
            "takes a subnet of its own. Give that subnet's id, or a plan without storage.filesystem."
        )
    contradictions = {
        "network.existing": (plan.existing_network, "leave it out of the spec, or give no `network`"),
        "network.egress: none": (plan.egress == "none", "leave it out: a given network has the ways out that it has"),
        "access.bastion": (plan.access.bastion, "leave it out, and declare a Bastion beside the given network"),
        "access.ssh_from": (
            plan.access.ssh_from,
            "leave it out: the given subnet's security group lets in whom it does",
        ),
    }
    for said, (is_so, fix) in contradictions.items():
        if is_so:
            text = f"{name}: the plan has {said}, and the program gives a network of its own"
            raise pulumi.RunError(f"{text}\n  fix: {fix}")


def _look_up(plan: Plan, existing: ExistingNetwork, parent: pulumi.Resource) -> NetworkInputs:
    """The network that exists, judged before anything is made in it: what it lacks would only show at a launch."""
    findings = judge_azure(plan, existing, _found(plan, existing, parent))
    if has_errors(findings):
        raise pulumi.RunError(render(findings))
    if findings:
        warn(findings, resource=parent)
    ids = {field: subnet.id for field, subnet in existing.subnets.items()}
    return NetworkInputs(
        vnet_id=existing.vpc,
        subnet_id=existing.subnet,
        filesystem_subnet_id=ids.get("filesystem_subnet"),
        endpoint_subnet_id=ids.get("endpoint_subnet"),
    )


def _found(plan: Plan, existing: ExistingNetwork, parent: pulumi.Resource) -> FoundAzure:
    nodes = existing.subnets["subnet"]
    try:
        vnet = azure.get_virtual_network(
            resource_group_name=nodes.group,
            virtual_network_name=nodes.vnet,
            opts=pulumi.InvokeOptions(parent=parent),
        )
    except Exception as error:
        raise pulumi.RunError(render([unreadable(plan, "subnet", f"the VNet {nodes.vnet}", error)])) from error
    peerings = [peering.remote_address_space for peering in vnet.virtual_network_peerings or []]
    used = dict(existing.subnets)
    if plan.network.filesystem is None:
        used.pop("filesystem_subnet", None)
    return FoundAzure(
        vnet_id=vnet.id or "",
        region=vnet.location or "",
        address_space=_prefixes(vnet.address_space),
        peered=[prefix for space in peerings for prefix in _prefixes(space)],
        name_servers=list((vnet.dhcp_options and vnet.dhcp_options.dns_servers) or []),
        subnets={field: _found_subnet(plan, field, subnet, parent) for field, subnet in used.items()},
    )


def _prefixes(space: azure.outputs.AddressSpaceResponse | None) -> list[str]:
    return list(space.address_prefixes or []) if space is not None else []


def _found_subnet(plan: Plan, field: str, said: ExistingSubnet, parent: pulumi.Resource) -> FoundSubnet:
    try:
        subnet = azure.get_subnet(
            resource_group_name=said.group,
            virtual_network_name=said.vnet,
            subnet_name=said.name,
            opts=pulumi.InvokeOptions(parent=parent),
        )
    except Exception as error:
        raise pulumi.RunError(render([unreadable(plan, field, said.name, error)])) from error
    single = [subnet.address_prefix] if subnet.address_prefix else []
    return FoundSubnet(
        prefixes=list(subnet.address_prefixes or single),
        delegated_to=[d.service_name or d.name or "a service" for d in subnet.delegations or []],
        way_out=bool(subnet.nat_gateway or subnet.route_table) or subnet.default_outbound_access is not False,
    )


def _vnet(plan: Plan, name: str, parent: pulumi.Resource, group: Group) -> tuple[NetworkInputs, list[pulumi.Resource]]:
    """A VNet with subnets by role, and the nodes' way out: NAT, or nothing.

    Azure refuses two subnet changes of one VNet at a time, so that each waits for the one before.
    """
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
        # Of the endpoints' subnet, too, through which a retained filesystem goes on reading and writing objects.
        opts=ground_options(plan, parent),
    )
    nat = _nat(plan, name, parent, common) if plan.egress == "nat" else None
    nodes = azure.Subnet(
        f"{name}-nodes",
        subnet_name="nodes",
        resource_group_name=group.name,
        virtual_network_name=vnet.name,
        address_prefix=str(plan.network.nodes),
        default_outbound_access=False,
        nat_gateway={"id": nat.id} if nat else None,
        network_security_group={"id": nodes_rules.id},
        opts=pulumi.ResourceOptions(parent=parent),
    )
    endpoints = azure.Subnet(
        f"{name}-endpoints",
        subnet_name="endpoints",
        resource_group_name=group.name,
        virtual_network_name=vnet.name,
        address_prefix=str(plan.network.endpoints),
        default_outbound_access=False,
        network_security_group={"id": nodes_rules.id},
        opts=ground_options(plan, parent, depends_on=[nodes]),
    )
    made: list[pulumi.Resource] = [nodes, endpoints]
    filesystem = None
    if plan.network.filesystem is not None:
        filesystem = _filesystem_subnet(plan, name, parent, group, vnet, common, after=endpoints)
        made.append(filesystem)
    if plan.network.bastion is not None:
        made.append(declare_bastion(plan, name, parent, common, vnet, after=made[-1]))
    inputs = NetworkInputs(
        vnet_id=vnet.id,
        subnet_id=nodes.id,
        endpoint_subnet_id=endpoints.id,
        filesystem_subnet_id=filesystem.id if filesystem else None,
    )
    return inputs, made


def _nat(plan: Plan, name: str, parent: pulumi.Resource, common: dict[str, Any]) -> azure.NatGateway:
    """The nodes' only way out: none of them has a public address, and default outbound access is retired."""
    # In another zone they are others, made before the subnet lets go of the old ones: so Azure's names are left open.
    moved = pulumi.ResourceOptions(parent=parent, replace_on_changes=["zones"])
    zones = [plan.zone] if plan.zone else None
    address = azure.PublicIPAddress(
        f"{name}-nat",
        public_ip_allocation_method="Static",
        sku={"name": "Standard"},
        zones=zones,
        **common,
        opts=moved,
    )
    return azure.NatGateway(
        f"{name}-nat",
        public_ip_addresses=[{"id": address.id}],
        sku={"name": "Standard"},
        zones=zones,
        **common,
        opts=moved,
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
