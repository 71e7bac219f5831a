"""After a kill: what a dead run had made and the engine does not know of never stands in the way of the next run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pulumi.runtime.proto import provider_pb2 as pb

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
A_VPC = {"cidrBlock": "10.0.0.0/16"}
_A_DEAD_PROCESS = 2**22 + 1


def _kill_the_maker_of(aws, made) -> None:
    for record in aws.store.list():
        if record.id == made.id:
            with aws.store.transaction("aws") as tx:
                tx.put(replace(record, writer=_A_DEAD_PROCESS))


@pytest.fixture
def subnet(aws):
    vpc = aws.up(VPC, A_VPC)
    return aws.up(SUBNET, {"vpcId": vpc.id, "cidrBlock": "10.0.0.0/24"})


def test_making_it_again_does_not_conflict_with_what_was_lost(aws, subnet):
    _kill_the_maker_of(aws, subnet)
    again = aws.up(SUBNET, {"vpcId": subnet["vpcId"], "cidrBlock": "10.0.0.0/24"})
    assert [record.id for record in aws.store.list() if record.type == SUBNET] == [again.id]


def test_what_was_lost_holds_nothing_at_destroy(aws, subnet):
    vpc_id = subnet["vpcId"]
    _kill_the_maker_of(aws, subnet)
    (vpc,) = [record for record in aws.store.list() if record.id == vpc_id]
    request = pb.DeleteRequest(id=vpc.id, urn=vpc.urn, type=VPC)
    aws.provider.Delete(request, None)
    assert aws.store.list() == []


def test_what_the_engine_asks_for_is_not_lost(aws, subnet):
    _kill_the_maker_of(aws, subnet)
    assert aws.read(SUBNET, subnet.id, subnet.outputs).id == subnet.id
    _refused = aws.refusal(lambda: aws.up(SUBNET, {"vpcId": subnet["vpcId"], "cidrBlock": "10.0.0.0/24"}, "other"))
    assert "InvalidSubnet.Conflict" in _refused


def test_a_replacement_does_not_lose_the_old_one_before_its_time(aws, subnet):
    _kill_the_maker_of(aws, subnet)
    inputs = {"vpcId": subnet["vpcId"], "cidrBlock": "10.0.1.0/24"}
    assert aws.diff(subnet, inputs).replaces
    aws.up(SUBNET, inputs)
    assert len([record for record in aws.store.list() if record.type == SUBNET]) == 2
