"""`gpu-clusters compare`: stacks, or one training run on both clouds, side by side: money, and what differs beside it.

The page that `--html` writes: `cli.comparepage`. What a cluster can and can not: `cli.capabilities`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from cli.advise import add_workload, advise, answer_of
from cli.capabilities import capabilities
from cli.cost import cost_of_stack
from cli.stacks import judge_stack
from cli.usage import add_usage, usage_of
from planning.cost import Cost
from planning.cost.lines import KINDS
from planning.plan import Plan, assess
from planning.sizing.errors import SizingError
from planning.sizing.runs import CLOUDS

MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One cluster of a comparison."""

    title: str
    plan: Plan
    cost: Cost

    @property
    def gpus(self) -> int:
        return self.plan.nodes.count * self.plan.nodes.gpus

    @property
    def usd_per_gpu_hour(self) -> Decimal | None:
        if not self.plan.nodes.declared:
            return None
        return (self.cost.usd_per_hour / self.gpus).quantize(Decimal("0.01"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    columns: tuple[Column, ...]
    horizon: str
    """What the totals are of."""
    refusals: dict[str, str]
    """Clouds that have no answer, and why."""

    def difference(self, column: Column) -> str:
        """Of a column's total to the first one's."""
        first = self.columns[0].cost.total
        more = column.cost.total - first
        share = f" ({more / first:+.1%})" if first else ""
        return "" if column is self.columns[0] else f"{more:+,.2f}{share}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stacks", nargs="*", metavar="STACK", help="names of stacks, or paths of stack files")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page to write, with charts")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")
    add_usage(parser)
    add_workload(parser, beside_usage=True)


def run(arguments: argparse.Namespace) -> int:
    """Exit code: 1 where a stack has errors or no cloud has an answer, 2 for wrong usage."""
    try:
        found = _compare(arguments)
    except SizingError as mistake:
        print(f"gpu-clusters: {mistake.message}\n  fix: {mistake.fix}", file=sys.stderr)
        return 2
    if isinstance(found, int):
        return found
    if arguments.html is not None and not _page_written(arguments.html, found):
        return 2
    if arguments.format == "json":
        print(json.dumps(as_json(found), indent=2))
    else:
        print("\n".join(_as_text(found)))
        if arguments.html is not None:
            print(f"\n{arguments.html} is written")
    return 0


def _compare(arguments: argparse.Namespace) -> Comparison | int:
    if arguments.stacks and arguments.model:
        raise SizingError("stacks and --model are both given", "compare stacks, or one run on both clouds")
    if arguments.model or arguments.tokens:
        return _of_run(arguments)
    if not 2 <= len(arguments.stacks) <= MOST_COLUMNS:
        raise SizingError(
            f"{len(arguments.stacks)} stacks are given", f"name 2 to {MOST_COLUMNS}, or a run by --model and --tokens"
        )
    return _of_stacks(arguments)


def _of_stacks(arguments: argparse.Namespace) -> Comparison | int:
    usage, columns, worst = usage_of(arguments), [], 0
    for source in arguments.stacks:
        result = judge_stack(source)
        cost = cost_of_stack(result, usage, arguments.prices)
        if cost is None or result.assessment is None or result.assessment.plan is None:
            print(f"{source}: no cost\n{result.as_text()}", file=sys.stderr)
            worst = max(worst, 2 if result.assessment is None else 1)
            continue
        columns.append(Column(title=source, plan=result.assessment.plan, cost=cost))
    if worst:
        return worst
    hours = usage.hours
    return Comparison(
        columns=tuple(columns),
        horizon=f"a run of {hours:,f} hours" if hours else "a month of 730 hours",
        refusals={},
    )


