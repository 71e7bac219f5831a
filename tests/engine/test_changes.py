"""What a change does to running nodes: the tables of docs/aws.md and docs/azure.md, row by row, against what the real
engine previews.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clusters import stack_file

DOCS = Path(__file__).parents[2] / "docs"
TRIAL = "trial"
ROOM = (
    "CapacityReservation",
    "Fleet",
    "Group",
    "LaunchTemplate",
    "PlacementGroup",
    "VirtualMachineScaleSet",
)
NO_DATA = {"storage.on_delete": "delete", "storage.filesystem": ...}
P5 = {"nodes.image": "ami-0123456789abcdef0", **NO_DATA}
TABLES = {
    ("aws.md", "Nodes on demand"): ("aws-p5", P5),
    ("aws.md", "A spot gang"): ("aws-p5", {**P5, "nodes.purchase": "spot", "nodes.spot": {"max_price": 30}}),
    ("azure.md", "Nodes on demand"): ("azure-nd-h100", NO_DATA),
    ("azure.md", "Spot nodes"): ("azure-nd-h100", {**NO_DATA, "nodes.purchase": "spot"}),
}
"""The stack that each table is about."""
TOLD = {
    ("aws.md", "nodes.count: 20"): "running nodes keep what they have booted with",
    ("aws.md", "nodes.count: 12"): "shrinks from 16 to 12 nodes",
    ("aws.md", "nodes.image: ami-0fedcba9876543210"): "(image): running nodes keep",
    ("aws.md", "nodes.setup: [echo ready]"): "(first boot and launcher environment): running nodes keep",
    ("azure.md", "nodes.count: 12"): "shrinks from 16 to 12 nodes",
    ("azure.md", "nodes.setup: [echo ready]"): "(virtualMachineProfile): running nodes keep",
}
"""What a preview must say besides, of changes in place."""


def rows(page: str, heading: str) -> Iterator[tuple[str, dict[str, set[str]]]]:
    """The changes of a table, and what each does to which kinds of resources."""
    text = (DOCS / page).read_text(encoding="utf-8")
    section = text.partition(f"### {heading}\n")[2].partition("\n#")[0]
    for change, steps in re.findall(r"^\| `([^`]+)` \|([^|]*)\|", section, re.MULTILINE):
        words = [step.split(maxsplit=1) for step in steps.strip().split("; ") if step]
        yield change, {verb: set(kinds.split(", ")) for verb, kinds in words}


def previewed(cloud: Any) -> tuple[dict[str, set[str]], str]:
    """What a preview does with the nodes' resources, and what it says."""
    done = cloud.pulumi("preview", "--json", "--stack", TRIAL)
    preview, steps = json.loads(done.stdout), {}
    for step in preview["steps"]:
        kind = step["urn"].split("::")[2].rsplit(":", 1)[-1]
        if kind in ROOM and step["op"] in ("create", "update", "delete", "replace"):
            steps.setdefault(step["op"], set()).add(kind)
    return steps, " ".join(told.get("message", "") for told in preview.get("diagnostics", []))


@pytest.mark.parametrize("table", TABLES, ids=" ".join)
def test_the_engine_does_what_the_page_says_of_a_change(workspace: Callable[..., Any], table: tuple[str, str]) -> None:
    page, heading = table
    stack, base = TABLES[table]
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(stack, base))
    cloud.up(TRIAL)
    found = dict(rows(page, heading))
    assert len(found) > 2, "the table was not found"
    for change, expected in found.items():
        path, value = next(iter(yaml.safe_load(change).items()))
        cloud.stack(TRIAL, stack_file(stack, {**base, path: value}))
        steps, said = previewed(cloud)
        assert steps == expected, f"{page}, {heading}, {change}"
        assert TOLD.get((page, change), "") in said
