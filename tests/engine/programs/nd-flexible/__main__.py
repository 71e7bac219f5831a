"""Flexible orchestration with one fault domain: accepted by Azure, which does not promise one fabric for it."""

import uuid

import pulumi
import pulumi_azure_native as az

me = az.authorization.get_client_config()
BLOB_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDHlGNrk+QPZFkkcLvacnyLXQw83olGYs/APPxsF7pLJ trainer@workstation"

rg = az.resources.ResourceGroup("flex")
vnet = az.network.VirtualNetwork(
    "flex",
    resource_group_name=rg.name,
    address_space={"address_prefixes": ["10.21.0.0/20"]},
    subnets=[{"name": "nodes", "address_prefix": "10.21.0.0/23", "default_outbound_access": False}],
)
subnet_id = pulumi.Output.format("{}/subnets/nodes", vnet.id)
identity = az.managedidentity.UserAssignedIdentity("nodes", resource_group_name=rg.name)
account = az.storage.StorageAccount(
    "runs",
    resource_group_name=rg.name,
    kind=az.storage.Kind.STORAGE_V2,
    sku={"name": az.storage.SkuName.STANDARD_LRS},
    is_hns_enabled=True,
    minimum_tls_version=az.storage.MinimumTlsVersion.TLS1_2,
)
az.authorization.RoleAssignment(
    "nodes-write-runs",
    role_assignment_name=str(uuid.uuid5(uuid.NAMESPACE_URL, "flex/nodes-write-runs")),
    scope=account.id,
    principal_id=identity.principal_id,
    principal_type="ServicePrincipal",
    role_definition_id=(
        f"/subscriptions/{me.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/{BLOB_CONTRIBUTOR}"
    ),
)
nodes = az.compute.VirtualMachineScaleSet(
    "nodes",
    resource_group_name=rg.name,
    orchestration_mode="Flexible",
    platform_fault_domain_count=1,
    single_placement_group=False,
    sku={"name": "Standard_ND96isr_H200_v5", "capacity": 2},
    identity={"type": az.compute.ResourceIdentityType.USER_ASSIGNED, "user_assigned_identities": [identity.id]},
    virtual_machine_profile={
        "os_profile": {
            "computer_name_prefix": "flex",
            "admin_username": "azureuser",
            "linux_configuration": {
                "disable_password_authentication": True,
                "ssh": {"public_keys": [{"path": "/home/azureuser/.ssh/authorized_keys", "key_data": KEY}]},
            },
        },
        "storage_profile": {
            "image_reference": {
                "publisher": "microsoft-dsvm",
                "offer": "ubuntu-hpc",
                "sku": "2404",
                "version": "24.04.2025103101",
            },
            "os_disk": {"create_option": "FromImage", "managed_disk": {"storage_account_type": "Premium_LRS"}},
        },
        "network_profile": {
            "network_api_version": "2020-11-01",
            "network_interface_configurations": [
                {
                    "name": "nic",
                    "primary": True,
                    "enable_accelerated_networking": True,
                    "ip_configurations": [{"name": "ip", "primary": True, "subnet": {"id": subnet_id}}],
                }
            ],
        },
    },
)
pulumi.export("principal", identity.principal_id)
