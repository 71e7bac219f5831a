"""`gpu-clusters local cloud`: what exists on the local cloud, what it can give, and what shall befall it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from localcloud import faults
from localcloud.scarcity import CLOUDS, Scarcity
from localcloud.store import Cloud, Record, Store
from planning.findings import near

USAGE = """\
usage: gpu-clusters local [--project DIR] cloud COMMAND ...

  show [--format text|json]                       what exists, what it would cost per day, limits and faults
  reset                                           an empty cloud without limits and faults

  set capacity CLOUD TYPE ZONE PURCHASE NODES     how many nodes of a type there are; `none` lifts the limit
  set quota CLOUD CODE VCPUS                      how many vCPUs of a quota code or family; `none` lifts it
  set fault throttle CLOUD TYPE [ANSWERS]         the next requests are throttled (default: once)
  set fault server-error CLOUD TYPE [NTH]         the n-th request from now ends with a 500 (default: the next)
  set fault create|after-create|update|delete CLOUD TYPE CODE [MESSAGE]
                                                  the next such request ends with this error

  drift RESOURCE KEY=VALUE ...                    change a resource behind the engine's back; KEY=null takes it away
  kill-node GROUP [N]                             let nodes of a group die
  interrupt-spot [GROUP]                          take spot nodes back

  CLOUD is aws or azure. ZONE is an AWS zone id (use1-az6), an Azure region and zone (eastus-1), an Azure region, or *.
  PURCHASE is on-demand, spot, capacity-block or *. TYPE of a fault is a token or its last word (Vpc).
  RESOURCE and GROUP are an id, a URN, a name in the program, or Type/name. VALUE is JSON, or a plain word.

  gpu-clusters local cloud set capacity aws p5.48xlarge use1-az6 on-demand 15
  gpu-clusters local cloud set quota aws L-417A185B 768
  gpu-clusters local cloud set fault throttle azure VirtualMachineScaleSet 4
  gpu-clusters local cloud drift Vpc/llama-vpc tags.team=other
  gpu-clusters local cloud kill-node llama-nodes

