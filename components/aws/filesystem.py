"""FSx for Lustre in the nodes' subnet, its link to the bucket, or one of the user's own that is mounted as it is."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_aws as aws

from components.aws.network import Network
from components.aws.objects import Objects
from components.aws.tags import named
from components.bootstrap.lustre import Filesystem, mounted
from components.cluster import data_store_options, ground_options
from planning.plan import FilesystemPlan, Plan

LUSTRE_VERSION = "2.15"
"""Said, since scratch filesystems otherwise get 2.10, which takes no links. Source: FSx for Lustre user guide."""
MAINTENANCE = "7:03:00"
"""Sunday, 03:00 UTC, rather than a time that FSx picks; the same on Azure."""
LINK_EVENTS = ["NEW", "CHANGED", "DELETED"]
LOG_DAYS = 30


def declare_filesystem(
    plan: Plan, name: str, parent: pulumi.Resource, network: Network, objects: Objects
) -> Filesystem | None:
    wanted = plan.filesystem
    if wanted is None:
        return None
    if wanted.existing is not None:
        # Read, never changed: the only way to its mount name.
        lustre = aws.fsx.LustreFileSystem.get(
            f"{name}-existing-lustre", wanted.existing, opts=pulumi.ResourceOptions(parent=parent)
        )
    else:
        lustre = _made(plan, wanted, name, parent, network)
        if plan.objects.link:
            _link(plan, name, parent, lustre, objects)
    source = pulumi.Output.concat(lustre.dns_name, "@tcp:/", lustre.mount_name)
    return mounted(source, wanted.mount)


def _made(
    plan: Plan, wanted: FilesystemPlan, name: str, parent: pulumi.Resource, network: Network
) -> aws.fsx.LustreFileSystem:
    return aws.fsx.LustreFileSystem(
        f"{name}-lustre",
        subnet_ids=network.subnet_id,
        security_group_ids=[network.filesystem_group.id] if network.filesystem_group else None,
        storage_type="SSD",
        storage_capacity=wanted.capacity_gib,
        file_system_type_version=LUSTRE_VERSION,
        data_compression_type="LZ4" if wanted.compression else "NONE",
        weekly_maintenance_start_time=MAINTENANCE,
        log_configuration=_log(plan, name, parent) if plan.objects.link else None,
        tags=named(plan, "lustre"),
        **_of_deployment(plan, wanted),
        opts=data_store_options(
            plan,
            parent,
            # FSx looks at the security group's rules when it is created with EFA.
            depends_on=list(network.rules),
            # With EFA, FSx refuses another throughput: the preview has to show what it takes.
            replace_on_changes=["perUnitStorageThroughput"] if wanted.efa else None,
        ),
    )


def _of_deployment(plan: Plan, wanted: FilesystemPlan) -> dict[str, Any]:
    """What FSx takes of persistent filesystems only: throughput, EFA, metadata settings, a key, backups."""
    if wanted.deployment == "scratch":
        return {"deployment_type": "SCRATCH_2"}
    iops = wanted.metadata_iops
    return {
        "deployment_type": "PERSISTENT_2",
        "per_unit_storage_throughput": wanted.mbps_per_tib,
        "efa_enabled": wanted.efa,
        "metadata_configuration": {"mode": "USER_PROVISIONED", "iops": iops} if iops else {"mode": "AUTOMATIC"},
        "kms_key_id": wanted.kms_key,
        "automatic_backup_retention_days": wanted.backup_days,
        "copy_tags_to_backups": True,
        "skip_final_backup": not wanted.backed_up,
        "final_backup_tags": named(plan, "lustre-final-backup") if wanted.backed_up else None,
    }


def _link(plan: Plan, name: str, parent: pulumi.Resource, lustre: aws.fsx.LustreFileSystem, objects: Objects) -> None:
    """The whole filesystem is the whole bucket, both ways: a checkpoint has the same path in both.

    FSx makes the role and the bucket's event notification that it needs by itself.
    """
    aws.fsx.DataRepositoryAssociation(
        f"{name}-lustre",
        file_system_id=lustre.id,
        file_system_path="/",
        data_repository_path=objects.uri,
        s3={"auto_import_policy": {"events": LINK_EVENTS}, "auto_export_policy": {"events": LINK_EVENTS}},
        # What the bucket holds already shows as files, too.
        batch_import_meta_data_on_create=True,
        delete_data_in_filesystem=False,
        tags=named(plan, "lustre"),
        # It holds nothing itself, but a refused destroy deletes what is not protected, and a filesystem that is left
        # behind has to go on exporting.
        opts=data_store_options(plan, parent),
    )


def _log(plan: Plan, name: str, parent: pulumi.Resource) -> aws.fsx.LustreFileSystemLogConfigurationArgs:
    """FSx logs what goes wrong with a link and nothing else, so that one without a link has no log."""
    group = aws.cloudwatch.LogGroup(
        f"{name}-lustre",
        # FSx writes to groups of this prefix only.
        name_prefix=f"/aws/fsx/{plan.name}-",
        retention_in_days=LOG_DAYS,
        tags=named(plan, "lustre"),
        opts=ground_options(plan, parent),
    )
    return aws.fsx.LustreFileSystemLogConfigurationArgs(destination=group.arn, level="WARN_ERROR")
