"""`InfiniBandCluster`: an Azure cluster of InfiniBand nodes in one scale set. Its rooms are the modules beside it."""

from __future__ import annotations

import pulumi

from components.azure.filesystem import declare_filesystem
from components.azure.group import declare_group
from components.azure.identity import declare_identity
from components.azure.network import NetworkInputs, declare_network
from components.azure.nodes import ADMIN, declare_nodes
from components.azure.objects import declare_objects
from components.bootstrap import first_boot
from components.cluster import GpuCluster, Places
from planning.plan import Plan


class InfiniBandCluster(GpuCluster):
    """Azure nodes with InfiniBand, Managed Lustre and ADLS Gen2. `network` puts it into subnets of the caller's."""

    access_kind = "ssh"

    def __init__(
        self,
        name: str,
        plan: Plan,
        *,
        network: NetworkInputs | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        self._given_network = network
        super().__init__("gpu-clusters:azure:InfiniBandCluster", name, plan, opts)

    def _build(self, name: str, plan: Plan) -> Places:
        group = declare_group(plan, name, self)
        network = declare_network(plan, name, self, group, self._given_network)
        objects = declare_objects(plan, name, self, group, network)
        identity = declare_identity(plan, name, self, group, objects)
        filesystem = declare_filesystem(plan, name, self, group, network)
        if plan.nodes.running:
            boot = first_boot(plan, filesystem.source if filesystem else None)
            declare_nodes(plan, name, self, group, network, objects, identity, boot)
        where = pulumi.Output.concat("--resource-group ", group.name, f" --vmss-name {plan.name}-nodes")
        return Places(
            mount_command=filesystem.mount_command if filesystem else None,
            objects_uri=objects.uri,
            access_command=f"ssh {ADMIN}@NODE_ADDRESS",
            hosts_command=pulumi.Output.concat(
                "az vmss nic list ", where, " --query '[].ipConfigurations[0].privateIPAddress' --output tsv"
            ),
        )
