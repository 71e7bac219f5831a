"""Names that the project gives: those that must be unique beyond the stack, and the keys of its own tags."""

from __future__ import annotations

import hashlib
import uuid

CLUSTER_TAG = "gpu-cluster"
"""Without a colon: DNS zones of Azure drop tags whose key holds one (azure-rest-api-specs#11748)."""
EXPIRES_TAG = "gpu-cluster-expires"
ON_DELETE_TAG = "on-delete"
"""Says `retain` where data outlives the stack: policies do not see that option of a resource, and who finds the store
later does not see the stack."""
SHARED_KEY_TAG = "shared-key-for"
"""Names the service that a storage account takes shared keys for: policies refuse them where nothing says why."""
OUR_TAGS = {
    "aws": (CLUSTER_TAG, EXPIRES_TAG, ON_DELETE_TAG, "Name"),
    "azure": (CLUSTER_TAG, EXPIRES_TAG, ON_DELETE_TAG, SHARED_KEY_TAG),
}
LONGEST_ACCOUNT = 24
"""Storage account names: 3 to 24 lower-case letters and digits, unique in all of Azure."""


def partition_of(region: str) -> str:
    """AWS: the partition that ARNs of a region begin with. Source: AWS general reference, Amazon Resource Names."""
    return "aws-us-gov" if region.startswith("us-gov-") else "aws-cn" if region.startswith("cn-") else "aws"


def storage_account_name(cluster: str, subscription: str, region: str) -> str:
    """The cluster's name without hyphens, and a hash that tells subscriptions and regions apart."""
    digest = hashlib.sha256(f"{subscription}/{region}/{cluster}".lower().encode()).hexdigest()[:10]
    return cluster.replace("-", "")[: LONGEST_ACCOUNT - len(digest)] + digest


def role_assignment_name(scope: str, role: str, holder: str) -> str:
    """A GUID that is the same at every deployment: another one for the same role is refused (RoleAssignmentExists).

    Clusters that share a scope have each their own: a name is given once.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://management.azure.com/{scope}/{role}/{holder}".lower()))
