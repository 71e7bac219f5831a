"""Virtual machine scale sets: the row, and what is judged against the rest of the cloud.

Rules on their own inputs: `scale_set_shape`, `scale_set_model`. Quotas and capacity: `allocation`.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from localcloud.azure.allocation import RESERVED, SCALE_SET, allocate, judge_capacity, nodes_of
from localcloud.azure.compute import PROXIMITY_GROUP, RESERVATION, RESERVATION_GROUP
from localcloud.azure.identity import IDENTITY, TENANT
from localcloud.azure.kind import AzureKind
from localcloud.azure.network import SECURITY_GROUP, SUBNET
from localcloud.azure.refusals import bad_zones, invalid, raise_first, same_region
from localcloud.azure.scale_set_model import model_refusals
from localcloud.azure.scale_set_shape import is_flexible, nodes_wanted, shape_refusals
from localcloud.azure.sizes import Size, size_of
from localcloud.azure.subnets import take
from localcloud.kinds import Call, Ref, Refusal
from localcloud.store import Record
from localcloud.values import Properties, at, first

_CARDS = "virtualMachineProfile.networkProfile.networkInterfaceConfigurations[]"
_SUBNETS = f"{_CARDS}.ipConfigurations[].subnet.id"
_RULES = f"{_CARDS}.networkSecurityGroup.id"


def _judge(call: Call) -> None:
    name = str(first(call.inputs, "sku.name", ""))
    size = size_of(name)
    _say_what_is_not_known(call, name, size)
    raise_first(shape_refusals(call, size))
    raise_first(model_refusals(call.inputs, size))
    raise_first(bad_zones(call))
    same_region(call, _SUBNETS, _RULES, "proximityPlacementGroup.id", RESERVED)
    raise_first(_network_refusals(call))
    _take_addresses(call)
    raise_first(_reservation_refusals(call))
    judge_capacity(call, size)


def _say_what_is_not_known(call: Call, name: str, size: Size | None) -> None:
    if name and size is None:
        call.warn(f"sku.name: the local cloud does not know the size {name}: what only some sizes can was not checked")
    rack = size.rack_nodes if size else 1
    if nodes_wanted(call.inputs) % rack:
        call.warn(
            f"sku.capacity: {name} is given out in racks of {rack}; whether Azure takes {nodes_wanted(call.inputs)} "
            "is not known"
        )


def _network_refusals(call: Call) -> Iterator[Refusal]:
    networks: dict[str, str] = {}
    for place, id_ in at(call.inputs, _SUBNETS):
        networks.setdefault(id_.casefold().rpartition("/subnets/")[0], place)
        subnet = call.find(SUBNET, id_)
        if subnet is not None and subnet.inputs.get("delegations"):
            text = f"Subnet {id_} is delegated and cannot be used by {call.id}."
            yield Refusal("ResourceNotPermittedOnDelegatedSubnet", text, target=place)
    if len(networks) > 1:
        text = "The subnets of one virtual machine must be in the same virtual network."
        yield Refusal("SubnetsNotInSameVnet", text, target=list(networks.values())[1])


def _take_addresses(call: Call) -> None:
    """While it grows, a set that overprovisions has more nodes than are wanted: Azure documents a fifth."""
    wanted = nodes_wanted(call.inputs)
    if call.inputs.get("overprovision", not is_flexible(call.inputs)):
        wanted = math.ceil(wanted * 1.2)
    if call.old is not None and nodes_wanted(call.inputs) <= nodes_wanted(call.old.inputs):
        return
    places = [(place, id_.casefold()) for place, id_ in at(call.inputs, _SUBNETS)]
    for id_ in dict.fromkeys(id_ for _, id_ in places):
        mine = [place for place, other in places if other == id_]
        subnet = call.find(SUBNET, id_)
        if subnet is not None:
            take(call, subnet, wanted * len(mine), mine[0])


def _reservation_refusals(call: Call) -> Iterator[Refusal]:
    group = call.find(RESERVATION_GROUP, first(call.inputs, RESERVED, ""))
    if group is None or not nodes_wanted(call.inputs):
        return
    wanted = (str(first(call.inputs, "sku.name")).casefold(), sorted(call.inputs.get("zones") or []))
    there = [record for record in call.tx.below(group.id) if record.type == RESERVATION]
    if not any(_what(record) == wanted for record in there):
        text = f"{group.id} has no capacity reservation of the VM size and zone of this scale set."
        yield invalid(RESERVED, text)


def _what(reservation: Record) -> tuple[str, list[str]]:
    return str(first(reservation.inputs, "sku.name")).casefold(), sorted(reservation.inputs.get("zones") or [])


def _has_nodes(scale_set: Record) -> bool:
    return nodes_wanted(scale_set.inputs) > 0 or nodes_of(scale_set) > 0


def _create(call: Call) -> Properties:
    return {"uniqueId": str(uuid.uuid4()), "timeCreated": datetime.now(UTC).isoformat(timespec="seconds")}


def _derive(call: Call) -> Properties:
    outputs: Properties = {"etag": f'"{uuid.uuid4()}"', **allocate(call)}
    if "systemassigned" in str(first(call.inputs, "identity.type", "")).casefold():
        before = first(call.old.outputs, "identity.principalId") if call.old else None
        own = {"principalId": before or str(uuid.uuid4()), "tenantId": TENANT}
        outputs["identity"] = {**call.cloud.as_outputs(call.inputs, call)["identity"], **own}
    return outputs


KINDS = (
    AzureKind(
        token=SCALE_SET,
        path="Microsoft.Compute/virtualMachineScaleSets/{vmScaleSetName}",
        api="2024-11-01",
        longest=64,
        immutable=("location",),
        refs=(
            Ref(path=_SUBNETS, target=SUBNET, holds=_has_nodes),
            Ref(path=_RULES, target=SECURITY_GROUP),
            Ref(path="identity.userAssignedIdentities[]", target=IDENTITY, holds=False),
            Ref(path="proximityPlacementGroup.id", target=PROXIMITY_GROUP),
            Ref(path=RESERVED, target=RESERVATION_GROUP),
        ),
        addresses=lambda record: nodes_wanted(record.inputs),
        judge=_judge,
        create=_create,
        derive=_derive,
    ),
)
