"""AWS as the local cloud plays it: names, ids, ARNs, tags and errors of all types.

The types: the modules beside this one.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from localcloud import loose
from localcloud.aws import (
    autoscaling,
    compute,
    endpoints,
    filesystem,
    fleets,
    flow_logs,
    identity,
    instances,
    invokes,
    limits,
    network,
    objects,
    operations,
    placement,
    routing,
    security_groups,
    tags,
)
from localcloud.aws.capacity import CAPACITY_BLOCK, RESERVATION
from localcloud.aws.kind import LOCAL_ID, AwsKind, partition_of
from localcloud.cloud import LocalCloud, Log, Old
from localcloud.diff import Change
from localcloud.kinds import Call, Kind, Ref, Refusal
from localcloud.naming import Naming
from localcloud.schema import Failure, Shape
from localcloud.store import Cloud, Record, Store, Transaction
from localcloud.values import UNKNOWN, Properties

_ROWS = (
    network,
    routing,
    endpoints,
    security_groups,
    placement,
    compute,
    instances,
    fleets,
    autoscaling,
    filesystem,
    objects,
    identity,
    operations,
    flow_logs,
)


class Aws(LocalCloud):
    name: ClassVar[Cloud] = "aws"
    kinds: ClassVar[Mapping[str, AwsKind]] = {kind.token: kind for module in _ROWS for kind in module.KINDS}
    invokes: ClassVar = invokes.FUNCTIONS
    states_what_it_wants: ClassVar[bool] = True

    account = "123456789012"
    region = ""

    def __init__(self, store: Store, log: Log) -> None:
        super().__init__(store, log)
        self.default_tags: Properties = {}

    def check_config(self, config: Properties) -> Iterable[Failure]:
        region = _region(config)
        if not region:
            yield Failure(
                "region",
                "missing region: set `aws:region` in the stack, or `region` of the provider that the program makes",
            )
        elif region != UNKNOWN and not re.fullmatch(r"[a-z]{2,3}(-[a-z]+)+-\d", region):
            yield Failure("region", f"'{region}' is not an AWS region; regions look like us-east-1")
        for account in _decoded(config.get("allowedAccountIds")) or []:
            if account != UNKNOWN and not re.fullmatch(r"\d{12}", str(account)):
                yield Failure("allowedAccountIds", f"'{account}' is not an AWS account: 12 digits are needed")

    def configure(self, config: Properties) -> None:
        self.region = _region(config)
        # No account is real here, so the stand-in is whichever account the program allows.
        self.account = str(next(iter(_decoded(config.get("allowedAccountIds")) or []), self.account))
        self.default_tags = (_decoded(config.get("defaultTags")) or {}).get("tags") or {}

    def typed(self, shape: Shape, inputs: Properties) -> Properties:
        return loose.typed(shape, inputs)

    def fill(self, naming: Naming, kind: Kind, shape: Shape, inputs: Properties) -> Iterable[Failure]:
        assert isinstance(kind, AwsKind)
        defaulted = []
        if kind.named and kind.named not in inputs and kind.prefixed not in inputs:
            name = _generated_name(naming, kind)
            if name is not None:
                inputs[kind.named] = name
                defaulted.append(kind.named)
        for key, value in kind.defaults.items():
            if key not in inputs:
                inputs[key] = value
                defaulted.append(key)
        if kind.tagged and (inputs.get("tags") or self.default_tags):
            tags = inputs.get("tags") or {}
            inputs["tagsAll"] = tags if tags == UNKNOWN else {**self.default_tags, **tags}
        inputs["__defaults"] = sorted(defaulted)
        return ()

    def unmodelled(self, token: str, shape: Shape) -> Kind:
        module, _, name = token.removeprefix("aws:").partition("/")
        word = name.partition(":")[0].lower()
        arn = f"arn:{{partition}}:{module}:{{region}}:{{account}}:{word}/{{id}}" if "arn" in shape.outputs else ""
        named = "name" if "name" in shape.properties else ""
        tagged = "tags" in shape.properties
        return AwsKind(token=token, id_prefix=word, arn=arn, named=named, tagged=tagged, modelled=False)

    def scope_of(self, kind: Kind, properties: Properties) -> str:
        assert isinstance(kind, AwsKind)
        if kind.scope == "world":
            return ""
        return self.account if kind.scope == "account" else f"{self.account}/{self.region_of(properties)}"

    def beyond_the_model(self, kind: Kind, inputs: Properties) -> Iterable[Failure]:
        return limits.failures(kind.token, inputs)

    def judge_by_the_model(self, call: Call) -> None:
        limits.judge(call)
        tags.judge(call)

    def region_of(self, properties: Properties) -> str:
        return properties.get("region") or self.region

    def new_id(self, tx: Transaction, kind: Kind, inputs: Properties) -> str:
        assert isinstance(kind, AwsKind)
        scope = self.scope_of(kind, inputs)
        if kind.id_of is not None:
            return kind.id_of(inputs)
        name = _given_name(kind, inputs)
        if kind.named and kind.taken[0] and any(r.outputs[kind.named] == name for r in tx.of_type(kind.token, scope)):
            code, message = kind.taken
            raise Refusal(code, message.format(name=name), status=409)
        if kind.id_form:
            return self._formatted(kind.id_form, inputs, "", name)
        if kind.id_is_uuid:
            return f"{kind.id_prefix}-{uuid.uuid4()}" if kind.id_prefix else str(uuid.uuid4())
        return f"{kind.id_prefix}-{LOCAL_ID}{secrets.token_hex(6)[:11]}"

    def _formatted(self, template: str, inputs: Properties, id_: str, name: str) -> str:
        region = self.region_of(inputs)
        where = {"partition": partition_of(region), "region": region, "account": self.account}
        host, path = name.removeprefix("https://"), inputs.get("path", "/")
        return template.format(**where, id=id_, name=name, host=host, path=path)

    def common_outputs(self, call: Call) -> Properties:
        kind = call.kind
        assert isinstance(kind, AwsKind)
        outputs: Properties = {"region": self.region_of(call.inputs)}
        name = call.inputs.get(kind.named) or _name_in(call.id, kind) or _given_name(kind, call.inputs)
        if kind.named:
            outputs[kind.named] = name
        if kind.arn:
            outputs[kind.arn_output] = self._formatted(kind.arn, call.inputs, call.id, name)
        if kind.owned:
            outputs["ownerId"] = self.account
        return outputs

    def diff(self, token: str, old: Old, new: Properties) -> Change:
        change = super().diff(token, old, new)
        _, shape = self.kind_of(token)
        before = old.outputs.get("region")
        if "region" in shape.properties and before not in (None, self.region_of(new)):
            paths = {**change.properties, "region": "update"}
            return replace(change, properties=paths, replaces=change.replaces | {"region"})
        return change

    def delete_first(self, kind: Kind, old: Properties, new: Properties) -> bool:
        assert isinstance(kind, AwsKind)
        given = kind.named in new and kind.named not in new.get("__defaults", [])
        return given and old.get(kind.named) == new.get(kind.named)

    def find(self, call: Call, token: str, value: object, by: str) -> Record | None:
        found = super().find(call, token, value, by)
        if found is None and token == RESERVATION:  # a block is targeted as a reservation is
            return super().find(call, CAPACITY_BLOCK, value, by)
        return found or network.default_of_a_vpc(call, token, str(value))

    def remove(self, call: Call) -> None:
        assert isinstance(call.kind, AwsKind)
        if call.kind.forgotten and call.old is not None:
            call.tx.put(replace(call.old, urn="", writer=0))
        else:
            super().remove(call)

    def is_ours(self, tx: Transaction, value: str) -> bool:
        return f"-{LOCAL_ID}" in value

    def applies(self, ref: Ref, value: str) -> bool:
        target = self.kinds[ref.target]
        if ref.by == "arn":
            return ":aws:policy/" not in value  # AWS's own policies are always there
        return ref.by != "id" or not target.id_prefix or value.startswith(f"{target.id_prefix}-")

    def missing(self, ref: Ref, path: str, value: str) -> Refusal:
        target = self.kinds[ref.target]
        return Refusal(target.not_found, f"{path}: the {target.name} '{value}' does not exist", status=404)

    def error(self, doing: str, kind: Kind, id_: str, refusal: Refusal) -> str:
        named = isinstance(kind, AwsKind) and bool(kind.id_form)
        if not refusal.code:  # the provider's own words, of something that has its id
            return f"{doing} {kind.token.partition('/')[0]} {kind.name} ({id_}): {refusal.message}"
        which = f" ({id_})" if id_ and (named or doing != "creating") else ""  # a refused creation gave no id
        return (
            f"{doing} {kind.token.partition('/')[0]} {kind.name}{which}: https response error "
            f"StatusCode: {refusal.status}, RequestID: {uuid.uuid4()}, api error {refusal.code}: {refusal.message}"
        )


def _region(config: Properties) -> str:
    return config.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""


def _decoded(value: Any) -> Any:
    """Provider configuration arrives with nested values as JSON text."""
    return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value


def _generated_name(naming: Naming, kind: AwsKind) -> str | None:
    kept = naming.old.get(kind.named)
    if kept and kind.named in naming.old.get("__defaults", []):
        return kept
    name = naming.generate(ending=7, longest=kind.longest)
    return name.lower() if name and kind.lower else name


def _name_in(id_: str, kind: AwsKind) -> str:
    """The generated name that an id holds."""
    return id_ if kind.id_form == "{name}" else re.split("[:/]", id_)[-1] if kind.id_form else ""


def _given_name(kind: AwsKind, inputs: Properties) -> str:
    name = inputs.get(kind.named)
    if name:
        return name
    prefix = inputs.get(kind.prefixed) or "terraform-"
    return f"{prefix}{time.strftime('%Y%m%d%H%M%S', time.gmtime())}{secrets.randbelow(10**12):012d}"
