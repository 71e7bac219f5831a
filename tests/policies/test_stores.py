"""Which bucket policies open a bucket to everybody, and when a preview has to say that it cannot tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

BUCKET = {"type": "aws:s3/bucket:Bucket", "name": "bucket", "props": {"bucket": "data"}, "protect": True}
PUBLIC = "bucket-policy-public"


def _policy(statement: dict[str, Any] | list[dict[str, Any]] | str) -> dict[str, Any]:
    text = statement if isinstance(statement, str) else json.dumps({"Statement": statement})
    return {
        "type": "aws:s3/bucketPolicy:BucketPolicy",
        "name": "policy",
        "props": {"bucket": "<unknown>", "policy": text},
        "sources": {"bucket": ["bucket"], "policy": ["bucket"]},
    }


def _allow(principal: Any, **condition: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": principal, "Action": "s3:GetObject", "Condition": condition}


@pytest.mark.parametrize(
    "statement",
    [
        _allow("*"),
        [_allow({"AWS": ["arn:aws:iam::123456789012:root", "*"]})],
        _allow("*", Bool={"aws:SecureTransport": "true"}),
        _allow("*", IpAddress={"aws:SourceIp": ["198.51.100.0/24", "0.0.0.0/0"]}),
        _allow("*", StringNotEquals={"aws:PrincipalOrgID": "o-0123456789"}),
        _allow("*", StringLike={"aws:PrincipalArn": "*"}),
    ],
)
def test_a_policy_that_everybody_may_use_is_refused(judge: Any, statement: Any) -> None:
    assert "Principal of policy is" in judge(BUCKET, _policy(statement))[PUBLIC][0]


@pytest.mark.parametrize(
    "statement",
    [
        _allow({"AWS": "arn:aws:iam::123456789012:root"}),
        _allow({"Service": "fsx.amazonaws.com"}),
        _allow("*", StringEquals={"aws:PrincipalOrgID": "o-0123456789"}),
        _allow("*", IpAddress={"aws:SourceIp": "198.51.100.0/24"}),
        {"Effect": "Deny", "Principal": "*", "Action": "s3:*"},
        "no JSON",
    ],
)
def test_a_policy_that_names_or_narrows_who_may_use_it_is_passed(judge: Any, statement: Any) -> None:
    assert PUBLIC not in judge(BUCKET, _policy(statement))


@pytest.mark.parametrize("refuses", [True, False])
def test_an_unknown_policy_is_a_question_only_where_the_bucket_would_take_a_public_one(
    judge: Any, refuses: bool
) -> None:
    block = {
        "type": "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "name": "block",
        "props": {"bucket": "<unknown>", "blockPublicPolicy": refuses, "restrictPublicBuckets": True},
        "sources": {"bucket": ["bucket"]},
    }
    assert (PUBLIC in judge(BUCKET, _policy("<unknown>"), block)) is not refuses
