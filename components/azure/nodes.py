"""The nodes: one Uniform scale set, which is one InfiniBand fabric.

Azure has no all-or-none start: a scale set may come up half and bill. InfiniBand joins the VMs of one scale set only,
and only with a single placement group; placement groups of the other kind (proximity) only get in the way.
"""

from __future__ import annotations

import pulumi
from pulumi_azure_native import compute

from components.azure.group import Group
from components.azure.identity import Identity
from components.azure.network import Network
from components.azure.objects import Objects
from planning.plan import Plan

ADMIN = "azureuser"
LONGEST_HOST_PREFIX = 15


def declare_nodes(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    group: Group,
    network: Network,
    objects: Objects,
    identity: Identity,
    first_boot: pulumi.Input[str],
) -> None:
    """`first_boot` is the nodes' custom data, encoded."""
    compute.VirtualMachineScaleSet(
        f"{name}-nodes",
        vm_scale_set_name=f"{plan.name}-nodes",
        resource_group_name=group.name,
        location=plan.region,
        orchestration_mode="Uniform",
        single_placement_group=plan.nodes.placed,
        overprovision=False,
        platform_fault_domain_count=1,
        zones=[plan.zone] if plan.zone else None,
        sku={"name": plan.nodes.type, "tier": "Standard", "capacity": plan.nodes.count},
        plan=_marketplace_plan(plan),
        identity=compute.VirtualMachineScaleSetIdentityArgs(
            type=compute.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity.id]
        ),
        # Manual: a changed model reaches running nodes only when somebody says so.
        upgrade_policy=compute.UpgradePolicyArgs(mode=compute.UpgradeMode.MANUAL),
        virtual_machine_profile=_profile(plan, network, first_boot),
        tags=dict(plan.tags),
        opts=pulumi.ResourceOptions(parent=parent, depends_on=[*network.ready, *objects.ready, *identity.granted]),
    )


def _profile(
    plan: Plan, network: Network, first_boot: pulumi.Input[str]
) -> compute.VirtualMachineScaleSetVMProfileArgs:
    return compute.VirtualMachineScaleSetVMProfileArgs(
        priority="Regular",
        security_profile=_security_profile(plan),
        os_profile=_os_profile(plan, first_boot),
        storage_profile=_storage_profile(plan),
        network_profile=_network_profile(network),
    )


def _os_profile(plan: Plan, first_boot: pulumi.Input[str]) -> compute.VirtualMachineScaleSetOSProfileArgs:
    """Keys only: passwords are off, and the first boot is cloud-init rather than an extension."""
    return compute.VirtualMachineScaleSetOSProfileArgs(
        computer_name_prefix=plan.name[:LONGEST_HOST_PREFIX].rstrip("-"),
        admin_username=ADMIN,
        custom_data=first_boot,
        linux_configuration=compute.LinuxConfigurationArgs(
            disable_password_authentication=True,
            ssh=compute.SshConfigurationArgs(
                public_keys=[
                    compute.SshPublicKeyArgs(
                        path=f"/home/{ADMIN}/.ssh/authorized_keys", key_data=plan.access.ssh_public_key
                    )
                ]
            ),
        ),
    )


def _storage_profile(plan: Plan) -> compute.VirtualMachineScaleSetStorageProfileArgs:
    publisher, offer, sku, version = plan.nodes.image.reference.split(":")
    return compute.VirtualMachineScaleSetStorageProfileArgs(
        image_reference=compute.ImageReferenceArgs(publisher=publisher, offer=offer, sku=sku, version=version),
        os_disk=compute.VirtualMachineScaleSetOSDiskArgs(
            create_option="FromImage",
            os_type=compute.OperatingSystemTypes.LINUX,
            caching=compute.CachingTypes.READ_WRITE,
            disk_size_gb=plan.nodes.root_disk_gib,
            managed_disk=compute.VirtualMachineScaleSetManagedDiskParametersArgs(storage_account_type="Premium_LRS"),
        ),
    )


def _network_profile(network: Network) -> compute.VirtualMachineScaleSetNetworkProfileArgs:
    """One Ethernet interface with accelerated networking; the InfiniBand cards come with the size."""
    return compute.VirtualMachineScaleSetNetworkProfileArgs(
        network_interface_configurations=[
            compute.VirtualMachineScaleSetNetworkConfigurationArgs(
                name="ethernet",
                primary=True,
                enable_accelerated_networking=True,
                ip_configurations=[
                    compute.VirtualMachineScaleSetIPConfigurationArgs(
                        name="private", primary=True, subnet=compute.ApiEntityReferenceArgs(id=network.subnet_id)
                    )
                ],
            )
        ]
    )


def _security_profile(plan: Plan) -> compute.SecurityProfileArgs | None:
    """Trusted launch without secure boot, which would refuse the image's unsigned drivers (azhpc-images#298)."""
    if not plan.nodes.trusted_launch:
        return None
    return compute.SecurityProfileArgs(
        security_type="TrustedLaunch",
        uefi_settings=compute.UefiSettingsArgs(secure_boot_enabled=False, v_tpm_enabled=True),
    )


def _marketplace_plan(plan: Plan) -> compute.PlanArgs | None:
    if not plan.nodes.image.needs_plan:
        return None
    publisher, offer, sku, _ = plan.nodes.image.reference.split(":")
    return compute.PlanArgs(publisher=publisher, product=offer, name=sku)
