"""The nodes: placement group, held capacity, launch template with every EFA interface, and the group that starts them.

All nodes start or none: one targeted reservation of exactly the node count, made inside the placement group, is
granted whole or refused with nothing left to pay, and the Auto Scaling group launches only into it.
"""

from __future__ import annotations

import hashlib

import pulumi
import pulumi_aws as aws

from components.aws.identity import Identity
from components.aws.network import Network
from components.aws.tags import named
from planning.facts.fabric import Interface
from planning.plan import Plan

ROOT_DEVICE = "/dev/sda1"
"""Of the Ubuntu images in the catalogue. Source: Canonical's and AWS's AMI block device mappings."""
RESERVE_TIMEOUT = "10m"
"""The provider retries a refusal for lack of capacity; after this long it is told."""
START_TIMEOUT = "30m"
HEALTH_GRACE_SECONDS = 900
"""Status checks of eight-GPU nodes pass only minutes after they run."""


def declare_nodes(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    network: Network,
    identity: Identity,
    first_boot: pulumi.Input[str],
) -> None:
    """`first_boot` is the nodes' user data, encoded."""
    child = pulumi.ResourceOptions(parent=parent)
    group = None
    if plan.nodes.placed:
        group = aws.ec2.PlacementGroup(f"{name}-nodes", strategy="cluster", tags=named(plan, "nodes"), opts=child)
    reservation = _reservation(plan, name, child, network, group)
    template = _template(plan, name, child, network, identity, reservation, first_boot)
    tags = [
        aws.autoscaling.GroupTagArgs(key=key, value=value, propagate_at_launch=False)
        for key, value in named(plan, "nodes").items()
    ]
    aws.autoscaling.Group(
        f"{name}-nodes",
        min_size=plan.nodes.count,
        max_size=plan.nodes.count,
        desired_capacity=plan.nodes.count,
        vpc_zone_identifiers=[network.subnet_id],
        placement_group=group.name if group else None,
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        health_check_type="EC2",
        health_check_grace_period=HEALTH_GRACE_SECONDS,
        # A dead node leaves before its successor starts: the reservation is full, and no other capacity is used.
        instance_maintenance_policy={"min_healthy_percentage": 0, "max_healthy_percentage": 100},
        wait_for_capacity_timeout=START_TIMEOUT,
        tags=tags,
        opts=pulumi.ResourceOptions.merge(
            child,
            pulumi.ResourceOptions(
                depends_on=[*network.routes, *network.rules, *identity.granted],
                # In place, the running nodes would stay in the old subnet or placement group and hold it back.
                replace_on_changes=["placementGroup", "vpcZoneIdentifiers"],
                delete_before_replace=True,
            ),
        ),
    )


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
        instance_platform="Linux/UNIX",
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
            ),
        ),
    )


def _template(
    plan: Plan,
    name: str,
    child: pulumi.ResourceOptions,
    network: Network,
    identity: Identity,
    reservation: aws.ec2.CapacityReservation,
    first_boot: pulumi.Input[str],
) -> aws.ec2.LaunchTemplate:
    image = plan.nodes.image.reference
    role, ignored = "nodes", []
    if plan.nodes.image.by_parameter:
        # Found once and then left alone, lest every `up` brings a newer one; another parameter is another template.
        role, ignored = f"nodes-{hashlib.sha256(image.encode()).hexdigest()[:6]}", ["imageId"]
        image = aws.ssm.get_parameter_output(name=image, opts=pulumi.InvokeOptions(parent=child.parent)).value
    return aws.ec2.LaunchTemplate(
        f"{name}-{role}",
        description=f"Nodes of the GPU cluster {plan.name}",
        update_default_version=True,
        instance_type=plan.nodes.type,
        image_id=image,
        ebs_optimized="true",
        iam_instance_profile={"arn": identity.profile.arn},
        key_name=_key_name(plan, name, child),
        metadata_options={"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 2},
        capacity_reservation_specification={"capacity_reservation_target": {"capacity_reservation_id": reservation.id}},
        network_interfaces=[_interface(i, network) for i in plan.nodes.interfaces],
        block_device_mappings=[
            {
                "device_name": ROOT_DEVICE,
                "ebs": {
                    "volume_size": plan.nodes.root_disk_gib,
                    "volume_type": "gp3",
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        user_data=first_boot,
        tag_specifications=[
            {"resource_type": kind, "tags": named(plan, "node")} for kind in ("instance", "volume", "network-interface")
        ],
        tags=named(plan, "nodes"),
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=ignored)),
    )


def _interface(interface: Interface, network: Network) -> aws.ec2.LaunchTemplateNetworkInterfaceArgs:
    """Security groups go on each interface; booleans of launch templates are text."""
    return aws.ec2.LaunchTemplateNetworkInterfaceArgs(
        network_card_index=interface.card,
        device_index=interface.device,
        interface_type=interface.kind,
        security_groups=[network.nodes_group.id],
        delete_on_termination="true",
    )


def _key_name(plan: Plan, name: str, child: pulumi.ResourceOptions) -> pulumi.Input[str] | None:
    if plan.access.ssh_public_key is None:
        return None
    key = aws.ec2.KeyPair(f"{name}-ssh", public_key=plan.access.ssh_public_key, tags=named(plan, "ssh"), opts=child)
    return key.key_name
