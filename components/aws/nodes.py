"""The nodes: where they stand, what holds their capacity, and what starts them. What one is like: `template`.

On demand, all nodes start or none: one targeted reservation of exactly the node count, made inside the placement
group, is granted whole or refused with nothing left to pay, and the Auto Scaling group launches only into it. Spot
capacity can not be reserved: there an instant fleet starts all or none. Reserved capacity and Capacity Blocks are
there already, with a place of their own. An elastic group takes what comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pulumi
import pulumi_aws as aws

from components.aws.advice import advice, what_ends
from components.aws.identity import Identity
from components.aws.network import Network
from components.aws.tags import named
from components.aws.template import declare_template, price
from components.hooks import Inputs, advising, announcing, short_of_nodes, whole_or_failed
from planning.plan import Plan

LINUX = "Linux/UNIX"
RESERVE_TIMEOUT = "10m"
"""The provider retries a refusal for lack of capacity; after this long it is told."""
START_TIMEOUT = "30m"
END_TIMEOUT = "30m"
"""Nodes with eight GPUs take minutes to end, and the provider waits for them."""
HEALTH_GRACE_SECONDS = 900
"""Status checks of eight-GPU nodes pass only minutes after they run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Capacity that is held for the nodes, and where it stands."""

    reservation_id: pulumi.Input[str] | None = None
    placement_group: pulumi.Input[str] | None = None
    """Name of the group."""
    nodes: pulumi.Input[int]
    """How many may be asked for now."""


def declare_nodes(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    network: Network,
    identity: Identity,
    first_boot: pulumi.Input[str],
) -> pulumi.Input[int]:
    """`first_boot` is the nodes' user data, encoded. Returns how many nodes are asked for now."""
    block = _block(plan, name, parent)
    if not plan.nodes.running:
        return 0
    held = _held(plan, name, parent, network, block)
    template = declare_template(
        plan,
        name,
        parent,
        network,
        identity,
        first_boot,
        reservation_id=held.reservation_id,
        placement_group=held.placement_group if plan.nodes.capacity.start == "fleet" else None,
    )
    opts = pulumi.ResourceOptions(
        parent=parent,
        depends_on=[*network.routes, *network.rules, *identity.granted],
        delete_before_replace=True,
        # Nodes of another type, bought in another way or in another place, are other nodes: in place, the old ones
        # would stay and be paid. No running node moves into a reservation.
        replacement_trigger=[
            plan.nodes.type,
            plan.nodes.capacity.purchase,
            held.placement_group or "",
            held.reservation_id or "",
        ],
        custom_timeouts=pulumi.CustomTimeouts(update=END_TIMEOUT, delete=END_TIMEOUT),
    )
    start = _fleet if plan.nodes.capacity.start == "fleet" else _group
    start(plan, name, parent, network, held, template, opts)
    return held.nodes


def _block(plan: Plan, name: str, parent: pulumi.Resource) -> aws.ec2.CapacityBlockReservation | None:
    """Buys a Capacity Block: paid at once and never given back, so that nothing of this program takes it away."""
    if plan.nodes.capacity.offering is None:
        return None
    return aws.ec2.CapacityBlockReservation(
        f"{name}-nodes",
        capacity_block_offering_id=plan.nodes.capacity.offering,
        instance_platform=LINUX,
        tags=named(plan, "nodes"),
        opts=pulumi.ResourceOptions(parent=parent, protect=True, retain_on_delete=True),
    )


def _held(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    network: Network,
    block: aws.ec2.CapacityBlockReservation | None,
) -> Held:
    capacity = plan.nodes.capacity
    if block is not None:
        return Held(reservation_id=block.id, nodes=block.start_date.apply(capacity.now_from))
    if capacity.reservation is not None:
        return Held(reservation_id=capacity.reservation, placement_group=capacity.placement_group, nodes=capacity.now)
    child = pulumi.ResourceOptions(parent=parent)
    group = None
    if plan.nodes.placed:
        group = aws.ec2.PlacementGroup(f"{name}-nodes", strategy="cluster", tags=named(plan, "nodes"), opts=child)
    placement_group = group.name if group else None
    if capacity.start != "reservation":
        return Held(placement_group=placement_group, nodes=capacity.now)
    reservation = _reservation(plan, name, child, network, group)
    return Held(reservation_id=reservation.id, placement_group=placement_group, nodes=capacity.now)


def _reservation(
    plan: Plan,
    name: str,
    child: pulumi.ResourceOptions,
    network: Network,
    group: aws.ec2.PlacementGroup | None,
) -> aws.ec2.CapacityReservation:
    return aws.ec2.CapacityReservation(
        f"{name}-nodes",
        availability_zone=network.availability_zone,
        instance_type=plan.nodes.type,
        instance_platform=LINUX,
        instance_count=plan.nodes.count,
        instance_match_criteria="targeted",
        end_date_type="unlimited",
        ebs_optimized=True,
        placement_group_arn=group.arn if group else None,
        tags=named(plan, "nodes"),
        opts=pulumi.ResourceOptions.merge(
            child,
            pulumi.ResourceOptions(
                # Made before the old one is given back, a new one finds no capacity left; outside its group neither.
                delete_before_replace=True,
                replace_on_changes=["placementGroupArn"],
                custom_timeouts=pulumi.CustomTimeouts(create=RESERVE_TIMEOUT),
                hooks=pulumi.ResourceHookBinding(on_error=[advising(f"{name}-reservation", partial(advice, plan))]),
            ),
        ),
    )


