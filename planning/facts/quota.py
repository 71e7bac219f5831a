"""The quota that a cluster needs: both clouds count vCPUs, never instances."""

from __future__ import annotations

from dataclasses import dataclass

from planning.catalog.records import AwsNodeType, AzureNodeType
from planning.spec import AwsSpec, AzureSpec

AZURE_SPOT_POOL = "lowPriorityCores"
"""All spot VMs of a region share one pool. Source: Azure documentation, spot vCPU quota."""


@dataclass(frozen=True, slots=True)
class Quota:
    code: str
    """AWS: Service Quotas code of service ec2. Azure: name of the family, as the usage API spells it."""
    unit: str
    need: int


def quota_of(spec: AwsSpec | AzureSpec, node: AwsNodeType | AzureNodeType | None, nodes: int) -> tuple[Quota, ...]:
    """`nodes` is the most that there can be: a group that may grow needs the quota for it."""
    if node is None or not spec.nodes.running:
        return ()
    need = nodes * node.vcpus
    if isinstance(node, AzureNodeType):
        code = AZURE_SPOT_POOL if spec.nodes.purchase == "spot" else node.quota_family
        return (Quota(code, "vCPU", need),)
    # A reservation counts like the instances in it; a Capacity Block does not count (unproved).
    code = node.quota.get("spot" if spec.nodes.purchase == "spot" else "on-demand")
    return (Quota(code, "vCPU", need),) if code and spec.nodes.purchase != "capacity-block" else ()
