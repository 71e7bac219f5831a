"""What a deployer may do by the roles of docs/aws and docs/azure, and what each type of resource needs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from tests.clusters import EXAMPLES, ROOT

NEEDS: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = {
    cloud: tomllib.loads((ROOT / f"tests/components/{cloud}_permissions.toml").read_text(encoding="utf-8"))
    for cloud in EXAMPLES
}
TYPES = {cloud: sorted(needs.keys() - {"beside"}) for cloud, needs in NEEDS.items()}
STEPS = ("create", "read", "update", "delete")
ROLES = ("preview", "deploy")


@cache
def role(cloud: str, name: str) -> Mapping[str, Any]:
    return json.loads((ROOT / f"docs/{cloud}/{name}-role.json").read_text(encoding="utf-8"))


def actions(cloud: str, *roles: str) -> set[str]:
    texts = [role(cloud, name) for name in roles]
    if cloud == "azure":
        return {action for text in texts for action in text["Actions"]}
    return {action for text in texts for statement in text["Statement"] for action in statement["Action"]}


def needed(cloud: str, *steps: str, of: str | None = None) -> set[str]:
    rows = NEEDS[cloud]
    return {action for name, row in rows.items() if of in (None, name) for step in steps for action in row[step]}
