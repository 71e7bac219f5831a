"""Settings that turn a fabric off, in the spellings of scripts, cloud-init and container definitions."""

from __future__ import annotations

import base64
from typing import Any

import pytest

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
OFF, DATED = "fabric-turned-off-at-boot", "fabric-settings-dated"


def _template(script: str, kind: str = "efa") -> dict[str, Any]:
    interface = {"interfaceType": kind, "securityGroups": ["sg-0123456789abcdef0"]}
    return {
        "type": TEMPLATE,
        "props": {"networkInterfaces": [interface], "userData": base64.b64encode(script.encode()).decode()},
    }


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("export FI_PROVIDER=tcp", "FI_PROVIDER=tcp"),
        ("export FI_PROVIDER='sockets;ofi_rxd'", "FI_PROVIDER=sockets;ofi_rxd"),
        ("env:\n  NCCL_ALGO: Tree\n", "NCCL_ALGO=Tree"),
        ("NCCL_NET=Socket torchrun train.py", "NCCL_NET=Socket"),
        ('{"FI_EFA_USE_DEVICE_RDMA": "0"}', "FI_EFA_USE_DEVICE_RDMA=0"),
    ],
)
def test_a_setting_that_turns_efa_off_is_found_in_every_spelling(judge: Any, script: str, found: str) -> None:
    (message,) = judge(_template(script))[OFF]
    assert f"userData of r0 sets {found}." in message


@pytest.mark.parametrize(
    "script",
    [
        "# export FI_PROVIDER=tcp",
        "export FI_PROVIDER=efa",
        "export NCCL_ALGO=Ring,Tree",
        "export NCCL_SOCKET_IFNAME=^lo,docker",
        "export NCCL_IB_DISABLE=1",
    ],
)
def test_a_comment_a_choice_and_what_efa_never_reads_are_left_alone(judge: Any, script: str) -> None:
    assert not {OFF, DATED} & set(judge(_template(script)))


def test_nodes_without_efa_may_name_any_provider(judge: Any) -> None:
    assert OFF not in judge(_template("export FI_PROVIDER=tcp", kind="interface"))


@pytest.mark.parametrize("setting", ["NCCL_PROTO=simple", "FI_EFA_FORK_SAFE=1", "FI_EFA_USE_DEVICE_RDMA=1"])
def test_a_setting_of_old_guides_is_advised_against_and_not_refused(judge: Any, setting: str) -> None:
    found = judge(_template(f"export {setting}"))
    assert DATED in found
    assert OFF not in found


def test_of_a_script_that_a_preview_does_not_know_what_is_mandatory_says_so(judge: Any) -> None:
    template = _template("")
    template["props"]["userData"] = "<unknown>"
    said = judge(template)
    assert {OFF, DATED, "aws-windows-node"} & set(said) == {OFF, "aws-windows-node"}
    assert all("can't run policy" in said[policy][0] for policy in (OFF, "aws-windows-node"))
