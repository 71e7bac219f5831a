"""The plan: everything that a component needs, decided and frozen. Made from a spec, its facts and its findings.

`assess` is the one way from a plain value to a plan; the command line, the Pulumi program and the tests all use it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.cost import Cost
from planning.facts.capacity import FROM_RESERVATION, Capacity
from planning.facts.derive import Facts, derive
from planning.facts.fabric import Fabric, Interface
from planning.facts.image import ImagePlan
from planning.facts.network import AddressPlan, ExistingSubnet, existing_subnet, subnets_said
from planning.facts.quota import Quota
from planning.facts.storage import (
    ExistingContainer,
    VaultKey,
    backups_possible,
    existing_container,
    key_arn,
    vault_key,
)
from planning.findings import Finding, has_errors
from planning.launcher import launcher_env
from planning.names import CLUSTER_TAG, EXPIRES_TAG, ON_DELETE_TAG
from planning.repair import judge_despite
from planning.rules import judge
from planning.shape import read_spec
from planning.spec import AwsFilesystem, AwsSpec, AzureExistingNetwork, AzureSpec

OnDelete = Literal["protect", "retain", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesPlan:
    type: str
    count: int
    running: bool
    gpus: int
    gpu_memory_gib: float
    """Of one GPU."""
    capacity: Capacity
    placed: bool
    """AWS: in a cluster placement group of its own. Azure: in a single placement group."""
    interfaces: tuple[Interface, ...]
    """AWS: of one node, the primary first."""
    image: ImagePlan
    root_disk_gib: int
    ephemeral_root: bool
    """Azure: the root disk is a part of the node."""
    trusted_launch: bool
    local_disks: int
    setup: tuple[str, ...]
    card: str
    """JSON of what a node must find in itself: GPUs, memory, interfaces, disks."""

    @property
    def declared(self) -> int:
        """Nodes that are declared now."""
        return self.capacity.now


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemPlan:
    kind: Literal["fsx-lustre", "azure-managed-lustre"]
    existing: str | None
    """Id of one's own that is mounted as it is: what is below `efa` then says nothing."""
    mount: str
    efa: bool
    """AWS: clients reach it over EFA."""
    deployment: Literal["persistent", "scratch"]
    capacity_gib: int
    mbps_per_tib: int
    mbps: int | None
    """MB/s of all of it; None of one that exists."""
    sku: str
    kms_key: str | None
    """AWS: ARN of the key that encrypts it; None: the cloud's own key."""
    vault_key: VaultKey | None
    """Azure: the key that encrypts it; None: the cloud's own key."""
    backed_up: bool
    """AWS: it can have backups, and leaves a final one."""
    backup_days: int
    metadata_iops: int | None
    compression: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsPlan:
    name: str | None
    """None: the name is derived at deployment, when the account is known."""
    existing: str | None
    """AWS: name of a bucket of one's own, which is used as it is."""
    existing_container: ExistingContainer | None
    """Azure: a container of one's own, which is used as it is."""
    link: bool
    """The filesystem imports from it and exports to it."""
    link_principal: str | None
    """Azure: object id of the service that does so, to which the stack grants it; None: somebody else has."""
    prefix: str
    cool_after_days: int | None
    cool_class: str
    """AWS: the storage class that cooled objects move to."""
    expire_after_days: int | None
    checkpoint_gib: int | None
    """Size of one checkpoint, where it is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPlan:
    ssh_public_key: str | None
    ssh_from: tuple[str, ...]
    bastion: bool
    """Azure: the network has a Bastion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingNetwork:
    """Ids of a network that is used as it is."""

    vpc: str
    """AWS: the VPC; Azure: the VNet."""
    subnet: str
    """Of the nodes; on AWS of the filesystem, too."""
    security_groups: tuple[str, ...]
    """AWS: of the nodes, beside the cluster's own."""
    subnets: Mapping[str, ExistingSubnet]
    """Azure: by field of the spec, of which only `subnet` is always there. Without `endpoint_subnet` private endpoints
    are in the nodes' subnet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    name: str
    cloud: Literal["aws", "azure"]
    region: str
    zone: str | None
    account: str | None
    nodes: NodesPlan
    fabric: Fabric
    network: AddressPlan
    existing_network: ExistingNetwork | None
    egress: Literal["nat", "none"]
    """The way out of a new network."""
    flow_logs: bool
    filesystem: FilesystemPlan | None
    objects: ObjectsPlan
    on_delete: OnDelete
    access: AccessPlan
    tags: Mapping[str, str]
    """On every taggable resource: the user's and ours, ours last."""
    launcher_env: Mapping[str, str]
    quota: tuple[Quota, ...]
    cost: Cost
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """All that can be said of a plain value; `plan` is None where a finding is an error."""

    findings: tuple[Finding, ...]
    spec: AwsSpec | AzureSpec | None = None
    """None where its shape is wrong."""
    facts: Facts | None = None
    plan: Plan | None = None


