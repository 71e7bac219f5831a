import pulumi
from pulumi_azure_native import compute, network, resources

config = pulumi.Config()
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDjJ6L19jgELA4J8z/4B+IkDA8jcf0roRNlct7JUmwEu trainer@workstation"

rg = resources.ResourceGroup("spot")
vnet = network.VirtualNetwork(
    "spot", resource_group_name=rg.name, address_space={"address_prefixes": ["192.168.0.0/20"]}
)
subnet = network.Subnet(
    "spot", resource_group_name=rg.name, virtual_network_name=vnet.name, address_prefix="192.168.0.0/24"
)
scale_set = compute.VirtualMachineScaleSet(
    "spot",
    resource_group_name=rg.name,
    orchestration_mode="Uniform",
    single_placement_group=True,
    overprovision=False,
    sku={"name": "Standard_ND96amsr_A100_v4", "capacity": 4},
    upgrade_policy={"mode": compute.UpgradeMode.MANUAL},
    virtual_machine_profile={
        "priority": "Spot",
        "eviction_policy": config.require("on-eviction"),
        "billing_profile": {"max_price": -1},
        "os_profile": {
            "computer_name_prefix": "spot",
            "admin_username": "trainer",
            "linux_configuration": {
                "disable_password_authentication": True,
                "ssh": {"public_keys": [{"path": "/home/trainer/.ssh/authorized_keys", "key_data": KEY}]},
            },
        },
        "storage_profile": {
            "image_reference": {
                "publisher": "microsoft-dsvm",
                "offer": "ubuntu-hpc",
                "sku": "2204",
                "version": "latest",
            },
            "os_disk": {
                "create_option": "FromImage",
                "caching": compute.CachingTypes.READ_ONLY,
                "diff_disk_settings": {"option": "Local", "placement": "ResourceDisk"},
            },
        },
        "network_profile": {
            "network_interface_configurations": [
                {
                    "name": "eth0",
                    "primary": True,
                    "ip_configurations": [{"name": "ip0", "subnet": {"id": subnet.id}}],
                }
            ]
        },
    },
)
