"""Azure Managed Lustre, and the jobs that move files between it and a container.

Public reports show the code of the quota only; the others are the general one of the service, and the words are ours.
"""

from __future__ import annotations

import re
import tomllib
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from localcloud.azure.identity import IDENTITY, ROLE_ASSIGNMENT, role_of
from localcloud.azure.inline_subnets import SUBNET
from localcloud.azure.kind import AzureKind
from localcloud.azure.objects import CONTAINER, STORAGE_ACCOUNT
from localcloud.azure.refusals import bad_zones, invalid, raise_first, same_region, unchangeable
from localcloud.azure.subnets import blocks_of, next_address, take
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties, first

LUSTRE = "azure-native:storagecache:AmlFilesystem"
_TIME = r"^([0-9]|0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]$"
_HSM = "hsm.settings"
_KEY = "encryptionSettings.keyEncryptionKey"
_KEY_URL = r"^https://[^/]+/keys/[^/]+/[0-9a-f]{32}$"
_ROLES_OF_LINK = {"17d1049b-9a84-46fb-8f53-869881c3d3ab", "ba92f5b4-2d11-453d-a403-e96b0029c9fe"}
"""Storage Account Contributor and Storage Blob Data Contributor, of the service's own principal. Which of a tenant's
principals that is, is not known here: any one that is no identity of ours and has both is taken for it."""
_PREFIX = r"^/"
_MOST_PREFIXES = {"autoExportPrefixes": 1, "autoImportPrefixes": 100, "importPrefixes": 100}


def _check(inputs: Properties) -> Iterator[Failure]:
    zones = inputs.get("zones")
    if isinstance(zones, list) and len(zones) > 1:
        yield Failure("zones", f"'zones' is too long ({len(zones)}): at most 1 elements allowed")
    time = first(inputs, "maintenanceWindow.timeOfDayUTC")
    if time not in (None, UNKNOWN) and not re.match(_TIME, str(time)):
        path = "maintenanceWindow.timeOfDayUTC"
        yield Failure(path, f"'{path}' does not match expression '{_TIME}': got '{time}'")


def _judge(call: Call) -> None:
    raise_first(_tier_refusals(call.inputs))
    raise_first(bad_zones(call, most=1))
    unchangeable(call, "sku", "hsm", "encryptionSettings")
    raise_first(_key_refusals(call.inputs))
    same_region(call, "filesystemSubnet")
    if call.old is not None:
        return
    raise_first(_hsm_refusals(call))
    _judge_number(call)
    subnet = call.find(SUBNET, call.inputs["filesystemSubnet"])
    if subnet is not None:
        _judge_subnet(call, subnet)


def _tier_refusals(inputs: Properties) -> Iterator[Refusal]:
    name, capacity = str(first(inputs, "sku.name", "")), inputs["storageCapacityTiB"]
    tier = _table()["tiers"].get(name)
    if tier is None:
        names = ", ".join(_table()["tiers"])
        yield invalid("sku.name", f"The value '{name}' of parameter 'sku.name' is not allowed. Allowed: {names}.")
    elif tier and (capacity < tier["step_tib"] or capacity % tier["step_tib"]):
        step = tier["step_tib"]
        text = f"The storage capacity of {name} must be a multiple of {step} TiB, {step} at least; found {capacity}."
        yield invalid("storageCapacityTiB", text)


def _judge_number(call: Call) -> None:
    limit = call.cloud.scarcity.quota("azure", "AmlFilesystem")
    most, there = _table()["per_subscription"] if limit is None else limit, len(call.others())
    if there + 1 > most:
        text = (
            "Operation results in exceeding quota limits of resource type AmlFilesystem. Maximum allowed: "
            f"{most}, Current in use: {there}, Additional requested: 1."
        )
        raise Refusal("OperationNotAllowed", text, status=409)


