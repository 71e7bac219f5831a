"""What changes to a filesystem come to under the real engine, and filesystem and bucket of one's own.

What is declared is judged on mocks in tests/components/test_aws_storage.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clusters import CLUSTERS, changes_of, stack_file

PACK = ("--policy-pack", str(Path(__file__).parent.parent.parent / "policies"))
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
MANAGED_LUSTRE = "azure-native:storagecache:AmlFilesystem"
LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
TRIAL = "trial"
PRINCIPAL = CLUSTERS["azure-linked"]["storage.objects.link_principal"]
KEY = CLUSTERS["azure-vault-key"]["storage.filesystem.kms_key"]


def steps(cloud: Any, changes: dict[str, Any], stack: str = "aws-p5") -> dict[str, str]:
    """What a preview of changes would do to each type that it touches."""
    cloud.stack(TRIAL, stack_file(stack, {"storage.on_delete": "retain", **changes}))
    shown = json.loads(cloud.pulumi("preview", "--json", "--stack", TRIAL).stdout)["steps"]
    return {step["urn"].split("::")[2].split("$")[-1]: step["op"] for step in shown if step["op"] != "same"}


def test_a_change_to_a_filesystem_previews_as_what_it_comes_to(workspace: Callable[..., Any]) -> None:
    """With EFA another throughput is refused in place; fewer metadata operations always are. What can grow, grows."""
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5", {"storage.on_delete": "retain"}))
    cloud.up(TRIAL)
    faster = steps(cloud, {"storage.filesystem.throughput_per_tib": 500})
    assert faster[LUSTRE] == "replace"
    assert steps(cloud, {"storage.filesystem.capacity": "76800GiB"}) == {LUSTRE: "update"}
    assert steps(cloud, {"storage.filesystem.capacity": "19200GiB"})[LUSTRE] == "replace"
    more = {"storage.filesystem.metadata_iops": 24000}
    assert steps(cloud, more) == {LUSTRE: "update"}
    cloud.up(TRIAL)
    assert steps(cloud, {"storage.filesystem.metadata_iops": 12000})[LUSTRE] == "replace"

    # Both ways to a link and back: backups end before it begins, and cannot begin before it has ended.
    linked = {**more, "storage.objects.link": True}
    assert steps(cloud, linked) == {LUSTRE: "update", LINK: "create", "aws:cloudwatch/logGroup:LogGroup": "create"}
    cloud.up(TRIAL)
    cloud.stack(TRIAL, stack_file("aws-p5", {"storage.on_delete": "retain", **more}))
    refused = cloud.up(TRIAL, check=False)
    assert "such a file system has no backups" in refused.stdout + refused.stderr


@pytest.mark.parametrize("name", ["aws-existing-filesystem", "aws-linked-to-own-bucket"])
def test_what_exists_already_is_used_and_outlives_the_stack(workspace: Callable[..., Any], name: str) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(CLUSTERS[name]["stack"], changes_of(name)))
    cloud.up(TRIAL, *PACK)
    outputs = cloud.outputs(TRIAL)
    cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes", *PACK)
    cloud.pulumi("refresh", "--yes", "--skip-preview", "--stack", TRIAL, "--expect-no-changes")
    if name == "aws-existing-filesystem":
        assert "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com@tcp:/" in outputs["filesystem"]["mount_command"]
        assert not [record for record in cloud.exists() if record.type == LUSTRE]
    else:
        assert outputs["objects"]["uri"] == "s3://research-data"
        [link] = [record for record in cloud.exists() if record.type == LINK]
        assert link.inputs["dataRepositoryPath"] == "s3://research-data"
    cloud.pulumi("state", "unprotect", "--all", "--yes", "--stack", TRIAL)
    cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL)
    assert cloud.state(TRIAL) == []
    left = {record.type for record in cloud.exists()}
    assert (LINK in left) == (name == "aws-linked-to-own-bucket"), "a retained filesystem goes on exporting"


def test_a_filesystem_that_is_not_there_stops_the_preview(workspace: Callable[..., Any]) -> None:
    cloud = workspace()
    gone = {"storage.filesystem": {"existing": "fs-010ca1ffffffffff0"}}
    cloud.stack(TRIAL, stack_file("aws-p5", gone))
    preview = cloud.pulumi("preview", "--stack", TRIAL, check=False)
    assert preview.returncode != 0
    assert "fs-010ca1ffffffffff0' does not exist" in preview.stdout + preview.stderr


def test_what_azure_refuses_to_change_of_a_filesystem_previews_as_a_replacement_and_is_stopped(
    workspace: Callable[..., Any],
) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {}))
    cloud.up(TRIAL)
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {"storage.filesystem.throughput_per_tib": 250}))
    refused = cloud.up(TRIAL, check=False)
    assert "marked for protection" in refused.stdout + refused.stderr
    for change in (
        {"storage.filesystem.throughput_per_tib": 250},
        {"storage.filesystem.capacity": "64TiB"},
        {"storage.objects.link": True, "storage.objects.link_principal": PRINCIPAL},
        {"storage.filesystem.kms_key": KEY},
    ):
        assert steps(cloud, change, "azure-nd-h100")[MANAGED_LUSTRE] == "replace"


def test_a_retained_filesystem_is_in_nobodys_way(workspace: Callable[..., Any]) -> None:
    """A new one is made beside it, under another name; without room for both nothing is lost."""
    small = {"storage.on_delete": "retain", "storage.filesystem": {"capacity": "16TiB", "throughput_per_tib": 125}}
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100", small))
    cloud.up(TRIAL)
    [before] = [r for r in cloud.exists() if r.type == MANAGED_LUSTRE]
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {**small, "storage.filesystem.throughput_per_tib": 250}))
    refused = cloud.up(TRIAL, check=False)
    assert "SubnetIsFull" in refused.stdout + refused.stderr
    assert before.id in [r.get("id") for r in cloud.state(TRIAL)], "the stack still knows it"

    # Taken out of the spec, it stays in Azure, and is mounted from there.
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {**small, "storage.filesystem": ...}))
    cloud.up(TRIAL)
    assert before.id in [r.id for r in cloud.exists()]
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {**small, "storage.filesystem": {"existing": before.id}}))
    cloud.up(TRIAL)
    address = before.outputs["clientInfo"]["mgsAddress"]
    assert f"{address}@tcp:/lustrefs" in cloud.outputs(TRIAL)["filesystem"]["mount_command"]


def test_a_link_without_its_roles_fails_with_what_azure_says_and_is_made_once_they_are_there(
    workspace: Callable[..., Any],
) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {"storage.objects.link": True}))
    refused = cloud.up(TRIAL, check=False)
    assert "is not found or is inaccessible" in refused.stdout + refused.stderr
    assert "storage.objects.link_principal grants them" in refused.stdout + refused.stderr
    linked = {"storage.objects.link": True, "storage.objects.link_principal": PRINCIPAL}
    cloud.stack(TRIAL, stack_file("azure-nd-h100", linked))
    cloud.up(TRIAL, *PACK)
    assert [r for r in cloud.exists() if r.type == "azure-native:storagecache:AutoExportJob"]
