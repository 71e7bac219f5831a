"""What FSx refuses of a Lustre filesystem: sizes, throughput, options of each deployment, and its network.

Known, from its user guide and from issues: the texts on capacity, on throughput and on security groups, whose rules FSx
looks at when it creates. Assumed: the wording of the other refusals, and the number of addresses, which FSx does not
publish. Rows: `filesystem`. Data: lustre.toml.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from localcloud.aws.network import SECURITY_GROUP, SUBNET, VPC, free_addresses, vpc_of
from localcloud.aws.nodes import running
from localcloud.aws.rules import Rule, allows_all_within, rules_of
from localcloud.kinds import Call, Refusal
from localcloud.store import Record
from localcloud.values import Properties, first

_PORT = 988
_MORE_PORTS = (1018, 1023)
_GIB_PER_SERVER = 2400
_METADATA_IOPS = (1500, 3000, 6000, 12000)
_METADATA_STEP = 12000
_TIERING = "INTELLIGENT_TIERING"
_TIERING_MBPS = 4000
_PERSISTENT_ONLY = (
    "kmsKeyId",
    "automaticBackupRetentionDays",
    "dailyAutomaticBackupStartTime",
    "copyTagsToBackups",
)
_OLD_LINKS = ("importPath", "exportPath", "importedFileChunkSize", "autoImportPolicy")


def judge(call: Call) -> None:
    _judge_deployment(call.inputs)
    if call.inputs["storageType"] == _TIERING:
        _judge_tiering(call.inputs)
    else:
        _judge_size(call)
    _judge_metadata(call.inputs)
    if _changes(call, "storageCapacity"):
        _judge_growth(call.inputs)
    if call.old is None:
        _judge_network(call)
    elif call.inputs.get("efaEnabled") and _changes(call, "perUnitStorageThroughput"):
        raise _bad("perUnitStorageThroughput", "the throughput of an EFA-enabled file system cannot be changed")


def interfaces_of(inputs: Properties) -> int:
    if inputs["storageType"] == _TIERING:
        return 1 + -(-(inputs.get("throughputCapacity") or _TIERING_MBPS) // _TIERING_MBPS)
    return 1 + -(-(inputs.get("storageCapacity") or 0) // _GIB_PER_SERVER)


def _bad(path: str, text: str) -> Refusal:
    return Refusal("BadRequest", f"{path}: {text}")


def _changes(call: Call, name: str) -> bool:
    return call.old is not None and call.old.inputs.get(name) != call.inputs.get(name)


def _judge_deployment(inputs: Properties) -> None:
    deployment, storage = inputs["deploymentType"], inputs["storageType"]
    persistent = deployment.startswith("PERSISTENT")
    if storage == "HDD" and deployment != "PERSISTENT_1":
        raise _bad("storageType", f"HDD storage is for PERSISTENT_1 only, not for {deployment}")
    if storage == _TIERING and deployment != "PERSISTENT_2":
        raise _bad("storageType", f"{_TIERING} is for PERSISTENT_2 only, not for {deployment}")
    if (storage == "HDD") != bool(inputs.get("driveCacheType")):
        raise _bad("driveCacheType", "NONE or READ is needed with HDD storage, and only there")
    for name in _PERSISTENT_ONLY:
        if inputs.get(name) and not persistent:
            raise _bad(name, f"it is for persistent file systems only, not for {deployment}")
    for name in _OLD_LINKS:
        if inputs.get(name) and deployment == "PERSISTENT_2":
            raise _bad(name, "PERSISTENT_2 is linked to S3 by data repository associations only")
    if inputs.get("importPath") and inputs.get("automaticBackupRetentionDays"):
        raise _bad("automaticBackupRetentionDays", "a file system that is linked to S3 by importPath has no backups")
    if deployment == "PERSISTENT_2" and inputs.get("fileSystemTypeVersion") == "2.10":
        raise _bad("fileSystemTypeVersion", "PERSISTENT_2 needs Lustre 2.12 or 2.15")
    group = str(first(inputs, "logConfiguration.destination", "") or "").partition(":log-group:")[2]
    if group and not group.startswith("/aws/fsx"):
        raise _bad("logConfiguration.destination", f"the name of the log group must begin with /aws/fsx; found {group}")


def _judge_size(call: Call) -> None:
    inputs = call.inputs
    deployment, storage = inputs["deploymentType"], inputs["storageType"]
    tiers = [t for t in _tiers() if (t["deployment"], t["storage"]) == (deployment, storage)]
    per_tib, capacity = inputs.get("perUnitStorageThroughput"), inputs.get("storageCapacity")
    sold = sorted(mbps for tier in tiers for mbps in tier.get("throughput", ()))
    if per_tib not in (sold or [None]):
        rule = f"{deployment} {storage} takes {', '.join(map(str, sold))}" if sold else f"{deployment} takes none"
        raise _bad(
            "perUnitStorageThroughput",
            "Invalid Lustre deployment configuration: the provided throughput is invalid or does not meet the storage "
            f"capacity requirement: {rule}; found {per_tib or 'none'}.",
        )
    if inputs.get("backupId") and capacity is None:
        return
    tier = next(t for t in tiers if per_tib in t.get("throughput", [None]))
    also = tier["also"] if not _changes(call, "storageCapacity") else []  # what grows, grows by whole steps
    if not capacity or (capacity not in also and capacity % tier["step"]):
        legal = f"{' or '.join(map(str, also))} or a multiple" if also else "a multiple"
        raise _bad(
            "storageCapacity",
            f"Invalid Lustre FS storage capacity: {capacity}. Must be {legal} of {tier['step']}.",
        )
    if inputs.get("efaEnabled"):
        _judge_efa(inputs, capacity, tier.get("efa_step"))


def _judge_efa(inputs: Properties, capacity: int, step: int | None) -> None:
    if step is None:
        raise _bad("efaEnabled", f"EFA is for PERSISTENT_2 only, not for {inputs['deploymentType']}")
    if not inputs.get("metadataConfiguration"):
        raise _bad("efaEnabled", "EFA needs a metadataConfiguration")
    if capacity % step:
        raise _bad(
            "storageCapacity",
            f"Invalid Lustre FS storage capacity: {capacity}. Must be a multiple of {step} with EFA at "
            f"{inputs['perUnitStorageThroughput']} MB/s/TiB.",
        )


def _judge_tiering(inputs: Properties) -> None:
    for name in ("storageCapacity", "perUnitStorageThroughput"):
        if inputs.get(name):
            raise _bad(name, f"a file system with {_TIERING} has none")
    mbps = inputs.get("throughputCapacity")
    if not mbps or mbps % _TIERING_MBPS:
        raise _bad("throughputCapacity", f"it must be a multiple of {_TIERING_MBPS} MB/s; found {mbps or 'none'}")
    for name in ("metadataConfiguration", "dataReadCacheConfiguration"):
        if not inputs.get(name):
            raise _bad(name, f"a file system with {_TIERING} needs it")


def _judge_metadata(inputs: Properties) -> None:
    said = inputs.get("metadataConfiguration")
    if not said:
        return
    mode, iops = said.get("mode"), said.get("iops")
    if mode == "AUTOMATIC" and iops:
        raise _bad("metadataConfiguration.iops", "it must be left out in the mode AUTOMATIC")
    if mode == "USER_PROVISIONED" and iops not in _METADATA_IOPS and (not iops or iops % _METADATA_STEP):
        values = ", ".join(map(str, _METADATA_IOPS))
        raise _bad("metadataConfiguration.iops", f"it must be {values} or a multiple of {_METADATA_STEP}; found {iops}")


def _judge_growth(inputs: Properties) -> None:
    capacity, iops = inputs.get("storageCapacity") or 0, first(inputs, "metadataConfiguration.iops")
    rows = [row for row in _data()["metadata"] if row[0] <= capacity]
    if not iops or not rows:
        return
    least = rows[-1][1] * (capacity // rows[-1][0] if rows[-1] is _data()["metadata"][-1] else 1)
    if iops < least:
        raise _bad(
            "storageCapacity",
            f"Unable to perform the storage capacity update: {capacity} GiB need at least {least} metadata IOPS, and "
            f"{iops} are provisioned",
        )


def _judge_network(call: Call) -> None:
    subnet = call.find(SUBNET, call.inputs["subnetIds"])  # the SDK takes the one subnet as a string
    groups = call.inputs.get("securityGroupIds") or _default_group(call, subnet)
    for i, group in enumerate(groups):
        record = call.find(SECURITY_GROUP, group)
        if record is not None and subnet is not None and vpc_of(record) != vpc_of(subnet):
            raise Refusal(
                "InvalidNetworkSettings", f"securityGroupIds[{i}]: {group} and {subnet.id} are in different VPCs."
            )
    _judge_rules(call, groups)
    needed = interfaces_of(call.inputs)
    if subnet is not None:
        free = free_addresses(call.tx, subnet, running(call.tx, subnet.scope))
        if free < needed:
            raise Refusal(
                "InvalidNetworkSettings",
                f"subnetIds: {subnet.id} has {max(free, 0)} free addresses; the file system takes {needed}.",
            )


def _default_group(call: Call, subnet: Record | None) -> list[str]:
    vpc = call.find(VPC, vpc_of(subnet)) if subnet else None
    return [vpc.outputs["defaultSecurityGroupId"]] if vpc else []


def _judge_rules(call: Call, groups: list[str]) -> None:
    known = {group: rules_of(call, group) for group in groups}
    rules: list[Rule] = []
    for found in known.values():
        if found is None:
            return
        rules += found
    if not groups:
        return
    if not any(rule.way == "ingress" and rule.covers("tcp", _PORT) for rule in rules):
        raise Refusal(
            "InvalidNetworkSettings",
            "securityGroupIds: The file system cannot be created because the default security group in the subnet "
            "provided or the provided security groups do not permit Lustre LNET network traffic on port 988",
        )
    if call.inputs.get("efaEnabled") and not any(allows_all_within(found or (), g) for g, found in known.items()):
        raise Refusal(
            "InvalidNetworkSettings",
            "securityGroupIds: Insufficient security group permissions to create an EFA-enabled file system. Update "
            "security group to allow all internal inbound and outbound traffic.",
        )
    for port in _MORE_PORTS:
        if not any(rule.way == "ingress" and rule.covers("tcp", port) for rule in rules):
            call.warn(f"no rule lets TCP {port} in: FSx makes the file system, and clients cannot mount it")
            return


def _tiers() -> list[Properties]:
    return _data()["tier"]


@cache
def _data() -> Properties:
    return tomllib.loads(Path(__file__).with_name("lustre.toml").read_text())
