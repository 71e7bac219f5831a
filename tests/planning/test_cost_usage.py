"""What use costs, against figures worked out by hand, each from what is assumed. What is there: test_cost."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from planning.cost import Cost, Line, Usage, whole_cost
from planning.plan import Assessment

GB = 10**9
CHECKPOINTS = "storage.objects.checkpoints"
Costs = Callable[..., Cost]


@pytest.fixture
def cost(assessed: Callable[..., Assessment]) -> Costs:
    def of(cloud: str, changes: dict[str, Any], **usage: Any) -> Cost:
        found = assessed(cloud, changes)
        assert found.spec is not None
        assert found.facts is not None
        return whole_cost(found.spec, found.facts, Usage(**usage))

    return of


def lines(cost: Cost, item: str) -> list[Line]:
    return [each for each in cost.lines if item in each.item]


def line(cost: Cost, item: str) -> Line:
    [found] = lines(cost, item)
    return found


def test_without_assumptions_only_what_is_there_is_counted(cost: Costs, assessed: Callable[..., Assessment]) -> None:
    whole, facts = cost("aws", {}), assessed("aws").facts
    assert facts is not None
    assert whole.lines == facts.cost.lines
    assert {"--checkpoint-size", "--dataset-size", "--egress"} <= {
        flag
        for text in whole.assumptions
        for flag in ("--checkpoint-size", "--dataset-size", "--egress")
        if flag in text
    }


def test_a_hundred_checkpoints_of_50_gb_are_5_tb_and_cost_115_a_month(cost: Costs) -> None:
    kept = {CHECKPOINTS: {"expire_after_days": 30}}
    checkpoints = line(
        cost("aws", kept, checkpoint=50 * GB, interval=Decimal("7.2"), hours=Decimal(720)), "checkpoints"
    )
    assert checkpoints.quantity == 5000
    assert checkpoints.note.startswith("100 of 50 GB")
    assert checkpoints.usd_per_month == Decimal("115.00")


@pytest.mark.parametrize(
    ("cloud", "rule", "hours", "classes"),
    [
        # rule of the store, hours of the run -> GB by class, of one checkpoint of 10 GB a day
        ("aws", {"expire_after_days": 20}, 2400, {"Standard": 200}),
        ("aws", {}, 2400, {"Standard": 1000}),
        ("aws", {"cool_after_days": 7, "expire_after_days": 60}, 2400, {
            "Standard": 70, "Intelligent-Tiering, frequent": 300, "Intelligent-Tiering, infrequent": 230,
        }),
        ("aws", {"cool_after_days": 30, "expire_after_days": 90}, 2400, {"Standard": 300, "Standard-IA": 600}),
        ("aws", {"cool_after_days": 30, "expire_after_days": 40}, 2400, {"Standard": 300, "Standard-IA": 300}),
        ("aws", {"cool_after_days": 30}, 240, {"Standard": 100}),
        ("azure", {"cool_after_days": 7, "expire_after_days": 60}, 2400, {"hot": 70, "cool": 530}),
    ],
)  # fmt: skip
def test_checkpoints_lie_in_the_classes_that_the_lifecycle_puts_them_in(
    cloud: str, rule: dict[str, int], hours: int, classes: dict[str, int], cost: Costs
) -> None:
    whole = cost(cloud, {CHECKPOINTS: rule}, checkpoint=10 * GB, interval=Decimal(24), hours=Decimal(hours))
    found = {each.item.partition(", ")[2]: each.quantity for each in lines(whole, "checkpoints, ") if each.unit != "GB"}
    assert found == classes


def test_on_azure_what_is_written_goes_through_private_endpoints_and_on_aws_through_a_free_gateway(cost: Costs) -> None:
    written = {"checkpoint": 1000 * GB, "interval": Decimal(73)}
    azure = line(cost("azure", {}, **written), "private endpoints, checkpoints")
    assert (azure.quantity, azure.usd_per_month) == (Decimal(10_000), Decimal("100.00"))
    assert not lines(cost("aws", {}, **written), "endpoints, checkpoints")


def test_write_requests_are_parts_of_64_mib(cost: Costs) -> None:
    requests = line(cost("aws", {}, checkpoint=64 * 2**20 * 1000, interval=Decimal(73)), "write requests")
    assert (requests.quantity, requests.usd_per_month) == (10, Decimal("0.05")), "ten checkpoints of 1,000 parts"


def test_a_dataset_elsewhere_is_copied_once_and_paid_where_it_leaves(cost: Costs) -> None:
    whole = cost("aws", {}, dataset=6000 * GB, dataset_region="us-west-2", hours=Decimal(100))
    copied = line(whole, "copied")
    assert (copied.usd_per_hour, copied.usd_per_month, copied.usd_in(Decimal(100))) == (None, None, Decimal("120.00"))
    assert line(whole, "backups").usd_per_month == Decimal("300.00")
    assert not whole.is_lower_bound
    assert not lines(cost("aws", {}, dataset=GB, dataset_region="us-east-1"), "copied")


def test_a_dataset_on_the_other_cloud_leaves_it_by_the_internet(cost: Costs) -> None:
    copied = line(cost("aws", {}, dataset=1000 * GB, dataset_region="eastus"), "copied between clouds")
    assert (copied.unit_price, copied.once) == (Decimal("0.087"), Decimal("87.000"))
    assert "paid in eastus" in copied.note


def test_a_key_of_ones_own_is_told_as_paid_elsewhere(cost: Costs) -> None:
    key = "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    assert any("key is paid" in text for text in cost("aws", {"storage.filesystem.kms_key": key}).assumptions)
    assert not any("key is paid" in text for text in cost("aws", {}).assumptions)


def test_egress_goes_by_steps_of_a_month_and_through_nat(cost: Costs) -> None:
    whole = cost("aws", {}, egress=200_000 * GB)
    steps = [(each.quantity, each.unit_price) for each in lines(whole, "to the internet")]
    assert steps == [
        (10_140, Decimal("0.09")), (40_960, Decimal("0.085")), (102_400, Decimal("0.07")), (46_400, Decimal("0.05")),
    ]  # fmt: skip
    assert sum(quantity for quantity, _ in steps) == 200_000 - 100, "100 GB are free"
    assert line(whole, "NAT gateway, data").usd_per_month == Decimal("9000.00")
    assert not lines(cost("aws", {}, egress=100 * GB), "to the internet")


def test_spot_counts_the_work_that_is_lost_when_nodes_are_taken_back(cost: Costs) -> None:
    spot = {"nodes.purchase": "spot"}
    lost = line(cost("aws", spot), "work lost")
    # 16 nodes x 20 % a month = 3.2 interruptions in 730 h, each 2 / 2 + 0.5 h: 0.6575 %
    assert lost.quantity == Decimal("0.106")
    assert "0.7% of the time" in lost.note
    assert not lines(cost("aws", {}), "work lost")
    assert line(cost("aws", spot, interruptions=Decimal(100)), "work lost").quantity > 5 * lost.quantity * Decimal(
        "0.98"
    )


def test_a_run_costs_its_hours_and_what_is_paid_once(cost: Costs) -> None:
    whole = cost("aws", {}, hours=Decimal(10), dataset=1000 * GB, dataset_region="us-west-2")
    assert whole.usd_per_run == sum(
        (each for line in whole.lines if (each := line.usd_in(Decimal(10))) is not None), Decimal(0)
    ).quantize(Decimal("0.01"))
    assert whole.as_json()["usd_per_run"] > 8806.40 + 20
    assert cost("aws", {}).usd_per_run is None


def test_a_price_that_is_unknown_for_a_line_of_use_makes_the_total_a_lower_bound(cost: Costs) -> None:
    whole = cost("aws", {"region": "us-west-2", "zone": "usw2-az2"}, dataset=GB)
    assert [each.item for each in whole.lines if each.unit_price is None] == ["dataset"]
    assert whole.is_lower_bound
    assert whole.shown_of("objects") == "unknown"
    assert whole.shown_of("nodes", 0) == "643,251"


def test_stopped_nodes_write_no_checkpoints(cost: Costs) -> None:
    assert not lines(cost("aws", {"nodes.running": False}, checkpoint=GB), "checkpoints")
