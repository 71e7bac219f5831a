"""What an organisation may choose of a policy: a frozen dataclass of options, each with a default and a sentence.

    @dataclass(frozen=True)
    class Limits:
        max_gpus: int = option(0, "The most GPUs that a stack may declare; 0 is no limit.", minimum=0)

The field is `maxGpus` in the file of --policy-pack-config. Who takes options, and how they reach a judgement:
`policies.declare`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, get_type_hints

from pulumi_policy import PolicyConfigSchema

_JSON_TYPES: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    tuple[str, ...]: {"type": "array", "items": {"type": "string"}},
    Mapping[str, int]: {"type": "object", "additionalProperties": {"type": "integer"}},
    Mapping[str, str]: {"type": "object", "additionalProperties": {"type": "string"}},
}


def option(default: Any, description: str, **schema: Any) -> Any:
    """A field with its default, what it means, and what JSON Schema shall ask of its value besides the type."""
    if isinstance(default, Mapping):
        return dataclasses.field(default_factory=lambda: default, metadata={"description": description, **schema})
    return dataclasses.field(default=default, metadata={"description": description, **schema})


def config_schema(options: type[Any] | None) -> PolicyConfigSchema | None:
    """The options as the engine checks them, and whose defaults it fills in."""
    if options is None:
        return None
    hints = get_type_hints(options)
    defaults = dataclasses.asdict(options())
    return PolicyConfigSchema(
        {
            _camel(f.name): {**_JSON_TYPES[hints[f.name]], **f.metadata, "default": _json(defaults[f.name])}
            for f in dataclasses.fields(options)
        }
    )


def chosen(options: type[Any], config: Mapping[str, Any]) -> Any:
    """The options with the values of a configuration, as their types want them: the wire knows no integer."""
    hints = get_type_hints(options)
    given = {f.name: config[_camel(f.name)] for f in dataclasses.fields(options) if _camel(f.name) in config}
    return options(**{name: _typed(value, hints[name]) for name, value in given.items()})


def misspelt(options: type[Any] | None, config: Mapping[str, Any]) -> str:
    """What to say of names in a configuration that are no options; nothing where all are."""
    known = [_camel(f.name) for f in dataclasses.fields(options)] if options else []
    if not (unknown := sorted(set(config) - set(known))):
        return ""
    takes = f"Its options are {', '.join(known)}." if known else "It has no options besides enforcementLevel."
    return f"The configuration of this policy names {', '.join(unknown)}. {takes} Correct it in --policy-pack-config."


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _typed(value: Any, hint: Any) -> Any:
    if hint == tuple[str, ...]:
        return tuple(value)
    return int(value) if hint is int else value
