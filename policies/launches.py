"""How EFA nodes of AWS come to be: from a launch template, through whatever launches from it, or as instances with
EFA interfaces of their own; where they stand, and how many they may become.

Everything is told by URN (the resources whose outputs went into a property), since a preview knows no ids. What
names a template or a subnet from elsewhere by a plain id cannot be followed, and is passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from policies import kinds
from policies.declare import Resource, Stack
from policies.view import View

EFA_KINDS = ("efa", "efa-only")


@dataclass(frozen=True)
class Launcher:
    """Where a kind of resource says what the policies ask of it; empty where it cannot say it."""

    templates: tuple[str, ...]
    subnets: str
    types: str
    most: str = ""
    """The most nodes that it may have; empty for a single one."""
    groups: tuple[str, ...] = ()


_OF_FLEETS = Launcher(
    templates=("launchTemplateConfigs",),
    subnets="launchTemplateConfigs[].overrides[].subnetId",
    types="launchTemplateConfigs[].overrides[].instanceType",
)
_ALONE = Launcher(
    templates=("launchTemplate",),
    subnets="subnetId",
    types="instanceType",
    groups=("placementGroup", "placementGroupId"),
)
LAUNCHERS = {
    kinds.AUTO_SCALING_GROUP: Launcher(
        templates=("launchTemplate", "mixedInstancesPolicy"),
        subnets="vpcZoneIdentifiers[]",
        types="mixedInstancesPolicy.launchTemplate.overrides[].instanceType",
        most="maxSize",
        groups=("placementGroup",),
    ),
    kinds.BATCH_ENVIRONMENT: Launcher(
        templates=("computeResources",),
        subnets="computeResources.subnets[]",
        types="computeResources.instanceTypes[]",
        most="computeResources.maxVcpus",
        groups=("computeResources.placementGroup",),
    ),
    kinds.EKS_NODE_GROUP: Launcher(
        templates=("launchTemplate",),
        subnets="subnetIds[]",
        types="instanceTypes[]",
        most="scalingConfig.maxSize",
    ),
    kinds.FLEET: replace(_OF_FLEETS, most="targetCapacitySpecification.totalTargetCapacity"),
    kinds.INSTANCE: _ALONE,
    kinds.SPOT_FLEET: replace(_OF_FLEETS, most="targetCapacity"),
    kinds.SPOT_INSTANCE: _ALONE,
}


@dataclass(frozen=True)
class Nodes:
    """Nodes with EFA: what says how they are, and what launches them (itself, where it is an instance)."""

    template: Resource
    launchers: list[Resource]
    interfaces: list[View]
    """Their EFA interfaces."""

    def types(self) -> list[str]:
        """Instance types that they may have, as far as the stack says."""
        own = self.template.get("instanceType")
        launchers = self.launchers if self.template.type == kinds.LAUNCH_TEMPLATE else []
        each = [[v.value for v in View(r.value).each(LAUNCHERS[r.type].types)] or [own] for r in launchers] or [[own]]
        return sorted({t for types in each for t in types if isinstance(t, str)})

    def at_most_one(self) -> bool:
        """Whether it is known that there is never more than one: then nothing has to stand together."""
        most = [r.peek(LAUNCHERS[r.type].most) if LAUNCHERS[r.type].most else 1 for r in self.launchers]
        return bool(most) and all(isinstance(n, int | float) for n in most) and sum(most) <= 1

    def group(self) -> list[tuple[Resource, str]]:
        """Where a placement group is named: a resource and a path of it; several, all of the launchers."""
        if own := [(self.template, path) for path in _OWN_GROUP if self.template.has(path)]:
            return own[:1]
        others = [r for r in self.launchers if r.type != self.template.type]
        named = [[(r, path) for path in LAUNCHERS[r.type].groups if r.has(path)][:1] for r in others]
        return [first for firsts in named for first in firsts] if all(named) else []

    def targets_reservation(self) -> bool:
        others = [r for r in self.launchers if r.type != self.template.type]
        return _targets(self.template) or (bool(others) and all(_targets(r) for r in others))


_TARGET = "capacityReservationSpecification.capacityReservationTarget."
_OWN_GROUP = ("placement.groupName", "placement.groupId", "placementGroup", "placementGroupId")
_RESERVATIONS = (
    "capacityReservationId",
    "capacityReservationResourceGroupArn",
    "capacityReservationIds",
    "capacityReservationResourceGroupArns",
)


def _targets(resource: Resource) -> bool:
    return any(resource.has(_TARGET + leaf) for leaf in _RESERVATIONS)


def efa_nodes(stack: Stack) -> Iterator[Nodes]:
    for template in stack.of(kinds.LAUNCH_TEMPLATE):
        if interfaces := efa_interfaces(template):
            yield Nodes(template, launchers_of(stack, template), interfaces)
    own = [r for r in stack.of(kinds.INSTANCE) if efa_interfaces_of_instance(stack, r)]
    for instance in own:
        yield Nodes(instance, own, efa_interfaces_of_instance(stack, instance))


def efa_interfaces(template: View) -> list[View]:
    """The interfaces of a launch template that are EFA devices."""
    return [i for i in template.each("networkInterfaces[]") if i.get("interfaceType") in EFA_KINDS]


def efa_interfaces_of_instance(stack: Stack, instance: Resource) -> list[View]:
    """Interfaces made apart and attached to an instance, which cannot declare EFA itself."""
    urns = [
        urn
        for prop in ("networkInterfaces", "primaryNetworkInterface")
        for urn in instance.made_from(prop, kinds.NETWORK_INTERFACE)
    ]
    return [stack.resources[urn] for urn in urns if is_efa(stack.resources[urn])]


def is_efa(interface: Resource) -> bool:
    """Whether an interface of its own is an EFA device; the cloud fills in the kind where none was said."""
    path = "interfaceType"
    return interface.has(path) and interface.get(path) in EFA_KINDS


def launchers_of(stack: Stack, template: Resource) -> list[Resource]:
    return [r for r in stack.of(*LAUNCHERS) if launches(r, template)]


def launches(launcher: Resource, template: Resource) -> bool:
    props = LAUNCHERS[launcher.type].templates
    name = template.peek("name")
    return any(
        template.urn in launcher.made_from(prop, kinds.LAUNCH_TEMPLATE)
        or (isinstance(name, str) and launcher.peek(f"{prop}.name") == name)
        for prop in props
    )


def subnets_of(stack: Stack, launcher: Resource) -> tuple[int, list[Resource]]:
    """How many subnets a launcher names, and the subnets of the stack that went into the property; there may be
    more of these, where one subnet was taken from a list of them.
    """
    path = LAUNCHERS[launcher.type].subnets
    urns = launcher.made_from(path.split("[")[0].split(".")[0], kinds.SUBNET, kinds.DEFAULT_SUBNET)
    above, _, leaf = path.removesuffix("[]").rpartition(".")
    if path.endswith("[]"):
        named = launcher.peek(path.removesuffix("[]"))
        count = len(named) if isinstance(named, Sequence) and not isinstance(named, str) else len(urns)
    else:
        holders = list(View(launcher.value).each(above)) if above else [launcher]
        count = sum(1 for holder in holders if holder.has(leaf))
    return count, [stack.resources[urn] for urn in urns]


def split_over(count: int, subnets: list[Resource]) -> list[str]:
    """The zones over which so many of these subnets certainly lie; empty where one zone can hold them all."""
    zones = zones_of(subnets) if count > 1 else []
    return sorted(set(zones)) if zones and max(Counter(zones).values()) < count else []


def zones_of(subnets: list[Resource]) -> list[str]:
    """A zone for each subnet, by id or else by name; empty where one of them is not told."""
    for key in ("availabilityZoneId", "availabilityZone"):
        zones = [subnet.peek(key) for subnet in subnets]
        if all(isinstance(zone, str) for zone in zones):
            return zones
    for subnet in subnets:  # one that the cloud chooses counts as unknown here, and is no matter of its sources
        View(subnet.value, unknowns=subnet.unknowns).get("availabilityZone")
    return []
