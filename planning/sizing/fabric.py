"""How many nodes one fabric takes and one start gives, by cloud and node type; and how fast the fabric is."""

from __future__ import annotations

from dataclasses import dataclass

from planning.catalog.records import AwsNodeType, AzureNodeType, NodeType
from planning.rules.capacity import MOST_RESERVED_AT_ONCE

MOST_IN_A_BLOCK = 64
"""Instances of one Capacity Block. Source: EC2 user guide, Capacity Blocks."""
LONGEST_BLOCK_DAYS = 182
ULTRACLUSTER = (
    "AWS places P nodes in UltraClusters, whose size in a zone is not published: ask for the capacity beforehand"
)


@dataclass(frozen=True, slots=True)
class Limit:
    nodes: int
    """Most of one start, which is one fabric."""
    why: str
    further: int = 0
    """Most after asking the cloud's support; 0: nothing is documented."""


def limit_of(node: NodeType) -> Limit:
    if gb_per_second_per_gpu(node) == 0:
        return Limit(1, f"{node.name} has no fabric between nodes")
    if isinstance(node, AzureNodeType):
        return Limit(
            node.nodes_per_fabric,
            f"InfiniBand joins the nodes of one scale set only, which holds {node.nodes_per_fabric:,}",
            node.nodes_per_fabric_by_ticket if node.nodes_per_fabric_by_ticket > node.nodes_per_fabric else 0,
        )
    sizes = node.ultraserver_sizes if isinstance(node, AwsNodeType) else ()
    if sizes:
        return Limit(max(sizes), f"{node.name} comes in UltraServers of at most {max(sizes)} nodes")
    return Limit(MOST_RESERVED_AT_ONCE, f"one all-or-none start on AWS holds {MOST_RESERVED_AT_ONCE:,} nodes")


def round_up(node: NodeType, nodes: int) -> int:
    """The next count that is sold, and that divides well: even from 5 nodes on, by 4 from 17, by 8 from 65."""
    if isinstance(node, AwsNodeType) and node.ultraserver_sizes:
        return next((size for size in sorted(node.ultraserver_sizes) if size >= nodes), nodes)
    if isinstance(node, AzureNodeType) and node.rack_nodes:
        return -(-nodes // node.rack_nodes) * node.rack_nodes
    step = next((step for above, step in ((64, 8), (16, 4), (4, 2)) if nodes > above), 1)
    rounded = -(-nodes // step) * step
    most = limit_of(node).nodes
    return nodes if nodes <= most < rounded else rounded


def gb_per_second_per_gpu(node: NodeType) -> float:
    """Of the fabric between nodes, GB/s; 0 where there is none that reaches accelerator memory."""
    if isinstance(node, AwsNodeType):
        gbps = node.network_gbps if node.efa and node.gpudirect else 0
    elif isinstance(node, AzureNodeType):
        gbps = node.infiniband * node.infiniband_gbps
    else:
        gbps = 0
    return gbps / 8 / node.gpus


def client_gb_per_second(node: NodeType) -> float:
    """At which one node reads and writes a managed filesystem over plain TCP, GB/s.

    FSx documents 100 Gbit/s a client without EFA; Azure Managed Lustre is reached over Ethernet, never over
    InfiniBand.
    """
    if isinstance(node, AzureNodeType):
        return node.ethernet_gbps / 8
    return 100 / 8
