"""The vocabulary in which each cloud describes its resource types: one row (`Kind`) per type.

A row holds data, and its judgments as functions. What is done with it: `cloud`. The rows: the clouds' own folders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from localcloud.schema import Failure
from localcloud.store import Record, Transaction
from localcloud.values import Properties

if TYPE_CHECKING:
    from localcloud.cloud import LocalCloud


class Refusal(Exception):  # noqa: N818 - it is one, and no error of ours
    """The cloud says no, with its own code."""

    def __init__(self, code: str, message: str, *, status: int = 400, target: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.target = target
        """Path of the property that is wrong, where the cloud says it."""


class CloudError(Exception):
    """A refusal in the words of the cloud, for the engine to show."""


class UnfinishedError(CloudError):
    """It has an id, and the cloud did not do all of it: the engine keeps it in its state and tries again."""

    def __init__(self, id_: str, inputs: Properties, outputs: Properties, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.id = id_
        self.inputs = inputs
        self.outputs = outputs
        self.reasons = reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """An input that names another resource."""

    path: str
    """Where in the inputs, as in `networkInterfaces[].securityGroups[]`."""
    target: str
    """Token of the type that it names."""
    by: str = "id"
    """What the value holds: `id`, or the name of an output of the target."""
    holds: bool | Callable[[Record], bool] = True
    """Whether the target cannot be deleted while this one exists."""
    says: str = ""
    """What the cloud then says, where it is not what the target's row says."""
    strict: bool = False
    """Refuse a name that is not in the store. Ids that look like ours are always refused then; other
    ids and names are taken for things that were there before."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that changes the cloud, inside its transaction."""

    cloud: LocalCloud
    tx: Transaction
    kind: Kind
    inputs: Properties
    id: str
    scope: str
    old: Record | None = None
    """What existed before an update or a delete."""
    urn: str = ""
    reasons: list[str] = field(default_factory=list)

    def unfinished(self, reason: str) -> None:
        """Of a creation or an update: the resource is there as its outputs say, and the request ends in an error
        all the same (a wait that timed out, nodes that could not be had)."""
        self.reasons.append(reason)

    def warn(self, text: str) -> None:
        """Tell the user what this cloud cannot judge."""
        self.cloud.log(self.urn, text)

    @property
    def region(self) -> str:
        return self.cloud.region_of(self.inputs)

    def find(self, token: str, value: Any, by: str = "id") -> Record | None:
        return self.cloud.find(self, token, value, by)

    def others(self, token: str | None = None) -> list[Record]:
        """What exists of a type (by default this one) in the same scope, without this one."""
        records = self.tx.of_type(token or self.kind.token, self.scope)
        return [r for r in records if not r.lost and not (r.type == self.kind.token and r.id == self.id)]


def nothing(_: Call) -> Properties:
    return {}


def no_failures(_: Properties) -> Iterable[Failure]:
    return ()


def never(_old: Properties, _new: Properties) -> Iterable[str]:
    return ()


def no_judgment(_: Call) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One resource type. Paths are dotted, without indices."""

    token: str
    immutable: tuple[str, ...] = ()
    """Properties whose change replaces the resource."""
    replaces: Callable[[Properties, Properties], Iterable[str]] = never
    """The same where it depends on the values: (old, new) -> paths."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the provider sends where the program says nothing."""
    refs: tuple[Ref, ...] = ()
    check: Callable[[Properties], Iterable[Failure]] = no_failures
    """Rules on the values that preview can see. Unknown values occur."""
    judge: Callable[[Call], None] = no_judgment
    """What the cloud refuses at creation and at update."""
    create: Callable[[Call], Properties] = nothing
    """Outputs that are given once, at creation."""
    derive: Callable[[Call], Properties] = nothing
    """Outputs that follow from inputs and store, at creation and at every update."""
    volatile: Callable[[Properties, Properties], Iterable[str]] = never
    """Outputs that an update from old to new inputs changes, so that preview does not know them."""
    delete: Callable[[Call], None] = no_judgment
    """What the cloud refuses, or leaves behind, at deletion."""
    elsewhere: Callable[[str, str], Properties] | None = None
    """What a read says of one that no stack made here: (id, region) -> outputs. None: there is none."""
    in_use: tuple[str, str] = ("DependencyViolation", "resource {id} has a dependent object")
    """Code and message while something depends on it."""
    modelled: bool = True

    @property
    def fixed(self) -> tuple[str, ...]:
        """All that replaces, whatever its value."""
        return self.immutable

    @property
    def name(self) -> str:
        return self.token.rpartition(":")[2]
