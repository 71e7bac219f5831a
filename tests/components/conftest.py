"""Fixtures: what the real program declares on mocks for the plans of tests/clusters.py, and what its hooks say.

`declared("aws", {"nodes.count": 2})` is the dry run of a cloud's example stack with changes by dotted path, made once
per session and set of changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pulumi
import pytest

from components.dryrun import DryRun, Registered, dry_run
from planning.plan import Plan
from tests.clusters import CLUSTERS, changes_of, planned

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
def _run(base: str, changes: str, preview: bool) -> Declared:
    plan = planned(base, json.loads(changes, object_hook=_restored))
    return Declared(plan, dry_run(plan, preview=preview))


def _restored(value: dict[str, Any]) -> dict[str, Any]:
    return {k: ... if v == "__absent__" else v for k, v in value.items()}


@pytest.fixture(scope="session")
def declared() -> Callable[..., Declared]:
    """A plan of tests/clusters.py, run on mocks. `preview` leaves what only the cloud knows unknown."""

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


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a hook logs."""
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    monkeypatch.setattr(pulumi.log, "error", said.append)
    return said


@pytest.fixture(scope="session")
def hook() -> Callable[[Declared, str], Callable[[Any], Any]]:
    """The one hook of a dry run whose name ends like this."""

    def hook(cluster: Declared, ending: str) -> Callable[[Any], Any]:
        (found,) = [call for name, call in cluster.run.hooks.items() if name.endswith(ending)]
        return found

    return hook
