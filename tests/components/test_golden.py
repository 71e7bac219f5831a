"""The whole clusters of tests/clusters.toml, as text for review. `make golden` writes them anew; read the difference.

An example stack is shown whole; a cluster with fields changed by what it declares otherwise than its stack.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from difflib import unified_diff
from typing import Any

import pytest
import yaml
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from components.dryrun import Registered
from tests.clusters import CLUSTERS, changes_of

OPTIONS = ("protect", "retainOnDelete", "ignoreChanges", "deleteBeforeReplace", "replaceOnChanges")


class TextFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **_: Any) -> str:
        return data

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return str(index)


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_declares_what_was_reviewed(
    name: str, cluster: Callable[[str], Any], declared: Callable[[str], Any], snapshot: Any
) -> None:
    text = _text(cluster(name).run.resources)
    if changes_of(name):
        whole = _text(declared(CLUSTERS[name]["stack"]).run.resources)
        text = "".join(list(unified_diff(whole.splitlines(True), text.splitlines(True), n=1))[2:])
    assert text == snapshot(name=name, extension_class=TextFile)


def _text(resources: Sequence[Registered]) -> str:
    names = {r.urn: _title(r) for r in resources}
    return "\n".join(_shown(r, names) for r in resources)


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
