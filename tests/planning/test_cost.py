"""What clusters cost, against figures worked out by hand. The prices themselves: test_catalog_prices."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from planning.cost import Cost, Line
from planning.cost.lines import CENT
from planning.plan import Assessment


@pytest.fixture
def cost(assessed: Callable[..., Assessment]) -> Callable[..., Cost]:
    def of(cloud: str, **changes: Any) -> Cost:
        facts = assessed(cloud, {key.replace("__", "."): value for key, value in changes.items()}).facts
        assert facts is not None
        return facts.cost

    return of


def line(cost: Cost, item: str) -> Line:
    found = [each for each in cost.lines if item in each.item]
    assert len(found) == 1
    return found[0]


def test_16_p5_nodes_cost_880_64_an_hour(cost: Callable[..., Cost]) -> None:
    nodes = line(cost("aws"), "p5.48xlarge")
    assert (nodes.quantity, nodes.unit_price, nodes.usd_per_hour) == (16, Decimal("55.04"), Decimal("880.64"))
    assert nodes.usd_per_month == Decimal("642867.20"), "730 hours"
    assert nodes.price_date == "2026-06-30"
    assert nodes.source


def test_38400_gib_of_fsx_at_250_cost_8064_a_month(cost: Callable[..., Cost]) -> None:
    fsx = line(cost("aws"), "FSx for Lustre")
    assert (fsx.quantity, fsx.usd_per_month, fsx.usd_per_hour) == (38400, Decimal("8064.00"), Decimal("11.05"))


def test_16_nd_h100_nodes_cost_1573_12_an_hour(cost: Callable[..., Cost]) -> None:
    nodes = line(cost("azure"), "ND96isr_H100_v5")
    assert (nodes.usd_per_hour, nodes.usd_per_month) == (Decimal("1573.12"), Decimal("1148377.60"))


def test_48_tib_of_azure_lustre_at_125_cost_4915_20_a_month_and_say_that_the_price_is_unproved(
    cost: Callable[..., Cost],
) -> None:
    lustre = line(cost("azure"), "Azure Managed Lustre")
    assert lustre.usd_per_month == Decimal("4915.20")
    assert "unproved" in lustre.note


def test_the_totals_are_the_sums_of_the_lines(cost: Callable[..., Cost]) -> None:
    whole = cost("aws")
    there = "nodes, root disks, FSx, NAT gateway, its address"
    hourly = sum(map(Decimal, ("880.64", "0.53", "11.05", "0.05", "0.0050")), Decimal(0))
    assert whole.usd_per_hour == hourly.quantize(CENT, ROUND_HALF_UP), there
    assert whole.usd_per_month == sum(map(Decimal, ("642867.20", "384.00", "8064.00", "32.85", "3.65"))), there
    assert not whole.is_lower_bound


def test_four_interface_endpoints_cost_29_20_a_month_and_there_is_no_nat_gateway(cost: Callable[..., Cost]) -> None:
    whole = cost("aws", network__egress="none")
    endpoints = line(whole, "interface endpoints")
    assert (endpoints.quantity, endpoints.usd_per_hour) == (4, Decimal("0.04"))
    assert endpoints.usd_per_month == Decimal("29.20")
    assert not [each for each in whole.lines if "NAT" in each.item]


def test_an_existing_network_costs_nothing_here(cost: Callable[..., Cost]) -> None:
    existing = {"vpc": "vpc-0a1b2c3d", "subnet": "subnet-0a1b2c3d"}
    assert not [each for each in cost("aws", network__existing=existing).lines if "NAT" in each.item]


def test_a_bastion_is_told_without_a_price_and_a_way_out_that_is_not_there_not_at_all(
    cost: Callable[..., Cost],
) -> None:
    whole = cost("azure", access__bastion=True, network__egress="none")
    assert line(whole, "Bastion").usd_per_hour is None
    assert whole.is_lower_bound
    assert not [each for each in whole.lines if "NAT" in each.item]
    assert not [each for each in cost("azure").lines if "Bastion" in each.item]


def test_flow_logs_are_told_as_not_counted(cost: Callable[..., Cost]) -> None:
    assert any("flow logs" in text for text in cost("aws", network__flow_logs=True).assumptions)
    assert not any("flow logs" in text for text in cost("aws").assumptions)


def test_metadata_iops_are_paid_for(cost: Callable[..., Cost]) -> None:
    assert line(cost("aws", storage__filesystem__metadata_iops=12000), "metadata").usd_per_month == Decimal("660.00")


def test_scratch_costs_what_its_capacity_costs_and_a_link_nothing(cost: Callable[..., Cost]) -> None:
    scratch = {"capacity": "2400GiB", "deployment": "scratch"}
    whole = cost("aws", storage__filesystem=scratch, storage__objects__link=True)
    assert line(whole, "FSx for Lustre, scratch").usd_per_month == Decimal("336.00")
    assert [each.kind for each in whole.lines] == ["nodes", "nodes", "filesystem", "network", "network"]


def test_a_filesystem_that_exists_is_paid_for_elsewhere(cost: Callable[..., Cost]) -> None:
    whole = cost("aws", storage__filesystem={"existing": "fs-0123456789abcdef0"})
    assert not [each for each in whole.lines if "FSx" in each.item]
    assert not whole.is_lower_bound


def test_a_cluster_that_does_not_run_costs_its_storage_and_network_only(cost: Callable[..., Cost]) -> None:
    items = [each.item for each in cost("aws", nodes__running=False).lines]
    assert [item.split(",")[0] for item in items] == ["FSx for Lustre", "NAT gateway", "public IPv4 addresses"]


def test_reserved_capacity_costs_as_much_as_on_demand(cost: Callable[..., Cost]) -> None:
    assert line(cost("aws", nodes__purchase="reserved"), "p5.48xlarge").usd_per_hour == Decimal("880.64")


@pytest.mark.parametrize(("cloud", "region"), [("aws", "eu-south-2"), ("azure", "uaenorth"), ("aws", "us-east-7")])
def test_an_unknown_price_makes_the_total_a_lower_bound_and_is_never_0(
    cloud: str, region: str, cost: Callable[..., Cost]
) -> None:
    whole = cost(cloud, region=region)
    unknown = [each for each in whole.lines if each.usd_per_hour is None]
    assert "node-hour" in [each.unit for each in unknown]
    assert all(each.usd_per_month is None and each.unit_price is None and each.note for each in unknown)
    assert whole.is_lower_bound
    assert any("lower bound" in text for text in whole.assumptions)
    assert all(each["usd_per_hour"] != 0 for each in whole.as_json()["lines"])


def test_json_has_the_keys_of_the_command_and_plain_numbers(cost: Callable[..., Cost]) -> None:
    shown = cost("aws").as_json()
    assert list(shown) == ["currency", "lines", "usd_per_hour", "usd_per_month", "is_lower_bound", "assumptions"]
    assert set(shown["lines"][0]) == {
        "kind", "item", "quantity", "unit", "unit_price", "usd_per_hour", "usd_per_month", "price_date",
        "source", "note",
    }  # fmt: skip
    assert shown["lines"][0]["usd_per_hour"] == 880.64
    assert shown["currency"] == "USD"


def test_root_disks_are_paid_for_where_they_are_no_part_of_the_node(cost: Callable[..., Cost]) -> None:
    disks = line(cost("aws"), "root disks")
    assert (disks.quantity, disks.usd_per_month) == (16 * 300, Decimal("384.00"))
    assert not [each for each in cost("azure").lines if "root disks" in each.item], "ephemeral on ND v5"
    single = cost("azure", nodes={"type": "Standard_NC24ads_A100_v4", "count": 1})
    assert line(single, "Premium SSD").usd_per_hour is None, "sold by sizes whose prices are not known here"
    assert single.is_lower_bound


def test_public_addresses_and_private_endpoints_are_paid_for(cost: Callable[..., Cost]) -> None:
    assert line(cost("azure"), "private endpoints").usd_per_month == Decimal("14.60")
    assert line(cost("azure", access__bastion=True), "public IPv4").quantity == 2, "of NAT and of Bastion"
    assert not [each for each in cost("azure", network__egress="none").lines if "IPv4" in each.item]


def test_an_amount_below_a_cent_is_not_shown_as_free(cost: Callable[..., Cost]) -> None:
    assert line(cost("aws"), "public IPv4").usd_per_hour == Decimal("0.0050")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ({"purchase": "capacity-block", "reservation": "cr-0123456789abcdef0"}, "paid up front"),
        (
            {"purchase": "capacity-block", "reservation": {"id": "cr-0123456789abcdef0", "start": "2030-01-31"}},
            "begins on 2030-01-31",
        ),
        ({"purchase": "capacity-block", "reservation": {"buy": "cb-0123456789abcdef0", "confirm": True}}, "offering"),
        ({"purchase": "reserved", "reservation": "cr-0123456789abcdef0"}, "used or not"),
    ],
)
def test_what_a_way_of_buying_does_to_the_bill_is_said(
    nodes: dict[str, Any], said: str, cost: Callable[..., Cost]
) -> None:
    assert said in line(cost("aws", nodes={"type": "p5.48xlarge", "count": 2, **nodes}), "p5.48xlarge").note
