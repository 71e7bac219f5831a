"""Rules about a network that exists. What only the cloud knows of it: `planning.existing`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.azureids import example
from planning.facts.derive import Facts
from planning.facts.network import existing_subnet, subnets_said
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule
from planning.spec import AwsExistingNetwork, AzureExistingNetwork

VPC_QUOTAS = "https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html"
GROUPS_PER_INTERFACE = 5
"""Source: VPC user guide, Amazon VPC quotas."""
AWS_IDS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html"
AZURE_IDS = "https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules"
AMLFS_SUBNET = "https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites"
BASTION_SUBNET = "https://learn.microsoft.com/azure/bastion/configuration-settings"
SUBNET = example("Microsoft.Network/virtualNetworks/research/subnets/nodes")


@rule("network-twice", "error", reference="docs/spec.md")
def network_twice(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A cluster is in a new network or in an existing one."""
    if spec.network.cidr is not None and spec.network.existing is not None:
        yield Fault(
            "network",
            "cidr makes a new network, and existing names one: only one can hold",
            "remove cidr or existing",
        )


@rule("network-not-an-id", "error", cloud="aws", reference=AWS_IDS)
def network_not_an_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An existing network is named by ids, which are told apart by their beginnings."""
    given = spec.network.existing
    if not isinstance(given, AwsExistingNetwork):
        return
    said = [("vpc", "vpc", given.vpc), ("subnet", "subnet", given.subnet)]
    said += [(f"security_groups.{i}", "sg", group) for i, group in enumerate(given.security_groups)]
    for field, prefix, value in said:
        if not re.fullmatch(rf"{prefix}-([0-9a-f]{{8}}|[0-9a-f]{{17}})", value):
            message = f"{shown(value)} is no id, which is {prefix}- and 17 digits of 0-9 a-f (8 in old ones)"
            yield Fault(f"network.existing.{field}", message, f"write an id such as {prefix}-0123456789abcdef0")


@rule("security-groups-above-quota", "warning", cloud="aws", reference=VPC_QUOTAS)
def security_groups_above_quota(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A network interface takes five security groups, one of them the cluster's own, unless the quota was raised."""
    given = spec.network.existing
    number = len({*given.security_groups}) + 1 if isinstance(given, AwsExistingNetwork) else 0
    if number > GROUPS_PER_INTERFACE:
        message = (
            f"{number - 1} groups and the cluster's own are {number}, and an interface takes {GROUPS_PER_INTERFACE} "
            "unless the quota L-2AFB9258 was raised"
        )
        yield Fault("network.existing.security_groups", message, f"write {GROUPS_PER_INTERFACE - 1} at most")


@rule("egress-of-existing-network", "error", reference="docs/spec.md", waivable=False)
def egress_of_existing_network(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A network that exists keeps the ways out that it has."""
    if spec.network.existing is not None and spec.network.egress == "none":
        message = "an existing network is used as it is, with the ways out that it has; none is for a new one"
        yield Fault("network.egress", message, "remove egress, or remove existing and let the stack make a network")


@rule("subnet-not-an-id", "error", cloud="azure", reference=AZURE_IDS, waivable=False)
def subnet_not_an_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An existing subnet is named by its resource id, which holds subscription, group and VNet."""
    for path, value in _subnets(spec).items():
        found = existing_subnet(value)
        if found is None:
            yield Fault(path, f"{shown(value)} is not the resource id of a subnet", f"write an id such as {SUBNET}")
        elif spec.account is not None and found.subscription.lower() != spec.account.lower():
            message = f"the subnet is in subscription {found.subscription}, and the cluster in {spec.account}"
            yield Fault(path, message, "write a subnet of the cluster's subscription, or another account")


@rule("subnets-apart", "error", cloud="azure", reference="docs/spec.md", waivable=False)
def subnets_apart(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """All subnets of a cluster are in one VNet: its name zones are linked to that one alone."""
    subnets = {path: existing_subnet(value) for path, value in _subnets(spec).items()}
    vnets = {path: found.vnet_id.lower() for path, found in subnets.items() if found is not None}
    first = vnets.get("network.existing.subnet")
    for path, vnet in vnets.items():
        if first is not None and vnet != first:
            message = f"this subnet is in the VNet {vnet.rpartition('/')[2]}, and the nodes are in another one"
            yield Fault(path, message, f"write a subnet of {first}")


@rule("filesystem-subnet-missing", "error", cloud="azure", reference=AMLFS_SUBNET, waivable=False)
def filesystem_subnet_missing(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A filesystem that is made in an existing network has a subnet there for itself."""
    existing = spec.network.existing
    if not isinstance(existing, AzureExistingNetwork) or facts.lustre is None:
        return
    path, size = "network.existing.filesystem_subnet", f"/{facts.lustre.subnet_prefix} or larger"
    if existing.filesystem_subnet is None:
        message = "Azure Managed Lustre takes a subnet of its own, and none is named"
        yield Fault(path, message, f"write the id of an empty subnet of {size}, or remove storage.filesystem")
        return
    for field in ("subnet", "endpoint_subnet"):
        if (getattr(existing, field) or "").lower() == existing.filesystem_subnet.lower():
            message = f"Azure Managed Lustre takes a subnet of its own, and this one is {field}, too"
            yield Fault(path, message, f"write the id of an empty subnet of {size}")
            return


@rule("bastion-in-existing-network", "error", cloud="azure", reference=BASTION_SUBNET, waivable=False)
def bastion_in_existing_network(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A Bastion lives in a subnet of a fixed name, which nobody but its owner adds to an existing VNet."""
    if spec.access.bastion and spec.network.existing is not None:
        message = (
            "a Bastion is in the VNet's one subnet AzureBastionSubnet, and an existing VNet gets no subnet from here"
        )
        yield Fault("access.bastion", message, "write false, and use a Bastion of that VNet or of a peered one")


@rule("ssh-from-in-existing-network", "error", cloud="azure", reference="docs/spec.md")
def ssh_from_in_existing_network(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Who reaches nodes in an existing subnet is for the network security group of that subnet to say."""
    if spec.access.ssh_from and spec.network.existing is not None:
        message = "the network security group of an existing subnet lets in whom it does, and is not changed"
        yield Fault("access.ssh_from", message, "remove it, and let these networks in there")


def _subnets(spec: AnySpec) -> dict[str, str]:
    """Azure: what is said of existing subnets, by path."""
    existing = spec.network.existing
    said = subnets_said(existing) if isinstance(existing, AzureExistingNetwork) else {}
    return {f"network.existing.{field}": value for field, value in said.items()}
