"""`EfaCluster`: an AWS cluster of EFA nodes in one zone. Its rooms are the modules beside it."""

from __future__ import annotations

import pulumi

from components.aws.filesystem import declare_filesystem
from components.aws.identity import declare_identity
from components.aws.network import NetworkInputs, declare_network
from components.aws.nodes import declare_nodes
from components.aws.objects import declare_objects
from components.bootstrap import first_boot
from components.cluster import GpuCluster, Places
from planning.names import CLUSTER_TAG
from planning.plan import Plan


class EfaCluster(GpuCluster):
    """AWS nodes with EFA, FSx for Lustre and S3. `network` puts it into a VPC that the caller's program has."""

    access_kind = "session-manager"

    def __init__(
        self,
        name: str,
        plan: Plan,
        *,
        network: NetworkInputs | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        self._given_network = network
        super().__init__("gpu-clusters:aws:EfaCluster", name, plan, opts)

    def _build(self, name: str, plan: Plan) -> Places:
        network = declare_network(plan, name, self, self._given_network)
        objects = declare_objects(plan, name, self)
        identity = declare_identity(plan, name, self, objects.arn)
        filesystem = declare_filesystem(plan, name, self, network, objects)
        boot = first_boot(plan, filesystem.source if filesystem else None)
        nodes = declare_nodes(plan, name, self, network, identity, boot)
        tag = f"Name=tag:{CLUSTER_TAG},Values={plan.name}"
        filters = f"--filters '{tag}' Name=instance-state-name,Values=running"
        query = "--query 'Reservations[].Instances[].PrivateIpAddress' --output text"
        return Places(
            node_count=nodes,
            mount_command=filesystem.mount_command if filesystem else None,
            objects_uri=objects.uri,
            access_command=f"aws ssm start-session --region {plan.region} --target INSTANCE_ID",
            hosts_command=f"aws ec2 describe-instances --region {plan.region} {filters} {query}",
        )
