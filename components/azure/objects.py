"""The ADLS Gen2 account for data and checkpoints: no shared key, no public way, reached by private endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network as azure_network
from pulumi_azure_native import privatedns, storage

from components.azure.group import Group
from components.azure.network import Network
from components.cluster import data_store_options
from planning.names import storage_account_name
from planning.plan import Plan

CONTAINER = "data"
ENDPOINTS = ("blob", "dfs")
"""Clients of a hierarchical account call both (azure-storage-fuse, troubleshooting guide)."""
DELETED_BLOB_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    account: storage.StorageAccount
    account_name: pulumi.Output[str]
    uri: pulumi.Output[str]
    ready: list[pulumi.Resource]
    """Endpoints and their names: what must exist before nodes reach the account."""


def declare_objects(plan: Plan, name: str, parent: pulumi.Resource, group: Group, network: Network) -> Objects:
    kept = data_store_options(plan, parent)
    account_name = pulumi.Output.from_input(
        plan.objects.name
        or group.subscription.apply(lambda subscription: storage_account_name(plan.name, subscription, plan.region))
    )
    account = storage.StorageAccount(
        f"{name}-objects",
        account_name=account_name,
        resource_group_name=group.name,
        location=plan.region,
        kind="StorageV2",
        sku={"name": "Standard_LRS"},
        is_hns_enabled=True,
        access_tier=storage.AccessTier.HOT,
        allow_blob_public_access=False,
        allow_shared_key_access=False,
        default_to_o_auth_authentication=True,
        allow_cross_tenant_replication=False,
        enable_https_traffic_only=True,
        minimum_tls_version="TLS1_2",
        is_sftp_enabled=False,
        is_local_user_enabled=False,
        enable_nfs_v3=False,
        public_network_access="Disabled",
        # Always whole: a rule set that is left out later would keep its old rules (pulumi-azure-native#2507).
        network_rule_set=storage.NetworkRuleSetArgs(
            default_action=storage.DefaultAction.DENY, bypass="AzureServices", ip_rules=[], virtual_network_rules=[]
        ),
        tags=dict(plan.tags),
        opts=kept,
    )
    storage.BlobServiceProperties(
        f"{name}-objects",
        account_name=account.name,
        blob_services_name="default",
        resource_group_name=group.name,
        delete_retention_policy={"enabled": True, "days": DELETED_BLOB_DAYS},
        container_delete_retention_policy={"enabled": True, "days": DELETED_BLOB_DAYS},
        opts=kept,
    )
    storage.BlobContainer(
        f"{name}-data",
        container_name=CONTAINER,
        account_name=account.name,
        resource_group_name=group.name,
        public_access=storage.PublicAccess.NONE,
        opts=kept,
    )
    if plan.objects.cool_after_days or plan.objects.expire_after_days:
        storage.ManagementPolicy(
            f"{name}-lifecycle",
            management_policy_name="default",
            account_name=account.name,
            resource_group_name=group.name,
            policy=storage.ManagementPolicySchemaArgs(rules=[checkpoint_rule(plan)]),
            opts=pulumi.ResourceOptions(parent=parent),
        )
    ready = _endpoints(plan, name, parent, group, network, account)
    uri = pulumi.Output.concat("abfss://", CONTAINER, "@", account.name, ".dfs.core.windows.net")
    return Objects(account=account, account_name=account_name, uri=uri, ready=ready)


def checkpoint_rule(plan: Plan) -> storage.ManagementPolicyRuleArgs:
    """Cools and deletes checkpoints as the plan says. Prefixes begin with the container's name."""
    wanted = plan.objects
    cool = storage.DateAfterModificationArgs(days_after_modification_greater_than=wanted.cool_after_days)
    delete = storage.DateAfterModificationArgs(days_after_modification_greater_than=wanted.expire_after_days)
    return storage.ManagementPolicyRuleArgs(
        name="checkpoints",
        type="Lifecycle",
        enabled=True,
        definition=storage.ManagementPolicyDefinitionArgs(
            filters=storage.ManagementPolicyFilterArgs(
                blob_types=["blockBlob"], prefix_match=[f"{CONTAINER}/{wanted.prefix}/"]
            ),
            actions=storage.ManagementPolicyActionArgs(
                base_blob=storage.ManagementPolicyBaseBlobArgs(
                    tier_to_cool=cool if wanted.cool_after_days else None,
                    delete=delete if wanted.expire_after_days else None,
                )
            ),
        ),
    )


def _endpoints(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, network: Network, account: storage.StorageAccount
) -> list[pulumi.Resource]:
    """Private endpoints of the account, one after the other: made together they fail now and then (azurerm#21293)."""
    ready: list[pulumi.Resource] = []
    after: Sequence[pulumi.Resource] = network.ready
    for service in ENDPOINTS:
        endpoint = azure_network.PrivateEndpoint(
            f"{name}-{service}",
            private_endpoint_name=f"{plan.name}-{service}",
            resource_group_name=group.name,
            location=plan.region,
            subnet={"id": network.endpoint_subnet_id},
            private_link_service_connections=[
                {"name": service, "private_link_service_id": account.id, "group_ids": [service]}
            ],
            tags=dict(plan.tags),
            opts=pulumi.ResourceOptions(parent=parent, depends_on=after),
        )
        after = [endpoint]
        ready += _records(plan, name, parent, group, network, endpoint, service)
    return ready


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
    child = pulumi.ResourceOptions(parent=parent)
    zone = privatedns.PrivateZone(
        f"{name}-{service}",
        private_zone_name=f"privatelink.{service}.core.windows.net",
        resource_group_name=group.name,
        location="global",
        tags=dict(plan.tags),
        opts=child,
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
        opts=child,
    )
    records = azure_network.PrivateDnsZoneGroup(
        f"{name}-{service}",
        private_dns_zone_group_name="default",
        private_endpoint_name=endpoint.name,
        resource_group_name=group.name,
        private_dns_zone_configs=[{"name": service, "private_dns_zone_id": zone.id}],
        opts=child,
    )
    return [link, records]
