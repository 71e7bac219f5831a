"""Rules about what the lines of a set-up do: to the fabric, to drivers and kernel, and with secrets.

They know what is often copied from recipes, and nothing else: a script may do whatever it says in other words. The
patterns are compiled when there are lines to read, which costs no other stack's check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule

NCCL_ENV = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
EFA_SETTINGS = "https://github.com/awslabs/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md"
IB_DISABLED = "https://github.com/Azure/azureml-examples/issues/675"
KERNELS = "https://github.com/aws/aws-parallelcluster/issues/2095"
HPC_IMAGES = "https://github.com/Azure/azhpc-images"
DLAMI = "https://docs.aws.amazon.com/dlami/latest/devguide/overview-base.html"
SECRETS = {
    "aws": "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html",
    "azure": "https://learn.microsoft.com/azure/virtual-machines/custom-data",
}
_SET = r"\s*=\s*[\"']?"
TURNED_OFF = {
    "efa": (
        (rf"\bFI_PROVIDER{_SET}(tcp|sockets|udp|shm)\b", "libfabric off EFA"),
        (rf"\bNCCL_NET_PLUGIN{_SET}none\b", "NCCL's plugin for EFA off"),
        (rf"\bNCCL_NET{_SET}Socket\b", "NCCL onto TCP sockets"),
    ),
    "infiniband": (
        (rf"\bNCCL_IB_DISABLE{_SET}1\b", "NCCL off InfiniBand, onto TCP sockets"),
        (rf"\bNCCL_NET{_SET}Socket\b", "NCCL onto TCP sockets"),
        (rf"\bNCCL_IB_HCA{_SET}=?mlx5_an0\b", "NCCL onto mlx5_an0, which is the Ethernet side"),
    ),
    "ethernet": (),
}
"""By fabric: the setting, and what it turns."""
NVLINK_OFF = (rf"\bNCCL_P2P_DISABLE{_SET}1\b", "NCCL off NVLink inside of a node")
LEFT_TO_THE_PLUGIN = (
    (rf"\bNCCL_ALGO{_SET}", "NCCL_ALGO overrules the tuner of the plugin for EFA: Tree was seen to hang on it"),
    (rf"\bNCCL_PROTO{_SET}", "NCCL_PROTO overrules what the plugin for EFA knows of the node type"),
    (r"\b(FI_EFA|RDMAV)_FORK_SAFE\b", "fork safety needs no setting on kernel 5.15 and later"),
    (r"\bFI_EFA_USE_DEVICE_RDMA\b", "libfabric 1.18 and later decides on RDMA by itself"),
)
_INSTALL = r"\b(apt|apt-get|dnf|yum)\b[^;&|]*\binstall\b[^;&|]*"
DRIVERS = (
    rf"{_INSTALL}\s(nvidia-(driver|dkms|headless|open|fabricmanager)\S*|cuda-drivers\S*|cuda(?=\s|$)|amdgpu-dkms)",
    rf"{_INSTALL}\s(doca-(ofed|all)|mlnx-ofed\S*)",
    r"\bubuntu-drivers\s+(auto)?install\b",
    r"\bNVIDIA-Linux-\S+\.run\b",
    r"\bmlnxofedinstall\b",
    r"\befa_installer\.sh\b",
)
UPGRADES = (
    r"\b(apt|apt-get)\b[^;&|]*\s(upgrade|dist-upgrade|full-upgrade)\b",
    r"\b(dnf|yum)\s+(-\S+\s+)*(update|upgrade)(\s+-\S+)*\s*($|[;&|])",
    r"\bdo-release-upgrade\b",
    r"\b(install|enable|start|restart)\b[^;&|]*\sunattended-upgrades\b",
    r"(^|[;&|])\s*(sudo\s+)?unattended-upgrades?(\s|$)",
    rf"{_INSTALL}\slinux-(image|generic|aws|azure)\b",
)
NOT_UPGRADES = r"\b(disable|stop|mask|remove|purge)\b"
_NO_SECRET = r"[$`<(/.~{\[%]|arn:|https?:|s3:"
"""A variable, a place holder, a path, or where the secret is."""
SECRET = (
    (r"\b(AKIA|ASIA)[A-Z2-7]{16}\b", "an AWS access key"),
    (r"\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50})", "a token of GitHub"),
    (r"\bhf_[A-Za-z0-9]{30}", "a token of Hugging Face"),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----", "a private key"),
    (r"[?&]sig=[A-Za-z0-9%/+=]{20}", "a shared access signature"),
    (r"\bAccountKey=[A-Za-z0-9+/]{60}", "the key of a storage account"),
    (r"://[^/\s:@$]+:[^/\s@$]{3,}@", "a password in an address"),
    (r"\bBearer [A-Za-z0-9._-]{20}", "a token of an API"),
    (
        rf"(?i)\b\w*(PASSWORD|TOKEN|SECRET|API_KEY|ACCESS_KEY)=[\"']?(?!{_NO_SECRET})[^\s\"'$]{{12}}",
        "what looks like a secret",
    ),
)


def _lines(spec: AnySpec, facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Each line that is no comment: its path, what a message begins with, and the line."""
    of_file = isinstance(spec.nodes.setup, str)
    for index, line in enumerate(facts.setup.lines):
        if not line.lstrip().startswith("#"):
            path = "nodes.setup" if of_file else f"nodes.setup.{index}"
            yield path, f"line {index + 1} of the file: " if of_file else "", line


