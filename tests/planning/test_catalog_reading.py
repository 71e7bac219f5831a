"""How the catalogue refuses data that does not fit: naming file, row and field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from planning import catalog
from planning.catalog import reading, records

ROW: dict[str, Any] = {
    "usd": "1.50",
    "unit": "hour",
    "region": "us-east-1",
    "source": "a list",
    "date": reading.read("images.toml")["defaults"]["checked"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty catalogue in place of the real one."""
    monkeypatch.setattr(reading, "FOLDER", tmp_path)
    cached = [reading.read, catalog.node_type]
    for function in cached:
        function.cache_clear()
    yield tmp_path
    for function in cached:
        function.cache_clear()


def test_a_good_row_becomes_a_record() -> None:
    price = reading.build(records.Price, "prices.toml", "row", ROW)
    assert (str(price.usd), price.confidence) == ("1.50", "listed")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"usd": "0"}, "usd: '0' is not above 0; leave out a price that is not known"),
        ({"usd": "-1"}, "usd: '-1' is not above 0; leave out a price that is not known"),
        ({"usd": "NaN"}, "usd: 'NaN' is not above 0; leave out a price that is not known"),
        ({"usd": "free"}, "usd: 'free' is not a decimal number"),
        ({"usd": 1.5}, "usd: 1.5 is not a text"),
        ({"source": " "}, "source: ' ' is not a text"),
        ({"date": "2026-11-30"}, "date: '2026-11-30' is not a date such as 2026-11-30"),
        ({"confidence": "sure"}, "confidence: 'sure' is none of listed, unproved"),
        ({"currency": "EUR"}, "currency: is not a field of the record"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_file_row_and_field(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(reading.CatalogError) as refused:
        reading.build(records.Price, "prices.toml", "row", ROW | change)
    assert str(refused.value) == f"catalogue file prices.toml: row: {problem}"


def test_a_missing_value_is_named_and_only_defaults_may_be_left_out() -> None:
    with pytest.raises(reading.CatalogError, match=r"prices\.toml: row: region: is missing"):
        reading.build(records.Price, "prices.toml", "row", {key: ROW[key] for key in ROW if key != "region"})


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        ("int", True),
        ("int", -1),
        ("int", "8"),
        ("bool", 1),
        ("tuple[int, ...]", 4),
        ("tuple[Purchase, ...]", ["on-demand", "rent"]),
        ("Mapping[str, str]", ["spot"]),
    ],
)
def test_values_are_taken_strictly(annotation: str, value: object) -> None:
    with pytest.raises(ValueError, match="is n"):
        reading.CHECKS[annotation](value)


@pytest.mark.parametrize(
    "kind",
    [records.AwsNodeType, records.AzureNodeType, records.Image, records.LustreTier, records.Price, records.Region],
)
def test_every_field_of_every_record_has_a_check(kind: type[Any]) -> None:
    assert {str(field.type) for field in fields(kind)} <= set(reading.CHECKS)


def test_a_missing_or_broken_file_is_named(folder: Path) -> None:
    with pytest.raises(catalog.CatalogError, match=r"catalogue file aws_nodes\.toml: cannot be read"):
        catalog.node_type("p5.48xlarge")
    (folder / "aws_nodes.toml").write_text("[nodes\n")
    with pytest.raises(catalog.CatalogError, match=r"catalogue file aws_nodes\.toml: cannot be read"):
        catalog.node_type("p5.48xlarge")


def test_a_node_row_that_names_no_quota_group_is_refused(folder: Path) -> None:
    (folder / "aws_nodes.toml").write_text('[defaults]\n[quotas]\n[nodes."x1"]\nquota = "Q"\n')
    with pytest.raises(catalog.CatalogError, match=r"aws_nodes\.toml: x1: quota: 'Q' is not in"):
        catalog.node_type("x1")
