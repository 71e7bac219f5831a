"""Ordered faults: on which request they fire, what the engine then holds, and that they are gone afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud import faults
from localcloud.faults import Fault
from localcloud.values import from_struct

VPC = "aws:ec2/vpc:Vpc"
GROUP = "azure-native:resources:ResourceGroup"
A_VPC = {"cidrBlock": "10.0.0.0/16"}
A_GROUP = {"resourceGroupName": "rg", "location": "eastus"}


def _named(operation: Any, token: str = VPC) -> Fault:
    cloud = "aws" if token == VPC else "azure-native"
    return Fault(cloud=cloud, type=token, operation=operation, code="Broken", message="It broke.")


def test_a_named_failure_fires_once_on_its_operation(aws):
    faults.order(aws.store, _named("create"))
    assert "api error Broken: It broke." in aws.refusal(lambda: aws.up(VPC, A_VPC))
    assert aws.store.list() == []
    assert aws.up(VPC, A_VPC).id
    assert faults.ordered(aws.store) == []


def test_a_failure_of_another_operation_type_or_cloud_waits_for_its_own(aws, azure):
    faults.order(aws.store, _named("update"))
    faults.order(aws.store, _named("create", GROUP))
    aws.up(VPC, A_VPC)
    assert len(faults.ordered(aws.store)) == 2
    assert 'Code="Broken" Message="It broke."' in azure.refusal(lambda: azure.up(GROUP, A_GROUP))


def test_a_failure_after_the_creation_leaves_the_resource_and_the_engine_knows_it(aws):
    faults.order(aws.store, _named("after-create"))
    kept = aws.kept(lambda: aws.up(VPC, A_VPC))
    (record,) = aws.store.list()
    assert kept.id == record.id
    assert from_struct(kept.properties) == record.outputs
    assert from_struct(kept.inputs) == record.inputs
    (reason,) = kept.reasons
    assert "It broke." in reason


def test_a_failed_delete_leaves_the_resource(aws):
    made = aws.up(VPC, A_VPC)
    faults.order(aws.store, _named("delete"))
    assert "deleting" in aws.refusal(lambda: aws.delete(made))
    assert [record.id for record in aws.store.list()] == [made.id]
    aws.delete(made)
    assert aws.store.list() == []


def test_a_server_error_comes_on_the_nth_request(aws):
    faults.order(aws.store, faults.server_error("aws", VPC, 3))
    first, second = aws.up(VPC, A_VPC, "a"), aws.up(VPC, A_VPC, "b")
    assert "StatusCode: 500" in aws.refusal(lambda: aws.up(VPC, A_VPC, "c"))
    aws.up(VPC, A_VPC, "c")
    aws.delete(first)
    aws.delete(second)
    assert len(aws.store.list()) == 1


@pytest.mark.parametrize(("cloud", "tries"), [("aws", 25), ("azure", 4)])
def test_the_provider_gets_over_some_throttling_by_itself(request, cloud: str, tries: int):
    driver = request.getfixturevalue(cloud)
    token, inputs = (VPC, A_VPC) if cloud == "aws" else (GROUP, A_GROUP)
    faults.order(driver.store, faults.throttling(driver.provider.cloud.name, token, tries - 1))
    driver.up(token, inputs)
    assert driver.warnings == [w for w in driver.warnings if f"throttled {tries - 1} times" in w] != []
    assert faults.ordered(driver.store) == []


def test_throttling_that_outlasts_the_provider_is_an_error_in_its_words(aws, azure):
    faults.order(aws.store, faults.throttling("aws", VPC, 25))
    said = aws.refusal(lambda: aws.up(VPC, A_VPC))
    assert "StatusCode: 503" in said
    assert "RequestLimitExceeded: exceeded maximum number of attempts, 25" in said
    faults.order(azure.store, faults.throttling("azure-native", GROUP, 9))
    for _ in range(2):
        assert "Status=429" in azure.refusal(lambda: azure.up(GROUP, A_GROUP))
    azure.up(GROUP, A_GROUP)
    assert "throttled once" in azure.warnings[-1]


def test_a_preview_meets_no_fault(aws):
    faults.order(aws.store, _named("create"))
    aws.preview(VPC, A_VPC)
    assert len(faults.ordered(aws.store)) == 1


def test_reset_forgets_faults(aws):
    faults.order(aws.store, _named("create"))
    aws.store.reset()
    assert aws.up(VPC, A_VPC).id
