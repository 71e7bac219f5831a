"""Proximity placement groups and reserved capacity. Scale sets: `scale_sets`."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from localcloud.azure.allocation import RESERVATION, RESERVED, SCALE_SET, judge_capacity, nodes_of, room
from localcloud.azure.kind import AzureKind
from localcloud.azure.refusals import bad_zones, invalid, raise_first, unchangeable
from localcloud.azure.scale_set_shape import nodes_wanted
from localcloud.azure.sizes import size_of
from localcloud.kinds import Call, Refusal
from localcloud.values import first

PROXIMITY_GROUP = "azure-native:compute:ProximityPlacementGroup"
RESERVATION_GROUP = "azure-native:compute:CapacityReservationGroup"
_API = "2024-11-01"


def _judge_proximity_group(call: Call) -> None:
    raise_first(bad_zones(call))
    if call.inputs.get("zones") and not first(call.inputs, "intent.vmSizes"):
        raise invalid("zones", "Zones of a proximity placement group need an intent with VM sizes.")
    unchangeable(call, "zones", "proximityPlacementGroupType")


def _judge_reservation_group(call: Call) -> None:
    raise_first(bad_zones(call))
    unchangeable(call, "zones")


def _judge_reservation(call: Call) -> None:
    name, wanted = first(call.inputs, "sku.name"), nodes_wanted(call.inputs)
    if not name:
        raise invalid("sku.name", "Required parameter 'sku.name' is missing (null).")
    size = size_of(str(name))
    if size is None:
        call.warn(f"sku.name: the local cloud does not know the size {name}; whether it can be reserved is not known")
    elif not size.reservable:
        raise invalid("sku.name", f"The VM size {size.name} is not supported for on-demand capacity reservation.")
    if wanted < 0:
        raise invalid("sku.capacity", f"The value {wanted} of parameter 'sku.capacity' is too low: 0 or more.")
    raise_first(bad_zones(call, most=1))
    group = next(iter(call.tx.with_id(call.id.rpartition("/capacityReservations/")[0])))
    if not set(call.inputs.get("zones") or []) <= set(group.inputs.get("zones") or []):
        raise invalid("zones", "The zone of a capacity reservation must be one of its group.")
    unchangeable(call, "zones", "sku.name")
    judge_capacity(call, size)
    left = room(call)
    if left is not None and wanted - (nodes_wanted(call.old.inputs) if call.old else 0) > left:
        text = "Allocation failed. We do not have sufficient capacity for the requested VM size in this region."
        raise Refusal("AllocationFailed", text, status=409, target="sku.capacity")


def _keep_while_used(call: Call) -> None:
    group, _, _ = call.id.casefold().rpartition("/capacityreservations/")
    for record in call.tx.of_type(SCALE_SET):
        if str(first(record.inputs, RESERVED, "")).casefold() == group and nodes_of(record):
            text = f"Capacity reservation {call.id} cannot be deleted: virtual machines of {record.id} use it."
            raise Refusal("OperationNotAllowed", text, status=409)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


KINDS = (
    AzureKind(
        token=PROXIMITY_GROUP,
        path="Microsoft.Compute/proximityPlacementGroups/{proximityPlacementGroupName}",
        api=_API,
        immutable=("location",),
        judge=_judge_proximity_group,
        in_use=("OperationNotAllowed", "Proximity placement group {id} cannot be deleted: {other} is in it."),
    ),
    AzureKind(
        token=RESERVATION_GROUP,
        path="Microsoft.Compute/capacityReservationGroups/{capacityReservationGroupName}",
        api=_API,
        immutable=("location",),
        judge=_judge_reservation_group,
        create=lambda _: {"capacityReservations": [], "virtualMachinesAssociated": []},
        in_use=("OperationNotAllowed", "Capacity reservation group {id} cannot be deleted: {other} uses it."),
    ),
    AzureKind(
        token=RESERVATION,
        path="Microsoft.Compute/capacityReservationGroups/{capacityReservationGroupName}/capacityReservations"
        "/{capacityReservationName}",
        api=_API,
        immutable=("location",),
        judge=_judge_reservation,
        delete=_keep_while_used,
        create=lambda _: {
            "reservationId": str(uuid.uuid4()),
            "provisioningTime": _now(),
            "platformFaultDomainCount": 1,
            "virtualMachinesAssociated": [],
        },
    ),
)
