"""Virtual networks, subnets, and the bastion that lives in one.

Security groups, ways out and private endpoints: `security_groups`, `outbound`, `private_link`. Subnets that a network
declares inside itself: `inline_subnets`. Where no public report shows Azure's code for a rule, it is BadRequest, and
the words are ours.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from localcloud.addresses import network_of
from localcloud.azure.inline_subnets import SUBNET, VIRTUAL_NETWORK, inline_outputs, write_inline
from localcloud.azure.kind import AzureKind
from localcloud.azure.network_kind import API, NAME, created
from localcloud.azure.outbound import NAT_GATEWAY, PUBLIC_ADDRESS
from localcloud.azure.refusals import raise_first, same_region, stay
from localcloud.azure.security_groups import SECURITY_GROUP
from localcloud.azure.subnets import blocks_of, holders, prefix_refusals, prefixes_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties, at, first

_SPACES = "addressSpace.addressPrefixes"
_NOBODYS = tuple(
    map(IPv4Network, ("127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32"))
)
"""What no network can have. Source: Azure documentation, virtual network FAQ."""
_BASTION_SUBNET = "AzureBastionSubnet"
_BASTION_PREFIX = 26


def _check_network(inputs: Properties) -> Iterator[Failure]:
    if not inputs.get("addressSpace"):
        yield Failure(
            "addressSpace", "missing required property 'addressSpace': a virtual network needs address prefixes"
        )
    for path, prefix in at(inputs, f"{_SPACES}[]"):
        yield from _check_prefix(path, prefix)


def _check_subnet(inputs: Properties) -> Iterator[Failure]:
    if not prefixes_of(inputs) and not inputs.get("ipamPoolPrefixAllocations"):
        yield Failure(
            "addressPrefix", "missing required property 'addressPrefix': a subnet needs a block of its network"
        )
    for name in ("addressPrefix", "addressPrefixes[]"):
        for path, prefix in at(inputs, name):
            yield from _check_prefix(path, prefix)


def _check_prefix(path: str, prefix: object) -> Iterator[Failure]:
    if isinstance(prefix, str) and prefix != UNKNOWN and ":" not in prefix and network_of(prefix) is None:
        yield Failure(path, f"'{prefix}' is not an address prefix; one looks like 10.0.0.0/16, without host bits")


def _judge_network(call: Call) -> None:
    raise_first(_network_refusals(call))
    write_inline(call)


def _network_refusals(call: Call) -> Iterator[Refusal]:
    spaces = [space for space in map(network_of, first(call.inputs, _SPACES, [])) if space is not None]
    for space in spaces:
        if kept := next((kept for kept in _NOBODYS if space.overlaps(kept)), None):
            yield Refusal("BadRequest", f"The address prefix {space} holds {kept}, which is reserved.", target=_SPACES)
    for one, two in combinations(spaces, 2):
        if one.overlaps(two):
            yield Refusal("BadRequest", f"The address prefixes {one} and {two} overlap.", target=_SPACES)
    names = {subnet.get("name") for subnet in call.inputs.get("subnets") or []}
    for subnet in call.tx.below(call.id):
        if names and subnet.outputs.get("name") not in names:  # it goes in this request
            continue
        for block in blocks_of(subnet.inputs):
            if not any(block.subnet_of(space) for space in spaces):
                text = f"IpPrefix {block} on Vnet {call.id.rpartition('/')[2]} has active allocations in {subnet.id}."
                yield Refusal("InUsePrefixCannotBeDeleted", text, target=_SPACES)


def _judge_subnet(call: Call) -> None:
    network = next(iter(call.tx.with_id(call.id.rpartition("/subnets/")[0])))
    raise_first(prefix_refusals(call, network.inputs))
    same_region(call, "networkSecurityGroup.id", "natGateway.id")
    raise_first(_nat_refusals(call))
    if call.old is not None:
        raise_first(_refusals_of_used(call, call.old))


def _nat_refusals(call: Call) -> Iterator[Refusal]:
    """One NAT gateway serves subnets of one virtual network."""
    nat = str(first(call.inputs, "natGateway.id", "")).casefold()
    parent = call.id.casefold().rpartition("/subnets/")[0]
    for other in call.others() if nat else ():
        theirs = str(first(other.inputs, "natGateway.id", "")).casefold()
        if theirs == nat and other.key.rpartition("/subnets/")[0] != parent:
            text = f"The NAT gateway is used by {other.id}: it cannot serve several virtual networks."
            yield Refusal("BadRequest", text, target="natGateway.id")


def _refusals_of_used(call: Call, old: Record) -> Iterator[Refusal]:
    """What cannot be changed of a subnet with something in it."""
    user = next((record for record, _ in holders(call, old)), None)
    if user is None:
        return
    name, kept = call.inputs["subnetName"], blocks_of(call.inputs)
    for block in blocks_of(old.inputs):
        if block not in kept:
            text = f"IpPrefix {block} on Subnet {name} has active allocations and cannot be deleted."
            yield Refusal("InUsePrefixCannotBeDeleted", text, target="addressPrefix")
    before, after = (_services(inputs) for inputs in (old.inputs, call.inputs))
    if before != after:
        text = (
            f"Delegations of subnet {name} cannot be changed from {before} to {after} because it is being used by the "
            f"resource {user.id}."
        )
        yield Refusal("SubnetDelegationsCannotChangeWhenSubnetUsedByResource", text, target="delegations")


def _services(subnet: Properties) -> list[str]:
    return sorted(str(service) for _, service in at(subnet, "delegations[].serviceName"))


_BASTION_TIERS = ("Developer", "Basic", "Standard", "Premium")
_OF_STANDARD = ("enableFileCopy", "enableIpConnect", "enableShareableLink", "enableTunneling")
"""Source: Azure Bastion configuration settings, SKUs."""


def _bastion_refusals(call: Call) -> Iterator[Refusal]:
    tier = _bastion_tier(call.inputs)
    if tier < _BASTION_TIERS.index("Standard"):
        for name in _OF_STANDARD:
            if call.inputs.get(name) is True:
                text = f"Bastion host {call.id} of the sku {_BASTION_TIERS[tier]} has no {name}: it needs Standard."
                yield Refusal("BadRequest", text, target=name)
    if call.old is not None and tier < (before := _bastion_tier(call.old.inputs)):
        text = f"The sku of {call.id} cannot be lowered from {_BASTION_TIERS[before]} to {_BASTION_TIERS[tier]}."
        yield Refusal("BadRequest", text, target="sku.name")
    for place, id_ in at(call.inputs, "ipConfigurations[].subnet.id"):
        for other in call.others():
            if id_.casefold() in {
                str(value).casefold() for _, value in at(other.inputs, "ipConfigurations[].subnet.id")
            }:
                yield Refusal("BadRequest", f"The virtual network has a bastion already: {other.id}.", target=place)


def _bastion_tier(inputs: Properties) -> int:
    """Basic where nothing is said."""
    word = str(first(inputs, "sku.name", "Basic")).casefold()
    return next((i for i, tier in enumerate(_BASTION_TIERS) if tier.casefold() == word), len(_BASTION_TIERS))


def _judge_bastion(call: Call) -> None:
    stay(call)
    raise_first(_bastion_refusals(call))
    same_region(call, "ipConfigurations[].subnet.id", "ipConfigurations[].publicIPAddress.id")
    for place, id_ in at(call.inputs, "ipConfigurations[].subnet.id"):
        subnet = call.find(SUBNET, id_)
        small = any(block.prefixlen > _BASTION_PREFIX for block in blocks_of(subnet.inputs)) if subnet else False
        if id_.rpartition("/")[2] != _BASTION_SUBNET or small:
            text = f"A bastion needs a subnet named {_BASTION_SUBNET} of /{_BASTION_PREFIX} or larger."
            raise Refusal("BadRequest", text, target=place)


KINDS = (
    AzureKind(
        token=VIRTUAL_NETWORK,
        path="Microsoft.Network/virtualNetworks/{virtualNetworkName}",
        api=API,
        longest=64,
        pattern=NAME,
        immutable=("location",),
        refs=(Ref(path="subnets[].networkSecurityGroup.id", target=SECURITY_GROUP, holds=False),),
        check=_check_network,
        judge=_judge_network,
        create=created,
        derive=inline_outputs,
    ),
    AzureKind(
        token=SUBNET,
        path="Microsoft.Network/virtualNetworks/{virtualNetworkName}/subnets/{subnetName}",
        api=API,
        pattern=NAME,
        defaults={"privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled"},
        refs=(
            Ref(path="networkSecurityGroup.id", target=SECURITY_GROUP),
            Ref(path="natGateway.id", target=NAT_GATEWAY),
        ),
        check=_check_subnet,
        judge=_judge_subnet,
        create=created,
        in_use=(
            "InUseSubnetCannotBeDeleted",
            "Subnet {name} is in use by {other} and cannot be deleted. In order to delete the subnet, delete all the "
            "resources within the subnet.",
        ),
    ),
    AzureKind(
        token="azure-native:network:BastionHost",
        path="Microsoft.Network/bastionHosts/{bastionHostName}",
        api=API,
        pattern=NAME,
        refs=(
            Ref(path="ipConfigurations[].subnet.id", target=SUBNET),
            Ref(path="ipConfigurations[].publicIPAddress.id", target=PUBLIC_ADDRESS),
        ),
        addresses=lambda _: 2,
        judge=_judge_bastion,
        create=lambda _: {"dnsName": f"bst-{uuid.uuid4()}.bastion.azure.com"},
    ),
)
