"""From a stack's configuration to a cluster: what `stacks/__main__.py` calls, and `components.dryrun` on mocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pulumi

from components.cluster import GpuCluster
from components.told import warn
from planning.findings import Finding, has_errors, render
from planning.frames import Frames
from planning.plan import Plan, assess
from planning.stackfile import MISSING, read_stack
from planning.stackkeys import judge_config


def read_plan(config: pulumi.Config, today: date, folder: Path) -> Plan:
    """The plan of the stack's `gpu-clusters:cluster`.

    Raises `pulumi.RunError` with every finding where there is an error, so that Pulumi prints them and no traceback.
    Warnings go to the log of the run. `folder` holds the stack file, whose lines they show.
    """
    keys = dict.fromkeys([*pulumi.runtime.config.CONFIG.get(), *pulumi.runtime.config.get_config_env()])
    spec = config.get_object("cluster")
    assessment = assess(spec, today, folder)
    findings = [*judge_config({}, keys), *assessment.findings]
    if assessment.plan is None or has_errors(findings):
        text = render(findings, _frame(spec, folder))
        raise pulumi.RunError(f"the cluster can not be built as it is described\n{text}")
    if told := [f for f in findings if f.level in ("warning", "waived")]:
        warn(told, _frame(spec, folder))
    return assessment.plan


def _frame(spec: object, folder: Path) -> Callable[[Finding], list[str]]:
    """The lines of the stack file, if it holds the very spec that the program got: config may come from elsewhere."""
    stack = read_stack(folder / f"Pulumi.{pulumi.get_stack()}.yaml")
    if stack.spec is MISSING or json.dumps(stack.spec, sort_keys=True) != json.dumps(spec, sort_keys=True):
        return lambda _: []
    return Frames(stack, f"{folder.name}/{stack.path.name}").frame


def build(plan: Plan) -> GpuCluster:
    """Declares the cluster with an explicit provider: the spec is the only place where region and account are said."""
    if plan.cloud == "aws":
        from components.aws import build_cluster
    else:
        from components.azure import build_cluster
    return build_cluster(plan)
