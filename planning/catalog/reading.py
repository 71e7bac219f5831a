"""Reads the catalogue's TOML files and makes records of their rows, refusing what does not fit.

What callers use is in `planning.catalog`; the records themselves are in `planning.catalog.records`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args

from planning.catalog.records import Arch, Cloud, Confidence, Deployment, Purchase, Vendor

FOLDER = Path(__file__).parent
Record = TypeVar("Record")


class CatalogError(Exception):
    """A file of the catalogue is unreadable or a row of it does not fit: a fault of ours, not of a spec."""

    def __init__(self, file: str, row: str, field: str, problem: str) -> None:
        super().__init__(": ".join(part for part in (f"catalogue file {file}", row, field, problem) if part))


@cache
def read(file: str) -> dict[str, Any]:
    try:
        with (FOLDER / file).open("rb") as stream:
            return tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(file, "", "", f"cannot be read: {error}. Reinstall the project.") from error


def build(kind: type[Record], file: str, row: str, values: Mapping[str, object]) -> Record:
    """One record of `kind` from a row's values; every value is checked by the annotation of its field."""
    known = {field.name: field for field in fields(kind)}  # ty: ignore[invalid-argument-type]
    for name in values:
        if name not in known:
            raise CatalogError(file, row, name, "is not a field of the record")
    arguments: dict[str, object] = {}
    for name, field in known.items():
        if name not in values:
            if field.default is MISSING:
                raise CatalogError(file, row, name, "is missing")
            continue
        try:
            arguments[name] = CHECKS[str(field.type)](values[name])
        except ValueError as error:
            raise CatalogError(file, row, name, str(error)) from error
    return kind(**arguments)


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"{value!r} is not a text")


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"{value!r} is not a whole number from 0 up")


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is neither true nor false")


def _day(value: object) -> date:
    if type(value) is date:
        return value
    raise ValueError(f"{value!r} is not a date such as 2026-11-30")


def _money(value: object) -> Decimal:
    try:
        amount = Decimal(_text(value))
    except InvalidOperation:
        raise ValueError(f"{value!r} is not a decimal number") from None
    if amount.is_finite() and amount > 0:
        return amount
    raise ValueError(f"{value!r} is not above 0; leave out a price that is not known")


def _one_of(literal: object) -> Callable[[object], str]:
    words: tuple[str, ...] = get_args(literal)

    def check(value: object) -> str:
        for word in words:
            if word == value:
                return word
        raise ValueError(f"{value!r} is none of {', '.join(words)}")

    return check


def _each(check: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def check_all(value: object) -> tuple[Any, ...]:
        if isinstance(value, list | tuple):
            return tuple(check(item) for item in value)
        raise ValueError(f"{value!r} is not a list")

    return check_all


def _texts_by_text(value: object) -> dict[str, str]:
    if isinstance(value, dict):
        return {_text(key): _text(item) for key, item in value.items()}
    raise ValueError(f"{value!r} is not a table")


CHECKS: dict[str, Callable[[object], object]] = {
    "str": _text,
    "int": _count,
    "bool": _flag,
    "date": _day,
    "Decimal": _money,
    "Arch": _one_of(Arch),
    "Cloud": _one_of(Cloud),
    "Confidence": _one_of(Confidence),
    "Deployment": _one_of(Deployment),
    "Vendor": _one_of(Vendor),
    "tuple[int, ...]": _each(_count),
    "tuple[str, ...]": _each(_text),
    "tuple[Purchase, ...]": _each(_one_of(Purchase)),
    "Mapping[str, str]": _texts_by_text,
}
"""By the annotation of a record's field, as it is written."""
