"""What the local cloud knows of nodes agrees with the planner's catalogue. Neither of the two knows the other.

A wrong row in either shows here. Where they differ on purpose, the reason stands beside it.
"""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.aws.instance_types import instance_type
from localcloud.aws.quotas import quota_code
from localcloud.azure.sizes import size_of
from planning import catalog
from planning.catalog.records import AwsNodeType, AzureNodeType

AWS: list[Any] = [node for node in catalog.node_types().values() if isinstance(node, AwsNodeType)]
AZURE: list[Any] = [node for node in catalog.node_types().values() if isinstance(node, AzureNodeType)]
ARCHITECTURES = {"x86_64": "x64", "arm64": "arm64"}
UNKNOWN_TO_EC2S_LIST = {"p6e-gb200.36xlarge"}
"""Sold as parts of UltraServers only; the list that moto ships does not have it yet."""


@pytest.fixture(autouse=True)
def cache(index_cache: object) -> None:
    """The slimmed list of instance types lies in the project's test cache."""


def folded(name: str) -> str:
    return name.replace(" ", "").casefold()


@pytest.mark.parametrize("node", AWS, ids=lambda node: node.name)
def test_an_instance_type_is_what_ec2_describes(node: AwsNodeType) -> None:
    facts = instance_type(node.name)
    if facts is None:
        assert node.name in UNKNOWN_TO_EC2S_LIST
        return
    assert facts.vcpus == node.vcpus
    assert node.arch in facts.architectures
    assert tuple(card.interfaces for card in facts.cards) == node.interfaces_per_card
    assert len(facts.cards) == node.network_cards
    assert node.efa <= facts.efa
    assert all(facts.cards[card].efa for card in node.efa_cards)


@pytest.mark.parametrize("node", AWS, ids=lambda node: node.name)
def test_the_quota_that_a_plan_names_is_the_one_that_is_counted(node: AwsNodeType) -> None:
    counted = {how: quota_code(node.name, how) for how in node.quota}
    known = {how: code for how, code in counted.items() if code}  # where none is known, none is counted
    assert known.items() <= node.quota.items()
    assert "on-demand" in known or "on-demand" not in node.quota


@pytest.mark.parametrize("node", AZURE, ids=lambda node: node.name)
def test_a_size_is_what_the_local_cloud_has_in_its_own_table(node: AzureNodeType) -> None:
    size = size_of(node.name)
    assert size is not None, "add it to localcloud/azure/sizes.toml, from a source of its own"
    assert size.vcpus == node.vcpus
    assert folded(size.family) == folded(node.quota_family)
    assert size.rdma == node.infiniband
    assert size.arch.casefold() == ARCHITECTURES[node.arch]
    assert size.trusted_launch == node.trusted_launch
    assert size.reservable == node.capacity_reservation
    assert size.rack_nodes == max(node.rack_nodes, 1)
    assert size.single_placement >= node.single_placement_group
