"""Who may reach a cluster over the network: rules of security groups, and the endpoints of Kubernetes. Public
addresses: `policies.exposure`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from pulumi_policy import Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.view import UNKNOWN, View, shown

_WIDEST = {4: 8, 6: 16}
"""Shorter prefixes hold whole continents: 0.0.0.0/1 and 128.0.0.0/1 are 0.0.0.0/0 by another name."""


def everywhere(cidr: object) -> bool:
    """Whether a range takes in the internet."""
    try:
        network = ipaddress.ip_network(str(cidr), strict=False)
    except ValueError:
        return False
    return network.prefixlen < _WIDEST[network.version]


@resource_policy(
    "aws-public-ingress",
    *kinds.SECURITY_GROUPS,
    kinds.SECURITY_GROUP_INGRESS,
    kinds.SECURITY_GROUP_RULE,
    area="exposure",
    description="No security group lets traffic in from everywhere.",
    why="Whatever listens on a node (SSH, a notebook, a rendezvous port without authentication) would face "
    "the internet.",
    fix="Name the network it comes from, or the security group, and use Session Manager instead of open SSH.",
    reference="https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html",
)
def aws_public_ingress(resource: Resource) -> Iterator[Fault]:
    if resource.type == kinds.SECURITY_GROUP_RULE and resource.get("type") == "egress":
        return
    paths = {
        kinds.SECURITY_GROUP_INGRESS: ("cidrIpv4", "cidrIpv6"),
        kinds.SECURITY_GROUP_RULE: ("cidrBlocks[]", "ipv6CidrBlocks[]"),
    }.get(resource.type, ("ingress[].cidrBlocks[]", "ingress[].ipv6CidrBlocks[]"))
    for path in paths:
        for view in resource.each(path):
            if everywhere(view.value):
                yield resource.fault(view.path, f"is {shown(view.value)}")


@stack_policy(
    "aws-public-prefix-list",
    kinds.PREFIX_LIST,
    area="exposure",
    description="No security group lets traffic in from a prefix list that holds the internet.",
    why="A prefix list is a range by another name: whatever listens on a node would face the internet.",
    fix="Name the networks it comes from in the prefix list.",
    reference="https://docs.aws.amazon.com/vpc/latest/userguide/managed-prefix-lists.html",
)
def aws_public_prefix_list(stack: Stack) -> Iterator[Fault]:
    uses = {
        kinds.SECURITY_GROUP_INGRESS: "prefixListId",
        kinds.SECURITY_GROUP_RULE: "prefixListIds",
        **dict.fromkeys(kinds.SECURITY_GROUPS, "ingress"),
    }
    for user in stack.of(*uses):
        if user.type == kinds.SECURITY_GROUP_RULE and user.get("type") == "egress":
            continue
        for urn in user.made_from(uses[user.type], kinds.PREFIX_LIST):
            entries = [(stack.resources[urn], v) for v in stack.resources[urn].each("entries[].cidr")]
            for entry in stack.of(kinds.PREFIX_LIST_ENTRY):
                if urn in entry.made_from("prefixListId", kinds.PREFIX_LIST):
                    entries += [(entry, v) for v in entry.each("cidr")]
            for holder, cidr in entries:
                if everywhere(cidr.value):
                    yield holder.fault(cidr.path, f"is {shown(cidr.value)}, and {user.name} lets it in")


_ANYWHERE = ("*", "any", "internet", "0.0.0.0")
_MANAGERS = "gatewaymanager"


@resource_policy(
    "azure-public-ingress",
    kinds.NSG,
    kinds.NSG_RULE,
    area="exposure",
    description="No network security group lets traffic in from everywhere.",
    why="Whatever listens on a node (SSH, a notebook, a rendezvous port without authentication) would face "
    "the internet.",
    fix="Name the network it comes from (VirtualNetwork for the cluster itself), and use Azure Bastion "
    "instead of open SSH; the group of Bastion's own subnet, which lets GatewayManager in, may open port 443.",
    reference="https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview",
)
def azure_public_ingress(resource: Resource) -> Iterator[Fault]:
    rules = [resource] if resource.type == kinds.NSG_RULE else list(resource.each("securityRules[]"))
    bastion = any(str(rule.peek("sourceAddressPrefix")).lower() == _MANAGERS for rule in rules)
    for rule in rules:
        if _lets_in(rule) and not (bastion and rule.peek("destinationPortRange") == "443"):
            for path in ("sourceAddressPrefix", "sourceAddressPrefixes[]"):
                for view in rule.each(path):
                    if _anywhere(str(view.value).lower()):
                        yield resource.fault(view.path, f"is {shown(view.value)}")


def _anywhere(source: str) -> bool:
    """The tag AzureCloud holds the addresses of every customer's machines."""
    return source in _ANYWHERE or source.partition(".")[0] == "azurecloud" or everywhere(source)


def _lets_in(rule: View) -> bool:
    direction, access = rule.get("direction"), rule.get("access")
    inbound = direction is UNKNOWN or str(direction).lower() == "inbound"
    return inbound and (access is UNKNOWN or str(access).lower() == "allow")


@resource_policy(
    "kubernetes-endpoint-open",
    kinds.AKS_CLUSTER,
    kinds.EKS_CLUSTER,
    area="exposure",
    description="The API of a Kubernetes cluster is reached from named networks only.",
    why="Left as it is, the API of every new cluster answers the whole internet, and one leaked token is enough to "
    "run anything on its GPUs.",
    fix="Turn the public endpoint off (EKS: endpointPublicAccess false and endpointPrivateAccess true; AKS: "
    "enablePrivateCluster), or name the networks that may call (publicAccessCidrs, authorizedIPRanges).",
    severity=Severity.MEDIUM,
    reference="https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
)
def kubernetes_endpoint_open(cluster: Resource) -> Iterator[Fault]:
    if cluster.type == kinds.EKS_CLUSTER:
        closed, ranges = cluster.get("vpcConfig.endpointPublicAccess") is False, "vpcConfig.publicAccessCidrs"
    else:
        closed = cluster.get("apiServerAccessProfile.enablePrivateCluster") is True
        ranges = "apiServerAccessProfile.authorizedIPRanges"
    if closed:
        return
    if not cluster.has(ranges):
        yield cluster.fault(ranges, "is not set, and the endpoint is public")
    for view in cluster.each(f"{ranges}[]"):
        if everywhere(view.value):
            yield cluster.fault(view.path, f"is {shown(view.value)}")
