"""The shape of a cluster's spec: pydantic models, units and defaults. What a spec means: `planning.rules`.

How a plain value becomes a model, and a mistake of shape a finding: `planning.shape`. The models are frozen, forbid
unknown keys and hold plain values only.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import date
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, LiteralString

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from planning.azureids import GUID
from planning.findings import LONGEST_SHOWN, shown
from planning.sshkeys import SSH_KEY_KINDS, is_whole
from planning.units import parse_date, parse_network, parse_size, show_size

NAME = re.compile(r"[a-z](-?[a-z0-9])+")
LONGEST_NAME = 20
SIZE_FORM = r"^\s*[0-9]+(\.[0-9]+)? ?(GiB|TiB|PiB)\s*$"
MOUNT_FORM = r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._-]+)+"
PREFIX_FORM = r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*"


def _refuse(kind: LiteralString, message: str, fix: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{text}", {"text": message, "fix": fix})


def _cluster_name(value: str) -> str:
    if NAME.fullmatch(value) and len(value) <= LONGEST_NAME:
        return value
    why = (
        f"every resource name derives from it, so it takes 2 to {LONGEST_NAME} lower-case letters a-z, digits and "
        "single hyphens, a letter first and no hyphen last"
    )
    legal = re.sub(r"[^a-z0-9]+", "-", value.lower()).lstrip("-0123456789")[:LONGEST_NAME].strip("-")
    short = len(value) <= LONGEST_SHOWN
    fix = f"write {legal}" if short and NAME.fullmatch(legal) else "write a name such as llama-70b"
    length = f" ({len(value)} characters)" if short and len(value) > LONGEST_NAME else ""
    raise _refuse("name", f"{shown(value)}{length} is no cluster name: {why}", fix)


def _zone_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _azure_zone(value: str) -> str:
    if value not in ("1", "2", "3"):
        raise _refuse(
            "zone",
            f"{shown(value)} is no zone: Azure numbers the zones of a region 1, 2 and 3",
            'write "1", "2" or "3"',
        )
    return value


def _no_number(value: object) -> object:
    """In Python 1 equals True, so that a literal would take it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise _refuse("switch", f"{shown(value)} (number) is neither true nor false", "write true or false")
    return value


def _public_key(value: str) -> str:
    """An OpenSSH public key. A refused value is never repeated: it may be a private one."""
    where = "the public key is the one line of a file such as ~/.ssh/id_ed25519.pub"
    if "PRIVATE KEY" in value:
        raise _refuse(
            "key",
            "this is a private key, and a stack file is no place for one",
            f"{where}; replace the private key",
        )
    kind, _, rest = value.strip().partition(" ")
    body = rest.split(" ")[0]
    if kind not in SSH_KEY_KINDS or "\n" in value.strip():
        raise _refuse(
            "key",
            f"this is no OpenSSH public key of a kind in use ({', '.join(SSH_KEY_KINDS[:2])}, ecdsa)",
            where,
        )
    try:
        decoded = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if not is_whole(kind, decoded):
        raise _refuse("key", f"the part after {kind} is not the base64 of such a key, or not all of it", where)
    return value.strip()


def _mount_point(value: str) -> str:
    if not re.fullmatch(MOUNT_FORM, value):
        message = f"{shown(value)} is not a plain path from the root, without blanks, dots alone or a slash at its end"
        raise _refuse("mount", message, "write a path such as /lustre")
    return value


def _prefix(value: str) -> str:
    if not re.fullmatch(PREFIX_FORM, value):
        raise _refuse(
            "prefix",
            f"{shown(value)} is not a plain prefix of object names",
            "write it without slashes at the ends, such as checkpoints",
        )
    return value


