"""What stands in the way of a deletion: other resources whose inputs name the one that shall go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from localcloud.kinds import Call, Kind, Ref, Refusal
from localcloud.store import Record
from localcloud.values import at, visible


def refuse_while_in_use(kinds: Iterable[Kind], call: Call, within: str = "") -> None:
    """`within`: an id below which everything goes at once, so that nothing there holds anything."""
    record = call.old
    assert record is not None
    for kind in kinds:
        for ref in kind.refs:
            if ref.target == record.type and ref.holds is not False:
                _refuse_while_held(call, record, kind, ref, within)


def _refuse_while_held(call: Call, record: Record, kind: Kind, ref: Ref, within: str) -> None:
    wanted = record.key if ref.by == "id" else record.outputs.get(ref.by)
    for other in call.tx.of_type(kind.token):
        if not other.scope.startswith(record.scope) or (other.key, other.type) == (record.key, record.type):
            continue
        if within and other.key.startswith(f"{within.casefold()}/"):
            continue
        if callable(ref.holds) and not ref.holds(other):
            continue
        if other.lost:
            call.tx.remove(other)
            continue
        for path, value in at(visible(other.inputs), ref.path):
            held = replace(record, id=str(value)).key if ref.by == "id" else value
            if held == wanted:
                code, message = call.kind.in_use
                text = (ref.says or message).format(id=record.id, other=other.id, name=record.id.rpartition("/")[2])
                raise Refusal(code, f"{text} (held by {kind.name} {other.id}, {path})", status=409)
