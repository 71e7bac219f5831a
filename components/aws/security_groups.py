"""Who may talk to whom: the security groups of nodes, filesystem and endpoints, each rule a resource with a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from components.cluster import ground_options
from planning.plan import Plan

EVERYWHERE = "0.0.0.0/0"
LUSTRE_PORTS = ((988, 988), (1018, 1023))
"""Source: FSx for Lustre user guide, file system access control with Amazon VPC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """What nodes may reach beyond the cluster: everything, or S3 through this gateway alone."""

    s3_only: aws.ec2.VpcEndpoint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroups:
    nodes: aws.ec2.SecurityGroup
    filesystem: aws.ec2.SecurityGroup | None
    endpoints: aws.ec2.SecurityGroup | None
    rules: Sequence[pulumi.Resource]


@dataclass(frozen=True, slots=True)
class _Traffic:
    protocol: str
    ports: tuple[int, int] | None = None


ALL = _Traffic("-1")
HTTPS = _Traffic("tcp", (443, 443))
SSH = _Traffic("tcp", (22, 22))


def declare_security_groups(
    plan: Plan, name: str, parent: pulumi.Resource, vpc_id: pulumi.Input[str], way_out: WayOut
) -> SecurityGroups:
    child = pulumi.ResourceOptions(parent=parent)
    nodes = _group(plan, name, "nodes", "Nodes: everything among themselves, and the way out", vpc_id, child)
    endpoints, filesystem = None, None
    rules = _node_rules(plan, name, nodes, way_out, child)
    if plan.network.services:
        endpoints = _group(plan, name, "endpoints", "AWS services: reached by the nodes alone", vpc_id, child)
        of_nodes, of_endpoints = ({"referenced_security_group_id": g.id} for g in (nodes, endpoints))
        rules += [
            _egress(plan, name, "nodes-endpoints-out", nodes, HTTPS, "AWS services", child, of_endpoints),
            _ingress(plan, name, "endpoints-nodes-in", endpoints, HTTPS, "Requests of the nodes", child, of_nodes),
        ]
    # One that exists has its own group, which is not changed.
    if plan.filesystem is not None and plan.filesystem.existing is None:
        ground = ground_options(plan, parent)
        filesystem = _group(plan, name, "filesystem", "FSx for Lustre: reached by the nodes", vpc_id, ground)
        rules += _lustre_rules(plan, name, nodes, filesystem, parent)
    return SecurityGroups(nodes=nodes, filesystem=filesystem, endpoints=endpoints, rules=rules)


def _group(
    plan: Plan, name: str, role: str, description: str, vpc_id: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> aws.ec2.SecurityGroup:
    """A group without inline rules, which would fight the rule resources. Its description can not change in place."""
    return aws.ec2.SecurityGroup(
        f"{name}-{role}", vpc_id=vpc_id, description=description, tags=named(plan, role), opts=opts
    )


def _node_rules(
    plan: Plan, name: str, nodes: aws.ec2.SecurityGroup, way_out: WayOut, child: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """EFA traffic is not IP: it needs the group to name itself in both directions, whatever else is open."""
    rules = _both_ways(plan, name, "nodes-fabric", nodes, nodes, ALL, "EFA and everything among the nodes", child)
    if way_out.s3_only is None:
        text = "The way out, through NAT and endpoints"
        rules.append(_egress(plan, name, "nodes-out", nodes, ALL, text, child, {"cidr_ipv4": EVERYWHERE}))
    else:
        text = "S3, through its gateway endpoint"
        s3 = {"prefix_list_id": way_out.s3_only.prefix_list_id}
        rules.append(_egress(plan, name, "nodes-s3-out", nodes, HTTPS, text, child, s3))
    for network in plan.access.ssh_from:
        role = f"nodes-ssh-{network.replace('.', '-').replace('/', '-')}"
        text = "SSH from a network of the spec"
        rules.append(_ingress(plan, name, role, nodes, SSH, text, child, {"cidr_ipv4": network}))
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
    kinds = [("", ALL)] if over_efa else [(f"-{ports[0]}", _Traffic("tcp", ports)) for ports in LUSTRE_PORTS]
    pairs = (
        # A filesystem that is left behind does not work without its servers' own rules.
        ("filesystem-self", filesystem, filesystem, ground_options(plan, parent)),
        ("filesystem-nodes", filesystem, nodes, child),
        ("nodes-filesystem", nodes, filesystem, child),
    )
    return [
        rule
        for role, own, other, opts in pairs
        for suffix, traffic in kinds
        for rule in _both_ways(plan, name, f"{role}{suffix}", own, other, traffic, f"Lustre, {role}", opts)
    ]


def _both_ways(
    plan: Plan,
    name: str,
    role: str,
    group: aws.ec2.SecurityGroup,
    other: aws.ec2.SecurityGroup,
    traffic: _Traffic,
    description: str,
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """From and to another group, or the group itself."""
    end = {"referenced_security_group_id": other.id}
    return [
        _ingress(plan, name, f"{role}-in", group, traffic, description, opts, end),
        _egress(plan, name, f"{role}-out", group, traffic, description, opts, end),
    ]


def _rule(
    kind: Callable[..., pulumi.Resource],
    plan: Plan,
    name: str,
    role: str,
    group: aws.ec2.SecurityGroup,
    traffic: _Traffic,
    description: str,
    opts: pulumi.ResourceOptions,
    end: Mapping[str, pulumi.Input[str]],
) -> pulumi.Resource:
    """One rule of a group. `end`: where its traffic comes from or goes to."""
    return kind(
        f"{name}-{role}",
        security_group_id=group.id,
        ip_protocol=traffic.protocol,
        from_port=traffic.ports and traffic.ports[0],
        to_port=traffic.ports and traffic.ports[1],
        description=description,
        tags=named(plan, role),
        **end,
        opts=opts,
    )


_ingress = partial(_rule, aws.vpc.SecurityGroupIngressRule)
_egress = partial(_rule, aws.vpc.SecurityGroupEgressRule)
