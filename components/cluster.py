"""The shared cluster interface: what every cluster promises, whichever cloud it is on.

`components.aws.cluster.EfaCluster` and `components.azure.cluster.InfiniBandCluster` keep the promise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import pulumi

from planning.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What only the deployed resources know: a cluster's outputs beside those that its plan already holds."""

    node_count: pulumi.Input[int]
    mount_command: pulumi.Input[str] | None
    """Shell command that mounts the filesystem on a node; None without a filesystem."""
    objects_uri: pulumi.Input[str]
    access_command: pulumi.Input[str]
    hosts_command: pulumi.Input[str]


class GpuCluster(pulumi.ComponentResource, ABC):
    """A GPU cluster of one fabric. Built from a plan, which has taken every decision.

    Outputs (also the stack's exports, flat, snake_case, nothing secret):
    name, cloud, region, zone (empty where none is chosen), node_type; node_count (asked for now: 0 while stopped);
    gpus_per_node; gpu_memory_gib (of one GPU); fabric {kind, interfaces_per_node, gbps_per_node}; filesystem {kind,
    mount, mount_command}, or {kind: none}; objects {uri, checkpoint_uri}; access {kind, command}; hosts {command};
    launcher_env; usd_per_hour (list price).
    """

    name: pulumi.Output[str]
    cloud: pulumi.Output[str]
    region: pulumi.Output[str]
    zone: pulumi.Output[str]
    node_type: pulumi.Output[str]
    node_count: pulumi.Output[int]
    gpus_per_node: pulumi.Output[int]
    gpu_memory_gib: pulumi.Output[float]
    fabric: pulumi.Output[Mapping[str, Any]]
    filesystem: pulumi.Output[Mapping[str, Any]]
    objects: pulumi.Output[Mapping[str, str]]
    access: pulumi.Output[Mapping[str, str]]
    hosts: pulumi.Output[Mapping[str, str]]
    launcher_env: pulumi.Output[Mapping[str, str]]
    usd_per_hour: pulumi.Output[float]

    def __init__(self, kind: str, name: str, plan: Plan, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__(kind, name, None, opts)
        places = self._build(name, plan)
        self._outputs = _outputs(plan, places, access_kind=self.access_kind)
        for key, value in self._outputs.items():
            setattr(self, key, pulumi.Output.from_input(value))
        self.register_outputs(self._outputs)

    access_kind: str
    """How one gets onto a node."""

    @abstractmethod
    def _build(self, name: str, plan: Plan) -> Places:
        """Declares every resource of the cluster below this component."""

    @property
    def exports(self) -> Mapping[str, Any]:
        """What a stack exports: the outputs with whatever is known of each, so that a preview shows it."""
        return self._outputs


OUTPUTS = tuple(key for key in GpuCluster.__annotations__ if key != "access_kind")


def _outputs(plan: Plan, places: Places, *, access_kind: str) -> dict[str, Any]:
    # Pulumi drops exports that are null, so that what is not there has a value that says so.
    filesystem: dict[str, Any] = {"kind": "none"}
    if plan.filesystem is not None:
        mount = {"mount": plan.filesystem.mount, "mount_command": places.mount_command}
        filesystem = {"kind": plan.filesystem.kind, **mount}
    uri = pulumi.Output.from_input(places.objects_uri)
    return {
        "name": plan.name,
        "cloud": plan.cloud,
        "region": plan.region,
        "zone": plan.zone or "",
        "node_type": plan.nodes.type,
        "node_count": places.node_count,
        "gpus_per_node": plan.nodes.gpus,
        "gpu_memory_gib": plan.nodes.gpu_memory_gib,
        "fabric": {f.name: getattr(plan.fabric, f.name) for f in fields(plan.fabric)},
        "filesystem": filesystem,
        "objects": {"uri": uri, "checkpoint_uri": pulumi.Output.concat(uri, "/", plan.objects.prefix)},
        "access": {"kind": access_kind, "command": places.access_command},
        "hosts": {"command": places.hosts_command},
        "launcher_env": dict(plan.launcher_env),
        "usd_per_hour": float(plan.cost.usd_per_hour),
    }


def data_store_options(plan: Plan, parent: pulumi.Resource, **more: Any) -> pulumi.ResourceOptions:
    """Options of what holds data or guards it, as `storage.on_delete` says; said on each, since they are not inherited.

    protect refuses its deletion, retain leaves it behind when the stack goes, delete does neither. What guards a store
    (public access block, TLS policy, soft delete) stays as long as the store: without it the store would lie open.
    """
    return pulumi.ResourceOptions(
        parent=parent,
        protect=plan.on_delete == "protect",
        retain_on_delete=plan.on_delete == "retain",
        **more,
    )


def ground_options(plan: Plan, parent: pulumi.Resource, **more: Any) -> pulumi.ResourceOptions:
    """Options of what a filesystem stands on (its network): it stays where the filesystem is retained."""
    return pulumi.ResourceOptions(parent=parent, retain_on_delete=plan.on_delete == "retain", **more)
