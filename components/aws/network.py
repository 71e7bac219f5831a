"""The VPC, its subnets and the way out; or the network that exists. Who may talk to whom: `security_groups`.

Endpoints: `endpoints`. Flow logs: `flow_logs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.endpoints import declare_interface_endpoints, declare_s3_endpoint
from components.aws.flow_logs import declare_flow_logs
from components.aws.security_groups import EVERYWHERE, WayOut, declare_security_groups
from components.aws.tags import named
from components.cluster import ground_options
from planning.existing import FoundAws, judge_aws, unreadable
from planning.findings import render
from planning.plan import ExistingNetwork, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInputs:
    """A network that is there: the nodes' private subnet, in the plan's zone, with a way out. It is left as it is."""

    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    availability_zone: pulumi.Input[str]
    """Name of the subnet's zone (not its id), as the subnet resource gives it."""
    security_groups: Sequence[pulumi.Input[str]] = ()
    """Further groups of the nodes, beside the cluster's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    availability_zone: pulumi.Input[str]
    node_groups: Sequence[pulumi.Input[str]]
    """Security groups of every interface of a node."""
    filesystem_group: aws.ec2.SecurityGroup | None
    rules: Sequence[pulumi.Resource]
    """Of the security groups: FSx looks at them when it is created."""
    routes: Sequence[pulumi.Resource]
    """The nodes' ways out, which their first boot needs."""


def declare_network(plan: Plan, name: str, parent: pulumi.Resource, given: NetworkInputs | None) -> Network:
    """`given` is a network of the same program; without it the plan says whether one exists or is made."""
    _refuse_contradiction(plan, name, given)
    routes: list[pulumi.Resource] = []
    way_out = WayOut()
    if plan.existing_network is not None:
        used = _look_up(plan, plan.existing_network, parent)
    elif given is not None:
        used = given
    else:
        used, routes, way_out = _vpc(plan, name, parent)
    groups = declare_security_groups(plan, name, parent, used.vpc_id, way_out)
    if groups.endpoints is not None:
        routes += declare_interface_endpoints(plan, name, parent, used.vpc_id, used.subnet_id, groups.endpoints)
    if plan.flow_logs:
        # Of a network that is not the cluster's, the nodes' subnet only.
        own = plan.existing_network is None and given is None
        place = {"vpc_id": used.vpc_id} if own else {"subnet_id": used.subnet_id}
        declare_flow_logs(plan, name, parent, **place)
    return Network(
        vpc_id=used.vpc_id,
        subnet_id=used.subnet_id,
        availability_zone=used.availability_zone,
        node_groups=[groups.nodes.id, *used.security_groups],
        filesystem_group=groups.filesystem,
        rules=groups.rules,
        routes=routes,
    )


def _refuse_contradiction(plan: Plan, name: str, given: NetworkInputs | None) -> None:
    if given is None:
        return
    if plan.existing_network is not None:
        said, fix = "network.existing", "leave network.existing out of the spec, or give no `network`"
    elif plan.egress == "none":
        said, fix = "network.egress: none", "leave network.egress out: a given network has the ways out that it has"
    else:
        return
    raise pulumi.RunError(f"{name}: the plan has {said}, and the program gives a network of its own\n  fix: {fix}")


def _look_up(plan: Plan, existing: ExistingNetwork, parent: pulumi.Resource) -> NetworkInputs:
    """The network that exists, judged before anything is made in it: what it lacks would only show at a launch."""
    options = pulumi.InvokeOptions(parent=parent)
    try:
        subnet = aws.ec2.get_subnet(id=existing.subnet, vpc_id=existing.vpc, opts=options)
        vpc = aws.ec2.get_vpc(id=existing.vpc, opts=options)
    except Exception as error:
        finding = unreadable(plan, "subnet", f"{existing.subnet} of {existing.vpc}", error)
        raise pulumi.RunError(render([finding])) from error
    found = FoundAws(
        zone=subnet.availability_zone_id,
        cidr=subnet.cidr_block,
        gives_public_addresses=subnet.map_public_ip_on_launch,
        resolves_names=vpc.enable_dns_support,
        gives_names=vpc.enable_dns_hostnames,
    )
    if findings := judge_aws(plan, existing, found):
        raise pulumi.RunError(render(findings))
    return NetworkInputs(
        vpc_id=existing.vpc,
        subnet_id=existing.subnet,
        availability_zone=subnet.availability_zone,
        security_groups=existing.security_groups,
    )


def _vpc(plan: Plan, name: str, parent: pulumi.Resource) -> tuple[NetworkInputs, list[pulumi.Resource], WayOut]:
    """A VPC with a private subnet for the nodes, and their way out: NAT, or nothing but endpoints."""
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
    nat = _nat(plan, name, parent, vpc) if plan.egress == "nat" else None
    table, way = _routes(plan, name, "nodes", vpc, nodes, parent, {"nat_gateway_id": nat.id} if nat else None)
    s3 = declare_s3_endpoint(plan, name, parent, vpc.id, table.id)
    inputs = NetworkInputs(vpc_id=vpc.id, subnet_id=nodes.id, availability_zone=nodes.availability_zone)
    return inputs, [way, s3], WayOut(s3_only=None if nat else s3)


def _nat(plan: Plan, name: str, parent: pulumi.Resource, vpc: aws.ec2.Vpc) -> aws.ec2.NatGateway:
    """The gateway, alone in a public subnet."""
    child = pulumi.ResourceOptions(parent=parent)
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
    _, way = _routes(plan, name, "public", vpc, public, parent, {"gateway_id": gateway.id})
    address = aws.ec2.Eip(f"{name}-nat", domain="vpc", tags=named(plan, "nat"), opts=child)
    return aws.ec2.NatGateway(
        f"{name}-nat",
        allocation_id=address.id,
        subnet_id=public.id,
        tags=named(plan, "nat"),
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[way])),
    )


def _routes(
    plan: Plan,
    name: str,
    role: str,
    vpc: aws.ec2.Vpc,
    subnet: aws.ec2.Subnet,
    parent: pulumi.Resource,
    default: dict[str, pulumi.Input[str]] | None,
) -> tuple[aws.ec2.RouteTable, aws.ec2.RouteTableAssociation]:
    """A route table of one subnet, where `default` is the target of its default route, if it has one.

    Returns the association, too, after which the route holds.
    """
    child = pulumi.ResourceOptions(parent=parent)
    table = aws.ec2.RouteTable(f"{name}-{role}", vpc_id=vpc.id, tags=named(plan, role), opts=child)
    routes = []
    if default is not None:
        destination = {"destination_cidr_block": EVERYWHERE, **default}
        routes.append(aws.ec2.Route(f"{name}-{role}-default", route_table_id=table.id, **destination, opts=child))
    association = aws.ec2.RouteTableAssociation(
        f"{name}-{role}",
        route_table_id=table.id,
        subnet_id=subnet.id,
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=routes)),
    )
    return table, association
