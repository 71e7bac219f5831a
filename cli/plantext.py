"""What `gpu-clusters plan` shows of a plan: rows of a name and what there is to say, as wide as the terminal."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from planning.facts.network import usable_in
from planning.facts.storage import seconds_to_write
from planning.plan import Plan
from planning.units import show_size

if TYPE_CHECKING:
    from components.dryrun import DryRun, Registered

WIDTH = 100
"""Of text that goes into a file, and the most that is read well on a wide terminal."""
EXAMPLE_CHECKPOINT_GIB = 1024
"""About what a model of 70 billion parameters saves with its optimizer."""
INDENT = "  "
LABELS = {
    "ResourceGroup": "resource group", "Vpc": "VPC", "VirtualNetwork": "VNet", "PlacementGroup": "placement group",
    "CapacityReservation": "capacity reservation", "CapacityBlockReservation": "Capacity Block", "Fleet": "fleet",
    "Group": "Auto Scaling group", "VirtualMachineScaleSet": "scale set", "LustreFileSystem": "filesystem",
    "AmlFilesystem": "filesystem", "Bucket": "bucket", "StorageAccount": "storage account",
}  # fmt: skip
"""Kinds whose names people look for."""
NODES = ("Placement", "Capacity", "LaunchTemplate", "Fleet", "KeyPair", "VirtualMachineScaleSet")
IDENTITY = ("iam", "authorization", "managedidentity")
STORAGE = ("s3", "fsx", "storage", "storagecache", "keyvault")


def as_text(plan: Plan, declared: DryRun, checkpoint_gib: int | None) -> str:
    rows: list[tuple[str, list[str]]] = [
        ("where", [_where(plan)]),
        ("nodes", list(_nodes(plan))),
        ("fabric", list(_fabric(plan))),
        ("addresses", list(_addresses(plan))),
        ("quota", list(_quota(plan))),
        ("storage", list(_storage(plan, checkpoint_gib))),
        ("resources", list(_resources(declared))),
        ("names", [", ".join(f"{label}{TOGETHER}{name}" for label, name in _names(declared))]),
        ("launcher", [" ".join(f"{key}={value}" for key, value in plan.launcher_env.items())]),
        ("cost", list(_cost(plan))),
        ("waived", [f"{f.rule} at {f.path}: {f.waiver}" for f in plan.findings if f.waiver]),
    ]
    margin = len(INDENT) + max(len(name) for name, _ in rows) + 2
    width = _width()
    return "\n".join(
        _wrapped(f"{INDENT}{name if first else '':<{margin - len(INDENT)}}", text, width)
        for name, lines in rows
        for first, text in ((index == 0, line) for index, line in enumerate(lines))
    )


def _width() -> int:
    if not sys.stdout.isatty():
        return WIDTH
    return min(max(os.get_terminal_size(sys.stdout.fileno()).columns, 60), WIDTH)


def _wrapped(margin: str, text: str, width: int) -> str:
    """Commands stay in one line, to be copied; so do names, and the lines of a table."""
    if text.startswith(LEFT_WHOLE):
        return margin + text
    filled = textwrap.fill(
        text,
        max(width, len(margin) + 20),
        initial_indent=margin,
        subsequent_indent=" " * (len(margin) + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(TOGETHER, " ")


TOGETHER = "\N{NO-BREAK SPACE}"
LEFT_WHOLE = ("aws ", "az ", "image ", " ")


def _where(plan: Plan) -> str:
    whose = "account" if plan.cloud == "aws" else "subscription"
    account = f", {whose} {plan.account}" if plan.account else ""
    return f"{plan.cloud}, {plan.region}" + (f", zone {plan.zone}" if plan.zone else "") + account


def _nodes(plan: Plan) -> Iterator[str]:
    nodes, capacity = plan.nodes, plan.nodes.capacity
    yield f"{nodes.declared} x {nodes.type}, {nodes.declared * nodes.gpus} GPUs of {nodes.gpu_memory_gib:g} GiB"
    if not nodes.running:
        yield f"stopped: {nodes.count} with nodes.running: true"
    elif not nodes.declared:
        yield f"waiting: {nodes.count} from {capacity.begins} on"
    source = capacity.reservation or capacity.offering
    ways = {
        "reservation": "a capacity reservation of the cluster's own",
        "fleet": "one fleet",
        "group": f"from {source}" if source else "as they come" if capacity.elastic else "one scale set",
    }
    whole = "" if capacity.start == "group" else "all or none, "
    yield f"{capacity.purchase}: {whole}{ways[capacity.start]}"
    yield f"root disk of {nodes.root_disk_gib} GiB" + (", a part of the node" if nodes.ephemeral_root else "")
    yield f"image {nodes.image.reference}"


def _fabric(plan: Plan) -> Iterator[str]:
    fabric, placed = plan.fabric, "placed together" if plan.nodes.placed else "not placed by the stack"
    yield f"{fabric.kind}, {fabric.interfaces_per_node} interfaces and {fabric.gbps_per_node} Gbit/s per node, {placed}"
    if plan.nodes.interfaces:
        yield "; ".join(_cards(plan))


def _cards(plan: Plan) -> Iterator[str]:
    """The interfaces of a node, cards that are alike together."""
    layouts: dict[int, str] = {}
    for interface in plan.nodes.interfaces:
        said = f"{interface.kind} at device {interface.device}"
        layouts[interface.card] = f"{layouts[interface.card]}, {said}" if interface.card in layouts else said
    alike: list[tuple[int, int, str]] = []
    for card, layout in layouts.items():
        if alike and alike[-1][1:] == (card - 1, layout):
            alike[-1] = (alike[-1][0], card, layout)
        else:
            alike.append((card, card, layout))
    for first, last, layout in alike:
        yield f"card{f's {first}-{last}' if last > first else f' {first}'}: {layout}"


def _addresses(plan: Plan) -> Iterator[str]:
    network = plan.network
    if plan.existing_network is not None:
        yield f"{network.needed} needed in {plan.existing_network.subnet}"
        return
    others = network.needed - plan.nodes.capacity.most * network.per_node
    takers = f"{plan.nodes.capacity.most} nodes, {network.per_node} each" + (f", and {others} others" if others else "")
    yield f"{network.needed:,} needed ({takers}), {network.usable:,} usable in {network.nodes}"
    roles = {
        "NAT": network.public, "filesystem": network.filesystem, "endpoints": network.endpoints,
        "Bastion": network.bastion,
    }  # fmt: skip
    if said := [f"{usable_in(cidr):,} usable in {cidr} ({role})" for role, cidr in roles.items() if cidr is not None]:
        yield ", ".join(said)


def _quota(plan: Plan) -> Iterator[str]:
    if not plan.quota:
        yield "none"
    for quota in plan.quota:
        yield f"{quota.need} {quota.unit} of {quota.code}; see and ask for it:"
        if plan.cloud == "aws":
            which = f"--service-code ec2 --quota-code {quota.code} --region {plan.region}"
            yield f"aws service-quotas get-service-quota {which}"
            yield f"aws service-quotas request-service-quota-increase {which} --desired-value {quota.need}"
        else:
            scope = f"/subscriptions/{plan.account or 'YOUR_SUBSCRIPTION'}/providers/Microsoft.Compute/locations"
            kind = "lowPriority" if quota.code == "lowPriorityCores" else "dedicated"
            yield f"az vm list-usage --location {plan.region} --query \"[?name.value=='{quota.code}']\" --output table"
            yield (
                f"az quota update --resource-name {shlex.quote(quota.code)} --limit-object value={quota.need} "
                f"--resource-type {kind} --scope {scope}/{plan.region}"
            )


def _storage(plan: Plan, checkpoint_gib: int | None) -> Iterator[str]:
    filesystem, objects = plan.filesystem, plan.objects
    over = " over EFA" if filesystem is not None and filesystem.efa else ""
    if filesystem is not None and filesystem.existing is not None:
        yield f"{filesystem.existing} at {filesystem.mount}{over}, as it is"
    elif filesystem is not None and filesystem.mbps:
        sold = f"{filesystem.mbps_per_tib} MB/s per TiB" if filesystem.mbps_per_tib else filesystem.deployment
        name = "FSx for Lustre" if plan.cloud == "aws" else "Azure Managed Lustre"
        yield (
            f"{name} at {filesystem.mount}: {filesystem.capacity_gib:,} GiB, {sold}, "
            f"{filesystem.mbps / 1000:,.1f} GB/s{over}"
        )
        size = checkpoint_gib or EXAMPLE_CHECKPOINT_GIB
        takes = seconds_to_write(size, filesystem.mbps)
        hint = "" if checkpoint_gib else "; --checkpoint-size tells of others"
        yield f"a checkpoint of {show_size(size)} takes {_time(takes)} to write or read at best{hint}"
    store = objects.existing or (objects.existing_container.id if objects.existing_container else None)
    cooled = f", cooled after {objects.cool_after_days} days" if objects.cool_after_days else ""
    deleted = f", deleted after {objects.expire_after_days} days" if objects.expire_after_days else ""
    linked = ", linked with the filesystem" if objects.link else ""
    which = f"objects in {store}, as it is" if store else "a store of objects"
    yield f"{which}{linked}: checkpoints below {objects.prefix}/{cooled}{deleted}"
    yield {
        "protect": "`pulumi destroy` refuses to delete data",
        "retain": "`pulumi destroy` leaves data behind",
        "delete": "`pulumi destroy` deletes data",
    }[plan.on_delete]


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"


def _resources(declared: DryRun) -> Iterator[str]:
    total = len(declared.resources)
    around = len(declared.components)
    yield f"{total}, and {around} of Pulumi's own (stack, provider, component): {total + around} in what `up` counts"
    areas: dict[str, Counter[str]] = {}
    for resource in declared.resources:
        areas.setdefault(_area(resource.type), Counter())[_kind(resource)] += 1
    for area, kinds in sorted(areas.items()):
        counted = ", ".join(kind if n == 1 else f"{n}{TOGETHER}{kind}" for kind, n in sorted(kinds.items()))
        yield f"{area} ({kinds.total()}): {counted}"


def _area(token: str) -> str:
    service, kind = token.split(":")[1].partition("/")[0], token.rpartition(":")[2]
    if service == "autoscaling" or kind.startswith(NODES):
        return "nodes"
    if service in IDENTITY:
        return "identity"
    if service in STORAGE:
        return "storage"
    return "network" if service in ("ec2", "vpc", "network", "privatedns") else "other"


def _kind(resource: Registered) -> str:
    return resource.type.rpartition(":")[2]


def _names(declared: DryRun) -> Iterator[tuple[str, str]]:
    for kind, label in LABELS.items():
        for resource in declared.resources:
            if _kind(resource) == kind:
                yield label, _name(resource)


def _name(resource: Registered) -> str:
    """As the cloud shows it; with an ellipsis where Pulumi draws its end."""
    inputs, tags = resource.inputs, resource.inputs.get("tags")
    first = _kind(resource)[0].lower() + _kind(resource)[1:]
    for key in ("name", "bucket", f"{first}Name", "accountName", "vmScaleSetName"):
        if isinstance(inputs.get(key), str):
            return inputs[key]
    named = tags.get("Name") if isinstance(tags, dict) and _kind(resource) in NAMED_BY_TAG else None
    return named if isinstance(named, str) else f"{resource.name}…"


NAMED_BY_TAG = ("Vpc", "CapacityReservation", "CapacityBlockReservation", "LustreFileSystem", "Fleet")


def _cost(plan: Plan) -> Iterator[str]:
    cost = plan.cost
    at_least = "at least " if cost.is_lower_bound else ""
    yield f"{at_least}{cost.usd_per_hour:,} USD per hour, {cost.usd_per_month:,} per month"
    for line in cost.lines:
        amount = f"{line.usd_per_hour:,}" if line.usd_per_hour is not None else "no price known"
        dated = f" (price of {line.price_date})" if line.price_date else ""
        yield f"{amount:>14}  {line.quantity:,} {line.unit} {line.item}{dated}"
