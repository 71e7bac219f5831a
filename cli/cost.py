"""`gpu-clusters cost`: what a stack costs an hour, a month and a run, line by line, with what that stands on."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from cli.check import exit_code
from cli.stacks import Judged, judge_stack
from cli.usage import add_usage, usage_of, with_stack
from planning.cost import Cost, Line, Prices, Usage, whole_cost
from planning.cost.lines import KINDS

WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stacks", nargs="+", metavar="STACK", help="name of a stack, or path of a stack file")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")
    add_usage(parser)


def run(arguments: argparse.Namespace) -> int:
    """JSON is one object for one stack, and a list for several; a stack with errors has its findings instead."""
    results = [judge_stack(source) for source in arguments.stacks]
    usage = usage_of(arguments)
    costs = [cost_of_stack(result, usage, arguments.prices) for result in results]
    if arguments.format == "json":
        shown = [_as_json(result, cost) for result, cost in zip(results, costs, strict=True)]
        print(json.dumps(shown[0] if len(shown) == 1 else shown, indent=2))
    else:
        print("\n\n".join(_as_text(result, cost) for result, cost in zip(results, costs, strict=True)))
    return exit_code(results)


def cost_of_stack(result: Judged, usage: Usage, prices: Prices) -> Cost | None:
    """None where the stack has errors."""
    found = result.assessment
    if found is None or not result.ok or found.spec is None or found.facts is None or found.plan is None:
        return None
    return whole_cost(found.spec, found.facts, with_stack(usage, found.plan), prices)


def _as_json(result: Judged, cost: Cost | None) -> dict[str, Any]:
    if cost is None:
        return {"source": result.source, "ok": False, "findings": result.as_json()}
    return {"source": result.source, "ok": True, **cost.as_json()}


def _as_text(result: Judged, cost: Cost | None) -> str:
    if cost is None:
        from cli.colours import painter

        return f"{result.source}: no cost\n{result.as_text(paint=painter())}"
    assert result.assessment is not None
    assert result.assessment.plan is not None
    return "\n".join([f"{result.source}: {result.assessment.plan.name}", *told(cost)])


def told(cost: Cost) -> Iterator[str]:
    """The table, its sum, where its prices come from, and what it stands on."""
    heads = ["USD/hour", "USD/month"] + ([f"USD/{cost.hours:,f} h"] if cost.hours else [])
    rows = [(line, _amounts(line, cost.hours)) for kind in KINDS for line in cost.of(kind)]
    sums = [cost.usd_per_hour, cost.usd_per_month] + ([cost.usd_per_run] if cost.hours else [])
    total = [f"{amount:,}" for amount in sums]
    widths = [max(map(len, column)) for column in zip(heads, total, *(each for _, each in rows), strict=True)]
    sources = list(dict.fromkeys(_source(line) for line, _ in rows if line.unit_price is not None))
    yield _row("", heads, widths)
    kind = ""
    for line, amounts in rows:
        yield _row(line.kind if line.kind != kind else "", amounts, widths) + f"  {line.item}"
        kind = line.kind
        yield from _wrapped(_details(line, sources), 14 + sum(widths) + 2 * len(widths))
    yield _row("at least" if cost.is_lower_bound else "total", total, widths)
    yield "prices"
    for number, source in enumerate(sources, 1):
        yield from _wrapped(f"{f'[{number}]':<4} {source}", 2, hang="     ")
    yield "assumed"
    for assumption in cost.assumptions:
        yield from _wrapped(f"- {assumption}", 2, hang="  ")


def _source(line: Line) -> str:
    return f"{line.price_date}  {line.source}"


def _row(kind: str, amounts: list[str], widths: list[int]) -> str:
    cells = "  ".join(f"{amount:>{width}}" for amount, width in zip(amounts, widths, strict=True))
    return f"  {kind:<10}  {cells}"


def _amounts(line: Line, hours: Decimal | None) -> list[str]:
    amounts = [line.usd_per_hour, line.usd_per_month] + ([line.usd_in(hours)] if hours else [])
    unknown = "unknown" if line.unit_price is None else "once"
    return [unknown if amount is None else f"{amount:,}" for amount in amounts]


def _details(line: Line, sources: list[str]) -> str:
    quantity = f"{round(line.quantity, 3).normalize():,f} {line.unit}"
    price = f" at {line.unit_price:f} [{sources.index(_source(line)) + 1}]" if line.unit_price is not None else ""
    return f"{quantity}{price}{f'; {line.note}' if line.note else ''}"


def _wrapped(text: str, indent: int, hang: str = "") -> list[str]:
    lead = " " * indent
    return textwrap.wrap(
        text,
        max(WIDTH, indent + 50),
        initial_indent=lead,
        subsequent_indent=lead + hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
