"""Auto Scaling groups."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.aws.compute import LAUNCH_TEMPLATE, PLACEMENT_GROUP, judge_template_version
from localcloud.aws.kind import AwsKind, in_range, one_of
from localcloud.aws.network import SUBNET
from localcloud.kinds import Call, Ref
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import Properties

GROUP = "aws:autoscaling/group:Group"
_MIXED = "mixedInstancesPolicy.launchTemplate.launchTemplateSpecification.launchTemplateId"


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
    template = call.inputs.get("launchTemplate") or {}
    judge_template_version(call, template.get("id"), template.get("version"), "launchTemplate.version")


def _derive(call: Call) -> Properties:
    wanted = call.inputs.get("desiredCapacity")
    if wanted is None:
        before = call.old.outputs["desiredCapacity"] if call.old else call.inputs["minSize"]
        wanted = min(max(before, call.inputs["minSize"]), call.inputs["maxSize"])
    subnets = [call.find(SUBNET, subnet) for subnet in call.inputs.get("vpcZoneIdentifiers", [])]
    zones = sorted({subnet.outputs["availabilityZone"] for subnet in subnets if subnet})
    return {
        "desiredCapacity": wanted,
        "availabilityZones": call.inputs.get("availabilityZones", zones),
        "vpcZoneIdentifiers": call.inputs.get("vpcZoneIdentifiers", []),
        "healthCheckType": call.inputs.get("healthCheckType", "EC2"),
        "defaultCooldown": call.inputs.get("defaultCooldown", 300),
    }


def _has_nodes(group: Record) -> bool:
    return group.outputs["desiredCapacity"] > 0


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
            Ref(path=_MIXED, target=LAUNCH_TEMPLATE, holds=False),
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
