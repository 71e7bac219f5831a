"""A stack file read exactly as Pulumi reads it: the plain value that the program gets, and what is wrong with the file.

What the value means is judged by `planning.shape` and `planning.rules`. YAML: `planning.goyaml`; which keys there may
be: `planning.stackkeys`. The steps between file and program are those of Pulumi's sdk/go/common/workspace/loaders.go
and sdk/go/common/resource/config; tests/engine proves them on the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from planning import goyaml
from planning.findings import Finding, Place
from planning.goscalars import ScalarError, as_json
from planning.goyaml import Document, Keys
from planning.stackkeys import (
    CLUSTER,
    PROJECT,
    TEXT_KEYS,
    finding,
    is_cluster,
    is_provider,
    judge_config,
    judge_root,
    split,
)

MAX_BYTES = 1 << 20
SECRET_RULE = "secret-in-spec"
SECRET = "[secret]"
"""Stands in a value for what the file holds encrypted."""


class Missing(Enum):
    MISSING = "missing"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True, slots=True)
class StackFile:
    path: Path
    spec: object = MISSING
    """What `pulumi.Config().get_object("cluster")` gives the program; MISSING where it gives nothing or fails."""
    provider_keys: Mapping[str, object] = field(default_factory=dict)
    """The config keys meant for a default provider, with their values; SECRET for what is encrypted."""
    findings: list[Finding] = field(default_factory=list)
    positions: Mapping[str, Place] = field(default_factory=dict)
    """Line and column, from 1, by dotted path in the spec ("" is the spec itself) and by config key."""
    readable: bool = True
    """Whether Pulumi can read the file at all."""
    data: bytes = field(default=b"", repr=False)
    """What the file holds, without a UTF-8 mark; never shown as it is, since secrets may be in it."""


def read_stack(path: Path) -> StackFile:
    """Reads a stack file. Never raises for what the file holds, nor for a file that cannot be had."""
    try:
        if not path.is_file() and path.exists() and not path.is_dir():
            # A pipe may never open, and a device never end.
            message = f"{path} is no regular file"
            return StackFile(path, findings=[finding("", message, "give a stack file, saved to disk")], readable=False)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        fix = "give the name of a stack in stacks/, or the path of a stack file"
        return StackFile(path, findings=[finding("", f"{path} cannot be read: {reason}", fix)], readable=False)
    if len(data) > MAX_BYTES:
        message = f"{path} is larger than {MAX_BYTES >> 20} MiB, which no stack file is"
        return StackFile(path, findings=[finding("", message, "give a stack file")], readable=False)
    data = data.removeprefix(b"\xef\xbb\xbf")
    return _judge(path, data, _not_utf8(data) or goyaml.read(data))


def _not_utf8(data: bytes) -> Document | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None  # UTF-16, which Pulumi's parser and ours tell by its mark
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        place = data.count(b"\n", 0, problem.start) + 1, problem.start - data.rfind(b"\n", 0, problem.start)
        message = f"byte 0x{data[problem.start]:02x} is not UTF-8"
        return Document(problems=[goyaml.Problem((), place, message, "save the file as UTF-8")])
    return None


def _judge(path: Path, data: bytes, document: Document) -> StackFile:
    problems = document.problems or list(_refused(document))
    inside = {keys: place for keys, place in document.places.items() if len(keys) > 1 and keys[0] == "config"}
    whole = document.places.get(("config",)) or (1, 1)
    positions = {"": whole} | {_dotted(keys): place for keys, place in inside.items()}
    if problems:
        findings = [_from_problem(problem) for problem in problems]
        positions |= {_dotted(problem.keys): problem.place for problem in reversed(problems)}
        return StackFile(path, findings=sorted(set(findings)), positions=positions, readable=False, data=data)
    root = document.value if isinstance(document.value, dict) else {}
    config = root.get("config") or {}
    spec, findings = _spec(config)
    findings += judge_root(root, {str(keys[0]) for keys in document.anchored if keys}, document.places)
    findings += judge_config(root, config, document.places)
    findings += [_zoned(_dotted(keys)) for keys in document.zoned if _in_spec(keys)]
    if document.more:
        message = "the file holds more than one YAML document, and Pulumi reads only the first"
        fix = "remove the second --- and what follows, or make it a file of its own"
        findings.append(finding("", message, fix, place=document.more))
    keys = {key: _without_secrets(value)[0] for key, value in config.items() if is_provider(key)}
    return StackFile(path, spec, keys, sorted(set(findings)), positions, data=data)


# What the program gets


def _spec(config: Mapping[str, object]) -> tuple[object, list[Finding]]:
    keys = [key for key in config if is_cluster(key)]
    if len(keys) > 1:
        message = f"the cluster is given as {' and as '.join(keys)}, and Pulumi takes any of them"
        return MISSING, [finding("", message, f"keep {CLUSTER}")]
    if not keys:
        return MISSING, []
    value, secrets = _without_secrets(config[keys[0]])
    found = [_secret(_join(where)) for where in secrets]
    if () in secrets:
        return MISSING, found
    if value is None or value == "":
        return MISSING, [finding("", f"{CLUSTER} is empty", "write name, cloud, region, … below it")]
    if isinstance(value, str):
        return _from_text(value)
    # Alone, an integer goes to the program in all its digits; inside of something, numbers go through JSON twice.
    return (value if isinstance(value, int) else _through_json(value)), found


def _from_text(value: str) -> tuple[object, list[Finding]]:
    """Pulumi hands a text on as it is, and the program reads it as JSON."""
    try:
        spec = json.loads(value)
        json.dumps(spec, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        message = f"{CLUSTER} is a text, and a cluster is a mapping of fields"
        return MISSING, [finding("", message, "write its fields below the key, each on a line of its own")]
    return spec, []


def _through_json(value: object) -> object:
    if isinstance(value, dict):
        return {key: _through_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_through_json(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return as_json(value)
    return value


def _without_secrets(value: object) -> tuple[object, list[Keys]]:
    """The value with SECRET for each secret, and where they stood."""
    secrets: list[Keys] = []

    def walk(value: object, keys: Keys) -> object:
        if isinstance(value, list):
            return [walk(item, (*keys, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if list(value) == ["secure"] and isinstance(value["secure"], str):
            secrets.append(keys)
            return SECRET
        return {key: walk(item, (*keys, key)) for key, item in value.items()}

    return walk(value, ()), secrets


def _secret(path: str) -> Finding:
    message = f"{path or CLUSTER} is encrypted (secure:), and a spec holds no secrets: plans and exports print it"
    fix = "write it in clear, or keep it out of the spec"
    return finding(path, message, fix, rule=SECRET_RULE)


def _zoned(path: str) -> Finding:
    message = (
        f"{path} is a time with an offset from UTC, which reaches the program in words that depend on the "
        "time zone of the machine"
    )
    return finding(path, message, "write it in UTC, ending in Z", level="warning")


# What makes Pulumi refuse a file that is good YAML


def _refused(document: Document) -> Iterator[goyaml.Problem]:
    root = document.value
    if root is None:
        return
    if not isinstance(root, dict):
        fix = f"write config: and below it {CLUSTER}:"
        yield goyaml.Problem((), document.places[()], "a stack file is a mapping, and this is none", fix)
        return
    for keys in document.odd_keys:
        if len(keys) == 1 or (len(keys) == 2 and keys[0] == "config"):
            message = f"the key {keys[-1]} is no text, and Pulumi takes only texts here"
            yield goyaml.Problem(keys, document.places[keys], message, "put the key in quotes, or remove it")
    for key in TEXT_KEYS:
        if isinstance(root.get(key), list | dict):
            yield goyaml.Problem(
                (key,), document.places[(key,)], f"{key} is no text", "restore what Pulumi wrote there"
            )
    config = root.get("config")
    if config is not None and not isinstance(config, dict):
        fix = f"write {CLUSTER}: below config:"
        yield goyaml.Problem(("config",), document.places[("config",)], "config is no mapping", fix)
    elif config:
        yield from _refused_config(config, document)


def _refused_config(config: Mapping[str, object], document: Document) -> Iterator[goyaml.Problem]:
    for key, value in config.items():
        keys = ("config", key)
        if split(key) is None and keys not in document.odd_keys:
            message = f"{key} is no config key: it has too many colons"
            yield goyaml.Problem(keys, document.places[keys], message, "write <namespace>:<name>")
        for where in _not_json(value, keys):
            message = f"{where[-1]} is infinite or no number, which Pulumi cannot hand on"
            yield goyaml.Problem(where, document.places[where], message, "write a number")


def _not_json(value: object, keys: Keys) -> Iterator[Keys]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _not_json(item, (*keys, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_json(item, (*keys, index))
    elif isinstance(value, float):
        try:
            as_json(value)
        except ScalarError:
            yield keys


# Paths


def _in_spec(keys: Keys) -> bool:
    return len(keys) > 1 and keys[0] == "config" and is_cluster(str(keys[1]))


def _dotted(keys: Keys) -> str:
    """The path in the spec; elsewhere in config the path from its key; nothing for the rest of the file."""
    if _in_spec(keys):
        return _join(keys[2:])
    if len(keys) < 2 or keys[0] != "config":
        return ""
    # A key without namespace is the project's; with it, it cannot be taken for a field of the spec.
    key = str(keys[1])
    return _join((key if ":" in key else f"{PROJECT}:{key}", *keys[2:]))


def _join(keys: Keys) -> str:
    return ".".join(str(key) for key in keys)


def _from_problem(problem: goyaml.Problem) -> Finding:
    return finding(_dotted(problem.keys), problem.message, problem.fix, place=problem.place)
