"""The pack on what our own components register for the clusters of tests/clusters.toml, recorded on mocks.
Hand-written clusters, and each of them broken in one place: `test_happy_clusters`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from components.dryrun import dry_run
from tests.clusters import CLUSTERS, ROOT, changes_of, planned

STACKS = sorted({cluster["stack"] for cluster in CLUSTERS.values()})
STRICT = json.loads((ROOT / "policies/profiles/strict.json").read_text(encoding="utf-8"))
UNTOLD = {"aws-flow-logs": {"aws-admin-policy", "aws-role-trust-open"}}
"""What a preview says that it cannot judge: both documents hold the ARN of a log group that is still to be made."""
SCRIPTS = {"aws": {"aws-windows-node", "fabric-turned-off-at-boot"}, "azure": {"fabric-turned-off-at-boot"}}
"""The same of first-boot scripts that hold the address of a filesystem, or the name of a bucket."""
KEEPING = [name for name in CLUSTERS if CLUSTERS[name].get("storage.on_delete") != "delete"]


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("name", KEEPING)
def test_a_cluster_that_keeps_its_data_passes_the_strict_profile(
    name: str, preview: bool, analyze: Callable[..., Any]
) -> None:
    plan = planned(CLUSTERS[name]["stack"], changes_of(name))
    verdicts = analyze(dry_run(plan, preview=preview).requests, STRICT)
    assert {v.level for v in verdicts} <= {"advisory"}
    assert all(f"can't run policy '{v.policy}'" in v.message for v in verdicts)
    untold = {v.policy for v in verdicts}
    assert untold - SCRIPTS[plan.cloud] == (UNTOLD.get(name, set()) if preview else set())
    assert preview or not untold


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_that_deletes_its_stores_is_refused_for_each_of_them(stack: str, analyze: Callable[..., Any]) -> None:
    plan = planned(stack, {"storage.on_delete": "delete"})
    verdicts = analyze(dry_run(plan).requests)
    assert {v.policy for v in verdicts} == {"data-store-unprotected"}
    assert len(verdicts) == (2 if plan.filesystem else 1)
