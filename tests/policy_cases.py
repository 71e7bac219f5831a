"""The cases of the policies: for each, a stack that it passes, and the changes that make it refuse or be unable to say.

They stand in policies/cases/<area>.yaml, by the name of the policy:

    right    resources as tests/policies/conftest.py reads them; `<unknown>` is not known in a preview, and `sources`
             names the resources whose outputs went into a property (where none did, the cloud will fill it in, and a
             policy over the stack takes it for not said)
    without  where a resource is itself the fault: the changes that make the stack right
    wrong    by resource, the changes that the policy refuses: a dotted path and its value (null takes it away); a path
             that begins with a dot is of the resource itself: `.protect`, `.sources.subnetId`; a resource that is null
             goes
    unknown  the same, after which the policy says that a preview cannot tell; or a sentence: why nothing it reads is
             ever unknown
    config   its options, where it does nothing without
    up       why a preview cannot refuse it, where that is so

In process they are run by policies/test_cases.py, on the real engine by engine/test_policies.py.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "policies" / "cases"
CASES: Mapping[str, Mapping[str, Any]] = {
    policy: case for path in sorted(FOLDER.glob("*.yaml")) for policy, case in yaml.safe_load(path.read_bytes()).items()
}
CONFIG: Mapping[str, Any] = {policy: case["config"] for policy, case in CASES.items() if "config" in case}


def changed(case: Mapping[str, Any], changes: Mapping[str, Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """The resources of a case after changes to them."""
    resources = {r["name"]: r for r in copy.deepcopy(case["right"])}
    for name, edits in changes.items():
        if edits is None:
            del resources[name]
        for path, value in (edits or {}).items():
            holder = resources[name] if path.startswith(".") else resources[name].setdefault("props", {})
            _put(holder, path.removeprefix("."), value)
    return list(resources.values())


def _put(holder: Any, path: str, value: Any) -> None:
    *above, leaf = path.split(".")
    for step in above:
        holder = holder[int(step)] if step.isdigit() else holder.setdefault(step, {})
    if value is None:
        del holder[leaf]
    elif leaf.isdigit():
        holder[int(leaf)] = value
    else:
        holder[leaf] = value
