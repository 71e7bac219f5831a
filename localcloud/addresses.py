"""Addresses inside subnets: which one is still free. Both clouds keep the first four and the last of each subnet."""

from __future__ import annotations

import json
import re
from ipaddress import IPv4Address, IPv4Network, ip_network
from itertools import islice
from typing import Any

from localcloud.kinds import Refusal
from localcloud.store import Record, Transaction

_KEPT_AT_START = 4


def network_of(text: Any) -> IPv4Network | None:
    """None for what is no IPv4 block, or has host bits."""
    try:
        network = ip_network(text)
    except ValueError:
        return None
    return network if isinstance(network, IPv4Network) else None


def free_address(tx: Transaction, subnet: Record | None) -> str:
    """The lowest address of the subnet that nothing in it has; of a subnet that is not ours, some address."""
    network = network_of(subnet.inputs.get("cidrBlock")) if subnet else None
    if network is None or subnet is None:
        return "10.0.0.4"
    taken = {address for address in _addresses(tx, subnet.id) if address in network}
    for address in islice(network, _KEPT_AT_START, max(network.num_addresses - 1, 0)):
        if address not in taken:
            return str(address)
    raise Refusal(
        "InsufficientFreeAddressesInSubnet",
        f"The specified subnet ({network}) does not have enough free addresses to satisfy the request.",
    )


def _addresses(tx: Transaction, subnet: str) -> set[IPv4Address]:
    inside = (text for record in tx.all() if subnet in (text := json.dumps(record.outputs)))
    found = re.findall(r'"(\d{1,3}(?:\.\d{1,3}){3})"', " ".join(inside))
    return {IPv4Address(text) for text in found}
