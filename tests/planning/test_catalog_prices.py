"""Prices of the catalogue: that they are real, dated, unambiguous, and absent where unknown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from planning import catalog
from planning.catalog import reading
from planning.catalog.records import Cloud, Price

FILE = reading.read("prices.toml")
CLOUD_OF = {region: cloud for cloud in ("aws", "azure") for region in catalog.regions(cloud)}

UNPRICED = {
    "p5e.48xlarge",
    "trn2.48xlarge",
    "Standard_ND96isrf_H200_v5",
    "Standard_ND96is_H200_v5",
    "Standard_ND128isr_GB300_v6",
    "Standard_ND128isrG5_GB300_v6",
    "Standard_NC80adis_H100_v5",
}
"""Types that may be bought on demand, but whose price no source that we trust gives."""

UNKNOWN = {"bastion-standard-hour", "premium-ssd-gib-month"}
"""Public tables disagree on the first by more than a third, and the second is sold by sizes."""


def leaves(table: dict[str, Any], *path: str) -> Iterator[tuple[tuple[str, ...], list[dict[str, Any]]]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, *path, key)
        else:
            yield (*path, key), value


PRICED = [leaf for part in ("nodes", "lustre", "items") for leaf in leaves(FILE[part], part)]


def asked(path: tuple[str, ...], region: str) -> Price | None:
    """The price as callers get it, from the path of its row in the file."""
    match path:
        case ("nodes", name, purchase):
            return catalog.node_price(name, region, purchase)
        case ("lustre", cloud, deployment, tier):
            return catalog.lustre_price(cloud, deployment, int(tier), region)
        case ("items", key):
            return catalog.price(key, region)
    raise AssertionError(f"a table of unknown kind: {path}")


@pytest.mark.parametrize(("path", "rows"), PRICED, ids=[".".join(path) for path, _ in PRICED])
def test_every_price_is_positive_dated_sourced_and_the_only_one_for_its_region(
    path: tuple[str, ...], rows: list[dict[str, Any]]
) -> None:
    regions = [region for row in rows for region in row["regions"]]
    assert bool(regions) == (path[-1] not in UNKNOWN)
    assert len(regions) == len(set(regions))
    for row in rows:
        for region in row["regions"]:
            price = asked(path, region)
            assert price is not None
            assert price.usd == Decimal(row["usd"]) > 0
            assert price.region == region
            assert price.source == FILE["sources"][row["source"]]
            assert date(2024, 1, 1) <= price.date <= date(2026, 11, 30)


def test_prices_are_for_types_tiers_and_regions_that_the_catalogue_has() -> None:
    for name, purchases in FILE["nodes"].items():
        node = catalog.node_type(name)
        assert node is not None, name
        assert set(purchases) <= set(node.purchase), name
        regions = {region for rows in purchases.values() for row in rows for region in row["regions"]}
        assert {CLOUD_OF[region] for region in regions} == {node.cloud}, name
    for (_, cloud, deployment, tier), rows in leaves(FILE["lustre"], "lustre"):
        assert catalog.lustre_tier(cloud, deployment, int(tier)) is not None  # ty: ignore[invalid-argument-type]
        assert {CLOUD_OF[region] for row in rows for region in row["regions"]} == {cloud}


def test_every_source_is_used() -> None:
    assert {row["source"] for _, rows in PRICED for row in rows} == set(FILE["sources"])


def test_types_on_demand_without_a_price_are_exactly_the_ones_known_to_lack_it() -> None:
    on_demand = {name for name, node in catalog.node_types().items() if "on-demand" in node.purchase}
    assert on_demand - {name for name, rows in FILE["nodes"].items() if "on-demand" in rows} == UNPRICED


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_every_lustre_tier_has_a_price_somewhere(cloud: Cloud) -> None:
    tiers = [*catalog.lustre_tiers(cloud), *catalog.lustre_tiers(cloud, "scratch")]
    priced = {(dep, int(mbps)) for (_, of, dep, mbps), _ in leaves(FILE["lustre"], "lustre") if of == cloud}
    assert priced == {(tier.deployment, tier.mbps_per_tib) for tier in tiers}


def test_sixteen_nodes_cost_what_the_examples_say() -> None:
    aws = catalog.node_price("p5.48xlarge", "us-east-1", "on-demand")
    azure = catalog.node_price("Standard_ND96isr_H100_v5", "eastus", "on-demand")
    assert aws is not None
    assert azure is not None
    assert (16 * aws.usd, 16 * azure.usd) == (Decimal("880.64"), Decimal("1573.12"))
    assert aws.unit == azure.unit == "node-hour"
    assert aws.confidence == azure.confidence == "listed"


def test_reserved_capacity_costs_what_on_demand_costs() -> None:
    reserved = catalog.node_price("p5.48xlarge", "us-east-1", "reserved")
    assert reserved is not None
    assert reserved == catalog.node_price("p5.48xlarge", "us-east-1", "on-demand")


def test_fsx_bills_the_number_that_is_provisioned_in_gib() -> None:
    price = catalog.lustre_price("aws", "persistent", 250, "us-east-1")
    assert price is not None
    assert 38_400 * price.usd == 8064
    assert price.unit == "GB-month"


def test_azure_lustre_prices_are_marked_unproved() -> None:
    for tier in catalog.lustre_tiers("azure"):
        price = catalog.lustre_price("azure", "persistent", tier.mbps_per_tib, "eastus")
        assert price is not None
        assert price.confidence == "unproved"


def test_a_price_is_never_borrowed_from_another_region() -> None:
    assert catalog.node_price("p5.48xlarge", "us-west-1", "on-demand") is None
    assert catalog.node_price("p5.48xlarge", "eastus", "on-demand") is None
    assert catalog.lustre_price("aws", "persistent", 250, "sa-east-1") is None
    assert catalog.price("nat-hour", "westeurope") is None


def test_a_price_that_nobody_published_is_none_and_not_zero() -> None:
    assert catalog.node_price("Standard_ND96isr_H100_v5", "eastus", "spot") is None
    assert catalog.node_price("p5e.48xlarge", "us-east-2", "on-demand") is None
    assert catalog.node_price("no-such-type", "us-east-1", "on-demand") is None
    assert catalog.lustre_price("azure", "scratch", 0, "eastus") is None


def test_a_misspelt_item_is_an_error_and_not_a_missing_price() -> None:
    with pytest.raises(catalog.CatalogError, match=r"nat-huor: no such item; there are .*nat-hour"):
        catalog.price("nat-huor", "us-east-1")


def test_the_steps_of_the_internet_rise_and_are_prices() -> None:
    steps = catalog.internet_steps()
    assert [start for _, start in steps] == sorted(start for _, start in steps)
    assert {key for key, _ in steps} <= set(catalog.price_items())
