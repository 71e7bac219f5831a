"""Private endpoints, private DNS zones and what ties them together."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.addresses import free_address
from localcloud.azure.kind import AzureKind
from localcloud.azure.network import SUBNET, VIRTUAL_NETWORK, prefixes_of
from localcloud.azure.objects import STORAGE_ACCOUNT
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, at

ENDPOINT = "azure-native:network:PrivateEndpoint"
ZONE_GROUP = "azure-native:network:PrivateDnsZoneGroup"
ZONE = "azure-native:privatedns:PrivateZone"
LINK = "azure-native:privatedns:VirtualNetworkLink"
_API = "2024-05-01"
_DNS_API = "2024-06-01"


def _check_endpoint(inputs: Properties) -> Iterator[Failure]:
    connections = inputs.get("privateLinkServiceConnections") or inputs.get("manualPrivateLinkServiceConnections")
    if not connections:
        yield Failure(
            "privateLinkServiceConnections",
            "missing required property 'privateLinkServiceConnections': an endpoint needs what it leads to",
        )


def _create_endpoint(call: Call) -> Properties:
    subnet_id = (call.inputs.get("subnet") or {}).get("id")
    subnet = call.find(SUBNET, subnet_id) if subnet_id else None
    address = free_address(call.tx, next(iter(prefixes_of(subnet.inputs)), None) if subnet else None)
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
        immutable=("location", "subnet"),
        refs=(
            Ref(path="subnet.id", target=SUBNET),
            Ref(path="privateLinkServiceConnections[].privateLinkServiceId", target=STORAGE_ACCOUNT, holds=False),
        ),
        check=_check_endpoint,
        create=_create_endpoint,
    ),
    AzureKind(
        token=ZONE_GROUP,
        path="Microsoft.Network/privateEndpoints/{privateEndpointName}/privateDnsZoneGroups/{privateDnsZoneGroupName}",
        api=_API,
        refs=(Ref(path="privateDnsZoneConfigs[].privateDnsZoneId", target=ZONE, holds=False),),
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
        create=lambda _: {"virtualNetworkLinkState": "Completed"},
    ),
)
