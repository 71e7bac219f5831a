"""What one node is: the profile that a scale set makes its VMs from. What starts them: `components.azure.nodes`."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import compute

from components.azure.network import Network
from planning.plan import Plan

ADMIN = "azureuser"
LONGEST_HOST_PREFIX = 15
EVICTION = {"delete": "Delete", "deallocate": "Deallocate"}
UP_TO_LIST_PRICE = -1.0
"""What Azure reads as: never evicted for the price. Source: Azure documentation, spot VMs, pricing."""


def node_profile(
    plan: Plan, network: Network, first_boot: pulumi.Input[str]
) -> compute.VirtualMachineScaleSetVMProfileArgs:
    """`first_boot` is the nodes' custom data, encoded."""
    capacity = plan.nodes.capacity
    spot = capacity.purchase == "spot"
    return compute.VirtualMachineScaleSetVMProfileArgs(
        priority="Spot" if spot else "Regular",
        eviction_policy=EVICTION[capacity.eviction] if spot else None,
        billing_profile=compute.BillingProfileArgs(max_price=capacity.max_price or UP_TO_LIST_PRICE) if spot else None,
        capacity_reservation=(
            compute.CapacityReservationProfileArgs(
                capacity_reservation_group=compute.SubResourceArgs(id=capacity.reservation)
            )
            if capacity.reservation
            else None
        ),
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
        os_disk=_root_disk(plan),
    )


def _root_disk(plan: Plan) -> compute.VirtualMachineScaleSetOSDiskArgs:
    """On the node's own temporary disk where it has the room: nothing to pay, and faster to make anew."""
    common: dict[str, Any] = {
        "create_option": "FromImage",
        "os_type": compute.OperatingSystemTypes.LINUX,
        "disk_size_gb": plan.nodes.root_disk_gib,
    }
    if plan.nodes.ephemeral_root:
        local = compute.DiffDiskSettingsArgs(
            option=compute.DiffDiskOptions.LOCAL, placement=compute.DiffDiskPlacement.RESOURCE_DISK
        )
        return compute.VirtualMachineScaleSetOSDiskArgs(
            caching=compute.CachingTypes.READ_ONLY, diff_disk_settings=local, **common
        )
    premium = compute.VirtualMachineScaleSetManagedDiskParametersArgs(storage_account_type="Premium_LRS")
    return compute.VirtualMachineScaleSetOSDiskArgs(
        caching=compute.CachingTypes.READ_WRITE, managed_disk=premium, **common
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


def marketplace_plan(plan: Plan) -> compute.PlanArgs | None:
    if not plan.nodes.image.needs_plan:
        return None
    publisher, offer, sku, _ = plan.nodes.image.reference.split(":")
    return compute.PlanArgs(publisher=publisher, product=offer, name=sku)
