"""The API requests that inputs become, and the limits that the services' own models set to each of their members.

A walk over the inputs finds for every one the member of a request that it becomes: by its name, or by requests.toml,
which also says which operations a type calls. The models are those of botocore, read as data (its clients are never
imported) and slimmed once per version to what the operations reach. What is refused by them: `limits`.
"""

from __future__ import annotations

import gzip
import json
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from localcloud.cache import kept
from localcloud.models import LIMITS, is_readable
from localcloud.values import UNKNOWN, Properties, visible

_TABLE = Path(__file__).with_name("requests.toml")
_FORMAT = 2
"""Raised when the shape of the index changes, so that an older one is derived anew."""
_STEPS = re.compile(r"\w+|\[\d*\]")
_PAIRS = (("key", "value"), ("tagkey", "tagvalue"), ("name", "value"))
"""Members of a list's items that a map fills: tags, dimensions."""

Step = str | int
Model = Mapping[str, Any]
"""One shape of a service: its type, its members, its limits."""


@dataclass(frozen=True, slots=True)
class Member:
    """One value among the inputs, and where in which request it goes."""

    path: str
    """Among the inputs."""
    steps: tuple[Step, ...]
    """The operation and the way into its request; empty: no request has a place for it."""
    value: Any
    model: Model


@dataclass(frozen=True, slots=True)
class Row:
    """What requests.toml says of one type."""

    service: str
    code: str
    """Of a request that breaks the model."""
    into: tuple[str, ...]
    """Where top-level inputs are looked for, in this order, as in `CreateLaunchTemplate.LaunchTemplateData`."""
    named: Mapping[str, str]
    """Inputs of other names than the members that they become; alternatives are parted by |."""
    adds: Mapping[str, str]
    """Members that the provider fills in itself."""
    outside: frozenset[str]
    """Inputs that no member of a request stands for."""
    also: Mapping[str, list[str]]
    """Words that the provider takes besides those of the model, by input."""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


@cache
def rows() -> Mapping[str, Row]:
    table = _table()
    return {token: _row(table, entry) for token, entry in table["types"].items()}


def members(token: str, inputs: Properties) -> Iterator[Member]:
    """Every value of the inputs with its place in the requests of its type; unknown values are passed over."""
    row = rows()[token]
    for name, value in visible(inputs).items():
        if value is None or value == UNKNOWN or name in row.outside:
            continue
        for steps, model in _places(row, name, inputs):
            yield from _below(row, name, name, steps, model, value)
            break
        else:
            yield Member(name, (), value, {})


def is_known() -> bool:
    """Whether there is any knowledge: botocore is in the extra `local`."""
    return bool(_version())


def _row(table: Mapping[str, Any], entry: Mapping[str, Any]) -> Row:
    service = table["services"][entry["service"]]
    outside = [*table["outside"].values(), *entry.get("outside", {}).values()]
    return Row(
        service=entry["service"],
        code=service["code"],
        into=tuple(entry["into"]),
        named={**service.get("named", {}), **entry.get("named", {})},
        adds=entry.get("adds", {}),
        outside=frozenset(name for names in outside for name in names),
        also=entry.get("also", {}),
    )


def _places(row: Row, name: str, inputs: Properties) -> Iterator[tuple[tuple[Step, ...], Model]]:
    """Where a top-level input goes: the first is meant."""
    wanted = _alternative(row, row.named[name], inputs) if name in row.named else ""
    operation, _, way = wanted.rpartition(":")
    if operation:
        yield _follow(row.service, (operation,), _operation(row.service, operation), way)
        return
    for root in row.into:
        operation, _, inside = root.partition(".")
        steps, model = _follow(row.service, (operation,), _operation(row.service, operation), inside)
        if way:
            found = _try(row.service, steps, model, way)
            if found is not None:
                yield found
        elif own := _member(model, name):
            yield (*steps, own), shape(row.service, model["members"][own])


def _alternative(row: Row, wanted: str, inputs: Properties) -> str:
    """Of several places the one whose list another input fills, too."""
    choices = wanted.split("|")
    others = [row.named[name] for name in visible(inputs) if name in row.named and "|" not in row.named[name]]
    fitting = [c for c in choices if any(o.partition("[")[0] == c.partition("[")[0] for o in others)]
    return (fitting or choices)[0]


def _below(row: Row, path: str, pattern: str, steps: tuple[Step, ...], model: Model, value: Any) -> Iterator[Member]:
    kind = model["type"]
    if value is None or value == UNKNOWN:
        return
    if kind == "list":
        yield from _listed(row, path, pattern, steps, model, value)
    elif kind == "structure" and isinstance(value, list) and len(value) == 1:
        yield from _below(row, f"{path}[0]", pattern, steps, model, value[0])
    elif kind == "structure" and isinstance(value, Mapping):
        yield from _structure(row, path, pattern, steps, model, value)
    elif kind == "structure" and list(model["members"]) == ["Value"]:
        yield from _below(row, path, pattern, (*steps, "Value"), shape(row.service, model["members"]["Value"]), value)
    elif kind == "map" and isinstance(value, Mapping):
        yield Member(path, steps, {}, model)
        item = shape(row.service, model["value"])
        for key, inner in value.items():
            yield from _below(row, f"{path}.{key}", pattern, (*steps, key), item, inner)
    elif isinstance(value, list) and kind == "string":
        yield Member(path, steps, ",".join(map(str, value)), model)
    elif isinstance(value, list | Mapping) or kind in ("structure", "map"):
        yield Member(path, (), value, {})
    else:
        yield Member(path, steps, value, model)


