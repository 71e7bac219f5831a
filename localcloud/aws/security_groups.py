"""Security groups and their standalone rules. What they let through: `rules`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from localcloud.aws.kind import AwsKind, among, in_range, one_of
from localcloud.aws.network import SECURITY_GROUP, VPC, vpc_of
from localcloud.aws.nodes import refuse_while_running
from localcloud.aws.rules import EGRESS_RULE, INGRESS_RULE, OLD_RULE
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import Properties

_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
_IDENTITY = ("securityGroupId", "ipProtocol", "fromPort", "toPort", *_SOURCES)
_OLD_SOURCES = ("cidrBlocks", "ipv6CidrBlocks", "prefixListIds", "self", "sourceSecurityGroupId")
_OLD_IDENTITY = ("securityGroupId", "type", "protocol", "fromPort", "toPort", *_OLD_SOURCES)


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
    _judge_unique(call, _IDENTITY)
    _judge_one_network(call, call.inputs.get("referencedSecurityGroupId"))
    if call.inputs["ipProtocol"] in ("tcp", "udp", "6", "17") and call.inputs.get("fromPort") is None:
        raise Refusal(
            "InvalidParameterValue",
            "fromPort: Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.",
        )


def _judge_old_rule(call: Call) -> None:
    _judge_unique(call, _OLD_IDENTITY)
    _judge_one_network(call, call.inputs.get("sourceSecurityGroupId"))


def _judge_unique(call: Call, identity: tuple[str, ...]) -> None:
    wanted = [call.inputs.get(name) for name in identity]
    for other in call.others():
        if [other.inputs.get(name) for name in identity] == wanted:
            raise Refusal(
                "InvalidPermission.Duplicate",
                f"the specified rule already exists in {call.inputs['securityGroupId']} as {other.id}",
            )


def _judge_one_network(call: Call, other: str | None) -> None:
    """Peering, which would allow it, has no model."""
    group = call.find(SECURITY_GROUP, call.inputs["securityGroupId"])
    source = call.find(SECURITY_GROUP, other) if other else None
    peered = next(iter(call.tx.of_type("aws:ec2/vpcPeeringConnection:VpcPeeringConnection")), None)
    if group is not None and source is not None and peered is None and vpc_of(group) != vpc_of(source):
        raise Refusal(
            "InvalidGroup.NotFound",
            f"You have specified two resources that belong to different networks: {group.id} and {source.id}.",
        )


def _check_old_rule(inputs: Properties) -> Iterator[Failure]:
    yield from among(inputs, "type", ("ingress", "egress"))
    if not any(inputs.get(name) for name in _OLD_SOURCES):
        yield Failure("cidrBlocks", f"one of {', '.join(_OLD_SOURCES)} must be given; found none")
    if inputs.get("self") and inputs.get("sourceSecurityGroupId"):
        yield Failure("sourceSecurityGroupId", "self and sourceSecurityGroupId cannot be given together")


def _from_another_group(rule: Record) -> bool:
    source = rule.inputs.get("referencedSecurityGroupId") or rule.inputs.get("sourceSecurityGroupId")
    return source != rule.inputs["securityGroupId"]


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
        delete=refuse_while_running,
        in_use=("DependencyViolation", "resource {id} has a dependent object"),
        not_found="InvalidGroup.NotFound",
    ),
    _rule(INGRESS_RULE),
    _rule(EGRESS_RULE),
    AwsKind(
        token=OLD_RULE,
        id_prefix="sgrule",
        tagged=False,
        immutable=_OLD_IDENTITY,
        refs=(
            Ref(path="securityGroupId", target=SECURITY_GROUP, holds=False),
            Ref(path="sourceSecurityGroupId", target=SECURITY_GROUP, holds=_from_another_group),
        ),
        check=_check_old_rule,
        judge=_judge_old_rule,
        create=lambda call: {"securityGroupRuleId": call.id},
    ),
)
