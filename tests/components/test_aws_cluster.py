"""The AWS side by value: interfaces, held capacity, security groups. Data stores and permissions: test_aws_storage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from components.dryrun import dry_run
from tests.clusters import planned


def test_a_p5_node_has_one_ena_and_32_efa_only_interfaces_each_in_the_nodes_group(declared: Callable[..., Any]) -> None:
    cluster = declared("aws")
    template = cluster.one("LaunchTemplate")
    interfaces = template.inputs["networkInterfaces"]
    assert Counter(i["interfaceType"] for i in interfaces) == {"interface": 1, "efa-only": 32}
    first = interfaces[0]
    assert (first["interfaceType"], first["networkCardIndex"], first["deviceIndex"]) == ("interface", 0, 0)
    efa = [i for i in interfaces if i["interfaceType"] == "efa-only"]
    assert [i["networkCardIndex"] for i in efa] == list(range(32))
    places = [(i["networkCardIndex"], i["deviceIndex"]) for i in interfaces]
    assert len(set(places)) == 33
    assert [r.name for r in cluster.made_from(template, "networkInterfaces")] == ["llama-70b-nodes"]
    assert all(i["securityGroups"] == first["securityGroups"] for i in interfaces)
    assert all(i["deleteOnTermination"] == "true" for i in interfaces)


@pytest.mark.parametrize(
    ("kind", "interfaces"),
    [
        ("p5en.48xlarge", {"interface": 1, "efa-only": 16}),
        ("p4d.24xlarge", {"interface": 1, "efa-only": 4}),
        ("g5.48xlarge", {"interface": 1, "efa-only": 1}),
    ],
)
def test_the_template_has_the_interfaces_of_the_type(
    kind: str, interfaces: dict[str, int], declared: Callable[..., Any]
) -> None:
    template = declared("aws", {"nodes.type": kind, "storage.filesystem": ...}).one("LaunchTemplate")
    assert Counter(i["interfaceType"] for i in template.inputs["networkInterfaces"]) == interfaces


def test_no_node_gets_a_public_address(declared: Callable[..., Any]) -> None:
    cluster = declared("aws")
    for interface in cluster.one("LaunchTemplate").inputs["networkInterfaces"]:
        assert "associatePublicIpAddress" not in interface
    assert [s.inputs["mapPublicIpOnLaunch"] for s in cluster.of("Subnet")] == [False, False]
    (subnet,) = cluster.made_from(cluster.one("Group"), "vpcZoneIdentifiers")
    assert subnet.name == "llama-70b-nodes"
    (route,) = [r for r in cluster.of("Route") if r.name.startswith("llama-70b-nodes")]
    assert "natGatewayId" in route.inputs
    assert "gatewayId" not in route.inputs


def test_credentials_of_a_node_are_had_by_imds_v2_only_and_its_disk_is_encrypted(declared: Callable[..., Any]) -> None:
    inputs = declared("aws").one("LaunchTemplate").inputs
    assert inputs["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 2,
    }
    (disk,) = inputs["blockDeviceMappings"]
    assert disk["ebs"]["encrypted"] == "true"
    assert disk["ebs"]["volumeSize"] == 300


def test_all_nodes_start_or_none_in_one_targeted_reservation_inside_the_placement_group(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("aws")
    reservation, template, group = (cluster.one(k) for k in ("CapacityReservation", "LaunchTemplate", "Group"))
    assert reservation.inputs["instanceCount"] == 16
    assert reservation.inputs["instanceMatchCriteria"] == "targeted"
    assert reservation.inputs["instancePlatform"] == "Linux/UNIX"
    assert [r.type for r in cluster.made_from(reservation, "placementGroupArn")] == [
        "aws:ec2/placementGroup:PlacementGroup"
    ]
    assert list(template.inputs["capacityReservationSpecification"]) == ["capacityReservationTarget"]
    assert cluster.made_from(template, "capacityReservationSpecification") == [reservation]
    assert cluster.made_from(group, "launchTemplate") == [template]
    assert {group.inputs[k] for k in ("minSize", "maxSize", "desiredCapacity")} == {16}


def test_a_reservation_is_given_back_before_it_is_made_anew_and_a_refusal_is_told_after_ten_minutes(
    declared: Callable[..., Any],
) -> None:
    request = declared("aws").one("CapacityReservation").request
    assert request.deleteBeforeReplace
    assert list(request.replaceOnChanges) == ["placementGroupArn"]
    assert request.customTimeouts.create == "10m"


def test_a_dead_node_leaves_before_its_successor_starts(declared: Callable[..., Any]) -> None:
    """The reservation is full: one node more would find no capacity."""
    inputs = declared("aws").one("Group").inputs
    assert inputs["instanceMaintenancePolicy"] == {"minHealthyPercentage": 0, "maxHealthyPercentage": 100}
    assert "suspendedProcesses" not in inputs


def test_without_placement_there_is_a_reservation_and_no_group(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", {"nodes.placement": "none"})
    assert not cluster.of("PlacementGroup")
    assert "placementGroupArn" not in cluster.one("CapacityReservation").inputs
    assert "placementGroup" not in cluster.one("Group").inputs


def test_nodes_start_after_routes_rules_permissions_endpoint_and_filesystem(declared: Callable[..., Any]) -> None:
    cluster = declared("aws")
    before = cluster.before(cluster.one("Group"))
    kinds = {entry.split(" ")[0] for entry in before}
    assert kinds >= {
        "LustreFileSystem",
        "NatGateway",
        "RolePolicy",
        "RouteTableAssociation",
        "SecurityGroupEgressRule",
        "SecurityGroupIngressRule",
        "VpcEndpoint",
    }
    rules = {f"{r.type.rsplit(':', 1)[-1]} {r.name}" for r in cluster.run.resources if "GroupIngressRule" in r.type}
    assert rules <= before


def _pairs(cluster: Any, kind: str) -> set[tuple[str, str, str, Any, Any]]:
    """(owner, other, protocol, from, to) of the rules that refer to a group."""
    found = set()
    for rule in cluster.of(kind):
        if others := cluster.made_from(rule, "referencedSecurityGroupId"):
            (owner,) = cluster.made_from(rule, "securityGroupId")
            ports = rule.inputs.get("fromPort"), rule.inputs.get("toPort")
            found.add((owner.name, others[0].name, rule.inputs["ipProtocol"], *ports))
    return found


NODES, STORE = "llama-70b-nodes", "llama-70b-filesystem"


def test_with_efa_every_group_lets_everything_in_and_out_of_itself_and_the_other(declared: Callable[..., Any]) -> None:
    cluster = declared("aws")
    everything = {(a, b, "-1", None, None) for a, b in ((NODES, NODES), (STORE, STORE), (STORE, NODES), (NODES, STORE))}
    assert _pairs(cluster, "SecurityGroupIngressRule") == everything
    assert _pairs(cluster, "SecurityGroupEgressRule") == everything


def test_without_efa_the_filesystem_is_reached_on_the_lustre_ports_both_ways(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", {"storage.filesystem.efa": False})
    lustre = {
        (a, b, "tcp", *ports)
        for a, b in ((STORE, STORE), (STORE, NODES), (NODES, STORE))
        for ports in ((988, 988), (1018, 1023))
    }
    fabric = {(NODES, NODES, "-1", None, None)}
    assert _pairs(cluster, "SecurityGroupIngressRule") == lustre | fabric
    assert _pairs(cluster, "SecurityGroupEgressRule") == lustre | fabric


def test_groups_have_no_inline_rules_which_would_fight_the_rule_resources(declared: Callable[..., Any]) -> None:
    for group in declared("aws").of("SecurityGroup"):
        assert not {"ingress", "egress"} & set(group.inputs)


def test_names_that_pulumi_completes_stay_legal_for_the_longest_cluster_name(declared: Callable[..., Any]) -> None:
    """Pulumi adds a hyphen and seven digits to a name that is not given."""
    cluster = declared("aws", {"name": "abcdefghijklmnopqrst"})
    longest = {"Role": 64, "RolePolicy": 128, "InstanceProfile": 128, "Bucket": 63, "LaunchTemplate": 128, "Group": 255}
    for kind, limit in longest.items():
        (resource,) = cluster.of(kind)
        assert len(resource.name) + 8 <= limit
        assert not {"name", "bucket"} & set(resource.inputs)


def test_an_image_that_was_looked_up_stays_until_another_one_is_asked_for(declared: Callable[..., Any]) -> None:
    by_default = declared("aws").one("LaunchTemplate")
    other = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
    changed = declared("aws", {"nodes.image": other}).one("LaunchTemplate")
    assert list(by_default.request.ignoreChanges) == list(changed.request.ignoreChanges) == ["imageId"]
    assert by_default.name != changed.name
    given = declared("aws", {"nodes.image": "ami-0fedcba9876543210"}).one("LaunchTemplate")
    assert given.inputs["imageId"] == "ami-0fedcba9876543210"
    assert not given.request.ignoreChanges


def test_a_recorded_image_reaches_the_template_with_its_own_root_disk_and_nothing_is_looked_up() -> None:
    plan = planned("aws")
    image = replace(
        plan.nodes.image, reference="ami-0fedcba9876543210", by_parameter=False, root_device="/dev/xvda", root_gib=120
    )
    run = dry_run(replace(plan, nodes=replace(plan.nodes, image=image)))
    [template] = [r for r in run.resources if r.type.endswith(":LaunchTemplate")]
    assert template.name == "llama-70b-nodes"
    assert template.inputs["imageId"] == "ami-0fedcba9876543210"
    assert [disk["deviceName"] for disk in template.inputs["blockDeviceMappings"]] == ["/dev/xvda"]
    assert not template.request.ignoreChanges
    looked_up = next(r for r in dry_run(plan).resources if r.type.endswith(":LaunchTemplate"))
    aliases = {alias.spec.name for alias in template.request.aliases}
    assert looked_up.name in aliases, "recorded it is the same template: another one would end a spot gang"


def test_a_key_reaches_the_nodes_only_where_one_is_given(declared: Callable[..., Any]) -> None:
    assert "keyName" not in declared("aws").one("LaunchTemplate").inputs
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYJof/1iH++8qxPpbhtnQUO+mx0DBoHjXtumkz6IfKM example"
    cluster = declared("aws", {"access.ssh_public_key": key})
    assert cluster.one("KeyPair").inputs["publicKey"] == key
    assert [r.name for r in cluster.made_from(cluster.one("LaunchTemplate"), "keyName")] == ["llama-70b-ssh"]


def test_s3_is_reached_from_the_nodes_without_the_nat_gateway(declared: Callable[..., Any]) -> None:
    cluster = declared("aws")
    endpoint = cluster.one("VpcEndpoint")
    assert endpoint.inputs["vpcEndpointType"] == "Gateway"
    assert endpoint.inputs["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert [t.name for t in cluster.made_from(endpoint, "routeTableIds")] == ["llama-70b-nodes"]
