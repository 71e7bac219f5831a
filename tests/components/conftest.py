"""Fixtures: plans made of the example stacks, and what the real program declares for them on mocks.

`planned("aws", {"nodes.count": 2})` is the plan of the first example stack of that cloud with dotted changes;
`declared` is its dry run, made once per session and set of changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.dryrun import DryRun, Registered, dry_run
from planning.findings import render
from planning.plan import Plan, assess
from planning.stackfile import read_stack
from tests.clusters import CLUSTERS, changed, changes_of

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 12, 1)
STACKS = {"aws": "aws-p5", "azure": "azure-nd-h100"}

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Declared:
    """A dry run, and short ways to look into it."""

    plan: Plan
    run: DryRun

    def of(self, kind: str) -> list[Registered]:
        """Resources whose type ends with this name."""
        return [r for r in self.run.resources if r.type.rsplit(":", 1)[-1] == kind]

    def one(self, kind: str, ending: str = "") -> Registered:
        (found,) = [r for r in self.of(kind) if r.name.endswith(ending)]
        return found

    @property
    def names(self) -> set[tuple[str, str]]:
        return {(r.type, r.name) for r in self.run.resources}

    def kinds(self) -> set[str]:
        return {r.type.rsplit(":", 1)[-1] for r in self.run.resources}

    def by_urn(self, urn: str) -> Registered | None:
        return next((r for r in self.run.resources if r.urn == urn), None)

    def made_from(self, resource: Registered, prop: str) -> list[Registered]:
        """The resources whose outputs went into a property."""
        urns = resource.request.propertyDependencies[prop].urns if prop in resource.request.propertyDependencies else ()
        return [found for urn in urns if (found := self.by_urn(urn))]

    def before(self, resource: Registered) -> set[str]:
        """Names with kinds of all that is made before a resource, at any distance."""
        seen: set[str] = set()
        ahead = list(resource.request.dependencies)
        while ahead:
            urn = ahead.pop()
            if urn not in seen and (found := self.by_urn(urn)):
                seen.add(urn)
                ahead += found.request.dependencies
        return {f"{r.type.rsplit(':', 1)[-1]} {r.name}" for urn in seen if (r := self.by_urn(urn))}


@cache
def _stack(name: str) -> Any:
    return read_stack(ROOT / "stacks" / f"Pulumi.{name}.yaml").spec


def _plan(base: str, changes: Changes) -> Plan:
    assessment = assess(changed(_stack(STACKS.get(base, base)), changes), TODAY, ROOT / "stacks")
    assert assessment.plan is not None, render(assessment.findings)
    return assessment.plan


@cache
def _run(base: str, changes: str, preview: bool) -> Declared:
    plan = _plan(base, json.loads(changes, object_hook=_restored))
    return Declared(plan, dry_run(plan, preview=preview))


def _restored(value: dict[str, Any]) -> dict[str, Any]:
    return {k: ... if v == "__absent__" else v for k, v in value.items()}


@pytest.fixture(scope="session")
def planned() -> Callable[..., Plan]:
    """The plan of a cloud's example stack (or of a stack by name) with dotted changes; `...` takes a key away."""

    def planned(base: str, changes: Changes | None = None) -> Plan:
        return _plan(base, changes or {})

    return planned


@pytest.fixture(scope="session")
def declared() -> Callable[..., Declared]:
    """The same, run on mocks. `preview` leaves what only the cloud knows unknown."""

    def declared(base: str, changes: Changes | None = None, *, preview: bool = False) -> Declared:
        text = json.dumps(changes or {}, default=lambda value: "__absent__", sort_keys=True)
        return _run(base, text, preview)

    return declared


@pytest.fixture(scope="session")
def cluster(declared: Callable[..., Declared]) -> Callable[[str], Declared]:
    """The dry run of a cluster of tests/clusters.toml."""
    return lambda name: declared(CLUSTERS[name]["stack"], changes_of(name))


@pytest.fixture(params=["aws", "azure"])
def cloud(request: pytest.FixtureRequest) -> str:
    """Contract tests run on both."""
    return request.param
