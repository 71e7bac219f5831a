"""FSx for Lustre, its links to S3, its backups. What is refused of a filesystem: `lustre`."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator

from localcloud.aws import lustre
from localcloud.aws.kind import AwsKind, among, in_range
from localcloud.aws.network import SECURITY_GROUP, SUBNET, new_id
from localcloud.aws.objects import BUCKET
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties, first

LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
ASSOCIATION = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
BACKUP = "aws:fsx/backup:Backup"
_MOUNT_NAME_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_THROUGHPUT = (12, 40, 50, 100, 125, 200, 250, 500, 1000)
_MOST_LINKS = 8


def _check(inputs: Properties) -> Iterator[Failure]:
    key = inputs.get("kmsKeyId")
    if isinstance(key, str) and UNKNOWN not in key and not key.startswith("arn:"):
        yield Failure("kmsKeyId", f'"kms_key_id" ({key}) is an invalid ARN: arn: invalid prefix')
    yield from among(inputs, "perUnitStorageThroughput", _THROUGHPUT)
    yield from among(inputs, "fileSystemTypeVersion", ("2.10", "2.12", "2.15"))
    yield from in_range(inputs, "storageCapacity", 1200)
    start = inputs.get("weeklyMaintenanceStartTime")
    if start not in (None, UNKNOWN) and not re.fullmatch(r"[1-7]:([01]\d|2[0-3]):[0-5]\d", start):
        yield Failure("weeklyMaintenanceStartTime", f"must be in the format d:HH:MM, as in 7:03:00; got {start}")
    if inputs.get("metadataConfiguration") and inputs.get("deploymentType") != "PERSISTENT_2":
        yield Failure(
            "metadataConfiguration",
            "metadata_configuration can only be set when deployment type is PERSISTENT_2",
        )


def _judge(call: Call) -> None:
    lustre.judge(call)
    if call.old is not None and call.inputs.get("automaticBackupRetentionDays") and links_of(call, call.id):
        text = f"{call.id} is linked to S3, and such a file system has no backups"
        raise Refusal("BadRequest", f"automaticBackupRetentionDays: {text}")


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
        "networkInterfaceIds": [new_id("eni") for _ in range(lustre.interfaces_of(call.inputs))],
        "vpcId": subnet.inputs["vpcId"] if subnet else "",
        "fileSystemTypeVersion": _version(call.inputs),
        "weeklyMaintenanceStartTime": "7:03:00",
        "automaticBackupRetentionDays": 0,
        "dataCompressionType": "NONE",
    }


def _elsewhere(id_: str, region: str) -> Properties:
    """Of a filesystem that was there before: what a program needs to mount it."""
    if not re.fullmatch(r"fs-[0-9a-f]{8,}", id_):
        raise Refusal("FileSystemNotFound", f"File system '{id_}' does not exist.")
    return {
        "id": id_,
        "dnsName": f"{id_}.fsx.{region}.amazonaws.com",
        "mountName": f"{id_[-5:]}bmv",
        "efaEnabled": False,
    }


def _version(inputs: Properties) -> str:
    """What FSx takes where none is said."""
    if inputs["deploymentType"] != "PERSISTENT_2":
        return "2.10"
    return "2.15" if inputs.get("metadataConfiguration") else "2.12"


def _check_link(inputs: Properties) -> Iterator[Failure]:
    for name, begin in (("dataRepositoryPath", "s3://"), ("fileSystemPath", "/")):
        path = inputs.get(name)
        if isinstance(path, str) and UNKNOWN not in path and not path.startswith(begin):
            yield Failure(name, f"it must begin with {begin}; got {path}")


def _judge_link(call: Call) -> None:
    """Limits and overlaps are documented; the wording of the refusals is assumed."""
    system = call.find(LUSTRE, call.inputs["fileSystemId"])
    if system is not None:
        _judge_linked(system)
    path = call.inputs["fileSystemPath"]
    others = links_of(call, call.inputs["fileSystemId"])
    if call.old is None and len(others) >= _MOST_LINKS:
        raise Refusal("ServiceLimitExceeded", f"fileSystemId: it has {len(others)} associations; {_MOST_LINKS} is all")
    for other in others:
        if _overlap(path, other.inputs["fileSystemPath"]):
            raise Refusal(
                "BadRequest", f"fileSystemPath: {path} overlaps {other.inputs['fileSystemPath']} of {other.id}"
            )
    name = call.inputs["dataRepositoryPath"].removeprefix("s3://").partition("/")[0]
    bucket = call.tx.get("", BUCKET, name)
    if bucket is None:
        call.warn(f"dataRepositoryPath: the bucket {name} is not of this local cloud; taken as something that exists")
    elif call.inputs.get("s3") and bucket.outputs["bucketRegion"] != call.region:
        raise Refusal(
            "BadRequest",
            f"dataRepositoryPath: automatic import and export need a bucket in {call.region}; {name} is in "
            f"{bucket.outputs['bucketRegion']}",
        )


def _judge_linked(system: Record) -> None:
    said, version = system.inputs, system.outputs["fileSystemTypeVersion"]
    if said["deploymentType"] == "SCRATCH_1" or said["storageType"] == "INTELLIGENT_TIERING" or version == "2.10":
        raise Refusal(
            "BadRequest",
            f"fileSystemId: {system.id} ({said['deploymentType']}, {said['storageType']}, Lustre {version}) takes no "
            "data repository associations: Lustre 2.12 or later is needed, not SCRATCH_1 and not INTELLIGENT_TIERING",
        )
    if said.get("importPath"):
        raise Refusal("BadRequest", f"fileSystemId: {system.id} is linked to S3 by importPath already")
    if said.get("automaticBackupRetentionDays"):
        raise Refusal("BadRequest", f"fileSystemId: {system.id} has automatic backups, which no linked file system has")


def links_of(call: Call, system: str) -> list[Record]:
    return [link for link in call.others(ASSOCIATION) if link.inputs["fileSystemId"] == system]


def _overlap(one: str, other: str) -> bool:
    a, b = (f"{path.rstrip('/')}/" for path in (one, other))
    return a.startswith(b) or b.startswith(a)


def _judge_backup(call: Call) -> None:
    system = call.find(LUSTRE, call.inputs.get("fileSystemId"))
    if system is None:
        return
    if system.inputs["deploymentType"].startswith("SCRATCH"):
        raise Refusal("BadRequest", f"fileSystemId: {system.id} is a scratch file system, which has no backups")
    if links_of(call, system.id):
        raise Refusal("BadRequest", f"fileSystemId: {system.id} is linked to S3, and such a file system has no backups")


def _delete(call: Call) -> None:
    """A persistent filesystem leaves its last state as a backup, unless that was declined before."""
    if call.inputs["skipFinalBackup"] or call.inputs["deploymentType"].startswith("SCRATCH"):
        return
    if links_of(call, call.id):
        raise Refusal("BadRequest", f"skipFinalBackup: {call.id} is linked to S3, so that no final backup can be taken")
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
        judge=_judge,
        create=_create,
        delete=_delete,
        elsewhere=_elsewhere,
        not_found="FileSystemNotFound",
    ),
    AwsKind(
        token=ASSOCIATION,
        id_prefix="dra",
        arn=_FSX + "association/{id}",
        immutable=("dataRepositoryPath", "fileSystemId", "fileSystemPath"),
        defaults={"deleteDataInFilesystem": False, "batchImportMetaDataOnCreate": False},
        refs=(Ref(path="fileSystemId", target=LUSTRE, holds=False),),
        check=_check_link,
        judge=_judge_link,
        create=lambda call: {"associationId": call.id},
    ),
    AwsKind(
        token=BACKUP,
        id_prefix="backup",
        arn=_FSX + "backup/{id}",
        owned=True,
        immutable=("fileSystemId", "volumeId"),
        refs=(Ref(path="fileSystemId", target=LUSTRE, holds=False),),
        judge=_judge_backup,
        create=lambda _: {"type": "USER_INITIATED"},
        not_found="BackupNotFound",
    ),
)
