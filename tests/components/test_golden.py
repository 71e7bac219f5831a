"""Whole clusters of the example stacks, as text for review. `make golden` writes them anew; read the difference."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from components.dryrun import Registered

STACKS = sorted(
    path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    for path in (Path(__file__).parents[2] / "stacks").glob("Pulumi.*.yaml")
)
OPTIONS = ("protect", "retainOnDelete", "ignoreChanges", "deleteBeforeReplace", "replaceOnChanges")


class TextFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **_: Any) -> str:
        return data

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return str(index)


@pytest.mark.parametrize("stack", STACKS)
def test_an_example_stack_declares_what_was_reviewed(stack: str, declared: Callable[..., Any], snapshot: Any) -> None:
    cluster = declared(stack)
    names = {r.urn: _title(r) for r in cluster.run.resources}
    text = "\n".join(_shown(r, names) for r in cluster.run.resources)
    assert text == snapshot(name=stack, extension_class=TextFile)


def _title(resource: Registered) -> str:
    return f"{resource.type.rsplit(':', 1)[-1]} {resource.name}"


def _shown(resource: Registered, names: dict[str, str]) -> str:
    request = resource.request
    options = {name: _plain(getattr(request, name)) for name in OPTIONS if getattr(request, name)}
    if request.customTimeouts.create:
        options["createTimeout"] = request.customTimeouts.create
    after = sorted(names[urn] for urn in request.dependencies if urn in names)
    body = {"inputs": _readable(resource.inputs), "options": options, "after": after}
    shown = yaml.dump(
        {f"{resource.type} {resource.name}": {k: v for k, v in body.items() if v}},
        Dumper=_Dumper,
        default_flow_style=None,
        width=118,
    )
    return shown


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool) else list(value)


def _readable(value: Any, key: str = "") -> Any:
    """Whole numbers without a fraction, policies as structure, user data as text."""
    if isinstance(value, dict):
        return {k: _readable(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_readable(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if key in ("userData", "customData"):
        return base64.b64decode(value).decode()
    if key in ("policy", "assumeRolePolicy") and isinstance(value, str):
        return json.loads(value)
    return value


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)
