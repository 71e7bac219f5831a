"""Endpoints: gateways to S3 and DynamoDB, and interfaces of other services in the subnets of a VPC."""

from __future__ import annotations

from localcloud.aws.kind import AwsKind
from localcloud.aws.network import ROUTE_TABLE, SECURITY_GROUP, SUBNET, VPC, new_id, take_address, vpc_of
from localcloud.kinds import Call, Ref, Refusal
from localcloud.values import Properties

ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"


def _judge_endpoint(call: Call) -> None:
    service = call.inputs.get("serviceName", "")
    region = call.inputs.get("serviceRegion") or call.region
    if service.startswith("com.amazonaws.") and f".{region}." not in service:
        raise Refusal("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist in {region}")
    gateway = call.inputs["vpcEndpointType"] == "Gateway"
    if gateway and service.rpartition(".")[2] not in ("s3", "dynamodb", "s3express"):
        raise Refusal(
            "InvalidParameter",
            f"Endpoint type (Gateway) does not match available service types of {service}: Interface",
        )
    _judge_places_of_endpoint(call)


def _judge_places_of_endpoint(call: Call) -> None:
    vpc = call.find(VPC, call.inputs["vpcId"])
    zones: dict[str, str] = {}
    for i, id_ in enumerate(call.inputs.get("subnetIds") or []):
        subnet = call.find(SUBNET, id_)
        if subnet is None:
            continue
        zone = subnet.outputs["availabilityZone"]
        if zone in zones:
            raise Refusal(
                "DuplicateSubnetsInSameZone",
                f"subnetIds[{i}]: Found another VPC endpoint subnet in the availability zone of {id_}: {zones[zone]}",
            )
        zones[zone] = id_
        if call.old is None:
            take_address(call, subnet)
    for name, token in (("subnetIds", SUBNET), ("routeTableIds", ROUTE_TABLE), ("securityGroupIds", SECURITY_GROUP)):
        for i, id_ in enumerate(call.inputs.get(name) or []):
            record = call.find(token, id_)
            if vpc is not None and record is not None and vpc_of(record) != vpc.id:
                raise Refusal("InvalidParameter", f"{name}[{i}]: {id_} does not belong to {vpc.id}")
    wants_dns = call.inputs.get("privateDnsEnabled") and call.inputs["vpcEndpointType"] == "Interface"
    if wants_dns and vpc is not None and not (vpc.inputs["enableDnsSupport"] and vpc.inputs.get("enableDnsHostnames")):
        raise Refusal(
            "InvalidParameter",
            "privateDnsEnabled: Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC "
            f"attributes set to true for {vpc.id}",
        )
    for other in call.others():
        same = all(other.inputs.get(name) == call.inputs.get(name) for name in ("vpcId", "serviceName"))
        if wants_dns and same and other.inputs.get("privateDnsEnabled"):
            raise Refusal(
                "InvalidParameter",
                "private-dns-enabled cannot be set because there is already a conflicting DNS domain for "
                f"{call.inputs.get('serviceName')} in the VPC {call.inputs['vpcId']} ({other.id})",
            )


def _create_endpoint(call: Call) -> Properties:
    gateway = call.inputs["vpcEndpointType"] == "Gateway"
    return {
        "state": "available",
        "requesterManaged": False,
        "ipAddressType": "ipv4",
        "prefixListId": new_id("pl") if gateway else "",
        "cidrBlocks": [],
        "dnsEntries": [],
        "networkInterfaceIds": [] if gateway else [new_id("eni") for _ in call.inputs.get("subnetIds", [])],
    }


KINDS = (
    AwsKind(
        token=ENDPOINT,
        id_prefix="vpce",
        arn="arn:{partition}:ec2:{region}:{account}:vpc-endpoint/{id}",
        owned=True,
        immutable=("serviceName", "vpcEndpointType", "vpcId", "serviceRegion"),
        replaces=lambda _, new: () if new.get("vpcEndpointType") == "Interface" else ("privateDnsEnabled",),
        defaults={"vpcEndpointType": "Gateway"},
        refs=(
            Ref(path="vpcId", target=VPC),
            Ref(path="routeTableIds[]", target=ROUTE_TABLE, holds=False),
            Ref(path="subnetIds[]", target=SUBNET),
            Ref(path="securityGroupIds[]", target=SECURITY_GROUP),
        ),
        judge=_judge_endpoint,
        create=_create_endpoint,
        not_found="InvalidVpcEndpointId.NotFound",
    ),
)
