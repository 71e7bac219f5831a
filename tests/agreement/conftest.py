"""The local cloud with the index of the SDKs from the project's test cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.localcloud.conftest import index_cache as index_cache


@pytest.fixture(autouse=True)
def cached(index_cache: Path) -> None:
    """Derived once and not on every run."""
