"""Flow logs of VPCs, subnets and interfaces. No record is ever written. The log groups they go to: `operations`.

Known of EC2 (issues and stand-ins that quote it): the texts on a missing role, a missing destination, a second flow
log and a role that is not trusted. Assumed: that roles in the store are judged by whom they name in their trust.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from localcloud.aws.identity import ROLE
from localcloud.aws.kind import AwsKind, among, one_of
from localcloud.aws.network import SUBNET, VPC
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.values import Properties

FLOW_LOG = "aws:ec2/flowLog:FlowLog"
SERVICE = "vpc-flow-logs.amazonaws.com"

_SOURCES = ("eniId", "regionalNatGatewayId", "subnetId", "vpcId", "transitGatewayId", "transitGatewayAttachmentId")
_LOG_GROUP = "cloud-watch-logs"


def _check(inputs: Properties) -> Iterator[Failure]:
    yield from one_of(inputs, *_SOURCES)
    yield from among(inputs, "maxAggregationInterval", (60, 600))


def _judge(call: Call) -> None:
    said, kind = call.inputs, call.inputs["logDestinationType"]
    if not said.get("trafficType") and not said.get("transitGatewayId") and not said.get("transitGatewayAttachmentId"):
        raise Refusal("MissingParameter", "trafficType: The request must contain the parameter TrafficType")
    if not said.get("logDestination"):
        raise Refusal("InvalidParameter", "LogDestination can't be empty if LogGroupName is not provided.")
    if kind == _LOG_GROUP and not said.get("iamRoleArn"):
        raise Refusal(
            "InvalidParameter", f"DeliverLogsPermissionArn can't be empty if LogDestinationType is {_LOG_GROUP}."
        )
    if kind == "s3" and said.get("iamRoleArn"):
        raise Refusal("InvalidParameter", "DeliverLogsPermissionArn is not applicable for s3 Log Destination type")
    role = call.find(ROLE, said.get("iamRoleArn"), "arn") if said.get("iamRoleArn") else None
    if role is not None and SERVICE not in json.dumps(role.inputs.get("assumeRolePolicy")):
        raise Refusal("InvalidParameter", f"iamRoleArn: Unable to assume given IAM role: {role.id} trusts no {SERVICE}")
    identity = (*_SOURCES, "trafficType", "logDestination")
    for other in call.others():
        if all(other.inputs.get(name) == said.get(name) for name in identity):
            raise Refusal(
                "FlowLogAlreadyExists",
                f"Error. There is an existing Flow Log with the same configuration and log destination. ({other.id})",
            )


KINDS = (
    AwsKind(
        token=FLOW_LOG,
        id_prefix="fl",
        arn="arn:{partition}:ec2:{region}:{account}:vpc-flow-log/{id}",
        immutable=(
            *_SOURCES,
            "deliverCrossAccountRole",
            "destinationOptions",
            "iamRoleArn",
            "logDestination",
            "logDestinationType",
            "logFormat",
            "maxAggregationInterval",
            "trafficType",
        ),
        defaults={"logDestinationType": _LOG_GROUP, "maxAggregationInterval": 600},
        refs=(
            Ref(path="vpcId", target=VPC, holds=False),
            Ref(path="subnetId", target=SUBNET, holds=False),
            Ref(path="iamRoleArn", target=ROLE, by="arn", holds=False),
        ),
        check=_check,
        judge=_judge,
        not_found="InvalidFlowLogId.NotFound",
    ),
)
