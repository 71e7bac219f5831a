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

from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.cost import Cost
from planning.facts.derive import Facts, derive
from planning.facts.fabric import Fabric, Interface
from planning.facts.network import AddressPlan
from planning.facts.quota import Quota
from planning.findings import Finding, has_errors
from planning.launcher import launcher_env
from planning.rules import judge
from planning.shape import read_spec
from planning.spec import AwsFilesystem, AwsSpec, AzureSpec

OnDelete = Literal["protect", "retain", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    reference: str
    """AMI id, SSM parameter, or publisher:offer:sku:version."""
    by_parameter: bool
    """AWS: an SSM parameter, looked up when the launch template is made and then left alone."""
    needs_plan: bool
    """Azure: the marketplace asks for a purchase plan, and for its terms to be accepted once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesPlan:
    type: str
    count: int
    running: bool
    gpus: int
    gpu_memory_gib: float
    """Of one GPU."""
    placed: bool
    """AWS: in a cluster placement group. Azure: in a single placement group."""
    interfaces: tuple[Interface, ...]
    """AWS: of one node, the primary first."""
    image: ImagePlan
    root_disk_gib: int
    trusted_launch: bool
    local_disks: int
    setup: tuple[str, ...]
    card: str
    """JSON of what a node must find in itself: GPUs, memory, interfaces, disks."""

    @property
    def declared(self) -> int:
        """Nodes that are declared now."""
        return self.count if self.running else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemPlan:
    kind: Literal["fsx-lustre", "azure-managed-lustre"]
    capacity_gib: int
    mbps_per_tib: int
    sku: str
    mount: str
    efa: bool
    backup_days: int
    metadata_iops: int | None
    compression: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsPlan:
    name: str | None
    """None: the name is derived at deployment, when the account is known."""
    prefix: str
    cool_after_days: int | None
    cool_class: str
    """AWS: the storage class that cooled objects move to."""
    expire_after_days: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPlan:
    ssh_public_key: str | None
    ssh_from: tuple[str, ...]


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
    facts: Facts | None = None
    plan: Plan | None = None


def assess(raw: object, today: date, folder: Path) -> Assessment:
    """Reads, judges and plans one spec. `folder` holds the stack file, and the set-up file that the spec may name."""
    spec, findings = read_spec(raw)
    if spec is None:
        return Assessment(findings=tuple(findings))
    facts = derive(spec, today)
    setup, setup_findings = _setup_lines(spec.nodes.setup, folder)
    findings = sorted([*judge(spec, facts), *setup_findings])
    if has_errors(findings) or facts.node is None:
        return Assessment(findings=tuple(findings), facts=facts)
    plan = _plan(spec, facts, facts.node, setup, tuple(findings))
    return Assessment(findings=tuple(findings), facts=facts, plan=plan)


def _setup_lines(setup: str | tuple[str, ...], folder: Path) -> tuple[tuple[str, ...], list[Finding]]:
    """Shell lines of `nodes.setup`; a name is that of a file in `folder`."""
    if not isinstance(setup, str):
        return setup, []
    path = folder / setup
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        lines = tuple(path.read_text(encoding="utf-8").splitlines()) if inside else ()
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not text"
        return (), [_setup_finding(f"the set-up file {setup} can not be read: {why}")]
    return lines, [] if inside else [_setup_finding(f"the set-up file {setup} is outside the stack file's folder")]


def _setup_finding(message: str) -> Finding:
    return Finding(
        "nodes.setup",
        "setup-file-unreadable",
        "error",
        message,
        "put the file beside the stack file, or write a list of shell lines",
        "docs/spec.md",
    )


def _plan(
    spec: AwsSpec | AzureSpec,
    facts: Facts,
    node: AwsNodeType | AzureNodeType,
    setup: tuple[str, ...],
    findings: tuple[Finding, ...],
) -> Plan:
    return Plan(
        name=spec.name,
        cloud=spec.cloud,
        region=spec.region,
        zone=spec.zone,
        account=spec.account,
        nodes=_nodes(spec, facts, node, setup),
        fabric=facts.fabric,
        network=facts.network,
        filesystem=_filesystem(spec, facts),
        objects=_objects(spec),
        on_delete=spec.storage.on_delete,
        access=AccessPlan(
            ssh_public_key=spec.access.ssh_public_key, ssh_from=tuple(str(n) for n in spec.access.ssh_from)
        ),
        tags=MappingProxyType(_tags(spec)),
        launcher_env=MappingProxyType(launcher_env(facts.fabric.kind, spec.cloud, spec.nodes.count, node.gpus)),
        quota=facts.quota,
        cost=facts.cost,
        findings=findings,
    )


def _nodes(
    spec: AwsSpec | AzureSpec, facts: Facts, node: AwsNodeType | AzureNodeType, setup: tuple[str, ...]
) -> NodesPlan:
    image = catalog.default_image(node)
    reference = spec.nodes.image or image.parameter or image.urn
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
        placed=_placed(spec, node, fabric),
        interfaces=facts.interfaces,
        image=ImagePlan(
            reference=reference,
            by_parameter=reference.startswith("/"),
            needs_plan=reference.startswith("almalinux:"),
        ),
        root_disk_gib=spec.nodes.root_disk,
        trusted_launch=isinstance(node, AzureNodeType) and node.trusted_launch,
        local_disks=node.local_disks,
        setup=setup,
        card=json.dumps(card, sort_keys=True),
    )


def _placed(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType, fabric: Fabric) -> bool:
    if spec.nodes.placement != "auto":
        return spec.nodes.placement == "cluster"
    if isinstance(node, AzureNodeType):
        return bool(node.infiniband) and node.single_placement_group
    return fabric.kind == "efa" and spec.nodes.purchase in ("on-demand", "spot")


def _filesystem(spec: AwsSpec | AzureSpec, facts: Facts) -> FilesystemPlan | None:
    wanted, lustre = spec.storage.filesystem, facts.lustre
    if wanted is None or lustre is None or lustre.tier is None:
        return None
    on_aws = isinstance(wanted, AwsFilesystem)
    return FilesystemPlan(
        kind="fsx-lustre" if on_aws else "azure-managed-lustre",
        capacity_gib=lustre.capacity_gib,
        mbps_per_tib=lustre.tier.mbps_per_tib,
        sku=lustre.tier.sku,
        mount=wanted.mount,
        efa=lustre.efa,
        backup_days=wanted.backup_days if on_aws else 0,
        metadata_iops=wanted.metadata_iops if on_aws else None,
        compression=on_aws and wanted.compression == "lz4",
    )


def _objects(spec: AwsSpec | AzureSpec) -> ObjectsPlan:
    checkpoints = spec.storage.objects.checkpoints
    cool = checkpoints.cool_after_days
    return ObjectsPlan(
        name=spec.storage.objects.name,
        prefix=checkpoints.prefix,
        cool_after_days=cool,
        # Standard-IA takes objects only after 30 days (S3 user guide, lifecycle transition constraints).
        cool_class="STANDARD_IA" if cool is not None and cool >= 30 else "INTELLIGENT_TIERING",
        expire_after_days=checkpoints.expire_after_days,
    )


def _tags(spec: AwsSpec | AzureSpec) -> dict[str, str]:
    ours = {"gpu-clusters:cluster": spec.name}
    if spec.lifetime.expires is not None:
        ours["gpu-clusters:expires"] = spec.lifetime.expires.isoformat()
    if spec.storage.on_delete == "retain":
        # Policies do not see the retain option of a resource; this says it to them, and to who finds the store later.
        ours["on-delete"] = "retain"
    return {**spec.tags, **ours}
