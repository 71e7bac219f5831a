"""How nodes mount an ADLS Gen2 container, when somebody asks: two configurations of blobfuse2, and a command.

Mounted by itself it would invite what it is bad at: it is no shared filesystem, and two nodes that write one file spoil
it (azure-storage-fuse#1512). S3 has no such mount; there and here, programs that speak to the store itself need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

CONFIGURATION = "/etc/gpu-clusters/objects-{}.yaml"
BLOCK_MB = 32
BLOCK_MEMORY_MB = 16384
"""Said, since it is otherwise four fifths of the free memory: 512 blocks, 32 for each of 16 files at a time."""
PREFETCHED_BLOCKS = 16
CACHE_ON_DISKS = "/scratch/objects"
CACHE_WITHOUT_DISKS = "/var/cache/gpu-clusters/objects"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What a node needs to know of it: no key and no token is among it."""

    account: str
    name: str
    client_id: str
    """Of the node's identity."""


def blobfuse_files(container: Container, *, with_disks: bool) -> dict[str, str]:
    """Configurations by path: blocks in memory for checkpoints, whole files on the node's disks for small ones.

    Source: azure-storage-fuse, baseConfig.yaml and the guide to its configurations.
    """
    blocks = {"block-size-mb": BLOCK_MB, "mem-size-mb": BLOCK_MEMORY_MB, "prefetch": PREFETCHED_BLOCKS}
    files = {"path": CACHE_ON_DISKS if with_disks else CACHE_WITHOUT_DISKS, "timeout-sec": 3600}
    return {
        CONFIGURATION.format("checkpoints"): _configuration(container, "block_cache", blocks),
        CONFIGURATION.format("files"): _configuration(container, "file_cache", files),
    }


def _configuration(container: Container, cache: str, settings: Mapping[str, Any]) -> str:
    document = {
        "allow-other": True,
        "logging": {"type": "syslog", "level": "log_warning"},
        "components": ["libfuse", cache, "attr_cache", "azstorage"],
        "libfuse": {"attribute-expiration-sec": 120, "entry-expiration-sec": 120, "negative-entry-expiration-sec": 0},
        cache: dict(settings),
        "attr_cache": {"timeout-sec": 120},
        "azstorage": {
            "type": "adls",
            "account-name": container.account,
            "container": container.name,
            # Said, or with private endpoints clients of hierarchical accounts fail (azure-storage-fuse#1042).
            "endpoint": f"https://{container.account}.dfs.core.windows.net",
            "mode": "msi",
            "appid": container.client_id,
        },
    }
    return yaml.safe_dump(document, sort_keys=False)
