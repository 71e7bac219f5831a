"""A preview shows that an immutable property replaces, for each one that our stacks set.

The state is changed in place of the program: then the program, unchanged, asks for what only a replacement gives.
Which properties are immutable: tests/localcloud/behaviour.toml, proved type by type in tests/localcloud.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TYPES = tomllib.loads((ROOT / "tests/localcloud/behaviour.toml").read_text(encoding="utf-8"))["types"]
TRIAL = "trial"
NAMES = {"name", "bucket", "namePrefix", "bucketPrefix"}
"""Generated where the program says nothing, and then kept from the state: another one there changes nothing."""


def spoilt(value: Any) -> Any:
    """Another value of the same shape."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}-before"
        case list():
            return [spoilt(item) for item in value] or ["before"]
        case dict():
            return {key: spoilt(item) for key, item in value.items()}
    raise AssertionError(value)


def spoil(resource: dict[str, Any]) -> Iterator[str]:
    """Change in the state what cannot change in place; the top-level properties that were changed."""
    inputs = resource.get("inputs") or {}
    for path in TYPES.get(resource["type"], {"replaces": []})["replaces"]:
        name = path.partition(".")[0]
        if name in NAMES and name in inputs.get("__defaults", []):
            continue
        if replace(inputs, path.split(".")):
            replace(resource["outputs"], path.split("."))
            yield name


def replace(properties: dict[str, Any], path: list[str]) -> bool:
    *above, last = path
    for name in above:
        properties = properties.get(name) or {}
    if properties.get(last) is None:
        return False
    properties[last] = spoilt(properties[last])
    return True


@pytest.mark.parametrize("stack", ["aws-p5", "azure-nd-h100"])
def test_a_preview_shows_every_immutable_property_as_a_replacement(workspace: Callable[..., Any], stack: str) -> None:
    cloud = workspace()
    document = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
    document["config"]["gpu-clusters:cluster"]["storage"]["on_delete"] = "retain"  # a protected one stops the preview
    cloud.stack(TRIAL, yaml.safe_dump(document))
    cloud.up(TRIAL)
    state = json.loads(cloud.pulumi("stack", "export", "--stack", TRIAL).stdout)
    for resource in state["deployment"]["resources"]:  # else what depends on a replaced one is replaced for that alone
        resource.pop("dependencies", None)
        resource.pop("propertyDependencies", None)
    wanted = {(resource["urn"], name) for resource in state["deployment"]["resources"] for name in spoil(resource)}
    assert len(wanted) > 10
    file = cloud.workspace.root / "spoilt.json"
    file.write_text(json.dumps(state))
    cloud.pulumi("stack", "import", "--force", "--file", str(file), "--stack", TRIAL)

    preview = json.loads(cloud.pulumi("preview", "--json", "--stack", TRIAL).stdout)
    shown = {
        (step["urn"], reason.partition(".")[0].partition("[")[0])
        for step in preview["steps"]
        if step["op"] == "replace"
        for reason in step.get("replaceReasons") or []
    }
    assert wanted - shown == set()
