"""`gpu-clusters rules`: what stacks are checked by."""

from __future__ import annotations

import argparse
import json

from planning.rules import RULES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")


def run(arguments: argparse.Namespace) -> int:
    rules = sorted(RULES.values(), key=lambda r: r.id)
    if arguments.format == "json":
        fields = ("id", "level", "cloud", "guards", "reference")
        print(json.dumps({"rules": [{name: getattr(r, name) for name in fields} for r in rules]}, indent=2))
    else:
        width = max(len(r.id) for r in rules)
        for r in rules:
            print(f"{r.id:<{width}}  {r.level:<7}  {r.cloud:<5}  {r.guards}")
    return 0
