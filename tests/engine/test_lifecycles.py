"""Every whole cluster of tests/clusters.toml under the real engine: it comes up, and goes but for what it retains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.clusters import CLUSTERS, changes_of, stack_file

TRIAL = "trial"
STORES = (":Bucket", ":StorageAccount", ":LustreFileSystem", ":AmlFilesystem")
LOOKS = ("existing", "elastic", "spot", "linked", "key", "block")
"""In the names of clusters that read, ignore or leave open what the cloud fills in: they stay as they are, too."""


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_comes_up_and_goes(workspace: Callable[..., Any], name: str) -> None:
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(CLUSTERS[name]["stack"], changes_of(name)))
    cloud.up(TRIAL)
    if any(word in name for word in LOOKS):
        cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes")
    cloud.pulumi("state", "unprotect", "--all", "--yes", "--stack", TRIAL)
    cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL)
    assert cloud.state(TRIAL) == []
    stores = {record.type for record in cloud.exists() if record.type.endswith(STORES)}
    retains = changes_of(name).get("storage.on_delete") == "retain"
    assert bool(stores) == retains, "data is left where it is retained, and nowhere else"
