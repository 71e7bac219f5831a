"""Azure as the local cloud plays it: ids, names, locations and errors of all types.

The types: the modules beside this one.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from localcloud.azure import (
    compute,
    filesystem,
    identity,
    invokes,
    models,
    network,
    objects,
    operations,
    outbound,
    private_link,
    scale_sets,
    security_groups,
    tags,
)
from localcloud.azure.kind import AzureKind, name_failures
from localcloud.azure.refusals import folded, not_found
from localcloud.cloud import LocalCloud, Log
from localcloud.kinds import Call, Kind, Ref, Refusal
from localcloud.naming import Naming
from localcloud.schema import Failure, Shape
from localcloud.store import Cloud, Store, Transaction
from localcloud.values import UNKNOWN, Properties, first, has_unknown, visible

_ROWS = (
    identity,
    network,
    security_groups,
    outbound,
    private_link,
    compute,
    scale_sets,
    objects,
    filesystem,
    operations,
)
_GUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_RANDOM = "__createBeforeDelete"
"""Marks inputs whose name was generated: a replacement can then come before the old one goes."""
_GROUP = identity.RESOURCE_GROUP


class Azure(LocalCloud):
    name: ClassVar[Cloud] = "azure-native"
    kinds: ClassVar[Mapping[str, AzureKind]] = {kind.token: kind for module in _ROWS for kind in module.KINDS}
    invokes: ClassVar = invokes.FUNCTIONS
    states_what_it_wants: ClassVar[bool] = False

    def __init__(self, store: Store, log: Log) -> None:
        super().__init__(store, log)
        self.subscription = "00000000-0000-0000-0000-000000000000"
        self.location = ""

    def check_config(self, config: Properties) -> Iterable[Failure]:
        subscription = config.get("subscriptionId")
        if subscription and subscription != UNKNOWN and not re.fullmatch(_GUID, subscription):
            yield Failure("subscriptionId", f"'{subscription}' is not a subscription: a GUID is needed")

    def configure(self, config: Properties) -> None:
        self.subscription = config.get("subscriptionId") or self.subscription
        self.location = config.get("location") or ""

    def fill(self, naming: Naming, kind: Kind, shape: Shape, inputs: Properties) -> Iterable[Failure]:
        assert isinstance(kind, AzureKind)
        if kind.named not in inputs:
            name = _generated_name(naming, kind)
            if name is not None:
                inputs[kind.named] = name
                inputs[_RANDOM] = True
        if "location" in shape.properties and "location" not in inputs:
            location = self._default_location(naming, inputs)
            if location:
                inputs["location"] = location
        for key, value in kind.defaults.items():
            inputs.setdefault(key, value)
        missing = [name for name in kind.parameters if name not in inputs]
        return [
            *(Failure(name, f"missing required property '{name}'") for name in missing),
            *name_failures(kind, inputs),
        ]

    def unmodelled(self, token: str, shape: Shape) -> Kind:
        _, module, name = token.split(":")
        word = name[0].lower() + name[1:]
        names = [p for p in sorted(shape.properties) if p.endswith("Name") and shape.properties[p] == "string"]
        alike = [n for n in names if word.casefold().endswith(n.removesuffix("Name").casefold())]
        own = next((n for n in (*alike, "resourceName", "name") if n in shape.properties), f"{word}Name")
        parents = [n for n in names if n in shape.required and n not in (own, "resourceGroupName")]
        middle = "".join(f"{parent.removesuffix('Name')}s/{{{parent}}}/" for parent in parents)
        path = f"Microsoft.{module.capitalize()}/{middle}{word}s/{{{own}}}"
        if "resourceGroupName" not in shape.properties:
            path = "/subscriptions/{subscription}/providers/" + path
        return AzureKind(token=token, path=path, longest=260, modelled=False)

    def scope_of(self, kind: Kind, properties: Properties) -> str:
        return ""  # an Azure id holds its whole scope

    def new_id(self, tx: Transaction, kind: Kind, inputs: Properties) -> str:
        assert isinstance(kind, AzureKind)
        names = {name: str(inputs.get(name, "")).strip("/") for name in kind.parameters}
        id_ = kind.template.format(subscription=self.subscription, **names)
        id_ = id_ if id_.startswith("/") else f"/{id_}"
        if kind.in_a_group and kind.token != _GROUP and not self._has_group(tx, id_):
            group = names["resourceGroupName"]
            raise Refusal("ResourceGroupNotFound", f"Resource group '{group}' could not be found.", status=404)
        parent = kind.parent_template().format(subscription=self.subscription, **names)
        if kind.modelled and parent and not tx.with_id(parent):  # the path of an unmodelled one is a guess
            raise Refusal(
                "ParentResourceNotFound",
                f"Failed to perform 'write' on resource(s) of type '{kind.arm_type}', because the parent resource "
                f"'{parent}' could not be found.",
                status=404,
            )
        if tx.get("", kind.token, id_):
            raise Refusal("", f"cannot create already existing resource '{id_}'", status=409)
        return id_

    def judge_by_the_model(self, call: Call) -> None:
        models.judge(call)
        tags.judge(call)

    def as_outputs(self, inputs: Properties, call: Call | None = None) -> Properties:
        # Identities are given as a list of ids and come back as a map of what they are.
        outputs = visible(inputs)
        ids = first(outputs, "identity.userAssignedIdentities")
        if isinstance(ids, list):
            assigned = UNKNOWN if has_unknown(ids) else {id_: _identity(call, id_) for id_ in ids}
            outputs["identity"] = {**outputs["identity"], "userAssignedIdentities": assigned}
        return outputs

    def common_outputs(self, call: Call) -> Properties:
        kind = call.kind
        assert isinstance(kind, AzureKind)
        return {
            "name": call.id.rpartition("/")[2],
            "type": kind.arm_type,
            "provisioningState": "Succeeded",
            "azureApiVersion": kind.api,
        }

    def remove(self, call: Call) -> None:
        """With everything below it, unless something outside still needs a part of that."""
        singleton = isinstance(call.kind, AzureKind) and call.kind.singleton
        for child in [] if singleton else call.tx.below(call.id):
            kind, _ = self.kind_of(child.type)
            self.refuse_while_in_use(Call(self, call.tx, kind, child.inputs, child.id, "", child), within=call.id)
            call.tx.remove(child)
        super().remove(call)

    def delete_first(self, kind: Kind, old: Properties, new: Properties) -> bool:
        return _RANDOM not in new

    def same(self, path: str, old: object, new: object) -> bool:
        if path == "location" and isinstance(old, str) and isinstance(new, str):
            return folded(old) == folded(new)
        return old == new

    def is_ours(self, tx: Transaction, value: str) -> bool:
        return self._has_group(tx, value)

    def missing(self, ref: Ref, path: str, value: str) -> Refusal:
        return not_found(path, value)

    def error(self, doing: str, kind: Kind, id_: str, refusal: Refusal) -> str:
        if not refusal.code:
            return f"{doing} {kind.token}: {refusal.message}"
        where = f' Target="{refusal.target}"' if refusal.target else ""
        said = f'Status={refusal.status} Code="{refusal.code}" Message="{refusal.message}"{where}'
        return f"{doing} {kind.token} {id_}: {said}"

    def _has_group(self, tx: Transaction, id_: str) -> bool:
        group = re.match(r"/subscriptions/[^/]+/resourceGroups/[^/]+", id_, re.IGNORECASE)
        return group is not None and tx.get("", _GROUP, group[0]) is not None

    def _default_location(self, naming: Naming, inputs: Properties) -> str:
        kept = naming.old.get("location") or self.location
        group = inputs.get("resourceGroupName")
        if kept or not group:
            return kept
        if group == UNKNOWN:
            return UNKNOWN
        with self.store.transaction(self.name) as tx:
            record = tx.get("", _GROUP, f"/subscriptions/{self.subscription}/resourceGroups/{group}")
            return record.inputs["location"] if record else ""


def _identity(call: Call | None, id_: str) -> Any:
    if call is None:
        return UNKNOWN
    record = call.find(identity.IDENTITY, id_)
    known = record.outputs if record else {}
    return {name: known.get(name, "") for name in ("clientId", "principalId")}


def _generated_name(naming: Naming, kind: AzureKind) -> str | None:
    if _RANDOM in naming.old and kind.named in naming.old:
        return naming.old[kind.named]
    if kind.name_is_uuid:
        return str(uuid.uuid4())
    return naming.generate(ending=8, longest=kind.longest, joint="")
