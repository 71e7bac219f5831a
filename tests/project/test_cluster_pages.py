"""docs/aws.md and docs/azure.md tell numbers of the example stacks, the catalogue, the checks and the roles: they are
those of their sources."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from planning import catalog
from planning.catalog.records import AzureNodeType
from planning.facts.network import BASTION_PREFIX, RDMA_NETWORK
from planning.rules.capacity import MOST_RESERVED_AT_ONCE
from planning.rules.images import MOST_ROOT_GIB
from planning.rules.reservations import MOST_IN_A_BLOCK
from planning.rules.setup import MOST_SETUP_BYTES
from tests.clusters import EXAMPLES, ROOT, planned

PAGES = {cloud: (ROOT / f"docs/{cloud}.md").read_text(encoding="utf-8") for cloud in EXAMPLES}
BLOCK = {"nodes.purchase": "capacity-block", "nodes.reservation": "cr-0123456789abcdef0"}
SPOT = {"nodes.purchase": "spot"}
REQUEST = {
    "aws": r"increase .*--quota-code (\S+) --desired-value (\d+) --region us-east-1$",
    "azure": r"az quota update --resource-name (\S+) --limit-object value=(\d+)",
}
OTHER_WORDS = {"From the example to an account"}
"""Headings of AWS that Azure has in words of its own: an account is a subscription there."""


def limit(cloud: str, of: str) -> str:
    section = PAGES[cloud].partition("## Limits\n")[2].partition("\n## ")[0]
    [text] = re.findall(rf"^\| {of} \| (.+) \|$", section, re.MULTILINE)
    return text


def fabrics() -> list[AzureNodeType]:
    nodes = [node for node in catalog.node_types("azure").values() if isinstance(node, AzureNodeType)]
    return [node for node in nodes if node.infiniband]


# From the example


@pytest.mark.parametrize(
    ("cloud", "bought", "changes", "codes"),
    [
        ("aws", "on-demand or reserved", {}, 1),
        ("aws", "spot", SPOT, 1),
        ("aws", "capacity-block", BLOCK, 0),
        ("azure", "on-demand or with reserved instances", {}, 1),
        ("azure", "spot", SPOT, 1),
    ],
)
def test_the_quota_to_ask_for_is_the_one_of_the_plan(
    cloud: str, bought: str, changes: dict[str, Any], codes: int
) -> None:
    [(told, number)] = re.findall(rf"\| {bought} \| (.+?) \| (\d+) \|", PAGES[cloud])
    quota = planned(cloud, changes).quota
    assert re.findall(r"`([\w-]+)`", told) == [q.code for q in quota]
    assert len(quota) == codes
    assert {q.unit for q in quota} <= {"vCPU"}
    assert sum(q.need for q in quota) == int(number)


@pytest.mark.parametrize("cloud", EXAMPLES)
def test_the_request_asks_for_the_whole_cluster_on_demand(cloud: str) -> None:
    plan = planned(cloud)
    [(code, value)] = re.findall(REQUEST[cloud], PAGES[cloud], re.MULTILINE)
    [quota] = plan.quota
    assert (code, int(value)) == (quota.code, quota.need)
    node = catalog.node_type(plan.nodes.type)
    assert node is not None
    assert re.search(rf"{plan.nodes.count}\snodes\sof\s{node.vcpus}\svCPUs", PAGES[cloud])


def test_commands_of_azure_ask_for_the_examples_size_and_region() -> None:
    plan, page = planned("azure"), PAGES["azure"]
    assert f"--size {plan.nodes.type}" in page
    assert page.count(f"/locations/{plan.region}") == page.count("/locations/") == 1


def test_the_interfaces_of_a_node_are_those_of_the_plan() -> None:
    fabrics = {cloud: planned(cloud).fabric for cloud in EXAMPLES}
    efa, infiniband = (fabrics[cloud].interfaces_per_node for cloud in ("aws", "azure"))
    assert f"# {efa} on a p5.48xlarge" in PAGES["aws"]
    assert f"1 ENA + {efa} EFA" in PAGES["aws"]
    assert f"a p5.48xlarge has {efa} EFA interfaces and one ENA" in limit("aws", "interfaces")
    assert f"# {infiniband} on an ND H100 v5" in PAGES["azure"]
    assert f"1 Ethernet + {infiniband} InfiniBand" in PAGES["azure"]
    assert f"'Rate: {fabrics['azure'].gbps_per_node // infiniband}$'" in PAGES["azure"]


# Limits


@pytest.mark.parametrize(
    ("cloud", "of", "told"),
    [
        ("aws", "capacity", f"a reservation holds 1 to {MOST_RESERVED_AT_ONCE} nodes"),
        ("aws", "capacity", f"a Capacity Block {MOST_IN_A_BLOCK} at most"),
        ("aws", "root disk", f"gp3: {MOST_ROOT_GIB['aws']:,} GiB"),
        ("aws", "first boot", f"may take {MOST_SETUP_BYTES['aws'] >> 10}"),
        ("azure", "network", f"{RDMA_NETWORK} is kept by InfiniBand"),
        ("azure", "network", f"takes a /{BASTION_PREFIX}"),
        ("azure", "root disk", f"{MOST_ROOT_GIB['azure']} GiB"),
        ("azure", "first boot", f"may take {MOST_SETUP_BYTES['azure'] >> 10}"),
    ],
)
def test_a_limit_is_the_one_that_the_checks_know(cloud: str, of: str, told: str) -> None:
    assert re.search(rf"(?<!\d){re.escape(told)}(?!\d)", limit(cloud, of))


def test_the_limits_of_an_infiniband_fabric_are_those_of_the_catalogue() -> None:
    single = [node for node in fabrics() if node.single_placement_group]
    [numbers] = {(node.nodes_per_fabric, node.nodes_per_fabric_by_ticket) for node in single}
    assert re.findall(r"(\d+) nodes in a single placement group; (\d+) by", limit("azure", "fabric")) == [
        tuple(map(str, numbers))
    ]
    [rack] = {node.rack_nodes for node in fabrics() if not node.single_placement_group}
    assert f"racks of {rack} nodes" in limit("azure", "GB200, GB300")


def test_the_steps_of_fsx_are_those_that_are_sold() -> None:
    text, tiers = limit("aws", "filesystem"), catalog.lustre_tiers("aws")
    [(first, step)] = re.findall(r"PERSISTENT_2: (\d+) GiB, or multiples of (\d+) GiB", text)
    assert {(*tier.also_gib, tier.step_gib) for tier in tiers} == {(int(first), int(step))}
    [(product, example, at)] = re.findall(r"Over EFA multiples of ([\d,]+) / \(.+?\) GiB: (\d+) at (\d+)", text)
    over_efa = {tier.mbps_per_tib: tier.efa_step_gib for tier in tiers}
    assert {speed * gib for speed, gib in over_efa.items()} == {int(product.replace(",", ""))}
    assert over_efa[int(at)] == int(example)
    filesystem = planned("aws").filesystem
    assert filesystem is not None
    assert int(at) == filesystem.mbps_per_tib


def test_the_steps_of_managed_lustre_are_those_that_are_sold() -> None:
    steps = re.findall(r"(\d+)(?: TiB)? at (\d+)", limit("azure", "filesystem"))
    sold = [(tier.step_gib // 1024, tier.mbps_per_tib) for tier in catalog.lustre_tiers("azure")]
    assert sorted((int(step), int(tier)) for step, tier in steps) == sorted(sold)


def test_each_image_of_azure_is_the_one_that_the_catalogue_pins() -> None:
    told = {
        accelerator: urn
        for accelerators, urn in re.findall(
            r"^\| ([\w, ]+) \| `(microsoft-dsvm:\S+)` \|$", PAGES["azure"], re.MULTILINE
        )
        for accelerator in accelerators.split(", ")
    }
    assert told == {node.accelerator: catalog.default_image(node).urn for node in fabrics()}


# Roles


def test_every_part_of_a_deploy_role_is_told_with_its_area() -> None:
    """On AWS a part is a statement, on Azure the actions of a name space."""
    aws, azure = (
        json.loads((ROOT / f"docs/{cloud}/deploy-role.json").read_text(encoding="utf-8")) for cloud in EXAMPLES
    )
    parts = {
        "aws": {statement["Sid"] for statement in aws["Statement"]},
        "azure": {action.partition("/")[0] for action in azure["Actions"]},
    }
    for cloud, names in parts.items():
        areas = PAGES[cloud].partition("By area, ")[2]
        assert {name for name in names if f"`{name}`" not in areas} == set()


def test_the_providers_to_register_are_those_that_the_deploy_role_of_azure_may_register() -> None:
    role = json.loads((ROOT / "docs/azure/deploy-role.json").read_text(encoding="utf-8"))
    [registered] = re.findall(r"for name in ([\w ]+); do az provider register", PAGES["azure"])
    registering = {action.split("/")[0] for action in role["Actions"] if action.endswith("/register/action")}
    assert {f"Microsoft.{name}" for name in registered.split()} == registering


def test_both_pages_have_the_same_sections() -> None:
    headings = [re.findall(r"^## (.+)$", PAGES[cloud], re.MULTILINE) for cloud in EXAMPLES]
    assert set(headings[0]) - set(headings[1]) == OTHER_WORDS
