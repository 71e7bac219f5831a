"""The plan: what is decided, that it is frozen, and that it is the same everywhere. The command `plan`: tests/cli."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from planning.facts.imagerecord import FILE, ImageRecord, render
from planning.facts.storage import ExistingContainer, VaultKey, key_arn
from planning.names import LONGEST_ACCOUNT, role_assignment_name, storage_account_name
from planning.plan import Assessment, Plan
from planning.spec import AwsSpec
from tests.clusters import planned, stack_file

ROOT = Path(__file__).resolve().parents[2]
Assessed = Callable[..., Assessment]


def plan_of(assessment: Assessment) -> Plan:
    assert assessment.plan is not None, assessment.findings
    return assessment.plan


def test_a_spec_with_an_error_has_no_plan(assessed: Assessed) -> None:
    assert assessed("aws", {"network.cidr": "10.40.0.0/28"}).plan is None
    assert assessed("aws", {"nodes.count": 0}).plan is None


def test_a_waived_error_lets_the_plan_be_made_and_stays_in_it(assessed: Assessed) -> None:
    plan = plan_of(assessed("azure", {"nodes.count": 101, "waive": {"more-nodes-than-a-fabric": "ticket 4711"}}))
    assert [(f.rule, f.level) for f in plan.findings] == [("more-nodes-than-a-fabric", "waived")]
    assert "ticket 4711" in plan.findings[0].message


def test_tags_of_the_user_and_of_the_project_are_merged(assessed: Assessed) -> None:
    changes = {"tags": {"team": "research"}, "lifetime.expires": "2035-12-31", "storage.on_delete": "retain"}
    assert plan_of(assessed("aws", changes)).tags == {
        "team": "research",
        "gpu-cluster": "llama-70b",
        "gpu-cluster-expires": "2035-12-31",
        "on-delete": "retain",
    }
    assert "on-delete" not in plan_of(assessed("aws", {"storage.on_delete": "delete"})).tags


@pytest.mark.parametrize(
    ("cloud", "changes", "placed"),
    [
        ("aws", {}, True),
        ("aws", {"nodes.placement": "cluster"}, True),
        ("aws", {"nodes.placement": "none"}, False),
        ("azure", {}, True),
        ("azure", {"nodes.type": "Standard_ND128isr_GB300_v6", "nodes.count": 18}, False),
        ("azure", {"nodes.type": "Standard_NC96ads_A100_v4", "nodes.count": 1}, False),
    ],
)
def test_nodes_are_placed_together_where_the_fabric_wants_it(
    cloud: str, changes: dict[str, Any], placed: bool, assessed: Assessed
) -> None:
    assert plan_of(assessed(cloud, changes)).nodes.placed is placed


@pytest.mark.parametrize(
    ("cloud", "changes", "reference", "by_parameter", "needs_plan"),
    [
        ("aws", {}, "/aws/service/deeplearning/ami/x86_64/", True, False),
        ("aws", {"nodes.image": "ami-0123456789abcdef0"}, "ami-0123456789abcdef0", False, False),
        ("azure", {}, "microsoft-dsvm:ubuntu-hpc:2404:", False, False),
        ("azure", {"nodes.type": "Standard_ND96isr_MI300X_v5"}, "microsoft-dsvm:ubuntu-hpc:2404-rocm:", False, False),
        ("azure", {"nodes.image": "almalinux:almalinux-hpc:9-hpc-gen2:1.2.3"}, "almalinux:", False, True),
    ],
)
def test_the_image_is_the_one_of_the_spec_or_the_pinned_one(
    cloud: str,
    changes: dict[str, Any],
    reference: str,
    by_parameter: bool,
    needs_plan: bool,
    assessed: Assessed,
    tmp_path: Path,
) -> None:
    image = plan_of(assessed(cloud, changes, tmp_path)).nodes.image
    assert image.reference.startswith(reference)
    assert image.asked == image.reference
    assert (image.by_parameter, image.needs_plan) == (by_parameter, needs_plan)
    assert image.root_device == ("/dev/sda1" if cloud == "aws" else "")


@pytest.mark.parametrize("asked", ["/acme/images/gpu", "ami-0123456789abcdef0"])
def test_what_is_recorded_of_an_image_is_what_nodes_are_made_from(
    asked: str, assessed: Assessed, tmp_path: Path
) -> None:
    record = ImageRecord(
        id="ami-0a0a0a0a0a0a0a0a0",
        name="acme gpu 7",
        arch="x86_64",
        root_device="/dev/xvda",
        root_gib=120,
        recorded=date(2026, 11, 1),
    )
    (tmp_path / FILE).write_text(render({"us-east-1": {asked: record}, "us-west-2": {}}))
    image = plan_of(assessed("aws", {"nodes.image": asked}, tmp_path)).nodes.image
    assert (image.asked, image.reference, image.by_parameter) == (asked, record.id, False)
    assert (image.root_device, image.root_gib) == ("/dev/xvda", 120)


def test_arm_nodes_are_made_from_the_arm_image_and_from_its_own_record(assessed: Assessed) -> None:
    block = {"nodes.purchase": "capacity-block", "nodes.reservation": "cr-0123456789abcdef0", "nodes.count": 18}
    arm = {"nodes.type": "p6e-gb200.36xlarge", "zone": "use1-dfw2-az1", **block}
    on_arm, other = (plan_of(assessed("aws", changes)).nodes.image for changes in (arm, {}))
    assert on_arm.record is not None
    assert on_arm.record.arch == "arm64"
    assert on_arm.reference != other.reference


def test_the_launcher_environment_tells_the_fabric_and_the_size(assessed: Assessed) -> None:
    aws, azure = (plan_of(assessed(cloud)).launcher_env for cloud in ("aws", "azure"))
    assert (aws["FI_PROVIDER"], aws["PET_NNODES"], aws["PET_NPROC_PER_NODE"]) == ("efa", "16", "8")
    assert azure["NCCL_IB_HCA"] == "mlx5_ib"
    without = plan_of(assessed("azure", {"nodes.type": "Standard_NC96ads_A100_v4", "nodes.count": 1})).launcher_env
    assert without["NCCL_IB_DISABLE"] == "1"
    assert list(aws) == sorted(aws)


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_nccl_is_left_to_tune_itself(cloud: str, assessed: Assessed) -> None:
    harmful = {"NCCL_ALGO", "NCCL_PROTO", "FI_EFA_FORK_SAFE", "FI_EFA_USE_DEVICE_RDMA", "RDMAV_FORK_SAFE"}
    assert not harmful & set(plan_of(assessed(cloud)).launcher_env)


def test_the_node_card_tells_what_a_node_must_find_in_itself(assessed: Assessed) -> None:
    card = json.loads(plan_of(assessed("aws")).nodes.card)
    assert card == {
        "type": "p5.48xlarge",
        "gpus": 8,
        "gpu_memory_mib": 81920,
        "vcpus": 192,
        "memory_gib": 2048,
        "fabric": "efa",
        "fabric_interfaces": 32,
        "local_disks": 8,
    }


def test_a_cluster_that_does_not_run_declares_no_nodes_and_asks_for_no_quota(assessed: Assessed) -> None:
    plan = plan_of(assessed("aws", {"nodes.running": False}))
    assert (plan.nodes.count, plan.nodes.declared, plan.quota) == (16, 0, ())


@pytest.mark.parametrize(("days", "storage_class"), [(29, "INTELLIGENT_TIERING"), (30, "STANDARD_IA")])
def test_standard_ia_is_used_from_30_days_on(days: int, storage_class: str, assessed: Assessed) -> None:
    plan = plan_of(assessed("aws", {"storage.objects.checkpoints.cool_after_days": days}))
    assert plan.objects.cool_class == storage_class


def test_the_filesystem_is_planned_as_the_cloud_sells_it(assessed: Assessed) -> None:
    fsx = plan_of(assessed("aws", {"storage.filesystem.compression": "none"})).filesystem
    assert fsx is not None
    assert (fsx.kind, fsx.capacity_gib, fsx.efa, fsx.backup_days, fsx.compression) == (
        "fsx-lustre",
        38400,
        True,
        7,
        False,
    )
    amlfs = plan_of(assessed("azure")).filesystem
    assert amlfs is not None
    assert (amlfs.kind, amlfs.sku, amlfs.efa) == ("azure-managed-lustre", "AMLFS-Durable-Premium-125", False)
    assert plan_of(assessed("azure", {"storage.filesystem": None})).filesystem is None


def test_set_up_lines_come_from_the_file_beside_the_stack(assessed: Assessed, tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_text("true\nfalse\n")
    assert plan_of(assessed("aws", {"nodes.setup": "setup.sh"}, tmp_path)).nodes.setup == ("true", "false")


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_a_plan_is_frozen_through_and_through(cloud: str, assessed: Assessed) -> None:
    def walk(value: object) -> None:
        if is_dataclass(value):
            name = fields(value)[0].name
            with pytest.raises(FrozenInstanceError):
                setattr(value, name, None)
            for field in fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, tuple):
            for inner in value:
                walk(inner)
        else:
            assert not isinstance(value, list | dict | set)
            assert not hasattr(value, "__setitem__") or isinstance(value, MappingProxyType)

    walk(plan_of(assessed(cloud)))


@pytest.mark.parametrize("stack", sorted(path.name[7:-5] for path in (ROOT / "stacks").glob("Pulumi.*.yaml")))
def test_every_stack_of_the_project_has_a_plan(stack: str, today: date) -> None:
    raw = yaml.safe_load(stack_file(stack))["config"]["gpu-clusters:cluster"]
    assert planned(stack, today=today).name == raw["name"]


SHOW = """
import sys, yaml
from datetime import date
from pathlib import Path
from planning.plan import assess
loaded = sorted(name for name in sys.modules if name.partition(".")[0] in ("pulumi", "grpc", "google", "pulumi_aws"))
for stack in sorted(Path("stacks").glob("Pulumi.*.yaml")):
    raw = yaml.safe_load(stack.read_text())["config"]["gpu-clusters:cluster"]
    print(assess(raw, date(2026, 11, 30), stack.parent))
