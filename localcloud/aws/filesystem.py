"""FSx for Lustre, its links to S3, its backups."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator

from localcloud.aws.kind import AwsKind, among
from localcloud.aws.network import SECURITY_GROUP, SUBNET, new_id
from localcloud.kinds import Call, Ref
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import Properties, first

LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
ASSOCIATION = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
BACKUP = "aws:fsx/backup:Backup"
_MOUNT_NAME_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_THROUGHPUT = (12, 40, 50, 100, 125, 200, 250, 500, 1000)


def _check(inputs: Properties) -> Iterator[Failure]:
    yield from among(inputs, "deploymentType", ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"))
    yield from among(inputs, "storageType", ("SSD", "HDD", "INTELLIGENT_TIERING"))
    yield from among(inputs, "perUnitStorageThroughput", _THROUGHPUT)
    yield from among(inputs, "dataCompressionType", ("NONE", "LZ4"))
    if inputs.get("metadataConfiguration") and inputs.get("deploymentType") != "PERSISTENT_2":
        yield Failure(
            "metadataConfiguration",
            "metadata_configuration can only be set when deployment type is PERSISTENT_2",
        )


def _replaces(old: Properties, new: Properties) -> Iterable[str]:
    before, after = old.get("storageCapacity"), new.get("storageCapacity")
    if (
        isinstance(before, int)
        and isinstance(after, int)
        and (after < before or new.get("deploymentType") == "SCRATCH_1")
    ):
        yield "storageCapacity"
    iops = "metadataConfiguration.iops"
    before, after = first(old, iops), first(new, iops)
    if isinstance(before, int) and isinstance(after, int) and after < before:
        yield iops


def _create(call: Call) -> Properties:
    subnet = call.find(SUBNET, call.inputs["subnetIds"])  # the SDK takes the one subnet as a string
    scratch_1 = call.inputs["deploymentType"] == "SCRATCH_1"
    mount = "fsx" if scratch_1 else "".join(secrets.choice(_MOUNT_NAME_ALPHABET) for _ in range(8))
    return {
        "dnsName": f"{call.id}.fsx.{call.region}.amazonaws.com",
        "mountName": mount,
        "networkInterfaceIds": [new_id("eni")],
        "vpcId": subnet.inputs["vpcId"] if subnet else "",
        "fileSystemTypeVersion": "2.15" if call.inputs["deploymentType"] == "PERSISTENT_2" else "2.10",
        "weeklyMaintenanceStartTime": "7:03:00",
        "automaticBackupRetentionDays": 0,
        "dataCompressionType": "NONE",
    }


def _delete(call: Call) -> None:
    """A persistent filesystem leaves its last state as a backup, unless that was declined before."""
    if call.inputs["skipFinalBackup"] or call.inputs["deploymentType"].startswith("SCRATCH"):
        return
    arn = f"arn:aws:fsx:{call.scope.replace('/', ':')}:backup/"
    id_ = new_id("backup")
    call.tx.put(
        Record(
            cloud="aws",
            scope=call.scope,
            type=BACKUP,
            id=id_,
            inputs={"fileSystemId": call.id},
            outputs={"arn": arn + id_, "fileSystemId": call.id, "type": "USER_INITIATED"},
        )
    )


_FSX = "arn:{partition}:fsx:{region}:{account}:"

KINDS = (
    AwsKind(
        token=LUSTRE,
        id_prefix="fs",
        arn=_FSX + "file-system/{id}",
        owned=True,
        immutable=(
            "subnetIds",
            "securityGroupIds",
            "deploymentType",
            "storageType",
            "kmsKeyId",
            "backupId",
            "driveCacheType",
            "importPath",
            "exportPath",
            "importedFileChunkSize",
            "fileSystemTypeVersion",
            "copyTagsToBackups",
            "efaEnabled",
        ),
        replaces=_replaces,
        defaults={"deploymentType": "SCRATCH_1", "storageType": "SSD", "skipFinalBackup": True},
        refs=(Ref(path="subnetIds", target=SUBNET), Ref(path="securityGroupIds[]", target=SECURITY_GROUP)),
        check=_check,
        create=_create,
        delete=_delete,
        not_found="FileSystemNotFound",
    ),
    AwsKind(
        token=ASSOCIATION,
        id_prefix="dra",
        arn=_FSX + "association/{id}",
        immutable=("dataRepositoryPath", "fileSystemId", "fileSystemPath"),
        defaults={"deleteDataInFilesystem": False, "batchImportMetaDataOnCreate": False},
        refs=(Ref(path="fileSystemId", target=LUSTRE, holds=False),),
        create=lambda call: {"associationId": call.id},
    ),
    AwsKind(
        token=BACKUP,
        id_prefix="backup",
        arn=_FSX + "backup/{id}",
        owned=True,
        immutable=("fileSystemId", "volumeId"),
        refs=(Ref(path="fileSystemId", target=LUSTRE, holds=False),),
        create=lambda _: {"type": "USER_INITIATED"},
        not_found="BackupNotFound",
    ),
)
