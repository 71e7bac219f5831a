"""Buckets and storage accounts are open to nobody outside. Encryption, and protection from deletion:
`policies.data`.
"""

from __future__ import annotations

from collections.abc import Iterator

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.view import shown

_BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
_LEAK = "Data sets, checkpoints and weights are the most valuable thing here, and one setting would publish them."
_ACCESS_BLOCK_DOC = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html"


@resource_policy(
    "bucket-public",
    *kinds.BUCKETS,
    *kinds.BUCKET_ACLS,
    kinds.BUCKET_ACCESS_BLOCK,
    kinds.ACCOUNT_ACCESS_BLOCK,
    description="No bucket is public, and its public access block blocks everything.",
    why=_LEAK,
    fix="Set all four of " + ", ".join(_BLOCKS) + " to true, and drop public ACLs.",
    reference=_ACCESS_BLOCK_DOC,
)
def bucket_public(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.BUCKET_ACCESS_BLOCK, kinds.ACCOUNT_ACCESS_BLOCK):
        for block in _BLOCKS:
            if resource.differs(block, True):
                yield resource.fault(block, f"is {shown(resource.get(block))}")
    else:
        acl = resource.get("acl")
        if isinstance(acl, str) and (acl.startswith("public-") or acl == "authenticated-read"):
            yield resource.fault("acl", f"is {shown(acl)}", 'Drop it, or use "private".')


@stack_policy(
    "bucket-without-public-access-block",
    description="Every bucket has a public access block.",
    why=_LEAK,
    fix="Declare an aws.s3.BucketPublicAccessBlock for it with all four settings true.",
    reference=_ACCESS_BLOCK_DOC,
)
def bucket_without_public_access_block(stack: Stack) -> Iterator[Fault]:
    if stack.of(kinds.ACCOUNT_ACCESS_BLOCK):
        return
    blocks = stack.of(kinds.BUCKET_ACCESS_BLOCK)
    blocked = {urn for block in blocks for urn in block.made_from("bucket", *kinds.BUCKETS)}
    names = {name for block in blocks if isinstance(name := block.peek("bucket"), str)}
    for bucket in stack.of(*kinds.BUCKETS):
        if bucket.urn not in blocked and bucket.peek("bucket") not in names:
            yield bucket.fault("bucket", "has no public access block")


@resource_policy(
    "azure-storage-public",
    kinds.STORAGE_ACCOUNT,
    kinds.BLOB_CONTAINER,
    description="Storage accounts allow no anonymous access, and none from networks that are not named.",
    why=_LEAK,
    fix="Set allowBlobPublicAccess to false and networkRuleSet.defaultAction to Deny (or "
    "publicNetworkAccess to Disabled), with private endpoints for blob and dfs.",
    reference="https://learn.microsoft.com/azure/storage/common/storage-network-security",
)
def azure_storage_public(resource: Resource) -> Iterator[Fault]:
    if resource.type == kinds.BLOB_CONTAINER:
        if resource.differs("publicAccess", None, "None"):
            found = f"is {shown(resource.get('publicAccess'))}"
            yield resource.fault("publicAccess", found, "Leave it out.")
        return
    if resource.differs("allowBlobPublicAccess", False):
        yield resource.fault("allowBlobPublicAccess", f"is {shown(resource.get('allowBlobPublicAccess'))}")
    closed = resource.get("publicNetworkAccess") in ("Disabled", "SecuredByPerimeter")
    if not closed and resource.differs("networkRuleSet.defaultAction", "Deny"):
        found = f"is {shown(resource.get('networkRuleSet.defaultAction'))}, and the public endpoint is on"
        yield resource.fault("networkRuleSet.defaultAction", found)