Size = Annotated[
    int,
    BeforeValidator(parse_size),
    PlainSerializer(show_size, return_type=str),
    WithJsonSchema({"type": "string", "pattern": SIZE_FORM, "examples": ["38400GiB", "48TiB"]}),
]
Day = Annotated[
    date,
    BeforeValidator(parse_date),
    # Readers of YAML differ in what they make of a day without quotes.
    WithJsonSchema(
        {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?$", "examples": ["2035-12-31"]}
    ),
]
Network4 = Annotated[
    IPv4Network,
    BeforeValidator(parse_network),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9.]+/(0|[1-9][0-9]?)$", "examples": ["10.40.0.0/16"]}),
]
ClusterName = Annotated[
    str,
    AfterValidator(_cluster_name),
    WithJsonSchema({"type": "string", "pattern": f"^{NAME.pattern}$", "maxLength": LONGEST_NAME}),
]
AzureZone = Annotated[
    str,
    BeforeValidator(_zone_as_text),
    AfterValidator(_azure_zone),
    WithJsonSchema({"enum": ["1", "2", "3", 1, 2, 3]}),
]
Switch = Annotated[Literal["auto", True, False], BeforeValidator(_no_number)]
PublicKey = Annotated[
    str,
    AfterValidator(_public_key),
    WithJsonSchema({"type": "string", "pattern": rf"^\s*({'|'.join(SSH_KEY_KINDS)}) +\S+"}),
]
MountPoint = Annotated[
    str, AfterValidator(_mount_point), WithJsonSchema({"type": "string", "pattern": f"^{MOUNT_FORM}$"})
]
Prefix = Annotated[str, AfterValidator(_prefix), WithJsonSchema({"type": "string", "pattern": f"^{PREFIX_FORM}$"})]
Guid = Annotated[str, Field(pattern=f"^{GUID}$")]
Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], Field(strict=False)]
Count = Annotated[int, Field(ge=1, le=2**32)]
"""No more than there are IPv4 addresses; what a fabric or a network takes is judged by rules."""
Days = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""No more than a lifecycle rule of either cloud can hold."""
Usd = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Part(BaseModel):
    """Base of every part of a spec: frozen, no unknown keys, no conversions between types."""

    # Without use_attribute_docstrings, which would read and parse this file at every start.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True, hide_input_in_errors=True)


def _left_out() -> Any:
    """Of a part that may be left out: its fields' own defaults. Made when a spec is read, which costs no start."""
    return Field(default_factory=dict, validate_default=True)


class Spot(Part):
    max_price: Usd | None = None
    """Most that is paid for a node-hour, in US dollars; absent: up to the on-demand price."""
    on_eviction: Literal["delete", "deallocate"] | None = None
    """What the cloud does with an evicted node; absent: what the disk kind allows."""


class Reserved(Part):
    """A reservation of one's own, with what is known of it."""

    id: Text
    """cr-..., or the resource id of a capacity reservation group."""
    count: Count | None = None
    """Nodes that it holds."""
    zone: str | None = None
    """Where it holds them."""
    start: Day | None = None
    """First day of a Capacity Block; before it no node is asked for."""
    end: Day | None = None
    """Last day; on AWS nodes are ended from 30 minutes before the end on."""
    placement_group: str | None = None
    """AWS: name of the placement group that the reservation was made in."""


class BuyBlock(Part):
    """Buys a Capacity Block: paid up front, not cancellable."""

    buy: Text
    """Offering id."""
    confirm: Annotated[Literal[True], BeforeValidator(_no_number)]
    """That all of it is paid at once, and that nothing gives it back."""


def _reservation_kind(value: object) -> str | None:
    """The tag of its form; with a blank, since a tag that is a field's name would be taken for a part of the path."""
    if isinstance(value, dict):
        return "a purchase" if "buy" in value or "confirm" in value else "a reservation"
    return {Reserved: "a reservation", BuyBlock: "a purchase", str: "an id"}.get(type(value))


Reservation = Annotated[
    Annotated[str, Tag("an id")] | Annotated[Reserved, Tag("a reservation")] | Annotated[BuyBlock, Tag("a purchase")],
    Discriminator(
        _reservation_kind,
        custom_error_type="reservation",
        custom_error_message="a reservation is an id, or a mapping of what is known of it",
    ),
]
Setup = Annotated[
    Annotated[str, Tag("file")] | Annotated[Texts, Tag("lines")],
    Discriminator(
        lambda value: "file" if isinstance(value, str) else "lines" if isinstance(value, (list, tuple)) else None,
        custom_error_type="setup",
        custom_error_message="setup is a list of shell lines, or the name of a file beside the stack file",
    ),
]


