"""S3 buckets, their settings, and objects as far as they keep a bucket from being deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcloud.aws.kind import AwsKind, json_text
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, first

BUCKET = "aws:s3/bucket:Bucket"
OBJECT = "aws:s3/bucketObjectv2:BucketObjectv2"
_VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
_LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
_SETTINGS = (
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketPolicy:BucketPolicy",
    _LIFECYCLE,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
    _VERSIONING,
)
_SELDOM_READ = ("STANDARD_IA", "ONEZONE_IA")
_SELDOM_READ_DAYS = 30
_KEPT_NAMES = r"^(xn--|sthree-|amzn-s3-demo-|\d+\.\d+\.\d+\.\d+$)|\.\.|(-s3alias|--ol-s3|\.mrap|--x-s3)$"
"""Source: S3 user guide, bucket naming rules."""
_HOSTED_ZONE = "Z3AQBSTGFYJSTF"


def _check_bucket(inputs: Properties) -> Iterator[Failure]:
    name = inputs.get("bucket")
    if name is not None and name != UNKNOWN and not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", name):
        yield Failure(
            "bucket",
            f"'{name}' is not a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens are needed, with a "
            "letter or digit at both ends",
        )


def _judge_bucket(call: Call) -> None:
    if re.search(_KEPT_NAMES, call.id):
        raise Refusal("InvalidBucketName", f"The specified bucket is not valid. ({call.id})")


def _create_bucket(call: Call) -> Properties:
    region = call.region
    return {
        "bucketDomainName": f"{call.id}.s3.amazonaws.com",
        "bucketRegionalDomainName": f"{call.id}.s3.{region}.amazonaws.com",
        "bucketRegion": region,
        "hostedZoneId": _HOSTED_ZONE,
    }


def _delete_bucket(call: Call) -> None:
    contents = [record for record in call.tx.of_type(OBJECT) if record.inputs["bucket"] == call.id]
    if contents and not call.inputs["forceDestroy"]:
        raise Refusal("BucketNotEmpty", f"The bucket you tried to delete is not empty: {call.id}", status=409)
    for token in _SETTINGS:
        contents += [record for record in call.tx.of_type(token) if record.inputs["bucket"] == call.id]
    for record in contents:
        call.tx.remove(record)


def _check_setting(inputs: Properties) -> Iterator[Failure]:
    yield from json_text(inputs, "policy")
    for i, rule in enumerate(inputs.get("rules") or []):
        yield from _check_rule(f"rules[{i}]", rule)


def _check_rule(path: str, rule: Properties) -> Iterator[Failure]:
    for name, least in (("noncurrentVersionExpiration.noncurrentDays", 1), ("expiration.days", 0)):
        days = first(rule, name) if isinstance(rule, dict) else None
        if isinstance(days, int) and days < least:
            yield Failure(f"{path}.{name}", f"expected {path}.{name} to be at least {least}, got {days}")


def _judge_lifecycle(call: Call) -> None:
    """Storage classes for what is seldom read take nothing younger than 30 days, and deletion comes after them."""
    for i, rule in enumerate(call.inputs.get("rules") or []):
        path = f"rules[{i}]"
        moves = rule.get("transitions") or []
        for j, move in enumerate(moves):
            days, to = move.get("days"), move.get("storageClass")
            if to in _SELDOM_READ and isinstance(days, int) and days < _SELDOM_READ_DAYS:
                raise Refusal(
                    "InvalidArgument",
                    f"{path}.transitions[{j}].days: 'Days' in Transition action must be greater than or equal to "
                    f"{_SELDOM_READ_DAYS} for storageClass '{to}'",
                )
        gone, last = first(rule, "expiration.days"), max((move.get("days") or 0 for move in moves), default=0)
        if gone and gone <= last:
            raise Refusal(
                "InvalidArgument",
                f"{path}.expiration.days: 'Days' in the Expiration action must be greater than 'Days' in the "
                f"Transition action; {gone} is not greater than {last}",
            )


def _judge_versioning(call: Call) -> None:
    status = "versioningConfiguration.status"
    before, after = first(call.old.inputs if call.old else {}, status), first(call.inputs, status)
    if before in ("Enabled", "Suspended") and after == "Disabled":
        raise Refusal(
            "InvalidArgument",
            f"versioning_configuration.status cannot be updated from '{before}' to 'Disabled'; a bucket that "
            "had versions can only be Suspended",
        )


def _setting_id(inputs: Properties) -> str:
    owner = inputs.get("expectedBucketOwner")
    return f"{inputs['bucket']},{owner}" if owner else inputs["bucket"]


def _judge_setting(call: Call) -> None:
    if call.kind.token == _VERSIONING:
        _judge_versioning(call)
    elif call.kind.token == _LIFECYCLE:
        _judge_lifecycle(call)


def _setting(token: str) -> AwsKind:
    return AwsKind(
        token=token,
        id_of=_setting_id,
        scope="world",
        tagged=False,
        immutable=("bucket", "expectedBucketOwner"),
        refs=(Ref(path="bucket", target=BUCKET, holds=False, strict=True),),
        check=_check_setting,
        judge=_judge_setting,
    )


KINDS = (
    AwsKind(
        token=BUCKET,
        id_form="{name}",
        named="bucket",
        prefixed="bucketPrefix",
        longest=63,
        lower=True,
        scope="world",
        arn="arn:{partition}:s3:::{name}",
        immutable=("bucket", "bucketPrefix", "objectLockEnabled"),
        defaults={"forceDestroy": False},
        check=_check_bucket,
        judge=_judge_bucket,
        create=_create_bucket,
        delete=_delete_bucket,
        taken=("BucketAlreadyExists", "The requested bucket name is not available: {name} is in use."),
        not_found="NoSuchBucket",
    ),
    *(_setting(token) for token in _SETTINGS),
    AwsKind(
        token=OBJECT,
        id_of=lambda inputs: f"{inputs['bucket']}/{inputs.get('key', '')}",
        scope="world",
        arn="arn:{partition}:s3:::{id}",
        immutable=("bucket", "key"),
        refs=(Ref(path="bucket", target=BUCKET, holds=False, strict=True),),
        create=lambda _: {"etag": "", "versionId": "", "storageClass": "STANDARD"},
    ),
)
