"""The store: what survives, what is atomic, what a killed run leaves. Judgments on what it holds: test_types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from localcloud.store import Record, Store, StoreError

_A_DEAD_PROCESS = 2**22 + 1
"""Above the largest process id that Linux gives."""


def _record(id_: str, **fields: object) -> Record:
    return Record(**{"cloud": "aws", "scope": "1/us-east-1", "type": "t", "id": id_, "urn": "urn", **fields})  # ty: ignore


def _put(store: Store, *records: Record) -> None:
    for record in records:
        with store.transaction(record.cloud) as tx:
            tx.put(record)


def test_what_was_written_is_there_for_the_next_process(tmp_path: Path):
    path = tmp_path / "cloud.db"
    first = Store(path)
    _put(first, _record("a", inputs={"n": 1}, outputs={"arn": "x"}))
    first.close()
    (found,) = Store(path).list()
    assert (found.id, found.inputs, found.outputs) == ("a", {"n": 1}, {"arn": "x"})
    assert found.created


def test_a_transaction_that_fails_leaves_nothing(store: Store):
    def half_done() -> None:
        with store.transaction("aws") as tx:
            tx.put(_record("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_done()
    assert store.list() == []


def test_one_id_may_exist_in_two_regions_and_as_two_types(store: Store):
    _put(store, _record("a"), _record("a", scope="1/eu-west-1"), _record("a", type="u"))
    with store.transaction("aws") as tx:
        assert len(list(tx.of_type("t"))) == 2
        assert len(list(tx.of_type("t", "1/us-east-1"))) == 1


def test_azure_ids_are_found_whatever_their_case(store: Store):
    _put(store, _record("/subscriptions/S/resourceGroups/Rg", cloud="azure-native", scope=""))
    with store.transaction("azure-native") as tx:
        found = tx.get("", "t", "/subscriptions/s/RESOURCEGROUPS/rg")
    assert found is not None
    assert found.id == "/subscriptions/S/resourceGroups/Rg"


def test_below_finds_children_and_not_names_that_begin_alike(store: Store):
    for id_ in ("/g/one", "/g/one/child/x", "/g/onetwo"):
        _put(store, _record(id_, cloud="azure-native"))
    with store.transaction("azure-native") as tx:
        assert [record.id for record in tx.below("/g/one")] == ["/g/one/child/x"]


def test_leftovers_are_what_no_stack_manages(store: Store):
    _put(store, _record("managed"), _record("backup", urn=""))
    assert [record.id for record in store.leftovers()] == ["backup"]
    assert [record.id for record in store.drop_leftovers()] == ["backup"]
    assert [record.id for record in store.list()] == ["managed"]


def test_what_a_killed_process_made_counts_as_lost_until_it_is_settled(store: Store):
    _put(store, _record("lost", writer=_A_DEAD_PROCESS), _record("running", writer=os.getpid()))
    assert {record.id: record.lost for record in store.list()} == {"lost": True, "running": False}
    store.settle(_A_DEAD_PROCESS)
    assert store.leftovers() == []


def test_reset_forgets_everything(store: Store):
    _put(store, _record("a"))
    store.reset()
    assert store.list() == []


def test_four_processes_write_at_once_and_lose_nothing(tmp_path: Path):
    path = tmp_path / "cloud.db"
    program = (
        "import sys\n"
        "from localcloud.store import Record, Store\n"
        "store = Store(sys.argv[1])\n"
        "for i in range(50):\n"
        "    with store.transaction('aws') as tx:\n"
        "        n = len(list(tx.of_type('t')))\n"
        "        tx.put(Record(cloud='aws', scope='', type='t', id=f'{sys.argv[2]}-{i}', outputs={'n': n}))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), str(n)]) for n in range(4)]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    counts = sorted(record.outputs["n"] for record in Store(path).list())
    assert counts == list(range(200)), "each writer saw all that was written before it"


def test_a_file_that_is_no_database_is_refused_with_the_way_out(tmp_path: Path):
    path = tmp_path / "cloud.db"
    path.write_text("not a database, and long enough to be read as a header of one" * 20)
    with pytest.raises(StoreError, match=r"cloud\.db: .* delete the file to start with an empty cloud"):
        Store(path)
