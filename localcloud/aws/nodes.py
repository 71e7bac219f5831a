"""Running nodes: which there are, what they take, and how one dies.

They live in the record of what launched them (an Auto Scaling group, a fleet, an instance) as its output `__nodes`, a
list of sets of like nodes, so that they come and go with it in one write. How many may be launched: `capacity`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from localcloud.kinds import Call, Refusal
from localcloud.store import Record, Transaction
from localcloud.values import Properties

GROUP = "aws:autoscaling/group:Group"
FLEET = "aws:ec2/fleet:Fleet"
INSTANCE = "aws:ec2/instance:Instance"
LAUNCHERS = (GROUP, FLEET, INSTANCE)
OUTPUT = "__nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Nodes that are all alike."""

    ids: tuple[str, ...]
    type: str
    zone: str
    """Id of the zone; empty where the subnet is not of this cloud."""
    purchase: str
    """on-demand, spot or capacity-block."""
    subnet: str = ""
    placement_group: str = ""
    reservation: str = ""
    """The capacity reservation or block that they run in."""
    security_groups: tuple[str, ...] = ()
    addresses: int = 1
    """Of the subnet, that each of them takes."""
    weight: int = 1
    """What each counts for in its fleet."""


def nodes_of(record: Record) -> list[Nodes]:
    names = {field.name for field in fields(Nodes)}
    return [_nodes({key: row[key] for key in names & row.keys()}) for row in record.outputs.get(OUTPUT, [])]


def as_output(nodes: list[Nodes]) -> Properties:
    return {OUTPUT: [asdict(alike) for alike in nodes if alike.ids]}


def running(tx: Transaction, scope: str | None = None) -> Iterator[Nodes]:
    """All nodes of an account's region, or of the whole cloud."""
    for token in LAUNCHERS:
        for record in tx.of_type(token, scope):
            if not record.lost:
                yield from nodes_of(record)


def without(nodes: list[Nodes], number: int) -> list[Nodes]:
    """Fewer by so many, the youngest first."""
    left = []
    for alike in reversed(nodes):
        gone = min(number, len(alike.ids))
        number -= gone
        left.append(replace(alike, ids=alike.ids[: len(alike.ids) - gone]))
    return [alike for alike in reversed(left) if alike.ids]


def without_ids(nodes: list[Nodes], ids: frozenset[str]) -> list[Nodes]:
    left = [replace(alike, ids=tuple(id_ for id_ in alike.ids if id_ not in ids)) for alike in nodes]
    return [alike for alike in left if alike.ids]


def refuse_while_running(call: Call) -> None:
    """Of a security group, a subnet or a placement group: nodes that are in it, whatever launched them."""
    for alike in running(call.tx, call.scope):
        if call.id in (alike.subnet, alike.placement_group, *alike.security_groups):
            code, message = call.kind.in_use
            raise Refusal(code, f"{message.format(id=call.id)} (held by the running {alike.ids[0]})", status=409)


def _nodes(row: Properties) -> Nodes:
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Nodes(**given)
