"""The life of a resource on the local cloud, the same for both clouds.

Wire protocol: `provider`. Types: the clouds' own folders.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from localcloud import faults
from localcloud.diff import Change, differences, replacing
from localcloud.holding import refuse_while_in_use
from localcloud.kinds import Call, CloudError, Kind, Ref, Refusal, UnfinishedError
from localcloud.naming import Naming
from localcloud.scarcity import Scarcity
from localcloud.schema import Failure, Shape, shape_of, unknown_type
from localcloud.store import Cloud, Record, Store, Transaction
from localcloud.timing import overdue
from localcloud.values import UNKNOWN, Properties, at, first, visible

Log = Callable[[str, str], None]
"""(urn, warning) -> None."""


@dataclass(frozen=True, slots=True)
class Old:
    """What the engine's state holds of a resource."""

    inputs: Properties
    outputs: Properties


class LocalCloud(ABC):
    name: ClassVar[Cloud]
    kinds: ClassVar[Mapping[str, Any]]
    invokes: ClassVar[Mapping[str, Callable[..., Properties]]]
    states_what_it_wants: ClassVar[bool]
    """True: the provider plans against the state, so that a failed update leaves the wanted values in it, and the
    next `up` finds nothing to do. False: it writes the whole resource again whenever it is asked to update."""

    def __init__(self, store: Store, log: Log) -> None:
        self.store = store
        self.log = log
        self.scarcity = Scarcity(store)

    # What each cloud says for itself.

    @abstractmethod
    def check_config(self, config: Properties) -> Iterable[Failure]: ...

    @abstractmethod
    def configure(self, config: Properties) -> None: ...

    def typed(self, shape: Shape, inputs: Properties) -> Properties:
        """Inputs with what the provider converts to the declared types by itself."""
        return inputs

    @abstractmethod
    def fill(self, naming: Naming, kind: Kind, shape: Shape, inputs: Properties) -> Iterable[Failure]:
        """Complete the inputs in place: generated names, defaults, tags."""

    @abstractmethod
    def unmodelled(self, token: str, shape: Shape) -> Kind:
        """A row for a type that has none."""

    @abstractmethod
    def scope_of(self, kind: Kind, properties: Properties) -> str: ...

    @abstractmethod
    def new_id(self, tx: Transaction, kind: Kind, inputs: Properties) -> str:
        """The id, or a refusal where it is taken."""

    @abstractmethod
    def common_outputs(self, call: Call) -> Properties: ...

    @abstractmethod
    def is_ours(self, tx: Transaction, value: str) -> bool:
        """Whether an id looks as if this local cloud had made it."""

    def applies(self, ref: Ref, value: str) -> bool:
        """Whether a value can name what the reference is for at all (`gatewayId` takes several types)."""
        return True

    @abstractmethod
    def missing(self, ref: Ref, path: str, value: str) -> Refusal: ...

    @abstractmethod
    def error(self, doing: str, kind: Kind, id_: str, refusal: Refusal) -> str: ...

    def beyond_the_model(self, kind: Kind, inputs: Properties) -> Iterable[Failure]:
        """What the provider refuses at preview because of the service's own model."""
        return ()

    def judge_by_the_model(self, call: Call) -> None:
        """The same of the service, at creation and at update."""
        return None

    def region_of(self, properties: Properties) -> str:
        """Where a resource is, on a cloud whose ids do not say it."""
        return ""

    def as_outputs(self, inputs: Properties, call: Call | None = None) -> Properties:
        """Inputs in the form in which the cloud gives them back. No call: in preview."""
        return visible(inputs)

    def delete_first(self, kind: Kind, old: Properties, new: Properties) -> bool:
        """Whether the old one must go before the new one comes, because their names collide."""
        return False

    def same(self, path: str, old: Any, new: Any) -> bool:
        """Whether the cloud takes two different values for the same."""
        return old == new

    # The life.

    def kind_of(self, token: str) -> tuple[Kind, Shape]:
        shape = shape_of(self.name, token)
        if shape is None:
            raise Refusal("InvalidResourceType", unknown_type(self.name, token))
        return self.kinds.get(token) or self.unmodelled(token, shape), shape

    def check(self, token: str, news: Properties, naming: Naming) -> tuple[Properties, list[Failure]]:
        try:
            kind, shape = self.kind_of(token)
        except Refusal as refusal:
            return news, [Failure("", refusal.message)]
        inputs = self.typed(shape, visible(news))
        failures = shape.failures(inputs)
        if failures:
            return inputs, failures
        failures = list(self.fill(naming, kind, shape, inputs))
        failures += kind.check(inputs)
        said = {failure.path for failure in failures}
        failures += [failure for failure in self.beyond_the_model(kind, inputs) if failure.path not in said]
        if not kind.modelled:
            self.log(
                naming.urn,
                f"the local cloud knows the shape of {token} but not its behaviour: names and types of its inputs were "
                f"checked, nothing else",
            )
        return inputs, failures

    def diff(self, token: str, old: Old, new: Properties) -> Change:
        kind, _ = self.kind_of(token)
        found = {
            path: how
            for path, how in differences(visible(old.inputs), visible(new), self.same)
            if not (self.states_what_it_wants and _is_stated(path, old.outputs, new))
        }
        # Saying what the cloud had chosen by itself changes nothing.
        candidates = [
            p for p, how in found.items() if not (how == "add" and first(new, p) == first(old.outputs, p, ""))
        ]
        replaces = replacing(candidates, (*kind.fixed, *kind.replaces(old.inputs, new)), old.inputs, new)
        return Change(found, replaces, bool(replaces) and self.delete_first(kind, old.inputs, new))

    def create(
        self, urn: str, token: str, inputs: Properties, *, preview: bool, timeout: float = 0
    ) -> tuple[str, Properties]:
        kind, shape = self.kind_of(token)
        if preview:
            return "", {**dict.fromkeys(shape.outputs, UNKNOWN), **self.as_outputs(inputs)}
        id_ = ""
        try:
            self._strike(urn, kind, "create")
            with self.store.transaction(self.name) as tx:
                _forget_lost(tx, urn)
                id_ = self.new_id(tx, kind, inputs)
                call, outputs = self._write(tx, urn, kind, inputs, id_, self.scope_of(kind, inputs), None)
        except Refusal as refusal:
            raise CloudError(self.error("creating", kind, id_, refusal)) from refusal
        if late := overdue(self.name, token, "create", timeout):
            call.unfinished(late)
        struck, _ = faults.strike(self.store, self.name, token, "after-create")
        self._end("creating", call, inputs, outputs, struck)
        return id_, outputs

    def read(self, token: str, id_: str, properties: Properties) -> Record | None:
        kind, _ = self.kind_of(token)
        with self.store.transaction(self.name) as tx:
            record = tx.get(self.scope_of(kind, properties), token, id_)
            if record is not None and record.writer:  # the engine asks for it, so it knows of it
                record = replace(record, writer=0)
                tx.put(record)
            if record is None and kind.elsewhere and not self.is_ours(tx, id_):
                outputs = kind.elsewhere(id_, self.region_of(properties))
                record = Record(cloud=self.name, scope="", type=token, id=id_, outputs=outputs)
            return record

    def update(self, urn: str, token: str, id_: str, old: Old, inputs: Properties, *, preview: bool) -> Properties:
        kind, _ = self.kind_of(token)
        if preview:
            unknown = kind.volatile(visible(old.inputs), visible(inputs))
            return {**old.outputs, **self.as_outputs(inputs), **dict.fromkeys(unknown, UNKNOWN)}
        if self.states_what_it_wants and not self.diff(token, old, inputs).properties:
            return old.outputs  # also after a failure that the state covers up: only a refresh shows it
        scope = self.scope_of(kind, old.outputs)
        try:
            self._strike(urn, kind, "update")
            with self.store.transaction(self.name) as tx:
                record = tx.get(scope, token, id_)
                if record is None:
                    self._make_way(tx, kind, id_, inputs)
                call, outputs = self._write(tx, urn, kind, inputs, id_, scope, record)
        except Refusal as refusal:
            text = self.error("updating", kind, id_, refusal)
            if self.states_what_it_wants:
                gone = visible(old.inputs).keys() - inputs.keys()
                stated = {key: value for key, value in old.outputs.items() if key not in gone}
                raise UnfinishedError(id_, inputs, {**stated, **self.as_outputs(inputs)}, [text]) from refusal
            raise CloudError(text) from refusal
        self._end("updating", call, inputs, outputs)
        return outputs

    def _make_way(self, tx: Transaction, kind: Kind, id_: str, inputs: Properties) -> None:
        if self.states_what_it_wants:
            gone = Refusal("", "it does not exist any more: run `pulumi refresh`, then `pulumi up`")
            raise CloudError(self.error("updating", kind, id_, gone))
        self.new_id(tx, kind, inputs)  # writing it makes it anew, if the place for it is still there

    def _write(
        self,
        tx: Transaction,
        urn: str,
        kind: Kind,
        inputs: Properties,
        id_: str,
        scope: str,
        record: Record | None,
    ) -> tuple[Call, Properties]:
        """Judge and do a creation, or an update of `record`."""
        call = Call(self, tx, kind, visible(inputs), id_, scope, record, urn)
        self._judge(call, urn)
        if record is None:
            given = kind.create(call)
            record = Record(cloud=self.name, scope=scope, type=kind.token, id=id_, writer=os.getpid())
        else:
            gone = visible(record.inputs).keys() - inputs.keys()
            given = {key: value for key, value in record.outputs.items() if key not in gone}
        outputs = self._outputs(call, given)
        tx.put(replace(record, urn=urn, inputs=inputs, outputs=outputs))
        return call, outputs

    def _end(
        self, doing: str, call: Call, inputs: Properties, outputs: Properties, struck: Refusal | None = None
    ) -> None:
        """Say what a request that is done left unfinished."""
        refusals = [*([struck] if struck else []), *(Refusal("", reason) for reason in call.reasons)]
        if refusals:
            reasons = [self.error(doing, call.kind, call.id, refusal) for refusal in refusals]
            raise UnfinishedError(call.id, inputs, outputs, reasons)

    def _strike(self, urn: str, kind: Kind, operation: faults.Operation) -> None:
        struck, warning = faults.strike(self.store, self.name, kind.token, operation)
        if warning:
            self.log(urn, warning)
        if struck:
            raise struck

    def delete(self, token: str, id_: str, olds: Properties, *, urn: str = "", timeout: float = 0) -> None:
        kind, _ = self.kind_of(token)
        try:
            self._strike(urn, kind, "delete")
            with self.store.transaction(self.name) as tx:
                record = tx.get(self.scope_of(kind, olds), token, id_)
                if record is None:
                    return
                call = Call(self, tx, kind, visible(record.inputs), id_, record.scope, record)
                self.refuse_while_in_use(call)
                kind.delete(call)
                self.remove(call)
        except Refusal as refusal:
            raise CloudError(self.error("deleting", kind, id_, refusal)) from refusal
        if late := overdue(self.name, token, "delete", timeout):
            raise CloudError(self.error("deleting", kind, id_, Refusal("", late)))

    def remove(self, call: Call) -> None:
        if call.old is not None:
            call.tx.remove(call.old)

    def invoke(self, token: str, args: Properties) -> Properties:
        function = self.invokes.get(token)
        if function is None:
            known = ", ".join(sorted(self.invokes))
            raise CloudError(
                f"{token}: the local cloud does not answer this function; it answers {known}. "
                "Give the program the value as configuration instead."
            )
        try:
            return function(self, args)
        except Refusal as refusal:
            raise CloudError(f"invoking {token}: {refusal.code}: {refusal.message}") from refusal

    def find(self, call: Call, token: str, value: Any, by: str) -> Record | None:
        tx, scope = call.tx, self.scope_of(self.kinds[token], call.inputs)
        if by == "id":
            return tx.get(scope, token, str(value))
        return next((r for r in tx.of_type(token, scope) if r.outputs.get(by) == value), None)

    # Judgments that need no row.

    def _judge(self, call: Call, urn: str) -> None:
        self.judge_by_the_model(call)
        for ref in call.kind.refs:
            for path, value in at(call.inputs, ref.path):
                if not self.applies(ref, str(value)) or call.find(ref.target, value, ref.by) is not None:
                    continue
                if ref.strict or self.is_ours(call.tx, str(value)):
                    raise self.missing(ref, path, str(value))
                self.log(urn, f"{path}: {value} is not of this local cloud; taken as something that exists")
        call.kind.judge(call)

    def _outputs(self, call: Call, given: Properties) -> Properties:
        # Later ones win: what the type says itself, over what was said, over what all types have.
        return {**self.common_outputs(call), **given, **self.as_outputs(call.inputs, call), **call.kind.derive(call)}

    def refuse_while_in_use(self, call: Call, within: str = "") -> None:
        refuse_while_in_use(self.kinds.values(), call, within)


def _is_stated(path: str, outputs: Properties, wanted: Properties) -> bool:
    """Whether the state has the wanted value of the property that the path lies in."""
    top = re.split(r"[.\[]", path, maxsplit=1)[0]
    return outputs.get(top) == wanted.get(top)


def _forget_lost(tx: Transaction, urn: str) -> None:
    """What a killed run had made for a resource that the engine, not knowing of it, now makes again."""
    for record in tx.of_urn(urn):
        if record.lost:
            tx.remove(record)
