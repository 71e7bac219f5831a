"""EFA nodes stand together: in one zone, in one cluster placement group or one reservation, and where both are used,
in the reservation's own group. InfiniBand: `policies.rdma`; nodes that may go away: `policies.spot`; who may talk to
whom: `policies.fabric`.
"""

from __future__ import annotations

from collections.abc import Iterator

from policies import kinds
from policies.declare import Fault, Resource, Stack, stack_policy
from policies.launches import LAUNCHERS, Nodes, efa_nodes, launchers_of, split_over, subnets_of, zones_of
from policies.view import shown


@stack_policy(
    "efa-nodes-without-placement",
    kinds.INSTANCE,
    kinds.LAUNCH_TEMPLATE,
    area="placement",
    description="EFA nodes are launched into a cluster placement group, or into a targeted reservation or "
    "Capacity Block.",
    why="Without either, EC2 spreads the instances over the zone, and collective operations wait for the longest way.",
    fix="Set placement.groupName of the launch template to a placement group of strategy cluster, or name a "
    "reservation in capacityReservationSpecification.capacityReservationTarget (for a Capacity Block: only "
    "that).",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
)
def efa_nodes_without_placement(stack: Stack) -> Iterator[Fault]:
    for nodes in efa_nodes(stack):
        group = nodes.group()
        for user, path in group:
            yield from _not_cluster(stack, user, path)
        if group or nodes.at_most_one():
            continue
        path = "placement.groupName" if nodes.template.type == kinds.LAUNCH_TEMPLATE else "placementGroup"
        if not nodes.targets_reservation():
            yield nodes.template.fault(path, "is not set, and no reservation is targeted")
        for urn in nodes.template.made_from("capacityReservationSpecification", kinds.CAPACITY_RESERVATION):
            if not stack.resources[urn].has("placementGroupArn"):
                held = f"is not set, and the reservation {stack.resources[urn].name} is in no placement group either"
                yield nodes.template.fault(path, held, "Make both in one placement group of strategy cluster.")


def _not_cluster(stack: Stack, user: Resource, path: str) -> Iterator[Fault]:
    for urn in user.made_from(path.split(".")[0], kinds.PLACEMENT_GROUP):
        group = stack.resources[urn]
        if group.differs("strategy", "cluster"):
            strategy = shown(group.get("strategy"))
            yield group.fault("strategy", f"is {strategy}, and EFA nodes are launched into it", 'Set it to "cluster".')


@stack_policy(
    "efa-nodes-over-zones",
    kinds.LAUNCH_TEMPLATE,
    area="placement",
    description="EFA nodes are launched into one availability zone.",
    why="EFA traffic does not leave its zone and a cluster placement group cannot span two, so nodes in different "
    "zones are not one cluster: the launch fails, or the job talks over TCP.",
    fix="Name the subnet of one zone only; a second zone takes a second group of nodes.",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits",
)
def efa_nodes_over_zones(stack: Stack) -> Iterator[Fault]:
    for nodes in efa_nodes(stack):
        if nodes.template.type != kinds.LAUNCH_TEMPLATE or nodes.at_most_one():
            continue
        for launcher in nodes.launchers:
            if launcher.type == kinds.FLEET and _keeps_to_one_zone(launcher):
                continue
            path = LAUNCHERS[launcher.type].subnets.replace("[]", "")
            zones = split_over(*subnets_of(stack, launcher))
            if not zones and launcher.type == kinds.AUTO_SCALING_GROUP and not launcher.has(path):
                path = "availabilityZones"
                named = sorted(str(v.value) for v in launcher.each(f"{path}[]"))
                zones = named if len(named) > 1 else []
            if zones:
                yield launcher.fault(path, f"lie in {len(zones)} zones ({', '.join(zones)}), and its nodes carry EFA")
        yield from _shared_over_zones(stack, nodes)


def _shared_over_zones(stack: Stack, nodes: Nodes) -> Iterator[Fault]:
    """Launchers, each in one zone, that share the placement group of their template."""
    subnets = {
        subnet.urn: subnet
        for count, found in (subnets_of(stack, launcher) for launcher in nodes.launchers)
        for subnet in found
        if count == len(found) == 1
    }
    zones = sorted(set(zones_of(list(subnets.values())))) if len(subnets) > 1 else []
    shared = [path for user, path in nodes.group() if user is nodes.template]
    if shared and len(zones) > 1:
        found = f"is one group for launchers in {len(zones)} zones ({', '.join(zones)})"
        yield nodes.template.fault(shared[0], found)


def _keeps_to_one_zone(fleet: Resource) -> bool:
    """An instant fleet may be offered several zones and told to take all of its nodes in one of them."""
    return any(fleet.true(f"{kind}.singleAvailabilityZone") for kind in ("spotOptions", "onDemandOptions"))


@stack_policy(
    "reservation-and-placement-apart",
    kinds.INSTANCE,
    kinds.LAUNCH_TEMPLATE,
    area="placement",
    description="Nodes that use reserved capacity are launched into the placement group of the reservation, and into "
    "none with a Capacity Block.",
    why="Capacity outside the placement group is not used: EC2 answers InsufficientInstanceCapacity while the reserved "
    "instances are paid for and stand idle.",
    fix="Make the reservation with placementGroupArn of the same placement group; for a Capacity Block, whose "
    "instances are placed together already, leave the placement group out.",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
)
def reservation_and_placement_apart(stack: Stack) -> Iterator[Fault]:
    for template in stack.of(kinds.INSTANCE, kinds.LAUNCH_TEMPLATE):
        nodes = Nodes(template, launchers_of(stack, template), [])
        for user, path in nodes.group():
            if _uses_capacity_block(nodes):
                found = f"is set, and {template.name} launches into a Capacity Block"
                yield user.fault(path, found, "Leave it out: a Capacity Block takes no placement group.")
                continue
            for urn in template.made_from("capacityReservationSpecification", kinds.CAPACITY_RESERVATION):
                yield from _apart(stack.resources[urn], user, path)


def _uses_capacity_block(nodes: Nodes) -> bool:
    template = nodes.template
    return (
        template.get("instanceMarketOptions.marketType") == "capacity-block"
        or bool(template.made_from("capacityReservationSpecification", kinds.CAPACITY_BLOCK))
        or any(r.get("capacityType") == "CAPACITY_BLOCK" for r in nodes.launchers if r.type == kinds.EKS_NODE_GROUP)
    )


def _apart(reservation: Resource, user: Resource, path: str) -> Iterator[Fault]:
    wanted = user.made_from(path.split(".")[0], kinds.PLACEMENT_GROUP)
    if not reservation.has("placementGroupArn"):
        yield reservation.fault("placementGroupArn", f"is not set, and {path} of {user.name} is")
    elif wanted:
        own = reservation.made_from("placementGroupArn", kinds.PLACEMENT_GROUP)
        if own and not set(own) & set(wanted):
            yield reservation.fault("placementGroupArn", f"is another group than {path} of {user.name}")
