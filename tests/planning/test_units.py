"""Sizes that are no sizes: what is said of each unit, and that every size that is advised is one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from planning.units import parse_size


def advice(size: object) -> tuple[str, str]:
    """Message and fix."""
    with pytest.raises(PydanticCustomError) as refused:
        parse_size(size)
    context = refused.value.context or {}
    return context["text"], context["fix"]


ADVISED = [
    ("38.4TB", "decimal size, 35,763 GiB", "did you mean 38400GiB?"),
    ("38400 GB", "decimal size, 35,763 GiB", "did you mean 38400GiB?"),
    ("48 tb", "decimal size, 44,703 GiB", "did you mean 48TiB?"),
    ("1PB", "decimal size, 931,323 GiB", "did you mean 1PiB?"),
    ("0.5PB", "decimal size, 465,661 GiB", "did you mean 500000GiB?"),
    ("1200000MB", "decimal size, 1,118 GiB", "did you mean 1200GiB?"),
    ("1200000000 kB", "decimal size, 1,118 GiB", "did you mean 1200GiB?"),
    ("5kB", "less than one GiB", "did you mean 1GiB?"),
    ("1200000000000B", "counts bytes, and is 1,118 GiB", "did you mean 1200GiB?"),
    ("1288490188800 bytes", "counts bytes, and is 1,200 GiB", "did you mean 1200GiB?"),
    ("1.2T", "by 1000 or by 1024", "did you mean 1200GiB?"),
    ("1200G", "by 1000 or by 1024", "did you mean 1200GiB?"),
    ("48t", "by 1000 or by 1024", "did you mean 48TiB?"),
    ("48Ti", "spells its unit 'Ti'", "write 48TiB"),
    ("38400gib", "spells its unit 'gib'", "write 38400GiB"),
    ("1.2tib", "spells its unit 'tib'", "write 1200GiB"),
    ("1228800MiB", "is 1,200 GiB", "write 1200GiB"),
    ("1KiB", "less than one GiB", "write 1GiB"),
    ("38,400GiB", "not a size", "write 38400GiB"),
    ("38_400 GiB", "not a size", "write 38400GiB"),
    ("48  TiB", "not a size", "write 48TiB"),
    ("1,2TiB", "not a size", "38400GiB or 48TiB"),
    ("38400", "no unit", "write 38400GiB or 38400TiB"),
    (48.5, "no unit", "write 48.5TiB"),
    ("48 tons", "unknown unit", "38400GiB or 48TiB"),
]


@pytest.mark.parametrize(("size", "says", "fix"), ADVISED, ids=[str(row[0]) for row in ADVISED])
def test_a_size_in_other_units_is_told_with_the_nearest_one_of_ours(size: object, says: str, fix: str) -> None:
    message, advised = advice(size)
    assert says in message
    assert fix in advised


NUMBERS = st.decimals(0, 10**6, places=3, allow_nan=False).map("{:f}".format) | st.integers(0, 10**9).map(str)
UNITS = st.sampled_from([*"BkMGTP", "b", "KB", "MB", "gb", "Tb", "PB", "Ki", "MiB", "gi", "TIB", "pib", ""])


@given(NUMBERS, st.sampled_from(["", " "]), UNITS)
def test_every_size_that_is_advised_is_taken(number: str, blank: str, unit: str) -> None:
    _, fix = advice(f"{number}{blank}{unit}")
    sizes = re.findall(r"[0-9][0-9.]*[A-Za-z]+", fix)
    assert sizes
    assert all(parse_size(size) >= 0 for size in sizes)