class Nodes(Part):
    type: Text
    """Instance type or VM size, such as p5.48xlarge or Standard_ND96isr_H100_v5."""
    count: Count
    """Nodes of the one fabric."""
    running: bool = True
    """false declares no nodes and no reservation, and keeps network, identity and storage."""
    max_count: Count | None = None
    """Upper bound of an elastic group."""
    purchase: Literal["on-demand", "spot", "reserved", "capacity-block"] = "on-demand"
    """How nodes are bought. capacity-block: AWS only; reserved and capacity-block need a reservation."""
    reservation: Reservation | None = None
    """Id of a reservation, or what is known of it; needed by reserved and capacity-block."""
    spot: Spot | None = None
    """With purchase spot: what is paid at most, and what becomes of an evicted node."""
    start: Literal["auto", "gang", "elastic"] = "auto"
    """gang: all nodes or none; elastic: as they come. auto: gang, unless capacity is reserved already."""
    placement: Literal["auto", "cluster", "none"] = "auto"
    """AWS placement group; Azure single placement group."""
    image: Text | None = None
    """AMI id or SSM parameter; or publisher:offer:sku:version. Absent: the catalogue's pinned image."""
    root_disk: Size = 300
    """Not smaller than the image."""
    setup: Setup = ()
    """Shell lines, or a file beside the stack file, run at the end of first boot."""


class AwsNodes(Nodes):
    interfaces: Literal["efa-only", "efa"] = "efa-only"
    """What the further network cards carry: EFA alone, or EFA with an address on each."""


class AwsExistingNetwork(Part):
    vpc: Text
    """vpc-..."""
    subnet: Text
    """subnet-... of the nodes and the filesystem, in the cluster's zone."""
    security_groups: Texts = ()
    """Security groups of the nodes, beside the cluster's own."""


class AwsNetwork(Part):
    cidr: Network4 | None = None
    """Of a new VPC; absent: 10.40.0.0/16."""
    existing: AwsExistingNetwork | None = None
    """Ids of a network that is used as it is; excludes cidr."""
    egress: Literal["nat", "none"] = "nat"
    """The nodes' way out of a new VPC; none: no gateway, and endpoints for the services that nodes need."""
    flow_logs: bool = False
    """Log who talked to whom in the nodes' subnet."""


class AzureExistingNetwork(Part):
    subnet: Text
    """Resource id of the nodes' subnet."""
    filesystem_subnet: Text | None = None
    """Resource id of a subnet for Managed Lustre alone, in the same VNet; needed with a filesystem."""
    endpoint_subnet: Text | None = None
    """Resource id of a subnet for private endpoints, in the same VNet; absent: the nodes' subnet."""


class AzureNetwork(Part):
    cidr: Network4 | None = None
    """Of a new VNet; absent: 10.40.0.0/16."""
    existing: AzureExistingNetwork | None = None
    """Resource ids of subnets that are used as they are; excludes cidr."""
    egress: Literal["nat", "none"] = "nat"
    """The nodes' way out of a new VNet; none: no gateway, and rules that let nothing to the internet."""
    flow_logs: bool = False
    """AWS only: false is all that Azure takes."""


class Filesystem(Part):
    capacity: Size | None = None
    """Absent: the smallest legal one."""
    throughput_per_tib: int | None = None
    """MB/s per TiB; absent: a default tier, which a finding names."""
    mount: MountPoint = "/lustre"
    """Where nodes mount it."""
    existing: Text | None = None
    """Id of a filesystem to mount instead of making one."""
    kms_key: Text | None = None
    """ARN of a KMS key, or resource id of one version of a Key Vault key. Absent: the cloud's own key."""


class AwsFilesystem(Filesystem):
    deployment: Literal["persistent", "scratch"] = "persistent"
    """scratch: cheaper, not replicated, without throughput tiers, backups and EFA."""
    backup_days: Annotated[int, Field(ge=0, le=90)] = 7
    """Days that daily backups are kept; 0 makes none."""
    efa: Switch = "auto"
    """auto: on where the nodes have EFA and the capacity allows it."""
    metadata_iops: Count | None = None
    """Absent: FSx scales them with the capacity."""
    compression: Literal["none", "lz4"] = "lz4"
    """Of what is written to it."""


class AzureFilesystem(Filesystem):
    deployment: Literal["persistent"] = "persistent"
    """All that Managed Lustre has."""


