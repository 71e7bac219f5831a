"""The managed Lustre filesystem that a spec has made, with tier and capacity decided; the key and the store that exist.

A filesystem that exists has no facts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from planning import catalog
from planning.azureids import id_to, resource_id
from planning.catalog.records import AwsNodeType, AzureNodeType, LustreTier
from planning.names import partition_of
from planning.spec import AwsFilesystem, AwsSpec, AzureSpec

DEFAULT_THROUGHPUT = 250
"""MB/s per TiB on both clouds: from 9 TiB on it takes a 2 TB checkpoint within about 15 minutes."""
SCRATCH_MBPS_PER_TIB = 200
"""Of FSx scratch, which is sold without tiers. Source: FSx for Lustre user guide, SCRATCH_2 performance."""
MB_PER_GIB = 1024**3 / 10**6
"""Files have binary sizes, and throughput is sold in decimal MB/s."""
GIB_PER_FSX_SERVER = 2400
"""FSx has an interface per file server and does not publish how many; one per step is on the safe side (unproved)."""
SUBNET_PREFIX_BY_TIB = ((16, 27), (40, 26), (92, 25), (196, 24), (400, 23))
"""Azure Managed Lustre: largest capacity for each prefix. Source: Azure Managed Lustre prerequisites, network size."""
KEY_ID = r"(?:mrk-[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
KEY_ARN = re.compile(rf"arn:aws[a-z-]*:kms:(?P<region>[a-z0-9-]+):\d{{12}}:key/{KEY_ID}")
"""Source: AWS KMS developer guide, key identifiers."""
_VAULT_KEY = resource_id(
    "Microsoft.KeyVault",
    r"vaults/(?P<vault>[a-z][a-z0-9-]{2,23})/keys/(?P<key>[a-z0-9-]+)/versions/(?P<version>[0-9a-f]{32})",
)
"""Says vault, key and version at once. Sources: REST references of Key Vault and of Azure Managed Lustre."""
MANAGED_LUSTRE = resource_id("Microsoft.StorageCache", r"amlFilesystems/[\w-]{2,80}")
_CONTAINER = resource_id(
    "Microsoft.Storage",
    r"storageAccounts/(?P<account>[a-z0-9]{3,24})"
    r"(?:/blobServices/default/containers/(?P<container>[a-z0-9](?:-?[a-z0-9]){2,62}))?",
)
"""Of a storage account, or of a container in it."""
CONTAINER = "data"
"""Azure: of the account that the stack makes, and of one that exists where its id names no container."""
LOG_CONTAINER = "lustre-logs"
"""Azure: Managed Lustre writes what goes wrong with a link into another container than its files'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lustre:
    tier: LustreTier | None
    """None: no tier has the throughput that is asked for."""
    tiers: tuple[LustreTier, ...]
    """What the cloud sells for this deployment."""
    capacity_gib: int
    throughput_is_default: bool
    throughput_mbps: int
    """MB/s of the whole filesystem: the most that all nodes together read or write."""
    efa: bool
    """Whether clients reach it over EFA."""
    efa_possible: bool
    """Whether the node type has EFA and the tier takes it."""
    interfaces: int
    """Addresses that it takes in its subnet."""
    subnet_prefix: int
    """Azure: the smallest subnet that it takes."""


