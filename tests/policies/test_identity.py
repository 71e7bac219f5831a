"""Who may do what, in the documents that people write: what is refused, and what is none of the pack's business."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
ROLE = "aws:iam/role:Role"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
FEDERATED = "azure-native:managedidentity:FederatedIdentityCredential"
GITHUB = "token.actions.githubusercontent.com"
SUBSCRIPTION = "/subscriptions/11111111-1111-1111-1111-111111111111"
OWNER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
ACCESS_ADMIN = "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9"
BLOB_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"


def _policy(**statement: Any) -> dict[str, Any]:
    row = {"Effect": "Allow", "Resource": "*", **statement}
    return {"type": ROLE_POLICY, "props": {"role": "nodes", "policy": json.dumps({"Statement": [row]})}}


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": "*"},
        {"Action": ["s3:GetObject", "*"]},
        {"Action": "*:*"},
        {"Action": "iam:*"},
        {"NotAction": ["iam:*", "organizations:*"]},
        {"Action": "*", "Condition": {"Bool": {"aws:MultiFactorAuthPresent": "true"}}},
        {"Action": "iam:PassRole"},
        {"Action": "iam:Pass*", "Resource": "arn:aws:iam::123456789012:role/*"},
        {"Action": "iam:*", "Resource": "arn:aws:iam::123456789012:role/*"},
    ],
    ids=str,
)
def test_a_policy_with_everything_or_with_any_role_is_refused(judge: Any, statement: dict[str, Any]) -> None:
    refused = judge(_policy(**statement))
    assert "policy.Statement[0] of r0" in refused["aws-admin-policy"][0]


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": "*", "Effect": "Deny"},
        {"Action": "*", "Resource": "arn:aws:s3:::data/*"},
        {"Action": ["ec2:Describe*", "ssm:UpdateInstanceInformation"]},
        {"Action": "iam:PassRole", "Resource": "arn:aws:iam::123456789012:role/nodes"},
        {"Action": "iam:PassRole", "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}},
        {"Action": "ec2:*", "Condition": {"StringEquals": {"aws:RequestedRegion": "us-east-1"}}},
    ],
    ids=str,
)
def test_a_policy_that_is_narrow_in_one_way_is_left_alone(judge: Any, statement: dict[str, Any]) -> None:
    assert judge(_policy(**statement)) == {}


def test_all_of_one_service_is_only_remarked_on(judge: Any) -> None:
    assert set(judge(_policy(Action="s3:*"))) == {"aws-service-wildcard"}
    full = {"type": ATTACHMENT, "props": {"role": "r", "policyArn": "arn:aws:iam::aws:policy/AmazonS3FullAccess"}}
    assert set(judge(full)) == {"aws-service-wildcard"}


@pytest.mark.parametrize(
    ("arn", "refused"),
    [
        ("arn:aws:iam::aws:policy/AdministratorAccess", True),
        ("arn:aws-us-gov:iam::aws:policy/PowerUserAccess", True),
        ("arn:aws:iam::aws:policy/IAMFullAccess", True),
        ("arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore", False),
        ("arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role", False),
        ("arn:aws:iam::123456789012:policy/AdministratorAccess", False),
    ],
)
def test_administrators_policies_of_aws_are_refused_wherever_they_are_attached(
    judge: Any, arn: str, refused: bool
) -> None:
    expected = {"aws-admin-policy"} if refused else set()
    assert set(judge({"type": ATTACHMENT, "props": {"role": "r", "policyArn": arn}})) == expected
    trusted = {"assumeRolePolicy": json.dumps({"Statement": []}), "managedPolicyArns": [arn]}
    assert set(judge({"type": ROLE, "props": trusted})) == expected


def test_a_document_with_one_unknown_part_is_said_to_be_unread(judge: Any) -> None:
    document = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "<unknown>"}]}
    (message,) = judge({"type": ROLE_POLICY, "props": {"role": "r", "policy": document}})["aws-admin-policy"]
    assert "can't run policy" in message


@pytest.mark.parametrize("path", sorted((ROOT / "docs/aws").glob("*.json")), ids=lambda path: path.stem)
def test_what_a_deployer_of_ours_may_do_is_no_administrators_policy(judge: Any, path: Path) -> None:
    strict = {"aws-service-wildcard": "mandatory"}
    document = {"type": ROLE_POLICY, "props": {"role": "deploy", "policy": path.read_text(encoding="utf-8")}}
    assert judge(document, config=strict) == {}


def test_what_is_no_document_is_left_to_aws(judge: Any) -> None:
    for text in ("not json", "[]", '{"Statement": "none"}', '{"Statement": [{"Effect": "Allow", "Action": null}]}'):
        assert judge({"type": ROLE_POLICY, "props": {"role": "r", "policy": text}}) == {}


def _trust(subject: Any, operator: str = "StringEquals", issuer: str = GITHUB, **claims: Any) -> dict[str, Any]:
    values = {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": subject, **claims}
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Principal": {"Federated": f"arn:aws:iam::123456789012:oidc-provider/{issuer}"},
        "Condition": {operator: {key: value for key, value in values.items() if value}},
    }
    return {"type": ROLE, "props": {"assumeRolePolicy": json.dumps({"Statement": statement})}}


SUBJECTS = [
    ("repo:lab/clusters:environment:aws-p5", True),
    ("repo:lab@1234/clusters@5678:environment:aws-p5", True),
    ("repo:lab/clusters:ref:refs/heads/main", True),
    ("repo:lab/clusters:*", False),
    ("repo:lab/clusters:environment:*", False),
    ("repo:lab/clusters:ref:refs/heads/*", False),
    ("repo:lab/clusters:pull_request", False),
    ("repo:lab/*:environment:aws-p5", False),
    ("repo:*", False),
    ("*", False),
]


@pytest.mark.parametrize(("subject", "narrow"), SUBJECTS)
def test_a_role_is_for_one_repository_and_one_environment_or_branch_of_it(
    judge: Any, subject: str, narrow: bool
) -> None:
    for operator in ("StringEquals", "StringLike"):
        assert set(judge(_trust(subject, operator))) == (set() if narrow else {"aws-role-trust-open"})
    both = judge(_trust(["repo:lab/clusters:environment:aws-p5", subject]))
    assert set(both) == (set() if narrow else {"aws-role-trust-open"})


@pytest.mark.parametrize(("subject", "narrow"), SUBJECTS)
def test_an_identity_of_azure_trusts_the_same_subjects(judge: Any, subject: str, narrow: bool) -> None:
    props = {"issuer": f"https://{GITHUB}", "subject": subject, "audiences": ["api://AzureADTokenExchange"]}
    expected = set() if narrow else {"azure-federated-trust-open"}
    assert set(judge({"type": FEDERATED, "props": props})) == expected
    assert judge({"type": FEDERATED, "props": {**props, "issuer": "https://kubernetes.example/oidc"}}) == {}


def test_a_role_for_github_asks_for_audience_and_subject_and_really_asks(judge: Any) -> None:
    (without_audience,) = judge(_trust("repo:lab/c:environment:e", **{f"{GITHUB}:aud": ""}))["aws-role-trust-open"]
    assert f"has no condition on {GITHUB}:aud" in without_audience
    (without_subject,) = judge(_trust(""))["aws-role-trust-open"]
    assert f"has no condition on {GITHUB}:sub" in without_subject
    assert len(judge(_trust("repo:lab/c:environment:e", "ForAllValues:StringEquals"))["aws-role-trust-open"]) == 2


def test_the_issuer_of_an_enterprise_is_github_as_well(judge: Any) -> None:
    own = f"{GITHUB}/lab-corp"
    assert judge(_trust("repo:lab/clusters:environment:aws-p5", issuer=own)) == {}
    assert set(judge(_trust("repo:lab/clusters:*", issuer=own))) == {"aws-role-trust-open"}


def test_pull_requests_may_be_allowed_by_configuration(judge: Any) -> None:
    config = {"aws-role-trust-open": {"contexts": ["environment", "pull_request"]}}
    assert judge(_trust("repo:lab/clusters:pull_request"), config=config) == {}
    assert set(judge(_trust("repo:lab/clusters:ref:refs/heads/main"), config=config)) == {"aws-role-trust-open"}


@pytest.mark.parametrize("principal", ["*", {"AWS": "*"}, {"AWS": ["arn:aws:iam::1:root", "*"]}])
def test_a_role_that_anybody_may_take_is_refused_unless_a_condition_narrows_it(judge: Any, principal: Any) -> None:
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}
    role = {"type": ROLE, "props": {"assumeRolePolicy": json.dumps({"Statement": [statement]})}}
    assert set(judge(role)) == {"aws-role-trust-open"}
    statement["Condition"] = {"StringEquals": {"aws:PrincipalOrgID": "o-1234567890"}}
    role["props"] = {"assumeRolePolicy": json.dumps({"Statement": [statement]})}
    assert judge(role) == {}


def test_roles_for_machines_and_accounts_are_left_alone(judge: Any) -> None:
    for principal in ({"Service": "ec2.amazonaws.com"}, {"AWS": "arn:aws:iam::123456789012:root"}):
        statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}
        assert judge({"type": ROLE, "props": {"assumeRolePolicy": json.dumps({"Statement": [statement]})}}) == {}


@pytest.mark.parametrize(
    ("role", "scope", "refused"),
    [
        (OWNER, SUBSCRIPTION, True),
        (OWNER.upper(), SUBSCRIPTION + "/", True),
        (OWNER, "/providers/Microsoft.Management/managementGroups/all", True),
        (OWNER, f"{SUBSCRIPTION}/resourceGroups/training", False),
        (BLOB_CONTRIBUTOR, SUBSCRIPTION, False),
        (ACCESS_ADMIN, SUBSCRIPTION, True),
    ],
)
def test_nobody_administers_a_whole_subscription(judge: Any, role: str, scope: str, refused: bool) -> None:
    definition = f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}"
    props = {"principalId": "p", "roleDefinitionId": definition, "scope": scope}
    assert set(judge({"type": ASSIGNMENT, "props": props})) == ({"azure-admin-role"} if refused else set())
    unjudged = judge({"type": ASSIGNMENT, "props": {**props, "scope": "<unknown>"}})
    assert set(unjudged) == (set() if role == BLOB_CONTRIBUTOR else {"azure-admin-role"})


def test_an_administrator_of_access_under_a_condition_is_left_alone(judge: Any) -> None:
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{ACCESS_ADMIN}"
    props = {"principalId": "p", "roleDefinitionId": definition, "scope": SUBSCRIPTION}
    assert judge({"type": ASSIGNMENT, "props": {**props, "condition": "(@Request[...])"}}) == {}


@pytest.mark.parametrize(("action", "refused"), [("*", True), ("Microsoft.Authorization/*", True), ("*/read", False)])
def test_a_role_of_ones_own_holds_no_action_that_is_all_of_them(judge: Any, action: str, refused: bool) -> None:
    role = {"roleName": "deploy", "scope": SUBSCRIPTION, "permissions": [{"actions": [action]}]}
    verdicts = judge({"type": "azure-native:authorization:RoleDefinition", "props": role})
    assert set(verdicts) == ({"azure-admin-role"} if refused else set())


@pytest.mark.parametrize("kind", ["accessKey:AccessKey", "userLoginProfile:UserLoginProfile"])
def test_a_user_gets_neither_key_nor_password(judge: Any, kind: str) -> None:
    assert set(judge({"type": f"aws:iam/{kind}", "props": {"user": "ci"}})) == {"aws-user-key"}
