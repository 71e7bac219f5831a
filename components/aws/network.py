"""The VPC, its subnets, the way out, and the security groups of nodes and filesystem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from components.cluster import ground_options
from planning.plan import Plan

EVERYWHERE = "0.0.0.0/0"
LUSTRE_PORTS = ((988, 988), (1018, 1023))
"""Source: FSx for Lustre user guide, file system access control with Amazon VPC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInputs:
    """A network that the caller's program has: the nodes' private subnet, in the plan's zone, with a way out."""

    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    availability_zone: pulumi.Input[str]
    """Name of the subnet's zone (not its id), as the subnet resource gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    availability_zone: pulumi.Input[str]
    nodes_group: aws.ec2.SecurityGroup
    filesystem_group: aws.ec2.SecurityGroup | None
    rules: Sequence[pulumi.Resource]
    """Of the security groups: FSx looks at them when it is created."""
    routes: Sequence[pulumi.Resource]
    """The nodes' ways out, which their first boot needs."""


def declare_network(plan: Plan, name: str, parent: pulumi.Resource, existing: NetworkInputs | None) -> Network:
    child = pulumi.ResourceOptions(parent=parent)
    routes: list[pulumi.Resource] = []
    if existing is None:
        existing, routes = _vpc(plan, name, parent, child)
    nodes_group = _group(plan, name, "nodes", "Nodes: everything among themselves, and the way out", existing, child)
    rules = _node_rules(plan, name, nodes_group, child)
    filesystem_group = None
    if plan.filesystem is not None:
        filesystem_group = _group(
            plan, name, "filesystem", "FSx for Lustre: reached by the nodes", existing, ground_options(plan, parent)
        )
        rules += _lustre_rules(plan, name, nodes_group, filesystem_group, parent)
    return Network(
        vpc_id=existing.vpc_id,
        subnet_id=existing.subnet_id,
        availability_zone=existing.availability_zone,
        nodes_group=nodes_group,
        filesystem_group=filesystem_group,
        rules=rules,
        routes=routes,
    )


def _vpc(
    plan: Plan, name: str, parent: pulumi.Resource, child: pulumi.ResourceOptions
) -> tuple[NetworkInputs, list[pulumi.Resource]]:
    """A VPC with a private subnet for the nodes and a public one that holds the NAT gateway alone."""
    vpc = aws.ec2.Vpc(
        f"{name}-vpc",
        cidr_block=str(plan.network.cidr),
        enable_dns_support=True,
        enable_dns_hostnames=True,
        tags=named(plan, "vpc"),
        opts=ground_options(plan, parent),
    )
    nodes = aws.ec2.Subnet(
        f"{name}-nodes",
        vpc_id=vpc.id,
        cidr_block=str(plan.network.nodes),
        availability_zone_id=plan.zone,
        map_public_ip_on_launch=False,
        tags=named(plan, "nodes"),
        # In another zone it keeps its addresses, which the old one must give back first.
        opts=ground_options(plan, parent, delete_before_replace=True),
    )
    public = aws.ec2.Subnet(
        f"{name}-public",
        vpc_id=vpc.id,
        cidr_block=str(plan.network.public),
        availability_zone_id=plan.zone,
        map_public_ip_on_launch=False,
        tags=named(plan, "public"),
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(delete_before_replace=True)),
    )
    gateway = aws.ec2.InternetGateway(f"{name}-internet", vpc_id=vpc.id, tags=named(plan, "internet"), opts=child)
    _, public_route = _routes(plan, name, "public", vpc, public, child, gateway_id=gateway.id)
    address = aws.ec2.Eip(f"{name}-nat", domain="vpc", tags=named(plan, "nat"), opts=child)
    nat = aws.ec2.NatGateway(
        f"{name}-nat",
        allocation_id=address.id,
        subnet_id=public.id,
        tags=named(plan, "nat"),
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[public_route])),
    )
    nodes_table, nodes_route = _routes(plan, name, "nodes", vpc, nodes, child, nat_gateway_id=nat.id)
    # Free, and it keeps checkpoint traffic off the NAT gateway, which charges by the GB.
    s3 = aws.ec2.VpcEndpoint(
        f"{name}-s3",
        vpc_id=vpc.id,
        service_name=f"com.amazonaws.{plan.region}.s3",
        vpc_endpoint_type="Gateway",
        route_table_ids=[nodes_table.id],
        tags=named(plan, "s3"),
        opts=child,
    )
    inputs = NetworkInputs(vpc_id=vpc.id, subnet_id=nodes.id, availability_zone=nodes.availability_zone)
    return inputs, [nodes_route, s3]


