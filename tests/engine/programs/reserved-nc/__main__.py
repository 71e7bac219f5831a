import pulumi
import pulumi_azure_native as azure

config = pulumi.Config()
SIZE = "Standard_NC96ads_A100_v4"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDev0VIW8IrmQIBZOA73c72O2ax6zRtEpiIbOJTFH8f0 trainer@workstation"

rg = azure.resources.ResourceGroup("reserved")
vnet = azure.network.VirtualNetwork(
    "reserved", resource_group_name=rg.name, address_space={"address_prefixes": ["10.25.0.0/24"]}
)
subnet = azure.network.Subnet(
    "reserved", resource_group_name=rg.name, virtual_network_name=vnet.name, address_prefix="10.25.0.0/25"
)
capacity = azure.compute.CapacityReservationGroup("reserved", resource_group_name=rg.name)
reservation = azure.compute.CapacityReservation(
    "reserved",
    resource_group_name=rg.name,
    capacity_reservation_group_name=capacity.name,
    sku={"name": SIZE, "capacity": 4},
)
nodes = azure.compute.VirtualMachineScaleSet(
    "reserved",
    resource_group_name=rg.name,
    orchestration_mode="Uniform",
    single_placement_group=config.require_bool("one-placement-group"),
    overprovision=False,
    sku={"name": SIZE, "capacity": 4},
    upgrade_policy={"mode": azure.compute.UpgradeMode.MANUAL},
    virtual_machine_profile={
        "capacity_reservation": {"capacity_reservation_group": {"id": capacity.id}},
        "os_profile": {
            "computer_name_prefix": "nc",
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
            "os_disk": {"create_option": "FromImage"},
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
    opts=pulumi.ResourceOptions(depends_on=[reservation]),
)
