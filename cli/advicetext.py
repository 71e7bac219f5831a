"""Advice as text for people: each number with how it came about, what it costs, and what to know."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from planning.cost.lines import KINDS
from planning.sizing.advise import Advice
from planning.sizing.explain import arithmetic, verdicts

if TYPE_CHECKING:
    from cli.advise import Answer

WIDTH = 100


def as_text(advice: Advice, answers: list[Answer]) -> Iterator[str]:
    asked = advice.run
    yield (
        f"{asked.model.name} on {asked.tokens:.4g} tokens, sequences of {asked.sequence:,}, {asked.precision}, "
        f"{asked.optimizer}, {asked.dataset_bytes / 1e12:.3g} TB of data"
    )
    for answer in answers:
        yield ""
        yield from _answer_text(advice, answer)
    for cloud, no in advice.refusals.items():
        yield f"\n{cloud}: no"
        yield from _told("why", no.message)
        for number, would in enumerate(no.would):
            yield from _told("would do" if not number else "", would)


def _answer_text(advice: Advice, answer: Answer) -> Iterator[str]:
    found, of = answer.found, answer.found.estimate
    nodes = f"{of.nodes:,} x {of.node.name}"
    yield f"{found.cloud}, {of.region}: {nodes}, {of.gpus:,} GPUs, {_days(of.days.likely)}"
    for line in arithmetic(found):
        yield from _told(line.topic, line.text)
    for number, option in enumerate(found.options):
        usd = "no price known" if option.usd is None else f"{option.usd:,} USD for its nodes"
        yield from _told("purchase" if not number else "", f"{option.purchase}, {usd}: {option.risk}")
    cost = answer.cost
    least = "at least " if cost.is_lower_bound else ""
    parts = ", ".join(f"{kind} {cost.shown_of(kind, 0)}" for kind in KINDS if cost.of(kind))
    yield from _told("cost", f"{least}{cost.usd_per_run:,} USD for {_days(of.days.likely)}: {parts}")
    yield from _told("", f"{least}{cost.usd_per_hour:,} USD an hour; lines: `gpu-clusters cost` of the stack")
    for number, other in enumerate(found.alternatives[:3]):
        usd = "no price known" if other.usd is None else f"{other.usd:,} USD for its nodes"
        yield from _told("or" if not number else "", f"{other.nodes:,} x {other.node_type}, {usd}")
    for number, text in enumerate(verdicts(found, advice.constraints)):
        yield from _told("know" if not number else "", text)


def _days(days: float) -> str:
    if days >= 1:
        return f"{days:.0f} days" if days >= 10 else f"{days:.1f} days"
    return f"{days * 24:.1f} hours" if days * 24 >= 0.1 else "some minutes"


def _told(topic: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {topic:<14}",
        subsequent_indent=" " * 16,
        break_long_words=False,
        break_on_hyphens=False,
    )
