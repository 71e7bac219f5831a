"""`gpu-clusters advise`: which nodes and storage a training run takes, how long, what it costs, and a stack file of it.

The numbers: `planning.sizing`; the cost: `planning.cost`, of the stack that is recommended; the text for people:
`cli.advicetext`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from cli.usage import add_prices, size
from planning import catalog
from planning.catalog.records import Cloud
from planning.cost import Cost, Usage, whole_cost
from planning.findings import Finding, near
from planning.plan import assess
from planning.sizing.advise import Advice, Recommendation, recommend
from planning.sizing.errors import SizingError
from planning.sizing.explain import arithmetic, verdicts
from planning.sizing.runs import CLOUDS, Constraints, run_of
from planning.sizing.stack import spec_of, stack_text

TENTH = Decimal("0.1")
"""Of an hour, to which a run is priced."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_workload(parser)
    parser.add_argument("--cloud", choices=CLOUDS, help="default: both, each with an answer of its own")
    parser.add_argument("--write", type=Path, metavar="FILE", help="stack file to write, stacks/Pulumi.<name>.yaml")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")


def add_workload(parser: argparse.ArgumentParser, *, beside_usage: bool = False) -> None:
    """Flags that tell a run and what it may take; `compare` has them, too, beside those of `cli.usage`."""
    parser.add_argument("--model", metavar="MODEL", help="a public model, such as llama-3-70b, or parameters, as 13B")
    parser.add_argument("--tokens", metavar="N", help="tokens to train on, such as 1.5T or 1.5e12")
    parser.add_argument("--sequence-length", type=int, metavar="N", help="tokens of a sequence; default: the model's")
    parser.add_argument("--precision", default="bf16", metavar="WORD", help="bf16 (default) or fp8")
    parser.add_argument("--optimizer", default="adamw", metavar="WORD", help="default: adamw")
    parser.add_argument("--mfu", type=float, metavar="SHARE", help="steady utilisation that a run like it reached")
    parser.add_argument("--deadline-days", type=float, metavar="D", help="days that it may take")
    parser.add_argument("--budget", metavar="USD", help="US dollars that the nodes may cost")
    parser.add_argument("--node-type", metavar="TYPE", help="default: one with H100")
    parser.add_argument("--purchase", default="on-demand", metavar="WAY", help="on-demand (default), spot, …")
    parser.add_argument("--region", metavar="REGION", help="default: the one whose prices are known best")
    parser.add_argument("--data-region", metavar="REGION", help="where the data are now")
    if not beside_usage:
        parser.add_argument("--dataset-size", type=size, metavar="SIZE", help="default: the tokens as numbers")
        add_prices(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A recommendation, the spec of it, what `check` says of that, and what it costs over the likely time."""

    found: Recommendation
    spec: dict[str, Any]
    findings: tuple[Finding, ...]
    cost: Cost


def run(arguments: argparse.Namespace) -> int:
    """Exit code: 0 with an answer, 1 where no cloud that is asked about has one, 2 for a mistake in the question."""
    today = datetime.now(UTC).date()
    try:
        advice = advise(arguments, (arguments.cloud,) if arguments.cloud else CLOUDS)
        answers = [answer_of(found, advice.constraints, today) for found in advice.recommendations]
        if arguments.write is not None:
            _may_write(arguments)
    except SizingError as mistake:
        print(f"gpu-clusters: {mistake.message}\n  fix: {mistake.fix}", file=sys.stderr)
        return 2
    written = arguments.write is not None and bool(answers)
    if written and not _written(arguments.write, answers[0]):
        return 2
    if arguments.format == "json":
        print(json.dumps(as_json(advice, answers), indent=2))
    else:
        from cli.advicetext import as_text

        print("\n".join(as_text(advice, answers)))
        if written:
            print(f"\n{arguments.write} is written: `gpu-clusters check {arguments.write}`, then `plan`.")
    return 0 if answers else 1


def advise(arguments: argparse.Namespace, clouds: tuple[Cloud, ...]) -> Advice:
    """Raises `SizingError`."""
    for flag in ("model", "tokens"):
        if getattr(arguments, flag) is None:
            raise SizingError(f"--{flag} is missing", "write, for instance, --model llama-3-70b --tokens 1.5T")
    asked = run_of(
        arguments.model,
        arguments.tokens,
        sequence=arguments.sequence_length,
        precision=arguments.precision,
        optimizer=arguments.optimizer,
        dataset_bytes=arguments.dataset_size,
        mfu=arguments.mfu,
    )
    region_cloud = _cloud_of(arguments.region, "region") if arguments.region else None
    if region_cloud is not None and region_cloud not in clouds:
        raise SizingError(
            f"region: {arguments.region} is a region of {region_cloud}", f"leave out --cloud, or write {region_cloud}"
        )
    data_cloud = _cloud_of(arguments.data_region, "data region") if arguments.data_region else None
    constraints = Constraints(
        deadline_days=arguments.deadline_days,
        budget_usd=_money(arguments.budget),
        clouds=(region_cloud,) if region_cloud else clouds,
        regions={region_cloud: arguments.region} if region_cloud else {},
        node_type=arguments.node_type,
        purchase=_purchase(arguments.purchase),
        data_cloud=data_cloud,
        data_region=arguments.data_region,
        prices=arguments.prices,
    )
    return recommend(asked, constraints)


def _cloud_of(region: str, what: str) -> Cloud:
    for cloud in CLOUDS:
        if region in catalog.regions(cloud):
            return cloud
    known = [name for cloud in CLOUDS for name in catalog.regions(cloud)]
    close = near(region, known)
    raise SizingError(
        f"{what}: {region!r} is no region that is known here",
        f"did you mean {' or '.join(close)}?" if close else "write one such as us-east-1 or eastus",
    )


def _money(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        return Decimal(text.replace(",", "").replace("_", ""))
    except InvalidOperation:
        raise SizingError(f"budget: {text!r} is no money", "write US dollars, such as 250000") from None


def _purchase(word: str) -> Any:
    ways = ("on-demand", "spot", "reserved", "capacity-block")
    if word not in ways:
        close = near(word, list(ways))
        fix = f"did you mean {close[0]}?" if close else f"write one of {', '.join(ways)}"
        raise SizingError(f"purchase: {word!r} is no way to buy nodes", fix)
    return word


def answer_of(found: Recommendation, constraints: Constraints, today: date) -> Answer:
    of = found.estimate
    spec = spec_of(found, today)
    assessment = assess(spec, today, Path.cwd())
    errors = [f for f in assessment.findings if f.level == "error"]
    if assessment.spec is None or assessment.facts is None or errors:
        raise SizingError("; ".join(f"{f.path}: {f.message}" for f in errors), "; ".join(f.fix for f in errors))
    usage = Usage(
        hours=max(Decimal(of.days.likely * 24).quantize(TENTH), TENTH),
        checkpoint=of.checkpoint_bytes,
        interval=Decimal(round(of.failures.interval_s / 3600, 2)).quantize(Decimal("0.01")),
        dataset=of.run.dataset_bytes or None,
        dataset_region=constraints.data_region,
    )
    return Answer(
        found=found,
        spec=spec,
        findings=assessment.findings,
        cost=whole_cost(assessment.spec, assessment.facts, usage, constraints.prices),
    )


def _may_write(arguments: argparse.Namespace) -> None:
    if arguments.cloud is None and arguments.region is None and arguments.node_type is None:
        raise SizingError("--write: two clouds, and one file", "name the cloud: --cloud aws or --cloud azure")
    path: Path = arguments.write
    if path.exists() and not arguments.force:
        raise SizingError(f"--write: {path} is there already", "name another file, or write over it with --force")
    if not path.parent.is_dir():
        raise SizingError(f"--write: there is no folder {path.parent}", "name a file in stacks/")


def _written(path: Path, answer: Answer) -> bool:
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(stack_text(answer.found, answer.spec), encoding="utf-8")
        beside.replace(path)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        print(f"gpu-clusters: {path} can not be written: {problem.strerror}", file=sys.stderr)
        return False
    return True


def as_json(advice: Advice, answers: list[Answer]) -> dict[str, Any]:
    asked = advice.run
    return {
        "run": {
            "model": asked.model.name,
            "parameters": asked.model.parameters,
            "tokens": asked.tokens,
            "sequence_length": asked.sequence,
            "precision": asked.precision,
            "optimizer": asked.optimizer,
            "dataset_bytes": asked.dataset_bytes,
        },
        "answers": [_answer_json(advice, answer) for answer in answers],
        "refusals": [
            {"cloud": cloud, "message": no.message, "would": list(no.would)} for cloud, no in advice.refusals.items()
        ],
    }


def _answer_json(advice: Advice, answer: Answer) -> dict[str, Any]:
    found, of = answer.found, answer.found.estimate
    return {
        "cloud": found.cloud,
        "region": of.region,
        "node_type": of.node.name,
        "nodes": of.nodes,
        "gpus": of.gpus,
        "days": {"low": of.days.low, "likely": of.days.likely, "high": of.days.high},
        "gpu_hours": {"low": of.gpu_hours.low, "likely": of.gpu_hours.likely, "high": of.gpu_hours.high},
        "mfu": {"low": of.utilisation.low, "likely": of.utilisation.likely, "high": of.utilisation.high},
        "checkpoint": {
            "bytes": of.checkpoint_bytes,
            "write_seconds": of.write_s,
            "interval_seconds": of.failures.interval_s,
        },
        "lost_to_failures": of.failures.lost,
        "arithmetic": [{"topic": line.topic, "text": line.text} for line in arithmetic(found)],
        "verdicts": list(verdicts(found, advice.constraints)),
        "purchases": [
            {"purchase": o.purchase, "usd": float(o.usd) if o.usd is not None else None, "risk": o.risk}
            for o in found.options
        ],
        "alternatives": [
            {"node_type": a.node_type, "nodes": a.nodes, "usd": float(a.usd) if a.usd is not None else None}
            for a in found.alternatives
        ],
        "cost": answer.cost.as_json(),
        "spec": answer.spec,
        "findings": [f.as_json() for f in answer.findings],
    }
