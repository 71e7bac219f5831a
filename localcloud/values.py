"""Property values as plain Python, and back.

Wire rules of the engine only; what a property means: `schema`, the clouds' rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.struct_pb2 import Struct, Value  # ty: ignore[missing-module-member]

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine sends for a value that preview cannot know."""
SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key that marks a map as an asset, an archive, a secret or a resource reference."""

Properties = dict[str, Any]


def from_struct(struct: Struct) -> Properties:
    return {key: _from_value(value) for key, value in struct.fields.items()}


def _from_value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            return from_struct(value.struct_value)
        case "list_value":
            return [_from_value(item) for item in value.list_value.values]
        case "number_value":  # the wire has doubles only
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "string_value":
            return value.string_value
        case _:
            return None


def to_struct(properties: Mapping[str, Any]) -> Struct:
    struct = Struct()
    struct.update({key: value for key, value in properties.items() if value is not None})
    return struct


def visible(properties: Mapping[str, Any]) -> Properties:
    """Without the keys that engine and providers keep for themselves."""
    return {key: value for key, value in properties.items() if not key.startswith("__")}


def has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return value == UNKNOWN


def at(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every (concrete path, value) under a pattern such as `networkInterfaces[].securityGroups[]`; absent: none."""
    head, _, rest = path.partition(".")
    name = head.removesuffix("[]")
    if not isinstance(value, Mapping) or value.get(name) is None:
        return
    found = value[name]
    branches = (
        [(f"{name}[{i}]", item) for i, item in enumerate(found)]
        if head.endswith("[]") and isinstance(found, list)
        else [(name, found)]
    )
    for place, item in branches:
        if not rest:
            yield place, item
        else:
            yield from ((f"{place}.{deeper}", leaf) for deeper, leaf in at(item, rest))


def first(value: Any, path: str, default: Any = None) -> Any:
    return next((leaf for _, leaf in at(value, path)), default)
