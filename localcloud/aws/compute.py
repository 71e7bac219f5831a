"""Launch templates and key pairs.

A template is taken with almost any contents: what is wrong with them shows at the launch, in `launches`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator

from localcloud.aws.capacity import RESERVATION
from localcloud.aws.identity import INSTANCE_PROFILE
from localcloud.aws.kind import AwsKind, at_most_one_of
from localcloud.aws.network import SECURITY_GROUP, SUBNET, new_id
from localcloud.aws.placement import PLACEMENT_GROUP
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties, first

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
KEY_PAIR = "aws:ec2/keyPair:KeyPair"
_USER_DATA_BYTES = 16384
_RESERVED = "capacityReservationSpecification"
_VERSIONS = "__versions"
"""Output that keeps what each version of a template says."""
_NO_NEW_VERSION = {"tags", "tagsAll", "defaultVersion", "updateDefaultVersion"}
"""Inputs of a launch template whose change makes no new version of it."""


def _check_template(inputs: Properties) -> Iterator[Failure]:
    yield from at_most_one_of(inputs, "instanceType", "instanceRequirements")
    yield from at_most_one_of(inputs, "updateDefaultVersion", "defaultVersion")
    yield from at_most_one_of(inputs, "vpcSecurityGroupIds", "securityGroupNames")
    hops = first(inputs, "metadataOptions.httpPutResponseHopLimit")
    if isinstance(hops, int) and not 1 <= hops <= 64:
        path = "metadataOptions.httpPutResponseHopLimit"
        yield Failure(path, f"expected {path} to be between 1 and 64, got {hops}")
    yield from check_user_data(inputs)


def check_user_data(inputs: Properties) -> Iterator[Failure]:
    text = inputs.get("userData")
    if not isinstance(text, str) or UNKNOWN in text:
        return
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        yield Failure("userData", "Invalid BASE64 encoding of user data: encode the script before it is given")
        return
    if size > _USER_DATA_BYTES:
        yield Failure("userData", f"User data is limited to {_USER_DATA_BYTES} bytes; this has {size}")


def _new_version(old: Properties, new: Properties) -> Iterable[str]:
    changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)} - _NO_NEW_VERSION
    outputs = ["latestVersion"] if changed else []
    return [*outputs, "defaultVersion"] if changed and new.get("updateDefaultVersion") else outputs


def _versions(call: Call) -> Properties:
    contents = {key: value for key, value in call.inputs.items() if key not in _NO_NEW_VERSION}
    if call.old is None:
        return {"latestVersion": 1, "defaultVersion": 1, _VERSIONS: {"1": contents}}
    bump = "latestVersion" in _new_version(
        call.old.inputs, {**call.inputs, "__defaults": call.old.inputs.get("__defaults")}
    )
    latest = call.old.outputs["latestVersion"] + (1 if bump else 0)
    default = latest if call.inputs.get("updateDefaultVersion") else call.old.outputs["defaultVersion"]
    versions = {**call.old.outputs.get(_VERSIONS, {}), str(latest): contents}
    return {"latestVersion": latest, "defaultVersion": call.inputs.get("defaultVersion", default), _VERSIONS: versions}


def _judge_template(call: Call) -> None:
    """The one contradiction that EC2 refuses in a template, too (terraform-provider-aws#43881, packer#12912)."""
    said = call.inputs.get(_RESERVED) or {}
    preference = said.get("capacityReservationPreference")
    if said.get("capacityReservationTarget") and preference not in (None, "", "capacity-reservations-only"):
        raise Refusal(
            "InvalidParameterCombination",
            f"{_RESERVED}: The request can include either a CapacityReservationId or a CapacityReservationPreference "
            f"but not both. Beside a target it is left out, or capacity-reservations-only; not {preference}",
        )


def data_of(call: Call, template: Properties) -> Properties:
    """What a template says, in the version that is asked for; nothing of one that is not of this cloud."""
    record = _template_of(call, template)
    if record is None:
        return {}
    version = str(template.get("version") or "$Default")
    latest, default = record.outputs["latestVersion"], record.outputs["defaultVersion"]
    version = {"$Latest": str(latest), "$Default": str(default)}.get(version, version)
    contents = record.outputs[_VERSIONS].get(version)
    if contents is None:
        raise Refusal(
            "InvalidLaunchTemplateId.VersionNotFound",
            f"launchTemplate.version: Could not find launch template version {version} of {record.id}; its latest is "
            f"{latest}",
        )
    return contents


def _template_of(call: Call, template: Properties) -> Record | None:
    id_ = template.get("id") or template.get("launchTemplateId")
    if id_:
        return call.find(LAUNCH_TEMPLATE, id_)
    name = template.get("name") or template.get("launchTemplateName")
    return call.find(LAUNCH_TEMPLATE, name, "name") if name else None


def _check_key(inputs: Properties) -> Iterator[Failure]:
    key = inputs.get("publicKey")
    if isinstance(key, str) and UNKNOWN not in key and not key.startswith(("ssh-ed25519 ", "ssh-rsa ")):
        yield Failure("publicKey", "Key is not in valid OpenSSH public key format: ssh-ed25519 or ssh-rsa is needed")


def _fingerprint(call: Call) -> Properties:
    key = call.inputs["publicKey"]
    digest = base64.b64encode(hashlib.sha256(key.encode()).digest()).decode()
    return {"keyPairId": new_id("key"), "fingerprint": digest, "keyType": "ed25519" if "ed25519" in key else "rsa"}


_EC2 = "arn:{partition}:ec2:{region}:{account}:"

KINDS = (
    AwsKind(
        token=LAUNCH_TEMPLATE,
        id_prefix="lt",
        named="name",
        longest=128,
        arn=_EC2 + "launch-template/{id}",
        immutable=("name", "namePrefix"),
        refs=(
            Ref(path="networkInterfaces[].securityGroups[]", target=SECURITY_GROUP, holds=False),
            Ref(path="networkInterfaces[].subnetId", target=SUBNET, holds=False),
            Ref(path="vpcSecurityGroupIds[]", target=SECURITY_GROUP, holds=False),
            Ref(path="placement.groupName", target=PLACEMENT_GROUP, holds=False),
            Ref(path="iamInstanceProfile.name", target=INSTANCE_PROFILE, holds=False),
            Ref(path="iamInstanceProfile.arn", target=INSTANCE_PROFILE, by="arn", holds=False),
            Ref(
                path="capacityReservationSpecification.capacityReservationTarget.capacityReservationId",
                target=RESERVATION,
                holds=False,
            ),
        ),
        check=_check_template,
        judge=_judge_template,
        derive=_versions,
        volatile=_new_version,
        taken=("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use."),
        not_found="InvalidLaunchTemplateId.NotFound",
    ),
    AwsKind(
        token=KEY_PAIR,
        id_form="{name}",
        named="keyName",
        prefixed="keyNamePrefix",
        arn=_EC2 + "key-pair/{name}",
        immutable=("keyName", "keyNamePrefix", "publicKey"),
        check=_check_key,
        create=_fingerprint,
        taken=("InvalidKeyPair.Duplicate", "The keypair '{name}' already exists."),
        not_found="InvalidKeyPair.NotFound",
    ),
)
