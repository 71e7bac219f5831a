"""The plugin as the engine meets it: a process that prints its port, and goes when it is told or left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from localcloud.store import Record, Store

PROGRAM = "from localcloud.plugin import main; main('aws')"


@contextmanager
def _plugin(path: Path) -> Generator[subprocess.Popen[str]]:
    environment = {**os.environ, "LOCALCLOUD_STORE": str(path)}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "127.0.0.1:1"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_port_and_leaves_silently_at_a_signal(tmp_path: Path, number: signal.Signals):
    with _plugin(tmp_path / "cloud.db") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert 0 < int(process.stdout.readline()) < 65536
        process.send_signal(number)
        assert process.wait(timeout=5) == 0
        assert process.stderr.read() == ""


def test_an_orderly_end_settles_what_the_process_made(tmp_path: Path):
    path = tmp_path / "cloud.db"
    with _plugin(path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        store = Store(path)
        with store.transaction("aws") as tx:
            tx.put(Record(cloud="aws", scope="", type="t", id="a", urn="urn", writer=process.pid))
        process.terminate()
        process.wait(timeout=5)
    assert [record.writer for record in store.list()] == [0]


def test_it_leaves_when_the_engine_was_killed(tmp_path: Path):
    starter = (
        "import subprocess, sys, time\n"
        f"plugin = subprocess.Popen([sys.executable, '-c', {PROGRAM!r}], stdout=subprocess.PIPE, text=True)\n"
        "plugin.stdout.readline()\n"
        "print(plugin.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    environment = {**os.environ, "LOCALCLOUD_STORE": str(tmp_path / "cloud.db")}
    engine = subprocess.Popen([sys.executable, "-c", starter], env=environment, stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    plugin = int(engine.stdout.readline())
    engine.kill()
    engine.wait()
    deadline = time.monotonic() + 10
    while _runs(plugin) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _runs(plugin)


def test_without_a_store_it_says_who_sets_it():
    environment = {key: value for key, value in os.environ.items() if key != "LOCALCLOUD_STORE"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "LOCALCLOUD_STORE" in done.stderr
    assert "gpu-clusters local" in done.stderr
    assert "Traceback" not in done.stderr


def test_starting_imports_no_cloud_sdk_and_nothing_of_pulumi_but_its_protocol():
    program = (
        "import sys; import localcloud.aws.cloud, localcloud.azure.cloud, localcloud.plugin;"
        "print([name for name in sys.modules if name.startswith('pulumi')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _runs(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
