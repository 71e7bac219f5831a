"""The whole clusters of clusters.toml, and any other change to a stack: as spec, as plan, as stack file."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from planning.findings import render
from planning.plan import Plan, assess
from planning.stackfile import read_stack

ROOT = Path(__file__).resolve().parent.parent
CLUSTERS: Mapping[str, Mapping[str, Any]] = tomllib.loads((ROOT / "tests/clusters.toml").read_text(encoding="utf-8"))
AWS = tuple(name for name in CLUSTERS if name.startswith("aws"))
AZURE = tuple(name for name in CLUSTERS if name.startswith("azure"))
EXAMPLES = {"aws": "aws-p5", "azure": "azure-nd-h100"}
"""The stack that stands for a cloud."""
TODAY = date(2026, 12, 1)


def changes_of(name: str) -> dict[str, Any]:
    """The fields of a cluster that are not its stack's, by dotted path; `...` takes one away."""
    return {path: ... if value == {} else value for path, value in CLUSTERS[name].items() if path != "stack"}


def changed(spec: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a spec with changes by dotted path, or with slashes for keys that hold dots; `...` takes one away."""
    spec = copy.deepcopy(dict(spec))
    for path, value in changes.items():
        *above, leaf = path.split("/" if "/" in path else ".")
        holder = spec
        for key in above:
            holder = holder.setdefault(key, {})
        if value is ...:
            holder.pop(leaf, None)
        else:
            holder[leaf] = copy.deepcopy(value)
    return spec


def planned(stack: str, changes: Mapping[str, Any] | None = None, today: date = TODAY) -> Plan:
    """The plan of a stack (or of a cloud's example) with changes by dotted path."""
    spec = changed(spec_of_stack(EXAMPLES.get(stack, stack)), changes or {})
    assessment = assess(spec, today, ROOT / "stacks")
    assert assessment.plan is not None, render(assessment.findings)
    return assessment.plan


def stack_file(stack: str, changes: Mapping[str, Any] | None = None) -> str:
    """The text of a tracked stack file with changes by dotted path."""
    document = copy.deepcopy(_document(stack))
    config = document["config"]
    config["gpu-clusters:cluster"] = changed(config["gpu-clusters:cluster"], changes or {})
    return yaml.safe_dump(document, sort_keys=False)


@cache
def _document(stack: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))


@cache
def spec_of_stack(stack: str) -> Any:
    """Of a tracked stack file, as it is."""
    return read_stack(ROOT / "stacks" / f"Pulumi.{stack}.yaml").spec
