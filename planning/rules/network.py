"""Rules about addresses and ways in and out."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule

RDMA_NETWORK = IPv4Network("172.16.0.0/16")
LARGEST_NETWORK = {"aws": 16, "azure": 8}
"""Prefix of the largest network. Source: VPC user guide, VPC CIDR blocks; Azure documentation, VNet FAQ."""
SHARED = IPv4Network("100.64.0.0/10")
"""Carrier-grade NAT (RFC 6598), which clusters use as if it were private."""
NO_NETWORKS = tuple(map(IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4")))
"""This host, loopback, link-local with the metadata services, multicast."""
VPC_LIMITS = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"
EC2_KEYS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-key-pairs.html"


@rule(
    "network-too-small",
    "error",
    reference="https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",
    waivable=False,
)
def network_too_small(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Nodes, filesystem, endpoints and NAT find their addresses; the clouds keep five of each subnet."""
    plan = facts.network
    if plan.fits or spec.network.existing is not None:
        return
    others = "NAT gateway" if spec.cloud == "aws" else "endpoints" + (" and filesystem" if plan.filesystem else "")
    each = f"{plan.per_node} address{'es' if plan.per_node > 1 else ''} each"
    message = (
        f"{spec.nodes.count} nodes with {each} need {plan.needed} in their subnet, the lower half of {plan.cidr}, "
        f"which has {plan.usable}; the upper half is for {others}"
    )
    largest = LARGEST_NETWORK[spec.cloud]
    if plan.smallest_prefix >= largest:
        fix = f"write a network of /{plan.smallest_prefix} or larger"
    else:
        fix = f"take fewer nodes: the largest network, a /{largest}, does not hold them"
    if plan.per_node > 1:
        fix += ", or nodes.interfaces: efa-only, which takes one address a node"
    yield Fault("network.cidr", message, fix)


@rule("network-outside-limits", "error", reference=VPC_LIMITS, waivable=False)
def network_outside_limits(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The size of the network is one that the cloud takes."""
    largest = LARGEST_NETWORK[spec.cloud]
    if spec.network.cidr is not None and facts.network.cidr.prefixlen < largest:
        what = "VPC" if spec.cloud == "aws" else "VNet"
        smaller = IPv4Network((facts.network.cidr.network_address, largest))
        yield Fault(
            "network.cidr",
            f"{facts.network.cidr} is larger than a {what} may be, a /{largest}",
            f"write {smaller}",
        )


@rule(
    "network-not-for-hosts",
    "error",
    reference="https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq",
)
def network_not_for_hosts(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The network holds no addresses that mean something else everywhere."""
    cidr = facts.network.cidr
    if held := next((network for network in NO_NETWORKS if cidr.overlaps(network)), None):
        message = (
            f"{cidr} holds addresses of {held}, which stands for the host itself, link-local services or multicast"
        )
        yield Fault("network.cidr", message, "write 10.40.0.0/16 or another private network")


@rule("network-public", "warning", reference="https://www.rfc-editor.org/rfc/rfc1918")
def network_public(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The network is private: hosts of the internet that have its addresses are out of reach."""
    cidr = facts.network.cidr
    if not (cidr.is_private or cidr.is_multicast or cidr.subnet_of(SHARED)):
        message = f"{cidr} is not private, so the hosts of the internet that have these addresses can not be reached"
        yield Fault(
            "network.cidr", message, "write a part of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10"
        )


@rule(
    "network-of-infiniband",
    "error",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machines/setup-infiniband",
)
def network_of_infiniband(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """InfiniBand keeps 172.16.0.0/16 for itself."""
    if facts.fabric.kind == "infiniband" and facts.network.cidr.overlaps(RDMA_NETWORK):
        message = f"{facts.network.cidr} overlaps 172.16.0.0/16, which Azure's InfiniBand keeps for itself"
        yield Fault("network.cidr", message, "write 10.40.0.0/16 or 172.20.0.0/16")


@rule("network-twice", "error", reference="docs/spec.md")
def network_twice(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A cluster is in a new network or in an existing one."""
    if spec.network.cidr is not None and spec.network.existing is not None:
        yield Fault(
            "network",
            "cidr makes a new network, and existing names one: only one can hold",
            "remove cidr or existing",
        )


@rule(
    "ssh-from-everywhere",
    "error",
    reference="https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html",
)
def ssh_from_everywhere(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Port 22 is open to known networks, not to all."""
    for index, network in enumerate(spec.access.ssh_from):
        if network.prefixlen == 0:
            yield Fault(
                f"access.ssh_from.{index}",
                "0.0.0.0/0 opens port 22 to everybody",
                "write your own networks, such as 10.0.0.0/8",
            )


@rule("ssh-from-twice", "error", reference="docs/spec.md", waivable=False)
def ssh_from_twice(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A network is let in once: a second rule for it is refused as a duplicate."""
    for index, network in enumerate(spec.access.ssh_from):
        if network in spec.access.ssh_from[:index]:
            yield Fault(f"access.ssh_from.{index}", f"{network} is in the list already", "remove it")


@rule(
    "ssh-key-missing",
    "error",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/virtual-machines/linux/create-ssh-keys-detailed",
    waivable=False,
)
def ssh_key_missing(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Azure makes no Linux VM without a login, and passwords are off."""
    if spec.access.ssh_public_key is None:
        message = "Azure makes no Linux node without an SSH public key, since passwords are off"
        yield Fault(
            "access.ssh_public_key",
            message,
            "write the line of your public key file, such as ~/.ssh/id_ed25519.pub",
        )


@rule("ssh-without-key", "warning", cloud="aws", reference="docs/spec.md")
def ssh_without_key(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """An open port 22 without a key lets nobody in."""
    if spec.access.ssh_from and spec.access.ssh_public_key is None:
        yield Fault(
            "access.ssh_from",
            "port 22 is opened, but no key lets anybody in",
            "add access.ssh_public_key, or remove ssh_from",
        )


@rule("ssh-key-refused", "error", reference=EC2_KEYS)
def ssh_key_refused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Both clouds take keys of two kinds only."""
    key = spec.access.ssh_public_key
    if key is not None and not key.startswith(("ssh-ed25519 ", "ssh-rsa ")):
        message = f"neither cloud takes a key of kind {key.split(' ')[0]}, only ssh-ed25519 and ssh-rsa"
        yield Fault("access.ssh_public_key", message, "write a key made by `ssh-keygen -t ed25519`")
