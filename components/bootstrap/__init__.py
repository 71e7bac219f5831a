"""What a node does at first boot, as cloud-init user data: scratch, Lustre, launcher environment, held kernel, and on
Azure the means to mount the object store.

The shell scripts are the files beside this module. What differs between clusters reaches them by
/etc/gpu-clusters/boot.env, so that the scripts themselves are the same everywhere.
"""

from __future__ import annotations

import base64
import shlex
from importlib.resources import files

import pulumi
import yaml

from components.bootstrap.lustre import MOUNT_OPTIONS
from components.bootstrap.objects import Container, blobfuse_files
from planning.plan import Plan

BIN = "/usr/local/sbin"
ETC = "/etc/gpu-clusters"
UNIT = """\
[Unit]
Description=GPU cluster: scratch and Lustre
After=network-online.target dlami-nvme.service nvme-raid.service configure-efa-fsx-lustre-client.service
Wants=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
{steps}

[Install]
WantedBy=multi-user.target
"""


def first_boot(
    plan: Plan, lustre_source: pulumi.Input[str] | None, container: pulumi.Output[Container] | None = None
) -> pulumi.Output[str]:
    """User data of a node, in base64. `lustre_source` is what `mount -t lustre` mounts, an output of the filesystem;
    `container` what the node may mount of the object store.
    """
    return pulumi.Output.all(lustre_source, container).apply(
        lambda known: base64.b64encode(user_data(plan, *known).encode()).decode()
    )


def user_data(plan: Plan, lustre_source: str | None, container: Container | None = None) -> str:
    """A cloud-config document."""
    with_lustre = plan.filesystem is not None and lustre_source is not None
    steps = [f"{BIN}/gpu-clusters-scratch"] if plan.nodes.local_disks else []
    steps += [f"{BIN}/gpu-clusters-lustre"] if with_lustre else []
    written = [
        _file(f"{ETC}/node.json", plan.nodes.card + "\n"),
        _file(f"{ETC}/launcher.env", _env(dict(plan.launcher_env))),
        _file(f"{ETC}/boot.env", _env(_boot_env(plan, lustre_source))),
        _file("/etc/profile.d/gpu-clusters.sh", f"set -a\n. {ETC}/launcher.env\nset +a\n"),
        _file(f"{BIN}/gpu-clusters-hold-kernel", _script("hold-kernel.sh"), "0755"),
    ]
    commands = [f"{BIN}/gpu-clusters-hold-kernel"]
    if plan.nodes.local_disks:
        written.append(_file(f"{BIN}/gpu-clusters-scratch", _script("scratch.sh"), "0755"))
    if container is not None:
        files_of_mount = blobfuse_files(container, with_disks=bool(plan.nodes.local_disks))
        written += [_file(path, content) for path, content in files_of_mount.items()]
        written.append(_file(f"{BIN}/gpu-clusters-objects", _script("objects.sh"), "0755"))
    if with_lustre:
        written.append(_file(f"{BIN}/gpu-clusters-lustre", _script("lustre.sh"), "0755"))
    if steps:
        unit = UNIT.format(steps="\n".join(f"ExecStart={step}" for step in steps))
        written.append(_file("/etc/systemd/system/gpu-clusters.service", unit))
        commands += ["systemctl daemon-reload", "systemctl enable --now gpu-clusters.service"]
    if plan.nodes.setup:
        lines = "\n".join(["#!/usr/bin/env bash", "set -euo pipefail", *plan.nodes.setup, ""])
        written.append(_file(f"{BIN}/gpu-clusters-setup", lines, "0755"))
        commands.append(f"{BIN}/gpu-clusters-setup")
    document = {"package_update": False, "write_files": written, "runcmd": commands}
    return "#cloud-config\n" + yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=1000, allow_unicode=True)


def _boot_env(plan: Plan, lustre_source: str | None) -> dict[str, str]:
    env = {"CLOUD": plan.cloud, "LOCAL_DISKS": str(plan.nodes.local_disks)}
    if plan.filesystem is not None and lustre_source is not None:
        env |= {
            "LUSTRE_SOURCE": lustre_source,
            "LUSTRE_MOUNT": plan.filesystem.mount,
            "LUSTRE_OPTIONS": MOUNT_OPTIONS,
            "LUSTRE_EFA": str(plan.filesystem.efa).lower(),
        }
    return env


def _env(variables: dict[str, str]) -> str:
    return "".join(f"{key}={shlex.quote(value)}\n" for key, value in variables.items())


def _script(name: str) -> str:
    return files("components.bootstrap").joinpath(name).read_text(encoding="utf-8")


def _file(path: str, content: str, permissions: str = "0644") -> dict[str, str]:
    return {"path": path, "permissions": permissions, "content": content}


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, so that a person can read user data."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
