"""`gpu-clusters check`: everything that is wrong with stacks, at once, without any cloud."""

from __future__ import annotations

import argparse
import json
from collections import Counter

from cli.colours import painter
from cli.stacks import Judged, judge_stack
from planning.findings import Paint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stacks", nargs="+", metavar="STACK", help="name of a stack, or path of a stack file")
    parser.add_argument(
        "--format",
        choices=("text", "json", "github", "sarif"),
        default="text",
        help="text, the default, is for people; github: annotations of a workflow; sarif: for code scanning",
    )


def run(arguments: argparse.Namespace) -> int:
    results = [judge_stack(source) for source in arguments.stacks]
    if arguments.format == "json":
        print(json.dumps({"results": [_as_json(r) for r in results]}, indent=2))
    elif arguments.format == "github":
        from cli.annotations import annotations

        for line in annotations(results):
            print(line)
    elif arguments.format == "sarif":
        from cli.sarif import sarif

        print(json.dumps(sarif(results), indent=2))
    else:
        print(_as_text(results, painter()))
    return exit_code(results)


def exit_code(results: list[Judged]) -> int:
    if any(r.assessment is None for r in results):
        return 2
    return 0 if all(r.ok for r in results) else 1


def _as_json(result: Judged) -> dict[str, object]:
    return {"source": result.source, "ok": result.ok, "findings": result.as_json()}


def _as_text(results: list[Judged], paint: Paint) -> str:
    """Each stack with its findings, a blank line around those that have any; the sum at the end."""
    parts: list[str] = []
    for result in results:
        text = "\n".join([_headline(result), *([result.as_text(paint=paint)] if result.findings else [])])
        parts.append(f"{text}\n" if result.findings else text)
    return "\n".join([*parts, _summary(results)])


def _headline(result: Judged) -> str:
    errors = sum(f.level == "error" for f in result.findings)
    return f"{result.source}: {'fine' if result.ok else _counted(errors, 'error')}"


def _summary(results: list[Judged]) -> str:
    counts = Counter(f.level for result in results for f in result.findings)
    words = [
        _counted(counts["error"], "error"),
        _counted(counts["warning"], "warning"),
        _counted(counts["info"], "info"),
    ]
    if counts["waived"]:
        words.append(f"{counts['waived']} waived")
    return f"{', '.join(words)} over {_counted(len(results), 'stack')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
