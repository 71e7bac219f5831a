"""How Lustre is mounted, on both clouds."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

MOUNT_OPTIONS = "noatime,flock,lazystatfs"
"""Source: FSx for Lustre user guide, mounting from an instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    source: pulumi.Output[str]
    """What `mount -t lustre` mounts, of which the filesystem's outputs are a part: a random mount name on AWS, the
    address of the management server on Azure."""
    mount_command: pulumi.Output[str]


def mounted(source: pulumi.Output[str], mount: str) -> Filesystem:
    """`mount` is where nodes have it."""
    command = pulumi.Output.concat(f"sudo mount -t lustre -o {MOUNT_OPTIONS} ", source, f" {mount}")
    return Filesystem(source=source, mount_command=command)
