"""What a spec says exists already, made on the local cloud as somebody else's before the cluster's program runs.

Azure's ids are names, and hold as they are written. AWS gives ids itself, so that a spec gets them in place of those
that it was drawn with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from localcloud.aws.offerings import Offering
from localcloud.aws.zones import places_of
from planning.facts.network import prefix_for
from planning.plan import Plan
from planning.shape import read_spec
from planning.spec import Reserved
from tests.agreement import aws_specs, azure_specs
from tests.localcloud.conftest import Driver

Ids = dict[str, str]
"""What a spec was drawn with -> what the cloud has given."""


def with_existing(driver: Driver, raw: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The spec with the ids of what it names, all of which is there now."""
    if plan.cloud == "azure":
        _make_azure(driver, raw, plan)
        return dict(raw)
    return _replaced(raw, _make_aws(driver, raw, plan))


def _replaced(value: Any, ids: Ids) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(inner, ids) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, ids) for inner in value]
    return ids.get(value, value) if isinstance(value, str) else value


def _make_aws(driver: Driver, raw: Mapping[str, Any], plan: Plan) -> Ids:
    driver.configure(region=plan.region, allowedAccountIds=json.dumps([plan.account or aws_specs.ACCOUNT]))
    ids: Ids = {}
    if plan.existing_network is not None:
        ids |= _aws_network(driver, plan)
    if plan.filesystem is not None and plan.filesystem.existing:
        ids[aws_specs.FILESYSTEM] = _aws_filesystem(driver)
    if plan.objects.existing:
        driver.up("aws:s3/bucket:Bucket", {"bucket": plan.objects.existing}, "theirs")
    if plan.nodes.capacity.reservation or plan.nodes.capacity.offering:
        ids |= _aws_reservation(driver, raw, plan)
    return ids


def _aws_network(driver: Driver, plan: Plan) -> Ids:
    """A VPC of the usual kind, whose subnet is no larger than the plan says that it must be."""
    vpc = driver.up(
        "aws:ec2/vpc:Vpc",
        {"cidrBlock": "10.0.0.0/16", "enableDnsSupport": True, "enableDnsHostnames": True},
        "theirs",
    )
    prefix = max(prefix_for(plan.network.needed), 16)
    subnet = driver.up(
        "aws:ec2/subnet:Subnet",
        {"vpcId": vpc.id, "cidrBlock": f"10.0.0.0/{prefix}", "availabilityZoneId": plan.zone},
        "theirs",
    )
    groups = [
        driver.up("aws:ec2/securityGroup:SecurityGroup", {"vpcId": vpc.id, "description": "theirs"}, f"theirs-{n}").id
        for n, _ in enumerate(aws_specs.GROUPS)
    ]
    return {aws_specs.VPC: vpc.id, aws_specs.SUBNET: subnet.id, **dict(zip(aws_specs.GROUPS, groups, strict=True))}


def _aws_filesystem(driver: Driver) -> str:
    """In a VPC of its own, peered with that of the nodes."""
    vpc = driver.up("aws:ec2/vpc:Vpc", {"cidrBlock": "10.1.0.0/16"}, "their-lustre")
    place = {"vpcId": vpc.id, "cidrBlock": "10.1.0.0/24"}
    subnet = driver.up("aws:ec2/subnet:Subnet", place, "their-lustre")
    lustre = {"subnetIds": subnet.id, "storageCapacity": 1200, "deploymentType": "SCRATCH_2"}
    rule = {"fromPort": 0, "toPort": 0, "protocol": "-1", "self": True}
    group = driver.up(
        "aws:ec2/securityGroup:SecurityGroup",
        {"vpcId": vpc.id, "description": "theirs", "ingress": [rule], "egress": [rule]},
        "their-lustre",
    )
    inputs = {**lustre, "securityGroupIds": [group.id]}
    return driver.up("aws:fsx/lustreFileSystem:LustreFileSystem", inputs, "theirs").id


