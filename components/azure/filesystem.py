"""Azure Managed Lustre in a subnet of its own, in the nodes' zone."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import storagecache

from components.azure.group import Group
from components.azure.network import Network
from components.bootstrap.lustre import MOUNT_OPTIONS
from components.cluster import data_store_options
from planning.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    source: pulumi.Output[str]
    """What `mount -t lustre` mounts: the address of the management server is an output of the filesystem."""
    mount_command: pulumi.Output[str]


def declare_filesystem(
    plan: Plan, name: str, parent: pulumi.Resource, group: Group, network: Network
) -> Filesystem | None:
    wanted = plan.filesystem
    if wanted is None or network.filesystem_subnet_id is None:
        return None
    lustre = storagecache.AmlFilesystem(
        f"{name}-lustre",
        aml_filesystem_name=f"{plan.name}-lustre",
        resource_group_name=group.name,
        location=plan.region,
        sku={"name": wanted.sku},
        storage_capacity_ti_b=wanted.capacity_gib / 1024,
        filesystem_subnet=network.filesystem_subnet_id,
        zones=[plan.zone] if plan.zone else None,
        # The same as on AWS.
        maintenance_window=storagecache.AmlFilesystemMaintenanceWindowArgs(
            day_of_week=storagecache.MaintenanceDayOfWeekType.SUNDAY, time_of_day_utc="03:00"
        ),
        tags=dict(plan.tags),
        opts=data_store_options(plan, parent),
    )
    source = pulumi.Output.concat(lustre.client_info.mgs_address, "@tcp:/lustrefs")
    command = pulumi.Output.concat(f"sudo mount -t lustre -o {MOUNT_OPTIONS} ", source, f" {wanted.mount}")
    return Filesystem(source=source, mount_command=command)
