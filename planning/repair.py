"""What rules can still say of a spec that has mistakes of shape, so that all findings come at once.

Nobody knows what a misshapen field was meant to hold. So it is filled with several values that are legal there, one
after the other, and the rules judge each of these specs. What they say every time, word for word, does not depend on
the field, and is told; the rest waits until the field is mended. What shape is: `planning.shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from planning.findings import Finding, near
from planning.shape import Path, fields_at, model_of, path_of, read_as
from planning.spec import AwsSpec, AzureSpec

AnySpec = AwsSpec | AzureSpec
Model = type[AwsSpec] | type[AzureSpec]

FILLINGS = (
    1, 100_000, True, False, "unknown", "us-east-1", "eastus", "p5.48xlarge", "Standard_ND96isr_H100_v5",
    "1GiB", "960TiB", "10.0.0.0/8", "2035-12-31", "/unknown", "ami-0",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
)  # fmt: skip
"""Of each kind of field at least one value, and two where a rule of another field reads it; literals tell their own."""
MOST_FILLINGS = 200
"""A spec that is wrong in so many places is mended in turns."""


def judge_despite(raw: Any, judge: Callable[[AnySpec], Iterable[Finding]]) -> set[Finding]:
    """The findings of `judge` that hold whatever the misshapen fields of `raw` were meant to be."""
    model = model_of(raw) if isinstance(raw, Mapping) else None
    if model is None:
        return set()
    cleared = _cleared(dict(raw), model)
    filled = _filled(cleared[0], model) if cleared else None
    if cleared is None or filled is None:
        return set()
    (base, first), places = filled, cleared[1]
    specs = [first]
    for place in places:
        tried = (_filled(_with(base, place, value), model) for value in _values(model, place))
        specs += [attempt[1] for attempt in tried if attempt]
        if len(specs) > MOST_FILLINGS:
            return set()
    said = set.intersection(*(set(judge(spec)) for spec in specs))
    return {finding for finding in said if not any(_touches(finding.path, place) for place in places)}


def _cleared(raw: dict[Any, Any], model: Model) -> tuple[dict[Any, Any], list[Path]] | None:
    """`raw` without its misshapen fields, and the places of which nothing is known then; None: no field is to blame."""
    _, mistakes = read_as(model, raw)
    places: list[Path] = []
    for path, _finding in mistakes:
        if not path:
            return None
        place = _field(model, path)
        unknown = [place, *_perhaps_meant(raw, model, place)]
        raw = _without(raw, place)
        places += [leaf for each in unknown for leaf in _leaves(model, each)]
    return raw, list(dict.fromkeys(places))


def _perhaps_meant(raw: dict[Any, Any], model: Model, place: Path) -> Iterator[Path]:
    """Where `place` is no field: the fields that may be misspelt there, which then are not known either."""
    siblings = fields_at(model, place[:-1])
    if str(place[-1]) not in siblings:
        given = _at(raw, place[:-1])
        yield from ((*place[:-1], name) for name in near(str(place[-1]), list(siblings)) if name not in given)


def _field(model: Model, path: Path) -> Path:
    """The field, or the entry of a mapping, in which a mistake at `path` lies: a list is wrong as a whole."""
    for length in range(1, len(path)):
        if not fields_at(model, path[:length]):
            annotation = fields_at(model, path[: length - 1])[str(path[length - 1])].annotation
            return path[: length + 1] if get_origin(annotation) is dict else path[:length]
    return path


def _leaves(model: Model, place: Path) -> Iterator[Path]:
    below = fields_at(model, place)
    if not below:
        yield place
    for name in below:
        yield from _leaves(model, (*place, name))


def _values(model: Model, place: Path) -> tuple[object, ...]:
    field = fields_at(model, place[:-1]).get(str(place[-1]))
    return (*_literals(field.annotation), *FILLINGS) if field else FILLINGS


def _literals(annotation: object) -> Iterator[object]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def _filled(raw: dict[Any, Any], model: Model) -> tuple[dict[Any, Any], AnySpec] | None:
    """`raw` with each missing field filled, and its spec; None where something else is wrong."""
    while True:
        try:
            return raw, model.model_validate(raw)
        except ValidationError as problem:
            missing = [path_of(error, raw) for error in problem.errors(include_url=False) if error["type"] == "missing"]
        if not missing:
            return None
        filling = {} if fields_at(model, missing[0]) else _first_legal(raw, model, missing[0])
        if filling is None:
            return None
        raw = _with(raw, missing[0], filling)


def _first_legal(raw: dict[Any, Any], model: Model, place: Path) -> object:
    for value in _values(model, place):
        attempt = _with(raw, place, value)
        try:
            model.model_validate(attempt)
        except ValidationError as problem:
            if place in (path_of(error, attempt) for error in problem.errors(include_url=False)):
                continue
        return value
    return None


def _at(raw: Any, path: Path) -> Any:
    for key in path:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def _with(raw: Mapping[Any, Any], path: Path, value: object) -> dict[Any, Any]:
    """A copy of `raw` that holds `value` at `path`; what leads there is made where it is missing."""
    key, *rest = path
    if not rest:
        return {**raw, key: value}
    below = raw.get(key)
    return {**raw, key: _with(below if isinstance(below, Mapping) else {}, tuple(rest), value)}


def _without(raw: dict[Any, Any], path: Path) -> dict[Any, Any]:
    key, *rest = path
    below = raw.get(key)
    if not rest:
        return {name: value for name, value in raw.items() if name != key}
    return {**raw, key: _without(below, tuple(rest))} if isinstance(below, dict) else raw


def _touches(path: str, place: Path) -> bool:
    """Whether a finding's path is the place, or above or below it."""
    dotted = ".".join(str(part) for part in place)
    return f"{dotted}.".startswith(f"{path}." if path else "") or f"{path}.".startswith(f"{dotted}.")
