"""Scalars that the AWS provider reads although their type is another, and that azure-native refuses."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.values import UNKNOWN, Properties

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"tags": {"nodes": 4, "spot": False}}, {"tags": {"nodes": "4", "spot": "false"}}),
        ({"ebsOptimized": True}, {"ebsOptimized": "true"}),
        ({"defaultVersion": "1"}, {"defaultVersion": 1}),
        ({"disableApiStop": "true"}, {"disableApiStop": True}),
        (
            {"networkInterfaces": [{"deviceIndex": "0", "deleteOnTermination": True}]},
            {"networkInterfaces": [{"deviceIndex": 0, "deleteOnTermination": "true"}]},
        ),
        ({"imageId": UNKNOWN}, {"imageId": UNKNOWN}),
    ],
)
def test_a_scalar_of_another_type_arrives_in_the_declared_one(aws: Any, given: Properties, read: Properties) -> None:
    checked, failures = aws.check(TEMPLATE, given)
    assert failures == {}
    assert {key: checked[key] for key in read} == read


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"defaultVersion": "first"}, "defaultVersion"),
        ({"disableApiStop": "yes"}, "disableApiStop"),
        ({"networkInterfaces": [{"deviceIndex": []}]}, "networkInterfaces[0].deviceIndex"),
        ({"placement": "cluster"}, "placement"),
    ],
)
def test_what_cannot_be_read_as_the_declared_type_is_refused(aws: Any, given: Properties, path: str) -> None:
    _, failures = aws.check(TEMPLATE, given)
    assert "but got" in failures[path]


def test_azure_takes_no_number_in_quotes(azure: Any) -> None:
    inputs = {"resourceGroupName": "g", "sku": {"name": "Standard_ND96isr_H100_v5", "capacity": "4"}}
    _, failures = azure.check("azure-native:compute:VirtualMachineScaleSet", inputs)
    assert failures["sku.capacity"] == "'sku.capacity' should be a number but got a string ('4')"
