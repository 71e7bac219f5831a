"""`gpu-clusters check`: everything that is wrong with stacks, at once, without any cloud."""

from __future__ import annotations

import argparse
import json

from cli.stacks import Judged, judge_stack
from planning.findings import render


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stacks", nargs="+", metavar="STACK", help="name of a stack, or path of a stack file")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")


def run(arguments: argparse.Namespace) -> int:
    results = [judge_stack(source) for source in arguments.stacks]
    if arguments.format == "json":
        print(json.dumps({"results": [_as_json(r) for r in results]}, indent=2))
    else:
        print("\n\n".join(_as_text(r) for r in results))
    return exit_code(results)


def exit_code(results: list[Judged]) -> int:
    if any(r.assessment is None for r in results):
        return 2
    return 0 if all(r.ok for r in results) else 1


def _as_json(result: Judged) -> dict[str, object]:
    return {"source": result.source, "ok": result.ok, "findings": [f.as_json() for f in result.findings]}


def _as_text(result: Judged) -> str:
    errors = sum(f.level == "error" for f in result.findings)
    verdict = "fine" if result.ok else f"{errors} error{'s' if errors > 1 else ''}"
    return "\n".join(filter(None, (f"{result.source}: {verdict}", render(result.findings))))
