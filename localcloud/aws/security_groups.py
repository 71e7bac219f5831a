"""Security groups and their standalone rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from localcloud.aws.kind import AwsKind, in_range, one_of
from localcloud.aws.network import SECURITY_GROUP, VPC
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import Properties

INGRESS_RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS_RULE = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
_IDENTITY = ("securityGroupId", "ipProtocol", "fromPort", "toPort", *_SOURCES)


def _judge_group(call: Call) -> None:
    name, vpc = call.inputs.get("name"), call.inputs.get("vpcId")
    for other in call.others():
        if name and other.outputs["name"] == name and other.inputs.get("vpcId") == vpc:
            raise Refusal("InvalidGroup.Duplicate", f"The security group '{name}' already exists for VPC '{vpc}'")


def _check_rule(inputs: Properties) -> Iterator[Failure]:
    yield from one_of(inputs, *_SOURCES)
    for port in ("fromPort", "toPort"):
        yield from in_range(inputs, port, -1, 65535)


def _replaced_source(old: Properties, new: Properties) -> Iterable[str]:
    """Another kind of source is another rule; another value of the same kind is not."""
    return [source for source in _SOURCES if (source in old) != (source in new)]


def _judge_rule(call: Call) -> None:
    wanted = [call.inputs.get(name) for name in _IDENTITY]
    for other in call.others():
        if [other.inputs.get(name) for name in _IDENTITY] == wanted:
            raise Refusal(
                "InvalidPermission.Duplicate",
                f"the specified rule already exists in {call.inputs['securityGroupId']} as {other.id}",
            )


def _from_another_group(rule: Record) -> bool:
    return rule.inputs.get("referencedSecurityGroupId") != rule.inputs["securityGroupId"]


def _rule(token: str) -> AwsKind:
    return AwsKind(
        token=token,
        id_prefix="sgr",
        arn="arn:{partition}:ec2:{region}:{account}:security-group-rule/{id}",
        immutable=("securityGroupId",),
        replaces=_replaced_source,
        refs=(
            Ref(path="securityGroupId", target=SECURITY_GROUP, holds=False),
            Ref(path="referencedSecurityGroupId", target=SECURITY_GROUP, holds=_from_another_group),
        ),
        check=_check_rule,
        judge=_judge_rule,
        create=lambda call: {"securityGroupRuleId": call.id},
    )


KINDS = (
    AwsKind(
        token=SECURITY_GROUP,
        id_prefix="sg",
        arn="arn:{partition}:ec2:{region}:{account}:security-group/{id}",
        owned=True,
        named="name",
        immutable=("name", "namePrefix", "description", "vpcId"),
        defaults={"description": "Managed by Pulumi", "revokeRulesOnDelete": False},
        refs=(Ref(path="vpcId", target=VPC),),
        judge=_judge_group,
        # The provider takes away the cloud's default egress rule, so a new group lets nothing out.
        derive=lambda call: {side: call.inputs.get(side, []) for side in ("ingress", "egress")},
        in_use=("DependencyViolation", "resource {id} has a dependent object"),
        not_found="InvalidGroup.NotFound",
    ),
    _rule(INGRESS_RULE),
    _rule(EGRESS_RULE),
)
