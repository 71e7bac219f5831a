"""Scalars of another type that the AWS provider reads all the same: 4 for "4", "true" for true.

Programs rely on it, as in `version=template.latest_version`. Seen in pulumi-terraform-bridge, whose type checker
passes such values (pkg/tfbridge/typechecker). azure-native refuses them. The types: `schema_index`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localcloud.schema import Shape
from localcloud.schema_index import Spec
from localcloud.values import UNKNOWN, Properties

_WORDS = {"true": True, "false": False}


def typed(shape: Shape, inputs: Properties) -> Properties:
    """The inputs with every such scalar in its declared type; all else, right or wrong, as it is."""
    return _members(shape.properties, inputs, shape.objects)


def _members(specs: Mapping[str, Spec], value: Mapping[str, Any], objects: Mapping[str, Any]) -> Properties:
    return {key: _value(specs[key], item, objects) if key in specs else item for key, item in value.items()}


def _value(spec: Spec, value: Any, objects: Mapping[str, Any]) -> Any:
    if isinstance(spec, str):
        return _scalar(spec, value)
    kind, *inner = spec
    if kind == "list" and isinstance(value, list):
        return [_value(inner[0], item, objects) for item in value]
    if kind == "map" and isinstance(value, Mapping):
        return {key: _value(inner[0], item, objects) for key, item in value.items()}
    if kind == "object" and isinstance(value, Mapping):
        return _members(objects[inner[0]]["properties"], value, objects)
    return value


def _scalar(spec: str, value: Any) -> Any:
    if spec == "string" and isinstance(value, bool):
        return "true" if value else "false"
    if spec == "string" and isinstance(value, int | float):
        return str(value)
    if isinstance(value, str) and value != UNKNOWN:
        if spec == "boolean":
            return _WORDS.get(value, value)
        if spec in ("integer", "number"):
            return _number(spec, value)
    return value


def _number(spec: str, text: str) -> Any:
    try:
        return int(text) if spec == "integer" else float(text)
    except ValueError:
        return text
