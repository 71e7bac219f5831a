"""The AWS network: one's own VPC, no way out, flow logs, and what security groups let through in each case.

Ids of a wrong form, and combinations that are refused: tests/planning. The rest of the cluster: test_aws_cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest

from components.aws.cluster import EfaCluster
from components.aws.endpoints import service_name
from components.aws.network import NetworkInputs
from components.dryrun import DryRun, fitting_network, run
from components.program import build
from tests.clusters import planned

OWN = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}
GROUPS = ["sg-0123456789abcdef0", "sg-0123456789abcdef1"]
EXISTING = {"network": {"existing": {**OWN, "security_groups": GROUPS}}}
NO_WAY_OUT = {"network.egress": "none"}
SUBNET, VPC = "aws:ec2/getSubnet:getSubnet", "aws:ec2/getVpc:getVpc"
MADE_OF_A_NETWORK = {
    "Eip",
    "InternetGateway",
    "NatGateway",
    "Route",
    "RouteTable",
    "RouteTableAssociation",
    "Subnet",
    "Vpc",
    "VpcEndpoint",
}


def deployed(plan: Any, found: Mapping[str, Any], vpc: Mapping[str, Any] | None = None) -> DryRun:
    """The cluster of a plan in a network that fits, but for what is found otherwise."""
    fitting = fitting_network(plan)
    answers = {SUBNET: {**fitting[SUBNET], **found}, VPC: {**fitting[VPC], **(vpc or {})}}

    def program() -> None:
        build(plan)

    return run(program, answers=answers)


def egress_of_nodes(cluster: Any) -> dict[str, Mapping[str, Any]]:
    rules = cluster.of("SecurityGroupEgressRule")
    nodes = "llama-70b-nodes"
    return {r.name: r.inputs for r in rules if [g.name for g in cluster.made_from(r, "securityGroupId")] == [nodes]}


# A network that exists


def test_nothing_of_an_existing_network_is_made_or_changed(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", EXISTING)
    assert not cluster.kinds() & MADE_OF_A_NETWORK
    touched = [r.name for r in cluster.run.resources if OWN["vpc"] in json.dumps(dict(r.inputs), default=str)]
    assert touched == ["llama-70b-filesystem", "llama-70b-nodes"], "security groups, and nothing else, are put into it"


def test_nodes_and_filesystem_are_in_the_existing_subnet_and_its_zone(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", EXISTING)
    assert list(cluster.one("Group").inputs["vpcZoneIdentifiers"]) == [OWN["subnet"]]
    assert cluster.one("LustreFileSystem").inputs["subnetIds"] == OWN["subnet"]
    assert cluster.one("CapacityReservation").inputs["availabilityZone"] == "zone-a"
    assert {g.inputs["vpcId"] for g in cluster.of("SecurityGroup")} == {OWN["vpc"]}


def test_every_interface_of_a_node_has_the_clusters_group_and_those_of_the_spec(declared: Callable[..., Any]) -> None:
    for changes, others in (({}, []), (EXISTING, GROUPS)):
        interfaces = declared("aws", changes).one("LaunchTemplate").inputs["networkInterfaces"]
        assert len(interfaces) == 33
        assert {tuple(i["securityGroups"]) for i in interfaces} == {("llama-70b-nodes-id", *others)}


def test_a_group_that_is_named_twice_is_given_once() -> None:
    plan = planned("aws", {"network": {"existing": {**OWN, "security_groups": [*GROUPS, GROUPS[0]]}}})
    assert plan.existing_network is not None
    assert plan.existing_network.security_groups == tuple(GROUPS)


def test_a_preview_of_an_existing_network_declares_what_the_deployment_does(declared: Callable[..., Any]) -> None:
    assert declared("aws", EXISTING, preview=True).names == declared("aws", EXISTING).names


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({"availabilityZoneId": "use1-az4"}, ["is in zone use1-az4, and the cluster in use1-az6", "zone: use1-az4"]),
        (
            {"mapPublicIpOnLaunch": True},
            ["gives public addresses on launch", "33 network interfaces", "private subnet"],
        ),
        ({"cidrBlock": "10.0.0.0/27"}, ["has 27 usable addresses, and the cluster needs 33", "a subnet of /26"]),
    ],
)
def test_an_existing_subnet_that_no_node_could_start_in_is_refused_before_anything_is_made(
    found: dict[str, Any], says: list[str]
) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        deployed(planned("aws", EXISTING), found)
    assert "error: network.existing.subnet: subnet-0123456789abcdef0" in str(refused.value)
    assert all(text in str(refused.value) for text in says), str(refused.value)


def test_all_that_is_wrong_with_an_existing_network_is_told_at_once() -> None:
    wrong = {"availabilityZoneId": "use1-az4", "mapPublicIpOnLaunch": True, "cidrBlock": "10.0.0.0/28"}
    with pytest.raises(pulumi.RunError) as refused:
        deployed(planned("aws", EXISTING), wrong, {"enableDnsSupport": False})
    assert str(refused.value).count("error: ") == 4


def test_a_subnet_of_the_very_size_is_large_enough() -> None:
    plan = planned("aws", {**EXISTING, "nodes.count": 42})
    assert plan.network.needed == 59
    assert deployed(plan, {"cidrBlock": "10.0.0.0/26"}).resources
    with pytest.raises(pulumi.RunError, match="needs 60"):
        deployed(planned("aws", {**EXISTING, "nodes.count": 43}), {"cidrBlock": "10.0.0.0/26"})


@pytest.mark.parametrize(
    ("changes", "vpc", "refused"),
    [
        ({}, {"enableDnsSupport": False}, "resolves no names"),
        ({}, {"enableDnsHostnames": False}, "gives no DNS host names"),
        ({"storage.filesystem": ...}, {"enableDnsHostnames": False}, None),
    ],
)
def test_an_existing_vpc_must_have_the_names_that_nodes_ask_for(
    changes: dict[str, Any], vpc: dict[str, Any], refused: str | None
) -> None:
    plan = planned("aws", {**EXISTING, **changes})
    if refused is None:
        assert deployed(plan, {}, vpc).resources
        return
    with pytest.raises(pulumi.RunError, match=f"network.existing.vpc: vpc-0123456789abcdef0 {refused}"):
        deployed(plan, {}, vpc)


def test_a_network_that_can_not_be_read_is_named_with_the_words_of_the_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise Exception("no matching EC2 Subnet found")

    monkeypatch.setattr(aws.ec2, "get_subnet", refuse)
    with pytest.raises(pulumi.RunError) as refused:
        deployed(planned("aws", EXISTING), {})
    read = "network.existing.subnet: subnet-0123456789abcdef0 of vpc-0123456789abcdef0 can not be read in us-east-1"
    assert f"{read}: no matching EC2 Subnet found" in str(refused.value)


@pytest.mark.parametrize(("changes", "said"), [(EXISTING, "network.existing"), (NO_WAY_OUT, "network.egress: none")])
def test_a_network_of_the_program_and_another_one_in_the_plan_are_one_too_many(
    changes: dict[str, Any], said: str
) -> None:
    given = NetworkInputs(vpc_id="vpc-1", subnet_id="subnet-1", availability_zone="zone-a")

    def program() -> None:
        EfaCluster("train", planned("aws", changes), network=given)

    with pytest.raises(pulumi.RunError, match=f"train: the plan has {said}, and the program gives a network"):
        run(program)


def test_a_network_of_the_program_brings_groups_for_the_nodes() -> None:
    given = NetworkInputs(vpc_id="vpc-1", subnet_id="subnet-1", availability_zone="zone-a", security_groups=["sg-9"])

    def program() -> None:
        EfaCluster("train", planned("aws", {"network.flow_logs": True}), network=given)

    resources = run(program).resources
    (template,) = [r for r in resources if r.type.endswith(":LaunchTemplate")]
    groups = {tuple(i["securityGroups"]) for i in template.inputs["networkInterfaces"]}
    assert groups == {("train-nodes-id", "sg-9")}
    (log,) = [r for r in resources if r.type.endswith(":FlowLog")]
    assert log.inputs["subnetId"] == "subnet-1"


# No way out


def test_without_a_way_out_there_is_no_gateway_no_public_subnet_and_no_default_route(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("aws", NO_WAY_OUT)
    assert not cluster.kinds() & {"InternetGateway", "NatGateway", "Eip", "Route"}
    assert [s.name for s in cluster.of("Subnet")] == ["llama-70b-nodes"]


def test_without_a_way_out_each_service_that_nodes_call_has_an_endpoint_under_its_own_name(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("aws", NO_WAY_OUT)
    endpoints = {e.inputs["serviceName"].removeprefix("com.amazonaws.us-east-1."): e for e in cluster.of("VpcEndpoint")}
    assert set(endpoints) == {"ssm", "ssmmessages", "ec2messages", "fsx", "s3"}
    assert endpoints.pop("s3").inputs["vpcEndpointType"] == "Gateway"
    for endpoint in endpoints.values():
        assert endpoint.inputs["vpcEndpointType"] == "Interface"
        assert endpoint.inputs["privateDnsEnabled"] is True
        assert [s.name for s in cluster.made_from(endpoint, "subnetIds")] == ["llama-70b-nodes"]
        assert [g.name for g in cluster.made_from(endpoint, "securityGroupIds")] == ["llama-70b-endpoints"]
        # Else the old subnet could not go, and a VPC takes a private name once.
        assert (list(endpoint.request.replaceOnChanges), endpoint.request.deleteBeforeReplace) == (["subnetIds"], True)


def test_without_a_filesystem_nodes_have_nothing_to_ask_fsx(declared: Callable[..., Any]) -> None:
    names = {e.name for e in declared("aws", {**NO_WAY_OUT, "storage.filesystem": ...}).of("VpcEndpoint")}
    assert "llama-70b-fsx" not in names


def test_endpoints_take_requests_of_the_nodes_alone(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", NO_WAY_OUT)
    for kind in ("SecurityGroupIngressRule", "SecurityGroupEgressRule"):
        of_endpoints = [
            r
            for r in cluster.of(kind)
            if [g.name for g in cluster.made_from(r, "securityGroupId")] == ["llama-70b-endpoints"]
        ]
        if kind == "SecurityGroupEgressRule":
            assert of_endpoints == []
        else:
            (rule,) = of_endpoints
            assert (rule.inputs["ipProtocol"], rule.inputs["fromPort"], rule.inputs["toPort"]) == ("tcp", 443, 443)
            assert [g.name for g in cluster.made_from(rule, "referencedSecurityGroupId")] == ["llama-70b-nodes"]


def test_without_a_way_out_nodes_reach_each_other_lustre_endpoints_and_s3_and_nothing_else(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("aws", NO_WAY_OUT)
    rules = egress_of_nodes(cluster)
    assert set(rules) == {f"llama-70b-nodes-{role}-out" for role in ("fabric", "filesystem", "endpoints", "s3")}
    assert not [rule for rule in rules.values() if "cidrIpv4" in rule or "cidrIpv6" in rule]
    to_s3 = rules["llama-70b-nodes-s3-out"]
    assert (to_s3["ipProtocol"], to_s3["fromPort"], to_s3["toPort"]) == ("tcp", 443, 443)
    (rule,) = [r for r in cluster.of("SecurityGroupEgressRule") if r.name == "llama-70b-nodes-s3-out"]
    assert [e.name for e in cluster.made_from(rule, "prefixListId")] == ["llama-70b-s3"]
    assert rules["llama-70b-nodes-fabric-out"]["ipProtocol"] == "-1", "EFA needs its own group whatever else is open"


def test_without_a_way_out_and_without_efa_lustre_is_reached_on_its_ports(declared: Callable[..., Any]) -> None:
    rules = egress_of_nodes(declared("aws", {**NO_WAY_OUT, "storage.filesystem.efa": False}))
    ports = {(r["fromPort"], r["toPort"]) for name, r in rules.items() if "-filesystem-" in name}
    assert ports == {(988, 988), (1018, 1023)}


def test_with_a_way_out_the_fabric_still_names_its_own_group(declared: Callable[..., Any]) -> None:
    """0.0.0.0/0 lets IP out, and EFA is none."""
    cluster = declared("aws")
    rules = {r.name: r for r in cluster.of("SecurityGroupEgressRule")}
    assert rules["llama-70b-nodes-out"].inputs["cidrIpv4"] == "0.0.0.0/0"
    fabric = rules["llama-70b-nodes-fabric-out"]
    assert [g.name for g in cluster.made_from(fabric, "referencedSecurityGroupId")] == ["llama-70b-nodes"]


@pytest.mark.parametrize("changes", [{}, NO_WAY_OUT, EXISTING], ids=["nat", "none", "existing"])
def test_nothing_is_let_in_from_everywhere_and_no_subnet_gives_public_addresses(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    cluster = declared("aws", changes)
    assert not [r.name for r in cluster.of("SecurityGroupIngressRule") if "cidrIpv4" in r.inputs]
    assert {s.inputs["mapPublicIpOnLaunch"] for s in cluster.of("Subnet")} <= {False}
    assert {s.inputs["availabilityZoneId"] for s in cluster.of("Subnet")} <= {"use1-az6"}, "a fabric is in one zone"


def test_nodes_start_after_the_endpoints_that_their_first_boot_calls(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", NO_WAY_OUT)
    endpoints = {f"VpcEndpoint {e.name}" for e in cluster.of("VpcEndpoint")}
    assert endpoints <= cluster.before(cluster.one("Group"))


@pytest.mark.parametrize(
    ("region", "service", "name"),
    [
        ("us-east-1", "fsx", "com.amazonaws.us-east-1.fsx"),
        ("us-gov-west-1", "ssm", "com.amazonaws.us-gov-west-1.ssm"),
        ("cn-north-1", "ssm", "com.amazonaws.cn-north-1.ssm"),
        ("cn-north-1", "fsx", "cn.com.amazonaws.cn-north-1.fsx"),
    ],
)
def test_endpoints_have_the_names_of_their_partition(region: str, service: str, name: str) -> None:
    assert service_name(region, service) == name


# Flow logs


def test_flow_logs_go_to_a_log_group_of_their_own_that_forgets(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", {"network.flow_logs": True})
    log = cluster.one("FlowLog")
    assert [v.name for v in cluster.made_from(log, "vpcId")] == ["llama-70b-vpc"]
    assert [g.name for g in cluster.made_from(log, "logDestination")] == ["llama-70b-flow-logs"]
    assert (log.inputs["trafficType"], log.inputs["maxAggregationInterval"]) == ("ALL", 600)
    assert cluster.one("LogGroup").inputs["retentionInDays"] == 30
    assert "RolePolicy llama-70b-flow-logs" in cluster.before(log)


def test_of_an_existing_network_the_nodes_subnet_alone_is_logged(declared: Callable[..., Any]) -> None:
    log = declared("aws", {"network": {"existing": OWN, "flow_logs": True}}).one("FlowLog")
    assert log.inputs["subnetId"] == OWN["subnet"]
    assert "vpcId" not in log.inputs


def test_the_role_of_the_flow_logs_writes_to_their_group_and_can_do_nothing_else(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", {"network.flow_logs": True})
    (statement,) = json.loads(cluster.one("RolePolicy", "-flow-logs").inputs["policy"])["Statement"]
    assert statement["Resource"] == "arn:aws:mock:::llama-70b-flow-logs:*"
    assert "logs:CreateLogGroup" not in statement["Action"], "it would bring a deleted group back"
    assert not [action for action in statement["Action"] if "*" in action or not action.startswith("logs:")]
    (trust,) = json.loads(cluster.one("Role", "-flow-logs").inputs["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}
    assert set(trust["Condition"]["StringEquals"]) == {"aws:SourceAccount"}


@pytest.mark.parametrize("on_delete", ["protect", "retain"])
def test_flow_logs_are_no_data_store_and_go_with_the_stack(on_delete: str, declared: Callable[..., Any]) -> None:
    cluster = declared("aws", {"network.flow_logs": True, "storage.on_delete": on_delete})
    kept = [
        r.name
        for r in (*cluster.of("LogGroup"), *cluster.of("FlowLog"))
        if r.request.protect or r.request.retainOnDelete
    ]
    assert kept == []
