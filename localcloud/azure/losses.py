"""What the death of nodes leaves on Azure: a scale set is smaller, unless its evicted nodes are only stopped.

A deleted node lowers the capacity that the scale set reports; one that was evicted with the policy Deallocate stays
a part of it, without running. Nothing comes in its place before somebody asks for it.
"""

from __future__ import annotations

from dataclasses import replace

from localcloud.azure.allocation import NODES, SCALE_SET, nodes_of
from localcloud.azure.scale_set_shape import is_spot
from localcloud.kinds import Call
from localcloud.store import Record
from localcloud.values import Properties, first


def nodes(record: Record) -> list[tuple[str, str]]:
    """Id and purchase option of what a scale set runs."""
    if record.type != SCALE_SET:
        return []
    purchase = "spot" if is_spot(record.inputs) else "on-demand"
    return [(f"{record.id}/virtualMachines/{number}", purchase) for number in range(nodes_of(record))]


def without(call: Call, ids: frozenset[str]) -> Record | None:
    """The record of `call.old` once these nodes are gone."""
    record = call.old
    assert record is not None
    outputs = {**record.outputs, NODES: nodes_of(record) - len(ids)}
    if is_spot(record.inputs) and first(record.inputs, "virtualMachineProfile.evictionPolicy") != "Delete":
        return replace(record, outputs=outputs)
    return replace(record, inputs=_smaller(record.inputs, len(ids)), outputs=_smaller(outputs, len(ids)))


def _smaller(properties: Properties, number: int) -> Properties:
    sku = properties["sku"]
    return {**properties, "sku": {**sku, "capacity": sku["capacity"] - number}}