class Checkpoints(Part):
    prefix: Prefix = "checkpoints"
    """Of the names of checkpoints, without slashes at its ends."""
    cool_after_days: Days | None = None
    """Days until checkpoints move to a cheaper class; on AWS fewer than 30 mean Intelligent-Tiering."""
    expire_after_days: Days | None = None
    """Days until checkpoints are deleted; absent: never."""
    size: Size | None = None
    """Of one checkpoint, weights and optimizer; judged against the notice that nodes get and the filesystem."""


class Objects(Part):
    name: Text | None = None
    """Bucket or storage account name; absent: derived from the cluster's name."""
    existing: Text | None = None
    """A bucket's name, or the resource id of an account or of a container in it, used as it is."""
    link: bool = False
    """The filesystem imports from and exports to it."""
    checkpoints: Checkpoints = _left_out()
    """Where checkpoints are, and how long."""


class AzureObjects(Objects):
    link_principal: Guid | None = None
    """Object id of the service principal "HPC Cache Resource Provider", which reads and writes for a link."""


class AwsStorage(Part):
    filesystem: AwsFilesystem | None = None
    """FSx for Lustre; absent: none."""
    objects: Objects = _left_out()
    """The S3 bucket."""
    on_delete: Literal["protect", "retain", "delete"] = "protect"
    """What `pulumi destroy` does with data stores."""


class AzureStorage(Part):
    filesystem: AzureFilesystem | None = None
    """Azure Managed Lustre; absent: none."""
    objects: AzureObjects = _left_out()
    """The storage account with its container."""
    on_delete: Literal["protect", "retain", "delete"] = "protect"
    """What `pulumi destroy` does with data stores."""


class Access(Part):
    ssh_public_key: PublicKey | None = None
    """The one line of a file such as ~/.ssh/id_ed25519.pub; Azure needs it."""
    ssh_from: Annotated[tuple[Network4, ...], Field(strict=False)] = ()
    """Networks that may reach port 22 of the nodes' private addresses."""
    bastion: bool = False
    """Azure: a Bastion in a new network, which costs by the hour."""


class Lifetime(Part):
    expires: Day | None = None
    """A tag of every resource, and an error once it is past."""
    max_usd_per_hour: Usd | None = None
    """A cluster that costs more at list prices is an error."""


class Spec(Part):
    """Fields of both variants."""

    name: ClusterName
    """Every resource name derives from it."""
    region: Text
    """us-east-1, eastus, ...: said here only, never in the config of a provider."""
    access: Access = _left_out()
    """How people reach the nodes, which never have a public address."""
    lifetime: Lifetime = _left_out()
    """How long the cluster may live, and what it may cost."""
    tags: dict[str, str] = {}
    """On every resource that takes tags."""
    orchestrator: Literal["none"] = "none"
    """slurm and kubernetes are planned."""
    waive: dict[str, str] = {}
    """Rule id -> reason for living with its finding."""


class AwsSpec(Spec):
    cloud: Literal["aws"]
    """Which variant of the spec the rest is."""
    account: Annotated[str, Field(pattern=r"^[0-9]{12}$")] | None = None
    """12 digits in quotes: the only account that is deployed to."""
    zone: Text
    """Zone id, such as use1-az6: zone names differ from account to account."""
    nodes: AwsNodes
    """The nodes of one fabric."""
    network: AwsNetwork = _left_out()
    """A new VPC, or one that exists."""
    storage: AwsStorage = _left_out()
    """A filesystem and a bucket."""


class AzureSpec(Spec):
    cloud: Literal["azure"]
    """Which variant of the spec the rest is."""
    account: Guid | None = None
    """GUID of the only subscription that is deployed to."""
    zone: AzureZone | None = None
    """Number of the zone; absent: none is asked for."""
    nodes: Nodes
    """The nodes of one fabric."""
    network: AzureNetwork = _left_out()
    """A new VNet, or one that exists."""
    storage: AzureStorage = _left_out()
    """A filesystem and a storage account."""


ClusterSpec = Annotated[AwsSpec | AzureSpec, Field(discriminator="cloud")]
SPECS: dict[str, type[AwsSpec] | type[AzureSpec]] = {"aws": AwsSpec, "azure": AzureSpec}
DEFAULT_CIDR = IPv4Network("10.40.0.0/16")
