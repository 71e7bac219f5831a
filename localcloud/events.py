"""What happens to a cloud behind the engine's back: settings that change, nodes that die, spot nodes taken back.

Only a refresh shows it to the engine, as with the real clouds. Ordered by `gpu-clusters local cloud`. Errors that the
clouds answer by themselves: `faults`, `scarcity`. What a dead node leaves: `losses` in the clouds' folders.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

from localcloud.cloud import LocalCloud
from localcloud.diff import covers
from localcloud.kinds import Call
from localcloud.plugin import open_cloud
from localcloud.schema import shape_of
from localcloud.store import Cloud, Record, Store
from localcloud.values import Properties, visible

CLOUDS: tuple[Cloud, ...] = ("aws", "azure-native")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class EventError(Exception):
    """What was asked for cannot happen; the text says why and what to write."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Nodes that died, of one group."""

    group: Record
    ids: tuple[str, ...]
    left: int
    """How many the group has now, those that came in their place included."""


def type_named(store: Store, cloud: Cloud, word: str) -> str:
    """The token of a type by its token or its last word (`Vpc`). Raises EventError."""
    kinds = open_cloud(cloud, store, _silent).kinds
    if word in kinds:
        return word
    found = [token for token, kind in kinds.items() if kind.name.casefold() == word.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        raise EventError(f"{word} can be {' or '.join(found)}: write which.")
    if word.count(":") == 2 and shape_of(cloud, word):
        return word
    names = {name.casefold(): token for token, kind in kinds.items() for name in (token, kind.name)}
    close = [names[n] for n in get_close_matches(word.casefold(), list(names), n=3, cutoff=0.6)]
    hint = f"did you mean {' or '.join(dict.fromkeys(close))}?" if close else f"it knows {', '.join(sorted(kinds))}."
    raise EventError(f"{cloud} has no resource type {word}: {hint}")


def named(store: Store, word: str) -> Record:
    """What exists under an id, a URN, a name, or type/name. Raises EventError."""
    records = [record for record in store.list() if record.urn and not record.lost]
    found = [record for record in records if word in (record.id, record.urn)]
    found = found or [record for record in records if word.casefold() in _names(record)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = "".join(f"\n  {_short(record)}  {record.urn}" for record in found)
        raise EventError(f"{word} names {len(found)} resources; write the id or the URN of one of them:{listed}")
    known = {name: record for record in records for name in _names(record)}
    close = [_short(known[name]) for name in get_close_matches(word.casefold(), list(known), n=3, cutoff=0.6)]
    hint = (
        f"did you mean {' or '.join(dict.fromkeys(close))}?" if close else "`gpu-clusters local cloud show` lists all."
    )
    raise EventError(f"nothing on the local cloud is named {word}: {hint}")


def drift(store: Store, word: str, path: str, value: Any) -> Record:
    """Set one property in the cloud, as a person in its console would; None takes it away. Raises EventError."""
    record = named(store, word)
    cloud = _home(store, record)
    kind, shape = cloud.kind_of(record.type)
    if any(covers(fixed, path) for fixed in kind.fixed):
        raise EventError(f"{path}: no {kind.name} can change it while it exists; only a new one can have another.")
    top = str(_steps(path)[0])
    inputs, outputs = json.loads(json.dumps([record.inputs, record.outputs]))
    if top in shape.properties:
        for name in (path, *_twin(path, inputs)):
            _put(inputs, name, value)
            _put(outputs, name, value)
        said = {key: item for key, item in inputs.items() if key in shape.properties}
        if failures := shape.failures(said):
            raise EventError(failures[0].reason)
    elif top in outputs and not top.startswith("__"):
        _put(outputs, path, value)
    else:
        close = get_close_matches(top, [*shape.properties, *outputs], n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(close)}?" if close else f"it has {', '.join(sorted(visible(outputs)))}."
        raise EventError(f"{top}: a {kind.name} has no such property: {hint}")
    changed = replace(record, inputs=inputs, outputs=outputs)
    with store.transaction(record.cloud) as tx:
        tx.put(changed)
    return changed


def kill_nodes(store: Store, word: str, number: int) -> Loss:
    """Let nodes of one group die. Raises EventError."""
    record = named(store, word)
    running = nodes(record)
    if not running:
        having = [_short(r) for r in store.list() if nodes(r)]
        raise EventError(f"{word} runs no nodes; these do: {', '.join(having) or 'none'}.")
    if number > len(running):
        raise EventError(f"{word} runs {len(running)} nodes; {number} of them cannot die.")
    return _lose(store, record, tuple(id_ for id_, _ in running[-number:]))


def interrupt_spot(store: Store, word: str = "") -> list[Loss]:
    """Take back all spot nodes, or those of one group. Raises EventError."""
    groups = [named(store, word)] if word else store.list()
    spot = [(group, tuple(i for i, purchase in nodes(group) if purchase == "spot")) for group in groups]
    losses = [_lose(store, group, ids) for group, ids in spot if ids]
    if not losses:
        raise EventError(f"{word or 'the local cloud'} runs no spot nodes.")
    return losses


def _home(store: Store, record: Record) -> LocalCloud:
    """The cloud, set to the account and the region in which the record is."""
    cloud = open_cloud(record.cloud, store, _silent)
    if record.cloud == "aws":
        account, _, region = record.scope.partition("/")
        config = {"region": record.outputs.get("region") or region, "allowedAccountIds": [account] if account else []}
        cloud.configure(config)
    else:
        cloud.configure({"subscriptionId": record.id.split("/")[2] if record.id.count("/") > 1 else ""})
    return cloud


def _silent(_urn: str, _text: str) -> None:
    return


def nodes(record: Record) -> list[tuple[str, str]]:
    """Id and purchase option of what a resource runs."""
    return _losses(record.cloud).nodes(record)


def _losses(cloud: Cloud) -> ModuleType:
    return import_module("localcloud.aws.losses" if cloud == "aws" else "localcloud.azure.losses")


def _lose(store: Store, record: Record, ids: tuple[str, ...]) -> Loss:
    cloud = _home(store, record)
    kind, _ = cloud.kind_of(record.type)
    with store.transaction(record.cloud) as tx:
        call = Call(cloud, tx, kind, visible(record.inputs), record.id, record.scope, record)
        left = _losses(record.cloud).without(call, frozenset(ids))
        if left is None:
            tx.remove(record)
        else:
            tx.put(left)
    return Loss(record, ids, len(nodes(left)) if left else 0)


def _names(record: Record) -> set[str]:
    """By which a person may call it, in lower case."""
    name = record.urn.rpartition("::")[2]
    short, own = record.type.rpartition(":")[2], record.id.rpartition("/")[2]
    return {n.casefold() for n in (name, own, *(f"{t}/{n}" for t in (short, record.type) for n in (name, own)))}


def _short(record: Record) -> str:
    return f"{record.type.rpartition(':')[2]}/{record.urn.rpartition('::')[2]}"


def _twin(path: str, inputs: Properties) -> list[str]:
    """The AWS provider keeps tags a second time, with its default tags in them."""
    top, *rest = _steps(path)
    return [path.replace("tags", "tagsAll", 1)] if top == "tags" and rest and "tagsAll" in inputs else []


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = [name or int(index) for name, index in _STEP.findall(path)]
    if not steps or isinstance(steps[0], int):
        raise EventError(f"{path!r} is no property; write one as in sku.capacity or rules[0].status.")
    return steps


def _put(properties: Properties, path: str, value: Any) -> None:
    here: Any = properties
    *above, last = _steps(path)
    for step in above:
        if isinstance(here, dict) and step not in here:
            here[step] = {}
        here = _inside(here, step, path)
    if isinstance(last, int) or not isinstance(here, dict):
        _inside(here, last, path)
        here[last] = value
    elif value is None:
        here.pop(last, None)
    else:
        here[last] = value


def _inside(here: Any, step: str | int, path: str) -> Any:
    try:
        return here[step]
    except (KeyError, IndexError, TypeError):
        raise EventError(f"{path}: there is no {step} in {json.dumps(here)[:60]}") from None