@rule("fabric-off-in-setup", "warning", reference={"aws": NCCL_ENV, "azure": IB_DISABLED})
def fabric_off_in_setup(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The set-up does not turn off the fabric that the nodes are paid for."""
    known = (*TURNED_OFF[facts.fabric.kind], NVLINK_OFF) if facts.node and facts.node.gpus > 1 else ()
    for path, where, line in _lines(spec, facts):
        for pattern, what in known:
            if found := re.search(pattern, line):
                name = found[0].partition("=")[0].strip()
                message = f"{where}{name} turns {what}, and collectives become many times slower"
                yield Fault(path, message, f"leave {name} out: the cluster's launcher_env has what this fabric needs")
                break


@rule("fabric-tuned-in-setup", "warning", cloud="aws", reference=EFA_SETTINGS)
def fabric_tuned_in_setup(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """What the plugin for EFA sets by node type is left to it."""
    if facts.fabric.kind != "efa":
        return
    for path, where, line in _lines(spec, facts):
        if why := next((why for pattern, why in LEFT_TO_THE_PLUGIN if re.search(pattern, line)), None):
            yield Fault(path, f"{where}{why}", "leave it out: launcher_env has all that EFA needs to be told")


@rule("driver-replaced-in-setup", "warning", reference={"aws": DLAMI, "azure": HPC_IMAGES})
def driver_replaced_in_setup(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The drivers of an image that is made for GPUs and fabric stay as they are."""
    image = facts.image.asked if facts.image is not None else ""
    if not re.search(r"nvidia-driver|/neuron/|:ubuntu-hpc:|^azure-hpc:|^almalinux:", image):
        return  # an image of one's own may have none
    for path, where, line in _lines(spec, facts):
        if any(re.search(pattern, line) for pattern in DRIVERS):
            message = (
                f"{where}the image has drivers for GPUs and fabric that were tested together, and this puts others in "
                "their place under a running kernel"
            )
            yield Fault(path, message, "leave it out, or take another image: drivers belong into the image")


@rule("upgrade-in-setup", "warning", reference=KERNELS)
def upgrade_in_setup(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The set-up upgrades neither kernel nor drivers, which match each other in the image."""
    for path, where, line in _lines(spec, facts):
        if re.search(NOT_UPGRADES, line):
            continue
        if any(re.search(pattern, line) for pattern in UPGRADES):
            message = (
                f"{where}an upgrade parts kernel, GPU driver and Lustre client, and gives nodes that are made later "
                "other versions"
            )
            yield Fault(path, message, "install single packages, and take a newer image for all others")


@rule("secret-in-setup", "warning", reference=SECRETS)
def secret_in_setup(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """No secret is in the set-up: it is user data, which everybody on the nodes and at the cloud's API reads."""
    for path, where, line in _lines(spec, facts):
        if what := next((what for pattern, what in SECRET if re.search(pattern, line)), None):
            message = (
                f"{where}this holds {what}: the set-up is kept in the stack file, in Pulumi's state and in the nodes' "
                "user data, where every program on them reads it"
            )
            store = "Secrets Manager or the bucket, as the nodes' role" if spec.cloud == "aws" else "a Key Vault"
            yield Fault(path, message, f"withdraw it, and fetch another at first boot from {store}")
