"""The machine image of the nodes: the one that the spec names, or the catalogue's pinned one."""

from __future__ import annotations

from dataclasses import dataclass

from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.spec import AwsSpec, AzureSpec

PUBLISHERS_WITH_TERMS = ("almalinux",)
"""Their images ask for a purchase plan on the resource. Source: azhpc-images README; azurehpc issue 575."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    reference: str
    """AMI id, SSM parameter, or publisher:offer:sku:version."""
    by_parameter: bool
    """AWS: an SSM parameter, looked up when the launch template is made and then left alone."""
    needs_plan: bool
    """Azure: the marketplace asks for a purchase plan, and for its terms to be accepted once."""
    root_gib: int | None
    """Least size of the root disk; None where the image is the user's own."""


def image_of(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None) -> ImagePlan | None:
    """None where neither the spec nor a node type tells the image."""
    pinned = catalog.default_image(node) if node is not None else None
    if spec.nodes.image is not None:
        reference, root_gib = spec.nodes.image, None
    elif pinned is not None:
        reference, root_gib = pinned.parameter or pinned.urn, pinned.root_gib
    else:
        return None
    return ImagePlan(
        reference=reference,
        by_parameter=reference.startswith("/"),
        needs_plan=spec.cloud == "azure" and reference.partition(":")[0].casefold() in PUBLISHERS_WITH_TERMS,
        root_gib=root_gib,
    )
