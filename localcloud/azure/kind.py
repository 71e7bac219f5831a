"""The row of an Azure resource type. What its judgments share: `refusals`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from localcloud.kinds import Kind
from localcloud.schema import Failure
from localcloud.store import Record
from localcloud.values import UNKNOWN, Properties

_IN_A_GROUP = "/subscriptions/{subscription}/resourceGroups/{resourceGroupName}/providers/"


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureKind(Kind):
    path: str
    """Template of the id over the names of the inputs; without a leading slash or scope it lies in a resource group."""
    api: str = ""
    """The API version that the SDK speaks for this type."""
    shortest: int = 1
    longest: int = 80
    pattern: str = ""
    """Regular expression that the name must match."""
    name_is_uuid: bool = False
    addresses: Callable[[Record], int] | None = None
    """How many addresses one takes in each subnet that it names; None: it takes none."""
    singleton: bool = False
    """Settings that are always there: deleting them sets them back, and takes nothing below with them."""

    @property
    def template(self) -> str:
        return self.path if self.path.startswith(("/", "{")) else _IN_A_GROUP + self.path

    @property
    def parameters(self) -> tuple[str, ...]:
        """The inputs that make the id; the last is the resource's own name."""
        return tuple(name for name in re.findall(r"\{(\w+)\}", self.template) if name != "subscription")

    @property
    def fixed(self) -> tuple[str, ...]:
        return self.immutable + self.parameters

    @property
    def named(self) -> str:
        return self.parameters[-1]

    @property
    def in_a_group(self) -> bool:
        return "resourceGroupName" in self.parameters

    @property
    def arm_type(self) -> str:
        """Microsoft.Network/virtualNetworks/subnets."""
        words = self.template.rpartition("/providers/")[2].split("/")
        return "/".join([words[0], *words[1::2]])

    def parent_template(self) -> str:
        """The id of the resource that this one is a part of, or nothing where that is the group or a scope."""
        own = "{" + self.named + "}"
        before = self.template[: self.template.rindex(own)]
        parent = before[: before.rfind("}") + 1]
        return parent if "/providers/" in parent else ""


def name_failures(kind: AzureKind, inputs: Properties) -> Iterator[Failure]:
    name = inputs.get(kind.named)
    if not isinstance(name, str) or name == UNKNOWN:
        return
    if len(name) < kind.shortest:
        reason = f"'{kind.named}' is too short ({len(name)}): at least {kind.shortest} characters required"
        yield Failure(kind.named, reason)
    elif len(name) > kind.longest:
        reason = f"'{kind.named}' is too long ({len(name)}): at most {kind.longest} characters allowed"
        yield Failure(kind.named, reason)
    if kind.pattern and not re.search(kind.pattern, name):
        yield Failure(kind.named, f"'{kind.named}' does not match expression '{kind.pattern}': got '{name}'")
