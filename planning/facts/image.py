"""The machine image of the nodes: what the spec or the catalogue names, and on AWS the AMI recorded for it.

An SSM parameter names another AMI every few weeks. The file `images.toml` beside the stack file says which one this
cluster is made from; without an entry there, the parameter is looked up when the launch template is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.facts.imagerecord import DamagedRecordError, ImageRecord, read_records
from planning.spec import AwsSpec, AzureSpec

PUBLISHERS_WITH_TERMS = ("almalinux",)
"""Their images ask for a purchase plan on the resource. Source: azhpc-images README; azurehpc issue 575."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    asked: str
    """What the spec or the catalogue names: AMI id, SSM parameter, or publisher:offer:sku:version."""
    reference: str
    """What nodes are made from: the recorded AMI id, else what was asked."""
    by_parameter: bool
    """AWS: an SSM parameter, looked up when the launch template is made and then left alone."""
    needs_plan: bool
    """Azure: the marketplace asks for a purchase plan, and for its terms to be accepted once."""
    root_device: str
    """AWS: the name that the image gives its root disk, which a launch template repeats to size it; elsewhere empty."""
    root_gib: int | None
    """Least size of the root disk; None where nothing is known of the image."""
    record: ImageRecord | None
    """AWS: what is recorded of it."""
    problem: str = ""
    """Why nothing can be read from the file of records that is there."""


def image_of(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None, folder: Path) -> ImagePlan | None:
    """None where neither the spec nor a node type tells the image. `folder` holds the stack file."""
    pinned = catalog.default_image(node) if node is not None else None
    if spec.nodes.image is not None:
        asked, root_gib = spec.nodes.image, None
    elif pinned is not None:
        asked, root_gib = pinned.parameter or pinned.urn, pinned.root_gib
    else:
        return None
    record, problem = _recorded(spec, asked, folder) if spec.cloud == "aws" else (None, "")
    reference = record.id if record else asked
    # The images of the catalogue are all Ubuntu's, whose device an image of one's own is taken to have.
    usual = pinned.root_device if pinned is not None else ""
    return ImagePlan(
        asked=asked,
        reference=reference,
        by_parameter=reference.startswith("/"),
        needs_plan=spec.cloud == "azure" and reference.partition(":")[0].casefold() in PUBLISHERS_WITH_TERMS,
        root_device=record.root_device if record else usual,
        root_gib=record.root_gib if record else root_gib,
        record=record,
        problem=problem,
    )


def _recorded(spec: AwsSpec | AzureSpec, asked: str, folder: Path) -> tuple[ImageRecord | None, str]:
    try:
        return read_records(folder).get(spec.region, {}).get(asked), ""
    except DamagedRecordError as damage:
        return None, str(damage)