def assess(raw: object, today: date, folder: Path) -> Assessment:
    """Reads, judges and plans one spec. `folder` holds the stack file, and the set-up file that the spec may name."""
    spec, mistakes = read_spec(raw)
    if spec is None:
        told = judge_despite(raw, lambda repaired: judge(repaired, derive(repaired, today, folder)))
        return Assessment(findings=tuple(sorted({*mistakes, *told})))
    facts = derive(spec, today, folder)
    findings = tuple(judge(spec, facts))
    if has_errors(findings) or facts.node is None or facts.image is None:
        return Assessment(findings=findings, spec=spec, facts=facts)
    plan = _plan(spec, facts, facts.node, facts.image, findings)
    return Assessment(findings=findings, spec=spec, facts=facts, plan=plan)


def _plan(
    spec: AwsSpec | AzureSpec,
    facts: Facts,
    node: AwsNodeType | AzureNodeType,
    image: ImagePlan,
    findings: tuple[Finding, ...],
) -> Plan:
    return Plan(
        name=spec.name,
        cloud=spec.cloud,
        region=spec.region,
        zone=spec.zone,
        account=spec.account,
        nodes=_nodes(spec, facts, node, image),
        fabric=facts.fabric,
        network=facts.network,
        existing_network=_existing_network(spec),
        egress=spec.network.egress,
        flow_logs=spec.network.flow_logs,
        filesystem=_filesystem(spec, facts),
        objects=_objects(spec),
        on_delete=spec.storage.on_delete,
        access=AccessPlan(
            ssh_public_key=spec.access.ssh_public_key,
            ssh_from=tuple(str(n) for n in spec.access.ssh_from),
            bastion=spec.access.bastion,
        ),
        tags=MappingProxyType(_tags(spec)),
        launcher_env=MappingProxyType(launcher_env(facts.fabric.kind, spec.cloud, spec.nodes.count, node.gpus)),
        quota=facts.quota,
        cost=facts.cost,
        findings=findings,
    )


def _nodes(spec: AwsSpec | AzureSpec, facts: Facts, node: AwsNodeType | AzureNodeType, image: ImagePlan) -> NodesPlan:
    fabric = facts.fabric
    card = {
        "type": node.name,
        "gpus": node.gpus,
        "gpu_memory_mib": node.gpu_memory_mib,
        "vcpus": node.vcpus,
        "memory_gib": node.memory_gib,
        "fabric": fabric.kind,
        "fabric_interfaces": fabric.interfaces_per_node,
        "local_disks": node.local_disks,
    }
    return NodesPlan(
        type=node.name,
        count=spec.nodes.count,
        running=spec.nodes.running,
        gpus=node.gpus,
        gpu_memory_gib=round(node.gpu_memory_mib / 1024, 2),
        capacity=facts.capacity,
        placed=_placed(spec, node, fabric),
        interfaces=facts.interfaces,
        image=image,
        root_disk_gib=spec.nodes.root_disk,
        ephemeral_root=facts.ephemeral_root,
        trusted_launch=isinstance(node, AzureNodeType) and node.trusted_launch,
        local_disks=node.local_disks,
        setup=facts.setup.lines,
        card=json.dumps(card, sort_keys=True),
    )


