"""What follows from a spec and the catalogue, derived once: rules read it, the plan freezes it.

The subjects are in the modules beside this one; prices are in `planning.cost`. A part that the spec leaves undecidable
(with an unknown node type, say) is None, and a rule says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.cost import Cost, cost_of
from planning.facts.capacity import Capacity, capacity_of
from planning.facts.disks import root_is_ephemeral
from planning.facts.fabric import Fabric, Interface, fabric_of, interfaces_of
from planning.facts.image import ImagePlan, image_of
from planning.facts.network import AddressPlan, address_plan
from planning.facts.quota import Quota, quota_of
from planning.facts.setup import Setup, setup_of
from planning.facts.storage import Lustre, lustre_of
from planning.spec import AwsSpec, AzureSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    today: date
    node: AwsNodeType | AzureNodeType | None
    """None: the catalogue of this cloud has no such type."""
    image: ImagePlan | None
    """None: neither the spec nor a known type tells it."""
    setup: Setup
    ephemeral_root: bool
    """Azure: whether the nodes' root disk is a part of the node."""
    capacity: Capacity
    interfaces: tuple[Interface, ...]
    fabric: Fabric
    network: AddressPlan
    lustre: Lustre | None
    """None: no filesystem is made."""
    quota: tuple[Quota, ...]
    cost: Cost


def derive(spec: AwsSpec | AzureSpec, today: date, folder: Path) -> Facts:
    """`folder` holds the stack file, the set-up file that the spec may name, and the record of images."""
    node = catalog.node_type(spec.nodes.type)
    if node is not None and node.cloud != spec.cloud:
        node = None
    interfaces = interfaces_of(spec, node)
    lustre = lustre_of(spec, node)
    ephemeral = root_is_ephemeral(spec, node)
    capacity = capacity_of(spec, today, ephemeral=ephemeral)
    return Facts(
        today=today,
        node=node,
        image=image_of(spec, node, folder),
        setup=setup_of(spec.nodes.setup, folder),
        ephemeral_root=ephemeral,
        capacity=capacity,
        interfaces=interfaces,
        fabric=fabric_of(node),
        network=address_plan(spec, interfaces, lustre),
        lustre=lustre,
        quota=quota_of(spec, node, capacity.most),
        cost=cost_of(spec, node, lustre, ephemeral_root=ephemeral, today=today),
    )
