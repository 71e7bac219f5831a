"""What the local cloud knows of VM sizes and their images by itself: sizes.toml, images.toml and os_words.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    name: str
    vcpus: int
    family: str
    rdma: int
    nics: int | None = None
    arch: str = "x64"
    single_placement: bool = True
    rack_nodes: int = 1
    trusted_launch: bool = True
    reservable: bool = True
    accelerated: bool = True
    ephemeral: tuple[str, ...] | None = None
    temp_gib: int | None = None

    @property
    def series(self) -> str:
        """The quota family as Azure compares it."""
        return self.family.replace(" ", "").casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    skus: tuple[str, ...] = ()
    arm64: tuple[str, ...] = ()
    plan: bool = False
    disk_gib: int = 0


def size_of(name: str) -> Size | None:
    """None for a size that is not in the table: nothing can be said of it."""
    return sizes().get(name.casefold())


def offer_of(publisher: str, offer: str) -> Offer | None:
    return _offers().get(f"{publisher}:{offer}".casefold())


def os_words(name: str) -> tuple[str, ...]:
    """`refused_admins` or `licenses`."""
    return tuple(_file("os_words")[name])


@cache
def sizes() -> dict[str, Size]:
    return {name.casefold(): Size(name=name, **_tuples(row)) for name, row in _file("sizes")["sizes"].items()}


@cache
def _offers() -> dict[str, Offer]:
    return {name.casefold(): Offer(**_tuples(row)) for name, row in _file("images")["offers"].items()}


@cache
def _file(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
