"""The IAM policies of docs/aws, as AWS reads them. What they must hold, on both clouds: test_permissions.

parliament brings the Service Authorization Reference: which actions there are, which of them only read, what they
depend on and which resources' tags bound them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.clusters import ROOT
from tests.iam_policies import findings, reference
from tests.permissions import ROLES, STEPS, actions, needed, role

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


def statements(name: str) -> list[dict[str, Any]]:
    return role("aws", name)["Statement"]


def text_of(name: str) -> str:
    return (ROOT / f"docs/aws/{name}-role.json").read_text(encoding="utf-8")


def test_the_preview_role_only_reads() -> None:
    """The reference counts the decryption of the state's secrets as a write."""
    writing = {a for a in actions("aws", "preview") if reference()[a]["access_level"] not in ("List", "Read")}
    assert writing == {"kms:Decrypt"}


def test_no_role_reads_objects_outside_the_state() -> None:
    for name in ROLES:
        for statement in statements(name):
            if any("Object" in a and a != "s3:GetBucketObjectLockConfiguration" for a in statement["Action"]):
                assert statement["Resource"] == "arn:aws:s3:::my-state/*"


@pytest.mark.parametrize("action", sorted(needed("aws", *STEPS)))
def test_an_action_exists_and_what_it_depends_on_is_allowed(action: str) -> None:
    dependent = {each for resource in reference()[action]["resource_types"] for each in resource["dependent_actions"]}
    assert dependent - NOT_CALLED.keys() - actions("aws", *ROLES) == set()


@pytest.mark.parametrize("name", ROLES)
def test_each_statement_that_a_tag_bounds_names_actions_whose_resources_have_tags(name: str) -> None:
    for statement in statements(name):
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
    for text in map(text_of, ROLES):
        found |= {finding.issue: finding.detail for finding in findings(text)}
    assert found.keys() == ACCEPTED.keys(), found


def test_both_policies_fit_into_one_role_also_with_longer_names() -> None:
    assert sum(len("".join(text.split())) for text in map(text_of, ROLES)) + LONGER_NAMES <= INLINE_LIMIT


@pytest.mark.parametrize("name", ROLES)
def test_the_page_replaces_each_place_holder_of_a_policy(name: str) -> None:
    page = (ROOT / "docs/aws.md").read_text(encoding="utf-8")
    for holder in ("123456789012", "llama-70b", "us-east-1", "my-state"):
        assert holder in text_of(name)
        assert f"s/{holder}/" in page
