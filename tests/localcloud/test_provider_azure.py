"""What the Azure plugin does for all types: names, locations, parents, functions. Type by type: test_types."""

from __future__ import annotations

import re

import pytest
from pulumi.runtime.proto.provider_pb2 import DiffResponse

from localcloud.values import UNKNOWN

GROUP = "azure-native:resources:ResourceGroup"
VNET = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
ACCOUNT = "azure-native:storage:StorageAccount"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
A_SPACE = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}


@pytest.fixture
def group(azure) -> str:
    return azure.up(GROUP, {"location": "eastus"}, "rg")["name"]


def test_a_generated_name_stays_over_updates(azure, group: str):
    made = azure.up(VNET, {"resourceGroupName": group, **A_SPACE}, "vnet")
    again, _ = azure.check(VNET, {"resourceGroupName": group, **A_SPACE}, "vnet", made.inputs)
    assert again["virtualNetworkName"] == made["name"]
    assert re.fullmatch(r"vnet[0-9a-f]{8}", made["name"])


def test_a_role_assignment_without_a_name_gets_a_guid(azure):
    role = "/providers/Microsoft.Authorization/roleDefinitions/x"
    inputs, failures = azure.check(ASSIGNMENT, {"scope": "/s", "principalId": "p", "roleDefinitionId": role})
    assert not failures
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", inputs["roleAssignmentName"])


@pytest.mark.parametrize(("name", "first"), [("explicit", True), (None, False)])
def test_the_old_one_goes_first_where_the_name_is_explicit(azure, name: str | None, first: bool):
    inputs = {"location": "eastus"} | ({"resourceGroupName": name} if name else {})
    diff = azure.diff(azure.up(GROUP, inputs), {**inputs, "location": "westus3"})
    assert list(diff.replaces) == ["location"]
    assert diff.deleteBeforeReplace is first


def test_the_location_comes_from_the_group_and_then_stays(azure, group: str):
    inputs = {"resourceGroupName": group, **A_SPACE}
    made = azure.up(VNET, inputs)
    assert made["location"] == "eastus"
    azure.configure(location="westus3")
    assert azure.diff(made, inputs).changes == DiffResponse.DIFF_NONE
    assert azure.up(VNET, inputs, "other")["location"] == "westus3"


def test_in_a_first_preview_the_location_is_unknown_as_the_group_is(azure):
    assert azure.preview(VNET, {"resourceGroupName": UNKNOWN, **A_SPACE})["location"] == UNKNOWN


def test_one_location_has_several_spellings(azure):
    made = azure.up(GROUP, {"location": "East US"})
    assert azure.diff(made, {"location": "eastus"}).changes == DiffResponse.DIFF_NONE


def test_nested_changes_are_seen_with_their_path(azure, world):
    here = world("azure")
    sku = {**here.inputs("scale_set")["sku"], "capacity": 12}
    diff = azure.diff(here["scale_set"], here.inputs("scale_set", {"sku": sku}))
    assert list(diff.detailedDiff) == ["sku.capacity"]
    assert list(diff.replaces) == []


def test_a_scale_set_names_the_identities_that_it_has(azure, world):
    here = world("azure")
    identity = here["identity"]
    assigned = here["scale_set"]["identity"]["userAssignedIdentities"]
    assert assigned == {identity.id: {"clientId": identity["clientId"], "principalId": identity["principalId"]}}
    unknown = here.inputs("scale_set", {"identity": {"type": "UserAssigned", "userAssignedIdentities": [UNKNOWN]}})
    assert azure.preview(SCALE_SET, unknown)["identity"]["userAssignedIdentities"] == UNKNOWN


def test_deleting_a_group_deletes_what_is_in_it(azure, world):
    here = world("azure")
    for name in ("scale_set", "lustre", "zone_group", "link", "role_assignment"):
        assert here[name]
    azure.delete(here["rg"])
    assert azure.store.list() == []


def test_setting_back_the_blob_service_leaves_its_containers(azure, world):
    here = world("azure")
    service, container = here["blob_service"], here["container"]
    azure.delete(service)
    assert azure.read(container.token, container.id).id == container.id
    assert azure.read(service.token, service.id).id == ""


def test_an_account_that_says_nothing_of_networks_is_open(azure, world):
    here = world("azure")
    inputs = here.inputs("account", {"networkRuleSet": None})
    updated = azure.update(here["account"], inputs)
    assert updated["networkRuleSet"]["defaultAction"] == "Allow"


def test_two_filesystems_in_one_subnet_have_two_addresses(azure, world):
    here = world("azure")
    first = here["lustre"]["clientInfo"]["mgsAddress"]
    second = azure.up("azure-native:storagecache:AmlFilesystem", here.inputs("lustre"), "second")
    assert {first, second["clientInfo"]["mgsAddress"]} == {"10.50.16.4", "10.50.16.5"}


def test_an_id_of_another_group_is_taken_as_it_is_and_said(azure, group: str):
    elsewhere = "/subscriptions/1/resourceGroups/shared/providers/Microsoft.Network/natGateways/out"
    vnet = azure.up(VNET, {"resourceGroupName": group, **A_SPACE})
    inputs = {"resourceGroupName": group, "virtualNetworkName": vnet["name"], "addressPrefix": "10.0.0.0/24"}
    azure.up(SUBNET, {**inputs, "natGateway": {"id": elsewhere}})
    assert azure.warnings == [f"natGateway.id: {elsewhere} is not of this local cloud; taken as something that exists"]


def test_a_type_without_a_model_gets_an_id_and_a_warning(azure, group: str):
    made = azure.up("azure-native:network:RouteTable", {"resourceGroupName": group}, "routes")
    expected = rf"/subscriptions/[0-]+/resourceGroups/{group}/providers/Microsoft\.Network/routeTables/routes\w+"
    assert re.fullmatch(expected, made.id)
    assert "but not its behaviour" in azure.warnings[0]


def test_a_part_of_something_modelled_may_be_of_a_type_without_a_model(azure, world):
    here = world("azure")
    inputs = {"resourceGroupName": here["rg"]["name"], "accountName": here["account"]["name"], "shareName": "homes"}
    made = azure.up("azure-native:storage:FileShare", inputs)
    assert made.id.endswith("/homes")


def test_the_subscription_is_the_one_of_the_program(azure):
    subscription = "12345678-0000-0000-0000-000000000000"
    azure.configure(subscriptionId=subscription)
    assert azure.up(GROUP, {"location": "eastus"}).id.startswith(f"/subscriptions/{subscription}/resourceGroups/x")
    config = azure.invoke("azure-native:authorization:getClientConfig")
    assert config["subscriptionId"] == subscription
    assert config.keys() == {"clientId", "objectId", "subscriptionId", "tenantId"}


def test_a_subscription_that_is_no_guid_is_refused(azure):
    assert "a GUID is needed" in azure.check_config(subscriptionId="mine")["subscriptionId"]
    assert azure.check_config() == {}
