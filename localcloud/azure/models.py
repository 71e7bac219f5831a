"""The words that inputs may have, by the models of Azure's management libraries.

The libraries are those of pip (azure-mgmt-…), read once per version and slimmed to what the types of models.toml
reach. They may speak a newer API version than the SDK does: what they do not know, the service does not know either;
that they know it proves nothing. They carry words alone: no ranges, hardly a pattern. azure-native checks no words at
preview: the service does, at creation and at update.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import tomllib
import typing
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from localcloud.azure.refusals import not_allowed
from localcloud.cache import kept
from localcloud.kinds import Call, Refusal
from localcloud.models import Breach, breach
from localcloud.values import UNKNOWN

_TABLE = Path(__file__).with_name("models.toml")
_FORMAT = 1
"""Raised when the shape of the index changes, so that an older one is derived anew."""

Node = Mapping[str, Any]
"""What is known of a value: its words in `enum`, or `object`, the name of a model; `list` or `map`: of each item."""


def judge(call: Call) -> None:
    package, _, name = model_of(call.kind.token).partition(".")
    index = _index(package) if package else None
    for found in _object(index, name, "", call.inputs) if index else ():
        code = _table()["packages"][package]["code"]
        raise Refusal(code, not_allowed(found.path, found.value, found.words), target=found.path)


def _object(models: Mapping[str, Any], name: str, path: str, value: Any) -> Iterator[Breach]:
    members = models[name]
    inner = models.get(members.get("properties", {}).get("object", ""), {})  # the SDK lifts these members up
    prefix = f"{path}." if path else ""
    for key, item in value.items() if isinstance(value, Mapping) else ():
        node = members.get(key) or inner.get(key)
        if node and item is not None and item != UNKNOWN:
            yield from _value(models, node, f"{prefix}{key}", item)


def _value(models: Mapping[str, Any], node: Node, path: str, value: Any) -> Iterator[Breach]:
    if "object" in node:
        yield from _object(models, node["object"], path, value)
    elif "list" in node and isinstance(value, list):
        for i, item in enumerate(value):
            yield from _value(models, node["list"], f"{path}[{i}]", item)
    elif "map" in node and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _value(models, node["map"], f"{path}.{key}", item)
    elif found := breach(path, value, node, exact=False):
        yield found


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


def model_of(token: str) -> str:
    return _table()["types"].get(token, "")


def model_class(model: str) -> Any:
    """The class of a model that is named as in the table: `storage.BlobContainer`."""
    package, _, name = model.partition(".")
    home = _table()["packages"].get(package, {}).get("home", "models")
    return getattr(importlib.import_module(f"azure.mgmt.{package}.{home}"), name)


# The index.


@cache
def _index(package: str) -> Mapping[str, Any] | None:
    """The models of a package by name, as their members; None where it is not installed."""
    try:
        version = metadata.version(f"azure-mgmt-{package}")
    except metadata.PackageNotFoundError:
        return None
    edition = f"{package}-{version}-{_FORMAT}-{zlib.crc32(_TABLE.read_bytes()):08x}"
    return kept(f"models/azure-mgmt/{edition}.json", lambda: _derive(package))


def _derive(package: str) -> dict[str, Any]:
    reader = _Reader(frozenset(_table()["packages"][package].get("grows", ())))
    for model in _table()["types"].values():
        if model.startswith(f"{package}."):
            reader.add(model_class(model))
    return reader.models


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a model, also one that only answers have."""

    attribute: str
    wire: str
    """The name in a request, below `properties` or not."""
    hint: Any
    required: bool
    read_only: bool


def members_of(model: Any) -> Iterator[Member]:
    """The members of a model of either generation of the libraries, those of its bases included."""
    home = importlib.import_module(model.__module__.rpartition(".")[0])
    names = {**vars(home), "_models": home}
    return _mapped(model, names) if hasattr(model, "_attribute_map") else _annotated(model, names)


def camel(attribute: str) -> str:
    return re.sub("_(.)", lambda match: match[1].upper(), attribute)


def _annotated(model: Any, names: dict[str, Any]) -> Iterator[Member]:
    """Of the newer generation: a field for each member."""
    for base in model.__mro__:
        for name, annotation in vars(base).get("__annotations__", {}).items():
            field = vars(base).get(name)
            if field is not None and hasattr(field, "_rest_name_input"):
                hint, read_only = _evaluated(annotation, names), field._visibility == ["read"]
                required = not read_only and type(None) not in typing.get_args(hint)
                yield Member(name, field._rest_name_input or name, hint, required, read_only)


def _mapped(model: Any, names: dict[str, Any]) -> Iterator[Member]:
    """Of the older generation: the names in a map, and the types in the signature, which is without outputs."""
    parameters = inspect.signature(model.__init__).parameters
    for name, said in model._attribute_map.items():
        rules, wire = model._validation.get(name, {}), said["key"].removeprefix("properties.")
        hint = _evaluated(parameters[name].annotation, names) if name in parameters else Any
        yield Member(name, wire, hint, bool(rules.get("required")), bool(rules.get("readonly")))


def _evaluated(hint: Any, names: dict[str, Any]) -> Any:
    holder = type("Holder", (), {"__annotations__": {"it": hint}})
    return typing.get_type_hints(holder, vars(typing), names)["it"]


class _Reader:
    def __init__(self, grows: frozenset[str]) -> None:
        self.grows = grows
        self.models: dict[str, Any] = {}

    def add(self, model: type) -> str:
        name = model.__name__
        if name not in self.models:
            members: dict[str, Node] = {}
            self.models[name] = members
            for member in members_of(model):
                node = {} if member.read_only else self._node(member.hint)
                if node:  # the SDK has some members by the name that the libraries give them: networkRuleSet
                    members |= {camel(member.attribute): node, member.wire: node}
        return name

    def _node(self, hint: Any) -> Node:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Union:
            nodes = [self._node(argument) for argument in arguments if argument is not type(None)]
            return next((node for node in nodes if node), {})
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._of_items("map", arguments[1])
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return self._of_items("list", arguments[0])
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return {} if hint.__name__ in self.grows else {"enum": [word.value for word in hint]}
        return {"object": self.add(hint)} if hasattr(hint, "_attribute_map") or hasattr(hint, "_is_model") else {}

    def _of_items(self, kind: str, item: Any) -> Node:
        node = self._node(item)
        return {kind: node} if node else {}
