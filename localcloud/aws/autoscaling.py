"""Auto Scaling groups.

A group refuses a template that could never launch (assumed: with RunInstances' code in the text of its own
ValidationError; issues quote both forms). For want of capacity it is made all the same, with the nodes that could be
had, and the provider's wait fails at once with the text of the failed activity. It counts nodes: weights of mixed
instances are not modelled. Nodes of an older template version stay until they are replaced, as no refresh is started.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator

from localcloud.aws.capacity import Census
from localcloud.aws.compute import LAUNCH_TEMPLATE, data_of
from localcloud.aws.kind import AwsKind, in_range, one_of
from localcloud.aws.launches import Launch, fill, judge_launch, launch_of
from localcloud.aws.network import SUBNET
from localcloud.aws.nodes import GROUP, Nodes, as_output, nodes_of, without
from localcloud.aws.placement import PLACEMENT_GROUP
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import Properties, first

_MIXED = "mixedInstancesPolicy.launchTemplate"
_MIXED_ID = f"{_MIXED}.launchTemplateSpecification.launchTemplateId"
_DISTRIBUTION = "mixedInstancesPolicy.instancesDistribution"


def _check(inputs: Properties) -> Iterator[Failure]:
    yield from one_of(inputs, "launchConfiguration", "launchTemplate", "mixedInstancesPolicy")
    yield from one_of(inputs, "vpcZoneIdentifiers", "availabilityZones")
    for name in ("minSize", "maxSize", "desiredCapacity"):
        yield from in_range(inputs, name, 0)
    least, most, wanted = (inputs.get(name) for name in ("minSize", "maxSize", "desiredCapacity"))
    if isinstance(least, int) and isinstance(most, int):
        if least > most:
            yield Failure("minSize", f"Max bound, {most}, must be greater than or equal to min bound, {least}")
        elif isinstance(wanted, int) and not least <= wanted <= most:
            yield Failure(
                "desiredCapacity",
                f"Desired capacity:{wanted} must be between the specified min size:{least} and max size:{most}",
            )


def _judge(call: Call) -> None:
    template = call.inputs.get("launchTemplate") or first(call.inputs, f"{_MIXED}.launchTemplateSpecification")
    if template:
        data_of(call, template)  # refuses a version that there is not
    _judge_one_zone(call)
    for launch in _launches(call, ""):
        _judge_security_groups(launch)
        try:
            judge_launch(call, launch)
        except Refusal as refusal:
            raise Refusal(
                "ValidationError",
                f"launchTemplate: You must use a valid fully-formed launch template. {refusal.code}: {refusal.message}",
            ) from None


def _judge_security_groups(launch: Launch) -> None:
    if launch.interfaces and launch.data.get("vpcSecurityGroupIds"):
        raise Refusal(
            "InvalidQueryParameter",
            "vpcSecurityGroupIds: Invalid launch template: When a network interface is provided, the security groups "
            "must be a part of it; put the groups on each network interface.",
        )


def _judge_one_zone(call: Call) -> None:
    """A group in a cluster placement group starts in one zone only (wording assumed)."""
    group = call.find(PLACEMENT_GROUP, call.inputs.get("placementGroup"))
    zones = {launch.zone for launch in _launches(call, "") if launch.zone}
    if group is not None and group.inputs.get("strategy") == "cluster" and len(zones) > 1:
        raise Refusal(
            "ValidationError",
            "vpcZoneIdentifiers: You must use a valid fully-formed launch template. InvalidParameterCombination: the "
            f"cluster placement group {group.id} cannot span Availability Zones; the subnets are in "
            f"{', '.join(sorted(zones))}.",
        )


def _launches(call: Call, purchase: str) -> Iterator[Launch]:
    """A launch for each place and each type that the group may use, the preferred ones first."""
    said = call.inputs
    mixed = first(said, _MIXED) or {}
    template = said.get("launchTemplate") or mixed.get("launchTemplateSpecification")
    for override in mixed.get("overrides") or [{}]:
        mine: Properties = {"instanceType": override.get("instanceType")}
        if said.get("placementGroup"):
            mine["placement"] = {"groupName": said["placementGroup"]}
        if said.get("capacityReservationSpecification"):
            mine["capacityReservationSpecification"] = said["capacityReservationSpecification"]
        used = override.get("launchTemplateSpecification") or template
        for place in said.get("vpcZoneIdentifiers") or said.get("availabilityZones") or []:
            yield launch_of(call, used, mine, place, purchase)


def _shares(inputs: Properties, wanted: int) -> dict[str, int]:
    """How many nodes of each purchase option; the empty one is what the template says."""
    if not inputs.get("mixedInstancesPolicy"):
        return {"": wanted}
    said = first(inputs, _DISTRIBUTION) or {}
    base = min(said.get("onDemandBaseCapacity") or 0, wanted)
    above = (wanted - base) * (said.get("onDemandPercentageAboveBaseCapacity", 100)) / 100
    on_demand = base + math.ceil(above)
    return {"on-demand": on_demand, "spot": wanted - on_demand}


def _derive(call: Call) -> Properties:
    wanted = _wanted(call)
    nodes, refusal = kept_up(call, nodes_of(call.old) if call.old else [], wanted)
    if refusal is not None and _waits(call, wanted):
        call.unfinished(_wait_error(call, refusal, wanted, sum(len(alike.ids) for alike in nodes)))
    subnets = [call.find(SUBNET, subnet) for subnet in call.inputs.get("vpcZoneIdentifiers", [])]
    zones = sorted({subnet.outputs["availabilityZone"] for subnet in subnets if subnet})
    return {
        "desiredCapacity": wanted,
        "availabilityZones": call.inputs.get("availabilityZones", zones),
        "vpcZoneIdentifiers": call.inputs.get("vpcZoneIdentifiers", []),
        "healthCheckType": call.inputs.get("healthCheckType", "EC2"),
        "defaultCooldown": call.inputs.get("defaultCooldown", 300),
        **as_output(nodes),
    }


def _wanted(call: Call) -> int:
    wanted = call.inputs.get("desiredCapacity")
    if wanted is not None:
        return wanted
    before = call.old.outputs["desiredCapacity"] if call.old else call.inputs["minSize"]
    return min(max(before, call.inputs["minSize"]), call.inputs["maxSize"])


def kept_up(call: Call, nodes: list[Nodes], wanted: int) -> tuple[list[Nodes], Refusal | None]:
    """So many nodes, or as many as can be had and why no more."""
    have = sum(len(alike.ids) for alike in nodes)
    # Scaling in passes protected nodes by, and a group may then have more than it wants.
    excess = 0 if call.inputs.get("protectFromScaleIn") else max(have - wanted, 0)
    census, why = Census(call, without(nodes, excess)), None
    for purchase, share in _shares(call.inputs, wanted).items():
        have = sum(len(alike.ids) for alike in census.own if purchase in ("", alike.purchase))
        why = fill(call, _launches(call, purchase), census, max(share - have, 0)) or why
    return census.own, why


def _waits(call: Call, wanted: int) -> bool:
    """An update waits only where the wanted number changed; a timeout of nothing waits never."""
    timeout = str(call.inputs.get("waitForCapacityTimeout", ""))
    changed = call.old is None or call.old.outputs["desiredCapacity"] != wanted
    return changed and timeout not in ("0", "0s", "0m")


def _wait_error(call: Call, refusal: Refusal, wanted: int, have: int) -> str:
    waiting = f"waiting for Auto Scaling Group ({call.id}) capacity satisfied: "
    if call.inputs.get("ignoreFailedScalingActivities"):
        return (
            f"{waiting}timeout while waiting for state to become 'ok' (last state: 'want at least {wanted} healthy "
            f"instance(s) in Auto Scaling Group, have {have}', timeout: {_as_go_says(call.inputs)})"
        )
    return (
        f"{waiting}scaling activity ({uuid.uuid4()}): Failed: {refusal.code}: {refusal.message} Launching EC2 instance "
        f"failed. (have {have} of {wanted})"
    )


def _as_go_says(inputs: Properties) -> str:
    timeout = str(inputs["waitForCapacityTimeout"])
    return f"{timeout}0s" if timeout.endswith("m") else timeout


def _has_nodes(group: Record) -> bool:
    return bool(nodes_of(group))


KINDS = (
    AwsKind(
        token=GROUP,
        id_form="{name}",
        named="name",
        arn="arn:{partition}:autoscaling:{region}:{account}:autoScalingGroup:*:autoScalingGroupName/{name}",
        immutable=("name", "namePrefix", "initialLifecycleHooks"),
        defaults={
            "forceDelete": False,
            "forceDeleteWarmPool": False,
            "healthCheckGracePeriod": 300,
            "ignoreFailedScalingActivities": False,
            "metricsGranularity": "1Minute",
            "protectFromScaleIn": False,
            "waitForCapacityTimeout": "10m",
        },
        tagged=False,
        refs=(
            Ref(path="launchTemplate.id", target=LAUNCH_TEMPLATE, holds=False),
            Ref(path=_MIXED_ID, target=LAUNCH_TEMPLATE, holds=False),
            Ref(path="placementGroup", target=PLACEMENT_GROUP, holds=_has_nodes),
            Ref(path="vpcZoneIdentifiers[]", target=SUBNET, holds=_has_nodes),
        ),
        check=_check,
        judge=_judge,
        derive=_derive,
        taken=(
            "AlreadyExists",
            "AutoScalingGroup by this name already exists - A group with the name {name} already exists",
        ),
    ),
)
