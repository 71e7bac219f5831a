"""Programs not of our making, as people write them for EFA and InfiniBand with the plain SDKs, on the local cloud.

Each folder in programs/ is a small Pulumi project: its stack `dev` is right unless the tables say otherwise, and each
of its other stacks holds one mistake. Rules one by one: tests/localcloud. Our own stacks: `test_stacks`.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).with_name("programs")
NAMES = sorted(path.parent.name for path in PROGRAMS.glob("*/Pulumi.yaml"))
ROOT = PROGRAMS.parent.parent.parent


@dataclass(frozen=True)
class Refused:
    """What the cloud answers: its code, and the property that it is about."""

    code: str
    at: str
    after: str = ""
    """A stack of the same program that is up before."""
    kept: str = ""
    """Type of what is there all the same, so that the next `up` goes on from it."""


GROUP = "aws:autoscaling/group:Group"
REFUSED = {
    ("adls-private", "named"): Refused("does not match expression '^[a-z0-9]+$'", "accountName"),
    ("adls-private", "versions"): Refused("FeatureNotSupportedForAccount", "isVersioningEnabled"),
    ("bastion-vm", "overlap"): Refused("NetcfgSubnetRangesOverlap", "AzureBastionSubnet"),
    ("efa-pair", "one-card-more"): Refused("InvalidParameterValue", "networkInterfaces[33].networkCardIndex"),
    ("efa-pair", "third-device"): Refused("InvalidParameterValue", "networkInterfaces[1].deviceIndex"),
    ("fsx-efa", "open-egress"): Refused("InvalidNetworkSettings", "securityGroupIds"),
    ("fsx-efa", "too-small"): Refused("BadRequest", "storageCapacity"),
    ("fsx-scratch", "odd-size"): Refused("BadRequest", "storageCapacity"),
    ("fsx-scratch", "version-left-out"): Refused("BadRequest", "fileSystemId"),
    ("listed-interfaces", "groups-twice"): Refused("InvalidQueryParameter", "vpcSecurityGroupIds"),
    ("listed-interfaces", "typo"): Refused("did you mean 'deviceIndex'?", "networkInterfaces[1].deviceIndx"),
    ("listed-interfaces", "word"): Refused("should be an integer", "networkInterfaces[1].networkCardIndex"),
    ("managed-lustre", "between-steps"): Refused("InvalidParameter", "storageCapacityTiB"),
    ("managed-lustre", "narrow"): Refused("InvalidParameter", "filesystemSubnet"),
    ("nd-spot", "deallocate"): Refused("OperationNotAllowed", "virtualMachineProfile.evictionPolicy"),
    ("nd-uniform", "above-the-limit"): Refused("OperationNotAllowed", "sku.capacity"),
    ("p4d-group", "too-many"): Refused("There are not enough free addresses in subnet", "subnet-010ca1", kept=GROUP),
    ("p4d-group", "two-zones"): Refused("InvalidParameterCombination", "vpcZoneIdentifiers"),
    ("reserved-group", "apart"): Refused("InsufficientInstanceCapacity", "is in no placement group", kept=GROUP),
    ("reserved-group", "zone-id"): Refused("InvalidParameterValue", "availability zone 'use2-az2'"),
    ("reserved-nc", "one-placement-group"): Refused("InvalidParameter", "virtualMachineProfile.capacityReservation"),
    ("shared-bucket", "prod"): Refused("BucketAlready", "llm-checkpoints", after="dev"),
}

WITHOUT_MODEL = {
    "bastion-vm": {"azure-native:compute:VirtualMachine", "azure-native:network:NetworkInterface"},
    "eks-nodes": {"aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"},
}
"""Types of which the local cloud knows the shape only, and says so."""

LEFT = {"capacity-block": {"aws:ec2/capacityBlockReservation:CapacityBlockReservation"}}
"""What a destroy leaves on the cloud: what is paid until its end is only forgotten."""

SHAPE_ONLY = re.compile(r"the local cloud knows the shape of (\S+) but not its behaviour")


@pytest.mark.parametrize("program", NAMES)
def test_a_right_program_comes_up_stays_as_it_is_and_goes(workspace: Callable[..., Any], program: str) -> None:
    cloud = workspace(PROGRAMS / program)
    log = cloud.up("dev").stdout
    assert set(SHAPE_ONLY.findall(log)) == WITHOUT_MODEL.get(program, set())
    cloud.pulumi("preview", "--stack", "dev", "--expect-no-changes")
    cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert {record.type for record in cloud.exists()} == LEFT.get(program, set())


@pytest.mark.parametrize(("program", "stack"), [pytest.param(*row, id="-".join(row)) for row in REFUSED])
def test_a_wrong_program_is_refused_in_the_words_of_the_cloud(
    workspace: Callable[..., Any], program: str, stack: str
) -> None:
    expected = REFUSED[program, stack]
    cloud = workspace(PROGRAMS / program)
    if expected.after:
        cloud.up(expected.after)
    failed = cloud.up(stack, check=False)
    said = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert expected.code in said
    assert expected.at in said
    assert "Traceback" not in said
    if expected.kept:
        assert expected.kept in types_of(cloud, stack)
        cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", stack)
        assert types_of(cloud, stack) == set()


def types_of(cloud: Any, stack: str) -> set[str]:
    """The types of what a stack has on the cloud."""
    return {record.type for record in cloud.exists() if record.urn.startswith(f"urn:pulumi:{stack}::")}


def test_every_stack_of_every_program_has_its_outcome() -> None:
    stacks = {
        (path.parent.name, path.name.removeprefix("Pulumi.").removesuffix(".yaml"))
        for path in PROGRAMS.glob("*/Pulumi.*.yaml")
    }
    assert stacks == {*REFUSED, *((program, "dev") for program in NAMES)}


@pytest.mark.parametrize("program", NAMES)
def test_a_program_uses_the_plain_sdks_only(program: str) -> None:
    tree = ast.parse((PROGRAMS / program / "__main__.py").read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    packages = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert packages & {"pulumi_aws", "pulumi_azure_native"}
    assert packages <= {"pulumi", "pulumi_aws", "pulumi_azure_native"}


def test_anybody_can_try_a_program_of_their_own_with_one_command(engine: object, tmp_path: Path) -> None:
    project = tmp_path / "mine"
    shutil.copytree(PROGRAMS / "spot-fleet", project)
    before = {path.name: path.read_bytes() for path in project.iterdir()}

    def local(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cli.main", "local", "--project", str(project), *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    up = local("up", "--stack", "dev", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout + up.stderr
    assert "nothing real is deployed" in up.stderr
    assert "policy" not in (up.stdout + up.stderr).lower(), "our policies are not theirs"
    shown = local("cloud", "show")
    assert re.search(r"aws:ec2/fleet:Fleet\s+fleet-", shown.stdout), shown.stdout
    assert {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()} == before