def _placed(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType, fabric: Fabric) -> bool:
    on_azure = isinstance(node, AzureNodeType)
    if not on_azure and spec.nodes.purchase in FROM_RESERVATION:
        return False  # a reservation has its own group or none, and finds no capacity in another
    if spec.nodes.placement != "auto":
        return spec.nodes.placement == "cluster"
    return bool(node.infiniband) and node.single_placement_group if on_azure else fabric.kind == "efa"


def _existing_network(spec: AwsSpec | AzureSpec) -> ExistingNetwork | None:
    given = spec.network.existing
    if given is None:
        return None
    if isinstance(given, AzureExistingNetwork):
        said = {field: existing_subnet(value) for field, value in subnets_said(given).items()}
        subnets = {field: subnet for field, subnet in said.items() if subnet is not None}
        nodes = subnets["subnet"]
        return ExistingNetwork(
            vpc=nodes.vnet_id, subnet=nodes.id, security_groups=(), subnets=MappingProxyType(subnets)
        )
    # In the order of the spec, each once.
    groups = tuple(dict.fromkeys(given.security_groups))
    return ExistingNetwork(vpc=given.vpc, subnet=given.subnet, security_groups=groups, subnets=MappingProxyType({}))


def _filesystem(spec: AwsSpec | AzureSpec, facts: Facts) -> FilesystemPlan | None:
    wanted, lustre = spec.storage.filesystem, facts.lustre
    if wanted is None:
        return None
    on_aws = isinstance(wanted, AwsFilesystem)
    backed_up = backups_possible(spec)
    tier = lustre.tier if lustre else None
    return FilesystemPlan(
        kind="fsx-lustre" if on_aws else "azure-managed-lustre",
        existing=wanted.existing,
        mount=wanted.mount,
        efa=lustre.efa if lustre else on_aws and wanted.efa is True,
        deployment=wanted.deployment,
        capacity_gib=lustre.capacity_gib if lustre else 0,
        mbps_per_tib=tier.mbps_per_tib if tier else 0,
        mbps=lustre.throughput_mbps if lustre else None,
        sku=tier.sku if tier else "",
        kms_key=key_arn(spec),
        vault_key=vault_key(spec),
        backed_up=backed_up,
        backup_days=wanted.backup_days if on_aws and backed_up else 0,
        metadata_iops=wanted.metadata_iops if on_aws else None,
        compression=on_aws and wanted.compression == "lz4",
    )


def _objects(spec: AwsSpec | AzureSpec) -> ObjectsPlan:
    checkpoints = spec.storage.objects.checkpoints
    cool = checkpoints.cool_after_days
    return ObjectsPlan(
        name=spec.storage.objects.name,
        existing=spec.storage.objects.existing if spec.cloud == "aws" else None,
        existing_container=existing_container(spec),
        link=spec.storage.objects.link,
        link_principal=spec.storage.objects.link_principal if isinstance(spec, AzureSpec) else None,
        prefix=checkpoints.prefix,
        cool_after_days=cool,
        # Standard-IA takes objects only after 30 days (S3 user guide, lifecycle transition constraints).
        cool_class="STANDARD_IA" if cool is not None and cool >= 30 else "INTELLIGENT_TIERING",
        expire_after_days=checkpoints.expire_after_days,
        checkpoint_gib=checkpoints.size,
    )


def _tags(spec: AwsSpec | AzureSpec) -> dict[str, str]:
    ours = {CLUSTER_TAG: spec.name}
    if spec.lifetime.expires is not None:
        ours[EXPIRES_TAG] = spec.lifetime.expires.isoformat()
    if spec.storage.on_delete == "retain":
        ours[ON_DELETE_TAG] = "retain"
    return {**spec.tags, **ours}
