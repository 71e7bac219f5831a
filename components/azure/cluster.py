"""`InfiniBandCluster`: an Azure cluster of InfiniBand nodes in one scale set. Its rooms are the modules beside it."""

from __future__ import annotations

import pulumi

from components.azure.bastion import bastion_command
from components.azure.filesystem import declare_filesystem
from components.azure.group import declare_group
from components.azure.identity import declare_identity
from components.azure.network import NetworkInputs, declare_network
from components.azure.nodes import declare_nodes
from components.azure.objects import declare_objects
from components.azure.template import ADMIN
from components.bootstrap import first_boot
from components.bootstrap.objects import Container
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
        if plan.access.bastion:
            self.access_kind = "bastion"
        super().__init__("gpu-clusters:azure:InfiniBandCluster", name, plan, opts)

    def _build(self, name: str, plan: Plan) -> Places:
        group = declare_group(plan, name, self)
        network = declare_network(plan, name, self, group, self._given_network)
        objects = declare_objects(plan, name, self, group, network)
        identity = declare_identity(plan, name, self, group, objects)
        filesystem = declare_filesystem(plan, name, self, group, network, objects)
        container = pulumi.Output.all(objects.account_name, identity.client_id).apply(
            lambda known: Container(account=known[0], name=objects.container, client_id=known[1])
        )
        boot = first_boot(plan, filesystem.source if filesystem else None, container)
        nodes = declare_nodes(plan, name, self, group, network, objects, identity, boot)
        where = pulumi.Output.concat("--resource-group ", group.name, f" --vmss-name {plan.name}-nodes")
        return Places(
            node_count=nodes,
            mount_command=filesystem.mount_command if filesystem else None,
            objects_uri=objects.uri,
            access_command=bastion_command(plan, group, ADMIN) if plan.access.bastion else f"ssh {ADMIN}@NODE_ADDRESS",
            hosts_command=pulumi.Output.concat(
                "az vmss nic list ", where, " --query '[].ipConfigurations[0].privateIPAddress' --output tsv"
            ),
        )