Limits can also be kept in localcloud.toml beside Pulumi.yaml; what is set here goes before.
"""


class CloudUsageError(Exception):
    """The words cannot be meant; the text says why and what to write."""


def run(words: list[str], root: Path, limits: Path) -> int:
    """Raises CloudUsageError, StoreError (with ScarcityError), EventError."""
    verb, *rest = words or ["help"]
    if verb in ("help", "-h", "--help") or "--help" in rest:
        print(USAGE, end="")
        return 0
    if verb not in VERBS:
        _refuse(f"`cloud {verb}`", verb, list(VERBS))
    with closing(Store(root / "cloud.db")) as store:
        VERBS[verb](store, rest, limits)
    return 0


def show(store: Store, words: list[str], limits: Path) -> None:
    form = _format(words)
    scarcity = Scarcity(store)
    scarcity.read(limits)
    if form == "json":
        print(json.dumps(_document(store, scarcity), indent=2))
        return
    _show_resources(store.list())
    for name, amount in scarcity.limits().items():
        print("limit ", name.replace("/", " "), amount)
    for fault in faults.ordered(store):
        print("fault ", _of_fault(fault))


def reset(store: Store, words: list[str], limits: Path) -> None:
    _no_more(words, 0, "reset")
    number = len(store.list())
    store.reset()
    print(
        f"The local cloud is empty; {_counted(number, 'resource')} and what was set of limits and faults are forgotten."
    )
    if number:
        print("Stacks still list theirs: `gpu-clusters local refresh --stack NAME --yes` brings them up to date.")


def set_(store: Store, words: list[str], limits: Path) -> None:
    what, *rest = words or [""]
    if what not in SETTINGS:
        _refuse(f"`cloud set {what}`", what, list(SETTINGS))
    SETTINGS[what](store, rest)


def set_capacity(store: Store, words: list[str]) -> None:
    if len(words) != 5:
        raise CloudUsageError("`cloud set capacity` takes CLOUD TYPE ZONE PURCHASE NODES.")
    cloud, type_, zone, purchase, nodes = words
    amount = _amount(nodes, "NODES")
    Scarcity(store).set_capacity(_cloud_word(cloud), type_, zone, purchase, amount)
    if not _is_known(cloud, type_):
        print(f"The local cloud does not know the type {type_}; the limit holds for it all the same.", file=sys.stderr)
    where = "every zone" if zone == "*" else zone
    how = "any purchase" if purchase == "*" else purchase
    print(f"{type_}, {where}, {how}: {'no limit' if amount is None else _counted(amount, 'node') + ' in all'}.")


def set_quota(store: Store, words: list[str]) -> None:
    if len(words) != 3:
        raise CloudUsageError("`cloud set quota` takes CLOUD CODE VCPUS.")
    cloud, code, vcpus = words
    amount = _amount(vcpus, "VCPUS")
    Scarcity(store).set_quota(_cloud_word(cloud), code, amount)
    print(f"{code}: {'no limit' if amount is None else _counted(amount, 'vCPU') + ' in each region'}.")


def set_fault(store: Store, words: list[str]) -> None:
    from localcloud.events import type_named

    kinds = ("throttle", "server-error", *faults.OPERATIONS)
    kind, *rest = words or [""]
    if kind not in kinds:
        _refuse(f"`cloud set fault {kind}`", kind, list(kinds))
    named = kind in faults.OPERATIONS
    if not 2 <= len(rest) <= (4 if named else 3) or (named and len(rest) < 3):
        more = "CODE [MESSAGE]" if named else "[NUMBER]"
        raise CloudUsageError(f"`cloud set fault {kind}` takes CLOUD TYPE {more}.")
    cloud: Cloud = "aws" if _cloud_word(rest[0]) == "aws" else "azure-native"
    type_ = type_named(store, cloud, rest[1])
    if kind in faults.OPERATIONS:
        message = rest[3] if len(rest) == 4 else "Ordered by `gpu-clusters local cloud set fault`."
        fault = faults.Fault(cloud=cloud, type=type_, operation=kind, code=rest[2], message=message)
    else:
        number = _amount(rest[2], "NUMBER") if len(rest) == 3 else 1
        if not number:
            raise CloudUsageError(f"NUMBER: found {rest[2]}; write 1 or more.")
        make = faults.throttling if kind == "throttle" else faults.server_error
        fault = make(cloud, type_, number)
    faults.order(store, fault)
    print(_of_fault(fault))


def drift(store: Store, words: list[str], limits: Path) -> None:
    from localcloud import events

    if len(words) < 2 or not all("=" in word for word in words[1:]):
        raise CloudUsageError("`cloud drift` takes RESOURCE KEY=VALUE ..., as in Vpc/llama-vpc tags.team=other.")
    for word in words[1:]:
        key, _, value = word.partition("=")
        record = events.drift(store, words[0], key, _value(value))
        print(f"{record.id}: {key} is {value} now, and no stack knows. `preview --refresh` shows it.")


def kill_node(store: Store, words: list[str], limits: Path) -> None:
    from localcloud.events import kill_nodes

    if not 1 <= len(words) <= 2:
        raise CloudUsageError("`cloud kill-node` takes GROUP [N].")
    number = _amount(words[1], "N") if len(words) == 2 else 1
    if not number:
        raise CloudUsageError(f"N: found {words[1]}; write 1 or more.")
    _say_loss(kill_nodes(store, words[0], number))


def interrupt_spot(store: Store, words: list[str], limits: Path) -> None:
    from localcloud import events

    _no_more(words, 1, "interrupt-spot")
    for loss in events.interrupt_spot(store, *words):
        _say_loss(loss)


VERBS: dict[str, Callable[[Store, list[str], Path], None]] = {
    "show": show,
    "reset": reset,
    "set": set_,
    "drift": drift,
    "kill-node": kill_node,
    "interrupt-spot": interrupt_spot,
}
SETTINGS: dict[str, Callable[[Store, list[str]], None]] = {
    "capacity": set_capacity,
    "quota": set_quota,
    "fault": set_fault,
}


def _show_resources(records: list[Record]) -> None:
    from cli.cloudprices import usd_per_day

    if not records:
        print("The local cloud is empty.")
        return
    width = max(len(record.type) for record in records)
    print(f"{'USD per day':>12}  {'type':<{width}}  id")
    total = 0
    for record in records:
        usd = usd_per_day(record)
        total += usd or 0
        price = f"{usd:>12,.2f}" if usd else " " * 12
        print(f"{price}  {record.type:<{width}}  {record.id}{'' if record.urn else '  (no stack has it)'}")
    print(f"{total:>12,.2f}  {_counted(len(records), 'resource')}; list prices, where one is known")


def _document(store: Store, scarcity: Scarcity) -> dict[str, Any]:
    from cli.cloudprices import usd_per_day

    limits = scarcity.limits()
    resources = []
    for record in store.list():
        usd = usd_per_day(record)
        row = {key: getattr(record, key) for key in ("cloud", "type", "id", "urn", "created")}
        resources.append({**row, "usd_per_day": None if usd is None else float(usd)})
    capacity, quota = [], []
    for name, amount in limits.items():
        what, cloud, *rest = name.split("/")
        if what == "quota":
            quota.append({"cloud": cloud, "code": rest[0], "vcpus": amount})
        else:
            capacity.append(
                {"cloud": cloud, **dict(zip(("type", "zone", "purchase"), rest, strict=True)), "nodes": amount}
            )
    ordered = [asdict(fault) for fault in faults.ordered(store)]
    return {"resources": resources, "capacity": capacity, "quota": quota, "faults": ordered}


def _of_fault(fault: faults.Fault) -> str:
    if fault.throttled:
        what = f"the next {fault.throttled} requests are throttled ({fault.code}); the provider tries each one "
        return f"{fault.type}: {what}{faults.TRIES[fault.cloud]} times"
    which = "request" if fault.operation == "any" else fault.operation
    when = f"after {fault.passes} more" if fault.passes else "the next"
    return f"{fault.type}: {when} {which}{' one' if fault.passes else ''} ends with {fault.code}"


def _say_loss(loss: Any) -> None:
    print(f"{loss.group.id}: {_counted(len(loss.ids), 'node')} died ({', '.join(loss.ids)}); it runs {loss.left} now.")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _format(words: list[str]) -> str:
    match words:
        case []:
            return "text"
        case ["--format", ("text" | "json") as form] | [("--format=text" | "--format=json") as form]:
            return form.removeprefix("--format=")
        case _:
            raise CloudUsageError(f"`cloud show` takes --format text or --format json; found {' '.join(words)}.")


def _amount(word: str, what: str) -> int | None:
    if word == "none":
        return None
    if not (word.isascii() and word.isdigit()):
        raise CloudUsageError(f"{what}: found {word!r}; write a whole number of 0 or more, or none.")
    return int(word)


def _is_known(cloud: str, type_: str) -> bool:
    from localcloud.aws.instance_types import instance_type
    from localcloud.azure.sizes import size_of

    return (instance_type(type_) if cloud == "aws" else size_of(type_)) is not None


def _cloud_word(word: str) -> str:
    if word not in CLOUDS:
        raise CloudUsageError(f"CLOUD: found {word!r}; write one of {', '.join(CLOUDS)}.")
    return word


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _no_more(words: list[str], most: int, verb: str) -> None:
    if len(words) > most:
        raise CloudUsageError(f"`cloud {verb}` takes no {' '.join(words[most:])}.")


def _refuse(what: str, word: str, known: list[str]) -> NoReturn:
    close = near(word, known)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}."
    raise CloudUsageError(f"{what} is not known: {hint} `gpu-clusters local cloud --help` shows all.")
