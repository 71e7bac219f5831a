"""What launches get on AWS: reservations, capacity, quotas, addresses; groups, fleets and blocks that get less.

What cannot be launched at all: test_aws_semantics. The limits as such: test_scarcity.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from localcloud.aws import instance_types
from localcloud.aws.losses import nodes, without
from localcloud.aws.nodes import Nodes, nodes_of
from localcloud.kinds import Call
from localcloud.store import Record
from localcloud.values import visible

RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
BLOCK = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:autoscaling/group:Group"
FLEET = "aws:ec2/fleet:Fleet"
INSTANCE = "aws:ec2/instance:Instance"
OFFERING = "aws:ec2/getCapacityBlockOffering:getCapacityBlockOffering"
P5, ZONE = "p5.48xlarge", "use1-az6"
P_QUOTA, P_VCPUS = "L-417A185B", 192


@pytest.fixture
def limits(aws_world: Any) -> Any:
    return aws_world.driver.provider.cloud.scarcity


@pytest.fixture(autouse=True)
def here(aws_world: Any) -> Any:
    return aws_world


def running(here: Any, token: str = GROUP) -> list[Nodes]:
    return [alike for record in records(here, token) for alike in nodes_of(record)]


def number(here: Any, token: str = GROUP) -> int:
    return sum(len(alike.ids) for alike in running(here, token))


def records(here: Any, token: str) -> list[Record]:
    return [record for record in here.driver.store.list() if record.type == token]


def template(here: Any, change: dict[str, Any], name: str = "template") -> dict[str, str]:
    made = here.driver.up(TEMPLATE, here.inputs("plain_template", change), name)
    return {"id": made.id, "version": "$Latest"}


def group(here: Any, change: dict[str, Any], name: str = "group") -> Any:
    return here.driver.up(GROUP, here.inputs("small_group", change), name)


def into(reservation: str) -> dict[str, Any]:
    return {"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": reservation}}}


def in_reservation(here: Any, change: dict[str, Any]) -> dict[str, Any]:
    """A group inside the placement group of the reservation of 16 that it targets."""
    placed = {"placement": {"groupName": here["placement_group"]["name"]}}
    return {"launchTemplate": template(here, {**into(here["reservation"].id), **placed}), **change}


# Reservations


def test_a_reservation_is_granted_whole_or_refused_with_what_there_is(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "on-demand", 15)
    message = here.driver.refusal(lambda: here["reservation"])
    assert "StatusCode: 500" in message
    assert "api error InsufficientInstanceCapacity: We currently do not have sufficient p5.48xlarge" in message
    assert "16 were asked for, 15 can be had" in message
    assert records(here, RESERVATION) == []
    limits.set_capacity("aws", P5, ZONE, "on-demand", 16)
    assert here["reservation"]["instanceCount"] == 16


def test_it_counts_against_the_quota_like_running_nodes(here: Any, limits: Any):
    limits.set_quota("aws", P_QUOTA, 16 * P_VCPUS - 1)
    assert "api error VcpuLimitExceeded" in here.driver.refusal(lambda: here["reservation"])
    limits.set_quota("aws", P_QUOTA, 16 * P_VCPUS)
    assert here["reservation"].id
    message = here.driver.refusal(lambda: here["outside_reservation"])
    assert f"your current vCPU limit of {16 * P_VCPUS} allows" in message


def test_it_grows_in_place_if_there_is_more_and_always_shrinks(here: Any, limits: Any):
    made = here["reservation"]
    limits.set_capacity("aws", P5, ZONE, "on-demand", 18)
    message = here.driver.refusal(lambda: here.driver.update(made, here.inputs("reservation", {"instanceCount": 19})))
    assert "3 were asked for, 2 can be had" in message
    for count in (18, 4):
        assert here.driver.update(made, here.inputs("reservation", {"instanceCount": count}))["instanceCount"] == count


def test_nodes_go_into_the_reservation_that_they_target_and_need_no_capacity_beside_it(here: Any, limits: Any):
    here["reservation"]
    limits.set_capacity("aws", P5, ZONE, "on-demand", 16)
    limits.set_quota("aws", P_QUOTA, 16 * P_VCPUS)
    group(here, in_reservation(here, {"desiredCapacity": 16}))
    assert {alike.reservation for alike in running(here)} == {here["reservation"].id}
    assert number(here) == 16


def test_a_full_reservation_takes_no_more_until_nodes_leave_it(here: Any):
    first = group(here, in_reservation(here, {"desiredCapacity": 14}))
    wanted = here.inputs("small_group", {**in_reservation(here, {"desiredCapacity": 4})})
    message = here.driver.refusal(lambda: here.driver.up(GROUP, wanted, "second"))
    assert "ReservationCapacityExceeded: capacityReservationTarget: The requested reservation does not have" in message
    assert "14 of 16 of cr-" in message
    assert number(here) == 16
    here.driver.delete(first)
    assert number(here) == 2


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ({}, "InsufficientInstanceCapacity", "is in no placement group, the launch in placement_group-"),
        ({"instanceType": "p5en.48xlarge", "placement": None}, "ReservationCapacityExceeded", "is for p5.48xlarge"),
    ],
)
def test_a_launch_that_does_not_match_its_reservation_finds_no_capacity(
    here: Any, change: dict[str, Any], code: str, says: str
):
    placed = {"placement": {"groupName": here["placement_group"]["name"]}}
    used = template(here, {**into(here["outside_reservation"].id), **placed, **change})
    message = here.driver.refusal(lambda: group(here, {"launchTemplate": used}))
    assert f"{code}: capacityReservationTarget: " in message
    assert says in message
    assert number(here) == 0


def test_a_reservation_in_a_placement_group_serves_no_launch_outside_of_it(here: Any):
    message = here.driver.refusal(lambda: group(here, {"launchTemplate": template(here, into(here["reservation"].id))}))
    assert "InsufficientInstanceCapacity: capacityReservationTarget: Insufficient capacity" in message
    assert "the launch in none" in message


def test_a_reservation_in_another_zone_serves_no_launch_here(here: Any):
    change = {"vpcZoneIdentifiers": [here["other_zone_subnet"].id]}
    used = template(here, into(here["outside_reservation"].id))
    message = here.driver.refusal(lambda: group(here, {**change, "launchTemplate": used}))
    assert "is for use1-az6, not use1-az1" in message


def test_open_reservations_are_used_first_unless_they_are_declined(here: Any, limits: Any):
    made = here.driver.up(RESERVATION, here.inputs("outside_reservation", {"instanceMatchCriteria": "open"}))
    limits.set_capacity("aws", P5, ZONE, "on-demand", 3)
    group(here, {"desiredCapacity": 3})
    assert [(alike.reservation, len(alike.ids)) for alike in running(here)] == [(made.id, 2), ("", 1)]
    declined = {"capacityReservationSpecification": {"capacityReservationPreference": "none"}}
    message = here.driver.refusal(lambda: group(here, {"launchTemplate": template(here, declined)}, "second"))
    assert "InsufficientInstanceCapacity" in message


def test_only_reservations_means_nothing_beside_them(here: Any):
    only = {"capacityReservationSpecification": {"capacityReservationPreference": "capacity-reservations-only"}}
    assert "InsufficientInstanceCapacity" in here.driver.refusal(
        lambda: group(here, {"launchTemplate": template(here, only)})
    )


def test_nodes_run_on_when_their_reservation_is_cancelled_and_count_by_themselves(here: Any, limits: Any):
    group(here, {"launchTemplate": template(here, into(here["outside_reservation"].id))})
    here.driver.delete(here["outside_reservation"])
    limits.set_capacity("aws", P5, ZONE, "on-demand", 17)
    assert "15 can be had" in here.driver.refusal(lambda: here["reservation"])


def test_a_placement_group_with_a_reservation_in_it_stays(here: Any):
    here["reservation"]
    assert "InvalidPlacementGroup.InUse" in here.driver.refusal(lambda: here.driver.delete(here["placement_group"]))


# Auto Scaling groups


def test_a_group_is_made_with_the_nodes_that_could_be_had_and_the_wait_fails(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "on-demand", 5)
    failure = here.driver.failure(lambda: group(here, {"desiredCapacity": 8}))
    assert "capacity satisfied: scaling activity" in str(failure)
    assert "Failed: InsufficientInstanceCapacity: We currently do not have sufficient p5.48xlarge" in str(failure)
    assert "Launching EC2 instance failed. (have 5 of 8)" in str(failure)
    assert failure.kept.id.startswith("group-")
    assert number(here) == 5
    (record,) = records(here, GROUP)
    assert record.outputs["desiredCapacity"] == 8, "it goes on wanting"


def test_a_group_that_ignores_failed_activities_times_out_and_one_that_does_not_wait_is_content(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "on-demand", 0)
    message = here.driver.refusal(lambda: group(here, {"ignoreFailedScalingActivities": True}))
    assert "want at least 2 healthy instance(s) in Auto Scaling Group, have 0', timeout: 10m0s)" in message
    assert group(here, {"waitForCapacityTimeout": "0"}, "second")["desiredCapacity"] == 2


def test_a_quota_stops_a_group_like_capacity_does(here: Any, limits: Any):
    limits.set_quota("aws", P_QUOTA, P_VCPUS)
    message = here.driver.refusal(lambda: group(here, {}))
    assert "Failed: VcpuLimitExceeded: You have requested more vCPU capacity" in message
    assert number(here) == 1


def test_a_change_of_size_launches_and_terminates_in_place(here: Any, limits: Any):
    made = group(here, {"desiredCapacity": 4})
    oldest = running(here)[0].ids[:2]
    limits.set_capacity("aws", P5, ZONE, "on-demand", 6)
    for size in (2, 6):
        made = here.driver.update(made, here.inputs("small_group", {"desiredCapacity": size}))
        assert number(here) == size
        assert running(here)[0].ids[:2] == oldest
    message = here.driver.refusal(lambda: here.driver.update(made, here.inputs("small_group", {"desiredCapacity": 7})))
    assert "updating aws:autoscaling Group" in message
    assert "(have 6 of 7)" in message


def test_a_change_of_anything_else_does_not_wait_for_what_is_missing(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "on-demand", 1)
    made = group(here, {"waitForCapacityTimeout": "0"})
    wanted = here.inputs("small_group", {"waitForCapacityTimeout": "10m", "healthCheckGracePeriod": 60})
    assert here.driver.update(made, wanted)["healthCheckGracePeriod"] == 60


def test_nodes_use_up_the_addresses_of_their_subnet_by_their_interfaces(here: Any):
    cards = [{"networkCardIndex": i, "deviceIndex": int(i > 0), "interfaceType": "efa"} for i in range(32)]
    small = here.driver.up("aws:ec2/subnet:Subnet", here.inputs("private_subnet", {"cidrBlock": "10.40.193.0/25"}), "s")
    place = {"vpcZoneIdentifiers": [small.id]}
    change = {**place, "launchTemplate": template(here, {"networkInterfaces": cards}), "desiredCapacity": 4}
    message = here.driver.refusal(lambda: group(here, change))
    assert f"InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet '{small.id}'" in message
    assert "each takes 32" in message
    assert number(here) == 3
    only = [cards[0], *({**card, "interfaceType": "efa-only"} for card in cards[1:])]
    efa_only = template(here, {"networkInterfaces": only}, "efa-only")
    group(here, {**change, "launchTemplate": efa_only, "desiredCapacity": 20, "minSize": 20}, "second")
    assert number(here) == 23


def test_other_interfaces_take_addresses_of_the_same_subnet(here: Any):
    small = here["private_subnet"]  # 11 addresses
    here["internet_gateway"]
    nat = {"subnetId": small.id, "connectivityType": "private"}
    here.driver.up("aws:ec2/natGateway:NatGateway", nat)
    here.driver.up(
        here.rows["interface_endpoint"]["type"], here.inputs("interface_endpoint", {"subnetIds": [small.id]})
    )
    here.driver.up(here.rows["scratch"]["type"], here.inputs("scratch", {"subnetIds": small.id}))
    group(here, {"vpcZoneIdentifiers": [small.id], "desiredCapacity": 7})
    assert "InsufficientFreeAddressesInSubnet" in here.driver.refusal(
        lambda: here.driver.up("aws:ec2/natGateway:NatGateway", nat, "second")
    )


def test_a_group_over_zones_spreads_and_turns_to_the_zone_that_has_capacity(here: Any, limits: Any):
    places = [here["subnet"].id, here["other_zone_subnet"].id]
    group(here, {"vpcZoneIdentifiers": places, "desiredCapacity": 4})
    assert {alike.zone: len(alike.ids) for alike in running(here)} == {ZONE: 2, "use1-az1": 2}
    limits.set_capacity("aws", P5, ZONE, "on-demand", 3)
    group(here, {"vpcZoneIdentifiers": places, "desiredCapacity": 4}, "second")
    assert sum(len(alike.ids) for alike in running(here) if alike.zone == "use1-az1") == 5


def test_a_pinned_version_launches_what_it_said_and_the_default_stays_behind(here: Any):
    made = here["plain_template"]
    here.driver.update(made, here.inputs("plain_template", {"instanceType": "p5.4xlarge"}))
    for version, type_ in (("1", P5), ("$Default", P5), (None, P5), ("$Latest", "p5.4xlarge"), ("2", "p5.4xlarge")):
        used = {"launchTemplate": {"id": made.id, **({"version": version} if version else {})}}
        here.driver.delete(group(here, {**used, "desiredCapacity": 0, "maxSize": 1}, f"none{version}"))
        found = group(here, used, f"g{version}")
        assert {alike.type for alike in running(here)} == {type_}, version
        here.driver.delete(found)


def test_a_mixed_group_takes_its_types_and_purchase_options(here: Any, limits: Any):
    limits.set_capacity("aws", "p4d.24xlarge", ZONE, "spot", 1)
    policy = {
        "instancesDistribution": {"onDemandBaseCapacity": 1, "onDemandPercentageAboveBaseCapacity": 0},
        "launchTemplate": {
            "launchTemplateSpecification": {"launchTemplateId": here["plain_template"].id},
            "overrides": [{"instanceType": "p4d.24xlarge"}, {"instanceType": "p4de.24xlarge"}],
        },
    }
    change = {"launchTemplate": None, "mixedInstancesPolicy": policy, "desiredCapacity": 4}
    group(here, {**change, "vpcZoneIdentifiers": [here["subnet"].id]})
    by_purchase = {(alike.type, alike.purchase): len(alike.ids) for alike in running(here)}
    assert by_purchase == {("p4d.24xlarge", "on-demand"): 1, ("p4d.24xlarge", "spot"): 1, ("p4de.24xlarge", "spot"): 2}


# Fleets


def fleet(here: Any, change: dict[str, Any], override: dict[str, Any] | None = None, name: str = "fleet") -> Any:
    spec = {"launchTemplateId": here["plain_template"].id, "version": "1"}
    overrides = [override or {"subnetId": here["subnet"].id}]
    configs = [{"launchTemplateSpecification": spec, "overrides": overrides}]
    return here.driver.up(FLEET, here.inputs("fleet", {"launchTemplateConfigs": configs, **change}), name)


def of(total: int, purchase: str) -> dict[str, Any]:
    capacity = {"totalTargetCapacity": total, "defaultTargetCapacityType": purchase}
    return {"targetCapacitySpecification": capacity}


def test_a_spot_fleet_that_got_nothing_is_a_successful_creation(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "spot", 0)
    made = fleet(here, of(4, "spot"))
    assert (made["fulfilledCapacity"], made["fleetInstanceSets"]) == (0, [])
    assert "There is no Spot capacity available that matches your request." in here.driver.warnings[-1]
    here.driver.delete(made)


def test_a_fleet_may_get_a_part_of_what_it_wants(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "spot", 3)
    made = fleet(here, of(4, "spot"))
    assert (made["fulfilledCapacity"], made["fulfilledOnDemandCapacity"]) == (3, 0)
    (found,) = made["fleetInstanceSets"]
    assert (found["lifecycle"], found["instanceType"], len(found["instanceIds"])) == ("spot", P5, 3)


def test_one_launch_that_cannot_be_does_not_stop_the_others_of_its_fleet(here: Any):
    spec = {"launchTemplateId": here["plain_template"].id, "version": "1"}
    overrides = [{"subnetId": here["subnet"].id, "instanceType": type_} for type_ in ("p5.96xlarge", P5)]
    configs = [{"launchTemplateSpecification": spec, "overrides": overrides}]
    assert fleet(here, {"launchTemplateConfigs": configs, **of(2, "spot")})["fulfilledCapacity"] == 2


def test_with_a_minimum_it_gets_all_or_none(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "on-demand", 3)
    whole = {"onDemandOptions": {"minTargetCapacity": 4, "singleAvailabilityZone": True}, **of(4, "on-demand")}
    assert fleet(here, whole)["fulfilledCapacity"] == 0
    assert number(here, FLEET) == 0
    limits.set_capacity("aws", P5, ZONE, "on-demand", 4)
    assert fleet(here, whole, name="second")["fulfilledOnDemandCapacity"] == 4


def test_a_fleet_for_one_zone_takes_the_zone_that_has_all_of_them(here: Any, limits: Any):
    limits.set_capacity("aws", P5, ZONE, "on-demand", 3)
    spec = {"launchTemplateId": here["plain_template"].id, "version": "1"}
    overrides = [{"subnetId": here[row].id} for row in ("subnet", "other_zone_subnet")]
    configs = [{"launchTemplateSpecification": spec, "overrides": overrides}]
    options = {"minTargetCapacity": 4, "singleAvailabilityZone": True}
    fleet(here, {"launchTemplateConfigs": configs, "onDemandOptions": options, **of(4, "on-demand")})
    assert [(alike.zone, len(alike.ids)) for alike in running(here, FLEET)] == [("use1-az1", 4)]


def test_weights_count_for_a_fleet(here: Any):
    weighted = {"subnetId": here["subnet"].id, "instanceType": P5, "weightedCapacity": 2}
    made = fleet(here, of(5, "on-demand"), weighted)
    assert made["fulfilledCapacity"] == 6
    assert number(here, FLEET) == 3


def test_the_spot_quota_is_one_of_its_own(here: Any, limits: Any):
    limits.set_quota("aws", "L-C4BD4855", 2 * P_VCPUS)
    assert fleet(here, of(4, "spot"))["fulfilledCapacity"] == 2
    assert "MaxSpotInstanceCountExceeded" in here.driver.warnings[-1]
    assert fleet(here, of(4, "on-demand"), name="second")["fulfilledCapacity"] == 4


def test_a_maintained_fleet_follows_its_target(here: Any):
    made = fleet(here, {"type": "maintain", **of(2, "spot")})
    for total in (5, 1):
        configs = made.inputs["launchTemplateConfigs"]
        change = {"type": "maintain", "launchTemplateConfigs": configs, **of(total, "spot")}
        made = here.driver.update(made, here.inputs("fleet", change))
        assert made["fulfilledCapacity"] == total


def test_a_deleted_fleet_leaves_its_nodes_running_unless_told_otherwise(here: Any):
    here.driver.delete(fleet(here, {"type": "request", "terminateInstances": False, **of(2, "on-demand")}))
    left = here.driver.store.leftovers()
    assert [record.type for record in left] == [INSTANCE, INSTANCE]
    assert number(here, INSTANCE) == 2
    here.driver.delete(fleet(here, {"type": "request", "terminateInstances": True, **of(2, "on-demand")}, name="b"))
    assert here.driver.store.leftovers() == left


# Single instances


def test_an_instance_without_capacity_is_refused(here: Any, limits: Any):
    limits.set_capacity("aws", "t3.micro", ZONE, "*", 0)
    message = here.driver.refusal(lambda: here["instance"])
    assert "api error InsufficientInstanceCapacity: We currently do not have sufficient t3.micro" in message
    elsewhere = message.partition("or choosing ")[2]
    assert elsewhere.startswith("us-east-1b, us-east-1c, us-east-1d, us-east-1f."), "not where the type is not offered"


def test_a_launch_template_completes_an_instance(here: Any):
    subnet, sg = here["subnet"].id, here["security_group"].id
    used = template(here, {"networkInterfaces": [{"subnetId": subnet, "securityGroups": [sg]}]})
    made = here.driver.up(INSTANCE, {"launchTemplate": used})
    assert (made["instanceType"], made["ami"], made["subnetId"]) == (P5, "ami-0123456789abcdef0", subnet)
    assert made["vpcSecurityGroupIds"] == [sg]
    assert "DependencyViolation" in here.driver.refusal(lambda: here.driver.delete(here["security_group"]))


def test_a_subnet_that_gives_public_addresses_gives_them_to_single_interfaces_only(here: Any):
    public = here.driver.up("aws:ec2/subnet:Subnet", here.inputs("private_subnet", {"mapPublicIpOnLaunch": True}), "p")
    made = here.driver.up(INSTANCE, here.inputs("instance", {"subnetId": public.id}))
    assert made["publicIp"].startswith("203.0.113.")
    interfaces = [{"subnetId": public.id}, {"deviceIndex": 1, "interfaceType": "efa-only"}]
    many = here.driver.up(INSTANCE, {"launchTemplate": template(here, {"networkInterfaces": interfaces})}, "many")
    assert many["publicIp"] == ""


def test_another_type_needs_capacity_when_the_instance_starts_again(here: Any, limits: Any):
    limits.set_capacity("aws", "t3.large", ZONE, "on-demand", 0)
    change = here.inputs("instance", {"instanceType": "t3.large"})
    message = here.driver.refusal(lambda: here.driver.update(here["instance"], change))
    assert "InsufficientInstanceCapacity: starting EC2 Instance (i-" in message


# Capacity Blocks


def block(here: Any, start: datetime | None, count: int = 4) -> Any:
    when = {"startDateRange": start.strftime("%Y-%m-%dT%H:%M:%SZ")} if start else {}
    asked = {"instanceType": P5, "instanceCount": count, "capacityDurationHours": 24, **when}
    offering = here.driver.invoke(OFFERING, **asked)["capacityBlockOfferingId"]
    inputs = {"capacityBlockOfferingId": offering, "instancePlatform": "Linux/UNIX"}
    return here.driver.up(BLOCK, inputs, "block")


def in_block(here: Any, id_: str, change: dict[str, Any] | None = None) -> dict[str, Any]:
    market = {"instanceMarketOptions": {"marketType": "capacity-block"}, **into(id_)}
    return {"launchTemplate": template(here, {**market, **(change or {})})}


def test_a_block_is_what_its_offering_said_and_serves_as_many_nodes(here: Any):
    made = block(here, None)
    assert (made["instanceType"], made["instanceCount"], made["reservationType"]) == (P5, 4, "capacity-block")
    hours = datetime.fromisoformat(made["endDate"]) - datetime.fromisoformat(made["startDate"])
    assert hours == timedelta(hours=24)
    group(here, {**in_block(here, made.id), "desiredCapacity": 4})
    assert [(alike.purchase, alike.reservation) for alike in running(here)] == [("capacity-block", made.id)]
    more = {**in_block(here, made.id), "desiredCapacity": 1}
    assert "ReservationCapacityExceeded" in here.driver.refusal(lambda: group(here, more, "second"))


def test_a_block_that_has_not_begun_or_is_over_serves_none(here: Any):
    for days, state in ((2, "scheduled"), (-3, "expired")):
        made = block(here, datetime.now(UTC) + timedelta(days=days))
        message = here.driver.refusal(lambda id_=made.id: group(here, in_block(here, id_), f"g{id_}"))
        assert f"is {state}." in message
        here.driver.delete(made)


def test_a_block_serves_no_placement_group(here: Any):
    placed = {"placement": {"groupName": here["placement_group"]["name"]}}
    made = block(here, None)
    message = here.driver.refusal(lambda: group(here, in_block(here, made.id, placed)))
    assert "InsufficientInstanceCapacity: capacityReservationTarget: Insufficient capacity" in message


def test_a_deleted_block_is_only_forgotten(here: Any):
    made = block(here, None)
    here.driver.delete(made)
    assert [record.id for record in here.driver.store.leftovers()] == [made.id]
    assert here.driver.read(BLOCK, made.id).id == made.id


def test_a_block_for_which_there_is_no_capacity_is_bought_in_vain(here: Any, limits: Any):
    offering = block(here, None).inputs["capacityBlockOfferingId"]
    limits.set_capacity("aws", P5, "*", "capacity-block", 4)
    inputs = {"capacityBlockOfferingId": offering, "instancePlatform": "Linux/UNIX"}
    failure = here.driver.failure(lambda: here.driver.up(BLOCK, inputs, "second"))
    assert "unexpected state 'payment-failed'" in str(failure)
    assert failure.kept.id.startswith("cr-")


def test_no_zone_with_enough_of_them_offers_a_block(here: Any, limits: Any):
    limits.set_capacity("aws", P5, "*", "capacity-block", 3)
    asked = {"instanceType": P5, "instanceCount": 4, "capacityDurationHours": 24}
    assert "no Capacity Block offering" in here.driver.refusal(lambda: here.driver.invoke(OFFERING, **asked))


# Dead nodes


def lose(here: Any, record: Record, ids: tuple[str, ...]) -> Record | None:
    cloud = here.driver.provider.cloud
    kind, _ = cloud.kind_of(record.type)
    with here.driver.store.transaction("aws") as tx:
        call = Call(cloud, tx, kind, visible(record.inputs), record.id, record.scope, record)
        return without(call, frozenset(ids))


def test_a_group_replaces_a_dead_node_in_held_capacity(here: Any, limits: Any):
    group(here, in_reservation(here, {"desiredCapacity": 16}))
    limits.set_capacity("aws", P5, ZONE, "on-demand", 16)
    (record,) = records(here, GROUP)
    dead = nodes(record)[0][0]
    left = lose(here, record, (dead,))
    assert left is not None
    assert len(nodes(left)) == 16
    assert dead not in {id_ for id_, _ in nodes(left)}


def test_an_instant_fleet_replaces_none_and_an_instance_is_gone(here: Any):
    fleet(here, of(2, "spot"))
    here["instance"]
    (fleet_record,), (instance_record,) = records(here, FLEET), records(here, INSTANCE)
    left = lose(here, fleet_record, (nodes(fleet_record)[0][0],))
    assert left is not None
    assert left.outputs["fulfilledCapacity"] == 1
    assert lose(here, instance_record, (instance_record.id,)) is None


# What is known of instance types


def test_a_type_newer_than_the_list_is_launched_with_a_warning(here: Any):
    used = template(here, {"instanceType": "p6e-gb200.36xlarge", "networkInterfaces": [{"networkCardIndex": 40}, {}]})
    group(here, {"launchTemplate": used})
    assert number(here) == 2
    assert "instance type p6e-gb200.36xlarge is newer than the local cloud's list of types" in here.driver.warnings[-1]


def test_without_the_list_nothing_is_judged_by_it_and_that_is_said(here: Any, monkeypatch: pytest.MonkeyPatch):
    for cached in (instance_types._version, instance_types._index, instance_types._offers):
        cached.cache_clear()
    monkeypatch.setattr(instance_types.metadata, "version", _absent)
    try:
        group(here, {"launchTemplate": template(here, {"instanceType": "p5.96xlarge"})})
        assert "cannot be looked up without the local cloud's list of types (package moto)" in here.driver.warnings[-1]
    finally:
        for cached in (instance_types._version, instance_types._index, instance_types._offers):
            cached.cache_clear()


def _absent(name: str) -> str:
    raise instance_types.metadata.PackageNotFoundError(name)


def test_the_list_knows_that_cards_are_not_efa_interfaces(here: Any):
    facts = instance_types.instance_type("p6-b300.48xlarge")
    assert facts is not None
    assert (len(facts.cards), facts.efa, facts.cards[0].efa) == (17, 16, False)


def test_the_list_is_read_once_per_version_of_moto(here: Any, monkeypatch: pytest.MonkeyPatch):
    assert instance_types.instance_type(P5) is not None
    assert instance_types.zones_with("us-east-1", P5)
    instance_types._index.cache_clear()
    instance_types._offers.cache_clear()
    monkeypatch.setattr(instance_types, "_data", lambda _: pytest.fail("moto's file was read again"))
    facts = instance_types.instance_type(P5)
    assert facts is not None
    assert (facts.vcpus, facts.efa) == (P_VCPUS, 32)
    assert instance_types.zones_with("us-east-1", P5)
