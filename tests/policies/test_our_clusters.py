"""The pack on what our own components register, recorded from the real program on mocks. Hand-written clusters, and
each of them broken in one place: `test_happy_clusters`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from components.dryrun import dry_run
from planning.plan import Plan, assess
from planning.stackfile import read_stack

STACKS = sorted((Path(__file__).parents[2] / "stacks").glob("Pulumi.*.yaml"))


def planned(path: Path, on_delete: str | None = None) -> Plan:
    spec: Any = read_stack(path).spec
    if on_delete:
        spec["storage"]["on_delete"] = on_delete
    plan = assess(spec, date(2026, 12, 1), path.parent).plan
    assert plan is not None
    return plan


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_every_example_stack_passes_the_pack(path: Path, preview: bool, analyze: Callable[..., Any]) -> None:
    assert analyze(dry_run(planned(path), preview=preview).requests) == []


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_a_stack_that_retains_its_stores_passes_the_pack_too(path: Path, analyze: Callable[..., Any]) -> None:
    assert analyze(dry_run(planned(path, "retain")).requests) == []


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_a_stack_that_deletes_its_stores_is_refused_for_each_of_them(path: Path, analyze: Callable[..., Any]) -> None:
    plan = planned(path, "delete")
    verdicts = analyze(dry_run(plan).requests)
    assert {v.policy for v in verdicts} == {"data-store-unprotected"}
    assert len(verdicts) == (2 if plan.filesystem else 1)
