"""The S3 bucket for data and checkpoints: private, encrypted, reached over TLS only. One of the user's own is used as
it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from components.cluster import data_store_options
from planning.names import partition_of
from planning.plan import Plan

BROKEN_UPLOAD_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    arn: pulumi.Output[str]
    uri: pulumi.Output[str]


def declare_objects(plan: Plan, name: str, parent: pulumi.Resource) -> Objects:
    if plan.objects.existing is not None:
        bucket_name = plan.objects.existing
        arn = f"arn:{partition_of(plan.region)}:s3:::{bucket_name}"
        return Objects(arn=pulumi.Output.from_input(arn), uri=pulumi.Output.from_input(f"s3://{bucket_name}"))
    bucket = _made(plan, name, parent)
    return Objects(arn=_arn(plan, bucket), uri=pulumi.Output.concat("s3://", bucket.bucket))


def _arn(plan: Plan, bucket: aws.s3.Bucket) -> pulumi.Output[str]:
    """From the name, which a preview knows and the ARN it does not: so reviewers and policies can read who may what."""
    return bucket.bucket.apply(lambda name: f"arn:{partition_of(plan.region)}:s3:::{name}")


def _made(plan: Plan, name: str, parent: pulumi.Resource) -> aws.s3.Bucket:
    kept = data_store_options(plan, parent)
    bucket = aws.s3.Bucket(
        f"{name}-objects",
        bucket=plan.objects.name,
        force_destroy=False,
        tags=named(plan, "objects"),
        opts=kept,
    )
    aws.s3.BucketOwnershipControls(
        f"{name}-objects", bucket=bucket.id, rule={"object_ownership": "BucketOwnerEnforced"}, opts=kept
    )
    public_access = aws.s3.BucketPublicAccessBlock(
        f"{name}-objects",
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=kept,
    )
    aws.s3.BucketServerSideEncryptionConfiguration(
        f"{name}-objects",
        bucket=bucket.id,
        rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}],
        opts=kept,
    )
    # Not versioned: each checkpoint has its own name, and kept versions of terabytes would double the bill unseen.
    aws.s3.BucketVersioning(
        f"{name}-objects",
        bucket=bucket.id,
        versioning_configuration={"status": "Disabled"},
        opts=kept,
    )
    aws.s3.BucketPolicy(
        f"{name}-objects",
        bucket=bucket.id,
        policy=_arn(plan, bucket).apply(lambda arn: json.dumps(tls_only(arn))),
        # Both change the bucket's policy settings, and S3 refuses two at a time.
        opts=data_store_options(plan, parent, depends_on=[public_access]),
    )
    aws.s3.BucketLifecycleConfiguration(f"{name}-objects", bucket=bucket.id, rules=lifecycle_rules(plan), opts=kept)
    return bucket


def tls_only(bucket_arn: str) -> dict[str, object]:
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [bucket_arn, f"{bucket_arn}/*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            }
        ],
    }


def lifecycle_rules(plan: Plan) -> list[aws.s3.BucketLifecycleConfigurationRuleArgs]:
    """Broken uploads go after a week; checkpoints are cooled and deleted as the plan says."""
    rules = [
        aws.s3.BucketLifecycleConfigurationRuleArgs(
            id="broken-uploads",
            status="Enabled",
            filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
            abort_incomplete_multipart_upload=(
                aws.s3.BucketLifecycleConfigurationRuleAbortIncompleteMultipartUploadArgs(
                    days_after_initiation=BROKEN_UPLOAD_DAYS
                )
            ),
        )
    ]
    wanted = plan.objects
    if wanted.cool_after_days or wanted.expire_after_days:
        cool = aws.s3.BucketLifecycleConfigurationRuleTransitionArgs(
            days=wanted.cool_after_days, storage_class=wanted.cool_class
        )
        expire = aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(days=wanted.expire_after_days)
        rules.append(
            aws.s3.BucketLifecycleConfigurationRuleArgs(
                id="checkpoints",
                status="Enabled",
                filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=f"{wanted.prefix}/"),
                transitions=[cool] if wanted.cool_after_days else None,
                expiration=expire if wanted.expire_after_days else None,
            )
        )
    return rules
