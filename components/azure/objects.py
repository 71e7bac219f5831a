"""The ADLS Gen2 account for data and checkpoints: no shared key, no public way, reached by private endpoints. A
container of the user's own is used as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import storage

from components.azure.endpoints import declare_endpoints
from components.azure.group import Group
from components.azure.network import Network
from components.cluster import data_store_options, ground_options
from planning.facts.storage import CONTAINER, LOG_CONTAINER, ExistingContainer
from planning.names import SHARED_KEY_TAG, storage_account_name
from planning.plan import Plan

DELETED_BLOB_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    account_id: pulumi.Output[str]
    account_name: pulumi.Output[str]
    container: str
    container_id: pulumi.Output[str]
    log_container_id: pulumi.Output[str] | None
    """Where a link needs one."""
    uri: pulumi.Output[str]
    ready: list[pulumi.Resource]
    """Containers, endpoints and their names: what must exist before the account is reached."""

    @property
    def container_path(self) -> pulumi.Output[str]:
        return pulumi.Output.concat(self.account_name, "/", self.container)


def declare_objects(plan: Plan, name: str, parent: pulumi.Resource, group: Group, network: Network) -> Objects:
    if plan.objects.existing_container is not None:
        return _existing(plan, plan.objects.existing_container, name, parent, group, network)
    account_name = pulumi.Output.from_input(
        plan.objects.name
        or group.subscription.apply(lambda subscription: storage_account_name(plan.name, subscription, plan.region))
    )
    account = _account(plan, name, parent, group, account_name)
    container = _container(plan, f"{name}-data", parent, group, account, CONTAINER)
    log = (
        _container(plan, f"{name}-{LOG_CONTAINER}", parent, group, account, LOG_CONTAINER)
        if plan.objects.link
        else None
    )
    names = declare_endpoints(plan, name, parent, group, network, account.id)
    return Objects(
        account_id=account.id,
        account_name=account_name,
        container=CONTAINER,
        container_id=container.id,
        log_container_id=log.id if log else None,
        uri=_uri(account.name, CONTAINER),
        ready=[container, *([log] if log else []), *names],
    )


def _existing(
    plan: Plan, existing: ExistingContainer, name: str, parent: pulumi.Resource, group: Group, network: Network
) -> Objects:
    """A container of the user's own. Of it nothing is declared; a network of ours gets its own way to it."""
    # In a network of one's own it is reached already, or its owner says how: what is `ready` there is nothing of ours.
    names = declare_endpoints(plan, name, parent, group, network, existing.account_id) if network.ready else []
    return Objects(
        account_id=pulumi.Output.from_input(existing.account_id),
        account_name=pulumi.Output.from_input(existing.account),
        container=existing.name,
        container_id=pulumi.Output.from_input(existing.id),
        log_container_id=pulumi.Output.from_input(existing.log_id) if plan.objects.link else None,
        uri=_uri(existing.account, existing.name),
        ready=names,
    )


def _uri(account_name: pulumi.Input[str], container: str) -> pulumi.Output[str]:
    return pulumi.Output.concat("abfss://", container, "@", account_name, ".dfs.core.windows.net")


def _account(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, account_name: pulumi.Output[str]
) -> storage.StorageAccount:
    kept = data_store_options(plan, parent)
    account = storage.StorageAccount(
        f"{name}-objects",
        account_name=account_name,
        resource_group_name=group.name,
        location=plan.region,
        # Premium ones have no cool tier, and the spec has no word for them.
        kind="StorageV2",
        sku={"name": "Standard_LRS"},
        is_hns_enabled=True,
        access_tier=storage.AccessTier.HOT,
        allow_blob_public_access=False,
        # Managed Lustre knows no other way to read and write a container.
        allow_shared_key_access=plan.objects.link,
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
        tags={**plan.tags, **({SHARED_KEY_TAG: "managed-lustre"} if plan.objects.link else {})},
        # Azure refuses to change it, and the provider does not know.
        opts=data_store_options(plan, parent, replace_on_changes=["kind"]),
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
    if plan.objects.cool_after_days or plan.objects.expire_after_days:
        storage.ManagementPolicy(
            f"{name}-lifecycle",
            management_policy_name="default",
            account_name=account.name,
            resource_group_name=group.name,
            policy=storage.ManagementPolicySchemaArgs(rules=[checkpoint_rule(plan)]),
            # Not protected: the spec may take it away again.
            opts=ground_options(plan, parent),
        )
    return account


def _container(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    group: Group,
    account: storage.StorageAccount,
    container: str,
) -> storage.BlobContainer:
    return storage.BlobContainer(
        name,
        container_name=container,
        account_name=account.name,
        resource_group_name=group.name,
        public_access=storage.PublicAccess.NONE,
        opts=data_store_options(plan, parent),
    )


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