def _structure(
    row: Row, path: str, pattern: str, steps: tuple[Step, ...], model: Model, value: Mapping[str, Any]
) -> Iterator[Member]:
    yield Member(path, steps, {}, model)
    for key, inner in value.items():
        if inner is None or f"{pattern}.{key}" in row.outside:
            continue
        way = row.named.get(f"{pattern}.{key}") or _member(model, key)
        found = _try(row.service, steps, model, way) if way else None
        if found is None:
            yield Member(f"{path}.{key}", (), inner, {})
        else:
            yield from _below(row, f"{path}.{key}", f"{pattern}.{key}", *found, inner)


def _listed(row: Row, path: str, pattern: str, steps: tuple[Step, ...], model: Model, value: Any) -> Iterator[Member]:
    item = shape(row.service, model["item"])
    pair = _pair(item) if isinstance(value, Mapping) else None
    yield Member(path, steps, [None] * (len(value) if pair or isinstance(value, list) else 1), model)
    if pair:
        key, text = pair
        for i, (name, inner) in enumerate(value.items()):
            where = f"{path}.{name}"
            yield Member(where, (*steps, i, key), name, shape(row.service, item["members"][key]))
            yield from _below(row, where, pattern, (*steps, i, text), shape(row.service, item["members"][text]), inner)
        return
    way = row.named.get(f"{pattern}[]", "")
    for i, inner in enumerate(value if isinstance(value, list) else [value]):
        where = f"{path}[{i}]" if isinstance(value, list) else path
        found = _try(row.service, (*steps, i), item, way)
        yield from _below(row, where, pattern, *found, inner) if found else [Member(where, (), inner, {})]


def _pair(item: Model) -> tuple[str, str] | None:
    known = _folded(item)
    return next(((known[key], known[value]) for key, value in _PAIRS if key in known and value in known), None)


def _try(service: str, steps: tuple[Step, ...], model: Model, way: str) -> tuple[tuple[Step, ...], Model] | None:
    try:
        return _follow(service, steps, model, way)
    except KeyError:
        return None


def _follow(service: str, steps: tuple[Step, ...], model: Model, way: str) -> tuple[tuple[Step, ...], Model]:
    """`SpotOptions.MaintenanceStrategies`, `IpPermissions[].IpRanges[]`: each list gets its first item."""
    for word in _STEPS.findall(way):
        if word.startswith("["):
            steps, model = (*steps, int(word[1:-1] or 0)), shape(service, model["item"])
        else:
            steps, model = (*steps, word), shape(service, model["members"][word])
    return steps, model


def _member(model: Model, name: str) -> str | None:
    """The member that has an input's name: the case differs, and what there are several of may be named by one."""
    known = _folded(model)
    folded = name.replace("_", "").casefold()
    for spelling in (folded, f"{folded}s", folded.removesuffix("s"), re.sub("ies$", "y", folded)):
        if spelling in known:
            return known[spelling]
    return None


def _folded(model: Model) -> dict[str, str]:
    return {name.casefold(): name for name in model.get("members", ())}


# The models.


def shape(service: str, name: str) -> Model:
    return _index(service)["shapes"][name]


def _operation(service: str, name: str) -> Model:
    return shape(service, _index(service)["operations"][name])


@cache
def _version() -> str:
    try:
        return metadata.version("botocore")
    except metadata.PackageNotFoundError:
        return ""


@cache
def _index(service: str) -> dict[str, Any]:
    edition = f"botocore-{_version()}-{_FORMAT}-{zlib.crc32(_TABLE.read_bytes()):08x}"
    return kept(f"models/{edition}/{service}.json", lambda: _slim(service))


def _slim(service: str) -> dict[str, Any]:
    folder = Path(str(metadata.distribution("botocore").locate_file(f"botocore/data/{service}")))
    newest = max(path for path in folder.iterdir() if path.is_dir())
    with gzip.open(newest / "service-2.json.gz") as file:
        model = json.loads(file.read())
    mine = [row for row in rows().values() if row.service == service]
    used = {root.partition(".")[0] for row in mine for root in row.into}
    used |= {place.partition(":")[0] for row in mine for place in row.named.values() if ":" in place}
    operations = {name: model["operations"][name]["input"]["shape"] for name in sorted(used)}
    said = _table()["services"][service]
    without = {"enum": said.get("grows", ()), "pattern": said.get("impossible", ())}
    shapes: dict[str, Any] = {}
    ahead = list(operations.values())
    while ahead:
        name = ahead.pop()
        if name not in shapes:
            shapes[name] = _slimmed(model["shapes"][name], {limit for limit, names in without.items() if name in names})
            ahead += _named_in(shapes[name])
    return {"operations": operations, "shapes": shapes}


def _slimmed(full: Mapping[str, Any], without: set[str]) -> dict[str, Any]:
    slim: dict[str, Any] = {"type": full["type"]}
    if "members" in full:
        slim["members"] = {name: member["shape"] for name, member in full["members"].items()}
    for ours, theirs in (("item", "member"), ("value", "value")):
        if theirs in full:
            slim[ours] = full[theirs]["shape"]
    limits = {limit: full[limit] for limit in LIMITS if limit in full and limit not in without}
    if not is_readable(limits.get("pattern", "")):
        del limits["pattern"]
    return slim | limits


def _named_in(slim: Mapping[str, Any]) -> list[str]:
    return [*slim.get("members", {}).values(), *(slim[key] for key in ("item", "value") if key in slim)]
