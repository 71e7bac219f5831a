"""FSx for Lustre, persistent, in the nodes' subnet."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.network import Network
from components.aws.tags import named
from components.bootstrap.lustre import MOUNT_OPTIONS
from components.cluster import data_store_options
from planning.plan import Plan

LUSTRE_VERSION = "2.15"
"""PERSISTENT_2 needs 2.12 or later. Source: FSx for Lustre user guide."""
MAINTENANCE = "7:03:00"
"""Sunday, 03:00 UTC, rather than a time that FSx picks; the same on Azure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    source: pulumi.Output[str]
    """What `mount -t lustre` mounts: the mount name is random, and an output of the filesystem."""
    mount_command: pulumi.Output[str]


def declare_filesystem(plan: Plan, name: str, parent: pulumi.Resource, network: Network) -> Filesystem | None:
    wanted = plan.filesystem
    if wanted is None or network.filesystem_group is None:
        return None
    lustre = aws.fsx.LustreFileSystem(
        f"{name}-lustre",
        subnet_ids=network.subnet_id,
        security_group_ids=[network.filesystem_group.id],
        deployment_type="PERSISTENT_2",
        storage_type="SSD",
        storage_capacity=wanted.capacity_gib,
        per_unit_storage_throughput=wanted.mbps_per_tib,
        file_system_type_version=LUSTRE_VERSION,
        efa_enabled=wanted.efa,
        metadata_configuration=(
            {"mode": "USER_PROVISIONED", "iops": wanted.metadata_iops}
            if wanted.metadata_iops
            else {"mode": "AUTOMATIC"}
        ),
        data_compression_type="LZ4" if wanted.compression else "NONE",
        automatic_backup_retention_days=wanted.backup_days,
        copy_tags_to_backups=True,
        weekly_maintenance_start_time=MAINTENANCE,
        skip_final_backup=False,
        final_backup_tags=named(plan, "lustre-final-backup"),
        tags=named(plan, "lustre"),
        # FSx looks at the security group's rules when it is created with EFA.
        opts=data_store_options(plan, parent, depends_on=list(network.rules)),
    )
    source = pulumi.Output.concat(lustre.dns_name, "@tcp:/", lustre.mount_name)
    command = pulumi.Output.concat(f"sudo mount -t lustre -o {MOUNT_OPTIONS} ", source, f" {wanted.mount}")
    return Filesystem(source=source, mount_command=command)
