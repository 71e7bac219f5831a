"""What a node does at first boot: the user data, and its scripts run with every system command replaced by a recorder.

The recorders answer from a table and write down how they were called, so that the tests see what a script would do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.bootstrap import user_data
from components.bootstrap.objects import Container, blobfuse_files
from tests.clusters import planned

SCRIPTS = ("hold-kernel.sh", "lustre.sh", "objects.sh", "scratch.sh")
SOURCE = "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com@tcp:/mount123"
LIMIT = 12 * 1024
"""EC2 takes 16 KiB; what is left is for the lines of the spec's own set-up."""


def document(plan: Any, source: str | None = SOURCE) -> dict[str, Any]:
    return yaml.safe_load(user_data(plan, source))


def contents(plan: Any, source: str | None = SOURCE) -> dict[str, str]:
    return {f["path"]: f["content"] for f in document(plan, source)["write_files"]}


@pytest.mark.parametrize("stack", ["aws-p5", "azure-nd-h100"])
def test_user_data_is_cloud_config_with_room_for_the_users_own_lines(stack: str) -> None:
    text = user_data(planned(stack), SOURCE)
    assert text.startswith("#cloud-config\n")
    assert len(text.encode()) < LIMIT


def test_every_file_that_is_run_is_written_and_executable(cloud: str) -> None:
    made = document(planned(cloud, {"nodes.setup": ["echo hello"]}))
    modes = {f["path"]: f["permissions"] for f in made["write_files"]}
    unit = contents(planned(cloud))["/etc/systemd/system/gpu-clusters.service"]
    steps = [line.removeprefix("ExecStart=") for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert steps == ["/usr/local/sbin/gpu-clusters-scratch", "/usr/local/sbin/gpu-clusters-lustre"]
    own = [command for command in made["runcmd"] if command.startswith("/")]
    assert own == ["/usr/local/sbin/gpu-clusters-hold-kernel", "/usr/local/sbin/gpu-clusters-setup"]
    assert all(modes[path] == "0755" for path in [*steps, *own])


def test_the_launcher_environment_is_what_the_cluster_exports(cloud: str) -> None:
    plan = planned(cloud)
    script = contents(plan)["/etc/gpu-clusters/launcher.env"] + "\nenv -0"
    printed = subprocess.run(
        ["bash", "-c", "set -a\n" + script],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout
    found = dict(entry.split("=", 1) for entry in printed.split("\0") if entry)
    assert dict(plan.launcher_env).items() <= found.items()


def test_the_users_lines_run_last_in_order_and_stop_at_the_first_failure() -> None:
    plan = planned("aws", {"nodes.setup": ["false", "touch /tmp/never"]})
    assert document(plan)["runcmd"][-1] == "/usr/local/sbin/gpu-clusters-setup"
    script = contents(plan)["/usr/local/sbin/gpu-clusters-setup"]
    assert script.splitlines() == ["#!/usr/bin/env bash", "set -euo pipefail", "false", "touch /tmp/never"]


def test_a_node_without_filesystem_or_disks_gets_no_service_for_them() -> None:
    written = contents(planned("aws", {"storage.filesystem": ...}), None)
    assert not [path for path in written if "lustre" in path]
    assert "LUSTRE" not in written["/etc/gpu-clusters/boot.env"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_pass_shellcheck(script: str) -> None:
    text = files("components.bootstrap").joinpath(script).read_text()
    tool = Path(sys.executable).parent / "shellcheck"
    found = subprocess.run([tool, "--norc", "-"], input=text, capture_output=True, text=True)
    assert found.stdout == ""
    assert found.returncode == 0


COMMANDS = (
    *(
        "apt-cache",
        "apt-get",
        "apt-mark",
        "blkid",
        "chmod",
        "curl",
        "dpkg-query",
        "gpg",
        "lnetctl",
        "lsblk",
        "lustre_rmmod",
        "mdadm",
    ),
    *("mkdir", "mkfs.ext4", "modinfo", "modprobe", "mount", "mountpoint", "python3", "sleep", "systemctl", "udevadm"),
    *("lfs", "uname"),
)
RECORDER = """#!/bin/bash
echo "${0##*/} $*" >>"$RECORD/calls"
reply="$RECORD/${0##*/}"
[ -f "$reply" ] || exit 0
. "$reply"
"""


class Node:
    """A machine on which nothing happens: commands are recorders, and `answer` says what one of them replies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        for command in COMMANDS:
            tool = folder / "bin" / command
            tool.write_text(RECORDER)
            tool.chmod(0o755)
        self.answer("mountpoint", "exit 1")
        self.answer("uname", "echo 6.8.0-1024-aws")

    def answer(self, command: str, shell: str) -> None:
        (self.folder / command).write_text(shell + "\n")

    def run(self, script: str, env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
        boot = self.folder / "boot.env"
        boot.write_text("".join(f"{key}={value}\n" for key, value in env.items()))
        text = files("components.bootstrap").joinpath(script).read_text()
        text = text.replace("/etc/gpu-clusters/boot.env", str(boot))
        text = text.replace("/etc/gpu-clusters/objects-", str(self.folder / "objects-"))
        (self.folder / "os-release").write_text("VERSION_CODENAME=jammy\nVERSION_ID=22.04\n")
        text = text.replace("/etc/os-release", str(self.folder / "os-release"))
        text = text.replace("/etc/apt/sources.list.d", str(self.folder)).replace("/opt/gpu-clusters", str(self.folder))
        path = f"{self.folder / 'bin'}:/usr/bin:/bin"
        return subprocess.run(
            ["bash", "-c", text, script, *words],
            capture_output=True,
            text=True,
            env={"PATH": path, "RECORD": str(self.folder)},
        )

    @property
    def calls(self) -> list[str]:
        record = self.folder / "calls"
        return record.read_text().splitlines() if record.exists() else []

    def called(self, command: str) -> list[str]:
        return [call for call in self.calls if call.split(" ")[0] == command]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def disks(node: Node, count: int, *, mounted: str = "", above: str = "") -> dict[str, str]:
    """A root disk and so many local ones; `above` is an array on them, `mounted` where that is mounted."""
    model = "Amazon EC2 NVMe Instance Storage"
    local = "".join(f"/dev/nvme{n}n1 {model}\n" for n in range(1, count + 1))
    types = f"/dev/nvme1n1 disk\n{above} lvm\n" if above else "/dev/nvme1n1 disk\n"
    node.answer(
        "lsblk",
        f"""case "$*" in
*MODEL*) printf '%s' '/dev/nvme0n1 Amazon Elastic Block Store\n{local}' ;;
*MOUNTPOINT*) printf '\n%s\n' '{mounted}' ;;
*TYPE*) printf '%s' '{types}' ;;
esac""",
    )
    return {"LOCAL_DISKS": str(count)}


def test_raw_disks_become_one_raid_0_with_a_filesystem(node: Node) -> None:
    env = disks(node, 8)
    node.answer("blkid", "exit 2")
    node.answer("mdadm", 'case "$1" in --assemble) exit 1 ;; esac')
    assert node.run("scratch.sh", env).returncode == 0
    names = " ".join(f"/dev/nvme{n}n1" for n in range(1, 9))
    assert node.called("mdadm")[-1] == f"mdadm --create /dev/md/scratch --run --level=0 --raid-devices=8 {names}"
    assert node.called("mkfs.ext4")[0].endswith("/dev/md/scratch")
    assert node.called("mount") == ["mount -o noatime /dev/md/scratch /scratch"]


def test_an_array_that_the_image_mounted_is_used_and_left_as_it_is(node: Node) -> None:
    env = disks(node, 8, mounted="/opt/dlami/nvme", above="/dev/mapper/vg.01-lv_ephemeral")
    assert node.run("scratch.sh", env).returncode == 0
    assert node.called("mount") == ["mount --bind /opt/dlami/nvme /scratch"]
    assert not node.called("mdadm") + node.called("mkfs.ext4")


def test_an_array_that_stands_already_is_mounted_and_not_made_anew(node: Node) -> None:
    env = disks(node, 8, above="/dev/md127")
    assert node.run("scratch.sh", env).returncode == 0
    assert node.called("mount") == ["mount -o noatime /dev/md127 /scratch"]
    assert not node.called("mdadm") + node.called("mkfs.ext4")


def test_a_single_disk_needs_no_array(node: Node) -> None:
    env = disks(node, 1)
    node.answer("blkid", "exit 2")
    assert node.run("scratch.sh", env).returncode == 0
    assert node.called("mount") == ["mount -o noatime /dev/nvme1n1 /scratch"]
    assert not node.called("mdadm")


def test_missing_disks_are_said_and_do_not_stop_the_boot(node: Node) -> None:
    env = disks(node, 0) | {"LOCAL_DISKS": "8"}
    ran = node.run("scratch.sh", env)
    assert ran.returncode == 0
    assert "0 NVMe disks found, 8 expected" in ran.stderr
    assert not node.called("mount")


LUSTRE = {
    "CLOUD": "aws",
    "LUSTRE_SOURCE": SOURCE,
    "LUSTRE_MOUNT": "/lustre",
    "LUSTRE_OPTIONS": "noatime,flock",
    "LUSTRE_EFA": "false",
}


def test_lustre_is_mounted_and_tried_again_while_the_servers_lag_behind(node: Node) -> None:
    node.answer("mount", '[ "$(grep -c "^mount " "$RECORD/calls")" -ge 3 ]')
    assert node.run("lustre.sh", LUSTRE).returncode == 0
    assert node.called("mount") == [f"mount -t lustre -o noatime,flock {SOURCE} /lustre"] * 3
    assert not node.called("curl") + node.called("lustre_rmmod")


def test_a_filesystem_that_never_answers_fails_the_service(node: Node) -> None:
    node.answer("mount", "exit 1")
    assert node.run("lustre.sh", LUSTRE).returncode != 0
    assert len(node.called("mount")) == 20


def test_a_mounted_filesystem_is_left_alone(node: Node) -> None:
    node.answer("mountpoint", "exit 0")
    assert node.run("lustre.sh", LUSTRE).returncode == 0
    assert node.called("mount") == []


EFA_TOOLS = """folder="$RECORD/efa-lustre/configure-efa-fsx-lustre-client"
/bin/mkdir -p "$folder"
printf '#!/bin/bash\\necho setup.sh >>"$RECORD/calls"\\ntouch "$RECORD/efa-up"\\n' >"$folder/setup.sh"
/bin/chmod +x "$folder/setup.sh"
"""


# The counters of the networks, before the mount and once the storage servers are asked. TCP sends whatever happens.
LNET = """{{
  sent={before}
  if grep -q "^lfs df" "$RECORD/calls"; then sent={after}; fi
  printf -- '    - net type: tcp\n      - status: up\n        send_count: 900\n    - net type: efa\n'
  for _ in 1 2 3 4 5 6 7 8; do printf -- '      - status: up\n          send_count: %s\n' $sent; done
}}"""


def test_over_efa_the_modules_are_unloaded_before_the_client_is_set_up(node: Node) -> None:
    """Loaded ones keep their settings, and most EFA devices would stay unused."""
    node.answer("python3", EFA_TOOLS)
    node.answer("lnetctl", f'[ ! -f "$RECORD/efa-up" ] || {LNET.format(before=0, after=64)}')
    ran = node.run("lustre.sh", LUSTRE | {"LUSTRE_EFA": "true"})
    assert ran.returncode == 0
    assert ran.stderr == "gpu-clusters: Lustre is mounted over EFA, on 8 interfaces\n"
    order = [call.split(" ")[0] for call in node.calls]
    assert order.index("lustre_rmmod") < order.index("setup.sh") < order.index("modprobe") < order.index("mount")


def test_an_efa_client_that_is_up_already_is_not_set_up_again(node: Node) -> None:
    node.answer("lnetctl", LNET.format(before=10, after=64))
    assert node.run("lustre.sh", LUSTRE | {"LUSTRE_EFA": "true"}).returncode == 0
    assert not node.called("curl") + node.called("lustre_rmmod")


def test_an_efa_network_over_which_nothing_goes_is_said_to_be_a_fallback(node: Node) -> None:
    """Counters that stood before the mount, and those of TCP, prove nothing."""
    node.answer("lnetctl", LNET.format(before=10, after=10))
    ran = node.run("lustre.sh", LUSTRE | {"LUSTRE_EFA": "true"})
    assert ran.returncode == 0
    assert len(node.called("mount")) == 1
    assert "mounted over TCP, not over EFA: of 8 EFA interfaces none sends anything" in ran.stderr


def test_without_efa_no_storage_server_is_asked(node: Node) -> None:
    assert node.run("lustre.sh", LUSTRE).returncode == 0
    assert not node.called("lfs")


def test_a_failed_efa_set_up_mounts_over_tcp_and_says_so(node: Node) -> None:
    node.answer("curl", "exit 22")
    ran = node.run("lustre.sh", LUSTRE | {"LUSTRE_EFA": "true"})
    assert ran.returncode == 0
    assert len(node.called("mount")) == 1
    assert "EFA client of Lustre is not set up" in ran.stderr
    assert "mounted over TCP, not over EFA" in ran.stderr


def test_a_missing_client_is_installed_for_the_running_kernel_on_aws(node: Node) -> None:
    node.answer("modinfo", "exit 1")
    assert node.run("lustre.sh", LUSTRE).returncode == 0
    assert node.called("apt-get")[-1].endswith("install -y lustre-client-modules-6.8.0-1024-aws")
    listed = (node.folder / "fsx-lustre.list").read_text()
    assert listed.endswith("https://fsx-lustre-client-repo.s3.amazonaws.com/ubuntu jammy main\n")


def test_an_azure_image_without_the_client_fails_with_the_kernels_name(node: Node) -> None:
    node.answer("modinfo", "exit 1")
    ran = node.run("lustre.sh", LUSTRE | {"CLOUD": "azure"})
    assert ran.returncode != 0
    assert "no Lustre client for kernel 6.8.0-1024-aws" in ran.stderr
    assert not node.called("apt-get")


@pytest.fixture
def container_node(node: Node) -> Node:
    """With the two configurations. blobfuse2 comes with its package."""
    container = Container(account="llamadata", name="data", client_id="client")
    for path, content in blobfuse_files(container, with_disks=True).items():
        (node.folder / Path(path).name).write_text(content)
    node.answer("apt-get", 'case "$*" in *blobfuse2*) /bin/cp "$RECORD/bin/curl" "$RECORD/bin/blobfuse2" ;; esac')
    node.answer("blobfuse2", 'case "$1" in --version) echo blobfuse2 version 2.5.1 ;; esac')
    return node


def test_a_container_is_mounted_when_asked_for_and_blobfuse_comes_then(container_node: Node) -> None:
    node = container_node
    assert node.run("objects.sh", {}, "files").returncode == 0
    assert node.called("apt-get")[-1].endswith("install -y fuse3 blobfuse2")
    assert not node.called("curl"), "the image knows Microsoft's packages"
    config = node.folder / "objects-files.yaml"
    assert node.called("blobfuse2")[-1] == f"blobfuse2 mount /mnt/objects/files --config-file={config}"
    assert "mkdir -p /scratch/objects" in node.calls
    assert node.run("objects.sh", {}, "checkpoints").returncode == 0
    assert node.called("blobfuse2")[-1].startswith("blobfuse2 mount /mnt/objects/checkpoints ")
    assert len([call for call in node.called("apt-get") if "install" in call]) == 1


def test_microsofts_packages_are_added_where_the_image_does_not_know_them(container_node: Node) -> None:
    container_node.answer("apt-cache", "exit 100")
    assert container_node.run("objects.sh", {}, "files").returncode == 0
    listed = (container_node.folder / "gpu-clusters-microsoft.list").read_text()
    assert listed.endswith("] https://packages.microsoft.com/ubuntu/22.04/prod jammy main\n")


def test_a_mounted_container_is_left_alone(container_node: Node) -> None:
    container_node.answer("mountpoint", "exit 0")
    assert container_node.run("objects.sh", {}, "files").returncode == 0
    assert not container_node.called("apt-get") + container_node.called("blobfuse2")


@pytest.mark.parametrize("version", ["2.2.0", "2.3.0", "2.5.0"])
def test_a_blobfuse_that_spoils_data_or_runs_out_of_memory_mounts_nothing(version: str, container_node: Node) -> None:
    container_node.answer("blobfuse2", f"echo blobfuse2 version {version}")
    ran = container_node.run("objects.sh", {}, "checkpoints")
    assert ran.returncode != 0
    assert f"blobfuse2 {version} is too old" in ran.stderr
    assert container_node.called("blobfuse2") == ["blobfuse2 --version"]


@pytest.mark.parametrize("words", [(), ("lustre",)])
def test_another_mount_than_the_two_is_refused_with_their_names(words: tuple[str, ...], container_node: Node) -> None:
    ran = container_node.run("objects.sh", {}, *words)
    assert ran.returncode == 2
    assert "gpu-clusters-objects checkpoints|files" in ran.stderr
    assert not container_node.calls


def test_nothing_is_mounted_of_the_objects_at_boot() -> None:
    container = Container(account="llamadata", name="data", client_id="client")
    made = yaml.safe_load(user_data(planned("azure"), SOURCE, container))
    written = {f["path"]: f for f in made["write_files"]}
    assert written["/usr/local/sbin/gpu-clusters-objects"]["permissions"] == "0755"
    assert not [command for command in made["runcmd"] if "objects" in command]
    assert "objects" not in written["/etc/systemd/system/gpu-clusters.service"]["content"]
    assert not [path for path in contents(planned("aws")) if "objects" in path], "S3 has no such mount"


def test_installed_kernels_are_held_and_nothing_upgrades_by_itself(node: Node) -> None:
    node.answer(
        "dpkg-query", "printf 'ii  linux-image-6.8\\nun  linux-image-generic\\nhi  linux-headers-6.8\\n'; exit 1"
    )
    assert node.run("hold-kernel.sh", {}).returncode == 0
    assert node.called("apt-mark") == ["apt-mark hold linux-image-6.8 linux-headers-6.8"]
    assert [call.split(" ")[-1] for call in node.called("systemctl")] == [
        "unattended-upgrades.service",
        "apt-daily.timer",
        "apt-daily-upgrade.timer",
    ]