def _routes(
    plan: Plan,
    name: str,
    role: str,
    vpc: aws.ec2.Vpc,
    subnet: aws.ec2.Subnet,
    child: pulumi.ResourceOptions,
    gateway_id: pulumi.Input[str] | None = None,
    nat_gateway_id: pulumi.Input[str] | None = None,
) -> tuple[aws.ec2.RouteTable, aws.ec2.RouteTableAssociation]:
    """A route table of one subnet with its default route; returns the association, after which the route holds."""
    table = aws.ec2.RouteTable(f"{name}-{role}", vpc_id=vpc.id, tags=named(plan, role), opts=child)
    route = aws.ec2.Route(
        f"{name}-{role}-default",
        route_table_id=table.id,
        destination_cidr_block=EVERYWHERE,
        gateway_id=gateway_id,
        nat_gateway_id=nat_gateway_id,
        opts=child,
    )
    association = aws.ec2.RouteTableAssociation(
        f"{name}-{role}",
        route_table_id=table.id,
        subnet_id=subnet.id,
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[route])),
    )
    return table, association


def _group(
    plan: Plan, name: str, role: str, description: str, network: NetworkInputs, child: pulumi.ResourceOptions
) -> aws.ec2.SecurityGroup:
    """A group without inline rules, which would fight the rule resources. Its description can not change in place."""
    return aws.ec2.SecurityGroup(
        f"{name}-{role}", vpc_id=network.vpc_id, description=description, tags=named(plan, role), opts=child
    )


def _node_rules(
    plan: Plan, name: str, nodes: aws.ec2.SecurityGroup, child: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """EFA traffic is not IP: it needs the group to name itself in both directions, whatever else is open."""
    rules: list[pulumi.Resource] = [
        *_both_ways(plan, name, "nodes-fabric", nodes, nodes, "-1", None, "EFA and everything among the nodes", child),
        aws.vpc.SecurityGroupEgressRule(
            f"{name}-nodes-out",
            security_group_id=nodes.id,
            ip_protocol="-1",
            cidr_ipv4=EVERYWHERE,
            description="The way out, through NAT and endpoints",
            tags=named(plan, "nodes-out"),
            opts=child,
        ),
    ]
    for network in plan.access.ssh_from:
        role = f"ssh-{network.replace('.', '-').replace('/', '-')}"
        rules.append(
            aws.vpc.SecurityGroupIngressRule(
                f"{name}-nodes-{role}",
                security_group_id=nodes.id,
                ip_protocol="tcp",
                from_port=22,
                to_port=22,
                cidr_ipv4=network,
                description="SSH from a network of the spec",
                tags=named(plan, role),
                opts=child,
            )
        )
    return rules


def _lustre_rules(
    plan: Plan,
    name: str,
    nodes: aws.ec2.SecurityGroup,
    filesystem: aws.ec2.SecurityGroup,
    parent: pulumi.Resource,
) -> list[pulumi.Resource]:
    """Lustre among servers and between them and nodes, both ways, since servers call back; over EFA all traffic."""
    child = pulumi.ResourceOptions(parent=parent)
    over_efa = plan.filesystem is not None and plan.filesystem.efa
    traffic = [("", "-1", None)] if over_efa else [(f"-{ports[0]}", "tcp", ports) for ports in LUSTRE_PORTS]
    pairs = (
        # A filesystem that is left behind does not work without its servers' own rules.
        ("filesystem-self", filesystem, filesystem, ground_options(plan, parent)),
        ("filesystem-nodes", filesystem, nodes, child),
        ("nodes-filesystem", nodes, filesystem, child),
    )
    rules: list[pulumi.Resource] = []
    for role, own, other, opts in pairs:
        for suffix, protocol, ports in traffic:
            rules += _both_ways(plan, name, f"{role}{suffix}", own, other, protocol, ports, f"Lustre, {role}", opts)
    return rules


def _both_ways(
    plan: Plan,
    name: str,
    role: str,
    group: aws.ec2.SecurityGroup,
    other: aws.ec2.SecurityGroup,
    protocol: str,
    ports: tuple[int, int] | None,
    description: str,
    child: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Ingress from and egress to another group (or the group itself), as standalone rules."""
    rules: list[pulumi.Resource] = []
    for direction, rule in (("in", aws.vpc.SecurityGroupIngressRule), ("out", aws.vpc.SecurityGroupEgressRule)):
        rules.append(
            rule(
                f"{name}-{role}-{direction}",
                security_group_id=group.id,
                referenced_security_group_id=other.id,
                ip_protocol=protocol,
                from_port=ports and ports[0],
                to_port=ports and ports[1],
                description=description,
                tags=named(plan, f"{role}-{direction}"),
                opts=child,
            )
        )
    return rules
