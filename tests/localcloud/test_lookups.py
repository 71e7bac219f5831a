"""Functions that read a network or a subnet: what was made here as it is, what was not as something that was there."""

from __future__ import annotations

from typing import Any

import pytest

SUBNET, VPC = "aws:ec2/getSubnet:getSubnet", "aws:ec2/getVpc:getVpc"
FOREIGN = "subnet-0123456789abcdef0"


def test_a_subnet_of_this_cloud_is_found_as_it_was_made(aws_world: Any) -> None:
    made = aws_world["subnet"]
    found = aws_world.driver.invoke(SUBNET, id=made.id, vpcId=made.outputs["vpcId"])
    assert (found["id"], found["availabilityZoneId"], found["cidrBlock"]) == (made.id, "use1-az6", "10.40.0.0/18")
    assert found["mapPublicIpOnLaunch"] is False


def test_a_subnet_has_the_addresses_left_that_nothing_took(aws_world: Any) -> None:
    made = aws_world["private_subnet"]
    whole = aws_world.driver.invoke(SUBNET, id=made.id)["availableIpAddressCount"]
    endpoint = aws_world.inputs("interface_endpoint", {"subnetIds": [made.id]})
    aws_world.driver.up(aws_world.rows["interface_endpoint"]["type"], endpoint)
    assert (whole, aws_world.driver.invoke(SUBNET, id=made.id)["availableIpAddressCount"]) == (11, 10)


def test_a_vpc_of_this_cloud_is_found_as_it_was_made(aws_world: Any) -> None:
    found = aws_world.driver.invoke(VPC, id=aws_world["vpc"].id)
    assert (found["cidrBlock"], found["enableDnsSupport"], found["enableDnsHostnames"]) == ("10.40.0.0/16", True, False)


def test_a_network_of_a_real_account_is_taken_as_one_in_the_first_zone_of_its_region(aws_world: Any) -> None:
    found = aws_world.driver.invoke(SUBNET, id=FOREIGN, vpcId="vpc-0123456789abcdef0")
    assert (found["vpcId"], found["availabilityZone"]) == ("vpc-0123456789abcdef0", "us-east-1a")
    assert found["availabilityZoneId"] == "use1-az6"
    elsewhere = aws_world.driver.invoke(SUBNET, id=FOREIGN, region="us-west-2")
    assert elsewhere["availabilityZone"] == "us-west-2a"
    assert aws_world.driver.invoke(VPC, id="vpc-0123456789abcdef0")["enableDnsHostnames"] is True


@pytest.mark.parametrize(
    ("token", "args", "says"),
    [
        (SUBNET, {"id": "subnet-010ca1ffffffffff0"}, "InvalidSubnetID.NotFound: The subnet ID"),
        (VPC, {"id": "vpc-010ca1ffffffffff0"}, "InvalidVpcID.NotFound: The vpc ID"),
        (SUBNET, {"vpcId": "vpc-0123456789abcdef0"}, "finds a subnet by its id only"),
    ],
)
def test_what_is_not_there_is_not_found(aws_world: Any, token: str, args: dict[str, str], says: str) -> None:
    assert says in aws_world.driver.refusal(lambda: aws_world.driver.invoke(token, **args))


def test_a_subnet_of_another_vpc_does_not_match(aws_world: Any) -> None:
    ids = {"id": aws_world["subnet"].id, "vpcId": aws_world["other_vpc"].id}
    assert "no matching EC2 Subnet found" in aws_world.driver.refusal(lambda: aws_world.driver.invoke(SUBNET, **ids))


# Azure

AZURE_SUBNET, VNET = "azure-native:network:getSubnet", "azure-native:network:getVirtualNetwork"
ELSEWHERE = {"resourceGroupName": "research", "virtualNetworkName": "research"}


def test_a_subnet_and_its_vnet_are_found_as_they_were_made(world: Any) -> None:
    here = world("azure")
    made = here["subnet"]
    names = {key: made.inputs[key] for key in ("resourceGroupName", "virtualNetworkName", "subnetName")}
    found = here.driver.invoke(AZURE_SUBNET, **names)
    assert (found["id"], found["addressPrefix"]) == (made.id, "10.50.0.0/20")
    assert found["natGateway"] == {"id": here["nat"].id}
    del names["subnetName"]
    vnet = here.driver.invoke(VNET, **names)
    assert (vnet["id"], vnet["location"], vnet["addressSpace"]) == (
        here["vnet"].id,
        "eastus",
        {"addressPrefixes": ["10.50.0.0/16"]},
    )


def test_a_vnet_of_a_real_subscription_is_taken_as_one_in_the_providers_location(azure: Any) -> None:
    azure.configure(location="westus3")
    assert azure.invoke(VNET, **ELSEWHERE)["location"] == "westus3"
    found = azure.invoke(AZURE_SUBNET, **ELSEWHERE, subnetName="nodes")
    assert (found["name"], found["delegations"]) == ("nodes", [])
    assert found["id"].endswith(
        "/resourceGroups/research/providers/Microsoft.Network/virtualNetworks/research/subnets/nodes"
    )


def test_a_subnet_that_a_group_of_this_cloud_does_not_have_is_not_found(world: Any) -> None:
    here = world("azure")
    names = {**ELSEWHERE, "resourceGroupName": here["rg"].outputs["name"], "subnetName": "nodes"}
    said = here.driver.refusal(lambda: here.driver.invoke(AZURE_SUBNET, **names))
    assert "ResourceNotFound: The Resource 'Microsoft.Network/virtualNetworks/subnets/nodes' under" in said
