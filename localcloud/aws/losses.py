"""What the death of nodes leaves on AWS: a group, and a fleet that maintains its number, start others instead."""

from __future__ import annotations

from dataclasses import replace

from localcloud.aws.autoscaling import kept_up
from localcloud.aws.fleets import outputs_with
from localcloud.aws.nodes import GROUP, INSTANCE, as_output, nodes_of, without_ids
from localcloud.kinds import Call
from localcloud.store import Record


def nodes(record: Record) -> list[tuple[str, str]]:
    """Id and purchase option of what a group, a fleet or an instance runs."""
    return [(id_, alike.purchase) for alike in nodes_of(record) for id_ in alike.ids]


def without(call: Call, ids: frozenset[str]) -> Record | None:
    """The record of `call.old` once these nodes are gone; None: it is gone itself."""
    record = call.old
    assert record is not None
    if record.type == INSTANCE:
        return None
    left = without_ids(nodes_of(record), ids)
    if record.type == GROUP:
        left, _ = kept_up(call, left, record.outputs["desiredCapacity"])
        return replace(record, outputs={**record.outputs, **as_output(left)})
    return replace(record, outputs={**record.outputs, **outputs_with(call, left)})
