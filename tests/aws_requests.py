"""Declared resources of AWS as the API requests that they cause, and botocore's word on these.

Where an input goes, the table of the local cloud says (localcloud/aws/requests.toml), which knows nothing of our
components. An input that no member of a request stands for is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache
from itertools import pairwise
from typing import Any

from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

from components.dryrun import Registered
from localcloud.aws import requests
from localcloud.aws.cloud import Aws

Requests = dict[str, dict[str, Any]]
"""Parameters by operation."""

GIVEN_BY_THE_FIRST = "id-0123456789abcdef0"
"""Stands for what later requests of a resource get from the answer to its first."""

_JOINED = {"vpcZoneIdentifiers"}
"""Lists that become one text."""


class LostError(Exception):
    """An input that no request carries."""


@cache
def service(name: str) -> ServiceModel:
    return ServiceModel(Loader().load_service_model(name, "service-2"), name)


def input_of(name: str, operation: str) -> Any:
    return service(name).operation_model(operation).input_shape


def requests_of(token: str, inputs: Mapping[str, Any]) -> Requests:
    """The requests that the inputs become; an error for an input without a place in any."""
    members = list(requests.members(token, dict(inputs)))
    without = [member.path for member in members if not member.steps]
    if missing := without or list(lost(token, inputs, {member.path for member in members})):
        raise LostError(f"{token}: no request carries {', '.join(missing)}")
    row = requests.rows()[token]
    built: Requests = {row.into[0].partition(".")[0]: dict(row.adds)}
    for member in members:
        if str(member.value) in row.also.get(member.path, ()):
            continue
        _put(built, member.steps, _typed(member.value, member.model["type"]))
    for operation, params in built.items():
        for specification in params.get("TagSpecifications", ()):
            specification["ResourceType"] = _tagged(operation)
    return built


def named(resource: Registered) -> dict[str, Any]:
    """The inputs with the name that the provider makes of the logical one where the program gives none."""
    name = Aws.kinds[resource.type].named
    return ({name: resource.name} if name else {}) | dict(resource.inputs)


def lost(token: str, inputs: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """Scalars of the inputs that the walk neither met nor left out for a reason, in case it stops short."""
    outside = requests.rows()[token].outside
    for path in _scalars("", inputs):
        plain = re.sub(r"\[\d+\]", "", path)
        above = {path[: match.start()] for match in re.finditer(r"[.\[]", path)}
        if path not in seen and not above & seen & _JOINED and not _is_outside(plain, outside):
            yield path


def _is_outside(path: str, outside: frozenset[str]) -> bool:
    words = path.split(".")
    return any(".".join(words[:n]) in outside for n in range(1, len(words) + 1))


def _scalars(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _scalars(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _scalars(f"{path}[{i}]", item)
    elif value is not None:
        yield path


def _put(holder: Any, steps: tuple[Any, ...], value: Any) -> None:
    for step, following in pairwise((*steps, None)):
        if isinstance(step, int):
            holder.extend([None] * (step + 1 - len(holder)))
        there = holder[step] if isinstance(step, int) else holder.get(step)
        if following is None and (there is None or not isinstance(value, list | dict)):
            holder[step] = copy(value)
        elif there is None:
            holder[step] = [] if isinstance(following, int) else {}
        holder = holder[step]


def _typed(value: Any, kind: str) -> Any:
    """Launch templates and others take booleans and numbers as texts, and the wire has doubles only."""
    match kind:
        case "boolean" if value in ("true", "false"):
            return value == "true"
        case "integer" | "long":
            assert float(value).is_integer(), f"{value} is no whole number"
            return int(value)
        case "float" | "double":
            return float(value)
        case "string" if not isinstance(value, str):  # as 3.0 where a text is wanted
            return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)
        case _:
            return value


def _tagged(operation: str) -> str:
    noun = re.sub("^(Create|Allocate|Authorize|Import|Purchase)|(?<=Log)s$", "", operation)
    words = "-".join(re.findall("[A-Z][a-z]+", noun)).lower()
    odd = {"address": "elastic-ip", "nat-gateway": "natgateway", "flow-log": "vpc-flow-log"}
    return "security-group-rule" if operation.startswith("Authorize") else odd.get(words, words)


def problems(name: str, built: Requests) -> list[str]:
    """What botocore says of requests, and words that its enumerations lack."""
    found = []
    for position, (operation, params) in enumerate(built.items()):
        shape = input_of(name, operation)
        given = {member: _id_for(shape.members[member]) for member in shape.required_members if position > 0}
        report = ParamValidator().validate({**given, **params}, shape)
        found += [f"{operation}: {report.generate_report()}"] if report.has_errors() else []
        found += _odd_words(shape, params, operation)
    return found


def _id_for(shape: Shape) -> Any:
    return [GIVEN_BY_THE_FIRST] if shape.type_name == "list" else GIVEN_BY_THE_FIRST


def _odd_words(shape: Any, value: Any, path: str) -> Iterator[str]:
    if shape.type_name == "structure":
        for key, item in value.items():
            yield from _odd_words(shape.members[key], item, f"{path}.{key}")
    elif shape.type_name == "list":
        for i, item in enumerate(value):
            yield from _odd_words(shape.member, item, f"{path}[{i}]")
    elif shape.type_name == "map":
        for key, item in value.items():
            yield from _odd_words(shape.value, item, f"{path}.{key}")
    elif getattr(shape, "enum", None) and value not in shape.enum:
        yield f"{path}: {value!r} is not among {len(shape.enum)} words"
