"""Single instances. Fleets: `fleets`. Groups that keep their size: `autoscaling`."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator

from localcloud.aws.capacity import Census
from localcloud.aws.compute import LAUNCH_TEMPLATE
from localcloud.aws.identity import INSTANCE_PROFILE
from localcloud.aws.instance_types import instance_type
from localcloud.aws.kind import AwsKind
from localcloud.aws.launches import Launch, fill, judge_launch, launch_of
from localcloud.aws.network import SECURITY_GROUP, SUBNET, new_id, take_address
from localcloud.aws.nodes import INSTANCE, as_output, nodes_of
from localcloud.aws.placement import PLACEMENT_GROUP
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties, first

_USER_DATA_BYTES = 16384


def _check(inputs: Properties) -> Iterator[Failure]:
    if not inputs.get("launchTemplate"):
        for name in ("ami", "instanceType"):
            if not inputs.get(name):
                yield Failure(name, f"{name} must be given where there is no launchTemplate")
    text = inputs.get("userData")
    if isinstance(text, str) and UNKNOWN not in text and len(text.encode()) > _USER_DATA_BYTES:
        yield Failure("userData", f"User data is limited to {_USER_DATA_BYTES} bytes; this has {len(text.encode())}")


def _replaces(old: Properties, new: Properties) -> Iterable[str]:
    if new.get("userDataReplaceOnChange"):
        yield from ("userData", "userDataBase64")
    before, after = (instance_type(str(inputs.get("instanceType", ""))) for inputs in (old, new))
    if before and after and not set(before.architectures) & set(after.architectures):
        yield "instanceType"


def _launch(call: Call) -> Launch:
    said = call.inputs
    mine: Properties = {
        "instanceType": said.get("instanceType"),
        "imageId": said.get("ami"),
        "subnetId": said.get("subnetId"),
        "vpcSecurityGroupIds": said.get("vpcSecurityGroupIds"),
        "networkInterfaces": said.get("networkInterfaces"),
        "capacityReservationSpecification": said.get("capacityReservationSpecification"),
        "instanceMarketOptions": said.get("instanceMarketOptions"),
    }
    if said.get("placementGroup"):
        mine["placement"] = {"groupName": said["placementGroup"]}
    if said.get("iamInstanceProfile"):
        mine["iamInstanceProfile"] = {"name": said["iamInstanceProfile"]}
    return launch_of(call, said.get("launchTemplate"), mine, said.get("subnetId") or said.get("availabilityZone"))


def _judge(call: Call) -> None:
    launch = _launch(call)
    judge_launch(call, launch)
    if call.inputs.get("associatePublicIpAddress") and len(launch.interfaces) > 1:
        raise Refusal(
            "InvalidParameterCombination",
            "associatePublicIpAddress: The associatePublicIPAddress parameter cannot be specified when launching with "
            f"multiple network interfaces; there are {len(launch.interfaces)}.",
        )
    address = call.inputs.get("privateIp")
    for other in call.others():
        if address and other.inputs.get("privateIp") == address and other.inputs.get("subnetId") == _subnet_of(call):
            raise Refusal("InvalidIPAddress.InUse", f"privateIp: Address {address} is in use.")


def _subnet_of(call: Call) -> str:
    return call.inputs.get("subnetId") or ""


def _create(call: Call) -> Properties:
    launch = _launch(call)
    census = Census(call)
    refusal = fill(call, [launch], census, 1)
    if refusal is not None:
        raise refusal
    subnet = launch.subnet
    # By its number, which `fill` has judged, there is one; the interfaces beside the first are not told apart.
    private = call.inputs.get("privateIp") or take_address(call, subnet)
    public = _has_public_address(call, launch)
    public_address = f"203.0.113.{1 + secrets.randbelow(254)}" if public else ""  # a block kept for documentation
    return {
        "instanceState": "running",
        "privateIp": private,
        "privateDns": f"ip-{private.replace('.', '-')}.ec2.internal",
        "publicIp": public_address,
        "publicDns": f"ec2-{public_address.replace('.', '-')}.compute-1.amazonaws.com" if public else "",
        "primaryNetworkInterfaceId": new_id("eni"),
        "instanceLifecycle": "" if launch.purchase == "on-demand" else launch.purchase,
        "availabilityZone": subnet.outputs["availabilityZone"] if subnet else call.inputs.get("availabilityZone", ""),
        "subnetId": subnet.id if subnet else call.inputs.get("subnetId", ""),
        "instanceType": launch.type,
        "ami": launch.data.get("imageId", ""),
        "vpcSecurityGroupIds": list(launch.security_groups),
        **as_output(census.own),
    }


def _has_public_address(call: Call, launch: Launch) -> bool:
    """A subnet that gives public addresses gives none to a node with several interfaces."""
    asked = call.inputs.get(
        "associatePublicIpAddress", first(launch.data, "networkInterfaces[].associatePublicIpAddress")
    )
    if asked is None and launch.subnet is not None and len(launch.interfaces) <= 1:
        return bool(launch.subnet.inputs.get("mapPublicIpOnLaunch"))
    return asked in (True, "true")


def _derive(call: Call) -> Properties:
    """Another type: the instance is stopped, and starts again if there is capacity for what it then is."""
    if call.old is None:
        return {}
    nodes, launch = nodes_of(call.old), _launch(call)
    if not nodes or not launch.type or nodes[0].type == launch.type:
        return {}
    census = Census(call)
    refusal = fill(call, [launch], census, 1)
    if refusal is not None:
        raise Refusal(refusal.code, f"starting EC2 Instance ({call.id}): {refusal.message}", status=refusal.status)
    return as_output(census.own)


KINDS = (
    AwsKind(
        token=INSTANCE,
        id_prefix="i",
        arn="arn:{partition}:ec2:{region}:{account}:instance/{id}",
        immutable=(
            "ami",
            "availabilityZone",
            "subnetId",
            "keyName",
            "placementGroup",
            "tenancy",
            "networkInterfaces",
            "ebsBlockDevices",
            "ebsOptimized",
            "cpuOptions",
            "instanceMarketOptions",
            "privateIp",
            "associatePublicIpAddress",
            "rootBlockDevice.encrypted",
            "rootBlockDevice.kmsKeyId",
            "launchTemplate.id",
            "launchTemplate.name",
        ),
        replaces=_replaces,
        refs=(
            Ref(path="subnetId", target=SUBNET),
            Ref(path="vpcSecurityGroupIds[]", target=SECURITY_GROUP),
            Ref(path="placementGroup", target=PLACEMENT_GROUP),
            Ref(path="iamInstanceProfile", target=INSTANCE_PROFILE, holds=False),
            Ref(path="launchTemplate.id", target=LAUNCH_TEMPLATE, holds=False),
        ),
        check=_check,
        judge=_judge,
        create=_create,
        derive=_derive,
        not_found="InvalidInstanceID.NotFound",
    ),
)
