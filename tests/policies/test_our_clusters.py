"""The pack on what our own components register for the clusters of tests/clusters.toml, recorded on mocks.
Hand-written clusters, and each of them broken in one place: `test_happy_clusters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.dryrun import dry_run
from tests.clusters import CLUSTERS, changes_of, planned

STACKS = sorted({cluster["stack"] for cluster in CLUSTERS.values()})
KEEPING = [name for name in CLUSTERS if CLUSTERS[name].get("storage.on_delete") != "delete"]


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("name", KEEPING)
def test_a_cluster_that_keeps_its_data_passes_the_pack(name: str, preview: bool, analyze: Callable[..., Any]) -> None:
    plan = planned(CLUSTERS[name]["stack"], changes_of(name))
    assert analyze(dry_run(plan, preview=preview).requests) == []


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_that_deletes_its_stores_is_refused_for_each_of_them(stack: str, analyze: Callable[..., Any]) -> None:
    plan = planned(stack, {"storage.on_delete": "delete"})
    verdicts = analyze(dry_run(plan).requests)
    assert {v.policy for v in verdicts} == {"data-store-unprotected"}
    assert len(verdicts) == (2 if plan.filesystem else 1)