def _aws_reservation(driver: Driver, raw: Mapping[str, Any], plan: Plan) -> Ids:
    """As large, and there as long, as the spec says that it is."""
    spec, _ = read_spec(raw)
    assert spec is not None
    said = spec.nodes.reservation
    known = said if isinstance(said, Reserved) else None
    count = known.count if known and known.count else plan.nodes.capacity.most
    where = (known.zone if known else None) or plan.zone
    zone = next((name for name, id_ in places_of(plan.region).items() if id_ == where), "")
    if plan.nodes.capacity.purchase == "reserved":
        group = {}
        if known and known.placement_group:
            made = driver.up(
                "aws:ec2/placementGroup:PlacementGroup",
                {"name": known.placement_group, "strategy": "cluster"},
                "theirs",
            )
            group = {"placementGroupArn": made["arn"]}
        of = {"availabilityZone": zone, "instanceType": plan.nodes.type, "instancePlatform": "Linux/UNIX"}
        inputs = {**of, **group, "instanceMatchCriteria": "targeted"}
        return {aws_specs.RESERVATION: _reserved(driver, inputs, count)}
    today = datetime.now(UTC).date()
    start = (known.start if known else None) or today - timedelta(days=1)
    end = (known.end if known else None) or max(start, today) + timedelta(days=14)
    offering = Offering(
        type=plan.nodes.type, zone=zone, count=count, hours=(end - start).days * 24, start=_at(start)
    ).id
    if plan.nodes.capacity.offering is not None:
        return {aws_specs.OFFERING: offering}
    inputs = {"capacityBlockOfferingId": offering, "instancePlatform": "Linux/UNIX"}
    block = driver.up("aws:ec2/capacityBlockReservation:CapacityBlockReservation", inputs, "theirs")
    return {aws_specs.RESERVATION: block.id}


def _reserved(driver: Driver, inputs: dict[str, Any], count: int) -> str:
    """A large one grows to its size, since a request takes a thousand instances at most."""
    made = driver.up(
        "aws:ec2/capacityReservation:CapacityReservation", {**inputs, "instanceCount": min(count, 1000)}, "theirs"
    )
    if count > 1000:
        driver.update(made, {**inputs, "instanceCount": count})
    return made.id


def _at(day: date) -> str:
    return f"{day.isoformat()}T11:30:00Z"


def _make_azure(driver: Driver, raw: Mapping[str, Any], plan: Plan) -> None:
    """In the cluster's subscription, and what can be in any in another one."""
    here, elsewhere = plan.account or azure_specs.HERE, azure_specs.ELSEWHERE
    lustre = plan.filesystem
    makers = [
        (here, plan.existing_network, lambda: _azure_network(driver, plan)),
        (here, plan.nodes.capacity.reservation, lambda: _azure_reservation(driver, raw, plan)),
        (here, lustre and lustre.vault_key, lambda: _azure_key(driver, plan)),
        (elsewhere, plan.objects.existing_container, lambda: _azure_account(driver, plan)),
        (elsewhere, lustre and lustre.existing, lambda: _azure_filesystem(driver, plan)),
    ]
    with_a_group = set()
    for subscription, named, make in makers:
        if not named:
            continue
        driver.configure(subscriptionId=subscription)
        if subscription not in with_a_group:
            driver.up("azure-native:resources:ResourceGroup", _theirs(plan), "theirs")
        with_a_group.add(subscription)
        make()
    driver.configure(subscriptionId=here)


def _theirs(plan: Plan) -> dict[str, Any]:
    return {"resourceGroupName": "research", "location": plan.region}


def _azure_network(driver: Driver, plan: Plan) -> None:
    """A VNet of the usual kind, whose subnets are no larger than the plan says that they must be."""
    space = {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}, "virtualNetworkName": "research"}
    driver.up("azure-native:network:VirtualNetwork", {**_theirs(plan), **space}, "theirs")
    lustre = plan.network.filesystem.prefixlen if plan.network.filesystem is not None else 28
    sizes = {"nodes": (1, prefix_for(plan.network.needed)), "lustre": (2, lustre), "endpoints": (3, 28)}
    for name, (second, prefix) in sizes.items():
        inputs = {
            "resourceGroupName": "research",
            "virtualNetworkName": "research",
            "subnetName": name,
            "addressPrefix": f"10.{second}.0.0/{prefix}",
        }
        driver.up("azure-native:network:Subnet", inputs, f"their-{name}")


