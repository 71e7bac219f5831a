"""What the fabric needs to carry traffic: security groups of EFA interfaces that admit their own members both
ways. How many interfaces: `policies.interfaces`; settings that turn it off: `policies.boot`.

Ids are not known in a preview: a rule belongs to the group, and refers to the group, whose outputs went into
its properties. Groups made elsewhere, of which a stack knows only the id, cannot be judged from here: an
interface that names one is passed.
"""

from __future__ import annotations

from collections.abc import Iterator

from policies import kinds
from policies.declare import Fault, Resource, Stack, stack_policy
from policies.launches import efa_interfaces, is_efa
from policies.view import View

_ALL_PROTOCOLS = ("-1", "all")
_DIRECTIONS = ("ingress", "egress")


@stack_policy(
    "efa-group-not-self-referring",
    kinds.LAUNCH_TEMPLATE,
    kinds.NETWORK_INTERFACE,
    area="fabric",
    description="The security group of EFA interfaces lets all traffic in from itself and out to itself.",
    why="EFA traffic is not IP: only a rule that refers to the group itself lets it pass, 0.0.0.0/0 does "
    "not, and without the pair NCCL stops with an unresponsive receiver.",
    fix="Add an ingress and an egress rule of protocol -1 whose referenced security group is the group itself.",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",
)
def efa_group_not_self_referring(stack: Stack) -> Iterator[Fault]:
    self_referring = {direction: set(_self_referring(stack, direction)) for direction in _DIRECTIONS}
    for user, prop, interfaces in _efa_users(stack):
        if bare := [i.where("securityGroups") for i in interfaces if not i.has("securityGroups")]:
            others = f" (and {len(bare) - 1} more alike)" if len(bare) > 1 else ""
            yield user.fault(bare[0], f"is not set, so the VPC's default group applies{others}")
        groups = user.made_from(prop, *kinds.SECURITY_GROUPS)
        if not groups:
            _remember_unknown_groups(interfaces)
        elif not _names_foreign_group(stack, groups, interfaces) and not any(
            all(group in self_referring[d] for d in _DIRECTIONS) for group in groups
        ):
            yield from _missing(stack, user, groups, self_referring)


def _efa_users(stack: Stack) -> Iterator[tuple[Resource, str, list[View]]]:
    """What carries EFA interfaces, the property their groups are named in, and the interfaces."""
    for template in stack.of(kinds.LAUNCH_TEMPLATE):
        if interfaces := efa_interfaces(template):
            yield template, "networkInterfaces", interfaces
    for interface in stack.of(kinds.NETWORK_INTERFACE):
        if is_efa(interface):
            yield interface, "securityGroups", [interface]


def _remember_unknown_groups(interfaces: list[View]) -> None:
    """Ids that a preview does not know and that come from no security group: reading them makes it say so."""
    for interface in interfaces:
        list(interface.each("securityGroups[]"))


def _names_foreign_group(stack: Stack, declared: list[str], interfaces: list[View]) -> bool:
    """Whether an interface names a group made elsewhere, whose rules cannot be seen from here."""
    apart = View(None)
    named = {
        g.value
        for i in interfaces
        for g in View(i.value, unknowns=apart.unknowns).each("securityGroups[]")
        if isinstance(g.value, str)
    }
    ids = {stack.resources[urn].peek("id") for urn in declared}
    known = {i for i in ids if isinstance(i, str)}
    # A preview shows only ids of groups made elsewhere; later ours show too, and not every state tells them.
    untold = 0 if apart.unknowns else len(declared) - len(known)
    return len(named - known) > untold


def _missing(stack: Stack, user: Resource, groups: list[str], self_referring: dict[str, set[str]]) -> Iterator[Fault]:
    for urn in groups:
        for direction in _DIRECTIONS:
            if urn not in self_referring[direction]:
                found = f"holds no rule of protocol -1 for the group itself ({user.name} uses it for EFA)"
                yield stack.resources[urn].fault(direction, found)


def _self_referring(stack: Stack, direction: str) -> Iterator[str]:
    """URNs of the groups with a rule of the direction for all traffic of the group itself."""
    for group in stack.of(*kinds.SECURITY_GROUPS):
        # Where no rule is declared inline the cloud computes the list, and a preview does not know it: read quietly.
        for rule in View(group.value).each(f"{direction}[]"):
            if rule.get("protocol") in _ALL_PROTOCOLS and rule.true("self"):
                yield group.urn
    kind = kinds.SECURITY_GROUP_INGRESS if direction == "ingress" else kinds.SECURITY_GROUP_EGRESS
    for rule in stack.of(kind):
        if rule.get("ipProtocol") in _ALL_PROTOCOLS:
            yield from _both(rule, "securityGroupId", "referencedSecurityGroupId")
    for rule in stack.of(kinds.SECURITY_GROUP_RULE):
        if rule.get("type") == direction and rule.get("protocol") in _ALL_PROTOCOLS:
            if rule.true("self"):
                yield from rule.made_from("securityGroupId", *kinds.SECURITY_GROUPS)
            yield from _both(rule, "securityGroupId", "sourceSecurityGroupId")


def _both(rule: Resource, owner: str, referenced: str) -> list[str]:
    referred = rule.made_from(referenced, *kinds.SECURITY_GROUPS)
    return [urn for urn in rule.made_from(owner, *kinds.SECURITY_GROUPS) if urn in referred]
