"""Rules about the ways in: SSH, its keys, and bastions."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import collapse_addresses

from planning.facts.derive import Facts
from planning.rules.network import is_private
from planning.rules.registry import AnySpec, Fault, rule
from planning.sshkeys import rsa_bits

WIDEST_SOURCE = 8
"""Prefix of the widest network that can be somebody's own: 0.0.0.0/1 and 128.0.0.0/1 are everybody."""
AZURE_KEYS = "https://learn.microsoft.com/azure/virtual-machines/linux/mac-create-ssh-keys"
LEAST_RSA_BITS = 2048
"""Source: Azure documentation, supported SSH key formats."""
OPEN_PORTS = {
    "aws": "https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html",
    "azure": "https://learn.microsoft.com/azure/security/fundamentals/network-best-practices",
}
EC2_KEYS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-key-pairs.html"


@rule(
    "ssh-from-everywhere",
    "error",
    reference=OPEN_PORTS,
)
def ssh_from_everywhere(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Port 22 is open to known networks, not to all."""
    fix = "write your own networks, such as 10.0.0.0/8"
    wide = False
    for index, network in enumerate(spec.access.ssh_from):
        if network.prefixlen < WIDEST_SOURCE:
            wide = True
            whom = "everybody" if network.prefixlen == 0 else f"{network.num_addresses:,} addresses of the internet"
            yield Fault(f"access.ssh_from.{index}", f"{network} opens port 22 to {whom}", fix)
    public = (n for n in collapse_addresses(spec.access.ssh_from) if not is_private(n))
    opened = sum(network.num_addresses for network in public)
    if opened > 2 ** (32 - WIDEST_SOURCE) and not wide:
        yield Fault("access.ssh_from", f"together these open port 22 to {opened:,} addresses of the internet", fix)


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


@rule("ssh-key-refused", "error", reference={"aws": EC2_KEYS, "azure": AZURE_KEYS})
def ssh_key_refused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Both clouds take keys of two kinds only."""
    key = spec.access.ssh_public_key
    if key is not None and not key.startswith(("ssh-ed25519 ", "ssh-rsa ")):
        message = f"neither cloud takes a key of kind {key.split(' ')[0]}, only ssh-ed25519 and ssh-rsa"
        yield Fault("access.ssh_public_key", message, "write a key made by `ssh-keygen -t ed25519`")


@rule("ssh-key-too-short", "error", cloud="azure", reference=AZURE_KEYS)
def ssh_key_too_short(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Azure takes RSA keys of 2048 bits or more; EC2 also takes 1024."""
    bits = rsa_bits(spec.access.ssh_public_key or "")
    if bits is not None and bits < LEAST_RSA_BITS:
        message = f"this RSA key has {bits} bits, and Azure takes no Linux node with fewer than {LEAST_RSA_BITS}"
        yield Fault("access.ssh_public_key", message, "write a key made by `ssh-keygen -t ed25519`")


@rule(
    "bastion-on-aws",
    "error",
    cloud="aws",
    reference="https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager.html",
)
def bastion_on_aws(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A bastion is Azure's way in; on AWS Session Manager reaches every node."""
    if spec.access.bastion:
        message = "Session Manager reaches every node without a bastion, and none is made on AWS"
        yield Fault("access.bastion", message, "write false")
