"""Declared resources of Azure as the requests that they cause, and the word of Azure's management libraries on these.

Which model a type's inputs belong to, the local cloud says (localcloud/azure/models.toml), and which of them are in
the path: its templates of ids. It knows nothing of our components. An input that no member of the model stands for is
an error. The libraries write the body themselves. They may speak a newer API version than azure-native: its own names
are the concern of tests/components/test_sdk_types.py.
"""

from __future__ import annotations

import enum
import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from components.dryrun import Registered
from localcloud.azure.cloud import Azure
from localcloud.azure.models import Member, camel, members_of, model_class, model_of

WITHOUT_WORDS = {
    "azure-native:managedidentity:UserAssignedIdentity": "msi.Identity",
    "azure-native:network:PrivateDnsZoneGroup": "network.PrivateDnsZoneGroup",
    "azure-native:privatedns:PrivateZone": "privatedns.PrivateZone",
}
"""Models that the local cloud has no use for, since they have no enumeration."""
WITHOUT_MODEL = {
    "azure-native:resources:ResourceGroup": "azure-mgmt-resource is not installed for a location and tags alone",
}
LISTED = {"userAssignedIdentities"}
"""azure-native takes ids where the API has a map of nothing by id."""


class LostError(Exception):
    """An input that no request carries."""


@dataclass(frozen=True, slots=True)
class Request:
    """A body as the libraries write it, or what Azure's models do not take."""

    body: Mapping[str, Any]
    problems: Sequence[str]


def model_name(token: str) -> str:
    """As in `compute.VirtualMachineScaleSet`; a type that nobody knows is an error."""
    return model_of(token) or WITHOUT_WORDS[token]


def request_of(token: str, inputs: Mapping[str, Any]) -> Request:
    walk = _Walk()
    declared = {key: value for key, value in inputs.items() if key not in Azure.kinds[token].parameters}
    built = walk.model(model_class(model_name(token)), declared, "")
    if walk.lost:
        raise LostError(f"{token}: {model_name(token)} has no {', '.join(walk.lost)}")
    body = {} if walk.problems else written(built)
    return Request(body, walk.problems or list(_differences(declared, body)))


def requests_of(resources: Sequence[Registered]) -> Iterator[tuple[Registered, Request]]:
    for resource in resources:
        if resource.type not in WITHOUT_MODEL:
            yield resource, request_of(resource.type, resource.inputs)


def written(built: Any) -> dict[str, Any]:
    """Both generations leave out what only answers have."""
    return built.serialize() if hasattr(built, "_attribute_map") else built.as_dict(exclude_readonly=True)


@cache
def inputs_of(model: Any) -> Mapping[str, Member]:
    """Members by the names that azure-native has: those of the API, or those that the libraries give them."""
    return {name: member for member in members_of(model) for name in (camel(member.attribute), member.wire)}


@dataclass(slots=True)
class _Walk:
    """Makes the libraries' own objects of inputs."""

    lost: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def model(self, model: Any, value: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            self.lost.append(path)
            return None
        known, given, lifted = inputs_of(model), {}, {}
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            if key in known:
                given |= self._member(known[key], item, where)
            elif "properties" in known and key in inputs_of(_plain(known["properties"].hint)):
                lifted[key] = item  # which azure-native writes beside the others
            else:
                self.lost.append(where)
        if lifted:
            given[known["properties"].attribute] = self.model(_plain(known["properties"].hint), lifted, path)
        missing = sorted({m.wire for m in known.values() if m.required and m.attribute not in given})
        self.problems += [f"{path or model.__name__}: {name} is missing" for name in missing]
        return None if missing else model(**given)

    def _member(self, member: Member, value: Any, path: str) -> dict[str, Any]:
        if member.read_only:
            self.problems.append(f"{path} is an output")
        elif value is not None:
            return {member.attribute: self.value(member.hint, value, path, listed=member.wire in LISTED)}
        return {}

    def value(self, hint: Any, value: Any, path: str, *, listed: bool = False) -> Any:
        kind = _plain(hint)
        if _is_model(kind):
            return self.model(kind, value, path)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if _is(origin, Mapping):
            items = {id_: {} for id_ in value} if listed else value
            if isinstance(items, Mapping):
                return {key: self.value(arguments[1], item, f"{path}.{key}") for key, item in items.items()}
        elif _is(origin, Sequence) and isinstance(value, list):
            return [self.value(arguments[0], item, f"{path}[{i}]") for i, item in enumerate(value)]
        elif origin is None:
            return self._scalar(kind, value, path)
        self.problems.append(f"{path}: {value!r} is no {kind}")
        return value

    def _scalar(self, kind: Any, value: Any, path: str) -> Any:
        if _is(kind, enum.Enum):
            words = [word.value for word in kind]
            if value not in words:
                self.problems.append(f"{path}: {value!r} is not among {len(words)} words")
        elif kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        elif kind in (str, bool, int, float) and not _fits(kind, value):
            self.problems.append(f"{path}: {value!r} is no {kind.__name__}")
        return value


def _plain(hint: Any) -> Any:
    """Without None, and without the text that any enumeration may also be."""
    if typing.get_origin(hint) is not typing.Union:
        return hint
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    return next((kind for kind in kinds if _is(kind, enum.Enum)), kinds[0])


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _is_model(kind: Any) -> bool:
    return hasattr(kind, "_attribute_map") or hasattr(kind, "_is_model")


def _fits(kind: type, value: Any) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


def _differences(declared: Any, body: Any) -> Iterator[str]:
    """Every single value is in the body as often as it was declared, wherever the libraries put it."""
    before, after = Counter(_scalars(declared)), Counter(_scalars(body))
    yield from (f"{value!r} does not arrive" for value in (before - after))
    yield from (f"{value!r} was not declared" for value in (after - before))


def _scalars(value: Any) -> Iterator[Any]:
    """True and 1 are different ones, 1 and 1.0 are not."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if item == {}:  # an id that azure-native lists
                yield key
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif value is not None:
        yield str(value) if isinstance(value, bool) else value
