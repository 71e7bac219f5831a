"""Placement, reserved capacity, launch templates and key pairs. What launches nodes: `instances`, `autoscaling`."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator

from localcloud.aws.identity import INSTANCE_PROFILE
from localcloud.aws.kind import AwsKind, among, at_most_one_of, in_range
from localcloud.aws.network import SECURITY_GROUP, SUBNET, new_id
from localcloud.aws.zones import zones_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, first

PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
CAPACITY_BLOCK = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
KEY_PAIR = "aws:ec2/keyPair:KeyPair"
_USER_DATA_BYTES = 16384
_NO_NEW_VERSION = {"tags", "tagsAll", "defaultVersion", "updateDefaultVersion"}
"""Inputs of a launch template whose change makes no new version of it."""


def _check_placement(inputs: Properties) -> Iterator[Failure]:
    strategy = inputs.get("strategy")
    yield from among(inputs, "strategy", ("cluster", "partition", "spread"))
    for name, of in (("partitionCount", "partition"), ("spreadLevel", "spread")):
        if inputs.get(name) is not None and strategy not in (of, UNKNOWN):
            yield Failure(name, f'{name} must not be set when strategy = "{strategy}"')


def _check_reservation(inputs: Properties) -> Iterator[Failure]:
    yield from in_range(inputs, "instanceCount", 1, 1000)
    yield from among(inputs, "instanceMatchCriteria", ("open", "targeted"))
    yield from among(inputs, "endDateType", ("unlimited", "limited"))
    yield from among(inputs, "tenancy", ("default", "dedicated"))


def _judge_reservation(call: Call) -> None:
    zones = zones_of(call.region)
    zone = call.inputs["availabilityZone"]
    if zone not in zones:
        near = next((n for n, i in zones.items() if i == zone), "")
        hint = f" It takes the zone's name, here {near}." if near else f" Zones: {', '.join(zones)}."
        raise Refusal("InvalidParameterValue", f"The availability zone '{zone}' is invalid.{hint}")


def _create_block(call: Call) -> Properties:
    return {
        "availabilityZone": next(iter(zones_of(call.region))),
        "instanceCount": 1,
        "reservationType": "capacity-block",
        "tenancy": "default",
    }


def _check_template(inputs: Properties) -> Iterator[Failure]:
    yield from at_most_one_of(inputs, "instanceType", "instanceRequirements")
    yield from at_most_one_of(inputs, "updateDefaultVersion", "defaultVersion")
    yield from at_most_one_of(inputs, "vpcSecurityGroupIds", "securityGroupNames")
    hops = first(inputs, "metadataOptions.httpPutResponseHopLimit")
    if isinstance(hops, int) and not 1 <= hops <= 64:
        path = "metadataOptions.httpPutResponseHopLimit"
        yield Failure(path, f"expected {path} to be between 1 and 64, got {hops}")
    if inputs.get("vpcSecurityGroupIds") and inputs.get("networkInterfaces"):
        yield Failure(
            "vpcSecurityGroupIds",
            "network interfaces and template-level security groups cannot be given together; "
            "put the groups on each network interface",
        )
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
    if call.old is None:
        return {"latestVersion": 1, "defaultVersion": 1}
    bump = "latestVersion" in _new_version(
        call.old.inputs, {**call.inputs, "__defaults": call.old.inputs.get("__defaults")}
    )
    latest = call.old.outputs["latestVersion"] + (1 if bump else 0)
    default = latest if call.inputs.get("updateDefaultVersion") else call.old.outputs["defaultVersion"]
    return {"latestVersion": latest, "defaultVersion": call.inputs.get("defaultVersion", default)}


def judge_template_version(call: Call, template_id: str | None, version: str | None, path: str) -> None:
    template = call.find(LAUNCH_TEMPLATE, template_id) if template_id else None
    if template is None or not version or not version.isdigit():
        return
    latest = template.outputs["latestVersion"]
    if not 1 <= int(version) <= latest:
        raise Refusal(
            "InvalidLaunchTemplateId.VersionNotFound",
            f"{path}: Could not find launch template version {version} of {template_id}; its latest is {latest}",
        )


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
        token=PLACEMENT_GROUP,
        id_form="{name}",
        named="name",
        arn=_EC2 + "placement-group/{name}",
        immutable=("name", "strategy", "partitionCount", "spreadLevel"),
        check=_check_placement,
        create=lambda _: {"placementGroupId": new_id("pg")},
        taken=("InvalidPlacementGroup.Duplicate", "The Placement Group '{name}' already exists."),
        in_use=("InvalidPlacementGroup.InUse", "The placement group '{id}' is in use and may not be deleted."),
        not_found="InvalidPlacementGroup.Unknown",
    ),
    AwsKind(
        token=RESERVATION,
        id_prefix="cr",
        arn=_EC2 + "capacity-reservation/{id}",
        owned=True,
        immutable=(
            "availabilityZone",
            "instancePlatform",
            "instanceType",
            "tenancy",
            "ebsOptimized",
            "ephemeralStorage",
            "instanceMatchCriteria",
        ),
        defaults={"endDateType": "unlimited", "instanceMatchCriteria": "open", "tenancy": "default"},
        refs=(Ref(path="placementGroupArn", target=PLACEMENT_GROUP, by="arn"),),
        check=_check_reservation,
        judge=_judge_reservation,
        not_found="InvalidCapacityReservationId.NotFound",
    ),
    AwsKind(
        token=CAPACITY_BLOCK,
        id_prefix="cr",
        arn=_EC2 + "capacity-reservation/{id}",
        immutable=("capacityBlockOfferingId", "instancePlatform"),
        create=_create_block,
        not_found="InvalidCapacityReservationId.NotFound",
    ),
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
