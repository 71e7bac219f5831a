"""Endpoints of AWS services in a VPC of the cluster's own: the gateway to S3, and what nodes without a way out need."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from components.aws.tags import named
from planning.plan import Plan

NAMED_APART_IN_CHINA = ("fsx",)
"""Interface endpoints whose names begin with cn there. Source: aws-cdk, InterfaceVpcEndpointAwsService."""


def declare_s3_endpoint(
    plan: Plan, name: str, parent: pulumi.Resource, vpc_id: pulumi.Input[str], route_table_id: pulumi.Input[str]
) -> aws.ec2.VpcEndpoint:
    """Free, and it keeps checkpoint traffic off the NAT gateway, which charges by the GB.

    Its policy stays the default one: beside the cluster's bucket, nodes read buckets of AWS itself (packages, updates
    of agents) without credentials, and their role bounds whatever they do with credentials.
    """
    return aws.ec2.VpcEndpoint(
        f"{name}-s3",
        vpc_id=vpc_id,
        service_name=f"com.amazonaws.{plan.region}.s3",
        vpc_endpoint_type="Gateway",
        route_table_ids=[route_table_id],
        tags=named(plan, "s3"),
        opts=pulumi.ResourceOptions(parent=parent),
    )


def declare_interface_endpoints(
    plan: Plan,
    name: str,
    parent: pulumi.Resource,
    vpc_id: pulumi.Input[str],
    subnet_id: pulumi.Input[str],
    group: aws.ec2.SecurityGroup,
) -> list[pulumi.Resource]:
    """In the nodes' subnet, where each takes an address, under the names by which agents and SDKs call the services."""
    return [
        aws.ec2.VpcEndpoint(
            f"{name}-{service}",
            vpc_id=vpc_id,
            service_name=service_name(plan.region, service),
            vpc_endpoint_type="Interface",
            subnet_ids=[subnet_id],
            security_group_ids=[group.id],
            private_dns_enabled=True,
            tags=named(plan, service),
            opts=pulumi.ResourceOptions(
                parent=parent,
                # In place it would hold back the old subnet; and a VPC takes a service's private name once only.
                replace_on_changes=["subnetIds"],
                delete_before_replace=True,
            ),
        )
        for service in plan.network.services
    ]


def service_name(region: str, service: str) -> str:
    apart = region.startswith("cn-") and service in NAMED_APART_IN_CHINA
    return f"{'cn.' if apart else ''}com.amazonaws.{region}.{service}"
