"""Clusters that `check` refuses, declared all the same: what a plan would be if no rule spoke."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any
from unittest import mock

from planning import plan as planning_plan
from planning.plan import Plan, assess
from tests.agreement.declared import empty_cloud, refusals
from tests.agreement.existing import with_existing
from tests.clusters import ROOT


def forced_plan(raw: Mapping[str, Any], today: date) -> Plan:
    """Only what no plan can be made of is still refused: shape, an unknown node type."""
    with mock.patch.object(planning_plan, "judge", return_value=[]):
        assessment = assess(raw, today, ROOT / "stacks")
    assert assessment.plan is not None, assessment.findings
    return assessment.plan


def refused_all_the_same(raw: Mapping[str, Any], today: date) -> list[str]:
    """What the local cloud says to it, with all that it names in place."""
    plan = forced_plan(raw, today)
    with empty_cloud(plan.cloud) as driver:
        return refusals(forced_plan(with_existing(driver, raw, plan), today), driver)
