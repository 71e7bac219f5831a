"""The pack: which policies it holds. Importing it starts nothing; `__main__.py` serves it."""

from __future__ import annotations

from pulumi_policy import Policy

from policies import data, exposure, fabric, linux, placement, stores

NAME = "gpu-clusters"

POLICIES: list[Policy] = [
    linux.aws_windows_node,
    linux.azure_windows_node,
    placement.efa_nodes_without_placement,
    placement.rdma_scale_set_split,
    fabric.efa_group_not_self_referring,
    exposure.aws_public_address,
    exposure.aws_public_subnet,
    exposure.aws_public_ingress,
    exposure.aws_imds_v1,
    exposure.azure_public_address,
    exposure.azure_public_ingress,
    stores.bucket_public,
    stores.bucket_without_public_access_block,
    stores.azure_storage_public,
    data.data_store_unprotected,
    data.lustre_without_final_backup,
    data.bucket_force_destroy,
    data.aws_storage_unencrypted,
    data.azure_storage_insecure_transport,
    data.azure_storage_shared_key,
    data.azure_storage_without_hierarchy,
]
