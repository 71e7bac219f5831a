"""The IAM policies of docs/aws: enough for every resource that AWS clusters declare, and nothing beside.

What each type needs is in aws_permissions.toml. parliament brings the Service Authorization Reference: which actions
there are, which of them only read, what they depend on and which resources' tags bound them.
"""

from __future__ import annotations

import json
import re
import tomllib
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.clusters import AWS, ROOT

NEEDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "aws_permissions.toml").read_text(encoding="utf-8")
)
TYPES = sorted(NEEDS.keys() - {"beside"})
STEPS = ("create", "read", "update", "delete")
ROLES = ("preview", "deploy")
INLINE_LIMIT = 10_240
"""Characters without blanks of all policies in a role. Source: IAM user guide, quotas."""
LONGER_NAMES = 500
"""What names longer than those of the example may add."""
NOT_CALLED = {
    "ssm:GetParameters": "only for templates that name their image by parameter",
    **dict.fromkeys(
        (
            "ecs:ListClusters",
            "ecs:ListContainerInstances",
            "ecs:ListServices",
            "ecs:ListTaskDefinitions",
            "ecs:ListTasks",
        ),
        "only for flow logs with ECS fields",
    ),
}
"""Dependent actions of the reference that our resources do not cause."""
ACCEPTED = {
    "RESOURCE_STAR": "bounded by a condition on region or tag: what is created has no name yet",
    "RESOURCE_POLICY_PRIVILEGE_ESCALATION": "who sets a bucket's policy and lifecycle can reach its objects",
    "UNKNOWN_CONDITION_FOR_ACTION": "kms:ResourceAliases is in the KMS developer guide and not in parliament's table",
}


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of setuptools, which parliament uses in an old way
    import parliament


@cache
def reference() -> dict[str, dict[str, Any]]:
    """Every action of AWS with its access level, resources, conditions and dependent actions."""
    services = json.loads(Path(parliament.__file__).with_name("iam_definition.json").read_text(encoding="utf-8"))
    return {f"{s['prefix']}:{p['privilege']}": p for s in services for p in s["privileges"]}


@cache
def statements(role: str) -> list[dict[str, Any]]:
    return json.loads((ROOT / f"docs/aws/{role}-role.json").read_text(encoding="utf-8"))["Statement"]


def actions(*roles: str) -> set[str]:
    return {action for role in roles for statement in statements(role) for action in statement["Action"]}


def needed(*steps: str, of: str | None = None) -> set[str]:
    return {action for name, row in NEEDS.items() if of in (None, name) for step in steps for action in row[step]}


@pytest.mark.parametrize("name", AWS)
def test_all_that_a_cluster_declares_is_known_by_its_permissions(name: str, cluster: Callable[[str], Any]) -> None:
    assert {r.type for r in cluster(name).run.resources} - NEEDS.keys() == set()


@pytest.mark.parametrize("name", TYPES)
def test_a_type_with_permissions_is_one_that_the_components_declare(name: str) -> None:
    module, kind = name.split(":")[1].split("/")[0], name.split(":")[2]
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "components/aws").glob("*.py"))
    assert re.search(rf"aws\.{module}\.{kind}\b", sources)


@pytest.mark.parametrize("name", TYPES)
def test_the_deploy_role_may_do_all_that_a_type_needs_and_the_preview_role_may_read_it(name: str) -> None:
    assert needed(*STEPS, of=name) - actions(*ROLES) == set()
    assert needed("read", of=name) - actions("preview") == set()


def test_no_role_may_do_what_nothing_needs() -> None:
    assert actions(*ROLES) == needed(*STEPS)
    assert not actions("preview") & actions("deploy"), "the deploy role has both policies"


def test_the_preview_role_only_reads() -> None:
    """The reference counts the decryption of the state's secrets as a write."""
    writing = {a for a in actions("preview") if reference()[a]["access_level"] not in ("List", "Read")}
    assert writing == {"kms:Decrypt"}


def test_no_role_reads_objects_outside_the_state() -> None:
    for role in ROLES:
        for statement in statements(role):
            if any("Object" in a and a != "s3:GetBucketObjectLockConfiguration" for a in statement["Action"]):
                assert statement["Resource"] == "arn:aws:s3:::my-state/*"


@pytest.mark.parametrize("action", sorted(needed(*STEPS)))
def test_an_action_exists_and_what_it_depends_on_is_allowed(action: str) -> None:
    dependent = {each for resource in reference()[action]["resource_types"] for each in resource["dependent_actions"]}
    assert dependent - NOT_CALLED.keys() - actions(*ROLES) == set()


@pytest.mark.parametrize("role", ROLES)
def test_each_statement_that_a_tag_bounds_names_actions_whose_resources_have_tags(role: str) -> None:
    for statement in statements(role):
        if "aws:ResourceTag/gpu-cluster" not in statement.get("Condition", {}).get("StringEquals", {}):
            continue
        for action in statement["Action"]:
            required = [r for r in reference()[action]["resource_types"] if r["resource_type"].endswith("*")]
            resources = required or [r for r in reference()[action]["resource_types"] if r["resource_type"]]
            assert all("aws:ResourceTag/${TagKey}" in r["condition_keys"] for r in resources), action


def test_only_the_clusters_own_roles_are_passed_and_only_to_nodes_and_flow_logs() -> None:
    [passing] = [s for s in statements("deploy") if "iam:PassRole" in s["Action"]]
    assert passing["Action"] == ["iam:PassRole"]
    assert passing["Resource"] == "arn:aws:iam::123456789012:role/llama-70b-*"
    services = passing["Condition"]["StringEquals"]["iam:PassedToService"]
    assert services == ["ec2.amazonaws.com", "vpc-flow-logs.amazonaws.com"]


def test_roles_of_the_services_are_made_only_for_those_that_the_clusters_use() -> None:
    [making] = [s for s in statements("deploy") if "iam:CreateServiceLinkedRole" in s["Action"]]
    services = {
        "autoscaling.amazonaws.com",
        "ec2fleet.amazonaws.com",
        "fsx.amazonaws.com",
        "s3.data-source.lustre.fsx.amazonaws.com",
        "spot.amazonaws.com",
    }
    assert set(making["Condition"]["StringEquals"]["iam:AWSServiceName"]) == services
    assert making["Resource"].endswith(":role/aws-service-role/*")


def test_parliament_knows_every_action_and_finds_nothing_but_what_is_accepted() -> None:
    found = {}
    for role in ROLES:
        text = (ROOT / f"docs/aws/{role}-role.json").read_text(encoding="utf-8")
        found |= {finding.issue: finding.detail for finding in parliament.analyze_policy_string(text).findings}
    assert found.keys() == ACCEPTED.keys(), found


def test_both_policies_fit_into_one_role_also_with_longer_names() -> None:
    texts = [(ROOT / f"docs/aws/{role}-role.json").read_text(encoding="utf-8") for role in ROLES]
    assert sum(len("".join(text.split())) for text in texts) + LONGER_NAMES <= INLINE_LIMIT


@pytest.mark.parametrize("role", ROLES)
def test_the_page_names_the_policy_and_its_place_holders(role: str) -> None:
    page = (ROOT / "docs/aws.md").read_text(encoding="utf-8")
    text = (ROOT / f"docs/aws/{role}-role.json").read_text(encoding="utf-8")
    assert f"aws/{role}-role.json" in page
    for holder in ("123456789012", "llama-70b", "us-east-1", "my-state"):
        assert holder in text
        assert f"s/{holder}/" in page
