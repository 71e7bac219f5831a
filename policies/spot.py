"""Spot nodes that work as one job: what happens when one of them is taken away. Where they stand:
`policies.placement`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.launches import Nodes, efa_nodes, launchers_of
from policies.rdma import pools
from policies.view import shown

_KEPT = ("stop", "hibernate")


@stack_policy(
    "aws-spot-stops-in-placement-group",
    kinds.INSTANCE,
    kinds.LAUNCH_TEMPLATE,
    kinds.SPOT_INSTANCE,
    area="placement",
    description="Spot instances in a cluster placement group are terminated when they are interrupted.",
    why="EC2 does not launch Spot Instances that stop or hibernate into a placement group.",
    fix='Set the interruption behaviour to "terminate" (the default), and let the job go on from a checkpoint.',
    severity=Severity.MEDIUM,
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html",
)
def aws_spot_stops_in_placement_group(stack: Stack) -> Iterator[Fault]:
    for instance in stack.of(kinds.INSTANCE, kinds.SPOT_INSTANCE):
        if any(instance.has(path) for path in ("placementGroup", "placementGroupId")):
            yield from _stops(instance, _BEHAVIOUR[instance.type])
    for template in stack.of(kinds.LAUNCH_TEMPLATE):
        nodes = Nodes(template, launchers_of(stack, template), [])
        if nodes.group():
            for resource in (template, *nodes.launchers):
                if resource.type in _BEHAVIOUR:
                    yield from _stops(resource, _BEHAVIOUR[resource.type])


_MARKET = "instanceMarketOptions.spotOptions.instanceInterruptionBehavior"
_BEHAVIOUR = {
    kinds.FLEET: "spotOptions.instanceInterruptionBehavior",
    kinds.INSTANCE: _MARKET,
    kinds.LAUNCH_TEMPLATE: _MARKET,
    kinds.SPOT_FLEET: "instanceInterruptionBehaviour",
    kinds.SPOT_INSTANCE: "instanceInterruptionBehavior",
}


def _stops(resource: Resource, path: str) -> Iterator[Fault]:
    if resource.get(path) in _KEPT:
        yield resource.fault(path, f"is {shown(resource.get(path))}")


@stack_policy(
    "aws-rebalance-breaks-gang",
    kinds.LAUNCH_TEMPLATE,
    area="placement",
    description="Groups of EFA nodes do not replace Spot Instances on a mere rebalance recommendation.",
    why="Capacity rebalancing takes a node that still works out of a running job, and one node less stops all of them.",
    fix="Set capacityRebalance to false and take the interruption notice as the sign to write a checkpoint.",
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    reference="https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
)
def aws_rebalance_breaks_gang(stack: Stack) -> Iterator[Fault]:
    for nodes in efa_nodes(stack):
        for group in nodes.launchers:
            if group.type == kinds.AUTO_SCALING_GROUP and group.true("capacityRebalance"):
                yield group.fault("capacityRebalance", "is true, and its nodes carry EFA")


@resource_policy(
    "azure-spot-disk-lost",
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.SCALE_SET,
    kinds.VM,
    area="placement",
    description="Spot machines with an ephemeral disk are deleted when they are evicted.",
    why="A deallocated machine keeps its disks, which an ephemeral one cannot be: Azure refuses the pair.",
    fix='Set the eviction policy to "Delete", or take a managed disk.',
    severity=Severity.MEDIUM,
    reference="https://learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks",
)
def azure_spot_disk_lost(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.AKS_CLUSTER, kinds.AKS_POOL):
        for pool in pools(resource):
            spot, ephemeral = pool.get("scaleSetPriority") == "Spot", pool.get("osDiskType") == "Ephemeral"
            if spot and ephemeral and pool.get("scaleSetEvictionPolicy") == "Deallocate":
                yield resource.fault(pool.where("scaleSetEvictionPolicy"), 'is "Deallocate" with an ephemeral disk')
        return
    where = "" if resource.type == kinds.VM else "virtualMachineProfile."
    ephemeral = resource.get(f"{where}storageProfile.osDisk.diffDiskSettings.option") == "Local"
    spot = resource.get(f"{where}priority") in ("Spot", "Low")
    if spot and ephemeral and resource.differs(f"{where}evictionPolicy", "Delete"):
        found = f"is {shown(resource.get(f'{where}evictionPolicy'))} with an ephemeral disk, which means Deallocate"
        yield resource.fault(f"{where}evictionPolicy", found)
