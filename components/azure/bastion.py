"""Azure Bastion: the way to nodes that have no public address, for people whom Azure knows."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import network as azure

from components.azure.group import Group
from planning.plan import Plan

SUBNET = "AzureBastionSubnet"
"""Azure takes no other name."""


def bastion_command(plan: Plan, group: Group, admin: str) -> pulumi.Output[str]:
    """How one gets onto a node: from wherever Azure's command line is signed in."""
    where = pulumi.Output.concat(f"az network bastion ssh --name {_bastion_name(plan)} --resource-group ", group.name)
    key = "--auth-type ssh-key --ssh-key PRIVATE_KEY_FILE"
    return pulumi.Output.concat(where, f" --target-ip-address NODE_ADDRESS --username {admin} {key}")


def _bastion_name(plan: Plan) -> str:
    return f"{plan.name}-bastion"


def declare_bastion(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    common: dict[str, Any],
    vnet: azure.VirtualNetwork,
    after: pulumi.Resource,
) -> pulumi.Resource:
    """Of the SKU Standard, the smallest that takes `az network bastion ssh` and addresses; it can not become Basic.

    Its subnet has no network security group: that would have to let in what Azure prescribes, 443 from the internet
    among it, and Bastion's managed hosts take nothing else anyway. Neither address nor host names a zone, since not
    every region has zones for Bastion. Returns the subnet, another change of the VNet.
    """
    child = pulumi.ResourceOptions(parent=parent)
    subnet = azure.Subnet(
        f"{name}-bastion",
        subnet_name=SUBNET,
        resource_group_name=common["resource_group_name"],
        virtual_network_name=vnet.name,
        address_prefix=str(plan.network.bastion),
        opts=pulumi.ResourceOptions(parent=parent, depends_on=[after]),
    )
    address = azure.PublicIPAddress(
        f"{name}-bastion",
        public_ip_address_name=_bastion_name(plan),
        public_ip_allocation_method="Static",
        sku={"name": "Standard"},
        **common,
        opts=child,
    )
    azure.BastionHost(
        f"{name}-bastion",
        bastion_host_name=_bastion_name(plan),
        sku={"name": "Standard"},
        enable_tunneling=True,
        # By the addresses that `hosts` lists: ids of scale set instances would have to be looked up first.
        enable_ip_connect=True,
        ip_configurations=[
            azure.BastionHostIPConfigurationArgs(
                name="bastion",
                subnet=azure.SubResourceArgs(id=subnet.id),
                public_ip_address=azure.SubResourceArgs(id=address.id),
            )
        ],
        **common,
        opts=child,
    )
    return subnet
