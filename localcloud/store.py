"""The one SQLite file that is the local cloud: what exists, on both clouds, for all stacks.

It holds no opinion of its own.

Safe for parallel plugins and for a kill at any moment: WAL, and every change inside BEGIN IMMEDIATE (a plain BEGIN
loses to "database is locked" when two readers want to become writers).
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Cloud = Literal["aws", "azure-native"]

_TABLE = """
CREATE TABLE IF NOT EXISTS resources (
    cloud TEXT NOT NULL, scope TEXT NOT NULL, type TEXT NOT NULL, key TEXT NOT NULL,
    id TEXT NOT NULL, urn TEXT NOT NULL, inputs TEXT NOT NULL, outputs TEXT NOT NULL, created TEXT NOT NULL,
    writer INTEGER NOT NULL,
    PRIMARY KEY (cloud, scope, type, key)
) WITHOUT ROWID
"""
_SETTINGS = "CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
_APPLICATION = 0x67707563
"""Marks the file as ours (SQLite's application_id)."""
_VERSION = 1
"""Of the tables, raised with any change of them. There is no upgrade: a local cloud can be made anew."""
_COLUMNS = "cloud, scope, type, id, urn, inputs, outputs, created, writer"
_WAIT_SECONDS = 60


class StoreError(Exception):
    """The file cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing that exists."""

    cloud: Cloud
    scope: str
    """Where the id is unique: account/region, account, or nothing for names that the whole world shares."""
    type: str
    id: str
    urn: str = ""
    """Empty for what no stack manages: kept backups, objects that a job wrote."""
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    created: str = ""
    writer: int = 0
    """The process that made it, until it is sure that the engine has noted it; 0 then."""

    @property
    def lost(self) -> bool:
        """Made, but its maker was killed, and no engine has named it since: nobody may know of it."""
        return self.writer != 0 and not _is_alive(self.writer)

    @property
    def key(self) -> str:
        # Azure compares names without case; the id keeps the case it was made with.
        return self.id.casefold() if self.cloud == "azure-native" else self.id


class Transaction:
    """Reads and writes that see one moment and happen whole or not at all."""

    def __init__(self, connection: sqlite3.Connection, cloud: Cloud) -> None:
        self._connection = connection
        self._cloud = cloud

    def get(self, scope: str, type_: str, id_: str) -> Record | None:
        record = Record(cloud=self._cloud, scope=scope, type=type_, id=id_)
        rows = self._select("scope = ? AND type = ? AND key = ?", scope, type_, record.key)
        return next(rows, None)

    def of_type(self, type_: str, scope: str | None = None) -> Iterator[Record]:
        if scope is None:
            return self._select("type = ?", type_)
        return self._select("scope = ? AND type = ?", scope, type_)

    def of_urn(self, urn: str) -> Iterator[Record]:
        return self._select("urn = ?", urn)

    def with_id(self, id_: str) -> list[Record]:
        """What has this id, whatever its type (Azure, where ids hold the type)."""
        return list(self._select("key = ?", id_.casefold()))

    def all(self) -> Iterator[Record]:
        return self._select("1")

    def below(self, id_: str) -> Iterator[Record]:
        """What has an id under this one, at any depth (Azure: children of a resource, contents of a group)."""
        prefix = id_.casefold() + "/"
        return self._select("substr(key, 1, ?) = ?", len(prefix), prefix)

    def put(self, record: Record) -> None:
        created = record.created or datetime.now(UTC).isoformat(timespec="seconds")
        row = (record.cloud, record.scope, record.type, record.key, record.id, record.urn)
        bodies = (_dump(record.inputs), _dump(record.outputs), created, record.writer)
        self._connection.execute("INSERT OR REPLACE INTO resources VALUES (?,?,?,?,?,?,?,?,?,?)", row + bodies)

    def remove(self, record: Record) -> None:
        self._connection.execute(
            "DELETE FROM resources WHERE cloud = ? AND scope = ? AND type = ? AND key = ?",
            (record.cloud, record.scope, record.type, record.key),
        )

    def _select(self, where: str, *values: object) -> Iterator[Record]:
        query = f"SELECT {_COLUMNS} FROM resources WHERE cloud = ? AND {where} ORDER BY created, id"
        return iter([_record(row) for row in self._connection.execute(query, (self._cloud, *values))])


Records = list[Record]
Rows = list[Any]


class Store:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"{self.path}: the local cloud's store cannot be opened ({error}). "
                "Free the disk or the folder, or delete the file to start with an empty cloud."
            ) from error

    def _prepare(self) -> None:
        """Make the tables in a new file; refuse a file with others. Several processes may do it at once."""
        if self._form() != (_APPLICATION, _VERSION):
            self._connection.execute("BEGIN IMMEDIATE")
            if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._connection.execute(_TABLE)
                self._connection.execute(_SETTINGS)
                self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {_VERSION}")
            self._connection.execute("COMMIT")
        if (form := self._form()) != (_APPLICATION, _VERSION):
            self._connection.close()
            raise StoreError(
                f"{self.path}: this file is not of this version of the local cloud (its form is {form[1]}, needed is "
                f"{_VERSION}). Delete it to start with an empty cloud, then refresh the stacks that were on it."
            )
        self._patiently("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _form(self) -> tuple[int, int]:
        """Whose file it is, and of which version."""
        marks = (self._connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        application, version = (mark[0] for mark in marks)
        return application, version

    def _patiently(self, statement: str) -> None:
        """Where SQLite answers "locked" at once, without the wait that it grants to transactions."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._connection.execute(statement)
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def transaction(self, cloud: Cloud) -> Generator[Transaction]:
        with self._lock:
            self._execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(self._connection, cloud)
            except BaseException:
                if self._connection.in_transaction:  # a full disk has already undone it
                    self._connection.execute("ROLLBACK")
                raise
            self._execute("COMMIT")

    def _execute(self, statement: str, values: tuple[object, ...] = ()) -> Rows:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(
                f"{self.path}: the local cloud's store failed ({error}); nothing was changed. "
                "Free the disk, or delete the file to start with an empty cloud."
            ) from error

    def list(self, cloud: Cloud | None = None) -> Records:
        """Everything that exists, oldest first."""
        where, values = ("WHERE cloud = ?", (cloud,)) if cloud else ("", ())
        query = f"SELECT {_COLUMNS} FROM resources {where} ORDER BY created, cloud, type, id"
        with self._lock:
            return [_record(row) for row in self._execute(query, values)]

    def settings(self, prefix: str) -> dict[str, Any]:
        """What commands have set under names that begin so."""
        query = "SELECT name, value FROM settings WHERE substr(name, 1, ?) = ? ORDER BY name"
        with self._lock:
            rows = self._execute(query, (len(prefix), prefix))
        return {name: json.loads(value) for name, value in rows}

    def set(self, name: str, value: Any) -> None:
        """None takes the setting away."""
        with self._lock:
            if value is None:
                self._execute("DELETE FROM settings WHERE name = ?", (name,))
            else:
                self._execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value)))

    def leftovers(self) -> Records:
        """What no stack manages and no destroy removes: kept backups, objects in buckets, what killed runs made."""
        return [record for record in self.list() if not record.urn or record.lost]

    def drop_leftovers(self) -> Records:
        """Drop them all (the last step of `make down`); answers what was dropped."""
        dropped = self.leftovers()
        for record in dropped:
            with self.transaction(record.cloud) as transaction:
                transaction.remove(record)
        return dropped

    def settle(self, writer: int, patience: float = 1.0) -> None:
        """The engine ends this process in good order, so it has noted all that the process made."""
        if not self._lock.acquire(timeout=patience):
            return
        try:
            self._connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            self._connection.execute("UPDATE resources SET writer = 0 WHERE writer = ?", (writer,))
        except sqlite3.Error:  # they stay doubtful, which the next run settles
            return
        finally:
            self._lock.release()

    def reset(self) -> None:
        """Forget everything: an empty cloud."""
        with self._lock:
            self._execute("DELETE FROM resources")
            self._execute("DELETE FROM settings")

    def close(self) -> None:
        self._connection.close()


def _dump(properties: dict[str, Any]) -> str:
    return json.dumps(properties, separators=(",", ":"), sort_keys=True)


def _record(row: tuple[Any, ...]) -> Record:
    cloud, scope, type_, id_, urn, inputs, outputs, created, writer = row
    return Record(
        cloud=cloud,
        scope=scope,
        type=type_,
        id=id_,
        urn=urn,
        inputs=json.loads(inputs),
        outputs=json.loads(outputs),
        created=created,
        writer=writer,
    )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
