"""IAM roles, policies, instance profiles and identity providers; KMS keys."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from datetime import UTC, datetime

from localcloud.aws.kind import AwsKind, in_range, json_text
from localcloud.kinds import Call, Ref
from localcloud.schema import Failure
from localcloud.values import Properties

ROLE = "aws:iam/role:Role"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
POLICY = "aws:iam/policy:Policy"
INSTANCE_PROFILE = "aws:iam/instanceProfile:InstanceProfile"
KEY = "aws:kms/key:Key"
_IAM = "arn:{partition}:iam::{account}:"
_MUST = "Cannot delete entity, must "


def _unique(prefix: str) -> str:
    return prefix + "".join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(17))


def _check_role(inputs: Properties) -> Iterator[Failure]:
    yield from json_text(inputs, "assumeRolePolicy")
    yield from _check_length(inputs, 64)


def _check_length(inputs: Properties, most: int) -> Iterator[Failure]:
    name = inputs.get("name")
    if isinstance(name, str) and len(name) > most:
        yield Failure("name", f"expected length of name to be in the range (1 - {most}), got {name} ({len(name)})")


def _check_key(inputs: Properties) -> Iterator[Failure]:
    yield from in_range(inputs, "deletionWindowInDays", 7, 30)


def _created(prefix: str):
    def create(_: Call) -> Properties:
        return {"uniqueId": _unique(prefix), "createDate": datetime.now(UTC).isoformat(timespec="seconds")}

    return create


def _role_ref(says: str) -> Ref:
    return Ref(path="role", target=ROLE, strict=True, says=says)


KINDS = (
    AwsKind(
        token=ROLE,
        id_form="{name}",
        named="name",
        longest=64,
        scope="account",
        arn=_IAM + "role{path}{name}",
        immutable=("name", "namePrefix", "path"),
        defaults={"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"},
        check=_check_role,
        create=_created("AROA"),
        taken=("EntityAlreadyExists", "Role with name {name} already exists."),
        in_use=("DeleteConflict", _MUST + "detach all policies first."),
        not_found="NoSuchEntity",
    ),
    AwsKind(
        token=ROLE_POLICY,
        named="name",
        id_of=lambda inputs: f"{inputs['role']}:{inputs.get('name', '')}",
        scope="account",
        tagged=False,
        immutable=("role", "name", "namePrefix"),
        refs=(_role_ref(_MUST + "delete policies first."),),
        check=lambda inputs: json_text(inputs, "policy"),
    ),
    AwsKind(
        token=ATTACHMENT,
        id_of=lambda inputs: f"{inputs['role']}/{inputs['policyArn']}",
        scope="account",
        tagged=False,
        immutable=("role", "policyArn"),
        refs=(_role_ref(_MUST + "detach all policies first."), Ref(path="policyArn", target=POLICY, by="arn")),
    ),
    AwsKind(
        token=POLICY,
        id_form=_IAM + "policy{path}{name}",
        named="name",
        longest=128,
        scope="account",
        arn=_IAM + "policy{path}{name}",
        immutable=("name", "namePrefix", "path", "description"),
        defaults={"path": "/"},
        check=lambda inputs: json_text(inputs, "policy"),
        create=lambda _: {"policyId": _unique("ANPA"), "attachmentCount": 0},
        taken=("EntityAlreadyExists", "A policy called {name} already exists. Duplicate names are not allowed."),
        in_use=("DeleteConflict", "Cannot delete a policy attached to entities."),
        not_found="NoSuchEntity",
    ),
    AwsKind(
        token=INSTANCE_PROFILE,
        id_form="{name}",
        named="name",
        longest=128,
        scope="account",
        arn=_IAM + "instance-profile{path}{name}",
        immutable=("name", "namePrefix", "path"),
        defaults={"path": "/"},
        refs=(_role_ref(_MUST + "remove roles from instance profile first."),),
        check=lambda inputs: _check_length(inputs, 128),
        create=_created("AIPA"),
        taken=("EntityAlreadyExists", "Instance Profile {name} already exists."),
        not_found="NoSuchEntity",
    ),
    AwsKind(
        token="aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        id_form=_IAM + "oidc-provider/{host}",
        scope="account",
        arn=_IAM + "oidc-provider/{host}",
        immutable=("url",),
        named="url",
        taken=("EntityAlreadyExists", "Provider with url {name} already exists."),
    ),
    AwsKind(
        token=KEY,
        id_is_uuid=True,
        arn="arn:{partition}:kms:{region}:{account}:key/{id}",
        immutable=("keyUsage", "customerMasterKeySpec", "multiRegion"),
        defaults={"keyUsage": "ENCRYPT_DECRYPT", "customerMasterKeySpec": "SYMMETRIC_DEFAULT", "isEnabled": True},
        check=_check_key,
        create=lambda call: {"keyId": call.id, "keyRotationEnabled": False, "multiRegion": False},
    ),
    AwsKind(
        token="aws:kms/alias:Alias",
        id_form="{name}",
        named="name",
        tagged=False,
        arn="arn:{partition}:kms:{region}:{account}:{name}",
        immutable=("name", "namePrefix"),
        derive=lambda call: {"targetKeyArn": call.inputs["targetKeyId"]},
        taken=("AlreadyExistsException", "An alias with the name {name} already exists"),
    ),
)
