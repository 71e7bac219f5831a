"""Storage accounts, blob containers and lifecycle rules. What their own inputs may say: `storage_rules`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from localcloud.azure.inline_subnets import SUBNET
from localcloud.azure.kind import AzureKind
from localcloud.azure.refusals import raise_first, unchangeable
from localcloud.azure.storage_rules import account_refusals, bad_value, lifecycle_refusals, service_refusals
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, at, first

STORAGE_ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
_API = "2024-01-01"
_MOST_DAYS = 365
_RULES = "networkRuleSet.virtualNetworkRules[]"
_SERVICES = ("blob", "dfs", "file", "queue", "table", "web")
_OPEN = {"bypass": "AzureServices", "defaultAction": "Allow", "ipRules": [], "virtualNetworkRules": []}
"""What an account has that says nothing of networks."""


def _judge_account(call: Call) -> None:
    name = call.inputs["accountName"]
    if any(other.outputs["name"] == name for other in call.others()):
        raise Refusal("StorageAccountAlreadyTaken", f"The storage account named {name} is already taken.", status=409)
    unchangeable(call, "kind", "enableNfsV3")
    raise_first(account_refusals(call.inputs))
    raise_first(_network_refusals(call))
    if call.old is not None:
        before, after = (str(first(props, "sku.name")) for props in (call.old.inputs, call.inputs))
        if before.partition("_")[0] != after.partition("_")[0]:
            raise bad_value("sku.name", after, f"An account of {before} stays what it is.")


def _network_refusals(call: Call) -> Iterator[Refusal]:
    for place, id_ in at(call.inputs, f"{_RULES}.virtualNetworkResourceId"):
        subnet = call.find(SUBNET, id_)
        services = {str(service) for _, service in at(subnet.inputs, "serviceEndpoints[].service")} if subnet else set()
        if subnet is not None and not services & {"Microsoft.Storage", "Microsoft.Storage.Global"}:
            text = (
                "Validation of network acls failure: SubnetsHaveNoServiceEndpointsConfigured:Subnets "
                f"{subnet.outputs['name']} of virtual network {id_.rpartition('/subnets/')[0]} do not have "
                "ServiceEndpoints for Microsoft.Storage resources configured. Add Microsoft.Storage to subnet's "
                "ServiceEndpoints collection before trying to ACL Microsoft.Storage resources to these subnets.."
            )
            yield Refusal("NetworkAclsValidationFailure", text, target=place)


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
            target=parameter,
        )


def _account_of(call: Call) -> Properties:
    return next(record.inputs for record in call.tx.with_id("/".join(call.id.split("/")[:9])))


def _judge_service(call: Call) -> None:
    _judge_singleton(call, "blobServicesName", "blob service")
    raise_first(service_refusals(call.inputs, _account_of(call)))


def _judge_policy(call: Call) -> None:
    _judge_singleton(call, "managementPolicyName", "management policy")
    raise_first(lifecycle_refusals(call.inputs, _account_of(call)))


def _check_service(inputs: Properties) -> Iterator[Failure]:
    for name in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy"):
        path = f"{name}.days"
        days = first(inputs, path)
        if isinstance(days, int) and not 1 <= days <= _MOST_DAYS:
            bound = f"too low ({days} < 1)" if days < 1 else f"too high ({days} > {_MOST_DAYS})"
            yield Failure(path, f"'{path}' is {bound}")


def _judge_container(call: Call) -> None:
    public = call.inputs.get("publicAccess")
    account = _account_of(call)
    if account.get("kind") == "FileStorage":
        text = "Blob is not supported for the account."
        raise Refusal("FeatureNotSupportedForAccount", text, target="accountName")
    if public not in (None, "None") and not account.get("allowBlobPublicAccess"):
        text = "Public access is not permitted on this storage account."
        raise Refusal("PublicAccessNotPermitted", text, status=409, target="publicAccess")


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
        refs=(Ref(path=f"{_RULES}.virtualNetworkResourceId", target=SUBNET, holds=False),),
        judge=_judge_account,
        create=_create_account,
        derive=_derive_account,
    ),
    AzureKind(
        token="azure-native:storage:BlobServiceProperties",
        path="Microsoft.Storage/storageAccounts/{accountName}/blobServices/{blobServicesName}",
        api=_API,
        singleton=True,
        check=_check_service,
        judge=_judge_service,
    ),
    AzureKind(
        token=CONTAINER,
        path="Microsoft.Storage/storageAccounts/{accountName}/blobServices/default/containers/{containerName}",
        api=_API,
        shortest=3,
        longest=63,
        pattern=r"^(\$root|[a-z0-9][a-z0-9-]*[a-z0-9])$",
        check=_check_container,
        judge=_judge_container,
        create=lambda _: {"leaseState": "Available", "leaseStatus": "Unlocked", "hasImmutabilityPolicy": False},
    ),
    AzureKind(
        token="azure-native:storage:ManagementPolicy",
        path="Microsoft.Storage/storageAccounts/{accountName}/managementPolicies/{managementPolicyName}",
        api=_API,
        singleton=True,
        judge=_judge_policy,
        derive=lambda _: {"lastModifiedTime": datetime.now(UTC).isoformat(timespec="seconds")},
    ),
)
