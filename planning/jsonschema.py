"""The JSON Schema of a stack file, made from the models, by which editors complete and underline.

It takes all that `check` takes in shape, and refuses what a schema can tell: unknown keys, wrong types, forms, limits.
What else Pulumi keeps in a stack file is left open. Draft 7, the latest that every editor reads; each part stands in
its place, since editors that follow a reference lose what stands beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planning import catalog, spec
from planning.catalog.records import Cloud
from planning.shape import REFERENCE
from planning.spec import SIZE_FORM, SPECS
from planning.stackkeys import CLUSTER, CLUSTER_KEYS
from planning.units import show_size

Schema = dict[str, Any]
CLOUDS: tuple[Cloud, ...] = ("aws", "azure")


def stack_schema() -> Schema:
    """Of a whole stack file."""
    variants = {cloud: _Variant(cloud).schema() for cloud in CLOUDS}
    cluster: Schema = {
        "description": f"A cluster. {REFERENCE} says what its fields mean.",
        "if": {"type": "string"},
        "then": {"description": "The cluster as JSON.", "pattern": r"^\s*\{"},
        "else": {
            "type": "object",
            "required": ["cloud"],
            "properties": {"cloud": {"enum": list(CLOUDS), "description": "Which variant of the spec the rest is."}},
            "allOf": [
                {"if": {"properties": {"cloud": {"const": cloud}}}, "then": {"$ref": f"#/definitions/{cloud}"}}
                for cloud in variants
            ],
        },
    }
    config: Schema = {
        "type": "object",
        "properties": {key: {"$ref": "#/definitions/cluster"} for key in CLUSTER_KEYS},
        "oneOf": [{"required": [key]} for key in CLUSTER_KEYS],
    }
    text = {"type": "string", "description": "Kept by Pulumi."}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Stack file of a GPU cluster",
        "description": f"One stack describes one cluster, as {CLUSTER}.",
        "type": "object",
        "required": ["config"],
        "properties": {"config": config, "encryptionsalt": text, "secretsprovider": text, "encryptedkey": text},
        "definitions": {"cluster": cluster, **variants},
    }


class _Variant:
    """The spec of one cloud."""

    def __init__(self, cloud: Cloud) -> None:
        self.model = SPECS[cloud]
        made = self.model.model_json_schema()
        self.parts: Mapping[str, Schema] = made.pop("$defs")
        self.whole = made
        self.node_types = list(catalog.node_types(cloud))

    def schema(self) -> Schema:
        schema = self._part(self.model.__name__, self.whole)
        schema["properties"]["nodes"]["properties"]["type"]["examples"] = self.node_types
        return schema

    def _part(self, name: str, made: Schema) -> Schema:
        """A model with the docstring of each field."""
        fields = _descriptions(getattr(spec, name))
        properties = {
            field: {"description": fields[field], **self._value({**value, "description": fields[field]})}
            for field, value in made["properties"].items()
        }
        return {**self._value({**made, "properties": {}}), "properties": properties}

    def _value(self, made: Schema) -> Schema:
        """Without titles, references, and defaults that say nothing."""
        if "$ref" in made:
            name = made["$ref"].rpartition("/")[2]
            around = {key: value for key, value in made.items() if key != "$ref"}
            return {**self._part(name, self.parts[name]), **around}
        schema = {key: value for key, value in made.items() if key != "title"}
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                schema |= self._choice(schema.pop(choice))
        if "items" in schema:
            schema["items"] = self._value(schema["items"])
        default = schema.pop("default", None)
        if default not in (None, [], {}):
            schema["default"] = show_size(default) if schema.get("pattern") == SIZE_FORM else default
        return schema

    def _choice(self, made: list[Schema]) -> Schema:
        """One of several; a single one that may also be null is itself, of two types."""
        choices = [choice for part in made for choice in self._unpacked(part)]
        match choices:
            case [{"type": str(kind), **rest}, {"type": "null"}]:
                found = {"type": [kind, "null"], **rest}
                return {**found, "enum": [*rest["enum"], None]} if "enum" in rest else found
        return {"anyOf": choices}

    def _unpacked(self, made: Schema) -> list[Schema]:
        return [self._value(part) for part in made["oneOf"]] if "oneOf" in made else [self._value(made)]


def _descriptions(model: type) -> dict[str, str]:
    """The docstrings below the fields of a model and of those that it is made from."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        found |= _DOCSTRINGS.get(base.__name__, {})
    return found


def _read_docstrings() -> dict[str, dict[str, str]]:
    """By class and field, from the source: to read it at every start of a command would cost too much."""
    tree = ast.parse(Path(spec.__file__).read_text(encoding="utf-8"))
    return {node.name: _below_fields(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _below_fields(node: ast.ClassDef) -> dict[str, str]:
    found: dict[str, str] = {}
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                found[name] = " ".join(words.split())
    return found


_DOCSTRINGS = _read_docstrings()
