"""Network security groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_network
from itertools import combinations

from localcloud.azure.kind import AzureKind
from localcloud.azure.network_kind import API, NAME, created
from localcloud.azure.refusals import raise_first, stay
from localcloud.kinds import Call, Refusal
from localcloud.values import Properties

SECURITY_GROUP = "azure-native:network:NetworkSecurityGroup"
_LOWEST, _HIGHEST = 100, 4096
_PORTS = ("sourcePortRange", "sourcePortRanges", "destinationPortRange", "destinationPortRanges")
_PREFIXES = (
    "sourceAddressPrefix",
    "sourceAddressPrefixes",
    "destinationAddressPrefix",
    "destinationAddressPrefixes",
)


def _refusals(inputs: Properties) -> Iterator[Refusal]:
    rules = [rule for rule in inputs.get("securityRules") or [] if isinstance(rule, dict)]
    for i, rule in enumerate(rules):
        yield from _of_rule(rule, f"securityRules[{i}]")
    for one, two in combinations(rules, 2):
        if all(one.get(name) == two.get(name) for name in ("priority", "direction")):
            text = (
                f"Security rule {two.get('name')} conflicts with rule {one.get('name')}. Rules cannot have the same "
                f"Priority and Direction. To learn more, see aka.ms/nsgrules. "
                f"({one.get('priority')}, {one.get('direction')})"
            )
            yield Refusal("SecurityRuleConflict", text, target=f"securityRules[{rules.index(two)}].priority")


def _of_rule(rule: Properties, place: str) -> Iterator[Refusal]:
    priority = rule.get("priority")
    if priority is None or not _LOWEST <= priority <= _HIGHEST:
        text = f"Security rule has invalid Priority. Value provided: {priority} Allowed range {_LOWEST}-{_HIGHEST}."
        yield Refusal("SecurityRuleInvalidPriority", text, target=f"{place}.priority")
    for name in _PORTS:
        for ports in _several(rule.get(name)):
            if not _are_ports(ports):
                text = (
                    f"Security rule has invalid Port range. Value provided: {ports}. Value should be an integer OR "
                    "integer range with '-' delimiter. Valid range 0-65535."
                )
                yield Refusal("SecurityRuleInvalidPortRange", text, target=f"{place}.{name}")
    for name in _PREFIXES:
        for prefix in _several(rule.get(name)):
            if not _is_prefix(prefix):
                text = f"Security rule has invalid Address prefix. Value provided: {prefix}"
                yield Refusal("SecurityRuleInvalidAddressPrefix", text, target=f"{place}.{name}")


def _several(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [] if value is None else [str(value)]


def _are_ports(text: str) -> bool:
    if text == "*":
        return True
    found = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", text)
    return found is not None and int(found[1]) <= int(found[2] or found[1]) <= 65535


def _is_prefix(text: str) -> bool:
    """An address, a block, or the name of a service tag, which may be of a region (Storage.EastUS)."""
    if text == "*" or re.fullmatch(r"[A-Z][A-Za-z0-9]*(\.[A-Za-z0-9]+)?", text):
        return True
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _judge(call: Call) -> None:
    stay(call)
    raise_first(_refusals(call.inputs))


KINDS = (
    AzureKind(
        token=SECURITY_GROUP,
        path="Microsoft.Network/networkSecurityGroups/{networkSecurityGroupName}",
        api=API,
        pattern=NAME,
        judge=_judge,
        create=created,
        derive=lambda call: {"securityRules": call.inputs.get("securityRules", []), "defaultSecurityRules": []},
        in_use=(
            "InUseNetworkSecurityGroupCannotBeDeleted",
            "Network security group {id} cannot be deleted because it is in use by the following resources: {other}.",
        ),
    ),
)