def lustre_of(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None) -> Lustre | None:
    wanted = spec.storage.filesystem
    if wanted is None or wanted.existing is not None:
        return None
    tiers = catalog.lustre_tiers(spec.cloud, wanted.deployment)
    asked = DEFAULT_THROUGHPUT if wanted.throughput_per_tib is None else wanted.throughput_per_tib
    throughput = 0 if wanted.deployment == "scratch" else asked
    tier = next((t for t in tiers if t.mbps_per_tib == throughput), None)
    efa_possible = bool(tier and tier.efa_step_gib and isinstance(node, AwsNodeType) and node.efa)
    efa_wanted = wanted.efa if isinstance(wanted, AwsFilesystem) else False
    capacity = wanted.capacity
    if capacity is None:
        capacity = _smallest(tier, efa=efa_wanted is True)
    efa = efa_wanted is True or (
        efa_wanted == "auto" and efa_possible and tier is not None and fits_efa(tier, capacity)
    )
    return Lustre(
        tier=tier,
        tiers=tiers,
        capacity_gib=capacity,
        throughput_is_default=wanted.throughput_per_tib is None and wanted.deployment == "persistent",
        throughput_mbps=capacity * mbps_per_tib(tier) // 1024 if tier else 0,
        efa=efa,
        efa_possible=efa_possible,
        interfaces=1 + -(-capacity // GIB_PER_FSX_SERVER),
        subnet_prefix=subnet_prefix_for(capacity),
    )


def mbps_per_tib(tier: LustreTier) -> int:
    return tier.mbps_per_tib or SCRATCH_MBPS_PER_TIB


def seconds_to_write(size_gib: int, mbps: int) -> float:
    """At best: the whole throughput of the filesystem, and nobody else at it. Reading back takes as long."""
    return size_gib * MB_PER_GIB / mbps


def written_in(seconds: int, mbps: int) -> int:
    """GiB that are written in that time at best."""
    return int(seconds * mbps / MB_PER_GIB)


def fits_efa(tier: LustreTier, capacity_gib: int) -> bool:
    return bool(tier.efa_step_gib) and capacity_gib > 0 and capacity_gib % tier.efa_step_gib == 0


def fits_tier(tier: LustreTier, capacity_gib: int) -> bool:
    return capacity_gib in tier.also_gib or (capacity_gib >= tier.smallest_gib and capacity_gib % tier.step_gib == 0)


def nearest_capacities(tier: LustreTier, capacity_gib: int) -> tuple[int, ...]:
    """The legal capacities just below and just above, as far as there are any; in GiB."""
    below = capacity_gib // tier.step_gib * tier.step_gib
    legal = {
        *tier.also_gib,
        *(c for c in (below, below + tier.step_gib, tier.smallest_gib) if c >= tier.smallest_gib),
    }
    lower = max((c for c in legal if c < capacity_gib), default=None)
    upper = min((c for c in legal if c > capacity_gib), default=None)
    return tuple(c for c in (lower, upper) if c)


def subnet_prefix_for(capacity_gib: int) -> int:
    for largest_tib, prefix in SUBNET_PREFIX_BY_TIB:
        if capacity_gib <= largest_tib * 1024:
            return prefix
    return SUBNET_PREFIX_BY_TIB[-1][1] - 1


def _smallest(tier: LustreTier | None, *, efa: bool) -> int:
    if tier is None:
        return 0
    return tier.efa_step_gib if efa and tier.efa_step_gib else min((*tier.also_gib, tier.smallest_gib))


def key_arn(spec: AwsSpec | AzureSpec) -> str | None:
    """AWS: the ARN of the key that encrypts the filesystem.

    None where none is asked for, or none follows from what is said. The provider takes nothing but an ARN; a key's id
    makes one where the account is known.
    """
    key = spec.storage.filesystem.kms_key if spec.cloud == "aws" and spec.storage.filesystem else None
    if key is None or KEY_ARN.fullmatch(key):
        return key
    if spec.account is None or not re.fullmatch(KEY_ID, key):
        return None
    return f"arn:{partition_of(spec.region)}:kms:{spec.region}:{spec.account}:key/{key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultKey:
    """Azure: one version of a key in a vault, which encrypts the filesystem."""

    id: str
    """Of the key, whatever its version."""
    subscription: str
    vault_id: str
    url: str
    """Of the version."""


def vault_key(spec: AwsSpec | AzureSpec) -> VaultKey | None:
    """None where none is asked for, or what is said is not the id of a version."""
    said = spec.storage.filesystem.kms_key if spec.cloud == "azure" and spec.storage.filesystem else None
    found = _VAULT_KEY.fullmatch(said or "")
    if found is None:
        return None
    return VaultKey(
        id=id_to(found, "key"),
        subscription=found["subscription"],
        vault_id=id_to(found, "vault"),
        url=f"https://{found['vault']}.vault.azure.net/keys/{found['key']}/{found['version']}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingContainer:
    """Azure: a container that holds the objects already, by names and ids."""

    account_id: str
    account: str
    id: str
    name: str
    log_id: str
    """Of the container beside it that a link writes its log into."""


def existing_container(spec: AwsSpec | AzureSpec) -> ExistingContainer | None:
    """None where there is none, or what is said is not the id of an account nor of a container."""
    said = spec.storage.objects.existing if spec.cloud == "azure" else None
    found = _CONTAINER.fullmatch(said or "")
    if found is None:
        return None
    account_id, name = id_to(found, "account"), found["container"] or CONTAINER
    containers = f"{account_id}/blobServices/default/containers"
    return ExistingContainer(
        account_id=account_id,
        account=found["account"],
        id=f"{containers}/{name}",
        name=name,
        log_id=f"{containers}/{LOG_CONTAINER}",
    )


def backups_possible(spec: AwsSpec | AzureSpec) -> bool:
    """FSx backs up persistent filesystems that no bucket is linked to (API reference, CreateBackup)."""
    wanted = spec.storage.filesystem
    return isinstance(wanted, AwsFilesystem) and wanted.deployment == "persistent" and not spec.storage.objects.link
