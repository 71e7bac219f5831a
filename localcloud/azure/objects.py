"""Storage accounts, blob containers and lifecycle rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from localcloud.azure.kind import AzureKind, unchangeable
from localcloud.azure.network import SUBNET
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties

STORAGE_ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
_API = "2024-01-01"
_SERVICES = ("blob", "dfs", "file", "queue", "table", "web")
_OPEN = {"bypass": "AzureServices", "defaultAction": "Allow", "ipRules": [], "virtualNetworkRules": []}
"""What an account has that says nothing of networks."""


def _judge_account(call: Call) -> None:
    name = call.inputs["accountName"]
    if any(other.outputs["name"] == name for other in call.others()):
        raise Refusal("StorageAccountAlreadyTaken", f"The storage account named {name} is already taken.", status=409)
    unchangeable(call, "kind", "enableNfsV3")


def _create_account(call: Call) -> Properties:
    name = call.inputs["accountName"]
    return {
        "primaryEndpoints": {service: f"https://{name}.{service}.core.windows.net/" for service in _SERVICES},
        "creationTime": datetime.now(UTC).isoformat(timespec="seconds"),
        "statusOfPrimary": "available",
    }


def _derive_account(call: Call) -> Properties:
    return {
        "primaryLocation": call.inputs.get("location", ""),
        "networkRuleSet": call.inputs.get("networkRuleSet", _OPEN),
        "privateEndpointConnections": [],
    }


def _judge_singleton(call: Call, parameter: str, what: str) -> None:
    name = call.inputs[parameter]
    if name != "default":
        raise Refusal(
            "ResourceNotFound",
            f"The {what} '{name}' does not exist: an account has exactly one, named 'default'.",
            status=404,
        )


def _check_container(inputs: Properties) -> Iterator[Failure]:
    name = inputs.get("containerName")
    if isinstance(name, str) and name != UNKNOWN and "--" in name:
        yield Failure("containerName", f"'{name}' is not a container name: hyphens cannot follow each other")


KINDS = (
    AzureKind(
        token=STORAGE_ACCOUNT,
        path="Microsoft.Storage/storageAccounts/{accountName}",
        api=_API,
        shortest=3,
        longest=24,
        pattern=r"^[a-z0-9]+$",
        immutable=("location", "isHnsEnabled"),
        refs=(Ref(path="networkRuleSet.virtualNetworkRules[].virtualNetworkResourceId", target=SUBNET, holds=False),),
        judge=_judge_account,
        create=_create_account,
        derive=_derive_account,
    ),
    AzureKind(
        token="azure-native:storage:BlobServiceProperties",
        path="Microsoft.Storage/storageAccounts/{accountName}/blobServices/{blobServicesName}",
        api=_API,
        singleton=True,
        judge=lambda call: _judge_singleton(call, "blobServicesName", "blob service"),
    ),
    AzureKind(
        token=CONTAINER,
        path="Microsoft.Storage/storageAccounts/{accountName}/blobServices/default/containers/{containerName}",
        api=_API,
        shortest=3,
        longest=63,
        pattern=r"^(\$root|[a-z0-9][a-z0-9-]*[a-z0-9])$",
        check=_check_container,
        create=lambda _: {"leaseState": "Available", "leaseStatus": "Unlocked", "hasImmutabilityPolicy": False},
    ),
    AzureKind(
        token="azure-native:storage:ManagementPolicy",
        path="Microsoft.Storage/storageAccounts/{accountName}/managementPolicies/{managementPolicyName}",
        api=_API,
        singleton=True,
        judge=lambda call: _judge_singleton(call, "managementPolicyName", "management policy"),
        derive=lambda _: {"lastModifiedTime": datetime.now(UTC).isoformat(timespec="seconds")},
    ),
)
