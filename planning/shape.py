"""From a plain value to a spec, and from every mistake of shape to a finding with a path and a fix.

The models are in `planning.spec`; what a well-shaped spec means is judged by `planning.rules`.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from planning.findings import Finding, kind, near, shown
from planning.spec import SPECS, AwsSpec, AzureSpec

SCHEMA_RULE = "schema"
REFERENCE = "docs/spec.md"
Path = tuple[str | int, ...]


class Mistake(NamedTuple):
    """One mistake of shape, and the keys that lead to it."""

    path: Path
    finding: Finding


def read_spec(raw: object) -> tuple[AwsSpec | AzureSpec | None, list[Finding]]:
    """The spec that `raw` holds, or None with one finding per mistake of shape."""
    if not isinstance(raw, Mapping):
        message = f"a cluster is a mapping of fields, and this is {'nothing' if raw is None else f'a {kind(raw)}'}"
        return None, [_finding((), message, "start with name, cloud and region")]
    model = model_of(raw)
    if model is None:
        return None, [_cloud_finding(raw), *_shared_findings(raw)]
    spec, mistakes = read_as(model, raw)
    return spec, sorted({mistake.finding for mistake in mistakes})


def model_of(raw: Mapping[Any, Any]) -> type[AwsSpec] | type[AzureSpec] | None:
    """The variant that `raw` asks for; None where its cloud is missing or none of ours."""
    cloud = raw.get("cloud")
    return SPECS.get(cloud) if isinstance(cloud, str) else None


def read_as(
    model: type[AwsSpec] | type[AzureSpec], raw: Mapping[Any, Any]
) -> tuple[AwsSpec | AzureSpec | None, list[Mistake]]:
    try:
        return model.model_validate(raw), []
    except ValidationError as problem:
        return None, [_from_error(error, raw, model) for error in problem.errors(include_url=False)]


def _cloud_finding(raw: Mapping[Any, Any]) -> Finding:
    if "cloud" not in raw:
        return _finding(("cloud",), "the cloud is missing", "write aws or azure")
    return _finding(("cloud",), f"{shown(raw['cloud'])} is no cloud that this project builds on", "write aws or azure")


def _shared_findings(raw: Mapping[Any, Any]) -> list[Finding]:
    """Mistakes that are mistakes on either cloud: all that can be said while the cloud is unknown."""
    found: list[set[Finding]] = []
    for cloud, model in SPECS.items():
        _, mistakes = read_as(model, {**raw, "cloud": cloud})
        found.append({mistake.finding for mistake in mistakes})
    return sorted(set.intersection(*found))


def _from_error(error: ErrorDetails, raw: Mapping[Any, Any], model: type[BaseModel]) -> Mistake:
    path = path_of(error, raw)
    return Mistake(path, _explained(error, path, model))


def _explained(error: ErrorDetails, path: Path, model: type[BaseModel]) -> Finding:
    name = str(path[-1]) if path else "a cluster"
    if len(path) > 1 and isinstance(path[-1], int):
        name = f"an entry of {path[-2]}"
    context = error.get("ctx") or {}
    explain = _EXPLAIN.get(error["type"])
    if "fix" in context:
        return _finding(path, context["text"], context["fix"])
    if error["type"] == "extra_forbidden":
        return _unknown_key(path, model)
    if error["type"] == "missing":
        return _finding(path, f"{name} is missing and has no default", _missing_fix(path, model))
    if explain:
        return _finding(path, *explain(name, error.get("input"), context))
    return _finding(path, f"{name}: {error['msg']}", "see docs/spec.md for what the field takes")


def _unknown_key(path: Path, model: type[BaseModel]) -> Finding:
    name, parent = str(path[-1]), path[:-1]
    known = sorted(fields_at(model, parent))
    where = ".".join(str(part) for part in parent) or "a cluster"
    for cloud, other in SPECS.items():
        if other is not model and name in fields_at(other, parent):
            return _finding(path, f"{name} is a field of {_CLOUD_NAMES[cloud]} clusters only", f"remove {name}")
    close = near(name, known)
    fix = f"did you mean {' or '.join(close)}?" if close else f"{where} takes: {', '.join(known)}"
    return _finding(path, f"{where} has no field {name}", fix)


_CLOUD_NAMES = {"aws": "AWS", "azure": "Azure"}


def _missing_fix(path: Path, model: type[BaseModel]) -> str:
    node_type = "p5.48xlarge" if model is AwsSpec else "Standard_ND96isr_H100_v5"
    examples = {
        "name": "llama-70b",
        "region": "us-east-1" if model is AwsSpec else "eastus",
        "zone": "use1-az6 (a zone id; a derived zone would drift and replace the cluster)",
        "nodes": f"{{type: {node_type}, count: 16}}",
        "type": node_type,
        "count": "16",
        "id": "cr-0123456789abcdef0" if model is AwsSpec else "the id of the capacity reservation group",
        "vpc": "vpc-0123456789abcdef0",
        "subnet": "subnet-0123456789abcdef0" if model is AwsSpec else "the id of the subnet",
        "buy": "the id of an offering",
        "confirm": "true, since a block that is bought can not be given back",
    }
    name = str(path[-1])
    return f"write {name}: {examples[name]}" if name in examples else f"write {name}"


def fields_at(model: type[BaseModel], path: Path) -> dict[str, Any]:
    """Fields of the model that stands at `path` below `model`; none where no model does."""
    fields: dict[str, Any] = dict(model.model_fields)
    for part in path:
        field = fields.get(str(part))
        models = list(_models(field.annotation)) if field is not None else []
        fields = {name: f for m in models for name, f in m.model_fields.items()}
    return fields


def field_names() -> set[str]:
    """Of all fields of all parts."""

    def walk(models: Iterable[type[BaseModel]]) -> Iterator[str]:
        for model in models:
            for name, field in model.model_fields.items():
                yield name
                yield from walk(_models(field.annotation))

    return set(walk(SPECS.values()))


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, Annotated):
        for part in get_args(annotation):
            yield from _models(part)


def path_of(error: ErrorDetails, raw: Any) -> Path:
    """Where an error is in `raw`: its `loc` without the tags of unions that pydantic puts into it."""
    loc = error["loc"]
    out: list[str | int] = []
    for index, part in enumerate(loc):
        try:
            raw = raw[part]
        except (KeyError, IndexError, TypeError):
            if index < len(loc) - 1 or error["type"] != "missing":
                continue
        out.append(part)
    return tuple(out)


def _finding(path: Path, message: str, fix: str) -> Finding:
    return Finding(".".join(str(p) for p in path), SCHEMA_RULE, "error", message, fix, REFERENCE)


def _found(value: object) -> str:
    """What was found, with its kind where that is not said yet."""
    text = shown(value)
    return f"{text} ({kind(value)})" if isinstance(value, str | int | float) and not text.startswith("a ") else text


Explain = Callable[[str, object, Mapping[str, Any]], tuple[str, str]]


def _wants(what: str, example: Callable[[object], str]) -> Explain:
    return lambda name, value, _: (f"{name} takes {what}, and this is {_found(value)}", example(value))


def _as_integer(value: object) -> str:
    if isinstance(value, float) and abs(value) < 1e15:
        return f"write {max(round(value), 1)}"
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}", value.strip()):
        return f"write {value.strip()} without quotes"
    return "write a whole number without quotes, such as 16"


def _literal(name: str, value: object, context: Mapping[str, Any]) -> tuple[str, str]:
    allowed = str(context["expected"]).replace("'", "").replace(" or ", ", ")
    allowed = allowed.replace("True", "true").replace("False", "false")
    close = near(value, allowed.split(", ")) if isinstance(value, str) else []
    fix = f"did you mean {close[0]}? {name} takes: {allowed}" if close else f"{name} takes: {allowed}"
    return f"{name} does not take {_found(value)}", fix


def _at_least(name: str, value: object, context: Mapping[str, Any]) -> tuple[str, str]:
    least = context["ge"]
    return f"{name} is {shown(value)}, and the least is {least}", f"write {least} or more"


def _at_most(name: str, value: object, context: Mapping[str, Any]) -> tuple[str, str]:
    most = context["le"]
    return f"{name} is {shown(value)}, and the most is {most}", f"write {most} or less"


def _pattern(name: str, value: object, context: Mapping[str, Any]) -> tuple[str, str]:
    forms = {
        "account": "an AWS account is 12 digits in quotes; an Azure subscription is a GUID",
        "link_principal": "the object id of a service principal is a GUID",
    }
    return f"{_found(value)} has not the form of {name}", forms.get(name, f"the form is {context.get('pattern')}")


def _not_text(name: str, value: object, _context: Mapping[str, Any]) -> tuple[str, str]:
    message = f"{name} takes text, and this is {_found(value)}"
    if name == "account":  # a leading zero is lost by now, or made another number of it
        return message, "put its 12 digits in quotes, as they are written"
    return message, f'put it in quotes: "{shown(value)}"' if isinstance(value, (int, float)) else "write text"


_EXPLAIN: dict[str, Explain] = {
    "invalid_key": lambda *_: ("a key is not text, and fields have names", "put the key in quotes, or remove it"),
    "int_type": _wants("a whole number", _as_integer),
    "int_from_float": _wants("a whole number", _as_integer),
    "float_type": _wants("a number", lambda _: "write a number without quotes"),
    "float_parsing": _wants("a number", lambda _: "write a number without quotes"),
    "finite_number": _wants("a finite number", lambda _: "write an amount, or leave the field out"),
    "string_type": _not_text,
    "string_too_short": _wants("text that is not empty", lambda _: "write a value, or leave the field out"),
    "bool_type": _wants("true or false", lambda _: "write true or false without quotes (yes and on are text)"),
    "tuple_type": _wants(
        "a list",
        lambda value: f"write [{value}]" if isinstance(value, (str, int)) and len(str(value)) < 40 else "write a list",
    ),
    "dict_type": _wants("a mapping", lambda _: "write fields below it"),
    "model_type": _wants("a mapping of fields", lambda _: "write fields below it"),
    "literal_error": _literal,
    "greater_than_equal": _at_least,
    "greater_than": lambda name, value, ctx: (
        f"{name} is {shown(value)}, and must be above {ctx['gt']:g}",
        "write a positive amount",
    ),
    "less_than_equal": _at_most,
    "string_pattern_mismatch": _pattern,
    "reservation": _wants(
        "an id or a mapping",
        lambda _: "write an id such as cr-0123456789abcdef0, or {id, count, zone, start, end}",
    ),
    "setup": _wants("a list of shell lines, or a file's name", lambda _: "write [first line, second line] or setup.sh"),
}
