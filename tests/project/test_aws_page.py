"""docs/aws.md tells numbers of the example stack: they are those of its plan."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from planning.plan import Plan, assess
from planning.stackfile import read_stack

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/aws.md").read_text(encoding="utf-8")
BLOCK = {"purchase": "capacity-block", "reservation": "cr-0123456789abcdef0"}


def plan(**nodes: Any) -> Plan:
    spec: Any = read_stack(ROOT / "stacks/Pulumi.aws-p5.yaml").spec
    planned = assess({**spec, "nodes": {**spec["nodes"], **nodes}}, date(2026, 12, 1), ROOT / "stacks").plan
    assert planned is not None
    return planned


@pytest.mark.parametrize(
    ("bought", "nodes"),
    [("on-demand or reserved", {}), ("spot", {"purchase": "spot"}), ("capacity-block", BLOCK)],
)
def test_the_quota_to_ask_for_is_the_one_of_the_plan(bought: str, nodes: dict[str, Any]) -> None:
    [row] = re.findall(rf"\| {bought} \| (.+?) \| (\d+) \|", PAGE)
    quota = plan(**nodes).quota
    assert sum(q.need for q in quota) == int(row[1])
    assert [q.code for q in quota] == re.findall(r"`(L-\w+)`", row[0])


def test_the_request_asks_for_the_whole_cluster_on_demand() -> None:
    [(code, value)] = re.findall(r"increase .*--quota-code (\S+) --desired-value (\d+)", PAGE)
    [quota] = plan().quota
    assert (code, int(value)) == (quota.code, quota.need)


def test_the_interfaces_of_a_node_are_those_of_the_plan() -> None:
    assert f"# {plan().fabric.interfaces_per_node} on a p5.48xlarge" in PAGE
    assert f"1 ENA + {plan().fabric.interfaces_per_node} EFA" in PAGE


def test_every_statement_of_the_deploy_role_is_told_with_its_area() -> None:
    text = (ROOT / "docs/aws/deploy-role.json").read_text(encoding="utf-8")
    for statement in re.findall(r'"Sid": "(\w+)"', text):
        assert f"`{statement}`" in PAGE
