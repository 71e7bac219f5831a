"""Where the nodes of scale sets come from: quotas, capacity that is left, and reservations.

A scale set that gets less than it wants exists all the same, with the nodes that it got and in state Failed; the same
request again asks for the rest. A quota, or a size that a place does not have at all, refuses the request whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.azure.refusals import folded
from localcloud.azure.scale_set_shape import is_spot, nodes_wanted
from localcloud.azure.sizes import Size, size_of
from localcloud.kinds import Call, Refusal
from localcloud.store import Record
from localcloud.values import Properties, first

SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
RESERVATION = "azure-native:compute:CapacityReservation"
NODES = "__nodes"
"""Output: how many nodes run, which a scale set itself does not say."""
RESERVED = "virtualMachineProfile.capacityReservation.capacityReservationGroup.id"
_GUIDE = "Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance"


def nodes_of(scale_set: Record) -> int:
    return int(scale_set.outputs.get(NODES, 0))


def judge_capacity(call: Call, size: Size | None) -> None:
    """Refuse what quotas forbid and what is not to be had at all. For scale sets and reservations."""
    more = nodes_wanted(call.inputs) - (_held(call.old) if call.old else 0)
    if more <= _reserved_room(call):
        return
    if size is not None:
        for quota in _quotas(call, size):
            _judge_quota(call, size, quota, more)
    name, place = str(first(call.inputs, "sku.name")), folded(call.inputs["location"])
    if all(_limit(call, name, where) == 0 for where in _places(call.inputs)):
        text = (
            f"The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {name}' is "
            f"currently not available in location '{place}'. Please try another size or deploy to a different location "
            "or different zone. See https://aka.ms/azureskunotavailable for details."
        )
        raise Refusal("SkuNotAvailable", text, status=409, target="sku.name")


def room(call: Call) -> int | None:
    """How many nodes more than those it has the request may get. None: as many as it wants."""
    name = str(first(call.inputs, "sku.name"))
    left = 0
    for place in _places(call.inputs):
        limit = _limit(call, name, place)
        if limit is None:
            return None
        used = sum(share for record in _others(call) for share in _shares(record, name, place, _purchase(call.inputs)))
        left += max(limit - used, 0)
    return max(left - (_held(call.old) if call.old else 0), 0)


def allocate(call: Call) -> Properties:
    """Outputs of a scale set: the nodes that it has now."""
    wanted, have = nodes_wanted(call.inputs), nodes_of(call.old) if call.old else 0
    left = room(call) if wanted > have else None
    got = wanted if left is None else min(wanted, have + left + _reserved_room(call))
    if got == wanted:
        return {NODES: got, "provisioningState": "Succeeded"}
    code, text = _shortage(call.inputs)
    call.unfinished(f'Code="{code}" Message="{text}" ({got} of {wanted} instances are running)')
    return {NODES: got, "provisioningState": "Failed"}


def _shortage(inputs: Properties) -> tuple[str, str]:
    zonal = "Zonal" if inputs.get("zones") else ""
    if inputs.get("proximityPlacementGroup") is None:
        where = "zone" if zonal else "region"
        text = f"Allocation failed. We do not have sufficient capacity for the requested VM size in this {where}."
        return f"{zonal}AllocationFailed", f"{text} {_GUIDE}"
    cards = "virtualMachineProfile.networkProfile.networkInterfaceConfigurations[]"
    constraints = {
        "Availability Zone": bool(zonal),
        "Networking Constraints (such as Accelerated Networking or IPv6)": bool(
            first(inputs, f"{cards}.enableAcceleratedNetworking")
        ),
        "Proximity Placement Group": True,
        "VM Size": True,
    }
    lines = "".join(f"\n  - {what}" for what, there in constraints.items() if there)
    text = (
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too "
        f"restrictive. Please remove some constraints and try again. Constraints applied are:{lines}"
    )
    return f"Overconstrained{zonal}AllocationRequest", text


def _judge_quota(call: Call, size: Size, quota: str, more: int) -> None:
    limit = call.cloud.scarcity.quota("azure", quota)
    if limit is None:
        return
    region = folded(call.inputs["location"])
    used = sum(_vcpus(record, quota, region) for record in _others(call))
    used += _vcpus(call.old, quota, region) if call.old else 0
    needed = more * size.vcpus
    if used + needed > limit:
        name = "Total Regional" if quota == "cores" else quota
        text = (
            f"Operation could not be completed as it results in exceeding approved {name} Cores quota. Additional "
            f"details - Deployment Model: Resource Manager, Location: {region}, Current Limit: {limit}, Current Usage: "
            f"{used}, Additional Required: {needed}, (Minimum) New Limit Required: {used + needed}."
        )
        raise Refusal("OperationNotAllowed", text, status=409, target="sku.capacity")


def _quotas(call: Call, size: Size) -> tuple[str, ...]:
    return ("lowPriorityCores",) if is_spot(call.inputs) else (size.family, "cores")


def _vcpus(record: Record, quota: str, region: str) -> int:
    size = size_of(str(first(record.inputs, "sku.name", "")))
    if size is None or folded(record.inputs.get("location")) != region or _in_a_group(record):
        return 0
    spot = is_spot(record.inputs)
    counts = spot if quota == "lowPriorityCores" else not spot and quota in ("cores", size.family)
    return _held(record) * size.vcpus if counts else 0


def _limit(call: Call, size: str, place: str) -> int | None:
    return call.cloud.scarcity.available("azure", size, place, _purchase(call.inputs))


def _purchase(inputs: Properties) -> str:
    return "spot" if is_spot(inputs) else "on-demand"


def _places(inputs: Properties) -> list[str]:
    region = folded(inputs["location"])
    return [f"{region}-{zone}" for zone in inputs.get("zones") or []] or [region]


def _others(call: Call) -> Iterator[Record]:
    """Everything else that holds nodes."""
    for token in (SCALE_SET, RESERVATION):
        for record in call.tx.of_type(token):
            if record.key != call.id.casefold() and not record.lost:
                yield record


def _held(record: Record) -> int:
    return nodes_of(record) if record.type == SCALE_SET else nodes_wanted(record.inputs)


def _shares(record: Record, size: str, place: str, purchase: str) -> Iterator[int]:
    """The nodes that a scale set or reservation has of a size in one place; several zones share evenly."""
    mine = str(first(record.inputs, "sku.name", "")).casefold() == size.casefold()
    if not mine or _in_a_group(record) or _purchase(record.inputs) != purchase:
        return
    places = _places(record.inputs)
    for i, where in enumerate(places):
        if where == place:
            yield _held(record) // len(places) + (i < _held(record) % len(places))


def _in_a_group(record: Record) -> bool:
    """Its nodes are those of a reservation, which counts them."""
    return first(record.inputs, RESERVED) is not None


def _reserved_room(call: Call) -> int:
    """Reserved nodes that are free for this scale set beyond those that it has."""
    group = str(first(call.inputs, RESERVED, "")).casefold()
    if not group:
        return 0
    size = str(first(call.inputs, "sku.name", "")).casefold()
    reserved = sum(
        nodes_wanted(record.inputs)
        for record in call.tx.of_type(RESERVATION)
        if record.key.startswith(f"{group}/") and str(first(record.inputs, "sku.name", "")).casefold() == size
    )
    used = sum(
        nodes_of(record)
        for record in call.tx.of_type(SCALE_SET)
        if str(first(record.inputs, RESERVED, "")).casefold() == group
    )
    return max(reserved - used, 0)
