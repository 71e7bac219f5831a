"""What parliament knows of IAM: the Service Authorization Reference, and what is wrong with a policy."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of setuptools, which it uses in an old way
    import parliament


@cache
def reference() -> dict[str, dict[str, Any]]:
    """Every action of AWS with its access level, resources, conditions and dependent actions."""
    services = json.loads(Path(parliament.__file__).with_name("iam_definition.json").read_text(encoding="utf-8"))
    return {f"{s['prefix']}:{p['privilege']}": p for s in services for p in s["privileges"]}


def findings(policy: str) -> list[Any]:
    """Each has an `issue`, a `severity` and a `detail`."""
    return [parliament.enhance_finding(finding) for finding in parliament.analyze_policy_string(policy).findings]
