"""`gpu-clusters images`: which machine image each stack's nodes are made from. With `--update` AWS is asked, once.

What is recorded, and where: `planning.facts.imagerecord`. What AWS says: `cli.awsimages`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from cli.awsimages import LookUpError, NoAnswerError, look_up
from cli.check import exit_code
from cli.stacks import Judged, judge_stack, stack_names
from localcloud.stackfiles import write
from planning.facts.imagerecord import FILE, ImageRecord, read_records
from planning.facts.imagerecord import render as as_toml
from planning.findings import Finding
from planning.plan import Plan

LOOK_UP = "image-look-up"
"""Id of the finding that only this command makes, beside those of the rules."""
Image = tuple[str, str]
"""Region, and what names the image there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "stacks", nargs="*", metavar="STACK", help="name of a stack, or path of a stack file; none: all"
    )
    parser.add_argument("--update", action="store_true", help=f"ask AWS, and write {FILE} beside the stack files")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text, for people")


def run(arguments: argparse.Namespace) -> int:
    sources = arguments.stacks or stack_names()
    stacks = [judge_stack(source) for source in sources]
    before, failures = [_record(stack) for stack in stacks], {}
    if arguments.update:
        failures = _update(stacks)
        stacks = [judge_stack(source) for source in sources]
    shown = [(stack, was, _findings(stack, failures)) for stack, was in zip(stacks, before, strict=True)]
    if arguments.format == "json":
        print(json.dumps({"results": [_as_json(*each) for each in shown]}, indent=2))
    else:
        print("\n\n".join(_as_text(*each) for each in shown))
    codes = [2 if isinstance(failure, NoAnswerError) else 1 for failure in failures.values()]
    return max([exit_code(stacks), *codes])


def _update(stacks: list[Judged]) -> dict[Image, LookUpError]:
    """Asks for every image before it writes: where one answer is missing, no file is touched."""
    wanted = [(stack.path.parent, image) for stack in stacks if stack.path and (image := _image(stack))]
    answers: dict[Image, ImageRecord] = {}
    failures: dict[Image, LookUpError] = {}
    for region, asked in dict.fromkeys(image for _, image in wanted):
        try:
            answers[region, asked] = look_up(asked, region, datetime.now(UTC).date())
        except LookUpError as failure:
            failures[region, asked] = failure
    if failures:
        return failures
    for folder in dict.fromkeys(folder for folder, _ in wanted):
        records = read_records(folder)
        images = [image for beside, image in wanted if beside == folder]
        for region, asked in images:
            records.setdefault(region, {})[asked] = answers[region, asked]
        try:
            write(folder / FILE, as_toml(records).encode())
        except OSError as problem:
            failure = NoAnswerError(f"{folder / FILE} can not be written: {problem.strerror}")
            failures |= dict.fromkeys(images, failure)
    return failures


def _plan(stack: Judged) -> Plan | None:
    return stack.assessment.plan if stack.assessment and stack.ok else None


def _image(stack: Judged) -> Image | None:
    """The image that AWS can be asked for."""
    plan = _plan(stack)
    return (plan.region, plan.nodes.image.asked) if plan and plan.cloud == "aws" else None


def _record(stack: Judged) -> ImageRecord | None:
    plan = _plan(stack)
    return plan.nodes.image.record if plan else None


def _findings(stack: Judged, failures: Mapping[Image, LookUpError]) -> list[Finding]:
    """All that is wrong, and of the rest what is about the image."""
    told = [f for f in stack.findings if f.level == "error" or f.path in ("nodes.image", "nodes.root_disk")]
    image = _image(stack)
    if image and image in failures:
        fix = f"nothing was written; try again when this is mended, or write {FILE} by hand"
        told.append(Finding("nodes.image", LOOK_UP, "error", str(failures[image]), fix, "docs/aws.md"))
    return told


# What is shown


def _as_json(stack: Judged, was: ImageRecord | None, findings: list[Finding]) -> dict[str, object]:
    plan, now = _plan(stack), _record(stack)
    image = None
    if plan is not None:
        image = {
            "region": plan.region,
            "asked": plan.nodes.image.asked,
            "record": now.model_dump(mode="json") if now else None,
            "was": was.id if was else None,
        }
    return {
        "source": stack.source,
        "ok": not any(f.level == "error" for f in findings),
        "image": image,
        "findings": stack.as_json(findings),
    }


def _as_text(stack: Judged, was: ImageRecord | None, findings: list[Finding]) -> str:
    plan, now = _plan(stack), _record(stack)
    if plan is None:
        return f"{stack.source}: no plan, and so no image\n{stack.as_text(findings)}"
    lines = [f"{stack.source}: {plan.nodes.image.asked} in {plan.region}"]
    if now:
        deprecated = f", deprecated from {now.deprecated}" if now.deprecated else ""
        lines.append(f"  recorded  {now.id} on {now.recorded}: {now.name}")
        lines.append(f"            {now.arch}, root disk {now.root_device} of {now.root_gib} GiB{deprecated}")
    elif plan.cloud == "azure":
        lines.append("  recorded  by its version, which is pinned in the stack file or the catalogue: nothing to ask")
    else:
        lines.append("  recorded  nothing")
    if now and was and was.id != now.id:
        lines.append(f"  changed   {was.id} -> {now.id}; running nodes keep theirs until they are replaced")
    elif now and not was:
        lines.append("  changed   nothing was recorded before; running nodes keep their image until they are replaced")
    return "\n".join([*lines, *([stack.as_text(findings)] if findings else [])])
