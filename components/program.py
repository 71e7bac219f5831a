"""From a stack's configuration to a cluster: what `stacks/__main__.py` calls, and `components.dryrun` on mocks."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pulumi

from components.cluster import GpuCluster
from planning.findings import has_errors, render
from planning.plan import Plan, assess
from planning.stackkeys import judge_config


def read_plan(config: pulumi.Config, today: date, folder: Path) -> Plan:
    """The plan of the stack's `gpu-clusters:cluster`.

    Raises `pulumi.RunError` with every finding where there is an error, so that Pulumi prints them and no traceback.
    Warnings go to the log of the run.
    """
    keys = dict.fromkeys([*pulumi.runtime.config.CONFIG.get(), *pulumi.runtime.config.get_config_env()])
    assessment = assess(config.get_object("cluster"), today, folder)
    findings = [*judge_config({}, keys), *assessment.findings]
    if assessment.plan is None or has_errors(findings):
        raise pulumi.RunError(f"the cluster can not be built as it is described\n{render(findings)}")
    if told := [f for f in findings if f.level in ("warning", "waived")]:
        pulumi.log.warn(render(told))
    return assessment.plan


def build(plan: Plan) -> GpuCluster:
    """Declares the cluster with an explicit provider: the spec is the only place where region and account are said."""
    if plan.cloud == "aws":
        from components.aws import build_cluster
    else:
        from components.azure import build_cluster
    return build_cluster(plan)
