"""Fleets and single instances. Groups that keep their size: `autoscaling`."""

from __future__ import annotations

from localcloud.addresses import free_address
from localcloud.aws.compute import LAUNCH_TEMPLATE, PLACEMENT_GROUP
from localcloud.aws.identity import INSTANCE_PROFILE
from localcloud.aws.kind import AwsKind, among
from localcloud.aws.network import SECURITY_GROUP, SUBNET, new_id
from localcloud.kinds import Call, Ref, Refusal
from localcloud.values import Properties, first

FLEET = "aws:ec2/fleet:Fleet"
INSTANCE = "aws:ec2/instance:Instance"
_EC2 = "arn:{partition}:ec2:{region}:{account}:"
_FLEET_CAPACITY = "targetCapacitySpecification"


def _create_fleet(call: Call) -> Properties:
    capacity = first(call.inputs, "targetCapacitySpecification.totalTargetCapacity", 0)
    ids = [new_id("i") for _ in range(capacity)]
    spot = first(call.inputs, "targetCapacitySpecification.defaultTargetCapacityType") == "spot"
    instant = call.inputs["type"] == "instant"
    sets = [{"instanceIds": ids, "lifecycle": "spot" if spot else "on-demand"}] if instant and ids else []
    return {
        "fleetState": "active",
        "fulfilledCapacity": capacity,
        "fulfilledOnDemandCapacity": 0 if spot else capacity,
        "fleetInstanceSets": sets,
    }


def _delete_fleet(call: Call) -> None:
    if call.inputs["type"] == "instant" and not call.inputs["terminateInstances"]:
        raise Refusal(
            "UnsuccessfulFleetDeletions",
            f"{call.id}: an instant fleet cannot be deleted without its instances; set terminateInstances to true and "
            "update before the delete",
        )


def _create_instance(call: Call) -> Properties:
    subnet = call.find(SUBNET, call.inputs.get("subnetId"))
    private = call.inputs.get("privateIp") or free_address(call.tx, subnet.inputs.get("cidrBlock") if subnet else None)
    return {
        "instanceState": "running",
        "privateIp": private,
        "privateDns": f"ip-{private.replace('.', '-')}.ec2.internal",
        "publicIp": "",
        "publicDns": "",
        "primaryNetworkInterfaceId": new_id("eni"),
        "instanceLifecycle": "",
        "availabilityZone": subnet.outputs["availabilityZone"] if subnet else "",
    }


KINDS = (
    AwsKind(
        token=FLEET,
        id_is_uuid=True,
        id_prefix="fleet",
        arn=_EC2 + "fleet/{id}",
        immutable=(
            "type",
            "spotOptions",
            "onDemandOptions.allocationStrategy",
            "replaceUnhealthyInstances",
            f"{_FLEET_CAPACITY}.defaultTargetCapacityType",
            f"{_FLEET_CAPACITY}.onDemandTargetCapacity",
            f"{_FLEET_CAPACITY}.spotTargetCapacity",
            f"{_FLEET_CAPACITY}.targetCapacityUnitType",
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
            Ref(path="launchTemplateConfigs[].overrides[].subnetId", target=SUBNET),
        ),
        check=lambda inputs: among(inputs, "type", ("maintain", "request", "instant")),
        create=_create_fleet,
        delete=_delete_fleet,
    ),
    AwsKind(
        token=INSTANCE,
        id_prefix="i",
        arn=_EC2 + "instance/{id}",
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
        refs=(
            Ref(path="subnetId", target=SUBNET),
            Ref(path="vpcSecurityGroupIds[]", target=SECURITY_GROUP),
            Ref(path="placementGroup", target=PLACEMENT_GROUP),
            Ref(path="iamInstanceProfile", target=INSTANCE_PROFILE, holds=False),
            Ref(path="launchTemplate.id", target=LAUNCH_TEMPLATE, holds=False),
        ),
        create=_create_instance,
        not_found="InvalidInstanceID.NotFound",
    ),
)
