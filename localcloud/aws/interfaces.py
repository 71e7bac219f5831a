"""The network interfaces of a launch: which card and device each takes, how many may be EFA, what efa-only excludes.

Known of EC2 (issues that quote it): the texts on the primary interface, on unique device indices, on public addresses
with several interfaces, on types without EFA, and that templates are accepted with all of these faults and the launch
is refused. Assumed: the wording, and which InvalidParameter… code it is, of the limits per card and of efa-only.
"""

from __future__ import annotations

from localcloud.aws.instance_types import InstanceType
from localcloud.kinds import Refusal
from localcloud.values import Properties

EFA = ("efa", "efa-only")
_KINDS = ("interface", *EFA)
_ADDRESSING = (
    "associatePublicIpAddress",
    "associateCarrierIpAddress",
    "privateIpAddress",
    "ipv4AddressCount",
    "ipv4Addresses",
    "ipv4PrefixCount",
    "ipv4Prefixes",
    "ipv6AddressCount",
    "ipv6Addresses",
    "ipv6PrefixCount",
    "ipv6Prefixes",
    "primaryIpv6",
    "connectionTrackingSpecification",
    "enaSrdSpecification",
)
"""Settings that need an ENA device, which an efa-only interface lacks."""


def addresses_of(interfaces: list[Properties]) -> int:
    """Addresses of the subnet that one node takes."""
    if not interfaces:
        return 1
    return sum(1 + _secondary(i) for i in interfaces if i.get("interfaceType") != "efa-only" and not _exists(i))


def judge_interfaces(interfaces: list[Properties], name: str, facts: InstanceType | None) -> None:
    """Refuse what RunInstances refuses. `facts` is None for an instance type that is not known."""
    if not interfaces:
        return
    _judge_places(interfaces)
    _judge_public_address(interfaces)
    for i, interface in enumerate(interfaces):
        _judge_kind(f"networkInterfaces[{i}]", interface)
    if facts is not None:
        for i, interface in enumerate(interfaces):
            _judge_card(f"networkInterfaces[{i}]", interface, name, facts)
        _judge_number_of_efa(interfaces, name, facts)


def _place(interface: Properties) -> tuple[int, int]:
    return interface.get("networkCardIndex", 0), interface.get("deviceIndex", 0)


def _judge_places(interfaces: list[Properties]) -> None:
    taken: dict[tuple[int, int], int] = {}
    for i, interface in enumerate(interfaces):
        place = _place(interface)
        if place in taken:
            raise Refusal(
                "InvalidParameterCombination",
                f"networkInterfaces[{i}].deviceIndex: Each network interface requires a unique device index: "
                f"networkInterfaces[{taken[place]}] has device {place[1]} of card {place[0]}, too.",
            )
        taken[place] = i
    if (0, 0) not in taken:
        raise Refusal(
            "InvalidParameterCombination",
            "networkInterfaces: When specifying network interfaces, you must include a device at index 0 and network "
            "card at index 0.",
        )
    if interfaces[taken[0, 0]].get("interfaceType") == "efa-only":
        raise Refusal(
            "InvalidParameterCombination",
            f"networkInterfaces[{taken[0, 0]}].interfaceType: efa-only has no address and cannot be the primary "
            "network interface, which is device 0 of card 0; use interface or efa there.",
        )


def _judge_public_address(interfaces: list[Properties]) -> None:
    for i, interface in enumerate(interfaces):
        if _is_true(interface.get("associatePublicIpAddress")) and len(interfaces) > 1:
            raise Refusal(
                "InvalidParameterCombination",
                f"networkInterfaces[{i}].associatePublicIpAddress: The associatePublicIPAddress parameter cannot be "
                f"specified when launching with multiple network interfaces; there are {len(interfaces)}.",
            )


def _judge_kind(path: str, interface: Properties) -> None:
    kind = interface.get("interfaceType") or "interface"
    if kind not in _KINDS:
        raise Refusal(
            "InvalidParameterValue",
            f"{path}.interfaceType: Value ({kind}) for parameter interfaceType is invalid; use {', '.join(_KINDS)}.",
        )
    if kind != "efa-only":
        return
    for name in _ADDRESSING:
        value = interface.get(name)
        if value not in (None, 0, [], "") and not _is_false(value):
            raise Refusal(
                "InvalidParameterValue", f"{path}.{name}: an efa-only interface has no IP device and takes no {name}."
            )


def _judge_card(path: str, interface: Properties, name: str, facts: InstanceType) -> None:
    card, device = _place(interface)
    if card >= len(facts.cards):
        raise Refusal(
            "InvalidParameterValue",
            f"{path}.networkCardIndex: Network card index {card} is invalid for {name}, which has "
            f"{len(facts.cards)} network cards: the highest index is {len(facts.cards) - 1}.",
        )
    if device >= facts.cards[card].interfaces:
        raise Refusal(
            "InvalidParameterValue",
            f"{path}.deviceIndex: Device index {device} is invalid for network card {card} of {name}, which takes "
            f"{facts.cards[card].interfaces} interfaces: the highest index is {facts.cards[card].interfaces - 1}.",
        )
    if interface.get("interfaceType") in EFA:
        if not facts.efa:
            raise Refusal(
                "InvalidParameterCombination",
                f"{path}.interfaceType: {name} instances do not support Elastic Fabric Adapters.",
            )
        if not facts.cards[card].efa:
            raise Refusal(
                "InvalidParameterCombination",
                f"{path}.interfaceType: network card {card} of {name} does not support Elastic Fabric Adapters.",
            )


def _judge_number_of_efa(interfaces: list[Properties], name: str, facts: InstanceType) -> None:
    number = sum(interface.get("interfaceType") in EFA for interface in interfaces)
    if number > facts.efa:
        raise Refusal(
            "InvalidParameterCombination",
            f"networkInterfaces: {number} Elastic Fabric Adapters exceed the maximum of {name}, which is {facts.efa}.",
        )
    for card in range(len(facts.cards)):
        on_card = [i for i in interfaces if _place(i)[0] == card and i.get("interfaceType") in EFA]
        if len(on_card) > 1:
            raise Refusal(
                "InvalidParameterCombination",
                f"networkInterfaces: {len(on_card)} Elastic Fabric Adapters on network card {card}; a card takes one.",
            )


def _secondary(interface: Properties) -> int:
    return interface.get("ipv4AddressCount") or max(len(interface.get("ipv4Addresses") or ()) - 1, 0)


def _exists(interface: Properties) -> bool:
    """It is named by its id, so that its address was taken when it was made."""
    return bool(interface.get("networkInterfaceId"))


def _is_true(value: object) -> bool:
    return value is True or value == "true"


def _is_false(value: object) -> bool:
    return value is False or value == "false"
