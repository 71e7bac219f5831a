"""The AWS side. The only folder that imports the AWS SDK; `components.azure` is its mirror image."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from components.aws.cluster import EfaCluster
from planning.plan import Plan


def build_cluster(plan: Plan) -> EfaCluster:
    provider = aws.Provider(
        f"{plan.name}-aws", region=plan.region, allowed_account_ids=[plan.account] if plan.account else None
    )
    return EfaCluster(plan.name, plan, opts=pulumi.ResourceOptions(providers=[provider]))
