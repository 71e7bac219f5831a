"""What the judgments of several Azure types share: the words of refusals, places, zones and what cannot be changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from localcloud.kinds import Call, Refusal
from localcloud.store import Record
from localcloud.values import Properties, at, first

ZONES = ("1", "2", "3")
_NO_DEFAULTS: Mapping[str, Any] = {}


def invalid(target: str, message: str) -> Refusal:
    """The general refusal of a property that Azure's compute service cannot take."""
    return Refusal("InvalidParameter", message, target=target)


def missing(target: str) -> Refusal:
    return invalid(target, f"Required parameter '{target}' is missing (null).")


def not_allowed(path: str, value: Any, words: Iterable[str]) -> str:
    return f"The value '{value}' of parameter '{path}' is not allowed. Allowed values are: {','.join(words)}."


def not_among(inputs: Properties, path: str, *allowed: str) -> Iterator[Refusal]:
    """Azure compares the words of an enumeration without case."""
    for place, value in at(inputs, path):
        if str(value).casefold() not in {word.casefold() for word in allowed}:
            yield invalid(place, not_allowed(place, value, allowed))


def is_word(inputs: Properties, path: str, word: str) -> bool:
    return str(first(inputs, path, "")).casefold() == word.casefold()


def raise_first(refusals: Iterable[Refusal]) -> None:
    """The services answer with the first thing that they find wrong."""
    for refusal in refusals:
        raise refusal


def changed(call: Call, *paths: str, defaults: Mapping[str, Any] = _NO_DEFAULTS) -> Iterator[Refusal]:
    """Properties that preview shows as an update and the cloud then refuses to change."""
    if call.old is None:
        return
    for path in paths:
        default = defaults.get(path)
        before, after = first(call.old.inputs, path, default), first(call.inputs, path, default)
        if _plain(before) != _plain(after):
            message = f"Changing property '{path}' is not allowed. (from {before} to {after})"
            yield Refusal("PropertyChangeNotAllowed", message, status=409, target=path)


def unchangeable(call: Call, *paths: str) -> None:
    raise_first(changed(call, *paths))


def folded(location: Any) -> str:
    """Azure's names of one location: East US, eastus."""
    return str(location or "").replace(" ", "").casefold()


def not_found(path: str, id_: str) -> Refusal:
    text = (
        f"Resource {id_} referenced by property {path} was not found. Please make sure that the referenced resource "
        "exists, and that both resources are in the same region."
    )
    return Refusal("InvalidResourceReference", text, target=path)


def same_region(call: Call, *paths: str) -> None:
    """Refuse references into another region, in the words with which Azure refuses what does not exist."""
    here = folded(call.inputs.get("location")) or _region_of_parent(call, call.id)
    targets = {ref.path: ref.target for ref in call.kind.refs}
    for path in paths:
        for place, id_ in at(call.inputs, path):
            record = call.find(targets[path], id_)
            if record is not None and region_of(call, record) != here:
                raise not_found(place, id_)


def region_of(call: Call, record: Record) -> str:
    return folded(record.inputs.get("location")) or _region_of_parent(call, record.id)


def stay(call: Call) -> None:
    """For types whose location preview takes for changeable."""
    before, after = (call.old.inputs if call.old else call.inputs).get("location"), call.inputs.get("location")
    if folded(before) != folded(after):
        name, group = call.id.rpartition("/")[2], call.inputs["resourceGroupName"]
        text = (
            f"The resource '{name}' already exists in location '{before}' in resource group '{group}'. A resource with "
            f"the same name cannot be created in location '{after}'. Please select a new resource name."
        )
        raise Refusal("InvalidResourceLocation", text, status=409, target="location")


def bad_zones(call: Call, most: int = len(ZONES)) -> Iterator[Refusal]:
    zones = call.inputs.get("zones") or []
    wrong = [zone for zone in zones if zone not in ZONES]
    if wrong:
        text = (
            f"The zone(s) '{','.join(wrong)}' for resource '{call.id.partition('/providers/')[2]}' is not supported. "
            f"The supported zones for location '{call.inputs.get('location')}' are '{','.join(ZONES)}'"
        )
        yield Refusal("InvalidAvailabilityZone", text, target="zones")
    if len(zones) > most or len(set(zones)) < len(zones):
        yield Refusal("InvalidAvailabilityZone", f"{most} zone at most, each once; found {zones}.", target="zones")


def same_zones(call: Call) -> Iterator[Refusal]:
    """For the network's resources."""
    before, after = (props.get("zones") or [] for props in (call.old.inputs if call.old else call.inputs, call.inputs))
    if sorted(before) != sorted(after):
        text = (
            f"Resource {call.id} has an existing availability zone constraint {','.join(before)} and the request has "
            f"availability zone constraint {','.join(after)}, which do not match. Zones cannot be added/updated/"
            "removed once the resource is created. The resource cannot be updated from regional to zonal or vice-versa."
        )
        yield Refusal("ResourceAvailabilityZonesCannotBeModified", text, target="zones")


def _region_of_parent(call: Call, id_: str) -> str:
    parent = id_.rsplit("/", 2)[0]
    return next((folded(record.inputs.get("location")) for record in call.tx.with_id(parent)), "")


def _plain(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value
