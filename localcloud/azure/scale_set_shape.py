"""What a scale set may be as a whole: orchestration, placement, zones, numbers, purchase and upkeep.

Its VMs: `scale_set_model`. Where its nodes come from: `allocation`. Where public reports quote no text of Azure for a
rule, the code is the general one of the service and the words are ours.
Sources: Azure documents on scale sets (orchestration modes, placement groups, spot error codes, terminate notification,
automatic repairs), azure-cli#21834, terraform-azurerm-nomad#6, AgentBaker end-to-end test of GB300.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcloud.azure.refusals import changed, invalid, is_word, missing, not_among
from localcloud.azure.sizes import Size, size_of
from localcloud.kinds import Call, Refusal
from localcloud.values import Properties, at, first

_PROFILE = "virtualMachineProfile"
_SINGLE_PLACEMENT_LIMIT = 100
"""300 with a support ticket, of which this cloud knows nothing."""
_LIMIT = 1000
_CUSTOM_IMAGE_LIMIT = 600
_FIXED = (
    "orchestrationMode",
    "platformFaultDomainCount",
    f"{_PROFILE}.priority",
    f"{_PROFILE}.evictionPolicy",
    f"{_PROFILE}.osProfile.adminUsername",
    f"{_PROFILE}.osProfile.computerNamePrefix",
    f"{_PROFILE}.storageProfile.imageReference.publisher",
    f"{_PROFILE}.storageProfile.imageReference.offer",
    f"{_PROFILE}.storageProfile.osDisk.managedDisk.storageAccountType",
    f"{_PROFILE}.storageProfile.osDisk.diffDiskSettings",
)
"""None of them is marked as create-only, so that preview shows an update."""
_DEFAULTS = {"orchestrationMode": "Uniform", f"{_PROFILE}.priority": "Regular"}


def shape_refusals(call: Call, size: Size | None) -> Iterator[Refusal]:
    inputs = call.inputs
    yield from _mode(inputs)
    yield from _placement(inputs, size)
    yield from _domains(inputs)
    yield from _number(call)
    yield from _spot(inputs)
    yield from _upkeep(inputs)
    yield from _reservation(inputs)
    yield from _changes(call, size)


def is_flexible(inputs: Properties) -> bool:
    return is_word(inputs, "orchestrationMode", "Flexible")


def is_spot(inputs: Properties) -> bool:
    return is_word(inputs, f"{_PROFILE}.priority", "Spot") or is_word(inputs, f"{_PROFILE}.priority", "Low")


def is_placed(inputs: Properties) -> bool:
    """With a single placement group: what a uniform set is where nothing is said."""
    said = inputs.get("singlePlacementGroup")
    return not is_flexible(inputs) if said is None else bool(said)


def nodes_wanted(inputs: Properties) -> int:
    return int(first(inputs, "sku.capacity", 0))


def _mode(inputs: Properties) -> Iterator[Refusal]:
    if is_flexible(inputs):
        if inputs.get("platformFaultDomainCount") is None:
            yield missing("platformFaultDomainCount")
        if inputs.get("overprovision"):
            text = "Parameter 'overprovision' is not allowed for a scale set with Flexible orchestration."
            yield invalid("overprovision", text)
        if "systemassigned" in str(first(inputs, "identity.type", "")).casefold():
            text = "A scale set with Flexible orchestration takes user-assigned identities only."
            yield invalid("identity.type", text)
        return
    if inputs.get("upgradePolicy") is None:
        yield missing("upgradePolicy")
    if inputs.get("priorityMixPolicy") is not None:
        yield invalid("priorityMixPolicy", "Parameter 'priorityMixPolicy' needs Flexible orchestration.")
    for path in ("sku.name", "sku.capacity", _PROFILE):
        if first(inputs, path) is None:
            yield missing(path)


def _placement(inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    if is_placed(inputs) and size is not None and not size.single_placement:
        text = f"Vertical Connect Feature is not available for VM size {size.name}: set singlePlacementGroup to false."
        yield Refusal("BadRequest", text, target="singlePlacementGroup")
    if inputs.get("zoneBalance") and len(inputs.get("zones") or []) < 2:
        text = "zoneBalance can only be set if the scale set has more than one zone."
        yield invalid("zoneBalance", text)


def _domains(inputs: Properties) -> Iterator[Refusal]:
    count = inputs.get("platformFaultDomainCount")
    if count is None:
        return
    flexible, zonal = is_flexible(inputs), bool(inputs.get("zones"))
    most = (1 if zonal else 3) if flexible else 5
    if not 1 <= count <= most:
        text = f"The specified fault domain count {count} must fall in the range 1 to {most}."
        yield invalid("platformFaultDomainCount", text)
    elif zonal and count not in (1, 5):
        text = f"The specified fault domain count {count} is not allowed in zones. Allowed values are: 1,5."
        yield invalid("platformFaultDomainCount", text)


def _number(call: Call) -> Iterator[Refusal]:
    inputs, wanted = call.inputs, nodes_wanted(call.inputs)
    if wanted < 0:
        yield invalid("sku.capacity", f"The value {wanted} of parameter 'sku.capacity' is too low: 0 or more.")
    custom = first(inputs, f"{_PROFILE}.storageProfile.imageReference.id") is not None
    limit = _SINGLE_PLACEMENT_LIMIT if is_placed(inputs) else _CUSTOM_IMAGE_LIMIT if custom else _LIMIT
    if wanted > limit:
        text = (
            f"Unable to create or update Virtual Machine Scale Set '{inputs['vmScaleSetName']}' as it exceeds the "
            f"total limit of '{limit}' Virtual Machine instances."
        )
        yield Refusal("OperationNotAllowed", text, status=409, target="sku.capacity")


def _spot(inputs: Properties) -> Iterator[Refusal]:
    yield from not_among(inputs, f"{_PROFILE}.priority", "Regular", "Low", "Spot")
    price = first(inputs, f"{_PROFILE}.billingProfile.maxPrice")
    if is_spot(inputs):
        if price is not None and price != -1 and price <= 0:
            text = "Invalid max price value. The only supported values for max price are -1 or a decimal above zero."
            yield Refusal("MaxPriceValueInvalid", text, target=f"{_PROFILE}.billingProfile.maxPrice")
        if price is not None and round(price, 5) != price:
            text = "Invalid max price value. A max price has 5 decimal places at most."
            yield Refusal("MaxPriceValueInvalid", text, target=f"{_PROFILE}.billingProfile.maxPrice")
        notice = f"{_PROFILE}.scheduledEventsProfile.terminateNotificationProfile.enable"
        if first(inputs, notice):
            text = "Terminate notification cannot be enabled on Azure Spot Virtual Machines."
            yield invalid(notice, text)
        return
    only = "only for Azure Spot Virtual Machines. For more information, see http://aka.ms/AzureSpot/errormessages"
    if first(inputs, f"{_PROFILE}.evictionPolicy") is not None:
        code, text = "EvictionPolicyCanBeSetOnlyOnAzureSpotVirtualMachines", f"Eviction policy can be set {only}"
        yield Refusal(code, text, target=f"{_PROFILE}.evictionPolicy")
    if price is not None:
        code, text = "MaxPriceIsSupportedOnlyForAzureSpotVirtualMachines", f"Max price is supported {only}"
        yield Refusal(code, text, target=f"{_PROFILE}.billingProfile.maxPrice")
    if first(inputs, "spotRestorePolicy.enabled"):
        text = "Spot restoration feature is supported only for Azure Spot virtual machine scale sets."
        yield Refusal("SpotRestorationIsSupportedOnlyForAzureSpotScaleSets", text, target="spotRestorePolicy")


def _upkeep(inputs: Properties) -> Iterator[Refusal]:
    timeout = f"{_PROFILE}.scheduledEventsProfile.terminateNotificationProfile.notBeforeTimeout"
    yield from _minutes(inputs, timeout, 5, 15)
    yield from _minutes(inputs, "automaticRepairsPolicy.gracePeriod", 10, 90)
    if _has_health(inputs):
        return
    why = "because a health probe or health extension was not provided."
    if first(inputs, "automaticRepairsPolicy.enabled"):
        text = f"Automatic repairs not supported for this Virtual Machine Scale Set {why}"
        yield Refusal("OperationNotAllowed", text, status=409, target="automaticRepairsPolicy")
    if is_word(inputs, "upgradePolicy.mode", "Rolling"):
        text = f"Rolling Upgrade mode is not supported for this Virtual Machine Scale Set {why}"
        yield Refusal("OperationNotAllowed", text, status=409, target="upgradePolicy.mode")


def _minutes(inputs: Properties, path: str, least: int, most: int) -> Iterator[Refusal]:
    value = first(inputs, path)
    if value is None:
        return
    found = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?", str(value))
    minutes = int(found[1] or 0) * 60 + int(found[2] or 0) if found else 0
    if not least <= minutes <= most:
        yield invalid(path, f"The value '{value}' of parameter '{path}' must be between PT{least}M and PT{most}M.")


def _has_health(inputs: Properties) -> bool:
    kinds = {str(kind) for _, kind in at(inputs, f"{_PROFILE}.extensionProfile.extensions[].type")}
    probe = first(inputs, f"{_PROFILE}.networkProfile.healthProbe.id")
    return probe is not None or bool(kinds & {"ApplicationHealthLinux", "ApplicationHealthWindows"})


def _reservation(inputs: Properties) -> Iterator[Refusal]:
    path = f"{_PROFILE}.capacityReservation"
    if first(inputs, f"{path}.capacityReservationGroup.id") is None:
        return
    against = {
        "a single placement group (singlePlacementGroup)": is_placed(inputs),
        "a proximity placement group (proximityPlacementGroup)": inputs.get("proximityPlacementGroup") is not None,
        "Azure Spot Virtual Machines (priority)": is_spot(inputs),
    }
    for what, there in against.items():
        if there:
            yield invalid(path, f"Capacity reservation is not supported with {what}.")


def _changes(call: Call, size: Size | None) -> Iterator[Refusal]:
    if call.old is None:
        return
    yield from changed(call, *_FIXED, defaults=_DEFAULTS)
    before = call.old.inputs
    kept, zones = before.get("zones") or [], call.inputs.get("zones") or []
    if not set(kept) <= set(zones):  # more of them can be had, none given up
        yield from changed(call, "zones")
    if not is_placed(before) and is_placed(call.inputs):
        yield from changed(call, "singlePlacementGroup")
    yield from _resize(before, call.inputs, size)


def _resize(before: Properties, inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    old = size_of(str(first(before, "sku.name", "")))
    if old is None or size is None or old.series == size.series or not nodes_wanted(before):
        return
    text = (
        f"Unable to resize the scale set because the requested size {size.name} is not available in the current "
        "hardware cluster. Read more on VM resizing strategy at https://aka.ms/azure-resizevm."
    )
    if is_placed(before):
        yield Refusal("OperationNotAllowed", text, status=409, target="sku.name")
