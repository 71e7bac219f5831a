"""`gpu-clusters plan`: what a stack would make, need and cost. The resources come from the real program on mocks.

Here are the command and its JSON; its text for people is in `cli.plantext`.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from cli.check import exit_code
from cli.stacks import Judged, judge_stack
from planning.facts.storage import seconds_to_write
from planning.plan import Plan
from planning.units import parse_size

if TYPE_CHECKING:
    from components.dryrun import DryRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stacks", nargs="+", metavar="STACK", help="name of a stack, or path of a stack file")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")
    parser.add_argument(
        "--checkpoint-size",
        type=_size,
        metavar="SIZE",
        help="of one checkpoint, such as 2TiB, to tell how long it takes; default: what the stack says of it",
    )


def _size(text: str) -> int:
    from pydantic_core import PydanticCustomError

    try:
        return parse_size(text)
    except PydanticCustomError as mistake:
        raise argparse.ArgumentTypeError(f"{mistake.message()}: {(mistake.context or {}).get('fix')}") from None


def run(arguments: argparse.Namespace) -> int:
    """JSON is one object for one stack, and a list for several; a stack with errors has its findings instead."""
    results = [judge_stack(source) for source in arguments.stacks]
    if arguments.format == "json":
        plans = [_as_json(result, arguments.checkpoint_size) for result in results]
        print(json.dumps(plans[0] if len(plans) == 1 else plans, indent=2))
    else:
        print("\n\n".join(_as_text(result, arguments.checkpoint_size) for result in results))
    return exit_code(results)


def _plan(result: Judged) -> Plan | None:
    return result.assessment.plan if result.assessment and result.ok else None


def _dry_run(plan: Plan) -> DryRun:
    from components.dryrun import dry_run

    return dry_run(plan, preview=True)


def _as_text(result: Judged, checkpoint_gib: int | None) -> str:
    from cli.colours import painter

    plan, paint = _plan(result), painter()
    if plan is None:
        return f"{result.source}: no plan\n{result.as_text(paint=paint)}"
    from cli.plantext import as_text

    told = as_text(plan, _dry_run(plan), checkpoint_gib or plan.objects.checkpoint_gib)
    findings = [result.as_text(paint=paint)] if result.findings else []
    return "\n".join([f"{result.source}: {plan.name}", told, *findings])


def _as_json(result: Judged, checkpoint_gib: int | None) -> dict[str, Any]:
    plan = _plan(result)
    findings = result.as_json()
    if plan is None:
        return {"source": result.source, "ok": False, "findings": findings}
    from components.cluster import OUTPUTS

    declared = _dry_run(plan)
    return {
        "source": result.source,
        "ok": True,
        "cluster": {name: _known(declared.exports.get(name)) for name in OUTPUTS},
        "nodes": plan.nodes.declared,
        "gpus": plan.nodes.declared * plan.nodes.gpus,
        "interfaces": [{"card": i.card, "device": i.device, "type": i.kind} for i in plan.nodes.interfaces],
        "addresses": {"needed": plan.network.needed, "usable": plan.network.usable},
        "quota": [{"code": q.code, "unit": q.unit, "need": q.need} for q in plan.quota],
        "resources": [{"type": r.type, "name": r.name} for r in declared.resources],
        "storage": _storage(plan, checkpoint_gib or plan.objects.checkpoint_gib),
        "cost": plan.cost.as_json(),
        "waived": [{"rule": f.rule, "path": f.path, "reason": f.waiver} for f in result.findings if f.waiver],
        "findings": findings,
    }


def _storage(plan: Plan, checkpoint_gib: int | None) -> dict[str, Any]:
    made = plan.filesystem if plan.filesystem is not None and plan.filesystem.existing is None else None
    mbps = made.mbps if made else None
    return {
        "capacity_gib": made.capacity_gib if made else None,
        "mbps": mbps,
        "checkpoint_gib": checkpoint_gib,
        "checkpoint_seconds": round(seconds_to_write(checkpoint_gib, mbps), 1) if checkpoint_gib and mbps else None,
    }


def _known(value: Any) -> Any:
    """The value with null for each unknown in it, and whole numbers as such."""
    if isinstance(value, dict):
        return {key: _known(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_known(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (str, int, float, bool)) else None
