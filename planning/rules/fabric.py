"""Rules about node types and the fabric between nodes."""

from __future__ import annotations

from collections.abc import Iterator

from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.facts.derive import Facts
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, refused_by, rule

INFINIBAND = "https://learn.microsoft.com/azure/virtual-machines/setup-infiniband"
EFA_TYPES = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"


@rule("node-type-unknown", "error", reference="docs/spec.md", waivable=False)
def node_type_unknown(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The node type is in the catalogue of the cloud."""
    if facts.node is not None:
        return
    elsewhere = catalog.node_type(spec.nodes.type)
    if elsewhere:
        message = f"{spec.nodes.type} is a type of {elsewhere.cloud}, and the cluster is on {spec.cloud}"
    else:
        message = f"the catalogue has no type {shown(spec.nodes.type)} with GPUs and a known network"
    close = catalog.near_node_types(spec.nodes.type, spec.cloud)
    usual = "p5.48xlarge" if spec.cloud == "aws" else "Standard_ND96isr_H100_v5"
    yield Fault(
        "nodes.type",
        message,
        f"did you mean {' or '.join(close)}?" if close else f"write a type such as {usual}",
    )


@rule("no-fabric-for-several-nodes", "error", reference={"aws": EFA_TYPES, "azure": INFINIBAND})
def no_fabric_for_several_nodes(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Several nodes need a fabric: EFA on AWS, RDMA over InfiniBand on Azure."""
    if facts.node is None or spec.nodes.count == 1 or facts.fabric.kind != "ethernet":
        return
    kind = "EFA" if spec.cloud == "aws" else "InfiniBand (RDMA)"
    twin = getattr(facts.node, "rdma_twin", "")
    fix = f"write {twin}, its twin with InfiniBand" if twin else "take a type with it, or nodes.count: 1"
    yield Fault(
        "nodes.type",
        f"{spec.nodes.type} has no {kind}, and {spec.nodes.count} nodes would talk over plain Ethernet",
        fix,
    )


@rule("no-gpudirect", "info", cloud="aws", reference=EFA_TYPES)
def no_gpudirect(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """EFA of the smaller types does not reach GPU memory, which training across nodes feels."""
    node = facts.node
    if isinstance(node, AwsNodeType) and node.efa and not node.gpudirect and spec.nodes.count > 1:
        message = f"EFA of {node.name} does not read GPU memory (GPUDirect RDMA): all between nodes goes by the host's"
        yield Fault("nodes.type", message, "take a type such as p5.48xlarge for training across nodes")


@rule("twin-without-infiniband", "error", cloud="azure", reference=INFINIBAND)
def twin_without_infiniband(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A size that has a twin with InfiniBand is hardly meant without it, even for one node."""
    if isinstance(facts.node, AzureNodeType) and facts.node.rdma_twin and spec.nodes.count == 1:
        message = f"{spec.nodes.type} is the twin without InfiniBand (RDMA) of {facts.node.rdma_twin}"
        yield Fault("nodes.type", message, f"write {facts.node.rdma_twin}")


@rule("more-nodes-than-a-fabric", "error", cloud="azure", reference=INFINIBAND)
def more_nodes_than_a_fabric(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """InfiniBand joins the VMs of one scale set only, and a single placement group has a limit."""
    node = facts.node
    if not isinstance(node, AzureNodeType) or not node.infiniband or not node.nodes_per_fabric:
        return
    nodes = facts.capacity.most
    if nodes > node.nodes_per_fabric:
        most, ticket = node.nodes_per_fabric, node.nodes_per_fabric_by_ticket
        message = (
            f"{nodes} nodes are more than the {most} of one scale set with a single placement group "
            f"({ticket} after a support ticket), and InfiniBand does not cross scale sets"
        )
        fix = f"write {most} or fewer, or make islands: one stack each, and plain TCP between them"
        if nodes <= ticket:
            fix += "; where a ticket has raised the limit, waive more-nodes-than-a-fabric with its number"
        yield Fault("nodes.count", message, fix)


@rule(
    "broken-rack",
    "warning",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/nd-gb300-v6-series",
)
def broken_rack(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Rack-scale sizes come in whole NVLink racks."""
    rack = getattr(facts.node, "rack_nodes", 0)
    if rack and spec.nodes.count % rack:
        whole = -(-spec.nodes.count // rack) * rack
        yield Fault(
            "nodes.count",
            f"{spec.nodes.type} comes in racks of {rack} nodes, and {spec.nodes.count} breaks one",
            f"write {whole}",
        )


@rule(
    "placement-refused-by-size",
    "error",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/nd-gb300-v6-series",
)
def placement_refused_by_size(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Rack-scale sizes refuse a single placement group."""
    node = facts.node
    if (
        isinstance(node, AzureNodeType)
        and node.infiniband
        and not node.single_placement_group
        and spec.nodes.placement == "cluster"
    ):
        yield Fault("nodes.placement", f"{node.name} refuses a single placement group", "leave nodes.placement out")


@rule("infiniband-without-placement", "error", cloud="azure", reference=INFINIBAND)
def infiniband_without_placement(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """InfiniBand needs a single placement group; one public project reports the opposite, hence the waiver."""
    node = facts.node
    if (
        isinstance(node, AzureNodeType)
        and node.infiniband
        and node.single_placement_group
        and spec.nodes.placement == "none"
    ):
        message = (
            "without a single placement group a scale set does not support InfiniBand: "
            f"nodes land in separate partitions ({refused_by('rdma-scale-set-split')})"
        )
        yield Fault("nodes.placement", message, "write cluster, or leave nodes.placement out")


@rule(
    "efa-without-placement",
    "warning",
    cloud="aws",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
)
def efa_without_placement(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """EFA between nodes that are not placed together works, but may be slower."""
    unplaced = spec.nodes.placement == "none" and spec.nodes.purchase in ("on-demand", "spot")
    if isinstance(facts.node, AwsNodeType) and facts.fabric.kind == "efa" and spec.nodes.count > 1 and unplaced:
        message = (
            "EFA nodes without a placement group may be far apart, and collectives wait for the slowest pair "
            f"({refused_by('efa-nodes-without-placement')})"
        )
        yield Fault("nodes.placement", message, "write cluster, or leave nodes.placement out")