def _judge_subnet(call: Call, subnet: Record) -> None:
    prefix = _prefix_for(call.inputs["storageCapacityTiB"])
    if not any(block.prefixlen <= prefix for block in blocks_of(subnet.inputs)):
        text = f"Subnet {subnet.outputs['name']} is too small for {call.inputs['storageCapacityTiB']} TiB: /{prefix}."
        raise invalid("filesystemSubnet", text)
    if subnet.inputs.get("delegations"):
        raise invalid("filesystemSubnet", f"Subnet {subnet.outputs['name']} is delegated.")
    take(call, subnet, _addresses(call.inputs), "filesystemSubnet")


def _hsm_refusals(call: Call) -> Iterator[Refusal]:
    """The container and that of the log: two of one account, which the service reads with the account's key."""
    settings = first(call.inputs, _HSM)
    if settings is None:
        return
    data, log = (str(settings.get(name, "")) for name in ("container", "loggingContainer"))
    if data.casefold() == log.casefold():
        yield invalid(f"{_HSM}.loggingContainer", "The logging container must be another than the container.")
    accounts = [id_.rpartition("/blobServices/")[0] for id_ in (data, log)]
    if accounts[0].casefold() != accounts[1].casefold():
        yield invalid(f"{_HSM}.loggingContainer", "Both containers must be of one storage account.")
    account = call.find(STORAGE_ACCOUNT, accounts[0])
    if account is not None and account.inputs.get("allowSharedKeyAccess") is False:
        yield invalid(f"{_HSM}.container", f"Shared key access must be allowed on {accounts[0]}.")
    elif account is not None and not _let_in(call, accounts[0]):
        text = f"Storage Container {data} is not found or is inaccessible."
        yield invalid(f"{_HSM}.container", text)


def _let_in(call: Call, account: str) -> bool:
    """Whether a principal of the tenant has both roles on the account or on what it lies in."""
    ours = {record.outputs.get("principalId") for record in call.tx.of_type(IDENTITY)}
    roles: dict[str, set[str]] = {}
    for record in call.tx.of_type(ROLE_ASSIGNMENT):
        scope, principal = (str(record.inputs.get(name, "")).casefold() for name in ("scope", "principalId"))
        within = f"{account.casefold()}/".startswith(f"{scope.rstrip('/')}/")
        if within and record.inputs.get("principalId") not in ours:
            roles.setdefault(principal, set()).add(role_of(record.inputs))
    return any(held >= _ROLES_OF_LINK for held in roles.values())


def _key_refusals(inputs: Properties) -> Iterator[Refusal]:
    url = first(inputs, f"{_KEY}.keyUrl")
    if url is None:
        return
    if not re.match(_KEY_URL, str(url)):
        yield invalid(f"{_KEY}.keyUrl", f"The key URL '{url}' must name a key and its version.")
    if not first(inputs, "identity.userAssignedIdentities"):
        text = "A user-assigned identity that can use the key is needed."
        yield invalid("identity", text)


def _prefix_for(capacity: float) -> int:
    return next((row["prefix"] for row in _table()["subnets"] if capacity <= row["most_tib"]), _largest())


def _largest() -> int:
    return _table()["subnets"][-1]["prefix"]


def _addresses(inputs: Properties) -> int:
    """As many as the documented subnet has: the exact figure is known to the service only."""
    return 2 ** (32 - _prefix_for(inputs["storageCapacityTiB"])) - 5


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("lustre.toml").read_text(encoding="utf-8"))


def _create(call: Call) -> Properties:
    address = next_address(call, call.find(SUBNET, call.inputs["filesystemSubnet"]))
    return {
        "clientInfo": {
            "mgsAddress": address,
            "mountCommand": f"mount -t lustre -o noatime,flock {address}@tcp:/lustrefs /<mount point>",
            "lustreVersion": "2.15",
            "containerStorageInterface": {"persistentVolume": "", "persistentVolumeClaim": "", "storageClass": ""},
        },
        "health": {"state": "Available", "statusCode": "", "statusDescription": "amlFilesystem is ok."},
        "systemData": {"createdBy": str(uuid.UUID(int=0)), "createdByType": "Application"},
    }


