"""The Azure side. The only folder that imports the Azure SDK; `components.aws` is its mirror image."""

from __future__ import annotations

import pulumi
import pulumi_azure_native as azure

from components.azure.cluster import InfiniBandCluster
from planning.plan import Plan


def build_cluster(plan: Plan) -> InfiniBandCluster:
    provider = azure.Provider(f"{plan.name}-azure", location=plan.region, subscription_id=plan.account)
    return InfiniBandCluster(plan.name, plan, opts=pulumi.ResourceOptions(providers=[provider]))
