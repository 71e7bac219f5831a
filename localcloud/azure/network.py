"""Virtual networks, subnets, security groups, public addresses and NAT.

Private endpoints and their DNS: `private_link`.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterator
from itertools import combinations

from localcloud.addresses import network_of
from localcloud.azure.kind import AzureKind
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, at

VIRTUAL_NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
SECURITY_GROUP = "azure-native:network:NetworkSecurityGroup"
PUBLIC_ADDRESS = "azure-native:network:PublicIPAddress"
NAT_GATEWAY = "azure-native:network:NatGateway"
_API = "2024-05-01"
_NAME = r"^[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9_])?$"


def prefixes_of(subnet: Properties) -> list[str]:
    return subnet.get("addressPrefixes") or [p for p in [subnet.get("addressPrefix")] if p]


def _check_network(inputs: Properties) -> Iterator[Failure]:
    if not inputs.get("addressSpace"):
        yield Failure(
            "addressSpace", "missing required property 'addressSpace': a virtual network needs address prefixes"
        )
    for path, prefix in at(inputs, "addressSpace.addressPrefixes[]"):
        yield from _check_prefix(path, prefix)


def _check_subnet(inputs: Properties) -> Iterator[Failure]:
    prefixes = inputs.get("addressPrefixes") or inputs.get("addressPrefix")
    if not prefixes and not inputs.get("ipamPoolPrefixAllocations"):
        yield Failure(
            "addressPrefix", "missing required property 'addressPrefix': a subnet needs a block of its network"
        )
    for name in ("addressPrefix", "addressPrefixes[]"):
        for path, prefix in at(inputs, name):
            yield from _check_prefix(path, prefix)


def _check_prefix(path: str, prefix: object) -> Iterator[Failure]:
    if isinstance(prefix, str) and prefix != UNKNOWN and ":" not in prefix and network_of(prefix) is None:
        yield Failure(path, f"'{prefix}' is not an address prefix; one looks like 10.0.0.0/16, without host bits")


def _judge_subnet(call: Call) -> None:
    name, parent = call.inputs["subnetName"], call.id.rpartition("/subnets/")[0]
    network = next(iter(call.tx.with_id(parent)))
    spaces = [network_of(space) for _, space in at(network.inputs, "addressSpace.addressPrefixes[]")]
    mine = [block for block in map(network_of, prefixes_of(call.inputs)) if block is not None]
    for block in mine:
        if not any(space is not None and block.subnet_of(space) for space in spaces):
            raise Refusal(
                "NetcfgSubnetRangeOutsideVnet",
                f"Subnet '{name}' is not valid because its IP address range {block} is outside the IP address range "
                f"of virtual network '{network.outputs['name']}' ({', '.join(map(str, spaces))}).",
            )
    for other in call.others():
        if other.key.rpartition("/subnets/")[0] != parent.casefold():
            continue
        for theirs in map(network_of, prefixes_of(other.inputs)):
            if theirs is not None and any(theirs.overlaps(block) for block in mine):
                raise Refusal(
                    "NetcfgSubnetRangesOverlap",
                    f"Subnet '{name}' is not valid because its IP address range overlaps with that of an "
                    f"existing subnet in virtual network '{network.outputs['name']}': {other.id} has {theirs}.",
                )


def _check_rules(inputs: Properties) -> Iterator[Failure]:
    rules = [rule for rule in inputs.get("securityRules") or [] if isinstance(rule, dict)]
    for i, rule in enumerate(rules):
        priority = rule.get("priority")
        if isinstance(priority, int) and not 100 <= priority <= 4096:
            bound = f"too low ({priority} < 100)" if priority < 100 else f"too high ({priority} > 4096)"
            yield Failure(f"securityRules[{i}].priority", f"'securityRules[{i}].priority' is {bound}")
    for one, two in combinations(rules, 2):
        if all(one.get(name) == two.get(name) for name in ("priority", "direction")):
            yield Failure(
                "securityRules",
                f"Security rule {two.get('name')} conflicts with rule {one.get('name')}. Rules cannot have the same "
                f"Priority and Direction ({one.get('priority')}, {one.get('direction')}).",
            )


def _create_address(_: Call) -> Properties:
    return {"ipAddress": f"203.0.113.{1 + secrets.randbelow(254)}", **_created(_)}  # a block kept for documentation


def _created(_: Call) -> Properties:
    return {"resourceGuid": str(uuid.uuid4()), "etag": f'W/"{uuid.uuid4()}"'}


KINDS = (
    AzureKind(
        token=VIRTUAL_NETWORK,
        path="Microsoft.Network/virtualNetworks/{virtualNetworkName}",
        api=_API,
        longest=64,
        pattern=_NAME,
        immutable=("location",),
        check=_check_network,
        create=_created,
        derive=lambda call: {"subnets": call.inputs.get("subnets", [])},
    ),
    AzureKind(
        token=SUBNET,
        path="Microsoft.Network/virtualNetworks/{virtualNetworkName}/subnets/{subnetName}",
        api=_API,
        pattern=_NAME,
        defaults={"privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled"},
        refs=(
            Ref(path="networkSecurityGroup.id", target=SECURITY_GROUP),
            Ref(path="natGateway.id", target=NAT_GATEWAY),
        ),
        check=_check_subnet,
        judge=_judge_subnet,
        create=_created,
        in_use=(
            "InUseSubnetCannotBeDeleted",
            "Subnet {name} is in use by {other} and cannot be deleted. In order to delete the subnet, delete all the "
            "resources within the subnet.",
        ),
    ),
    AzureKind(
        token=SECURITY_GROUP,
        path="Microsoft.Network/networkSecurityGroups/{networkSecurityGroupName}",
        api=_API,
        pattern=_NAME,
        immutable=("location",),
        check=_check_rules,
        create=_created,
        derive=lambda call: {"securityRules": call.inputs.get("securityRules", []), "defaultSecurityRules": []},
        in_use=(
            "InUseNetworkSecurityGroupCannotBeDeleted",
            "Network security group {id} cannot be deleted because it is in use by the following resources: {other}.",
        ),
    ),
    AzureKind(
        token=PUBLIC_ADDRESS,
        path="Microsoft.Network/publicIPAddresses/{publicIpAddressName}",
        api=_API,
        pattern=_NAME,
        immutable=("location", "publicIPAddressVersion", "publicIPPrefix", "sku"),
        create=_create_address,
        in_use=(
            "PublicIPAddressCannotBeDeleted",
            "Public IP address {id} can not be deleted since it is still allocated to resource {other}.",
        ),
    ),
    AzureKind(
        token=NAT_GATEWAY,
        path="Microsoft.Network/natGateways/{natGatewayName}",
        api=_API,
        pattern=_NAME,
        immutable=("location",),
        refs=(Ref(path="publicIpAddresses[].id", target=PUBLIC_ADDRESS),),
        create=_created,
        in_use=("InUseNatGatewayCannotBeDeleted", "NAT gateway {id} is in use by {other} and cannot be deleted."),
    ),
    AzureKind(
        token="azure-native:network:BastionHost",
        path="Microsoft.Network/bastionHosts/{bastionHostName}",
        api=_API,
        pattern=_NAME,
        immutable=("location", "zones"),
        refs=(
            Ref(path="ipConfigurations[].subnet.id", target=SUBNET),
            Ref(path="ipConfigurations[].publicIPAddress.id", target=PUBLIC_ADDRESS),
        ),
        create=lambda _: {"dnsName": f"bst-{uuid.uuid4()}.bastion.azure.com"},
    ),
)
