"""Private endpoints, private DNS zones and what ties them together.

Where no public report shows Azure's code for a rule, it is BadRequest.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.azure.inline_subnets import SUBNET, VIRTUAL_NETWORK
from localcloud.azure.kind import AzureKind
from localcloud.azure.objects import STORAGE_ACCOUNT
from localcloud.azure.refusals import raise_first, same_region, stay
from localcloud.azure.subnets import next_address, take
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, at, first

ENDPOINT = "azure-native:network:PrivateEndpoint"
ZONE_GROUP = "azure-native:network:PrivateDnsZoneGroup"
ZONE = "azure-native:privatedns:PrivateZone"
LINK = "azure-native:privatedns:VirtualNetworkLink"
_API = "2024-05-01"
_DNS_API = "2024-06-01"
_CONNECTIONS = "privateLinkServiceConnections"
_GROUPS = {
    "StorageV2": ("blob", "dfs", "file", "queue", "table", "web"),
    "BlobStorage": ("blob",),
    "BlockBlobStorage": ("blob", "dfs", "web"),
    "FileStorage": ("file",),
}
"""Parts of a storage account that an endpoint can lead to, by kind; each also as `_secondary`.
Source: Azure documents on private endpoints for storage."""
_MOST_ZONES = 5
"""Of one zone group. Source: Azure documents on private endpoint DNS."""


def _check_endpoint(inputs: Properties) -> Iterator[Failure]:
    connections = inputs.get("privateLinkServiceConnections") or inputs.get("manualPrivateLinkServiceConnections")
    if not connections:
        yield Failure(
            "privateLinkServiceConnections",
            "missing required property 'privateLinkServiceConnections': an endpoint needs what it leads to",
        )


def _judge_endpoint(call: Call) -> None:
    stay(call)
    same_region(call, "subnet.id")
    raise_first(_group_refusals(call))
    subnet = call.find(SUBNET, first(call.inputs, "subnet.id", ""))
    if subnet is not None and call.old is None:
        take(call, subnet, 1, "subnet.id")


def _group_refusals(call: Call) -> Iterator[Refusal]:
    for i, connection in enumerate(call.inputs.get(_CONNECTIONS) or []):
        account = call.find(STORAGE_ACCOUNT, connection.get("privateLinkServiceId", ""))
        if account is None:
            continue
        place, groups = f"{_CONNECTIONS}[{i}].groupIds", connection.get("groupIds") or []
        kind = str(account.inputs.get("kind"))
        if kind == "Storage":
            text = "Call to Microsoft.Storage/storageAccounts failed. Error message: The operation is not allowed on "
            yield Refusal("BadRequest", f"{text}account kind Storage.", target=place)
            continue
        allowed = _GROUPS.get(kind, ())
        if len(groups) != 1 or str(groups[0]).removesuffix("_secondary") not in allowed:
            text = f"One group id of a {kind} account is needed, found {groups}. It has: {', '.join(allowed)}."
            yield Refusal("BadRequest", text, target=place)


def _create_endpoint(call: Call) -> Properties:
    address = next_address(call, call.find(SUBNET, first(call.inputs, "subnet.id", "")))
    configs = [
        {"fqdn": f"{service.rpartition('/')[2]}.{group}.core.windows.net", "ipAddresses": [address]}
        for service, group in _targets(call.inputs)
    ]
    group_id = call.id.partition("/providers/")[0]
    name = call.id.rpartition("/")[2]
    return {
        "customDnsConfigs": configs,
        "networkInterfaces": [{"id": f"{group_id}/providers/Microsoft.Network/networkInterfaces/{name}.nic"}],
    }


def _targets(inputs: Properties) -> Iterator[tuple[str, str]]:
    for _, connection in at(inputs, "privateLinkServiceConnections[]"):
        for group in connection.get("groupIds") or []:
            yield connection.get("privateLinkServiceId", ""), group


def _check_global(inputs: Properties) -> Iterator[Failure]:
    location = inputs.get("location")
    if location not in (None, UNKNOWN) and str(location).casefold() != "global":
        yield Failure(
            "location",
            f"The provided location '{location}' is not available for this resource type: private DNS is 'global'",
        )


def _judge_zone_group(call: Call) -> None:
    endpoint = call.id.rpartition("/privateDnsZoneGroups/")[0]
    if any(record.type == ZONE_GROUP and record.key != call.id.casefold() for record in call.tx.below(endpoint)):
        text = "Cannot create more than one private dns zone groups in the private endpoint"
        raise Refusal("BadRequest", f"{text} {endpoint.rpartition('/')[2]}.", target="privateDnsZoneGroupName")
    configs = call.inputs.get("privateDnsZoneConfigs") or []
    zones = [str(config.get("privateDnsZoneId", "")).rpartition("/")[2].casefold() for config in configs]
    for i, zone in enumerate(zones):
        if zone in zones[:i]:
            text = f"Resource {call.id} has two child resources with the same name ({zone})."
            raise Refusal("DuplicateResourceName", text, target=f"privateDnsZoneConfigs[{i}].privateDnsZoneId")
    if len(zones) > _MOST_ZONES:
        text = f"A private dns zone group has {_MOST_ZONES} zones at most; found {len(zones)}."
        raise Refusal("BadRequest", text, target="privateDnsZoneConfigs")


def _judge_link(call: Call) -> None:
    network = str(first(call.inputs, "virtualNetwork.id", "")).casefold()
    zone = call.inputs["privateZoneName"]
    for other in call.others():
        if str(first(other.inputs, "virtualNetwork.id", "")).casefold() != network:
            continue
        if other.inputs["privateZoneName"].casefold() == zone.casefold():
            text = (
                "A virtual network cannot be linked to multiple zones with overlapping namespaces. You tried to link "
                f"virtual network with '{other.inputs['privateZoneName']}' and '{zone}' zones."
            )
            raise Refusal("BadRequest", f"{text} (linked by {other.id})", target="virtualNetwork.id")
        if other.inputs.get("registrationEnabled") and call.inputs.get("registrationEnabled"):
            text = f"A virtual network registers its names in one zone; {other.id} has registration enabled."
            raise Refusal("BadRequest", text, target="registrationEnabled")


def _keep_while_linked(call: Call) -> None:
    if any(record.type == LINK for record in call.tx.below(call.id)):
        raise Refusal(
            "CannotDeleteResource",
            "Can not delete resource before nested resources are deleted: the zone still has virtual network links.",
            status=409,
        )


KINDS = (
    AzureKind(
        token=ENDPOINT,
        path="Microsoft.Network/privateEndpoints/{privateEndpointName}",
        api=_API,
        immutable=("subnet",),
        refs=(
            Ref(path="subnet.id", target=SUBNET),
            Ref(path="privateLinkServiceConnections[].privateLinkServiceId", target=STORAGE_ACCOUNT, holds=False),
        ),
        addresses=lambda _: 1,
        check=_check_endpoint,
        judge=_judge_endpoint,
        create=_create_endpoint,
    ),
    AzureKind(
        token=ZONE_GROUP,
        path="Microsoft.Network/privateEndpoints/{privateEndpointName}/privateDnsZoneGroups/{privateDnsZoneGroupName}",
        api=_API,
        refs=(Ref(path="privateDnsZoneConfigs[].privateDnsZoneId", target=ZONE, holds=False),),
        judge=_judge_zone_group,
    ),
    AzureKind(
        token=ZONE,
        path="Microsoft.Network/privateDnsZones/{privateZoneName}",
        api=_DNS_API,
        longest=253,
        pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)+$",
        check=_check_global,
        create=lambda _: {"numberOfRecordSets": 1, "maxNumberOfRecordSets": 25000},
        delete=_keep_while_linked,
    ),
    AzureKind(
        token=LINK,
        path="Microsoft.Network/privateDnsZones/{privateZoneName}/virtualNetworkLinks/{virtualNetworkLinkName}",
        api=_DNS_API,
        refs=(Ref(path="virtualNetwork.id", target=VIRTUAL_NETWORK, holds=False),),
        check=_check_global,
        judge=_judge_link,
        create=lambda _: {"virtualNetworkLinkState": "Completed"},
    ),
)
