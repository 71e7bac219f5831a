"""Where the nodes' system lives, and what becomes of a spot node that is taken back."""

from __future__ import annotations

from typing import Literal

from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.spec import AwsSpec, AzureSpec

Eviction = Literal["delete", "deallocate"]
TRUSTED_LAUNCH_GIB = 1
"""What trusted launch takes of an ephemeral disk. Source: Azure documentation, ephemeral OS disks."""


def root_is_ephemeral(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None) -> bool:
    """Azure: on the node's own disk, which costs nothing and can not be kept without the node."""
    if not isinstance(node, AzureNodeType) or (spec.nodes.spot and spec.nodes.spot.on_eviction == "deallocate"):
        return False
    room = node.ephemeral_os_gib - (TRUSTED_LAUNCH_GIB if node.trusted_launch else 0)
    return spec.nodes.root_disk <= room


def eviction_of(spec: AwsSpec | AzureSpec, *, ephemeral: bool) -> Eviction:
    """As the spec says; else as the disk allows: an ephemeral one is lost when its node is deallocated."""
    if spec.nodes.spot is not None and spec.nodes.spot.on_eviction is not None:
        return spec.nodes.spot.on_eviction
    return "delete" if ephemeral or spec.cloud == "aws" else "deallocate"
