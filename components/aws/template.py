"""The nodes' launch template: one kind of node with every EFA interface. What starts them: `components.aws.nodes`."""

from __future__ import annotations

import hashlib
from functools import partial

import pulumi
import pulumi_aws as aws

from components.aws.advice import what_nodes_keep
from components.aws.identity import Identity
from components.aws.network import Network
from components.aws.tags import named
from components.hooks import announcing
from planning.facts.fabric import Interface
from planning.plan import Plan


def declare_template(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    network: Network,
    identity: Identity,
    first_boot: pulumi.Input[str],
    *,
    reservation_id: pulumi.Input[str] | None,
    placement_group: pulumi.Input[str] | None,
) -> aws.ec2.LaunchTemplate:
    """`first_boot` is the nodes' user data, encoded. `placement_group`: its name, where the template is to say it."""
    child = pulumi.ResourceOptions(parent=parent)
    image, role, ignored, aliases = plan.nodes.image.reference, "nodes", [], []
    if plan.nodes.image.asked.startswith("/"):
        looked_up = f"nodes-{hashlib.sha256(plan.nodes.image.asked.encode()).hexdigest()[:6]}"
        # Recorded, it is the same template: another one would replace a fleet.
        aliases = [pulumi.Alias(name=f"{name}-{looked_up}")]
        if plan.nodes.image.by_parameter:
            # Found once and left alone, lest every `up` brings a newer one; another parameter is another template.
            role, ignored, aliases = looked_up, ["imageId"], [pulumi.Alias(name=f"{name}-nodes")]
            image = aws.ssm.get_parameter_output(name=image, opts=pulumi.InvokeOptions(parent=parent)).value
    told = announcing(f"{name}-template", partial(what_nodes_keep, plan))
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
        instance_market_options=_market(plan),
        # EC2 refuses a preference beside a target (terraform-provider-aws#43881).
        capacity_reservation_specification=(
            {"capacity_reservation_target": {"capacity_reservation_id": reservation_id}} if reservation_id else None
        ),
        placement={"group_name": placement_group} if placement_group else None,
        network_interfaces=[_interface(i, network) for i in plan.nodes.interfaces],
        block_device_mappings=[
            {
                "device_name": plan.nodes.image.root_device,
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
        opts=pulumi.ResourceOptions.merge(
            child,
            pulumi.ResourceOptions(
                aliases=aliases, ignore_changes=ignored, hooks=pulumi.ResourceHookBinding(before_update=[told])
            ),
        ),
    )


def _market(plan: Plan) -> aws.ec2.LaunchTemplateInstanceMarketOptionsArgs | None:
    """How an Auto Scaling group buys. A fleet says it itself, and takes no template that does."""
    capacity = plan.nodes.capacity
    if capacity.purchase == "capacity-block":
        return aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")
    if capacity.purchase == "spot" and capacity.start == "group":
        return aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(
            market_type="spot",
            spot_options=aws.ec2.LaunchTemplateInstanceMarketOptionsSpotOptionsArgs(
                spot_instance_type="one-time",
                instance_interruption_behavior="terminate",
                max_price=price(capacity.max_price),
            ),
        )
    return None


def price(usd: float | None) -> str | None:
    """As the API takes it: text, without an exponent."""
    return None if usd is None else f"{usd:.6f}".rstrip("0").rstrip(".")


def _interface(interface: Interface, network: Network) -> aws.ec2.LaunchTemplateNetworkInterfaceArgs:
    """Security groups go on each interface; booleans of launch templates are text."""
    return aws.ec2.LaunchTemplateNetworkInterfaceArgs(
        network_card_index=interface.card,
        device_index=interface.device,
        interface_type=interface.kind,
        security_groups=network.node_groups,
        delete_on_termination="true",
    )


def _key_name(plan: Plan, name: str, child: pulumi.ResourceOptions) -> pulumi.Input[str] | None:
    if plan.access.ssh_public_key is None:
        return None
    key = aws.ec2.KeyPair(f"{name}-ssh", public_key=plan.access.ssh_public_key, tags=named(plan, "ssh"), opts=child)
    return key.key_name
