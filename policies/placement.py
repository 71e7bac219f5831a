"""Nodes that talk over a fabric stand together: EFA nodes in one cluster placement group or one reservation,
InfiniBand nodes in one scale set with a single placement group. Who may talk to whom: `policies.fabric`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.view import View, shown

if TYPE_CHECKING:
    from planning.catalog.records import AzureNodeType

_RDMA_SIZE = re.compile(r"Standard_[A-Z]+[\d-]+[a-z]*r", re.IGNORECASE)
_TARGET = "capacityReservationSpecification.capacityReservationTarget."


def efa_interfaces(template: Resource) -> list[View]:
    """The interfaces of a launch template that are EFA devices."""
    return [i for i in template.each("networkInterfaces[]") if i.get("interfaceType") in ("efa", "efa-only")]


@stack_policy(
    "efa-nodes-without-placement",
    description="EFA nodes are launched into a cluster placement group, or into a targeted reservation or "
    "Capacity Block.",
    why="Without either, EC2 spreads the instances over the zone, and collective operations wait for the longest way.",
    fix="Set placement.groupName of the launch template to a placement group of strategy cluster, or name a "
    "reservation in capacityReservationSpecification.capacityReservationTarget (for a Capacity Block: only "
    "that).",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
)
def efa_nodes_without_placement(stack: Stack) -> Iterator[Fault]:
    for template in stack.of(kinds.LAUNCH_TEMPLATE):
        if not efa_interfaces(template):
            continue
        launchers = [r for r in stack.of(kinds.AUTO_SCALING_GROUP, kinds.INSTANCE) if _launches(r, template)]
        if _names_group(template):
            yield from _not_cluster(stack, template, "placement")
        elif launchers and all(r.has("placementGroup") for r in launchers):
            for launcher in launchers:
                yield from _not_cluster(stack, launcher, "placementGroup")
        elif not _names_reservation(template):
            yield template.fault("placement.groupName", "is not set, and no reservation is targeted")


def _launches(launcher: Resource, template: Resource) -> bool:
    return any(
        template.urn in launcher.made_from(prop, kinds.LAUNCH_TEMPLATE)
        for prop in ("launchTemplate", "mixedInstancesPolicy")
    )


def _names_group(template: Resource) -> bool:
    return template.has("placement.groupName") or template.has("placement.groupId")


def _names_reservation(template: Resource) -> bool:
    return template.has(_TARGET + "capacityReservationId") or template.has(
        _TARGET + "capacityReservationResourceGroupArn"
    )


def _not_cluster(stack: Stack, user: Resource, prop: str) -> Iterator[Fault]:
    for urn in user.made_from(prop, kinds.PLACEMENT_GROUP):
        group = stack.resources[urn]
        if group.differs("strategy", "cluster"):
            strategy = shown(group.get("strategy"))
            yield group.fault("strategy", f"is {strategy}, and EFA nodes are launched into it", 'Set it to "cluster".')


@resource_policy(
    "rdma-scale-set-split",
    kinds.SCALE_SET,
    description="A scale set of InfiniBand nodes is one fabric: one placement group, one fault domain, at "
    "most one zone, no overprovisioning.",
    why="InfiniBand links only nodes of one scale set that share a placement group; what spreads them "
    "splits the fabric, and overprovisioned nodes join it and vanish again.",
    fix="Set singlePlacementGroup true (false only for the rack-scale GB200 and GB300 sizes), overprovision "
    "false, platformFaultDomainCount 1 and no more than one zone.",
    reference="https://learn.microsoft.com/azure/virtual-machines/setup-infiniband",
)
def rdma_scale_set_split(scale_set: Resource) -> Iterator[Fault]:
    size = scale_set.get("sku.name")
    if not isinstance(size, str) or not has_infiniband(size):
        return
    single = _single_placement_group(size)
    if scale_set.differs("singlePlacementGroup", single):
        found = f"is {shown(scale_set.get('singlePlacementGroup'))} on {size}"
        yield scale_set.fault("singlePlacementGroup", found, f"Set it to {shown(single)}.")
    flexible = scale_set.get("orchestrationMode") == "Flexible"
    if not flexible and scale_set.differs("overprovision", False):
        yield scale_set.fault("overprovision", f"is {shown(scale_set.get('overprovision'))}", "Set it to false.")
    if scale_set.differs("platformFaultDomainCount", 1):
        found = f"is {shown(scale_set.get('platformFaultDomainCount'))}"
        yield scale_set.fault("platformFaultDomainCount", found, "Set it to 1.")
    zones = list(scale_set.each("zones[]"))
    if len(zones) > 1:
        yield scale_set.fault("zones", f"names {len(zones)} zones", "Keep one.")


def has_infiniband(size: str) -> bool:
    """By the catalogue; for a size that it does not hold, by the documented letter r among its features."""
    known = _azure_size(size)
    return known.infiniband > 0 if known else bool(_RDMA_SIZE.match(size))


def _single_placement_group(size: str) -> bool:
    known = _azure_size(size)
    return known.single_placement_group if known else not re.search(r"_GB\d", size, re.IGNORECASE)


def _azure_size(size: str) -> AzureNodeType | None:
    from planning.catalog import node_type
    from planning.catalog.records import AzureNodeType

    known = node_type(size)
    return known if isinstance(known, AzureNodeType) else None
