"""How many GPUs a stack may come to, over everything that launches or holds nodes. The other limits of an organisation:
`policies.cost`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pulumi_policy import Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, stack_policy
from policies.launches import LAUNCHERS, launchers_of
from policies.machines import accelerated, aws_type, azure_size
from policies.options import option
from policies.view import View

MACHINE_TYPES = {
    kinds.BATCH_ENVIRONMENT: "computeResources.instanceTypes[]",
    kinds.CAPACITY_BLOCK: "instanceType",
    kinds.CAPACITY_RESERVATION: "instanceType",
    kinds.EKS_NODE_GROUP: "instanceTypes[]",
    kinds.INSTANCE: "instanceType",
    kinds.LAUNCH_CONFIGURATION: "instanceType",
    kinds.LAUNCH_TEMPLATE: "instanceType",
    kinds.SPOT_INSTANCE: "instanceType",
    kinds.AKS_CLUSTER: "agentPoolProfiles[].vmSize",
    kinds.AKS_POOL: "vmSize",
    kinds.AZURE_BATCH_POOL: "vmSize",
    kinds.AZURE_RESERVATION: "sku.name",
    kinds.MACHINE_LEARNING: "properties.properties.vmSize",
    kinds.SCALE_SET: "sku.name",
    kinds.VM: "hardwareProfile.vmSize",
}
"""Where a resource says which machines it is about."""

_COUNTS = {
    kinds.AZURE_BATCH_POOL: ("scaleSettings.fixedScale.targetDedicatedNodes",),
    kinds.MACHINE_LEARNING: ("properties.properties.scaleSettings.maxNodeCount",),
    kinds.SCALE_SET: ("sku.capacity",),
    kinds.VM: (),
}


@dataclass(frozen=True)
class Nodes:
    """Nodes of one origin: the most that there may be, and their types."""

    resource: Resource
    path: str
    types: list[str]
    count: float


@dataclass(frozen=True)
class Limit:
    max_gpus: int = option(
        0, "The most GPUs (or other accelerators) that a stack may come to; 0 is no limit.", minimum=0
    )
    gpus: Mapping[str, int] = option({}, "GPUs of types that the catalogue does not hold, by type.")

    def of(self, name: str) -> int | None:
        """GPUs of one node; None where nobody knows."""
        known = azure_size(name) or aws_type(name)
        return known.gpus if known else self.gpus.get(name, None if accelerated(name) else 0)


@stack_policy(
    "cost-gpus-per-stack",
    *LAUNCHERS,
    kinds.CAPACITY_BLOCK,
    kinds.CAPACITY_RESERVATION,
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.AZURE_RESERVATION,
    *_COUNTS,
    area="cost",
    description="A stack comes to no more GPUs than the organisation allows.",
    why="One digit too many in a count is some hundred dollars an hour.",
    fix="Ask for fewer nodes (the most a group may grow to counts), or have the limit raised.",
    severity=Severity.HIGH,
    options=Limit,
)
def cost_gpus_per_stack(stack: Stack, limit: Limit) -> Iterator[Fault]:
    if not limit.max_gpus:
        return
    total, largest = 0, None
    for nodes in _nodes(stack):
        if unknown := [name for name in nodes.types if limit.of(name) is None]:
            fix = "Name its GPUs in the option gpus of this policy."
            yield nodes.resource.fault(nodes.path, f"counts nodes of {unknown[0]}, whose GPUs nobody has said", fix)
        gpus = int(nodes.count * max((limit.of(name) or 0 for name in nodes.types), default=0))
        total += gpus
        if largest is None or gpus > largest[0]:
            largest = (gpus, nodes)
    if largest and total > limit.max_gpus:
        gpus, nodes = largest
        found = f"brings {gpus} of the stack's {total} GPUs, and the limit is {limit.max_gpus}"
        yield nodes.resource.fault(nodes.path, found)


def _nodes(stack: Stack) -> Iterator[Nodes]:
    launched = [*_launched(stack), *_scaled(stack), *_pools(stack)]
    yield from launched
    for held in _held(stack):
        # What launches into a reservation is in it: only the part of it that nobody uses comes on top.
        inside = sum(nodes.count for nodes in launched if _uses(stack, nodes.resource, held.resource))
        if held.count > inside:
            yield replace(held, count=held.count - inside)


def _launched(stack: Stack) -> Iterator[Nodes]:
    templates = {r.urn: launchers_of(stack, r) for r in stack.of(kinds.LAUNCH_TEMPLATE)}
    for resource in stack.of(*LAUNCHERS):
        words = LAUNCHERS[resource.type]
        named = [str(view.value) for view in resource.each(words.types)]
        sources = [stack.resources[urn] for urn, launchers in templates.items() if resource in launchers]
        sources += [
            stack.resources[urn] for urn in resource.made_from("launchConfiguration", kinds.LAUNCH_CONFIGURATION)
        ]
        types = named or [t for source in sources if isinstance(t := source.get("instanceType"), str)]
        if any(accelerated(name) for name in types):
            count = _number(resource, words.most) if words.most else 1
            if resource.type == kinds.BATCH_ENVIRONMENT:  # it counts in vCPU
                count /= min((known.vcpus for name in types if (known := aws_type(name))), default=1)
            yield Nodes(resource, words.most or "instanceType", types, count)


def _scaled(stack: Stack) -> Iterator[Nodes]:
    for resource in stack.of(*_COUNTS):
        types = [str(view.value) for view in resource.each(MACHINE_TYPES[resource.type])]
        if any(accelerated(name) for name in types):
            paths = _COUNTS[resource.type]
            count = _number(resource, paths[0]) if paths and resource.has(paths[0]) else 1
            yield Nodes(resource, paths[0] if paths else MACHINE_TYPES[resource.type], types, count)


def _pools(stack: Stack) -> Iterator[Nodes]:
    for resource in stack.of(kinds.AKS_CLUSTER, kinds.AKS_POOL):
        pools: list[View] = (
            [resource] if resource.type == kinds.AKS_POOL else list(resource.each("agentPoolProfiles[]"))
        )
        for pool in pools:
            size = pool.get("vmSize")
            if isinstance(size, str) and accelerated(size):
                path = "maxCount" if pool.true("enableAutoScaling") else "count"
                yield Nodes(resource, pool.where(path), [size], _number(pool, path) if pool.has(path) else 1)


def _held(stack: Stack) -> Iterator[Nodes]:
    paths = {
        kinds.CAPACITY_BLOCK: "instanceCount",
        kinds.CAPACITY_RESERVATION: "instanceCount",
        kinds.AZURE_RESERVATION: "sku.capacity",
    }
    for resource in stack.of(*paths):
        name, path = resource.get(MACHINE_TYPES[resource.type]), paths[resource.type]
        if isinstance(name, str) and accelerated(name):
            yield Nodes(resource, path, [name], _number(resource, path))


def _uses(stack: Stack, user: Resource, reservation: Resource) -> bool:
    """Whether nodes go into a reservation: its outputs, or those of its group, went into them or their template."""
    groups = {reservation.urn, *(s.urn for s in reservation.sources.get("capacityReservationGroupName", ()))}
    near = [user, *(r for r in stack.of(kinds.LAUNCH_TEMPLATE) if user in launchers_of(stack, r))]
    return any(source.urn in groups for r in near for sources in r.sources.values() for source in sources)


def _number(view: View, path: str) -> float:
    value = view.get(path)
    return value if isinstance(value, int | float) else 0
