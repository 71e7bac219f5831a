"""Nodes have no public address, and the credentials of their roles stay with them.

Who may reach them: `policies.ingress`. Buckets and storage accounts, which can be public as well: `policies.stores`.
Encryption and deletion: `policies.data`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.launches import LAUNCHERS, launches, subnets_of
from policies.view import View, flag, shown

_METADATA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html"
_PUBLIC_NODE = (
    "A public address puts a node, its jobs and its credentials on the internet, and EC2 grants none to a "
    "node with several network interfaces anyway."
)


@resource_policy(
    "aws-public-address",
    kinds.EIP,
    kinds.EIP_ASSOCIATION,
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    kinds.SPOT_FLEET,
    kinds.SPOT_INSTANCE,
    area="exposure",
    description="No instance has a public address.",
    why=_PUBLIC_NODE,
    fix="Leave it out (or false), use a private subnet with a NAT gateway, and reach nodes through Session Manager.",
    reference="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html",
)
def aws_public_address(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.EIP, kinds.EIP_ASSOCIATION):
        elsewhere = resource.peek("instance") == ""  # so a state shows the address of a NAT gateway
        for path in ("instance", "instanceId", "networkInterface", "networkInterfaceId"):
            if resource.has(path) and not elsewhere:
                yield resource.fault(path, "gives an instance a public address")
    for holder in ("", "networkInterfaces[].", "launchSpecifications[]."):
        for view in resource.each(f"{holder}associatePublicIpAddress"):
            if flag(view.value) is True:
                yield resource.fault(view.path, "is true")


@stack_policy(
    "aws-public-subnet",
    kinds.SUBNET,
    kinds.DEFAULT_SUBNET,
    area="exposure",
    description="Instances are launched into subnets that hand out no public addresses.",
    why=_PUBLIC_NODE,
    fix="Set mapPublicIpOnLaunch of the subnet to false, or launch into a private subnet behind a NAT gateway.",
    reference="https://docs.aws.amazon.com/vpc/latest/userguide/subnet-public-ip.html",
)
def aws_public_subnet(stack: Stack) -> Iterator[Fault]:
    for launcher in stack.of(*LAUNCHERS):
        templates = [t for t in stack.of(kinds.LAUNCH_TEMPLATE) if launches(launcher, t)]
        if any(_declines(r) for r in (launcher, *templates)):
            continue
        for subnet in subnets_of(stack, launcher)[1]:
            yield from _hands_out(subnet, launcher)
    for template in stack.of(kinds.LAUNCH_TEMPLATE):
        if not _declines(template):
            for urn in template.made_from("networkInterfaces", kinds.SUBNET, kinds.DEFAULT_SUBNET):
                yield from _hands_out(stack.resources[urn], template)


def _declines(resource: Resource) -> bool:
    """Whether a public address is declined in so many words, which goes before what the subnet does."""
    own = resource.has("associatePublicIpAddress") and flag(resource.peek("associatePublicIpAddress")) is False
    interfaces = View(resource.value).each("networkInterfaces[].associatePublicIpAddress")
    return own or any(flag(view.value) is False for view in interfaces)


def _hands_out(subnet: Resource, launcher: Resource) -> Iterator[Fault]:
    if subnet.true("mapPublicIpOnLaunch") or _default_subnet_left_public(subnet):
        yield subnet.fault("mapPublicIpOnLaunch", f"is true, and {launcher.name} launches into it")


def _default_subnet_left_public(subnet: Resource) -> bool:
    return subnet.type == kinds.DEFAULT_SUBNET and subnet.get("mapPublicIpOnLaunch") is None


@resource_policy(
    "aws-imds-v1",
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    kinds.SPOT_INSTANCE,
    area="exposure",
    description="Instance metadata answers session requests (IMDSv2) only.",
    why="With IMDSv1 anything that makes a node fetch a URL gets the credentials of its role.",
    fix='Set metadataOptions.httpTokens to "required".',
    reference=_METADATA,
    mends=True,
)
def aws_imds_v1(resource: Resource) -> Iterator[Fault]:
    if resource.has("launchTemplate") and not resource.has("metadataOptions"):
        return
    off = resource.peek("metadataOptions.httpEndpoint") == "disabled"
    if not off and resource.differs("metadataOptions.httpTokens", "required"):
        found = f"is {shown(resource.get('metadataOptions.httpTokens'))}"
        mend = {"metadataOptions": {"httpTokens": "required"}}
        yield resource.fault("metadataOptions.httpTokens", found, mend=mend)


@resource_policy(
    "aws-imds-hops",
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    kinds.SPOT_INSTANCE,
    area="exposure",
    description="Instance metadata is answered at most two hops away.",
    why="A container needs two hops; more let whatever a node forwards for ask for the credentials of its role.",
    fix="Set metadataOptions.httpPutResponseHopLimit to 1, or to 2 where containers need the role of the node.",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    reference=_METADATA,
)
def aws_imds_hops(resource: Resource) -> Iterator[Fault]:
    hops = resource.get("metadataOptions.httpPutResponseHopLimit")
    if isinstance(hops, int | float) and hops > 2:
        yield resource.fault("metadataOptions.httpPutResponseHopLimit", f"is {int(hops)}")


@resource_policy(
    "azure-public-address",
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.AZURE_BATCH_POOL,
    kinds.MACHINE_LEARNING,
    kinds.NIC,
    kinds.SCALE_SET,
    kinds.VM,
    area="exposure",
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
    if resource.type in (kinds.AZURE_BATCH_POOL, kinds.MACHINE_LEARNING):
        yield from _public_unless_said(resource)
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


def _public_unless_said(resource: Resource) -> Iterator[Fault]:
    """Batch and Azure ML give each node an address where nothing else is said."""
    if resource.type == kinds.AZURE_BATCH_POOL:
        path, off = "networkConfiguration.publicIPAddressConfiguration.provision", "NoPublicIPAddresses"
        if resource.differs(path, off):
            yield resource.fault(path, f"is {shown(resource.get(path))}", f"Set it to {shown(off)}.")
    elif resource.get("properties.computeType") in ("AmlCompute", "ComputeInstance"):
        path = "properties.properties.enableNodePublicIp"
        if resource.differs(path, False):
            fix = "Set it to false, with a private endpoint of the workspace."
            yield resource.fault(path, f"is {shown(resource.get(path))}", fix)
