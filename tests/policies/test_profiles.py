"""The files of policies/profiles, as --policy-pack-config takes them: complete, valid, and what they make of bold
clusters. All others pass even the strict one: `test_our_clusters`. That the engine reads the files so:
tests/engine/test_policies.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pulumi_policy import Policy

import policies
from components.dryrun import dry_run
from policies.declare import DECLARED
from policies.pack import POLICIES
from tests.clusters import planned
from tests.policy_cases import CASES, changed

FOLDER = Path(policies.__path__[0]) / "profiles"
PROFILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
LEVELS = ["disabled", "advisory", "mandatory", "remediate"]

BOLD = {
    "aws-without-placement": ("aws", {"nodes.placement": "none"}, {"efa-nodes-without-placement"}),
    "azure-without-placement": (
        "azure",
        {"nodes.placement": "none", "waive": {"infiniband-without-placement": "benchmark of the difference"}},
        {"rdma-scale-set-split"},
    ),
    "aws-deleted": ("aws", {"storage.on_delete": "delete"}, {"data-store-unprotected"}),
    "azure-deleted": ("azure", {"storage.on_delete": "delete"}, {"data-store-unprotected"}),
}
"""Clusters that are legal and bold: the example, its changes, and the policies that say so."""


def test_there_is_a_profile_for_every_need() -> None:
    assert set(PROFILES) >= {"strict", "default", "research"}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_names_policies_of_the_pack_with_options_that_they_take(name: str) -> None:
    known = {policy.name: policy for policy in POLICIES}
    for policy, given in PROFILES[name].items():
        if policy == "all":
            assert given in LEVELS
            continue
        schema = {
            "properties": {**_options(known[policy]), "enforcementLevel": {"enum": LEVELS}},
            "additionalProperties": False,
        }
        jsonschema.validate({"enforcementLevel": given} if isinstance(given, str) else given, schema)


def test_the_default_profile_is_what_the_policies_declare_ready_to_be_copied(request: pytest.FixtureRequest) -> None:
    declared = json.dumps({policy.name: _declared(policy) for policy in POLICIES}, indent=2) + "\n"
    if request.config.option.update_snapshots:
        (FOLDER / "default.json").write_text(declared, encoding="utf-8")
    assert (FOLDER / "default.json").read_text(encoding="utf-8") == declared, "`make golden` rewrites it"


def _declared(policy: Policy) -> Any:
    assert policy.enforcement_level is not None
    level = policy.enforcement_level.value
    options = _options(policy)
    return {"enforcementLevel": level} | {name: o["default"] for name, o in options.items()} if options else level


def _options(policy: Policy) -> dict[str, dict[str, Any]]:
    return policy.config_schema.properties if policy.config_schema else {}


@pytest.mark.parametrize("name", BOLD)
def test_a_bold_cluster_passes_research_with_a_word_and_is_refused_by_strict_and_default(
    name: str, analyze: Callable[..., list[Any]]
) -> None:
    stack, changes, policies_of_it = BOLD[name]
    recorded = dry_run(planned(stack, changes)).requests
    for profile, level in (("research", "advisory"), ("strict", "mandatory"), ("default", "mandatory")):
        verdicts = analyze(recorded, PROFILES[profile])
        assert {(v.policy, v.level) for v in verdicts} == {(policy, level) for policy in policies_of_it}


@pytest.mark.parametrize("name", BOLD)
def test_check_says_of_a_bold_cluster_which_policy_refuses_it(name: str) -> None:
    stack, changes, (policy,) = BOLD[name]
    said = " ".join(finding.message for finding in planned(stack, changes).findings)
    assert re.findall(r"the policy (\S+) refuses it; the profile (\S+) of the pack", said) == [(policy, "research")]


def test_research_leaves_linux_exposure_data_encryption_and_identity_as_they_are() -> None:
    assert {DECLARED[policy].area for policy in PROFILES["research"]} == {"placement", "data"}
    assert all(level == "advisory" for level in PROFILES["research"].values())


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_every_policy_can_be_turned_off_by_name(policy: Any, judge: Callable[..., dict[str, list[str]]]) -> None:
    case = CASES[policy.name]
    wrong = changed(case, case["wrong"])
    config = {policy.name: {**case.get("config", {}), "enforcementLevel": "disabled"}}
    assert policy.name not in judge(*wrong, config=config)
