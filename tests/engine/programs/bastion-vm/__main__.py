import pulumi
import pulumi_azure_native as azure

config = pulumi.Config()
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGp2draxHyQ3k3o0j+T8JGN0tYrIzGxUiSbv9bX0yO0u trainer@workstation"

rg = azure.resources.ResourceGroup("work")
vnet = azure.network.VirtualNetwork(
    "work", resource_group_name=rg.name, address_space={"address_prefixes": ["10.24.0.0/20"]}
)
inner = azure.network.Subnet(
    "inner",
    resource_group_name=rg.name,
    virtual_network_name=vnet.name,
    address_prefix="10.24.1.0/24",
    default_outbound_access=False,
)
door = azure.network.Subnet(
    "door",
    subnet_name="AzureBastionSubnet",
    resource_group_name=rg.name,
    virtual_network_name=vnet.name,
    address_prefix=config.require("bastion"),
    opts=pulumi.ResourceOptions(depends_on=[inner]),
)
address = azure.network.PublicIPAddress(
    "door",
    resource_group_name=rg.name,
    sku={"name": "Standard", "tier": "Regional"},
    public_ip_allocation_method="Static",
)
azure.network.BastionHost(
    "door",
    resource_group_name=rg.name,
    sku={"name": "Standard"},
    ip_configurations=[{"name": "door", "subnet": {"id": door.id}, "public_ip_address": {"id": address.id}}],
)
nic = azure.network.NetworkInterface(
    "work",
    resource_group_name=rg.name,
    ip_configurations=[{"name": "main", "subnet": {"id": inner.id}}],
)
vm = azure.compute.VirtualMachine(
    "work",
    resource_group_name=rg.name,
    hardware_profile={"vm_size": "Standard_NC80adis_H100_v5"},
    network_profile={"network_interfaces": [{"id": nic.id, "primary": True}]},
    os_profile={
        "computer_name": "work",
        "admin_username": "me",
        "linux_configuration": {
            "disable_password_authentication": True,
            "ssh": {"public_keys": [{"path": "/home/me/.ssh/authorized_keys", "key_data": KEY}]},
        },
    },
    storage_profile={
        "image_reference": {
            "publisher": "microsoft-dsvm",
            "offer": "ubuntu-hpc",
            "sku": "2204",
            "version": "latest",
        },
        "os_disk": {"create_option": "FromImage", "managed_disk": {"storage_account_type": "Premium_LRS"}},
    },
)
pulumi.export("vm", vm.id)
