"""`gpu-clusters rules`: what stacks are checked by. Its Markdown is docs/rules.md, which a test keeps current."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import groupby

from planning.rules import RULES, Rule

CLOUDS = {"aws": "AWS", "azure": "Azure", "both": "both"}
HEAD = """# Rules

What a stack file is checked by beside its shape, before any cloud is asked. `gpu-clusters check STACK` tells all that
they find, each with its place, the reason and what to write instead. An error stops; a warning is a risk that somebody
should know of; an info says what was chosen. A rule that can be waived is lived with by `waive: {id: reason}` in the
[spec](spec.md#where-and-what), and is then told as waived. Made by `gpu-clusters rules --format markdown`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="default: text, for people"
    )


def run(arguments: argparse.Namespace) -> int:
    rules = sorted(RULES.values(), key=lambda r: r.id)
    if arguments.format == "json":
        fields = ("id", "level", "cloud", "guards", "reference")
        print(json.dumps({"rules": [{name: getattr(r, name) for name in fields} for r in rules]}, indent=2))
    elif arguments.format == "markdown":
        print("\n".join(_page(rules)))
    else:
        width = max(len(r.id) for r in rules)
        for r in rules:
            print(f"{r.id:<{width}}  {r.level:<7}  {r.cloud:<5}  {r.guards}")
    return 0


def _page(rules: list[Rule]) -> Iterator[str]:
    """By area, which is the module that holds them."""
    yield HEAD.rstrip()
    for area, group in groupby(sorted(rules, key=lambda r: (_area(r), r.id)), key=_area):
        yield f"\n## {area}\n\n| rule | level | cloud | guards | can be waived | source |\n|---|---|---|---|---|---|"
        for r in group:
            waivable = "yes" if r.waivable else "no"
            yield f"| `{r.id}` | {r.level} | {CLOUDS[r.cloud]} | {r.guards} | {waivable} | {_sources(r)} |"


def _area(declared: Rule) -> str:
    name = declared.check.__module__.rpartition(".")[2]
    return "Waivers" if name == "registry" else name.replace("_", " ").capitalize()


def _sources(declared: Rule) -> str:
    """A link, or one for each cloud where they differ; pages of ours as seen from docs/."""
    links = {cloud: link.removeprefix("docs/") for cloud, link in declared.references.items()}
    if len({*links.values()}) > 1:
        return ", ".join(f"[{CLOUDS[cloud]}]({link})" for cloud, link in links.items())
    link = next(iter(links.values()))
    return f"[{link.removesuffix('.md') if link.endswith('.md') else 'source'}]({link})"
