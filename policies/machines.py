"""What an instance type or a VM size is: whether it has accelerators, and which fabric. From the catalogue where it
holds the type; else from the letters that both clouds document, since a pack also judges types that came later.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planning.catalog.records import AwsNodeType, AzureNodeType

_AWS_ACCELERATED = re.compile(r"(p\d|g\d|gr\d|trn\d|inf\d|dl\d)[a-z0-9-]*\.")
_AZURE_ACCELERATED = re.compile(r"(standard_)?n[a-z]", re.IGNORECASE)
_AZURE_RDMA = re.compile(r"Standard_[A-Z]+[\d-]+[a-z]*r", re.IGNORECASE)
_RACK_SCALE = re.compile(r"_GB\d", re.IGNORECASE)


def accelerated(name: str) -> bool:
    """Whether an EC2 instance type (dotted) or an Azure size (all of the N series) carries accelerators."""
    return bool(_AWS_ACCELERATED.match(name) if "." in name else _AZURE_ACCELERATED.match(name))


def aws_type(name: object) -> AwsNodeType | None:
    from planning.catalog import node_type
    from planning.catalog.records import AwsNodeType

    known = node_type(name) if isinstance(name, str) else None
    return known if isinstance(known, AwsNodeType) else None


def azure_size(name: object) -> AzureNodeType | None:
    from planning.catalog import node_type
    from planning.catalog.records import AzureNodeType

    known = node_type(name) if isinstance(name, str) else None
    return known if isinstance(known, AzureNodeType) else None


def has_infiniband(size: object) -> bool:
    """By the catalogue; for a size that it does not hold, by the letter r among its features."""
    known = azure_size(size)
    return known.infiniband > 0 if known else isinstance(size, str) and bool(_AZURE_RDMA.match(size))


def single_placement_group(size: str) -> bool:
    """What singlePlacementGroup has to be for the InfiniBand of a size."""
    known = azure_size(size)
    return known.single_placement_group if known else not _RACK_SCALE.search(size)
