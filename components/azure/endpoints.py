"""Private endpoints of the storage account, and the names by which it is reached through them."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_azure_native import network as azure_network
from pulumi_azure_native import privatedns

from components.azure.group import Group
from components.azure.network import Network
from components.cluster import ground_options
from planning.plan import Plan

SERVICES = ("blob", "dfs")
"""Clients of a hierarchical account call both (azure-storage-fuse, troubleshooting guide)."""


def declare_endpoints(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, network: Network, account_id: pulumi.Input[str]
) -> list[pulumi.Resource]:
    """One after the other: made together they fail now and then (azurerm#21293). Returns what their names need."""
    ready: list[pulumi.Resource] = []
    after: Sequence[pulumi.Resource] = network.ready
    for service in SERVICES:
        endpoint = azure_network.PrivateEndpoint(
            f"{name}-{service}",
            private_endpoint_name=f"{plan.name}-{service}",
            resource_group_name=group.name,
            location=plan.region,
            subnet={"id": network.endpoint_subnet_id},
            private_link_service_connections=[
                {"name": service, "private_link_service_id": account_id, "group_ids": [service]}
            ],
            tags=dict(plan.tags),
            opts=_options(plan, parent, after),
        )
        after = [endpoint]
        ready += _records(plan, name, parent, group, network, endpoint, service)
    return ready


def _options(plan: Plan, parent: pulumi.Resource, after: Sequence[pulumi.Resource] = ()) -> pulumi.ResourceOptions:
    """A linked filesystem that is retained goes on reading and writing the account this way."""
    if plan.objects.link:
        return ground_options(plan, parent, depends_on=after)
    return pulumi.ResourceOptions(parent=parent, depends_on=after)


def _records(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    group: Group,
    network: Network,
    endpoint: azure_network.PrivateEndpoint,
    service: str,
) -> list[pulumi.Resource]:
    """The endpoint's name in a DNS zone that the VNet is linked to."""
    stays = _options(plan, parent)
    zone = privatedns.PrivateZone(
        f"{name}-{service}",
        private_zone_name=f"privatelink.{service}.core.windows.net",
        resource_group_name=group.name,
        location="global",
        tags=dict(plan.tags),
        opts=stays,
    )
    link = privatedns.VirtualNetworkLink(
        f"{name}-{service}",
        virtual_network_link_name=f"{plan.name}-{service}",
        private_zone_name=zone.name,
        resource_group_name=group.name,
        location="global",
        registration_enabled=False,
        virtual_network={"id": network.vnet_id},
        tags=dict(plan.tags),
        opts=stays,
    )
    records = azure_network.PrivateDnsZoneGroup(
        f"{name}-{service}",
        private_dns_zone_group_name="default",
        private_endpoint_name=endpoint.name,
        resource_group_name=group.name,
        private_dns_zone_configs=[{"name": service, "private_dns_zone_id": zone.id}],
        opts=stays,
    )
    return [link, records]
