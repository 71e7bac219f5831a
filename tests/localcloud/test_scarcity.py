"""Limits of capacity and quota: which one holds, and what is said of a file that cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.scarcity import Scarcity, ScarcityError
from localcloud.store import Store

P5, ND = "p5.48xlarge", "Standard_ND96isr_H100_v5"


@pytest.fixture
def scarcity(store: Store) -> Scarcity:
    return Scarcity(store)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "localcloud.toml"
    path.write_text(text)
    return path


def test_where_nothing_is_said_there_is_no_limit(scarcity: Scarcity):
    assert scarcity.available("aws", P5, "use1-az6", "on-demand") is None
    assert scarcity.quota("aws", "L-417A185B") is None


def test_a_limit_holds_for_its_cloud_type_zone_and_purchase_only(scarcity: Scarcity):
    scarcity.set_capacity("aws", P5, "use1-az6", "on-demand", 15)
    assert scarcity.available("aws", P5, "use1-az6", "on-demand") == 15
    for other in (
        ("azure", P5, "use1-az6", "on-demand"),
        ("aws", "p4d.24xlarge", "use1-az6", "on-demand"),
        ("aws", P5, "use1-az5", "on-demand"),
        ("aws", P5, "use1-az6", "spot"),
    ):
        assert scarcity.available(*other) is None, other


def test_the_row_that_names_the_zone_wins_then_the_one_that_names_the_purchase(scarcity: Scarcity):
    for place, how, nodes in (("*", "*", 1), ("*", "spot", 2), ("use1-az6", "*", 3), ("use1-az6", "spot", 4)):
        scarcity.set_capacity("aws", P5, place, how, nodes)
    found = [
        scarcity.available("aws", P5, place, how) for place in ("use1-az1", "use1-az6") for how in ("on-demand", "spot")
    ]
    assert found == [1, 2, 3, 4]


def test_azures_names_are_compared_without_case_and_spaces(scarcity: Scarcity):
    scarcity.set_capacity("azure", ND, "East US-1", "spot", 2)
    scarcity.set_quota("azure", "standardNDSH100v5Family", 96)
    assert scarcity.available("azure-native", ND.upper(), "eastus-1", "spot") == 2
    assert scarcity.quota("azure-native", "Standard NDSH100v5Family") == 96


def test_zero_is_a_limit_and_none_lifts_it(scarcity: Scarcity):
    scarcity.set_quota("aws", "L-417A185B", 0)
    assert scarcity.quota("aws", "L-417A185B") == 0
    scarcity.set_quota("aws", "L-417A185B", None)
    assert scarcity.quota("aws", "L-417A185B") is None


def test_what_a_command_sets_goes_before_the_file(scarcity: Scarcity, tmp_path: Path):
    rows = '[[capacity]]\ncloud = "aws"\ntype = "p5.48xlarge"\nnodes = 8\n'
    rows += '[[quota]]\ncloud = "aws"\ncode = "L-417A185B"\nvcpus = 192\n'
    scarcity.read(_file(tmp_path, rows))
    assert scarcity.available("aws", P5, "any", "on-demand") == 8
    assert scarcity.quota("aws", "L-417A185B") == 192
    scarcity.set_capacity("aws", P5, "*", "*", 3)
    scarcity.set_quota("aws", "L-417A185B", 384)
    assert scarcity.available("aws", P5, "any", "on-demand") == 3
    assert scarcity.quota("aws", "L-417A185B") == 384


def test_another_process_sees_a_limit_at_once(tmp_path: Path):
    store, other = Store(tmp_path / "cloud.db"), Store(tmp_path / "cloud.db")
    Scarcity(other).set_capacity("aws", P5, "*", "*", 3)
    other.close()
    assert Scarcity(store).available("aws", P5, "use1-az6", "spot") == 3
    store.close()


def test_without_a_file_there_is_nothing_to_read(scarcity: Scarcity, tmp_path: Path):
    scarcity.read(tmp_path / "localcloud.toml")
    assert scarcity.limits() == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[capacity", "cannot be read as TOML"),
        ("[[nodes]]\nx = 1", r"nodes: unknown; write rows of \[\[capacity\]\] or \[\[quota\]\]"),
        ("capacity = 3", r"capacity: unknown; write rows"),
        ("capacity = [3]", r"capacity\[0\]: found 3; write a table with cloud, type"),
        ('[[capacity]]\ncloud = "aws"\nnodes = 1', r"capacity\[0\]\.type: missing"),
        ('[[capacity]]\ncloud = "gcp"\ntype = "x"\nnodes = 1', r"\.cloud: found 'gcp'; write one of aws, azure"),
        ('[[capacity]]\ncloud = "aws"\ntype = "x"\nnodes = -1', r"\.nodes: found -1; write 0 or more"),
        ('[[capacity]]\ncloud = "aws"\ntype = "x"\nnodes = true', r"\.nodes: found True; write a whole number"),
        ('[[capacity]]\ncloud = "aws"\ntype = "x"\nnodes = 1\nzoen = "a"', r"\.zoen: unknown key; it has cloud"),
        ('[[capacity]]\ncloud = "aws"\ntype = "x"\nnodes = 1\npurchase = "free"', r"\.purchase: found 'free'; write"),
        ('[[capacity]]\ncloud = "aws"\ntype = "x"\nnodes = 1\nzone = "us-east-1a"', r"\.zone: .* as in use1-az6"),
        ('[[capacity]]\ncloud = "azure"\ntype = "x"\nnodes = 1\nzone = "use1-az6"', r"\.zone: .* as in eastus-1"),
        ('[[quota]]\ncloud = "aws"\ncode = ""\nvcpus = 1', r"quota\[0\]\.code: found ''; write a word in quotes"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_with_what_to_write(tmp_path: Path, store: Store, text: str, says: str):
    with pytest.raises(ScarcityError, match=says) as refused:
        Scarcity(store).read(_file(tmp_path, text))
    assert str(tmp_path / "localcloud.toml") in str(refused.value)


def test_all_that_is_wrong_in_a_file_is_said_at_once(tmp_path: Path, store: Store):
    with pytest.raises(ScarcityError) as refused:
        Scarcity(store).read(_file(tmp_path, '[[capacity]]\ncloud = "gcp"\n[[quota]]\nvcpus = 1.5\n'))
    assert len(str(refused.value).splitlines()) == 1 + 3 + 3
