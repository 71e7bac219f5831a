"""Azure Managed Lustre.

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
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HSM = "hsm.settings"


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
    raise_first(_hsm_refusals(call))
    unchangeable(call, "sku", "hsm", "encryptionSettings")
    same_region(call, "filesystemSubnet")
    if call.old is not None:
        return
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
    day = first(inputs, "maintenanceWindow.dayOfWeek")
    if day not in _DAYS:
        yield invalid("maintenanceWindow.dayOfWeek", f"'{day}' is not one of {', '.join(_DAYS)}.")


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


def _throughput(call: Call) -> Properties:
    tier = re.search(r"-(\d+)$", str(first(call.inputs, "sku.name", "")))
    per_tib = int(tier[1]) if tier else 0
    return {"throughputProvisionedMBps": int(per_tib * call.inputs["storageCapacityTiB"])}


KINDS = (
    AzureKind(
        token=LUSTRE,
        path="Microsoft.StorageCache/amlFilesystems/{amlFilesystemName}",
        api="2024-03-01",
        shortest=2,
        pattern=r"^[0-9a-zA-Z][-0-9a-zA-Z_]*[0-9a-zA-Z]$",
        immutable=("location", "zones", "storageCapacityTiB", "filesystemSubnet"),
        refs=(
            Ref(path="filesystemSubnet", target=SUBNET),
            Ref(path=f"{_HSM}.container", target=CONTAINER),
            Ref(path=f"{_HSM}.loggingContainer", target=CONTAINER),
        ),
        addresses=lambda record: _addresses(record.inputs),
        check=_check,
        judge=_judge,
        create=_create,
        derive=_throughput,
    ),
)
