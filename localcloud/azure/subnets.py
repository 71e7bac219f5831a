"""Blocks and addresses of subnets: what may lie where, who has how many addresses, and which one is next."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import islice

from localcloud.addresses import network_of
from localcloud.kinds import Call, Refusal
from localcloud.store import Record
from localcloud.values import Properties, at

KEPT = 5
"""Of each subnet Azure keeps the first four addresses and the last."""
_KEPT_AT_START = 4
_LONGEST_PREFIX = 29


def prefixes_of(subnet: Properties) -> list[str]:
    return subnet.get("addressPrefixes") or [p for p in [subnet.get("addressPrefix")] if p]


def blocks_of(subnet: Properties) -> list[IPv4Network]:
    return [block for block in map(network_of, prefixes_of(subnet)) if block is not None]


def prefix_refusals(call: Call, network: Properties) -> Iterator[Refusal]:
    """Of a subnet's blocks, in the network with these inputs."""
    name, vnet = call.id.rpartition("/")[2], call.id.split("/")[-3]
    spaces = [network_of(space) for _, space in at(network, "addressSpace.addressPrefixes[]")]
    mine = blocks_of(call.inputs)
    for block in mine:
        if block.prefixlen > _LONGEST_PREFIX:
            text = f"Subnet '{name}' is not valid in virtual network '{vnet}'. (/{_LONGEST_PREFIX} is the smallest)"
            yield Refusal("NetcfgInvalidSubnet", text, target="addressPrefix")
        if not any(space is not None and block.subnet_of(space) for space in spaces):
            text = (
                f"Subnet '{name}' is not valid because its IP address range {block} is outside the IP address range "
                f"of virtual network '{vnet}' ({', '.join(map(str, spaces))})."
            )
            yield Refusal("NetcfgSubnetRangeOutsideVnet", text, target="addressPrefix")
    for other in call.tx.below(call.id.rpartition("/subnets/")[0]):
        for theirs in blocks_of(other.inputs) if other.key != call.id.casefold() and not other.lost else ():
            if any(theirs.overlaps(block) for block in mine):
                text = (
                    f"Subnet '{name}' is not valid because its IP address range overlaps with that of an existing "
                    f"subnet in virtual network '{vnet}': {other.id} has {theirs}."
                )
                yield Refusal("NetcfgSubnetRangesOverlap", text, target="addressPrefix")


def holders(call: Call, subnet: Record) -> Iterator[tuple[Record, int]]:
    """What else is in a subnet, with the number of its addresses there."""
    for kind in call.cloud.kinds.values():
        for ref in kind.refs if kind.addresses else ():
            for record in call.tx.of_type(kind.token) if ref.target == subnet.type else ():
                names = sum(str(value).casefold() == subnet.key for _, value in at(record.inputs, ref.path))
                if names and not record.lost and record.key != call.id.casefold():
                    yield record, names * kind.addresses(record)


def take(call: Call, subnet: Record, wanted: int, target: str) -> None:
    """Refuse what the subnet has no room for."""
    blocks = blocks_of(subnet.inputs)
    if not blocks:  # IPv6, or from a pool
        return
    room = sum(block.num_addresses for block in blocks) - KEPT * len(blocks)
    used = sum(number for _, number in holders(call, subnet))
    if used + wanted > room:
        prefixes = ", ".join(map(str, blocks))
        text = (
            f"Subnet {subnet.outputs['name']} with address prefix {prefixes} does not have enough capacity for "
            f"{wanted} IP addresses. (it has {room}, of which {used} are used)"
        )
        raise Refusal("SubnetIsFull", text, target=target)


def next_address(call: Call, subnet: Record | None) -> str:
    """An address that nothing in the subnet has; of a subnet that is not ours, some address."""
    blocks = blocks_of(subnet.inputs) if subnet else []
    if subnet is None or not blocks:
        return "10.0.0.4"
    there = [(number, list(_shown(record))) for record, number in holders(call, subnet)]
    shown = {address for _, addresses in there for address in addresses}
    hidden = sum(number for number, addresses in there if not addresses)  # nodes: the lowest ones
    for address in islice(blocks[0], _KEPT_AT_START + hidden, blocks[0].num_addresses - 1):
        if str(address) not in shown:
            return str(address)
    return str(blocks[0][-2])


def _shown(record: Record) -> Iterator[str]:
    yield from (str(value) for _, value in at(record.outputs, "clientInfo.mgsAddress"))
    yield from (str(value) for _, value in at(record.outputs, "customDnsConfigs[].ipAddresses[]"))
