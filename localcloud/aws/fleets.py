"""EC2 Fleets.

Whatever goes wrong with the launches of a fleet is no error of its creation: EC2 lists the errors beside what it could
start, and the provider drops the list. So a fleet that got nothing is a successful creation; the stand-in adds a
warning, which the real provider does not give. EC2 modifies only fleets of the type maintain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from localcloud.aws.capacity import Census
from localcloud.aws.compute import LAUNCH_TEMPLATE
from localcloud.aws.kind import AwsKind
from localcloud.aws.launches import Launch, fill, judge_launch, launch_of
from localcloud.aws.network import SUBNET
from localcloud.aws.nodes import FLEET, INSTANCE, Nodes, as_output, nodes_of, without
from localcloud.kinds import Call, Ref, Refusal
from localcloud.store import Record
from localcloud.values import Properties

_MOST_AT_ONCE = 1000
"""Source: EC2 API reference, SpotOptionsRequest.MinTargetCapacity."""
_CAPACITY = "targetCapacitySpecification"
_MODIFIABLE = (_CAPACITY, "excessCapacityTerminationPolicy", "launchTemplateConfigs", "context")


def _judge(call: Call) -> None:
    for options in ("onDemandOptions", "spotOptions"):
        said = call.inputs.get(options) or {}
        if not said.get("minTargetCapacity"):
            continue
        if call.inputs["type"] != "instant":
            raise Refusal(
                "InvalidParameterCombination", f"{options}.minTargetCapacity: it is for fleets of the type instant only"
            )
        if said["minTargetCapacity"] > _MOST_AT_ONCE:
            text = f"{options}.minTargetCapacity: the maximum is {_MOST_AT_ONCE}; {said['minTargetCapacity']} was given"
            raise Refusal("InvalidParameterValue", text)
        if not said.get("singleAvailabilityZone") and not said.get("singleInstanceType"):
            raise Refusal(
                "InvalidParameterCombination",
                f"{options}.minTargetCapacity: it needs singleInstanceType or singleAvailabilityZone beside it",
            )
    if call.old is not None and call.inputs["type"] != "maintain":
        for name in _MODIFIABLE:
            if call.inputs.get(name) != call.old.inputs.get(name):
                raise Refusal(
                    "InvalidParameterValue",
                    f"{name}: you can only modify a fleet of the type maintain, and {call.id} is "
                    f"{call.inputs['type']}: replace it",
                )


def _derive(call: Call) -> Properties:
    return outputs_with(call, nodes_of(call.old) if call.old else [])


def outputs_with(call: Call, nodes: list[Nodes]) -> Properties:
    """What a fleet says that has these nodes, and those that it starts now: at first, or to keep its number up."""
    if call.old is None or call.inputs["type"] == "maintain":
        nodes = _adjusted(call, nodes)
    weights = {
        purchase: sum(len(alike.ids) * alike.weight for alike in nodes if alike.purchase == purchase)
        for purchase in ("on-demand", "spot", "capacity-block")
    }
    return {
        "fleetState": "active",
        "fulfilledCapacity": sum(weights.values()),
        "fulfilledOnDemandCapacity": weights["on-demand"],
        "fleetInstanceSets": _sets(nodes) if call.inputs["type"] == "instant" else [],
        **as_output(nodes),
    }


def _adjusted(call: Call, nodes: list[Nodes]) -> list[Nodes]:
    for purchase, wanted in _targets(call.inputs).items():
        have = sum(len(alike.ids) * alike.weight for alike in nodes if alike.purchase == purchase)
        others = [alike for alike in nodes if alike.purchase != purchase]
        own = [alike for alike in nodes if alike.purchase == purchase]
        if have > wanted and call.inputs.get("excessCapacityTerminationPolicy") != "no-termination":
            own = without(own, have - wanted)
        elif have < wanted:
            own = _launched(call, purchase, wanted - have, own)
        nodes = [*others, *own]
    return nodes


def _targets(inputs: Properties) -> dict[str, int]:
    said = inputs.get(_CAPACITY) or {}
    targets = {"on-demand": said.get("onDemandTargetCapacity") or 0, "spot": said.get("spotTargetCapacity") or 0}
    default = said.get("defaultTargetCapacityType") or "on-demand"
    rest = (said.get("totalTargetCapacity") or 0) - sum(targets.values())
    return {**targets, default: targets.get(default, 0) + max(rest, 0)}


def _launched(call: Call, purchase: str, wanted: int, own: list[Nodes]) -> list[Nodes]:
    options = call.inputs.get("spotOptions" if purchase == "spot" else "onDemandOptions") or {}
    census, refusal = Census(call, list(own)), None
    for launches in _choices(list(_launches(call, purchase)), options):
        census = Census(call, list(own))
        good, refusal = _judged(call, launches)
        if good:
            refusal = fill(call, good, census, wanted)
        started = sum(len(alike.ids) * alike.weight for alike in census.own)
        if started < (options.get("minTargetCapacity") or 0):
            census = Census(call, list(own))
        if refusal is None:
            return census.own
    if refusal is not None:
        call.warn(
            f"CreateFleet answered with an error that the provider does not show: {refusal.code}: {refusal.message} "
            "Look at fulfilledCapacity."
        )
    return census.own


def _judged(call: Call, launches: list[Launch]) -> tuple[list[Launch], Refusal | None]:
    """Those that could be launched at all; one that could not does not stop the others."""
    good, why = [], None
    for launch in launches:
        try:
            judge_launch(call, launch)
            good.append(launch)
        except Refusal as refusal:
            why = refusal
    return good, why


def _choices(launches: list[Launch], options: Properties) -> list[list[Launch]]:
    """The sets of launches of which one must give all the nodes: one zone, or one type, where that is asked for."""
    if not options.get("singleAvailabilityZone") and not options.get("singleInstanceType"):
        return [launches]
    keys = dict.fromkeys(_key(launch, options) for launch in launches)
    return [[launch for launch in launches if _key(launch, options) == key] for key in keys]


def _key(launch: Launch, options: Properties) -> tuple[str, str]:
    zone = launch.zone if options.get("singleAvailabilityZone") else ""
    return zone, launch.type if options.get("singleInstanceType") else ""


def _launches(call: Call, purchase: str) -> Iterator[Launch]:
    for config in call.inputs["launchTemplateConfigs"]:
        template = config.get("launchTemplateSpecification") or {}
        for override in config.get("overrides") or [{}]:
            said = {"instanceType": override.get("instanceType")}
            subnet = override.get("subnetId") or override.get("availabilityZone")
            yield launch_of(call, template, said, subnet, purchase, int(override.get("weightedCapacity") or 1))


def _sets(nodes: list[Nodes]) -> list[Properties]:
    return [
        {"instanceIds": list(alike.ids), "instanceType": alike.type, "lifecycle": alike.purchase, "platform": ""}
        for alike in nodes
    ]


def _delete(call: Call) -> None:
    assert call.old is not None
    nodes = nodes_of(call.old)
    if call.inputs.get("terminateInstances") or not nodes:
        return
    if call.inputs["type"] == "instant":
        raise Refusal(
            "UnsuccessfulFleetDeletions",
            f"{call.id}: an instant fleet cannot be deleted without its instances; set terminateInstances to true and "
            "update before the delete",
        )
    for alike in nodes:  # they run on, and nobody manages them
        for id_ in alike.ids:
            outputs = {
                "instanceType": alike.type,
                "instanceState": "running",
                **as_output([replace(alike, ids=(id_,))]),
            }
            call.tx.put(Record(cloud="aws", scope=call.scope, type=INSTANCE, id=id_, outputs=outputs))


KINDS = (
    AwsKind(
        token=FLEET,
        id_is_uuid=True,
        id_prefix="fleet",
        arn="arn:{partition}:ec2:{region}:{account}:fleet/{id}",
        immutable=(
            "type",
            "spotOptions",
            "onDemandOptions.allocationStrategy",
            "replaceUnhealthyInstances",
            f"{_CAPACITY}.defaultTargetCapacityType",
            f"{_CAPACITY}.onDemandTargetCapacity",
            f"{_CAPACITY}.spotTargetCapacity",
            f"{_CAPACITY}.targetCapacityUnitType",
            "terminateInstancesWithExpiration",
            "validFrom",
            "validUntil",
        ),
        defaults={"type": "maintain", "terminateInstances": False, "replaceUnhealthyInstances": False},
        refs=(
            Ref(
                path="launchTemplateConfigs[].launchTemplateSpecification.launchTemplateId",
                target=LAUNCH_TEMPLATE,
                holds=False,
            ),
            Ref(path="launchTemplateConfigs[].overrides[].subnetId", target=SUBNET, holds=False),
        ),
        judge=_judge,
        derive=_derive,
        delete=_delete,
    ),
)
