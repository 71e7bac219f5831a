"""Two specs without any finding, one for each cloud, and the way to change them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from planning import catalog
from planning.facts.imagerecord import FILE, ImageRecord, render
from planning.plan import Assessment, assess
from tests.clusters import changed

TODAY = date(2026, 11, 30)
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYJof/1iH++8qxPpbhtnQUO+mx0DBoHjXtumkz6IfKM example"
BASES: dict[str, dict[str, Any]] = {
    "aws": {
        "name": "llama-70b",
        "cloud": "aws",
        "region": "us-east-1",
        "account": "123456789012",
        "zone": "use1-az6",
        "nodes": {"type": "p5.48xlarge", "count": 16},
        "storage": {
            "filesystem": {"capacity": "38400GiB", "throughput_per_tib": 250},
            "objects": {"checkpoints": {"cool_after_days": 30, "expire_after_days": 90}},
        },
        "tags": {"team": "research"},
    },
    "azure": {
        "name": "llama-70b",
        "cloud": "azure",
        "region": "eastus",
        "account": "01234567-89ab-cdef-0123-456789abcdef",
        "zone": "1",
        "nodes": {"type": "Standard_ND96isr_H100_v5", "count": 16},
        "storage": {
            "filesystem": {"capacity": "48TiB", "throughput_per_tib": 125},
            "objects": {"checkpoints": {"cool_after_days": 7, "expire_after_days": 45}},
        },
        "access": {"ssh_public_key": KEY},
        "tags": {"team": "research"},
    },
}

SpecOf = Callable[[str | Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]


@pytest.fixture(scope="session")
def spec_of() -> SpecOf:
    """`spec_of(cloud or spec, {dotted path: value})`: a copy with these changes; `...` removes the field."""
    return lambda base, changes: changed(BASES[base] if isinstance(base, str) else base, changes)


def recorded() -> dict[str, ImageRecord]:
    """One region's images, as `gpu-clusters images --update` writes them."""
    images = {i.parameter: (i.arch, i.root_gib) for i in catalog.images("aws").values()}
    images["ami-0123456789abcdef0"] = ("x86_64", 8)
    return {
        asked: ImageRecord(
            id=asked if asked.startswith("ami-") else f"ami-{number:017x}",
            name="Ubuntu 22.04",
            arch=arch,
            root_device="/dev/sda1",
            root_gib=root_gib,
            recorded=TODAY,
        )
        for number, (asked, (arch, root_gib)) in enumerate(images.items())
    }


@pytest.fixture(scope="session")
def assessed(spec_of: SpecOf, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Assessment]:
    """`assessed(cloud, changes)`: what is said of a changed base on the day of the tests.

    Its folder holds nothing but a record of the region's AMIs: those of the catalogue, and `ami-0123456789abcdef0`.
    """

    @cache
    def folder_of(region: str) -> Path:
        folder = tmp_path_factory.mktemp("stacks")
        (folder / FILE).write_text(render({region: recorded()}))
        return folder

    def judge(
        base: str | Mapping[str, Any], changes: Mapping[str, Any] | None = None, folder: Path | None = None
    ) -> Assessment:
        spec = spec_of(base, changes or {})
        region = str(spec.get("region"))
        return assess(spec, TODAY, folder or folder_of(region if re.fullmatch(r"[a-z0-9-]+", region) else "us-east-1"))

    return judge


@pytest.fixture(scope="session")
def today() -> date:
    return TODAY