def _azure_reservation(driver: Driver, raw: Mapping[str, Any], plan: Plan) -> None:
    spec, _ = read_spec(raw)
    assert spec is not None
    said = spec.nodes.reservation
    zone = (said.zone if isinstance(said, Reserved) else None) or plan.zone
    zones = {"zones": [zone]} if zone else {}
    group = {**_theirs(plan), **zones, "capacityReservationGroupName": "research"}
    driver.up("azure-native:compute:CapacityReservationGroup", group, "theirs")
    held = {**group, "capacityReservationName": "nodes", "sku": {"name": plan.nodes.type, "capacity": plan.nodes.count}}
    driver.up("azure-native:compute:CapacityReservation", held, "theirs")


def _azure_key(driver: Driver, plan: Plan) -> None:
    vault = {"tenantId": "11111111-1111-1111-1111-111111111111", "sku": {"family": "A", "name": "standard"}}
    of_vault = {"resourceGroupName": "research", "vaultName": "research"}
    driver.up("azure-native:keyvault:Vault", {**_theirs(plan), "vaultName": "research", "properties": vault}, "theirs")
    driver.up("azure-native:keyvault:Key", {**of_vault, "keyName": "lustre", "properties": {"kty": "RSA"}}, "theirs")


def _azure_account(driver: Driver, plan: Plan) -> None:
    """With shared keys and both containers, and the roles of a link: what the docs ask of one that exists."""
    own = {**_theirs(plan), "accountName": "researchdata", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    account = driver.up("azure-native:storage:StorageAccount", {**own, "isHnsEnabled": True}, "theirs")
    inside = {"resourceGroupName": "research", "accountName": "researchdata"}
    for name in ("data", "training", "lustre-logs"):
        driver.up("azure-native:storage:BlobContainer", {**inside, "containerName": name}, f"their-{name}")
    roles = "/providers/Microsoft.Authorization/roleDefinitions/"
    for n, role in enumerate(("17d1049b-9a84-46fb-8f53-869881c3d3ab", "ba92f5b4-2d11-453d-a403-e96b0029c9fe")):
        if plan.objects.link and plan.objects.link_principal is None:
            inputs = {
                "scope": account.id,
                "principalId": azure_specs.PRINCIPAL,
                "principalType": "ServicePrincipal",
                "roleAssignmentName": f"8f7a4c52-0000-4000-8000-00000000001{n}",
                "roleDefinitionId": f"{roles}{role}",
            }
            driver.up("azure-native:authorization:RoleAssignment", inputs, f"theirs-{n}")


def _azure_filesystem(driver: Driver, plan: Plan) -> None:
    space = {"addressSpace": {"addressPrefixes": ["192.168.0.0/16"]}, "virtualNetworkName": "their-lustre"}
    driver.up("azure-native:network:VirtualNetwork", {**_theirs(plan), **space}, "their-lustre")
    place = {
        "resourceGroupName": "research",
        "virtualNetworkName": "their-lustre",
        "subnetName": "lustre",
        "addressPrefix": "192.168.0.0/24",
    }
    subnet = driver.up("azure-native:network:Subnet", place, "their-lustre")
    inputs = {
        **_theirs(plan),
        "amlFilesystemName": "research",
        "filesystemSubnet": subnet.id,
        "sku": {"name": "AMLFS-Durable-Premium-250"},
        "storageCapacityTiB": 8,
        "zones": [plan.zone or "1"],
        "maintenanceWindow": {"dayOfWeek": "Sunday", "timeOfDayUTC": "03:00"},
    }
    driver.up("azure-native:storagecache:AmlFilesystem", inputs, "theirs")
