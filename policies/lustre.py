"""A Lustre filesystem stands in the zone of the nodes that read it. What keeps its data: `policies.data`."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, stack_policy
from policies.launches import LAUNCHERS, Nodes, launches, subnets_of, zones_of
from policies.machines import accelerated
from policies.rdma import pools
from policies.view import View


@stack_policy(
    "lustre-in-another-zone",
    kinds.FSX_LUSTRE,
    kinds.MANAGED_LUSTRE,
    area="placement",
    description="A Lustre filesystem is in the availability zone of the nodes with accelerators.",
    why="Every read and every checkpoint would cross zones: slower, on AWS paid by the gigabyte, and out of reach of "
    "EFA.",
    fix="Put the filesystem into the zone of the nodes; it can only be chosen when it is made.",
    severity=Severity.MEDIUM,
    reference="https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html",
)
def lustre_in_another_zone(stack: Stack) -> Iterator[Fault]:
    for filesystem in stack.of(kinds.FSX_LUSTRE):
        yield from _from_subnets(stack, filesystem)
    for filesystem in stack.of(kinds.MANAGED_LUSTRE):
        zones = {str(v.value) for v in filesystem.each("zones[]")}
        nodes = _azure_zones(stack)
        if zones and nodes and not zones & nodes:
            yield filesystem.fault("zones", _elsewhere(zones, nodes))


def _elsewhere(zones: set[str], nodes: set[str]) -> str:
    return f"lies in {', '.join(sorted(zones))}, and the nodes are in {', '.join(sorted(nodes))}"


def _from_subnets(stack: Stack, filesystem: Resource) -> Iterator[Fault]:
    own = filesystem.made_from("subnetIds", kinds.SUBNET, kinds.DEFAULT_SUBNET)
    nodes = [s.urn for launcher in _accelerated(stack) for s in subnets_of(stack, launcher)[1]]
    if not own or not nodes or set(own) & set(nodes):
        return
    zones = zones_of([stack.resources[urn] for urn in own + nodes])
    at, others = set(zones[: len(own)]), set(zones[len(own) :])
    if at and not at & others:
        yield filesystem.fault("subnetIds", _elsewhere(at, others))


def _accelerated(stack: Stack) -> Iterator[Resource]:
    """What launches nodes with accelerators, from a template of the stack or by itself."""
    for launcher in stack.of(*LAUNCHERS):
        types = [v.value for v in View(launcher.value).each(LAUNCHERS[launcher.type].types)]
        for template in stack.of(kinds.LAUNCH_TEMPLATE):
            if launches(launcher, template):
                types += Nodes(template, [launcher], []).types()
        if any(isinstance(t, str) and accelerated(t) for t in types):
            yield launcher


def _azure_zones(stack: Stack) -> set[str]:
    """Zones of the nodes with accelerators; none where some of them may stand in any."""
    sizes: list[tuple[object, View, str]] = [(r.get("sku.name"), r, "zones") for r in stack.of(kinds.SCALE_SET)]
    sizes += [(r.get("hardwareProfile.vmSize"), r, "zones") for r in stack.of(kinds.VM)]
    for resource in stack.of(kinds.AKS_CLUSTER, kinds.AKS_POOL):
        sizes += [(pool.get("vmSize"), pool, "availabilityZones") for pool in pools(resource)]
    zones = [
        {str(v.value) for v in nodes.each(f"{path}[]")}
        for size, nodes, path in sizes
        if isinstance(size, str) and accelerated(size)
    ]
    return set().union(*zones) if all(zones) else set()
