"""What happens behind the engine's back: what can be named, change and die, and what a refresh then sees."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud import events
from localcloud.events import EventError
from localcloud.scarcity import Scarcity
from localcloud.store import Record
from localcloud.values import from_struct

VPC = "aws:ec2/vpc:Vpc"
BUCKET = "aws:s3/bucket:Bucket"
GROUP = "aws:autoscaling/group:Group"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
A_VPC = {"cidrBlock": "10.0.0.0/16", "tags": {"team": "a"}}


@pytest.fixture
def vpc(aws):
    return aws.up(VPC, A_VPC, "net")


@pytest.mark.parametrize("how", ["id", "urn", "name", "type", "token", "case"])
def test_a_resource_is_named_by_id_urn_name_or_type_and_name(aws, vpc, how: str):
    words = {
        "id": vpc.id,
        "urn": vpc.urn,
        "name": "net",
        "type": "Vpc/net",
        "token": f"{VPC}/net",
        "case": "vpc/NET",
    }
    assert events.named(aws.store, words[how]).id == vpc.id


def test_an_azure_resource_is_named_by_the_end_of_its_id(azure):
    group = azure.up("azure-native:resources:ResourceGroup", {"resourceGroupName": "rg-1", "location": "eastus"}, "g")
    assert events.named(azure.store, "ResourceGroup/rg-1").id == group.id


def test_an_ambiguous_name_is_refused_with_all_that_it_can_mean(aws, vpc):
    aws.up(BUCKET, {"bucket": "data-net"}, "net")
    with pytest.raises(EventError, match="names 2 resources") as refused:
        events.named(aws.store, "net")
    assert vpc.urn in str(refused.value)
    assert "Bucket/net" in str(refused.value)


def test_an_unknown_name_is_refused_with_the_near_ones(aws, vpc):
    with pytest.raises(EventError, match=r"nothing .* is named Vpc/nett: did you mean Vpc/net\?"):
        events.named(aws.store, "Vpc/nett")


def test_drift_shows_at_refresh_in_inputs_and_outputs(aws, vpc):
    events.drift(aws.store, "net", "tags.team", "b")
    read = aws.read(VPC, vpc.id, vpc.outputs)
    assert from_struct(read.inputs)["tags"] == {"team": "b"}
    assert from_struct(read.properties)["tags"] == {"team": "b"}
    assert from_struct(read.properties)["tagsAll"] == {"team": "b"}


def test_drift_takes_away_and_adds_and_reaches_into_lists(aws, vpc):
    assert "team" not in events.drift(aws.store, "net", "tags.team", None).inputs["tags"]
    events.drift(aws.store, "net", "enableDnsHostnames", True)
    assert aws.store.list()[0].outputs["enableDnsHostnames"] is True
    rules = {"bucket": "data", "rules": [{"id": "a", "status": "Enabled", "expiration": {"days": 1}}]}
    aws.up(BUCKET, {"bucket": "data"}, "data")
    aws.up("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", rules, "old")
    changed = events.drift(aws.store, "BucketLifecycleConfiguration/old", "rules[0].expiration.days", 9)
    assert changed.inputs["rules"][0]["expiration"] == {"days": 9}


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("cidrBlock", "10.1.0.0/16", "cidrBlock: no Vpc can change it while it exists"),
        ("enableDnsHostnam", True, "has no such property: did you mean enableDnsHostnames"),
        ("enableDnsHostnames", "perhaps", "'enableDnsHostnames' should be a boolean but got a string"),
        ("tags.team.deep", "x", "there is no"),
        ("[0]", "x", "is no property; write one as in"),
        ("", "x", "is no property"),
    ],
)
def test_drift_that_cannot_happen_is_refused_and_changes_nothing(aws, vpc, path: str, value: Any, says: str):
    before = aws.store.list()
    with pytest.raises(EventError) as refused:
        events.drift(aws.store, "net", path, value)
    assert says in str(refused.value)
    assert aws.store.list() == before


def test_a_type_is_named_by_its_token_or_its_last_word(aws):
    assert events.type_named(aws.store, "aws", VPC) == VPC
    assert events.type_named(aws.store, "aws", "vpc") == VPC
    assert events.type_named(aws.store, "aws", "aws:sqs/queue:Queue") == "aws:sqs/queue:Queue"
    with pytest.raises(EventError, match=r"aws has no resource type Vcp: did you mean .*aws:ec2/vpc:Vpc"):
        events.type_named(aws.store, "aws", "Vcp")


def test_a_dead_node_of_a_group_is_replaced_where_capacity_is_left(world):
    here = world("aws")
    group = here["group"]
    before = _running(here, group.id)
    loss = events.kill_nodes(here.driver.store, group.id, 1)
    assert loss.left == len(before)
    assert set(loss.ids) <= before
    assert len(_running(here, group.id) & before) == len(before) - 1


def test_a_dead_node_of_a_group_is_not_replaced_where_none_is_left(world):
    here = world("aws")
    group = here["group"]
    before = _running(here, group.id)
    Scarcity(here.driver.store).set_capacity("aws", "p5.48xlarge", "*", "*", len(before) - 1)
    assert events.kill_nodes(here.driver.store, group.id, 1).left == len(before) - 1


def test_a_dead_node_of_a_scale_set_makes_it_smaller_until_somebody_asks_again(world):
    here = world("azure")
    made = here["scale_set"]
    before = made["sku"]["capacity"]
    assert events.kill_nodes(here.driver.store, made.id, 1).left == before - 1
    read = here.driver.read(SCALE_SET, made.id, made.outputs)
    assert from_struct(read.properties)["sku"]["capacity"] == before - 1
    here.driver.update(made, here.inputs("scale_set"))
    assert len(_running(here, made.id)) == before


def test_more_nodes_than_there_are_cannot_die_nor_those_of_what_runs_none(world):
    here = world("aws")
    group = here["group"]
    number = len(_running(here, group.id))
    with pytest.raises(EventError, match=f"runs {number} nodes; {number + 1} of them cannot die"):
        events.kill_nodes(here.driver.store, group.id, number + 1)
    with pytest.raises(EventError, match=r"runs no nodes; these do: .*Group/group"):
        events.kill_nodes(here.driver.store, here["vpc"].id, 1)


def test_spot_nodes_are_taken_back_and_a_maintained_fleet_starts_others(world):
    here = world("aws")
    group, fleet = here["group"], here["maintained_fleet"]
    spot = {id_ for id_, purchase in events.nodes(_record(here, fleet.id)) if purchase == "spot"}
    losses = events.interrupt_spot(here.driver.store)
    assert {id_ for loss in losses for id_ in loss.ids} == spot != set()
    assert not spot & _running(here, fleet.id)
    assert len(_running(here, fleet.id)) == 2
    assert len(_running(here, group.id)) == 16


@pytest.mark.parametrize(("policy", "capacity"), [("Delete", 0), ("Deallocate", 2), (None, 2)])
def test_evicted_nodes_leave_the_scale_set_only_where_its_policy_deletes_them(world, policy: str | None, capacity: int):
    here = world("azure")
    inputs = here.inputs("placed_set")
    profile = {**inputs["virtualMachineProfile"], "priority": "Spot"} | ({"evictionPolicy": policy} if policy else {})
    made = here.driver.up(SCALE_SET, {**inputs, "virtualMachineProfile": profile}, "spot")
    (loss,) = events.interrupt_spot(here.driver.store, "spot")
    assert (len(loss.ids), loss.left) == (2, 0)
    assert _record(here, made.id).outputs["sku"]["capacity"] == capacity


def test_without_spot_nodes_there_is_nothing_to_interrupt(world):
    here = world("aws")
    assert here["group"]
    with pytest.raises(EventError, match="the local cloud runs no spot nodes"):
        events.interrupt_spot(here.driver.store)


def _record(here: Any, id_: str) -> Record:
    return next(r for r in here.driver.store.list() if r.id == id_)


def _running(here: Any, id_: str) -> set[str]:
    return {node for node, _ in events.nodes(_record(here, id_))}
