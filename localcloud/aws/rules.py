"""What security groups let through, wherever it is said: in the group, in a rule of its own, in a rule of the old type.

The rows of these types: `security_groups`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from localcloud.aws.network import SECURITY_GROUP
from localcloud.kinds import Call
from localcloud.store import Record
from localcloud.values import Properties

INGRESS_RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS_RULE = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
OLD_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"

Way = Literal["ingress", "egress"]
_ALL = ("-1", "all", -1)


@dataclass(frozen=True, slots=True)
class Rule:
    way: Way
    protocol: str
    """-1 for all."""
    ports: tuple[int, int]
    groups: frozenset[str]
    """Security groups at the other end; empty where it is told by addresses."""

    def covers(self, protocol: str, port: int) -> bool:
        return self.protocol == "-1" or (self.protocol == protocol and self.ports[0] <= port <= self.ports[1])


def rules_of(call: Call, group: str) -> list[Rule] | None:
    """All rules of a group; None: it is not of this cloud, so that nobody knows."""
    record = call.find(SECURITY_GROUP, group)
    if record is None:
        return None
    if not record.inputs:  # the one that a VPC brings with it, which is open within itself and outwards
        itself = frozenset({group})
        brought = [Rule("ingress", "-1", (0, 65535), itself), Rule("egress", "-1", (0, 65535), frozenset())]
        return [*brought, *_standalone(call, group)]
    return [*_inline(record), *_standalone(call, group)]


def allows_all_within(rules: Iterable[Rule], group: str) -> bool:
    """All traffic to and from the group itself, named as a group: addresses do not cover what is not IP."""
    ways = {rule.way for rule in rules if rule.protocol == "-1" and group in rule.groups}
    return ways == {"ingress", "egress"}


def _inline(record: Record) -> Iterator[Rule]:
    ways: tuple[Way, Way] = ("ingress", "egress")
    for way in ways:
        for said in record.outputs.get(way) or ():
            groups = {*(said.get("securityGroups") or ()), *([record.id] if said.get("self") else [])}
            yield _rule(way, said.get("protocol"), said, groups)


def _standalone(call: Call, group: str) -> Iterator[Rule]:
    ways: tuple[tuple[str, Way], ...] = ((INGRESS_RULE, "ingress"), (EGRESS_RULE, "egress"))
    for token, way in ways:
        for record in call.others(token):
            if record.inputs["securityGroupId"] == group:
                other = record.inputs.get("referencedSecurityGroupId")
                yield _rule(way, record.inputs["ipProtocol"], record.inputs, {other} if other else set())
    for record in call.others(OLD_RULE):
        said = record.inputs
        if said["securityGroupId"] == group:
            groups = {*([said["sourceSecurityGroupId"]] if said.get("sourceSecurityGroupId") else [])}
            way: Way = "ingress" if said["type"] == "ingress" else "egress"
            yield _rule(way, said["protocol"], said, groups | ({group} if said.get("self") else set()))


def _rule(way: Way, protocol: object, said: Properties, groups: set[str]) -> Rule:
    everything = protocol in _ALL
    low, high = said.get("fromPort"), said.get("toPort")
    ports = (0, 65535) if everything or low in (None, -1) else (int(low), int(low if high is None else high))
    return Rule(way, "-1" if everything else _named(str(protocol)), ports, frozenset(groups))


def _named(protocol: str) -> str:
    return {"6": "tcp", "17": "udp"}.get(protocol, protocol.lower())
