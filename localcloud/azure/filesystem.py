"""Azure Managed Lustre."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

from localcloud.addresses import free_address
from localcloud.azure.kind import AzureKind, unchangeable
from localcloud.azure.network import SUBNET, prefixes_of
from localcloud.kinds import Call, Ref
from localcloud.schema import Failure
from localcloud.values import Properties, first

LUSTRE = "azure-native:storagecache:AmlFilesystem"


def _check(inputs: Properties) -> Iterator[Failure]:
    zones = inputs.get("zones")
    if isinstance(zones, list) and len(zones) > 1:
        yield Failure("zones", f"'zones' takes one availability zone; found {len(zones)}")
    if not first(inputs, "sku.name"):
        yield Failure("sku.name", "missing required property 'sku.name': it names the throughput tier")


def _create(call: Call) -> Properties:
    subnet = call.find(SUBNET, call.inputs["filesystemSubnet"])
    address = free_address(call.tx, next(iter(prefixes_of(subnet.inputs)), None) if subnet else None)
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
        refs=(Ref(path="filesystemSubnet", target=SUBNET),),
        check=_check,
        judge=lambda call: unchangeable(call, "sku", "hsm", "encryptionSettings"),
        create=_create,
        derive=_throughput,
    ),
)
