"""Network interfaces of one node and the fabric that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.spec import AwsSpec, AzureSpec

InterfaceKind = Literal["interface", "efa", "efa-only"]


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface of an AWS launch template."""

    card: int
    device: int
    kind: InterfaceKind
    """interface: ENA with an address; efa: EFA and ENA with an address; efa-only: EFA without an address."""

    @property
    def has_address(self) -> bool:
        return self.kind != "efa-only"


@dataclass(frozen=True, slots=True)
class Fabric:
    kind: Literal["efa", "infiniband", "ethernet"]
    interfaces_per_node: int
    gbps_per_node: int
    """Gbit/s of all its interfaces together."""


def interfaces_of(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None) -> tuple[Interface, ...]:
    """Interfaces of one AWS node, the primary first; empty on Azure, where the size brings its own.

    The primary is plain ENA, since an efa-only interface can not be primary. Source: EC2 user guide, maximising
    network bandwidth on accelerated instances with multiple network cards.
    """
    if not isinstance(spec, AwsSpec) or not isinstance(node, AwsNodeType):
        return ()
    if spec.nodes.interfaces == "efa":
        return _with_addresses(node)
    further = tuple(Interface(card, 0, "efa-only") for card in node.efa_cards if card > 0)
    if 0 not in node.efa_cards:
        return (Interface(0, 0, "interface"), *further)
    if node.interfaces_per_card[0] < 2:
        return (Interface(0, 0, "efa"), *further)
    return (Interface(0, 0, "interface"), Interface(0, 1, "efa-only"), *further)


def _with_addresses(node: AwsNodeType) -> tuple[Interface, ...]:
    """The older layout: EFA with an address on each card, device 1 on further cards that have one."""
    primary = Interface(0, 0, "efa" if 0 in node.efa_cards else "interface")
    further = (Interface(c, min(1, node.interfaces_per_card[c] - 1), "efa") for c in node.efa_cards if c > 0)
    return (primary, *further)


def fabric_of(node: AwsNodeType | AzureNodeType | None) -> Fabric:
    match node:
        case AwsNodeType(efa=efa) if efa:
            return Fabric("efa", efa, node.network_gbps)
        case AzureNodeType(infiniband=cards) if cards:
            return Fabric("infiniband", cards, cards * node.infiniband_gbps)
        case AwsNodeType():
            return Fabric("ethernet", 1, node.network_gbps)
        case AzureNodeType():
            return Fabric("ethernet", 1, node.ethernet_gbps)
        case _:
            return Fabric("ethernet", 0, 0)
