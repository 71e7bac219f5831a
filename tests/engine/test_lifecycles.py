"""Every whole cluster of tests/clusters.toml under the real engine: it comes up, stays as it is, and goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.clusters import CLUSTERS, changes_of, stack_file

TRIAL = "trial"


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_comes_up_stays_as_it_is_and_goes(workspace: Callable[..., Any], name: str) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(CLUSTERS[name]["stack"], changes_of(name)))
    cloud.up(TRIAL)
    cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes")
    cloud.pulumi("state", "unprotect", "--all", "--yes", "--stack", TRIAL)
    cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL)
    assert cloud.state(TRIAL) == []
