"""Who a node is: a role that reaches the cluster's bucket, describes its filesystem, and answers Session Manager."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from planning.plan import Plan

EC2_MAY_ASSUME = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    profile: aws.iam.InstanceProfile
    granted: list[pulumi.Resource]
    """The role's permissions: nodes wait for them."""


def declare_identity(plan: Plan, name: str, parent: pulumi.Resource, bucket_arn: pulumi.Output[str]) -> Identity:
    child = pulumi.ResourceOptions(parent=parent)
    role = aws.iam.Role(
        f"{name}-nodes",
        assume_role_policy=json.dumps(EC2_MAY_ASSUME),
        description=f"Nodes of the GPU cluster {plan.name}",
        tags=named(plan, "nodes"),
        opts=child,
    )
    policy = aws.iam.RolePolicy(
        f"{name}-nodes",
        role=role.id,
        policy=bucket_arn.apply(lambda arn: json.dumps(node_policy(plan, arn))),
        opts=child,
    )
    profile = aws.iam.InstanceProfile(f"{name}-nodes", role=role.name, tags=named(plan, "nodes"), opts=child)
    return Identity(profile=profile, granted=[policy])


def node_policy(plan: Plan, bucket_arn: str) -> dict[str, object]:
    """What a node may do: use the cluster's bucket, answer Session Manager, describe filesystems; nothing else.

    Statements with a wildcard resource name actions that take no other (service authorization reference: Systems
    Manager, Message Gateway Service, FSx); the region bounds them. The managed policy AmazonSSMManagedInstanceCore,
    which is usual for Session Manager, would let every node read every parameter of the account.
    """
    statements: list[dict[str, object]] = [
        {
            "Sid": "ListBucket",
            "Effect": "Allow",
            "Action": ["s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads"],
            "Resource": bucket_arn,
        },
        {
            "Sid": "ReadWriteObjects",
            "Effect": "Allow",
            "Action": [
                "s3:GetObject",
                "s3:PutObject",
                "s3:DeleteObject",
                "s3:AbortMultipartUpload",
                "s3:ListMultipartUploadParts",
            ],
            "Resource": f"{bucket_arn}/*",
        },
        # For the first of them the reference lists instances. No document shows a policy that names them, and a node
        # which can not report itself is reached by nobody.
        _in_region(
            plan,
            "AnswerSessionManager",
            "ssm:UpdateInstanceInformation",
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ),
    ]
    if plan.filesystem is not None:
        # A client that may not ask for its filesystem falls back to TCP without a word.
        statements.append(_in_region(plan, "DescribeFilesystems", "fsx:DescribeFileSystems"))
    return {"Version": "2012-10-17", "Statement": statements}


def _in_region(plan: Plan, sid: str, *actions: str) -> dict[str, object]:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:RequestedRegion": plan.region}},
    }
