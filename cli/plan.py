"""`gpu-clusters plan`: what a stack would make, need and cost. The resources come from the real program on mocks."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from cli.check import exit_code
from cli.stacks import Judged, judge_stack
from planning.findings import render
from planning.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stacks", nargs="+", metavar="STACK", help="name of a stack, or path of a stack file")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")


def run(arguments: argparse.Namespace) -> int:
    """JSON is one object for one stack, and a list for several; a stack with errors has its findings instead."""
    results = [judge_stack(source) for source in arguments.stacks]
    if arguments.format == "json":
        plans = [_as_json(result) for result in results]
        print(json.dumps(plans[0] if len(plans) == 1 else plans, indent=2))
    else:
        print("\n\n".join(_as_text(result) for result in results))
    return exit_code(results)


def _plan(result: Judged) -> Plan | None:
    return result.assessment.plan if result.assessment and result.ok else None


def _as_json(result: Judged) -> dict[str, Any]:
    plan = _plan(result)
    findings = [finding.as_json() for finding in result.findings]
    if plan is None:
        return {"source": result.source, "ok": False, "findings": findings}
    cluster, resources = _declared(plan)
    return {
        "source": result.source,
        "ok": True,
        "cluster": cluster,
        "nodes": plan.nodes.declared,
        "gpus": plan.nodes.declared * plan.nodes.gpus,
        "interfaces": [{"card": i.card, "device": i.device, "type": i.kind} for i in plan.nodes.interfaces],
        "addresses": {"needed": plan.network.needed, "usable": plan.network.usable},
        "quota": [{"code": q.code, "unit": q.unit, "need": q.need} for q in plan.quota],
        "resources": resources,
        "cost": plan.cost.as_json(),
        "findings": findings,
    }


def _declared(plan: Plan) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The cluster's exports, null where only the deployment knows them, and every resource."""
    from components.cluster import OUTPUTS
    from components.dryrun import dry_run

    run = dry_run(plan, preview=True)
    exports = {name: _known(run.exports.get(name)) for name in OUTPUTS}
    return exports, [{"type": r.type, "name": r.name} for r in run.resources]


def _addresses(plan: Plan) -> str:
    if plan.existing_network is not None:
        return f"{plan.network.needed} needed in {plan.existing_network.subnet}"
    return f"{plan.network.needed} needed, {plan.network.usable} usable in {plan.network.nodes}"


def _known(value: Any) -> Any:
    """The value with null for each unknown in it, and whole numbers as such."""
    if isinstance(value, dict):
        return {key: _known(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_known(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (str, int, float, bool)) else None


def _as_text(result: Judged) -> str:
    plan = _plan(result)
    if plan is None:
        return f"{result.source}: no plan\n{render(result.findings)}"
    _, resources = _declared(plan)
    counts = Counter(resource["type"].rsplit(":", 1)[-1] for resource in resources)
    nodes, fabric, cost = plan.nodes, plan.fabric, plan.cost
    quota = "; ".join(f"{q.need} {q.unit} of {q.code}" for q in plan.quota) or "none"
    rows = {
        "where": f"{plan.cloud}, {plan.region}" + (f", zone {plan.zone}" if plan.zone else ""),
        "nodes": f"{nodes.declared} x {nodes.type}, {nodes.declared * nodes.gpus} GPUs of {nodes.gpu_memory_gib:g} GiB",
        "fabric": f"{fabric.kind}, {fabric.interfaces_per_node} interfaces and {fabric.gbps_per_node} Gbit/s per node",
        "addresses": _addresses(plan),
        "quota": quota,
        "resources": f"{len(resources)}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())),
        "launcher": " ".join(f"{key}={value}" for key, value in plan.launcher_env.items()),
    }
    width = max(map(len, rows))
    lines = [f"{result.source}: {plan.name}", *(f"  {key:<{width}}  {value}" for key, value in rows.items())]
    at_least = "at least " if cost.is_lower_bound else ""
    lines.append(f"  {'cost':<{width}}  {at_least}{cost.usd_per_hour:,} USD per hour, {cost.usd_per_month:,} per month")
    for line in cost.lines:
        amount = f"{line.usd_per_hour:,}" if line.usd_per_hour is not None else "no price known"
        dated = f" (price of {line.price_date})" if line.price_date else ""
        lines.append(f"  {'':<{width}}  {amount:>14}  {line.quantity:,} {line.unit} {line.item}{dated}")
    return "\n".join([*lines, *([render(result.findings)] if result.findings else [])])
