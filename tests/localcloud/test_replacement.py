"""Exactly the properties that behaviour.toml names replace a resource, of all that its type has, as the engine asks it.

Besides them do what an Azure id is made of, and the region on AWS.
Where it depends on the values (a capacity that is lowered), the tables of types_*.yaml say what happens.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2 as pb

from localcloud.aws.cloud import Aws
from localcloud.azure.cloud import Azure
from localcloud.schema import Shape, shape_of
from localcloud.values import Properties, to_struct

MAP = tomllib.loads(Path(__file__).with_name("behaviour.toml").read_text(encoding="utf-8"))
TYPES: dict[str, Any] = MAP["types"]
CLOUDS: dict[str, Any] = {cloud.name: cloud for cloud in (Aws, Azure)}


def other(spec: Any, objects: Any, old: Any) -> Any:
    """A value of this type that is not the old one."""
    match spec:
        case "string" | "any" | "asset":
            return "another"
        case "boolean":
            return not old
        case "integer" | "number":
            return 7777
        case ["list", inner]:
            return [other(inner, objects, None)]
        case ["map", inner]:
            return {"another": other(inner, objects, None)}
        case ["object", name]:
            members = objects[name]["properties"]
            plain = next((key for key, member in members.items() if isinstance(member, str)), None)
            return {plain: other(members[plain], objects, None)} if plain else {}
        case ["union", first, *_]:
            return other(first, objects, old)
    raise AssertionError(spec)


def changed(shape: Shape, inputs: Properties, path: str) -> Properties:
    """The inputs with another value at the path, and everything on the way to it."""
    new = copy.deepcopy(inputs)
    here: Any = new
    entry: Any = {"properties": shape.properties}
    *above, last = path.split(".")
    for name in above:
        here = here.setdefault(name, {})
        entry = shape.objects[entry["properties"][name][1]]
    here[last] = other(entry["properties"][last], shape.objects, here.get(last))
    return new


def replaced_by(driver: Any, made: Any, shape: Shape, path: str) -> bool:
    request = pb.DiffRequest(
        id=made.id,
        urn=made.urn,
        type=made.token,
        olds=to_struct(made.outputs),
        old_inputs=to_struct(made.inputs),
        news=to_struct(changed(shape, made.inputs, path)),
    )
    return bool(driver.provider.Diff(request, None).replaces)


def paths(shape: Shape, entry: Properties) -> Iterator[str]:
    """Every property of the type; in place of an object of which only some members replace, those members."""
    inner = [path for path in entry["replaces"] if "." in path]
    yield from shape.properties.keys() - {path.partition(".")[0] for path in inner}
    yield from inner


@pytest.mark.parametrize("token", TYPES)
def test_exactly_these_properties_replace_it(world: Any, token: str) -> None:
    entry = TYPES[token]
    cloud = token.partition(":")[0]
    here = world(cloud)
    made = here[entry["rows"][0]]
    shape = shape_of(cloud, token)
    assert shape is not None
    always = {*getattr(CLOUDS[cloud].kinds[token], "parameters", ()), "region"}
    found = {path for path in paths(shape, entry) if replaced_by(here.driver, made, shape, path)}
    assert sorted(found - always - set(entry.get("replaces_when", {}))) == sorted(entry["replaces"])
    assert found >= always & set(shape.properties)