def _of_run(arguments: argparse.Namespace) -> Comparison | int:
    """Each cloud takes the time that it takes: totals are of the whole run."""
    for flag in ("hours", "checkpoint_size", "egress", "dataset_region"):
        if getattr(arguments, flag) is not None:
            raise SizingError(
                f"--{flag.replace('_', '-')} is for stacks: of a run it follows from the model",
                "leave it out; where the data are is told by --data-region",
            )
    today = datetime.now(UTC).date()
    advice = advise(arguments, CLOUDS)
    columns = []
    for found in advice.recommendations:
        answer = answer_of(found, advice.constraints, today)
        plan = assess(answer.spec, today, Path.cwd()).plan
        assert plan is not None
        days = f"{found.estimate.days.likely:.1f} days"
        columns.append(Column(title=f"{found.cloud}, {days}", plan=plan, cost=answer.cost))
    refusals: dict[str, str] = {cloud: str(no) for cloud, no in advice.refusals.items()}
    if not columns:
        for cloud, why in refusals.items():
            print(f"{cloud}: {why}", file=sys.stderr)
        return 1
    horizon = f"{advice.run.model.name} on {advice.run.tokens:.4g} tokens, in the time that each likely takes"
    return Comparison(columns=tuple(columns), horizon=horizon, refusals=refusals)


def _page_written(path: Path, found: Comparison) -> bool:
    from cli.comparepage import page

    try:
        path.write_text(page(found), encoding="utf-8")
    except OSError as problem:
        print(f"gpu-clusters: {path} can not be written: {problem.strerror}", file=sys.stderr)
        return False
    return True


def rows(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    """The money, a row each, as people read it."""
    for kind in KINDS:
        if any(column.cost.of(kind) for column in found.columns):
            yield kind, [column.cost.shown_of(kind) for column in found.columns]
    yield "total", [f"{'at least ' * c.cost.is_lower_bound}{c.cost.total:,.2f}" for c in found.columns]
    if len(found.columns) > 1:
        yield f"against {found.columns[0].title}", [found.difference(column) for column in found.columns]
    yield "an hour", [f"{column.cost.usd_per_hour:,.2f}" for column in found.columns]
    yield "a GPU-hour", [_money(column.usd_per_gpu_hour) for column in found.columns]


def _money(amount: Decimal | None) -> str:
    return "unknown" if amount is None else f"{amount:,.2f}"


def as_json(found: Comparison) -> dict[str, Any]:
    return {
        "horizon": found.horizon,
        "clusters": [
            {
                "title": column.title,
                "cloud": column.plan.cloud,
                "region": column.plan.region,
                "node_type": column.plan.nodes.type,
                "nodes": column.plan.nodes.count,
                "gpus": column.gpus,
                "usd": float(column.cost.total),
                "usd_by_kind": {k: float(v) if (v := column.cost.sum_of(k)) is not None else None for k in KINDS},
                "usd_per_gpu_hour": float(each) if (each := column.usd_per_gpu_hour) is not None else None,
                "cost": column.cost.as_json(),
                "capabilities": dict(capabilities(column.plan)),
            }
            for column in found.columns
        ],
        "refusals": found.refusals,
    }


def _as_text(found: Comparison) -> Iterator[str]:
    yield f"USD for {found.horizon}"
    table = [("", [column.title for column in found.columns]), *rows(found)]
    left = max(len(name) for name, _ in table)
    widths = [max(len(cells[n]) for _, cells in table) for n in range(len(found.columns))]
    for name, cells in table:
        shown = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"  {name:<{left}}  {shown}".rstrip()
    yield "what differs"
    for name, cells in differing(found):
        yield f"  {name}"
        yield from (f"    {column.title}: {cell}" for column, cell in zip(found.columns, cells, strict=True))
    for cloud, why in found.refusals.items():
        yield f"no answer on {cloud}"
        yield f"  {why}"
    yield "assumed"
    yield from (f"  - {text}" for text in assumptions(found))


def differing(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    """Capabilities that are not the same everywhere; of a single cluster, all."""
    told = [dict(capabilities(column.plan)) for column in found.columns]
    for name in told[0]:
        cells = [each[name] for each in told]
        if len(set(cells)) > 1 or len(cells) == 1:
            yield name, cells


def assumptions(found: Comparison) -> list[str]:
    """Those of all, each once; with its cluster where it is not of every one."""
    texts = dict.fromkeys(text for column in found.columns for text in column.cost.assumptions)
    return [_whose(found, text) for text in texts]


def _whose(found: Comparison, text: str) -> str:
    of = [column.title for column in found.columns if text in column.cost.assumptions]
    return text if len(of) == len(found.columns) else f"{', '.join(of)}: {text}"
