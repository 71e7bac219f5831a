"""Whole stacks that others write, without our components, and the verdict that a specialist would give on each: what
must be refused, and as much what must be left alone. The stacks are data: `foreign/aws_shapes.yaml` and
`azure_shapes.yaml`; single resources: `test_foreign_resources`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_policy import EnforcementLevel

from policies.declare import DECLARED
from policies.pack import POLICIES

ADVISORY = {p.name for p in POLICIES if p.enforcement_level == EnforcementLevel.ADVISORY}
OTHERS = {name for name, declared in DECLARED.items() if declared.area in ("identity", "cost")}
SHAPES: list[dict[str, Any]] = [
    shape
    for file in ("aws_shapes.yaml", "azure_shapes.yaml")
    for shape in yaml.safe_load((Path(__file__).parent / "foreign" / file).read_text())
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["case"])
def test_a_stack_of_others_gets_the_verdict_of_a_specialist(judge: Any, shape: dict[str, Any]) -> None:
    assert len({r["name"] for r in shape["resources"]}) == len(shape["resources"])
    found = judge(*shape["resources"])
    unjudged = {name for name, messages in found.items() if all("can't run policy" in m for m in messages)}
    assert unjudged == set()
    assert sorted(found.keys() - ADVISORY - OTHERS) == shape.get("refused", [])
    assert sorted((found.keys() & ADVISORY) - OTHERS) == shape.get("advised", [])


def test_these_stacks_show_every_policy_of_nodes_and_network_at_work() -> None:
    shown = {name for shape in SHAPES for name in (*shape.get("refused", ()), *shape.get("advised", ()))}
    placed = {name for name, declared in DECLARED.items() if declared.area in ("linux", "placement")}
    assert placed <= shown
