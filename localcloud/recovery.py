"""What a run that was killed leaves behind, and how the next one gets past it.

An engine that ends in order, also by Ctrl-C, leaves nothing. One that was killed leaves its lock, and perhaps
the note that a resource was being created. The engine drops such a note by itself; the resource would then
exist on the local cloud unknown to any stack, and keep its name taken.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from localcloud.store import Record, Store


def dead_locks(folder: Path) -> list[int]:
    """The processes that hold the stack's locks, where they ran on this machine and all of them are gone."""
    owners = []
    for path in folder.glob("*.json"):
        try:
            lock = json.loads(path.read_bytes())
            owner, machine = int(lock["pid"]), lock["hostname"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        if machine != platform.node() or is_engine(owner):
            return []
        owners.append(owner)
    return owners


def is_engine(pid: int) -> bool:
    """Whether that process lives and can be the engine: numbers of processes are used again."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except OSError:
        return True  # no /proc here: it lives, and nothing more is known
    return "pulumi" in name and rest.split()[0] != "Z"


def pending_creates(state: Path) -> set[str]:
    """URNs of what was being created when the engine was killed, less what the state holds all the same."""
    try:
        latest = json.loads(state.read_bytes())["checkpoint"]["latest"] or {}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    pending = {op["resource"]["urn"] for op in latest.get("pending_operations") or [] if op["type"] == "creating"}
    return pending - {resource["urn"] for resource in latest.get("resources") or []}


def drop_unknown(path: Path, urns: set[str]) -> list[Record]:
    """Remove from the local cloud what was created and never written down."""
    with closing(Store(path)) as store:
        dropped = [record for record in store.list() if record.urn in urns]
        for record in dropped:
            with store.transaction(record.cloud) as transaction:
                transaction.remove(record)
    return dropped


def drop_torn_attributes(*files: Path) -> None:
    """The backend writes a small file of attributes beside each of its own, in place: torn, it hides the whole one."""
    for path in files:
        try:
            json.loads(path.read_bytes())
        except ValueError:
            path.unlink()


def recover(state: Path, locks: Path, store: Path, cancel: Callable[[], object], say: Callable[[str], None]) -> None:
    """Clear what a killed run left of one stack, and say so. A live run is left alone."""
    owners = dead_locks(locks)
    if owners:
        say(f"An earlier run was killed (process {', '.join(map(str, owners))}): its lock is released.")
        drop_torn_attributes(*state.parent.glob(f"{state.name}*.attrs"), *locks.glob("*.attrs"))
        cancel()
    if any(locks.glob("*.json")):
        return
    if urns := pending_creates(state):
        for record in drop_unknown(store, urns):
            say(f"It had just created {record.id} and could not write that down: dropped from the local cloud.")
