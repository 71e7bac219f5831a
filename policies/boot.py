"""Nothing that nodes are told at first boot, and no container definition, turns the fabric off.

A script usually holds the address of a filesystem, which a preview does not know. Then the preview says that what is
mandatory could not be judged, and `up` judges it before the machine is made. Windows scripts: `policies.linux`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, resource_policy
from policies.launches import efa_interfaces
from policies.machines import has_infiniband

_SCRIPTS = {
    kinds.BATCH_JOB: ("containerProperties", "nodeProperties", "ecsProperties"),
    kinds.ECS_TASK: ("containerDefinitions",),
    kinds.LAUNCH_TEMPLATE: ("userData",),
    kinds.SCALE_SET: ("virtualMachineProfile.osProfile.customData", "virtualMachineProfile.userData"),
    kinds.VM: ("osProfile.customData", "userData"),
}
_EFA_DEVICE = "/dev/infiniband"
"""How a container says that it uses EFA: it is given the device of the node."""
_OFF = {
    "FI_PROVIDER": r"(tcp|sockets|udp)\b.*",
    "FI_EFA_USE_DEVICE_RDMA": r"0|false|no",
    "NCCL_NET": r"socket",
    "NCCL_NET_PLUGIN": r"none",
    "NCCL_ALGO": r"tree",
}
"""On EFA: what takes NCCL off the device, and the one algorithm that hangs on it."""
_OFF_INFINIBAND = {"NCCL_IB_DISABLE": r"1|true|yes", "NCCL_NET": r"socket"}
_DATED = ("NCCL_PROTO", "FI_EFA_FORK_SAFE", "RDMAV_FORK_SAFE", "FI_EFA_USE_DEVICE_RDMA")
_CHEATSHEET = "https://github.com/aws-samples/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md"

_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_ASSIGNED = re.compile(r"""\b((?:NCCL|FI|RDMAV)_[A-Z_]+)\b["']?\s*[:=]\s*["']?([\w.,;:^-]+)""")
_NAMED = re.compile(
    r'"name"\s*:\s*"([A-Z_]+)"\s*,\s*"value"\s*:\s*"([^"]*)"|"value"\s*:\s*"([^"]*)"\s*,\s*"name"\s*:\s*"([A-Z_]+)"'
)


@resource_policy(
    "fabric-turned-off-at-boot",
    *_SCRIPTS,
    area="fabric",
    description="First-boot scripts and containers of fabric nodes leave EFA and InfiniBand on.",
    why="One setting, often copied from a machine without a fabric, sends all collective operations over TCP, or makes "
    "them hang, and nothing says so.",
    fix="Take the setting out: NCCL finds the fabric by itself.",
    reference=_CHEATSHEET,
)
def fabric_turned_off_at_boot(resource: Resource) -> Iterator[Fault]:
    off = _what_turns_off(resource)
    for path, name, value in settings(resource, resource.get) if off else ():
        if name in off and re.fullmatch(off[name], value, re.IGNORECASE):
            yield resource.fault(path, f"sets {name}={value}")


@resource_policy(
    "fabric-settings-dated",
    kinds.BATCH_JOB,
    kinds.ECS_TASK,
    kinds.LAUNCH_TEMPLATE,
    area="fabric",
    description="First-boot scripts and containers of EFA nodes leave the choice of protocol to the NCCL plugin.",
    why="These settings mended old versions of libfabric and of the plugin; current ones choose better by themselves.",
    fix="Take the setting out, with libfabric 1.18 and aws-ofi-nccl 1.7 or later.",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    reference=_CHEATSHEET,
)
def fabric_settings_dated(resource: Resource) -> Iterator[Fault]:
    off = _what_turns_off(resource)
    for path, name, value in settings(resource, resource.peek) if off else ():
        if name in _DATED and not (name in off and re.fullmatch(off[name], value, re.IGNORECASE)):
            yield resource.fault(path, f"sets {name}={value}")


def _what_turns_off(resource: Resource) -> dict[str, str]:
    """The settings that do harm there: none where the nodes have no fabric."""
    if resource.type == kinds.LAUNCH_TEMPLATE:
        return _OFF if efa_interfaces(resource) else {}
    if resource.type in (kinds.BATCH_JOB, kinds.ECS_TASK):
        texts = [resource.peek(path) for path in _SCRIPTS[resource.type]]
        return _OFF if any(isinstance(text, str) and _EFA_DEVICE in text for text in texts) else {}
    size = resource.get("sku.name" if resource.type == kinds.SCALE_SET else "hardwareProfile.vmSize")
    return _OFF_INFINIBAND if has_infiniband(size) else {}


def settings(resource: Resource, read: Callable[[str], Any]) -> Iterator[tuple[str, str, str]]:
    """Environment variables of the fabric that a resource sets: path, name, value."""
    for path in _SCRIPTS[resource.type]:
        text = read(path)
        if isinstance(text, str):
            plain = _COMMENT.sub("", decoded(text))
            found = [(m[1], m[2]) for m in _ASSIGNED.finditer(plain)]
            found += [(m[1] or m[4], m[2] or m[3] or "") for m in _NAMED.finditer(plain)]
            yield from ((path, name, value.strip()) for name, value in dict.fromkeys(found))


def decoded(text: str) -> str:
    """A script as it was written, whether it travels in base64 or plain."""
    try:
        return base64.b64decode(text, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return text