def _group(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    network: Network,
    held: Held,
    template: aws.ec2.LaunchTemplate,
    opts: pulumi.ResourceOptions,
) -> None:
    group = aws.autoscaling.Group(
        f"{name}-nodes",
        **_sizes(plan, held),
        vpc_zone_identifiers=[network.subnet_id],
        placement_group=held.placement_group,
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        health_check_type="EC2",
        health_check_grace_period=HEALTH_GRACE_SECONDS,
        # A dead node leaves before its successor starts: a reservation is full, and no other capacity is used.
        instance_maintenance_policy={"min_healthy_percentage": 0, "max_healthy_percentage": 100},
        tags=[
            aws.autoscaling.GroupTagArgs(key=key, value=value, propagate_at_launch=False)
            for key, value in named(plan, "nodes").items()
        ],
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                # In place, the running nodes would stay in the old subnet or placement group and hold it back.
                replace_on_changes=["placementGroup", "vpcZoneIdentifiers"],
                hooks=pulumi.ResourceHookBinding(
                    before_update=[announcing(f"{name}-group", partial(what_ends, plan))],
                    on_error=[advising(f"{name}-start", partial(advice, plan))],
                ),
            ),
        ),
    )
    _tell_missing(plan, parent, group, held)


def _tell_missing(plan: Plan, parent: pulumi.Resource, group: aws.autoscaling.Group, held: Held) -> None:
    """At every run: a group that could not start all its nodes fails its first run, and is a success to the next."""
    if pulumi.runtime.is_dry_run():
        return
    running = aws.ec2.get_instances_output(
        filters=group.name.apply(
            lambda it: [aws.ec2.GetInstancesFilterArgs(name="tag:aws:autoscaling:groupName", values=[it])]
        ),
        instance_state_names=["pending", "running"],
        opts=pulumi.InvokeOptions(parent=parent),
    )

    def tell(known: list[Any]) -> None:
        wanted, ids = known
        if len(ids) < wanted:
            pulumi.log.warn(
                f"{len(ids) or 'none'} of the {wanted} nodes run. EC2 Auto Scaling keeps trying; why it fails is told "
                f"by `aws autoscaling describe-scaling-activities --region {plan.region}`"
            )

    pulumi.Output.all(held.nodes, running.ids).apply(tell)


def _sizes(plan: Plan, held: Held) -> Mapping[str, Any]:
    """An elastic group says no wanted size, so that whoever scales it is not undone, and waits for no capacity."""
    capacity = plan.nodes.capacity
    if capacity.elastic:
        return {
            "min_size": held.nodes,
            "max_size": capacity.most,
            "protect_from_scale_in": True,
            "wait_for_capacity_timeout": "0",
        }
    return {
        "min_size": held.nodes,
        "max_size": capacity.most,
        "desired_capacity": held.nodes,
        "wait_for_capacity_timeout": START_TIMEOUT,
    }


def _fleet(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    network: Network,
    held: Held,
    template: aws.ec2.LaunchTemplate,
    opts: pulumi.ResourceOptions,
) -> None:
    """The version is $Latest, since an instant fleet launches once: another template is not to replace its nodes."""
    whole = whole_or_failed(f"{name}-fleet", plan.nodes.count, _started)
    override = aws.ec2.FleetLaunchTemplateConfigOverrideArgs(
        subnet_id=network.subnet_id, max_price=price(plan.nodes.capacity.max_price)
    )
    fleet = aws.ec2.Fleet(
        f"{name}-nodes",
        type="instant",
        launch_template_configs=[
            aws.ec2.FleetLaunchTemplateConfigArgs(
                launch_template_specification=aws.ec2.FleetLaunchTemplateConfigLaunchTemplateSpecificationArgs(
                    launch_template_id=template.id, version="$Latest"
                ),
                overrides=[override],
            )
        ],
        target_capacity_specification={
            "default_target_capacity_type": "spot",
            "total_target_capacity": plan.nodes.count,
        },
        spot_options={
            "allocation_strategy": "price-capacity-optimized",
            "instance_interruption_behavior": "terminate",
            "single_instance_type": True,
            "single_availability_zone": True,
            "min_target_capacity": plan.nodes.count,
        },
        terminate_instances=True,
        tags=named(plan, "nodes"),
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                # EC2 can not modify an instant fleet, and the provider would try.
                replace_on_changes=["targetCapacitySpecification", "launchTemplateConfigs"],
                hooks=pulumi.ResourceHookBinding(after_create=[whole]),
            ),
        ),
    )
    # Judged at every run: to the provider a fleet without nodes is a success, and later runs find nothing to do.
    pulumi.Output.all(fleet.urn, fleet.fulfilled_capacity).apply(partial(_judge_fleet, plan))


def _judge_fleet(plan: Plan, told: list[Any]) -> None:
    """An empty fleet fails the run, lest it goes on to end the nodes that the fleet was to take the place of. It never
    fails a preview, which could then show nothing any more."""
    urn, have = told[0], int(told[1] or 0)
    if have >= plan.nodes.count:
        return
    message = short_of_nodes(urn, have, plan.nodes.count)
    if not have and not pulumi.runtime.is_dry_run():
        raise pulumi.RunError(message)
    pulumi.log.warn(message)


def _started(outputs: Inputs) -> int:
    return sum(len(one.get("instanceIds") or ()) for one in outputs.get("fleetInstanceSets") or ())
