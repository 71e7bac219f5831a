"""Prices of one's own, laid over the list: what they change, and that a wrong file is told in whole."""

from __future__ import annotations

import contextlib
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.cost.pricebook import LIST, PriceFileError, Prices, read_prices

DAY = date(2026, 11, 30)


def read(folder: Path, text: str) -> Prices:
    path = folder / "ours.toml"
    path.write_text(text, encoding="utf-8")
    return read_prices(path, DAY)


def usd(prices: Prices, name: str = "p5.48xlarge", region: str = "us-east-1") -> Decimal | None:
    price = prices.node(name, region, "on-demand")
    return price.usd if price else None


def test_an_agreed_price_holds_in_every_region_and_says_where_it_is_from(tmp_path: Path) -> None:
    prices = read(tmp_path, '[nodes."p5.48xlarge"]\non-demand = "38.50"\n')
    assert usd(prices) == usd(prices, region="eu-south-2") == Decimal("38.50")
    price = prices.node("p5.48xlarge", "us-east-1", "reserved")
    assert price is not None
    assert (price.usd, price.source, price.date) == (Decimal("38.50"), "ours.toml", DAY)
    assert usd(prices, "p4d.24xlarge") == usd(LIST, "p4d.24xlarge")


def test_a_number_with_a_point_is_taken_exactly(tmp_path: Path) -> None:
    assert usd(read(tmp_path, '[nodes."p5.48xlarge"]\non-demand = 38.1\n')) == Decimal("38.1")


def test_the_closer_discount_wins_and_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    prices = read(tmp_path, '[discount]\nnodes = 10\n"p5.48xlarge" = 50\nitems = 50\nnat-gb = 0\n')
    assert usd(prices) == Decimal("27.52")
    assert usd(prices, "p4d.24xlarge") == Decimal("21.9576") * 9 / 10
    assert usd(prices, region="eu-south-2") is None
    assert [getattr(prices.item(key, "us-east-1"), "usd", None) for key in ("nat-hour", "nat-gb")] == [
        Decimal("0.0225"), Decimal("0.045"),
    ]  # fmt: skip
    lustre = prices.lustre("aws", "persistent", 250, "us-east-1")
    assert lustre is not None
    assert lustre.usd == Decimal("0.21")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[nodes", "is no TOML"),
        ('currency = "EUR"', "currency: 'EUR' is not taken, all prices are US dollars"),
        ("[node]\n", "node: no such table; did you mean nodes?"),
        ("nodes = 3\n", "nodes: 3 is no table of prices"),
        ('[nodes."p5.48xlarg"]\non-demand = 3\n', "did you mean p5.48xlarge"),
        ('[nodes."p5.48xlarge"]\nsport = 3\n', "no such way to buy; write on-demand, spot, capacity-block"),
        ('[nodes."p5.48xlarge"]\non-demand = 0\n', "0 is no price; leave out a price that is not known"),
        ('[nodes."p5.48xlarge"]\non-demand = -3\n', "-3 is no price"),
        ('[nodes."p5.48xlarge"]\non-demand = nan\n', "'nan' is no price"),
        ('[nodes."p5.48xlarge"]\non-demand = true\n', "true is no price"),
        ('[nodes."p5.48xlarge"]\non-demand = {usd = 3}\n', "a mapping is no price"),
        ("[lustre.aws.persistent]\n251 = 1\n", "no such tier; there are aws.persistent.1000"),
        ("[items]\nnat-huor = 1\n", "no such item; did you mean nat-hour"),
        ("[discount]\nnodes = 100\n", "discount.nodes: 100 is no discount"),
        ("[discount]\nnode = 10\n", "discount.node: nothing is sold by that name; did you mean nodes"),
    ],
)
def test_a_mistake_is_told_with_what_to_write_instead(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PriceFileError) as problem:
        read(tmp_path, text)
    assert said in str(problem.value)


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError) as problem:
        read(tmp_path, 'currency = "EUR"\nnode = 3\n[items]\nnat-hour = 0\n[discount]\nx = 1\n')
    assert len(str(problem.value).splitlines()) == 4


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="can not be read: No such file"):
        read_prices(tmp_path / "no.toml", DAY)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_file_raises_anything_else(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    with contextlib.suppress(PriceFileError):
        read_prices(path, DAY)
