"""Scale sets, proximity placement groups and reserved capacity."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from localcloud.azure.identity import IDENTITY
from localcloud.azure.kind import AzureKind, unchangeable
from localcloud.azure.network import SECURITY_GROUP, SUBNET
from localcloud.kinds import Call, Ref, Refusal
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties, first

SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
PROXIMITY_GROUP = "azure-native:compute:ProximityPlacementGroup"
RESERVATION_GROUP = "azure-native:compute:CapacityReservationGroup"
RESERVATION = "azure-native:compute:CapacityReservation"
_API = "2024-11-01"
_INTERFACES = "virtualMachineProfile.networkProfile.networkInterfaceConfigurations[]"
_CUSTOM_DATA = "virtualMachineProfile.osProfile.customData"
_CUSTOM_DATA_BYTES = 65535


def _check_scale_set(inputs: Properties) -> Iterator[Failure]:
    capacity = first(inputs, "sku.capacity")
    if isinstance(capacity, int) and capacity < 0:
        yield Failure("sku.capacity", f"'sku.capacity' is too low ({capacity} < 0)")
    prefix = first(inputs, "virtualMachineProfile.osProfile.computerNamePrefix")
    if isinstance(prefix, str) and prefix != UNKNOWN and not 1 <= len(prefix) <= 15:
        path = "virtualMachineProfile.osProfile.computerNamePrefix"
        yield Failure(path, f"'{path}' is too long ({len(prefix)}): at most 15 characters allowed")
    data = first(inputs, _CUSTOM_DATA)
    if isinstance(data, str) and UNKNOWN not in data:
        yield from _check_custom_data(data)


def _check_custom_data(data: str) -> Iterator[Failure]:
    try:
        size = len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        yield Failure(_CUSTOM_DATA, f"'{_CUSTOM_DATA}' is not valid Base64: encode the script before it is given")
        return
    if size > _CUSTOM_DATA_BYTES:
        yield Failure(
            _CUSTOM_DATA, f"'{_CUSTOM_DATA}' is too long ({size}): at most {_CUSTOM_DATA_BYTES} bytes allowed"
        )


def _judge_scale_set(call: Call) -> None:
    unchangeable(call, "zones", "orchestrationMode", "platformFaultDomainCount")
    if call.old and call.old.inputs.get("singlePlacementGroup") is False and call.inputs.get("singlePlacementGroup"):
        message = "Changing property 'singlePlacementGroup' is not allowed: false cannot become true."
        raise Refusal("PropertyChangeNotAllowed", message, status=409)


def _etag(_: Call) -> Properties:
    return {"etag": f'"{uuid.uuid4()}"'}


def _has_nodes(scale_set: Record) -> bool:
    return bool(first(scale_set.inputs, "sku.capacity", 0))


def _check_reservation(inputs: Properties) -> Iterator[Failure]:
    capacity = first(inputs, "sku.capacity")
    if isinstance(capacity, int) and capacity < 0:
        yield Failure("sku.capacity", f"'sku.capacity' is too low ({capacity} < 0)")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


KINDS = (
    AzureKind(
        token=SCALE_SET,
        path="Microsoft.Compute/virtualMachineScaleSets/{vmScaleSetName}",
        api=_API,
        longest=64,
        immutable=("location",),
        refs=(
            Ref(path=f"{_INTERFACES}.ipConfigurations[].subnet.id", target=SUBNET, holds=_has_nodes),
            Ref(path=f"{_INTERFACES}.networkSecurityGroup.id", target=SECURITY_GROUP),
            Ref(path="identity.userAssignedIdentities[]", target=IDENTITY, holds=False),
            Ref(path="proximityPlacementGroup.id", target=PROXIMITY_GROUP),
            Ref(
                path="virtualMachineProfile.capacityReservation.capacityReservationGroup.id",
                target=RESERVATION_GROUP,
            ),
        ),
        check=_check_scale_set,
        judge=_judge_scale_set,
        create=lambda _: {"uniqueId": str(uuid.uuid4()), "timeCreated": _now()},
        derive=_etag,
    ),
    AzureKind(
        token=PROXIMITY_GROUP,
        path="Microsoft.Compute/proximityPlacementGroups/{proximityPlacementGroupName}",
        api=_API,
        immutable=("location",),
        in_use=("OperationNotAllowed", "Proximity placement group {id} cannot be deleted: {other} is in it."),
    ),
    AzureKind(
        token=RESERVATION_GROUP,
        path="Microsoft.Compute/capacityReservationGroups/{capacityReservationGroupName}",
        api=_API,
        immutable=("location",),
        create=lambda _: {"capacityReservations": [], "virtualMachinesAssociated": []},
        in_use=("OperationNotAllowed", "Capacity reservation group {id} cannot be deleted: {other} uses it."),
    ),
    AzureKind(
        token=RESERVATION,
        path="Microsoft.Compute/capacityReservationGroups/{capacityReservationGroupName}/capacityReservations"
        "/{capacityReservationName}",
        api=_API,
        immutable=("location",),
        check=_check_reservation,
        create=lambda _: {
            "reservationId": str(uuid.uuid4()),
            "provisioningTime": _now(),
            "platformFaultDomainCount": 1,
            "virtualMachinesAssociated": [],
        },
    ),
)
