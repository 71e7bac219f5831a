"""The store under parallel writers, kills and files of others. What it holds: test_store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from localcloud.store import Record, Store, StoreError

WRITERS, TRANSACTIONS = 16, 60
COUNT = """\
import sys
from localcloud.store import Record, Store
store = Store(sys.argv[1])
for _ in range(int(sys.argv[2])):
    with store.transaction("aws") as tx:
        found = tx.get("", "t", "counter")
        n = found.outputs["n"] if found else 0
        tx.put(Record(cloud="aws", scope="", type="t", id="counter", outputs={"n": n + 1}))
        tx.put(Record(cloud="aws", scope="", type="t", id=f"{sys.argv[3]}-{n}"))
"""
FOREVER = """\
import sys
from localcloud.store import Record, Store
store = Store(sys.argv[1])
n = 0
while True:
    with store.transaction("aws") as tx:
        for half in ("left", "right"):
            tx.put(Record(cloud="aws", scope="", type="t", id=half, outputs={"n": n}))
    n += 1
"""


def _start(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)])


def test_sixteen_writers_open_one_new_file_at_once_and_lose_no_transaction(tmp_path: Path):
    path = tmp_path / "cloud.db"
    writers = [_start(COUNT, path, TRANSACTIONS, n) for n in range(WRITERS)]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    records = Store(path).list()
    (counter,) = [record for record in records if record.id == "counter"]
    assert counter.outputs == {"n": WRITERS * TRANSACTIONS}
    assert len(records) == WRITERS * TRANSACTIONS + 1


def test_a_writer_killed_at_any_moment_leaves_a_store_that_opens_and_holds_whole_transactions(tmp_path: Path):
    path = tmp_path / "cloud.db"
    for moment in range(4):
        writer = _start(FOREVER, path)
        _wait_for_rows(path)
        time.sleep(0.003 * moment)
        writer.kill()
        writer.wait()
        store = Store(path)
        left, right = store.list()
        assert left.outputs == right.outputs
        with store.transaction("aws") as tx:
            tx.remove(left)
            tx.remove(right)
        store.close()


def test_a_file_of_an_older_version_is_refused_with_the_way_out(tmp_path: Path):
    path = tmp_path / "cloud.db"
    old = sqlite3.connect(path)
    old.execute("CREATE TABLE resources (cloud TEXT, id TEXT)")
    old.close()
    with pytest.raises(StoreError, match=r"cloud\.db: .* not of this version .* Delete it .* refresh the stacks"):
        Store(path)


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path):
    path = tmp_path / "cloud.db"
    store = Store(path)
    with store.transaction("aws") as tx:
        tx.put(Record(cloud="aws", scope="", type="t", id="a"))
    store.close()
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="its form is 99"):
        Store(path)
    with sqlite3.connect(path) as newer:
        assert newer.execute("SELECT id FROM resources").fetchall() == [("a",)]


def test_a_database_of_something_else_is_never_written_to(tmp_path: Path):
    path = tmp_path / "cloud.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE people (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not of this version"):
        Store(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StoreError, match=str(tmp_path / "taken")):
        Store(tmp_path / "taken" / "cloud.db")


def test_damage_that_shows_later_is_an_error_with_the_way_out(tmp_path: Path):
    path = tmp_path / "cloud.db"
    store = Store(path)
    with store.transaction("aws") as tx:
        for n in range(200):
            tx.put(Record(cloud="aws", scope="", type="t", id=str(n), outputs={"text": "x" * 200}))
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cloud\.db: .* delete the file to start with an empty cloud"):
        Store(path).list()


def _wait_for_rows(path: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if path.exists() and path.stat().st_size:
            with sqlite3.connect(path, timeout=20) as reader:
                try:
                    if reader.execute("SELECT count(*) FROM resources").fetchone()[0]:
                        return
                except sqlite3.OperationalError:  # its tables are being made
                    pass
        time.sleep(0.002)
    pytest.fail("the writer wrote nothing")
