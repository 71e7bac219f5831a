"""Nothing of a cluster can be reached from the internet: nodes, security groups, instance credentials.

Buckets and storage accounts, which can be public as well: `policies.stores`. Encryption and deletion:
`policies.data`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.view import UNKNOWN, View, flag, shown

_WIDEST = {4: 8, 6: 16}
"""Shorter prefixes hold whole continents: 0.0.0.0/1 and 128.0.0.0/1 are 0.0.0.0/0 by another name."""

_PUBLIC_NODE = (
    "A public address puts a node, its jobs and its credentials on the internet, and EC2 grants none to a "
    "node with several network interfaces anyway."
)


def everywhere(cidr: object) -> bool:
    """Whether a range takes in the internet."""
    try:
        network = ipaddress.ip_network(str(cidr), strict=False)
    except ValueError:
        return False
    return network.prefixlen < _WIDEST[network.version]


@resource_policy(
    "aws-public-address",
    kinds.EIP,
    kinds.EIP_ASSOCIATION,
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    description="No instance has a public address.",
    why=_PUBLIC_NODE,
    fix="Leave it out (or false), use a private subnet with a NAT gateway, and reach nodes through Session Manager.",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html",
)
def aws_public_address(resource: Resource) -> Iterator[Fault]:
    for path in ("instance", "instanceId", "networkInterface", "networkInterfaceId"):
        if resource.type in (kinds.EIP, kinds.EIP_ASSOCIATION) and resource.has(path):
            yield resource.fault(path, "gives an instance a public address")
    for path in ("associatePublicIpAddress", "networkInterfaces[].associatePublicIpAddress"):
        for view in resource.each(path):
            if flag(view.value) is True:
                yield resource.fault(view.path, "is true")


@stack_policy(
    "aws-public-subnet",
    description="Instances are launched into subnets that hand out no public addresses.",
    why=_PUBLIC_NODE,
    fix="Set mapPublicIpOnLaunch of the subnet to false, or launch into a private subnet behind a NAT gateway.",
    reference="https://docs.aws.amazon.com/vpc/latest/userguide/subnet-public-ip.html",
)
def aws_public_subnet(stack: Stack) -> Iterator[Fault]:
    launchers = {
        kinds.AUTO_SCALING_GROUP: "vpcZoneIdentifiers",
        kinds.EKS_NODE_GROUP: "subnetIds",
        kinds.FLEET: "launchTemplateConfigs",
        kinds.INSTANCE: "subnetId",
        kinds.LAUNCH_TEMPLATE: "networkInterfaces",
    }
    for launcher in stack.of(*launchers):
        for urn in launcher.made_from(launchers[launcher.type], kinds.SUBNET, kinds.DEFAULT_SUBNET):
            subnet = stack.resources[urn]
            if subnet.true("mapPublicIpOnLaunch") or _default_subnet_left_public(subnet):
                yield subnet.fault("mapPublicIpOnLaunch", f"is true, and {launcher.name} launches into it")


def _default_subnet_left_public(subnet: Resource) -> bool:
    return subnet.type == kinds.DEFAULT_SUBNET and subnet.get("mapPublicIpOnLaunch") is None


@resource_policy(
    "aws-public-ingress",
    *kinds.SECURITY_GROUPS,
    kinds.SECURITY_GROUP_INGRESS,
    kinds.SECURITY_GROUP_RULE,
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


@resource_policy(
    "aws-imds-v1",
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    description="Instance metadata answers session requests (IMDSv2) only.",
    why="With IMDSv1 anything that makes a node fetch a URL gets the credentials of its role.",
    fix='Set metadataOptions.httpTokens to "required".',
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html",
)
def aws_imds_v1(resource: Resource) -> Iterator[Fault]:
    if resource.type == kinds.INSTANCE and resource.has("launchTemplate") and not resource.has("metadataOptions"):
        return
    off = resource.peek("metadataOptions.httpEndpoint") == "disabled"
    if not off and resource.differs("metadataOptions.httpTokens", "required"):
        yield resource.fault("metadataOptions.httpTokens", f"is {shown(resource.get('metadataOptions.httpTokens'))}")


@resource_policy(
    "azure-public-address",
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.NIC,
    kinds.SCALE_SET,
    kinds.VM,
    description="No virtual machine has a public address.",
    why="A public address puts a node, its jobs and its identity on the internet.",
    fix="Leave it out, give the subnet a NAT gateway for the way out, and reach nodes through Azure Bastion.",
    reference="https://learn.microsoft.com/azure/nat-gateway/nat-overview",
)
def azure_public_address(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.AKS_CLUSTER, kinds.AKS_POOL):
        for path in ("enableNodePublicIP", "agentPoolProfiles[].enableNodePublicIP"):
            for view in resource.each(path):
                if view.value is True:
                    yield resource.fault(view.path, "is true")
        return
    interfaces = "networkProfile.networkInterfaceConfigurations[].ipConfigurations[]"
    paths = {
        kinds.NIC: "ipConfigurations[]",
        kinds.VM: interfaces,
        kinds.SCALE_SET: f"virtualMachineProfile.{interfaces}",
    }
    for configuration in resource.each(paths[resource.type]):
        for leaf in ("publicIPAddress", "publicIPAddressConfiguration"):
            if configuration.has(leaf):
                yield resource.fault(configuration.where(leaf), "is set")


_ANYWHERE = ("*", "any", "internet")


@resource_policy(
    "azure-public-ingress",
    kinds.NSG,
    kinds.NSG_RULE,
    description="No network security group lets traffic in from everywhere.",
    why="Whatever listens on a node (SSH, a notebook, a rendezvous port without authentication) would face "
    "the internet.",
    fix="Name the network it comes from (VirtualNetwork for the cluster itself), and use Azure Bastion "
    "instead of open SSH.",
    reference="https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview",
)
def azure_public_ingress(resource: Resource) -> Iterator[Fault]:
    rules = [resource] if resource.type == kinds.NSG_RULE else resource.each("securityRules[]")
    for rule in rules:
        if _lets_in(rule):
            for path in ("sourceAddressPrefix", "sourceAddressPrefixes[]"):
                for view in rule.each(path):
                    if str(view.value).lower() in _ANYWHERE or everywhere(view.value):
                        yield resource.fault(view.path, f"is {shown(view.value)}")


def _lets_in(rule: View) -> bool:
    direction, access = rule.get("direction"), rule.get("access")
    inbound = direction is UNKNOWN or str(direction).lower() == "inbound"
    return inbound and (access is UNKNOWN or str(access).lower() == "allow")