print(loaded)
"""


def test_a_plan_is_the_same_under_any_hash_seed_and_needs_no_pulumi_and_no_environment() -> None:
    shown = []
    for seed in ("0", "1"):
        environment = {"PYTHONHASHSEED": seed, "PATH": os.defpath, "TZ": "Pacific/Kiritimati" if seed == "1" else "UTC"}
        command = [sys.executable, "-c", SHOW]
        shown.append(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)
    assert shown[0] == shown[1]
    assert b"Plan(name='llama-70b'" in shown[0]
    assert shown[0].endswith(b"\n[]\n"), "Pulumi was loaded"


def test_a_storage_account_name_is_legal_for_every_cluster_name_and_differs_by_place() -> None:
    name = storage_account_name("llama-70b-pretrainin", "sub", "eastus")
    assert len(name) <= LONGEST_ACCOUNT
    assert name.isalnum()
    assert name.islower()
    others = {
        storage_account_name("llama-70b-pretrainin", *place) for place in (("sub", "westus"), ("other", "eastus"))
    }
    assert len({name, *others}) == 3
    assert storage_account_name("llama-70b-pretrainin", "SUB", "eastus") == name, "GUIDs are written in both cases"


def test_a_role_assignment_has_the_same_name_at_every_deployment() -> None:
    name = role_assignment_name("llama/data", "role", "one")
    assert role_assignment_name("llama/data", "role", "one") == name
    assert role_assignment_name("llama2/data", "role", "one") != name
    assert role_assignment_name("llama/data", "role", "two") != name, "two clusters share a container"


@pytest.mark.parametrize(
    ("changes", "backed_up", "days"),
    [
        ({}, True, 7),
        ({"storage.filesystem.backup_days": 0}, True, 0),
        ({"storage.objects.link": True}, False, 0),
        ({"storage.filesystem": {"deployment": "scratch"}}, False, 0),
    ],
)
def test_backups_are_planned_where_fsx_makes_them(
    changes: dict[str, Any], backed_up: bool, days: int, assessed: Assessed
) -> None:
    filesystem = plan_of(assessed("aws", changes)).filesystem
    assert filesystem is not None
    assert (filesystem.backed_up, filesystem.backup_days) == (backed_up, days)


@pytest.mark.parametrize(
    ("region", "arn"),
    [
        ("us-east-1", "arn:aws:kms:us-east-1:123456789012:key/"),
        ("us-gov-west-1", "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/"),
        ("cn-north-1", "arn:aws-cn:kms:cn-north-1:123456789012:key/"),
    ],
)
def test_a_keys_id_becomes_the_arn_that_the_provider_takes(region: str, arn: str) -> None:
    key = "01234567-89ab-cdef-0123-456789abcdef"
    spec = AwsSpec.model_validate(
        {
            "name": "llama", "cloud": "aws", "region": region, "zone": "z", "account": "123456789012",
            "nodes": {"type": "p5.48xlarge", "count": 1}, "storage": {"filesystem": {"kms_key": key}},
        }
    )  # fmt: skip
    assert key_arn(spec) == arn + key


OF_AZURE = "/subscriptions/01234567-89ab-cdef-0123-456789abcdef/resourceGroups/research/providers"
VNET = f"{OF_AZURE}/Microsoft.Network/virtualNetworks/research"
VAULT = f"{OF_AZURE}/Microsoft.KeyVault/vaults/research"
ACCOUNT = f"{OF_AZURE}/Microsoft.Storage/storageAccounts/researchdata"


def test_what_an_id_of_azure_says_is_read_in_any_letter_case(assessed: Assessed) -> None:
    """Azure takes and gives ids in either case, and a component reads none of them itself."""
    version = "0123456789abcdef" * 2
    changes = {
        "network.existing.subnet": f"{VNET}/Subnets/nodes",
        "network.existing.filesystem_subnet": f"{VNET.upper()}/SUBNETS/lustre",
        "storage.filesystem.kms_key": f"{VAULT}/Keys/lustre/Versions/{version}",
    }
    plan = plan_of(assessed("azure", changes))
    assert plan.existing_network is not None
    subnets = plan.existing_network.subnets
    assert {field: (s.group, s.vnet, s.name) for field, s in subnets.items()} == {
        "subnet": ("research", "research", "nodes"),
        "filesystem_subnet": ("RESEARCH", "RESEARCH", "lustre"),
    }
    assert (plan.existing_network.vpc, subnets["filesystem_subnet"].vnet_id) == (VNET, VNET.upper())
    assert plan.filesystem is not None
    assert plan.filesystem.vault_key == VaultKey(
        id=f"{VAULT}/Keys/lustre",
        subscription="01234567-89ab-cdef-0123-456789abcdef",
        vault_id=VAULT,
        url=f"https://research.vault.azure.net/keys/lustre/{version}",
    )


@pytest.mark.parametrize(
    ("tail", "name"),
    [
        ("", "data"),
        ("/blobServices/default/containers/llama", "llama"),
        ("/BLOBSERVICES/DEFAULT/CONTAINERS/llama", "llama"),
    ],
)
def test_an_existing_container_is_known_by_its_account_and_is_data_where_none_is_named(
    tail: str, name: str, assessed: Assessed
) -> None:
    plan = plan_of(assessed("azure", {"storage.objects": {"existing": ACCOUNT + tail}}))
    containers = f"{ACCOUNT}/blobServices/default/containers"
    assert plan.objects.existing_container == ExistingContainer(
        account_id=ACCOUNT,
        account="researchdata",
        id=f"{containers}/{name}",
        name=name,
        log_id=f"{containers}/lustre-logs",
    )
