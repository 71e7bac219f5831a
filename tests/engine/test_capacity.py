"""How nodes get their capacity, under the real engine: what starts, what is told, and how it ends well.

Gang starts on demand that are refused: test_scarcity. What a change does to running nodes: test_changes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from localcloud import events
from localcloud.scarcity import Scarcity
from localcloud.store import Record, Store
from tests.clusters import stack_file

TRIAL = "trial"
FLEET = "aws:ec2/fleet:Fleet"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
GROUP = "aws:autoscaling/group:Group"
BLOCK = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
P5 = ("aws", "p5.48xlarge", "use1-az6")


def one(cloud: Any, kind: str) -> Record:
    (found,) = [record for record in cloud.exists() if record.type == kind]
    return found


def allow(cloud: Any, purchase: str, nodes: int) -> None:
    with closing(Store(cloud.workspace.store_path)) as store:
        Scarcity(store).set_capacity(*P5, purchase, nodes)


def test_a_spot_fleet_that_got_nothing_fails_its_run_and_the_printed_command_starts_it(workspace: Callable[..., Any]):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5", {"nodes.purchase": "spot"}))
    allow(cloud, "spot", 15)
    failed = cloud.up(TRIAL, check=False)
    said = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert "none of the 16 nodes started" in said
    assert "Traceback" not in said
    command = re.search(r"`pulumi up --stack trial (--replace '[^']+')`", said)
    assert command, said
    assert one(cloud, FLEET).outputs["fulfilledCapacity"] == 0

    later = cloud.pulumi("preview", "--stack", TRIAL)
    assert "none of the 16 nodes started" in later.stdout + later.stderr, "to the provider all is well by now"

    allow(cloud, "spot", 16)
    cloud.up(TRIAL, *shlex.split(command[1]))
    assert one(cloud, FLEET).outputs["fulfilledCapacity"] == 16
    quiet = cloud.pulumi("preview", "--stack", TRIAL, "--expect-no-changes")
    assert "nodes started" not in quiet.stdout + quiet.stderr


def test_no_node_on_demand_ends_before_the_spot_fleet_in_its_place_is_whole(workspace: Callable[..., Any]):
    """To the provider an empty fleet is a success: a second run would go on and delete the nodes that run."""
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5"))
    cloud.up(TRIAL)
    cloud.stack(TRIAL, stack_file("aws-p5", {"nodes.purchase": "spot"}))
    allow(cloud, "spot", 0)
    for _ in range(2):
        failed = cloud.up(TRIAL, check=False)
        assert failed.returncode != 0
        assert "none of the 16 nodes started" in failed.stdout + failed.stderr
        assert one(cloud, GROUP).outputs["desiredCapacity"] == 16
    cloud.pulumi("preview", "--stack", TRIAL)
    allow(cloud, "spot", 16)
    cloud.up(TRIAL, "--replace", one(cloud, FLEET).urn)
    assert not [record for record in cloud.exists() if record.type == GROUP]
    assert one(cloud, FLEET).outputs["fulfilledCapacity"] == 16


def test_an_elastic_group_that_somebody_scaled_stays_scaled(workspace: Callable[..., Any]):
    cloud = workspace()
    elastic = {"nodes.start": "elastic", "nodes.max_count": 24}
    cloud.stack(TRIAL, stack_file("aws-p5", elastic))
    allow(cloud, "on-demand", 20)
    cloud.up(TRIAL)
    group = one(cloud, GROUP)
    assert group.outputs["desiredCapacity"] == 16
    with closing(Store(cloud.workspace.store_path)) as store:
        events.drift(store, group.id, "desiredCapacity", 20)
    cloud.pulumi("refresh", "--yes", "--skip-preview", "--stack", TRIAL)
    cloud.stack(TRIAL, stack_file("aws-p5", {**elastic, "tags": {"team": "inference"}}))
    cloud.up(TRIAL)
    assert one(cloud, GROUP).outputs["desiredCapacity"] == 20


def test_an_elastic_scale_set_that_somebody_scaled_stays_scaled(workspace: Callable[..., Any]):
    """Azure is sent the whole of it at every change, the number of nodes too."""
    cloud = workspace()
    elastic = {"nodes.start": "elastic", "nodes.max_count": 24, "storage.filesystem": ...}
    cloud.stack(TRIAL, stack_file("azure-nd-h100", elastic))
    cloud.up(TRIAL)
    with closing(Store(cloud.workspace.store_path)) as store:
        events.drift(store, one(cloud, SCALE_SET).id, "sku.capacity", 24)
    cloud.stack(TRIAL, stack_file("azure-nd-h100", {**elastic, "tags": {"team": "inference"}}))
    cloud.up(TRIAL)
    assert one(cloud, SCALE_SET).outputs["sku"]["capacity"] == 24


def test_an_elastic_start_takes_what_there_is(workspace: Callable[..., Any]):
    cloud = workspace()
    cloud.stack(TRIAL, stack_file("aws-p5", {"nodes.start": "elastic"}))
    allow(cloud, "on-demand", 10)
    for _ in range(2):
        done = cloud.up(TRIAL)
        assert "10 of the 16 nodes run" in done.stdout + done.stderr, "to the provider all is well"
    assert one(cloud, GROUP).outputs["desiredCapacity"] == 16
    allow(cloud, "on-demand", 16)
    with closing(Store(cloud.workspace.store_path)) as store:
        events.kill_nodes(store, one(cloud, GROUP).id, 1)  # what Auto Scaling does in its own time
    done = cloud.up(TRIAL)
    assert "nodes run" not in done.stdout + done.stderr


def test_a_capacity_block_asks_for_no_node_before_it_begins(workspace: Callable[..., Any]):
    cloud = workspace()
    today = datetime.now(UTC).date()
    block = {"nodes.purchase": "capacity-block"}
    for day, nodes in ((today + timedelta(days=3), 0), (today - timedelta(days=1), 16)):
        known = {"id": "cr-0123456789abcdef0", "count": 16, "start": day.isoformat()}
        cloud.stack(TRIAL, stack_file("aws-p5", {**block, "nodes.reservation": known}))
        cloud.up(TRIAL)
        assert one(cloud, GROUP).outputs["desiredCapacity"] == nodes
        assert cloud.outputs(TRIAL)["node_count"] == nodes


def test_a_bought_capacity_block_outlives_the_stack(workspace: Callable[..., Any]):
    from tests.clusters import CLUSTERS, changes_of

    name = "aws-capacity-block-bought"
    cloud = workspace()
    cloud.stack(TRIAL, stack_file(CLUSTERS[name]["stack"], changes_of(name)))
    cloud.up(TRIAL)
    bought = one(cloud, BLOCK)
    assert cloud.outputs(TRIAL)["node_count"] == 16
    refused = cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL, check=False)
    assert refused.returncode != 0
    cloud.pulumi("state", "unprotect", "--all", "--yes", "--stack", TRIAL)
    cloud.pulumi("destroy", "--yes", "--skip-preview", "--stack", TRIAL)
    assert one(cloud, BLOCK).id == bought.id
