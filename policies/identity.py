"""Who may do what: no identity with everything, no key of a person, and no role that strangers can take.

AWS documents are JSON inside a property. One that is put together from an output (the ARN of a bucket made in the same
stack) is unknown in a preview, which then says that it could not judge; `up` judges it before the role is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, resource_policy
from policies.iam_documents import Statement, statements
from policies.options import option
from policies.view import UNKNOWN, View, shown

GITHUB = "token.actions.githubusercontent.com"
_ADMIN_POLICIES = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")
_AWS_MANAGED = re.compile(r"arn:[\w-]+:iam::aws:policy/(?:[\w-]+/)?(\w+)$")
_ANY_ROLE = re.compile(r"\*|arn:[\w*-]+:iam::[\d*]*:(role/)?\*")
_ONE_JOB = "Name the actions and the resources that the job needs, in a policy of its own."
_IAM_REFERENCE = "https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html#grant-least-privilege"


def _allowed(resource: View) -> Iterator[Statement]:
    """What a resource allows (not who may take it)."""
    for path in ("policy", "inlinePolicies[].policy"):
        yield from (s for s in statements(resource, path) if s.allows)


def _attached(resource: View) -> Iterator[tuple[str, str]]:
    """Path and name of the policies of AWS that a resource attaches."""
    for path in ("policyArn", "policyArns[]", "managedPolicyArns[]"):
        for view in resource.each(path):
            if isinstance(view.value, str) and (name := _AWS_MANAGED.match(view.value)):
                yield view.path, name[1]


@resource_policy(
    "aws-admin-policy",
    *kinds.IAM_POLICIES,
    *kinds.IAM_ATTACHMENTS,
    kinds.IAM_ROLE,
    area="identity",
    description="No identity may do everything, nor give itself more.",
    why="One leaked credential of it, from a node or a pipeline, is the whole account: data, capacity and bill.",
    fix=_ONE_JOB,
    severity=Severity.CRITICAL,
    reference=_IAM_REFERENCE,
)
def aws_admin_policy(resource: Resource) -> Iterator[Fault]:
    for path, name in _attached(resource):
        if name in _ADMIN_POLICIES:
            yield resource.fault(path, f"is {name}")
    for statement in _allowed(resource):
        if "*" in statement.resources:
            if statement.all_but and not statement.conditions:
                yield resource.fault(statement.path, "allows everything but a few actions on every resource")
            for action in statement.actions:
                if action in ("*", "*:*") or (action.lower() == "iam:*" and not statement.conditions):
                    yield resource.fault(statement.path, f"allows {shown(action)} on every resource")
        if _passes_any_role(statement):
            fix = "Name the roles in Resource, or the service in the condition iam:PassedToService."
            yield resource.fault(statement.path, "passes any role, and so its rights, to a machine or job", fix)


def _passes_any_role(statement: Statement) -> bool:
    said = ("*", "*:*", "iam:*") if "*" in statement.resources else ()
    passes = any(fnmatchcase("iam:passrole", a.lower()) for a in statement.actions if a.lower() not in said)
    narrowed = any(key.lower() == "iam:passedtoservice" for _, key, _ in statement.conditions)
    return passes and not narrowed and any(_ANY_ROLE.fullmatch(name) for name in statement.resources)


@resource_policy(
    "aws-service-wildcard",
    *kinds.IAM_POLICIES,
    *kinds.IAM_ATTACHMENTS,
    kinds.IAM_ROLE,
    area="identity",
    description="No identity has all actions of a service on all of its resources.",
    why="A job that reads one bucket could empty all of them, and a node that tags itself could end the others.",
    fix=_ONE_JOB,
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    reference=_IAM_REFERENCE,
)
def aws_service_wildcard(resource: Resource) -> Iterator[Fault]:
    quietly = View(resource.value)  # what cannot be read yet, aws-admin-policy says
    for path, name in _attached(quietly):
        if name.endswith("FullAccess") and name not in _ADMIN_POLICIES:
            yield resource.fault(path, f"is {name}")
    for statement in _allowed(quietly):
        if "*" not in statement.resources or statement.conditions:
            continue
        for action in statement.actions:
            if re.fullmatch(r"[\w-]+:\*", action) and action.lower() != "iam:*":
                yield resource.fault(statement.path, f"allows {shown(action)} on every resource")


@resource_policy(
    "aws-user-key",
    *kinds.IAM_USER_KEYS,
    area="identity",
    description="There are no access keys and passwords of users.",
    why="A key works from anywhere until somebody remembers to rotate it, and it stands in the state of the stack.",
    fix="Use roles: of the instance for nodes, GitHub's identity token for pipelines, IAM Identity Center for people.",
    reference="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html#bp-workloads-use-roles",
)
def aws_user_key(key: Resource) -> Iterator[Fault]:
    yield key.fault("user", "gets a credential that never expires")


@dataclass(frozen=True)
class Subjects:
    contexts: tuple[str, ...] = option(
        ("environment", "ref"),
        "What may follow the repository in the subject of GitHub's token: environment, ref, pull_request.",
    )

    def open_in(self, subject: str) -> str:
        """What is too wide in a subject; nothing where it names one repository, and where in it."""
        repository = re.match(r"repo:([^/:]+)/([^:]+):(\w+):?(.*)$", subject)
        if not repository or re.search(r"[*?]", repository[1] + repository[2]):
            return "does not name one repository"
        if repository[3] not in self.contexts or re.search(r"[*?]", repository[4]):
            return f"does not name one {' or '.join(self.contexts)} of the repository"
        return ""


_SUBJECT_FIX = 'Have the subject equal "repo:OWNER/REPO:environment:NAME", and protect that environment with reviewers.'


@resource_policy(
    "aws-role-trust-open",
    kinds.IAM_ROLE,
    area="identity",
    description="Roles are taken by named principals only; from GitHub by one repository and environment.",
    why="Whoever meets the trust policy has the rights of the role: any account, or any branch of any repository.",
    fix=f"Name the principal. For GitHub: {_SUBJECT_FIX}",
    severity=Severity.CRITICAL,
    reference="https://docs.github.com/en/actions/reference/security/oidc",
    options=Subjects,
)
def aws_role_trust_open(role: Resource, subjects: Subjects) -> Iterator[Fault]:
    for statement in statements(role, "assumeRolePolicy"):
        if not statement.allows:
            continue
        for kind, name in statement.principals:
            if name == "*" and kind in ("*", "AWS") and not statement.conditions:
                yield role.fault(statement.path, "lets anybody take the role")
            elif kind == "Federated" and f"oidc-provider/{GITHUB}" in name:
                yield from _from_github(role, statement, name.partition("oidc-provider/")[2], subjects)


def _from_github(role: Resource, statement: Statement, issuer: str, subjects: Subjects) -> Iterator[Fault]:
    audiences, named = (_equal(statement, f"{issuer}:{claim}") for claim in ("aud", "sub"))
    if not audiences or "*" in audiences:
        yield role.fault(statement.path, f"has no condition on {issuer}:aud", 'Ask for "sts.amazonaws.com" in it.')
    if not named:
        yield role.fault(statement.path, f"has no condition on {issuer}:sub", _SUBJECT_FIX)
    for subject in named:
        if too_wide := subjects.open_in(subject):
            yield role.fault(statement.path, f"trusts {shown(subject)}, which {too_wide}", _SUBJECT_FIX)


def _equal(statement: Statement, wanted: str) -> list[str]:
    """The values that a claim must have. ForAllValues also passes a token without the claim, so it asks for nothing."""
    operators = re.compile(r"(ForAnyValue:)?String(Equals|Like)(IgnoreCase)?")
    return [
        value
        for operator, key, values in statement.conditions
        if key.lower() == wanted.lower() and operators.fullmatch(operator)
        for value in values
    ]


_ADMIN_ROLES = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}
_GIVES_ROLES = ("User Access Administrator", "Role Based Access Control Administrator")
_WHOLE_SUBSCRIPTION = re.compile(r"/?(subscriptions/[^/]+/?|providers/microsoft\.management/managementgroups/[^/]+/?)?")


@resource_policy(
    "azure-admin-role",
    kinds.ROLE_ASSIGNMENT,
    kinds.ROLE_DEFINITION,
    area="identity",
    description="No identity administers a whole subscription, and no role of one's own holds every action.",
    why="One leaked credential of it, from a node or a pipeline, is the whole subscription: data, capacity and bill.",
    fix="Assign a role for the job (Storage Blob Data Contributor, …) at the resource or the resource group; an "
    "administrator of access gets a condition that names the roles to give.",
    severity=Severity.CRITICAL,
    reference="https://learn.microsoft.com/azure/role-based-access-control/best-practices",
)
def azure_admin_role(resource: Resource) -> Iterator[Fault]:
    if resource.type == kinds.ROLE_DEFINITION:
        for path in ("permissions[].actions[]", "permissions[].dataActions[]"):
            for view in resource.each(path):
                if view.value == "*" or str(view.value).lower() == "microsoft.authorization/*":
                    yield resource.fault(view.path, f"is {shown(view.value)}", "Name the actions.")
        return
    definition = resource.get("roleDefinitionId")
    role = _ADMIN_ROLES.get(str(definition).lower().rpartition("/")[2]) if definition is not UNKNOWN else None
    if role is None or (role in _GIVES_ROLES and resource.has("condition")):
        return
    scope = resource.get("scope")
    if isinstance(scope, str) and _WHOLE_SUBSCRIPTION.fullmatch(scope.lower()):
        yield resource.fault("roleDefinitionId", f"is {role}, and its scope {shown(scope)}")


@resource_policy(
    "azure-federated-trust-open",
    kinds.FEDERATED_CREDENTIAL,
    area="identity",
    description="An identity trusts GitHub for one repository and environment.",
    why="Whoever meets the subject gets the rights of the identity.",
    fix=_SUBJECT_FIX,
    severity=Severity.CRITICAL,
    reference="https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust",
    options=Subjects,
)
def azure_federated_trust_open(credential: Resource, subjects: Subjects) -> Iterator[Fault]:
    issuer = credential.get("issuer")
    if not isinstance(issuer, str) or GITHUB not in issuer:
        return
    subject = credential.get("subject")
    if subject is not UNKNOWN and (too_wide := subjects.open_in(str(subject))):
        yield credential.fault("subject", f"is {shown(subject)}, which {too_wide}")
