import base64

import pulumi
from pulumi_azure_native import compute, network, resources

config = pulumi.Config()
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKiCF5/amPdGLiMqUrZ3lRyHP/R3Jvrbw+/koUhiY+bF trainer@workstation"

group = resources.ResourceGroup("hpc")
security = network.NetworkSecurityGroup(
    "nodes",
    resource_group_name=group.name,
    security_rules=[
        network.SecurityRuleArgs(
            name="no-ssh-from-outside",
            priority=200,
            direction="Inbound",
            access="Deny",
            protocol="Tcp",
            source_address_prefix="Internet",
            source_port_range="*",
            destination_address_prefix="*",
            destination_port_range="22",
        )
    ],
)
address = network.PublicIPAddress(
    "nat",
    resource_group_name=group.name,
    public_ip_allocation_method="Static",
    sku=network.PublicIPAddressSkuArgs(name="Standard"),
)
nat = network.NatGateway(
    "nat",
    resource_group_name=group.name,
    sku=network.NatGatewaySkuArgs(name="Standard"),
    public_ip_addresses=[network.SubResourceArgs(id=address.id)],
)
vnet = network.VirtualNetwork(
    "hpc",
    resource_group_name=group.name,
    address_space=network.AddressSpaceArgs(address_prefixes=["10.20.0.0/16"]),
    opts=pulumi.ResourceOptions(ignore_changes=["subnets"]),
)
subnet = network.Subnet(
    "nodes",
    resource_group_name=group.name,
    virtual_network_name=vnet.name,
    address_prefix="10.20.0.0/22",
    default_outbound_access=False,
    network_security_group=network.NetworkSecurityGroupArgs(id=security.id),
    nat_gateway=network.SubResourceArgs(id=nat.id),
)
nodes = compute.VirtualMachineScaleSet(
    "nodes",
    resource_group_name=group.name,
    orchestration_mode=compute.OrchestrationMode.UNIFORM,
    single_placement_group=True,
    overprovision=False,
    platform_fault_domain_count=1,
    sku=compute.SkuArgs(name="Standard_ND96isr_H100_v5", tier="Standard", capacity=config.require_int("nodes")),
    upgrade_policy=compute.UpgradePolicyArgs(mode=compute.UpgradeMode.MANUAL),
    virtual_machine_profile=compute.VirtualMachineScaleSetVMProfileArgs(
        os_profile=compute.VirtualMachineScaleSetOSProfileArgs(
            computer_name_prefix="nd",
            admin_username="hpcadmin",
            custom_data=base64.b64encode(b"#cloud-config\npackages: [pdsh]\n").decode(),
            linux_configuration=compute.LinuxConfigurationArgs(
                disable_password_authentication=True,
                ssh=compute.SshConfigurationArgs(
                    public_keys=[compute.SshPublicKeyArgs(path="/home/hpcadmin/.ssh/authorized_keys", key_data=SSH_KEY)]
                ),
            ),
        ),
        storage_profile=compute.VirtualMachineScaleSetStorageProfileArgs(
            image_reference=compute.ImageReferenceArgs(
                publisher="microsoft-dsvm", offer="ubuntu-hpc", sku="2204", version="latest"
            ),
            os_disk=compute.VirtualMachineScaleSetOSDiskArgs(
                create_option="FromImage",
                disk_size_gb=256,
                managed_disk=compute.VirtualMachineScaleSetManagedDiskParametersArgs(
                    storage_account_type="Premium_LRS"
                ),
            ),
        ),
        network_profile=compute.VirtualMachineScaleSetNetworkProfileArgs(
            network_interface_configurations=[
                compute.VirtualMachineScaleSetNetworkConfigurationArgs(
                    name="eth0",
                    primary=True,
                    enable_accelerated_networking=True,
                    ip_configurations=[
                        compute.VirtualMachineScaleSetIPConfigurationArgs(
                            name="internal", subnet=compute.ApiEntityReferenceArgs(id=subnet.id)
                        )
                    ],
                )
            ]
        ),
    ),
)
pulumi.export("scale_set", nodes.id)
