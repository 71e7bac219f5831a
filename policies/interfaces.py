"""Every EFA interface of an instance type is attached, where the type takes it. The security groups of them:
`policies.fabric`; what is known of types: `policies.machines`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, stack_policy
from policies.launches import LAUNCHERS, Nodes, efa_nodes, launchers_of
from policies.machines import aws_type
from policies.view import View, shown

if TYPE_CHECKING:
    from planning.catalog.records import AwsNodeType

_LAYOUT = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"


@stack_policy(
    "efa-interfaces-missing",
    kinds.INSTANCE,
    kinds.LAUNCH_TEMPLATE,
    area="fabric",
    description="EFA nodes carry all EFA interfaces of their instance type.",
    why="NCCL uses the interfaces that are there: each one less takes its share of the bandwidth away, and EFA "
    "cannot be attached to an instance that runs.",
    fix="Attach one EFA interface to each network card that takes one.",
    reference=_LAYOUT,
)
def efa_interfaces_missing(stack: Stack) -> Iterator[Fault]:
    for nodes in efa_nodes(stack):
        for node in _known_types(nodes):
            if len(nodes.interfaces) < node.efa:
                found = f"holds {len(nodes.interfaces)} of the {node.efa} EFA interfaces of {node.name}"
                yield nodes.template.fault("networkInterfaces", found)


@stack_policy(
    "efa-interface-misplaced",
    kinds.LAUNCH_TEMPLATE,
    area="fabric",
    description="The network interfaces of EFA nodes fit the network cards of their instance type.",
    why="EC2 refuses a launch with an interface on a card or a place that the type does not have.",
    fix="Count cards from 0; put the primary interface at card 0, device 0, and one EFA interface on each card, at "
    "device 1 (device 0 where the card takes one interface).",
    reference=_LAYOUT,
)
def efa_interface_misplaced(stack: Stack) -> Iterator[Fault]:
    for nodes in efa_nodes(stack):
        if nodes.template.type == kinds.LAUNCH_TEMPLATE:
            yield from _taken_twice(nodes.template)
            for node in _known_types(nodes):
                for interface in nodes.template.each("networkInterfaces[]"):
                    yield from _misplaced(nodes.template, interface, node)


def _known_types(nodes: Nodes) -> list[AwsNodeType]:
    return [known for name in nodes.types() if (known := aws_type(name))]


def _place(interface: View) -> tuple[int, int] | None:
    """Card and device of an interface, both 0 where nothing is said; None where they are not known."""
    said = (interface.get(key) for key in ("networkCardIndex", "deviceIndex"))
    card, device = (0 if value is None else value for value in said)
    known = isinstance(card, int | float) and isinstance(device, int | float)
    return (int(card), int(device)) if known else None


def _taken_twice(template: Resource) -> Iterator[Fault]:
    places = Counter(_place(interface) for interface in template.each("networkInterfaces[]"))
    for place, count in places.items():
        if place and count > 1:
            yield template.fault("networkInterfaces", f"holds {count} interfaces at card {place[0]}, device {place[1]}")


def _misplaced(template: Resource, interface: View, node: AwsNodeType) -> Iterator[Fault]:
    place, kind = _place(interface), interface.get("interfaceType")
    if place is None:
        return
    card, device = place
    efa = kind in ("efa", "efa-only")
    if card >= node.network_cards:
        found = f"is {card}, and the cards of {node.name} are 0 to {node.network_cards - 1}"
        yield template.fault(interface.where("networkCardIndex"), found)
    elif device >= node.interfaces_per_card[card]:
        most = node.interfaces_per_card[card] - 1
        yield template.fault(
            interface.where("deviceIndex"), f"is {device}, and card {card} of {node.name} ends at {most}"
        )
    elif efa and card not in node.efa_cards and not node.ultraserver_sizes:  # of these the documents allow several
        found = f"is {shown(kind)} on card {card}, which carries no EFA on {node.name}"
        yield template.fault(interface.where("interfaceType"), found)
    elif place == (0, 0) and kind == "efa-only":
        found = 'is "efa-only", and the primary interface needs an address'
        yield template.fault(interface.where("interfaceType"), found, 'Make it "interface" or "efa".')


@stack_policy(
    "efa-left-out",
    kinds.AUTO_SCALING_GROUP,
    kinds.EKS_NODE_GROUP,
    area="fabric",
    description="Groups of nodes whose type reads GPU memory over EFA carry EFA interfaces.",
    why="Without them several nodes of the type talk over TCP, at a fraction of the bandwidth that is paid for; a "
    "group of single nodes that never talk to each other needs none.",
    fix="Declare the EFA interfaces in the launch template, or turn this policy off for groups that only serve.",
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    reference=_LAYOUT,
)
def efa_left_out(stack: Stack) -> Iterator[Fault]:
    carrying = {nodes.template.urn for nodes in efa_nodes(stack)}
    for template in stack.of(kinds.LAUNCH_TEMPLATE):
        groups = [
            r for r in launchers_of(stack, template) if r.type in (kinds.AUTO_SCALING_GROUP, kinds.EKS_NODE_GROUP)
        ]
        nodes = Nodes(template, groups, [])
        if template.urn not in carrying and groups and not nodes.at_most_one():
            for node in _known_types(nodes):
                if node.gpudirect:
                    yield template.fault("networkInterfaces", f"holds no EFA interface on {node.name}")
    for group in stack.of(kinds.EKS_NODE_GROUP):
        if not group.has("launchTemplate") and group.peek(LAUNCHERS[group.type].most) != 1:
            for view in group.each("instanceTypes[]"):
                if (known := aws_type(view.value)) and known.gpudirect:
                    yield group.fault("launchTemplate", f"is not set, so {known.name} comes without EFA")
