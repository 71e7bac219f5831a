"""Flow logs of the nodes' network, in a log group of their own, written by a role that can do nothing else.

The log group is no data store: it goes with the stack, whatever `storage.on_delete` says.
"""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from planning.plan import Plan

RETENTION_DAYS = 30
SLOWEST = 600
"""Seconds between two records of a flow: the fewest records, since each is paid for."""


def declare_flow_logs(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    *,
    vpc_id: pulumi.Input[str] | None = None,
    subnet_id: pulumi.Input[str] | None = None,
) -> None:
    """Of a VPC or of a subnet."""
    child = pulumi.ResourceOptions(parent=parent)
    # Its name is drawn anew each time, so that a group that outlived another stack is in nobody's way.
    group = aws.cloudwatch.LogGroup(
        f"{name}-flow-logs", retention_in_days=RETENTION_DAYS, tags=named(plan, "flow-logs"), opts=child
    )
    role = aws.iam.Role(
        f"{name}-flow-logs",
        assume_role_policy=group.arn.apply(lambda arn: json.dumps(trust_policy(arn))),
        description=f"Writes the flow logs of the GPU cluster {plan.name}",
        tags=named(plan, "flow-logs"),
        opts=child,
    )
    written = aws.iam.RolePolicy(
        f"{name}-flow-logs",
        role=role.id,
        policy=group.arn.apply(lambda arn: json.dumps(writer_policy(arn))),
        opts=child,
    )
    aws.ec2.FlowLog(
        f"{name}-nodes",
        vpc_id=vpc_id,
        subnet_id=subnet_id,
        traffic_type="ALL",
        log_destination_type="cloud-watch-logs",
        log_destination=group.arn,
        iam_role_arn=role.arn,
        max_aggregation_interval=SLOWEST,
        tags=named(plan, "flow-logs"),
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[written])),
    )


def trust_policy(group_arn: str) -> dict[str, object]:
    """Flow logs of the log group's account alone may assume the role."""
    account = group_arn.split(":")[4]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:SourceAccount": account}},
            }
        ],
    }


def writer_policy(group_arn: str) -> dict[str, object]:
    """Without logs:CreateLogGroup: the last records would otherwise bring a deleted group back, without an end."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "WriteFlowLogs",
                "Effect": "Allow",
                "Action": [
                    "logs:CreateLogStream",
                    "logs:PutLogEvents",
                    "logs:DescribeLogGroups",
                    "logs:DescribeLogStreams",
                ],
                "Resource": f"{group_arn}:*",
            }
        ],
    }
