"""What the next run does with what a killed one left."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcloud.recovery import is_engine, recover
from localcloud.store import Record, Store

URN = "urn:pulumi:dev::train::aws:ec2/placementGroup:PlacementGroup::group"
GROUP = Record(cloud="aws", scope="1/us-east-1", type="aws:ec2/placementGroup:PlacementGroup", id="group", urn=URN)
OTHER = Record(cloud="aws", scope="1/us-east-1", type="aws:ec2/vpc:Vpc", id="vpc-1", urn=URN + "-other")


class Remains:
    """One stack after a run, whatever way that one ended."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "dev.json"
        self.locks = folder / "locks"
        self.locks.mkdir()
        self.store = Store(folder / "cloud.db")
        self.cancelled = 0
        self.said: list[str] = []

    def lock(self, pid: int, machine: str = "") -> None:
        (self.locks / f"{pid}.json").write_text(json.dumps({"pid": pid, "hostname": machine or platform.node()}))

    def pending(self, urn: str, known: list[str]) -> None:
        pending = [{"type": "creating", "resource": {"urn": urn}}]
        latest = {"pending_operations": pending, "resources": [{"urn": name} for name in known]}
        self.state.write_text(json.dumps({"checkpoint": {"latest": latest}}))

    def cloud(self, *records: Record) -> None:
        for record in records:
            with self.store.transaction(record.cloud) as transaction:
                transaction.put(record)

    def cancel(self) -> None:
        self.cancelled += 1
        for path in self.locks.iterdir():
            path.unlink()

    def recover(self) -> list[str]:
        recover(self.state, self.locks, self.store.path, self.cancel, self.said.append)
        return [record.id for record in self.store.list()]


@pytest.fixture
def remains(tmp_path: Path) -> Iterator[Remains]:
    made = Remains(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def dead() -> int:
    """The number of a process that is gone."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_the_lock_of_a_process_that_is_gone_is_released_and_said(remains: Remains, dead: int) -> None:
    remains.lock(dead)
    remains.recover()
    assert remains.cancelled == 1
    assert remains.said == [f"An earlier run was killed (process {dead}): its lock is released."]


def test_attributes_that_a_kill_tore_hide_the_state_no_more(remains: Remains, dead: int) -> None:
    """The engine reads them before the state, and ends at an empty file."""
    remains.lock(dead)
    torn, whole, others = (remains.state.with_name(n) for n in ("dev.json.attrs", "dev.json.bak.attrs", "x.json.attrs"))
    torn.touch(), others.touch()
    whole.write_text("{}")
    remains.recover()
    assert [path.exists() for path in (torn, whole, others)] == [False, True, True]


def test_a_lock_from_another_machine_is_not_judged(remains: Remains, dead: int) -> None:
    remains.lock(dead, "elsewhere")
    remains.pending(URN, [])
    remains.cloud(GROUP)
    assert remains.recover() == ["group"]
    assert remains.cancelled == 0


def test_a_lock_that_cannot_be_read_is_left_alone(remains: Remains) -> None:
    (remains.locks / "x.json").write_text("{")
    remains.recover()
    assert remains.cancelled == 0


def test_a_live_run_is_left_alone_with_all_that_it_is_making(remains: Remains, tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.symlink_to("/bin/sleep")
    with subprocess.Popen([engine, "60"]) as process:
        remains.lock(process.pid)
        remains.pending(URN, [])
        remains.cloud(GROUP)
        left = remains.recover()
        process.kill()
    assert left == ["group"]
    assert remains.cancelled == 0


@pytest.mark.skipif(not Path("/proc").exists(), reason="without /proc a live number says no more")
def test_a_number_that_another_program_has_now_is_no_engine() -> None:
    assert not is_engine(os.getpid())


def test_what_was_created_and_never_written_down_is_dropped_and_said(remains: Remains) -> None:
    remains.pending(URN, [OTHER.urn])
    remains.cloud(GROUP, OTHER)
    assert remains.recover() == ["vpc-1"]
    assert "created group and could not write that down" in remains.said[0]


def test_what_the_state_knows_all_the_same_stays(remains: Remains) -> None:
    remains.pending(URN, [URN])
    remains.cloud(GROUP)
    assert remains.recover() == ["group"]
    assert remains.said == []


def test_a_stack_without_state_has_nothing_to_recover(remains: Remains) -> None:
    remains.cloud(GROUP)
    assert remains.recover() == ["group"]
