import pulumi
import pulumi_azure_native as azure

config = pulumi.Config()

rg = azure.resources.ResourceGroup("lake")
vnet = azure.network.VirtualNetwork(
    "lake",
    resource_group_name=rg.name,
    address_space=azure.network.AddressSpaceArgs(address_prefixes=["10.22.0.0/24"]),
)
subnet = azure.network.Subnet(
    "endpoints", resource_group_name=rg.name, virtual_network_name=vnet.name, address_prefix="10.22.0.0/27"
)
account = azure.storage.StorageAccount(
    "lake",
    account_name=config.get("account"),
    resource_group_name=rg.name,
    kind="StorageV2",
    sku=azure.storage.SkuArgs(name="Standard_ZRS"),
    is_hns_enabled=True,
    allow_blob_public_access=False,
    allow_shared_key_access=False,
    minimum_tls_version="TLS1_2",
    public_network_access="Disabled",
    network_rule_set=azure.storage.NetworkRuleSetArgs(
        default_action=azure.storage.DefaultAction.DENY, bypass="AzureServices"
    ),
)
azure.storage.BlobServiceProperties(
    "lake",
    resource_group_name=rg.name,
    account_name=account.name,
    blob_services_name="default",
    is_versioning_enabled=config.get_bool("versioning"),
    delete_retention_policy=azure.storage.DeleteRetentionPolicyArgs(enabled=True, days=7),
)
for name in ("datasets", "checkpoints"):
    azure.storage.BlobContainer(name, container_name=name, resource_group_name=rg.name, account_name=account.name)
azure.storage.ManagementPolicy(
    "checkpoints",
    resource_group_name=rg.name,
    account_name=account.name,
    management_policy_name="default",
    policy={
        "rules": [
            {
                "name": "old-checkpoints",
                "type": "Lifecycle",
                "definition": {
                    "filters": {"blob_types": ["blockBlob"], "prefix_match": ["checkpoints/"]},
                    "actions": {
                        "base_blob": {
                            "tier_to_cool": {"days_after_modification_greater_than": 14},
                            "delete": {"days_after_modification_greater_than": 90},
                        }
                    },
                },
            }
        ]
    },
)
for service in ("blob", "dfs"):
    zone = azure.privatedns.PrivateZone(
        service,
        private_zone_name=f"privatelink.{service}.core.windows.net",
        resource_group_name=rg.name,
        location="global",
    )
    azure.privatedns.VirtualNetworkLink(
        service,
        resource_group_name=rg.name,
        private_zone_name=zone.name,
        location="global",
        registration_enabled=False,
        virtual_network=azure.privatedns.SubResourceArgs(id=vnet.id),
    )
    endpoint = azure.network.PrivateEndpoint(
        service,
        resource_group_name=rg.name,
        subnet=azure.network.SubnetArgs(id=subnet.id),
        private_link_service_connections=[
            azure.network.PrivateLinkServiceConnectionArgs(
                name=service, private_link_service_id=account.id, group_ids=[service]
            )
        ],
    )
    azure.network.PrivateDnsZoneGroup(
        service,
        private_dns_zone_group_name="default",
        resource_group_name=rg.name,
        private_endpoint_name=endpoint.name,
        private_dns_zone_configs=[azure.network.PrivateDnsZoneConfigArgs(name=service, private_dns_zone_id=zone.id)],
    )
pulumi.export("abfss", pulumi.Output.format("abfss://datasets@{}.dfs.core.windows.net", account.name))
