"""The whole clusters of clusters.toml: their specs, and the stack files that say the same."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CLUSTERS: Mapping[str, Mapping[str, Any]] = tomllib.loads((ROOT / "tests/clusters.toml").read_text(encoding="utf-8"))
AWS = tuple(name for name in CLUSTERS if name.startswith("aws"))
AZURE = tuple(name for name in CLUSTERS if name.startswith("azure"))


def changes_of(name: str) -> dict[str, Any]:
    """The fields of a cluster that are not its stack's, by dotted path; `...` takes one away."""
    return {path: ... if value == {} else value for path, value in CLUSTERS[name].items() if path != "stack"}


def changed(spec: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a spec with changes by dotted path; `...` takes a field away."""
    spec = copy.deepcopy(dict(spec))
    for path, value in changes.items():
        *above, leaf = path.split(".")
        holder = spec
        for key in above:
            holder = holder.setdefault(key, {})
        if value is ...:
            holder.pop(leaf, None)
        else:
            holder[leaf] = copy.deepcopy(value)
    return spec


def stack_file(stack: str, changes: Mapping[str, Any] | None = None) -> str:
    """The text of a tracked stack file with changes by dotted path."""
    document = copy.deepcopy(_document(stack))
    config = document["config"]
    config["gpu-clusters:cluster"] = changed(config["gpu-clusters:cluster"], changes or {})
    return yaml.safe_dump(document, sort_keys=False)


@cache
def _document(stack: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
