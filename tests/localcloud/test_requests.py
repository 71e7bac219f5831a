"""What a request that fails leaves behind, on the cloud and in the engine's state, as the two real providers do it."""

from __future__ import annotations

import pytest
from pulumi.runtime.proto import provider_pb2 as pb

from localcloud import events, faults
from localcloud.faults import Fault
from localcloud.values import from_struct, to_struct

VPC = "aws:ec2/vpc:Vpc"
NAT = "azure-native:network:NatGateway"
GROUP = "azure-native:resources:ResourceGroup"
A_VPC = {"cidrBlock": "10.0.0.0/16", "tags": {"team": "a"}}
OTHER = {**A_VPC, "tags": {"team": "b"}}


def _fail(driver, token: str, operation) -> None:
    cloud = driver.provider.cloud.name
    faults.order(driver.store, Fault(cloud=cloud, type=token, operation=operation, code="Broken", message="It broke."))


@pytest.fixture
def nat(azure):
    azure.up(GROUP, {"resourceGroupName": "rg", "location": "eastus"})
    return azure.up(NAT, _a_nat())


def _a_nat(team: str = "a"):
    return {
        "resourceGroupName": "rg",
        "natGatewayName": "nat",
        "location": "eastus",
        "sku": {"name": "Standard"},
        "tags": {"team": team},
    }


def test_a_refused_creation_leaves_nothing_for_the_engine_to_keep(aws):
    _fail(aws, VPC, "create")
    assert aws.failure(lambda: aws.up(VPC, A_VPC)).kept is None


def test_a_failed_update_on_aws_leaves_the_wanted_values_in_the_state_and_not_in_the_cloud(aws):
    made = aws.up(VPC, A_VPC)
    _fail(aws, VPC, "update")
    kept = aws.kept(lambda: aws.update(made, OTHER))
    assert kept.id == made.id
    assert from_struct(kept.inputs)["tags"] == {"team": "b"}
    assert from_struct(kept.properties)["tags"] == {"team": "b"}
    assert aws.store.list()[0].inputs["tags"] == {"team": "a"}


def test_the_next_update_on_aws_then_succeeds_and_only_a_refresh_shows_the_truth(aws):
    made = aws.up(VPC, A_VPC)
    _fail(aws, VPC, "update")
    kept = aws.kept(lambda: aws.update(made, OTHER))
    wanted, inputs = kept.properties, kept.inputs
    request = pb.UpdateRequest(id=made.id, urn=made.urn, type=VPC, olds=wanted, old_inputs=inputs, news=inputs)
    assert from_struct(aws.ask("Update", request).properties)["tags"] == {"team": "b"}
    assert from_struct(aws.read(VPC, made.id, from_struct(wanted)).inputs)["tags"] == {"team": "a"}


def test_a_refused_update_on_azure_leaves_the_state_as_it_was(azure, nat):
    _fail(azure, NAT, "update")
    assert azure.failure(lambda: azure.update(nat, _a_nat("b"))).kept is None
    assert azure.update(nat, _a_nat("b"))["tags"] == {"team": "b"}


def test_azure_writes_the_whole_resource_whenever_it_is_asked_to(azure, nat):
    _change_behind_its_back(azure, nat, tags={"team": "drifted"})
    azure.update(nat, _a_nat())
    (record,) = [record for record in azure.store.list() if record.id == nat.id]
    assert record.inputs["tags"] == {"team": "a"}


def test_an_update_of_what_vanished_is_refused_on_aws_and_makes_it_anew_on_azure(aws, azure, nat):
    vpc = aws.up(VPC, A_VPC)
    for made in (vpc, nat):
        _vanish(aws, made)
    failure = aws.failure(lambda: aws.update(vpc, OTHER))
    assert "does not exist any more: run `pulumi refresh`" in str(failure)
    assert failure.kept is None
    assert azure.update(nat, _a_nat("b")).id == nat.id
    assert azure.read(NAT, nat.id, nat.outputs).id == nat.id


def test_azure_makes_nothing_anew_where_its_group_is_gone(azure, nat):
    for record in azure.store.list():
        with azure.store.transaction(record.cloud) as tx:
            tx.remove(record)
    assert "ResourceGroupNotFound" in azure.refusal(lambda: azure.update(nat, _a_nat("b")))


def test_what_vanished_is_gone_at_refresh_and_its_deletion_succeeds(aws):
    made = aws.up(VPC, A_VPC)
    _vanish(aws, made)
    assert aws.read(VPC, made.id, made.outputs).id == ""
    aws.delete(made)


def test_a_group_short_of_nodes_fails_its_first_up_and_the_second_is_green_with_no_more_of_them(world):
    here = world("aws")
    row, inputs = here.rows["group"], here.inputs("group")
    here.driver.provider.cloud.scarcity.set_capacity("aws", "p5.48xlarge", "use1-az6", "on-demand", 15)
    kept = here.driver.kept(lambda: here.driver.up(row["type"], inputs, "short"))
    assert "capacity satisfied: scaling activity" in kept.reasons[0]
    request = pb.UpdateRequest(
        id=kept.id, type=row["type"], olds=kept.properties, old_inputs=kept.inputs, news=kept.inputs
    )
    assert here.driver.ask("Update", request).properties == kept.properties
    (group,) = [record for record in here.driver.store.list() if record.id == kept.id]
    assert len(events.nodes(group)) == 15


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(60, "(last state: 'creating', timeout: 1m0s)"), (0, ""), (120, ""), (7200, "")],
)
def test_a_custom_timeout_shorter_than_the_cloud_takes_ends_the_wait_and_not_the_creation(
    world, seconds: int, says: str
):
    here = world("aws")
    token, inputs = here.rows["nat_gateway"]["type"], here.inputs("nat_gateway")
    checked, _ = here.driver.check(token, inputs, "nat")
    request = pb.CreateRequest(
        urn="urn:pulumi:s::p::t::nat", type=token, properties=to_struct(checked), timeout=seconds
    )
    if not says:
        assert here.driver.ask("Create", request).id.startswith("nat-")
        return
    kept = here.driver.kept(lambda: here.driver.ask("Create", request))
    assert says in kept.reasons[0]
    assert kept.id in {record.id for record in here.driver.store.list()}


def test_a_delete_that_times_out_has_deleted_all_the_same(world):
    here = world("aws")
    nat = here["nat_gateway"]
    request = pb.DeleteRequest(id=nat.id, urn=nat.urn, type=nat.token, properties=to_struct(nat.outputs), timeout=30)
    said = here.driver.refusal(lambda: here.driver.ask("Delete", request))
    assert "waiting for delete: timeout" in said
    here.driver.delete(nat)
    assert nat.id not in {record.id for record in here.driver.store.list()}


def _vanish(driver, made) -> None:
    record = next(r for r in driver.store.list() if r.id == made.id)
    with driver.store.transaction(record.cloud) as tx:
        tx.remove(record)


def _change_behind_its_back(driver, made, **values) -> None:
    record = next(r for r in driver.store.list() if r.id == made.id)
    record.inputs.update(values)
    record.outputs.update(values)
    with driver.store.transaction(record.cloud) as tx:
        tx.put(record)
