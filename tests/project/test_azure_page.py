"""docs/azure.md tells numbers of the example stack, the catalogue and the roles: they are those of their sources."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from planning import catalog
from planning.catalog.records import AzureNodeType
from planning.facts.network import BASTION_PREFIX, RDMA_NETWORK
from planning.plan import Plan, assess
from planning.rules.images import MOST_SETUP_BYTES
from planning.stackfile import read_stack

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/azure.md").read_text(encoding="utf-8")


def plan(**nodes: Any) -> Plan:
    spec: Any = read_stack(ROOT / "stacks/Pulumi.azure-nd-h100.yaml").spec
    planned = assess({**spec, "nodes": {**spec["nodes"], **nodes}}, date(2026, 12, 1), ROOT / "stacks").plan
    assert planned is not None
    return planned


def limit(of: str) -> str:
    section = PAGE.partition("## Limits\n")[2].partition("\n## ")[0]
    [text] = re.findall(rf"^\| {of} \| (.+) \|$", section, re.MULTILINE)
    return text


def fabrics() -> list[AzureNodeType]:
    nodes = [node for node in catalog.node_types("azure").values() if isinstance(node, AzureNodeType)]
    return [node for node in nodes if node.infiniband]


@pytest.mark.parametrize(
    ("bought", "nodes"),
    [("on-demand or with reserved instances", {}), ("spot", {"purchase": "spot"})],
)
def test_the_quota_to_ask_for_is_the_one_of_the_plan(bought: str, nodes: dict[str, Any]) -> None:
    [row] = re.findall(rf"\| {bought} \| `(\w+)`.*? \| (\d+) \|", PAGE)
    [quota] = plan(**nodes).quota
    assert (quota.code, quota.unit, quota.need) == (row[0], "vCPU", int(row[1]))


def test_the_request_asks_for_the_whole_cluster_on_demand() -> None:
    [(family, value)] = re.findall(r"az quota update --resource-name (\S+) --limit-object value=(\d+)", PAGE)
    [quota] = plan().quota
    assert (family, int(value)) == (quota.code, quota.need)
    node = catalog.node_type(plan().nodes.type)
    assert node is not None
    assert f"{plan().nodes.count} nodes of {node.vcpus} vCPUs" in PAGE
    assert f"--size {plan().nodes.type}" in PAGE
    assert PAGE.count(f"/locations/{plan().region}") == PAGE.count("/locations/") == 1


def test_the_interfaces_of_a_node_are_those_of_the_plan() -> None:
    fabric = plan().fabric
    assert f"# {fabric.interfaces_per_node} on an ND H100 v5" in PAGE
    assert f"1 Ethernet + {fabric.interfaces_per_node} InfiniBand" in PAGE
    assert f"'Rate: {fabric.gbps_per_node // fabric.interfaces_per_node}$'" in PAGE


def test_the_limits_of_a_fabric_are_those_of_the_catalogue() -> None:
    single = [node for node in fabrics() if node.single_placement_group]
    [numbers] = {(node.nodes_per_fabric, node.nodes_per_fabric_by_ticket) for node in single}
    assert re.findall(r"(\d+) nodes in a single placement group; (\d+) by", limit("fabric")) == [
        tuple(map(str, numbers))
    ]
    [rack] = {node.rack_nodes for node in fabrics() if not node.single_placement_group}
    assert f"racks of {rack} nodes" in limit("GB200, GB300")


def test_the_steps_of_a_filesystem_are_those_that_are_sold() -> None:
    steps = re.findall(r"(\d+)(?: TiB)? at (\d+)", limit("filesystem"))
    sold = [(tier.step_gib // 1024, tier.mbps_per_tib) for tier in catalog.lustre_tiers("azure")]
    assert sorted((int(step), int(tier)) for step, tier in steps) == sorted(sold)


def test_other_limits_are_those_that_the_checks_know() -> None:
    assert str(RDMA_NETWORK) in limit("network")
    assert f"/{BASTION_PREFIX}" in limit("network")
    assert f"may take {MOST_SETUP_BYTES['azure'] >> 10}" in limit("first boot")


def test_each_image_is_the_one_that_the_catalogue_pins() -> None:
    told = {
        accelerator: urn
        for accelerators, urn in re.findall(r"^\| ([\w, ]+) \| `(microsoft-dsvm:\S+)` \|$", PAGE, re.MULTILINE)
        for accelerator in accelerators.split(", ")
    }
    assert told == {node.accelerator: catalog.default_image(node).urn for node in fabrics()}


def test_every_name_space_of_the_deploy_role_is_told_with_its_area_and_registered() -> None:
    role = json.loads((ROOT / "docs/azure/deploy-role.json").read_text(encoding="utf-8"))
    spaces = {action.partition("/")[0] for action in role["Actions"]}
    areas = PAGE.partition("By area, ")[2]
    assert {space for space in spaces if f"`{space}`" not in areas} == set()
    [registered] = re.findall(r"for name in ([\w ]+); do az provider register", PAGE)
    registering = {action.split("/")[0] for action in role["Actions"] if action.endswith("/register/action")}
    assert {f"Microsoft.{name}" for name in registered.split()} == registering


def test_the_page_has_the_sections_of_its_twin() -> None:
    twin = (ROOT / "docs/aws.md").read_text(encoding="utf-8")
    headings = [re.findall(r"^## (.+)$", text, re.MULTILINE) for text in (twin, PAGE)]
    missing = [heading for heading in headings[0] if heading not in headings[1]]
    assert missing == ["From the example to an account"], "which is a subscription here"
