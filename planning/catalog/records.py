"""The typed records of the catalogue. Data: the TOML files beside this module; loading: `planning.catalog`.

Memory is in MiB or GiB (binary), local disks in GB (decimal, as vendors sell them), networks in Gbit/s,
money in US dollars as `Decimal`. Every record says where it comes from and when that was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

Cloud = Literal["aws", "azure"]
Arch = Literal["x86_64", "arm64"]
Vendor = Literal["nvidia", "amd", "aws"]
Purchase = Literal["on-demand", "spot", "reserved", "capacity-block"]
Deployment = Literal["persistent", "scratch"]
Confidence = Literal["listed", "unproved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeType:
    """What both clouds' node types have in common."""

    name: str
    cloud: Cloud
    accelerator: str
    """Model of one accelerator, as its vendor writes it: H100, MI300X, Trainium2."""
    vendor: Vendor
    gpus: int
    gpu_memory_mib: int
    """Memory of one accelerator."""
    vcpus: int
    memory_gib: int
    arch: Arch
    local_disks: int
    """NVMe disks that first boot makes one RAID-0 scratch of; 0 where there is none."""
    local_disk_gb: int
    """Size of one of them in GB; 0 where unknown or none."""
    purchase: tuple[Purchase, ...]
    """Ways to buy it that the cloud offers."""
    image: str
    """Key of the image in images.toml that fits its accelerators and architecture."""
    source: str
    checked: date
    note: str = ""

    @property
    def total_gpu_memory_mib(self) -> int:
        return self.gpus * self.gpu_memory_mib


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsNodeType(NodeType):
    network_cards: int
    interfaces_per_card: tuple[int, ...]
    """Most interfaces that each card takes, one number per card."""
    efa: int
    """EFA interfaces that carry its full bandwidth (EfaInfo.MaximumEfaInterfaces, or fewer where AWS documents
    fewer); not the number of cards. 0: no EFA."""
    efa_cards: tuple[int, ...]
    """The cards that take them, one each, ascending."""
    network_gbps: int
    """Bandwidth of all cards together."""
    gpudirect: bool
    """Whether EFA reads and writes GPU memory (GPUDirect RDMA)."""
    zones: tuple[str, ...] = ()
    """Zone ids where the type was offered when checked; empty where that was not read. AWS adds zones."""
    quota: Mapping[str, str]
    """Service Quotas code (service ec2, unit vCPU) by purchase: keys on-demand and spot, where offered."""
    ultraserver_sizes: tuple[int, ...] = ()
    """Legal node counts where instances come as UltraServers; empty elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureNodeType(NodeType):
    infiniband: int
    """InfiniBand cards of one VM; 0: no RDMA."""
    infiniband_gbps: int
    """Of one card."""
    ethernet_gbps: int
    quota_family: str
    """Family name in which vCPU quota is counted, as the usage API spells it."""
    single_placement_group: bool
    """True where InfiniBand needs it; False for the rack-scale sizes (GB200, GB300), which refuse it, and for sizes
    without InfiniBand."""
    nodes_per_fabric: int
    """Most nodes of one scale set, which is one fabric."""
    nodes_per_fabric_by_ticket: int
    """The same after a support ticket."""
    rack_nodes: int = 0
    """Nodes of one NVLink rack, of which counts must be multiples; 0 elsewhere."""
    trusted_launch: bool
    ephemeral_os_gib: int = 0
    """Largest ephemeral OS disk; 0 where unknown."""
    rdma_twin: str = ""
    """The size with InfiniBand, where this one is its twin without."""

    @property
    def capacity_reservation(self) -> bool:
        """Whether capacity reservation groups take the size."""
        return "reserved" in self.purchase


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A pinned image. Exactly one of `parameter` (AWS) and `urn` (Azure) is set."""

    key: str
    cloud: Cloud
    arch: Arch
    os: str
    parameter: str = ""
    """SSM public parameter that holds the AMI id; looked up once, when the launch template is made."""
    urn: str = ""
    """publisher:offer:sku:version, never with the version `latest`."""
    root_device: str = ""
    """AWS: the name of the root disk in the image's block device mapping."""
    root_gib: int
    """Size of the image's own disk: the least that root_disk may be."""
    vendors: tuple[str, ...]
    """Accelerator vendors whose drivers it carries."""
    plan: bool = False
    """Whether the marketplace asks for a plan and accepted terms."""
    source: str
    checked: date
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    usd: Decimal
    unit: str
    """What one `usd` buys: node-hour, GB-month, GiB-month, IOPS-month, hour, GB."""
    region: str
    source: str
    date: date
    confidence: Confidence = "listed"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreTier:
    """One throughput tier of a managed Lustre. Capacities in GiB."""

    cloud: Cloud
    deployment: Deployment
    mbps_per_tib: int
    """MB/s per TiB; 0 for FSx scratch, which has no tiers (200 by documentation)."""
    sku: str = ""
    """Azure's name of the tier."""
    smallest_gib: int
    step_gib: int
    also_gib: tuple[int, ...] = ()
    """Legal sizes below the first step."""
    efa_step_gib: int = 0
    """With EFA: least capacity and step; 0 where the tier has no EFA."""
    documented_max_gib: int = 0
    """Largest size that documents print; newer ones raise it, so passing it only warns. 0: none printed."""
    source: str
    checked: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    cloud: Cloud
    name: str
    zone_prefix: str = ""
    """AWS: what zone ids of the region begin with (use1 for us-east-1)."""
    source: str
    checked: date
