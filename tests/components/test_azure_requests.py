"""What the components declare becomes requests that Azure's own models take, and nothing of it gets lost on the way.

The requests are made and judged with the models of Azure's management libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from localcloud.azure.models import model_of
from tests.azure_requests import WITHOUT_MODEL, WITHOUT_WORDS, LostError, _differences, request_of, requests_of
from tests.clusters import AZURE

ACCOUNT = "azure-native:storage:StorageAccount"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
LUSTRE = "azure-native:storagecache:AmlFilesystem"
RULES = "azure-native:network:NetworkSecurityGroup"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
RULE = {"name": "a", "access": "Deny", "direction": "Inbound", "priority": 100, "protocol": "Tcp"}
SUBNET = "azure-native:network:Subnet"


@pytest.mark.parametrize("name", AZURE)
def test_every_declared_input_becomes_a_member_of_a_request_that_azure_takes(
    name: str, cluster: Callable[[str], Any]
) -> None:
    made = {f"{r.type} {r.name}": request.problems for r, request in requests_of(cluster(name).run.resources)}
    assert {resource: problems for resource, problems in made.items() if problems} == {}
    assert made


@pytest.mark.parametrize("name", AZURE)
def test_a_type_without_a_model_declares_no_more_than_its_reason_says(name: str, cluster: Callable[[str], Any]) -> None:
    for resource in cluster(name).run.resources:
        if resource.type in WITHOUT_MODEL:
            assert resource.inputs.keys() == {"resourceGroupName", "location", "tags"}


def test_no_model_is_named_in_two_tables() -> None:
    assert [token for token in {*WITHOUT_WORDS, *WITHOUT_MODEL} if model_of(token)] == []


def test_the_shape_of_a_scale_set_arrives_as_it_was_declared(declared: Callable[..., Any]) -> None:
    """Single placement group, one fault domain and no overprovision are what InfiniBand stands on."""
    scale_set = declared("azure").one("VirtualMachineScaleSet")
    body = request_of(scale_set.type, scale_set.inputs).body
    assert body["sku"] == {"name": "Standard_ND96isr_H100_v5", "tier": "Standard", "capacity": 16}
    assert body["zones"] == ["1"]
    assert body["identity"]["userAssignedIdentities"] == {"llama-70b-nodes-id": {}}
    shape = {"singlePlacementGroup": True, "overprovision": False, "platformFaultDomainCount": 1}
    assert body["properties"].items() >= {**shape, "orchestrationMode": "Uniform"}.items()
    [card] = body["properties"]["virtualMachineProfile"]["networkProfile"]["networkInterfaceConfigurations"]
    assert card["properties"]["enableAcceleratedNetworking"] is True


@pytest.mark.parametrize(
    ("token", "inputs", "body"),
    [
        (
            SUBNET,
            {"resourceGroupName": "g", "virtualNetworkName": "v", "subnetName": "s", "addressPrefix": "10.0.0.0/24"},
            {"properties": {"addressPrefix": "10.0.0.0/24"}},
        ),
        (
            RULES,
            {"location": "eastus", "securityRules": [RULE]},
            {
                "location": "eastus",
                "properties": {
                    "securityRules": [{"name": "a", "properties": {k: v for k, v in RULE.items() if k != "name"}}]
                },
            },
        ),
        (
            ACCOUNT,
            {
                "sku": {"name": "Standard_LRS"},
                "kind": "StorageV2",
                "location": "eastus",
                "enableHttpsTrafficOnly": True,
                "networkRuleSet": {"defaultAction": "Deny"},
            },
            {
                "sku": {"name": "Standard_LRS"},
                "kind": "StorageV2",
                "location": "eastus",
                "properties": {"supportsHttpsTrafficOnly": True, "networkAcls": {"defaultAction": "Deny"}},
            },
        ),
        (
            LUSTRE,
            {"location": "eastus", "storageCapacityTiB": 48.0, "filesystemSubnet": "s", "maintenanceWindow": {}},
            {
                "location": "eastus",
                "properties": {"storageCapacityTiB": 48, "filesystemSubnet": "s", "maintenanceWindow": {}},
            },
        ),
        (
            ASSIGNMENT,
            {"scope": "/subscriptions/s", "principalId": "p", "principalType": "Group", "roleDefinitionId": "r"},
            {"properties": {"principalId": "p", "principalType": "Group", "roleDefinitionId": "r"}},
        ),
        (IDENTITY, {"resourceName": "n", "resourceGroupName": "g", "location": "eastus"}, {"location": "eastus"}),
    ],
    ids=lambda value: value.rpartition(":")[2] if isinstance(value, str) else "",
)
def test_inputs_go_where_the_api_has_them(token: str, inputs: dict[str, Any], body: dict[str, Any]) -> None:
    assert request_of(token, inputs).body == body


@pytest.mark.parametrize(
    ("token", "inputs", "path"),
    [
        (SCALE_SET, {"gpuCount": 8}, "gpuCount"),
        (SCALE_SET, {"virtualMachineProfile": {"priorty": "Spot"}}, "virtualMachineProfile.priorty"),
        (SCALE_SET, {"virtualMachineProfile": "Spot"}, "virtualMachineProfile"),
        (
            RULES,
            {"securityRules": [{"name": "a"}, {"name": "b", "ports": ["22"]}]},
            "securityRules[1].ports",
        ),
        (IDENTITY, {"location": "eastus", "role": "reader"}, "role"),
        (ASSIGNMENT, {"principalKind": "User"}, "principalKind"),
    ],
)
def test_a_made_up_input_is_not_dropped(token: str, inputs: dict[str, Any], path: str) -> None:
    with pytest.raises(LostError, match=re.escape(f"has no {path}")):
        request_of(token, inputs)


def test_what_the_libraries_would_put_in_by_themselves_is_seen() -> None:
    """azure-native puts nothing in: what is not declared stays as Azure has it."""
    assert request_of(ASSIGNMENT, {"principalId": "p", "roleDefinitionId": "r"}).problems == ["'User' was not declared"]


def test_a_type_that_no_table_knows_is_an_error() -> None:
    with pytest.raises(KeyError):
        request_of("azure-native:storage:Queue", {"queueName": "jobs"})


@pytest.mark.parametrize(
    ("token", "inputs", "says"),
    [
        (SCALE_SET, {"orchestrationMode": "Pair"}, "orchestrationMode: 'Pair' is not among 2 words"),
        (SCALE_SET, {"singlePlacementGroup": "yes"}, "singlePlacementGroup: 'yes' is no bool"),
        (SCALE_SET, {"singlePlacementGroup": 1.0}, "singlePlacementGroup: 1.0 is no bool"),
        (SCALE_SET, {"sku": {"name": "a", "capacity": 1.5}}, "sku.capacity: 1.5 is no int"),
        (SCALE_SET, {"zones": [1.0]}, "zones[0]: 1.0 is no str"),
        (SCALE_SET, {"zones": "1"}, "zones: '1' is no"),
        (SCALE_SET, {}, "VirtualMachineScaleSet: location is missing"),
        (SCALE_SET, {"provisioningState": "Succeeded"}, "provisioningState is an output"),
        (ACCOUNT, {"sku": {"name": "Standard_LSR"}}, "sku.name: 'Standard_LSR' is not among"),
        (RULES, {"securityRules": [{"name": "a", "priority": 100.0}]}, "securityRules[0]: access is missing"),
        (ASSIGNMENT, {"principalId": "p"}, "RoleAssignmentCreateParameters: roleDefinitionId is missing"),
        (ASSIGNMENT, {"principalType": "Robot"}, "principalType: 'Robot' is not among"),
        (IDENTITY, {"location": "eastus", "clientId": "c"}, "clientId is an output"),
    ],
)
def test_what_azure_does_not_take_is_seen(token: str, inputs: dict[str, Any], says: str) -> None:
    assert says in str(request_of(token, inputs).problems)


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ({"a": True}, {"properties": {}}),
        ({"a": True}, {"a": 1}),
        ({"a": ["x", "x"]}, {"a": ["x"]}),
        ({"a": "x"}, {"a": "x", "b": "y"}),
    ],
)
def test_a_body_that_says_something_else_would_be_seen(declared: dict[str, Any], body: dict[str, Any]) -> None:
    assert list(_differences(declared, body)) != []
