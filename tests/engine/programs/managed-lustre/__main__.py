import pulumi
import pulumi_azure_native as azure

config = pulumi.Config()

rg = azure.resources.ResourceGroup("lustre")
vnet = azure.network.VirtualNetwork(
    "lustre", resource_group_name=rg.name, address_space={"address_prefixes": ["10.23.0.0/16"]}
)
subnet = azure.network.Subnet(
    "lustre",
    resource_group_name=rg.name,
    virtual_network_name=vnet.name,
    address_prefix=config.require("subnet"),
)
filesystem = azure.storagecache.AmlFilesystem(
    "scratch",
    aml_filesystem_name="scratch",
    resource_group_name=rg.name,
    sku={"name": "AMLFS-Durable-Premium-125"},
    storage_capacity_ti_b=config.require_float("tib"),
    filesystem_subnet=subnet.id,
    zones=["1"],
    maintenance_window={
        "day_of_week": azure.storagecache.MaintenanceDayOfWeekType.SATURDAY,
        "time_of_day_utc": "22:00",
    },
)
pulumi.export("mgs", filesystem.client_info.mgs_address)
