"""Who a node is: a role that reaches the cluster's bucket, describes its filesystem, and answers Session Manager."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from planning.plan import Plan

SESSION_MANAGER_POLICY = "arn:{partition}:iam::aws:policy/AmazonSSMManagedInstanceCore"
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
    session_manager = aws.iam.RolePolicyAttachment(
        f"{name}-session-manager",
        role=role.name,
        policy_arn=SESSION_MANAGER_POLICY.format(partition=partition_of(plan.region)),
        opts=child,
    )
    data = aws.iam.RolePolicy(
        f"{name}-data",
        role=role.id,
        policy=bucket_arn.apply(lambda arn: json.dumps(node_policy(plan, arn))),
        opts=child,
    )
    profile = aws.iam.InstanceProfile(f"{name}-nodes", role=role.name, tags=named(plan, "nodes"), opts=child)
    return Identity(profile=profile, granted=[session_manager, data])


def node_policy(plan: Plan, bucket_arn: str) -> dict[str, object]:
    """What a node may do: read and write objects of the cluster's bucket, and describe filesystems."""
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
    ]
    if plan.filesystem is not None:
        statements.append(
            {
                # A client that may not ask for its filesystem falls back to TCP without a word. The action takes no
                # resource (service authorization reference, Amazon FSx), so that the region bounds it.
                "Sid": "DescribeFilesystems",
                "Effect": "Allow",
                "Action": "fsx:DescribeFileSystems",
                "Resource": "*",
                "Condition": {"StringEquals": {"aws:RequestedRegion": plan.region}},
            }
        )
    return {"Version": "2012-10-17", "Statement": statements}


def partition_of(region: str) -> str:
    """Source: AWS general reference, Amazon Resource Names."""
    return "aws-us-gov" if region.startswith("us-gov-") else "aws-cn" if region.startswith("cn-") else "aws"
