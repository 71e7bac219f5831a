"""Buckets and storage accounts are open to nobody outside. Encryption, and protection from deletion:
`policies.data`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.ingress import everywhere
from policies.view import UNKNOWN, shown

_BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
_GROUPS = ("/groups/global/AllUsers", "/groups/global/AuthenticatedUsers")
_LEAK = "Data sets, checkpoints and weights are the most valuable thing here, and one setting would publish them."
_ACCESS_BLOCK_DOC = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html"


@resource_policy(
    "bucket-public",
    *kinds.BUCKETS,
    *kinds.BUCKET_ACLS,
    kinds.BUCKET_ACCESS_BLOCK,
    kinds.ACCOUNT_ACCESS_BLOCK,
    area="exposure",
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
        for path in ("grants[].uri", "accessControlPolicy.grants[].grantee.uri"):
            for view in resource.each(path):
                if str(view.value).endswith(_GROUPS):
                    yield resource.fault(view.path, f"is {shown(view.value)}", "Drop the grant.")


@stack_policy(
    "bucket-without-public-access-block",
    *kinds.BUCKETS,
    area="exposure",
    description="Every bucket has a public access block.",
    why=_LEAK,
    fix="Declare an aws.s3.BucketPublicAccessBlock for it with all four settings true.",
    reference=_ACCESS_BLOCK_DOC,
)
def bucket_without_public_access_block(stack: Stack) -> Iterator[Fault]:
    if stack.of(kinds.ACCOUNT_ACCESS_BLOCK):
        return
    for bucket in stack.of(*kinds.BUCKETS):
        if not belonging(stack, bucket, kinds.BUCKET_ACCESS_BLOCK):
            yield bucket.fault("bucket", "has no public access block")


def belonging(stack: Stack, store: Resource, *types: str) -> list[Resource]:
    """Resources of these types that are about a bucket or a storage account: made from its outputs, or naming it."""
    prop = "accountName" if store.type == kinds.STORAGE_ACCOUNT else "bucket"
    name = store.peek(prop)
    return [
        r
        for r in stack.of(*types)
        if store.urn in r.made_from(prop, store.type) or (isinstance(name, str) and r.peek(prop) == name)
    ]


_NARROWING = (
    "aws:principalaccount",
    "aws:principalarn",
    "aws:principalorgid",
    "aws:principalorgpaths",
    "aws:sourceaccount",
    "aws:sourcearn",
    "aws:sourceip",
    "aws:sourceorgid",
    "aws:sourcevpc",
    "aws:sourcevpce",
    "aws:userid",
    "s3:dataaccesspointaccount",
    "s3:dataaccesspointarn",
)
"""Conditions with which S3 itself does not call a policy for everybody public."""


@stack_policy(
    "bucket-policy-public",
    kinds.BUCKET_POLICY,
    *kinds.BUCKETS,
    area="exposure",
    description="No bucket policy allows everybody.",
    why=_LEAK,
    fix="Name the roles or the organisation in Principal, or narrow it with a condition such as aws:PrincipalOrgID.",
    severity=Severity.CRITICAL,
    reference=_ACCESS_BLOCK_DOC,
)
def bucket_policy_public(stack: Stack) -> Iterator[Fault]:
    for bucket in stack.of(*kinds.BUCKETS):
        blocks = belonging(stack, bucket, kinds.BUCKET_ACCESS_BLOCK)
        refuses = any(b.peek("blockPublicPolicy") is True and b.peek("restrictPublicBuckets") is True for b in blocks)
        inline = [bucket] if bucket.has("policy") else []
        for policy in inline + belonging(stack, bucket, kinds.BUCKET_POLICY):
            # It usually holds the bucket's name, which a preview does not know; S3 itself refuses a public one where
            # the bucket blocks them, and only without that there is something left to say.
            yield from _open_to_everybody(policy, policy.peek("policy") if refuses else policy.get("policy"))
    for policy in stack.of(kinds.BUCKET_POLICY):
        if not policy.made_from("bucket", *kinds.BUCKETS):
            yield from _open_to_everybody(policy, policy.peek("policy"))


def _open_to_everybody(policy: Resource, text: object) -> Iterator[Fault]:
    for number, statement in enumerate(statements(text)):
        if statement.get("Effect") == "Allow" and _everybody(statement) and not _narrowed(statement):
            yield policy.fault(f"policy.Statement[{number}].Principal", 'is "*"')


def statements(text: object) -> list[Mapping[str, Any]]:
    """The statements of a policy document; none where it is not known or no JSON."""
    try:
        found = json.loads(text).get("Statement", []) if isinstance(text, str) else []
    except (ValueError, AttributeError):
        return []
    return [s for s in (found if isinstance(found, list) else [found]) if isinstance(s, dict)]


def _everybody(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    named = principal.get("AWS") if isinstance(principal, dict) else principal
    return "*" in (named if isinstance(named, list) else [named])


def _narrowed(statement: Mapping[str, Any]) -> bool:
    conditions = statement.get("Condition")
    for operator, keys in conditions.items() if isinstance(conditions, dict) else ():
        if "not" in operator.lower() or operator.lower() == "null" or not isinstance(keys, dict):
            continue  # all but some are nearly everybody
        for key, value in keys.items():
            values = value if isinstance(value, list) else [value]
            if key.lower() in _NARROWING and not any(v == "*" or everywhere(v) for v in values):
                return True
    return False


@stack_policy(
    "bucket-plain-transport",
    *kinds.BUCKETS,
    area="exposure",
    description="Every bucket refuses requests that are not encrypted on the way.",
    why="S3 answers plain HTTP as well, and one client with http:// in its endpoint sends data readable.",
    fix="Add a bucket policy that denies s3:* where aws:SecureTransport is false.",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    reference="https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html",
)
def bucket_plain_transport(stack: Stack) -> Iterator[Fault]:
    for bucket in stack.of(*kinds.BUCKETS):
        inline = [bucket] if bucket.has("policy") else []
        texts = [p.peek("policy") for p in inline + belonging(stack, bucket, kinds.BUCKET_POLICY)]
        if UNKNOWN not in texts and not any(_denies_plain(s) for text in texts for s in statements(text)):
            yield bucket.fault("policy", "does not deny plain HTTP")


def _denies_plain(statement: Mapping[str, Any]) -> bool:
    condition = json.dumps(statement.get("Condition", {})).lower()
    return statement.get("Effect") == "Deny" and "aws:securetransport" in condition


@resource_policy(
    "azure-storage-public",
    kinds.STORAGE_ACCOUNT,
    kinds.BLOB_CONTAINER,
    area="exposure",
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
    for view in resource.each("networkRuleSet.ipRules[].iPAddressOrRange") if not closed else ():
        if everywhere(view.value):
            yield resource.fault(view.path, f"is {shown(view.value)}", "Name the networks that may call.")
