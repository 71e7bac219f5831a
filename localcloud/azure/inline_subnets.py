"""Subnets that a virtual network declares inside itself.

They exist as those that are resources of their own do. A network that declares some says which there are: any other
goes (pulumi-azure-native#611). One that declares none leaves them alone.
"""

from __future__ import annotations

from dataclasses import replace

from localcloud.azure.network_kind import created
from localcloud.azure.refusals import missing, raise_first
from localcloud.azure.subnets import prefix_refusals
from localcloud.kinds import Call
from localcloud.store import Record
from localcloud.values import Properties

VIRTUAL_NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"


def write_inline(call: Call) -> None:
    declared = call.inputs.get("subnets")
    if declared is None:
        return
    names = [str(subnet.get("name", "")).casefold() for subnet in declared]
    for record in list(call.tx.below(call.id)):
        if record.type == SUBNET and record.outputs["name"].casefold() not in names:
            call.cloud.refuse_while_in_use(_call_of(call, record.inputs, record.id, record))
            call.tx.remove(record)
    for i, subnet in enumerate(declared):
        _write(call, subnet, i)


def inline_outputs(call: Call) -> Properties:
    return {"subnets": [{**subnet, "id": _id(call, subnet)} for subnet in call.inputs.get("subnets") or []]}


def _write(call: Call, subnet: Properties, i: int) -> None:
    if not subnet.get("name"):
        raise missing(f"subnets[{i}].name")
    parent = {name: call.inputs[name] for name in ("resourceGroupName", "virtualNetworkName")}
    inputs = {**call.cloud.kinds[SUBNET].defaults, **subnet, **parent, "subnetName": subnet["name"]}
    id_ = _id(call, subnet)
    old = call.tx.get("", SUBNET, id_)
    own = _call_of(call, inputs, id_, old)
    raise_first(prefix_refusals(own, call.inputs))
    given = old.outputs if old else {**created(own), **call.cloud.common_outputs(own)}
    record = old or Record(cloud=call.cloud.name, scope="", type=SUBNET, id=id_, urn=call.urn)
    call.tx.put(replace(record, inputs=inputs, outputs={**given, **inputs}))


def _call_of(call: Call, inputs: Properties, id_: str, old: Record | None) -> Call:
    return Call(call.cloud, call.tx, call.cloud.kinds[SUBNET], inputs, id_, "", old, call.urn)


def _id(call: Call, subnet: Properties) -> str:
    return f"{call.id}/subnets/{subnet['name']}"
