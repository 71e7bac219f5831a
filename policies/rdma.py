"""InfiniBand nodes are one fabric: one scale set with a single placement group, of a size that has InfiniBand. The
node pools of AKS are scale sets that AKS makes. EFA: `policies.placement` and `policies.fabric`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies import kinds
from policies.declare import Fault, Resource, resource_policy
from policies.machines import azure_size, has_infiniband, single_placement_group
from policies.view import View, shown

_SETUP = "https://learn.microsoft.com/azure/virtual-machines/setup-infiniband"


@resource_policy(
    "rdma-scale-set-split",
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.SCALE_SET,
    area="placement",
    description="A scale set of InfiniBand nodes is one fabric: one placement group, one fault domain, at "
    "most one zone, no overprovisioning.",
    why="InfiniBand links only nodes of one scale set that share a placement group; what spreads them "
    "splits the fabric, and overprovisioned nodes join it and vanish again.",
    fix="Set singlePlacementGroup true (false only for the rack-scale GB200 and GB300 sizes), overprovision "
    "false, platformFaultDomainCount 1 and no more than one zone.",
    reference=_SETUP,
)
def rdma_scale_set_split(resource: Resource) -> Iterator[Fault]:
    if resource.type != kinds.SCALE_SET:
        for pool in pools(resource):
            if has_infiniband(pool.get("vmSize")):
                yield from _zones(resource, pool, "availabilityZones")
        return
    size = resource.get("sku.name")
    if not has_infiniband(size):
        return
    single = single_placement_group(size)
    if resource.differs("singlePlacementGroup", single):
        found = f"is {shown(resource.get('singlePlacementGroup'))} on {size}"
        yield resource.fault("singlePlacementGroup", found, f"Set it to {shown(single)}.")
    flexible = resource.get("orchestrationMode") == "Flexible"
    if not flexible and resource.differs("overprovision", False):
        yield resource.fault("overprovision", f"is {shown(resource.get('overprovision'))}", "Set it to false.")
    if resource.differs("platformFaultDomainCount", 1):
        found = f"is {shown(resource.get('platformFaultDomainCount'))}"
        yield resource.fault("platformFaultDomainCount", found, "Set it to 1.")
    yield from _zones(resource, resource, "zones")


def pools(resource: Resource) -> Iterator[View]:
    """The node pools of an AKS cluster, or the one that the resource is."""
    yield from [resource] if resource.type == kinds.AKS_POOL else resource.each("agentPoolProfiles[]")


def _zones(resource: Resource, nodes: View, path: str) -> Iterator[Fault]:
    zones = list(nodes.each(f"{path}[]"))
    if len(zones) > 1:
        yield resource.fault(nodes.where(path), f"names {len(zones)} zones", "Keep one.")


@resource_policy(
    "rdma-size-without-infiniband",
    kinds.SCALE_SET,
    area="fabric",
    description="A scale set that is laid out as one InfiniBand fabric has a size with InfiniBand.",
    why="Sizes without the letter r (ND96is beside ND96isr) have the same GPUs and no InfiniBand cards: "
    "collective operations go over Ethernet at a fraction of the speed.",
    fix="Take the twin with the letter r.",
    severity=Severity.HIGH,
    reference=_SETUP,
)
def rdma_size_without_infiniband(scale_set: Resource) -> Iterator[Fault]:
    known = azure_size(scale_set.get("sku.name"))
    laid_out = scale_set.get("singlePlacementGroup") is True and scale_set.get("platformFaultDomainCount") == 1
    nodes = scale_set.get("sku.capacity")
    several = not isinstance(nodes, int | float) or nodes > 1
    if known and known.rdma_twin and laid_out and several:
        found = f"is {shown(known.name)}, which has no InfiniBand"
        yield scale_set.fault("sku.name", found, f"Take its twin {known.rdma_twin}.")