def _elsewhere(id_: str, _region: str) -> Properties:
    """Of a filesystem that was there before: what a program needs to mount it."""
    if not re.search(r"/providers/Microsoft\.StorageCache/amlFilesystems/[\w-]+$", id_, re.IGNORECASE):
        raise Refusal("ResourceNotFound", f"The Resource '{id_}' was not found.", status=404)
    address = "10.60.0.4"
    return {"name": id_.rpartition("/")[2], "clientInfo": {"mgsAddress": address, "lustreVersion": "2.15"}}


def _judge_job(call: Call) -> None:
    """Jobs move files of a filesystem that was made with containers, one job at a time."""
    filesystem_id, _, job = call.id.rpartition("/")[0].rpartition("/")
    found = call.tx.with_id(filesystem_id)
    settings = first(found[0].inputs, _HSM) if found else None
    if settings is None:
        raise invalid("amlFilesystemName", f"{filesystem_id} has no blob integration.")
    for name, most in _MOST_PREFIXES.items():
        prefixes = call.inputs.get(name) or []
        if len(prefixes) > most:
            raise invalid(name, f"{most} at most; found {len(prefixes)}.")
        for i, prefix in enumerate(prefixes):
            if not re.match(_PREFIX, str(prefix)):
                raise invalid(f"{name}[{i}]", f"A path begins with a slash; found '{prefix}'.")
    if job == "autoImportJobs":
        _judge_change_feed(call, str(settings["container"]))
    if call.inputs.get("adminStatus", "Enable") != "Enable" and job.startswith("auto"):
        return
    for record in call.tx.below(filesystem_id):
        if record.type in _JOBS and record.id != call.id and record.inputs.get("adminStatus", "Enable") == "Enable":
            text = f"Another import or export job is in progress: {record.id}."
            raise Refusal("Conflict", text, status=409)


def _judge_change_feed(call: Call, container: str) -> None:
    account = call.find(STORAGE_ACCOUNT, container.rpartition("/blobServices/")[0])
    if account is not None and account.inputs.get("isHnsEnabled"):
        text = "The change feed, which automatic import follows, is not supported with a hierarchical namespace."
        raise invalid("amlFilesystemName", text)


def _throughput(call: Call) -> Properties:
    tier = re.search(r"-(\d+)$", str(first(call.inputs, "sku.name", "")))
    per_tib = int(tier[1]) if tier else 0
    return {"throughputProvisionedMBps": int(per_tib * call.inputs["storageCapacityTiB"])}


_JOBS = {
    "azure-native:storagecache:AutoExportJob": "autoExportJob",
    "azure-native:storagecache:AutoImportJob": "autoImportJob",
    "azure-native:storagecache:ImportJob": "importJob",
}

KINDS = (
    AzureKind(
        token=LUSTRE,
        path="Microsoft.StorageCache/amlFilesystems/{amlFilesystemName}",
        api="2024-03-01",
        shortest=2,
        pattern=r"^[0-9a-zA-Z][-0-9a-zA-Z_]*[0-9a-zA-Z]$",
        immutable=("location", "zones", "storageCapacityTiB", "filesystemSubnet"),
        elsewhere=_elsewhere,
        refs=(
            Ref(path="filesystemSubnet", target=SUBNET),
            Ref(path="identity.userAssignedIdentities[]", target=IDENTITY, holds=False),
            Ref(path=f"{_HSM}.container", target=CONTAINER),
            Ref(path=f"{_HSM}.loggingContainer", target=CONTAINER),
        ),
        addresses=lambda record: _addresses(record.inputs),
        check=_check,
        judge=_judge,
        create=_create,
        derive=_throughput,
    ),
    *(
        AzureKind(
            token=token,
            path=f"Microsoft.StorageCache/amlFilesystems/{{amlFilesystemName}}/{word}s/{{{word}Name}}",
            api="2025-07-01",
            shortest=2,
            pattern=r"^[0-9a-zA-Z][-0-9a-zA-Z_]*[0-9a-zA-Z]$",
            immutable=("location",),
            judge=_judge_job,
            create=lambda _: {"systemData": {"createdBy": str(uuid.UUID(int=0)), "createdByType": "Application"}},
        )
        for token, word in _JOBS.items()
    ),
)
