"""The pack as the real engine runs it: every mandatory policy refuses a preview, profiles and exceptions are read,
remediations are made, and a state is judged that came about without the pack.

The stacks are the broken ones of tests/policies/cases, declared by the program in `offending`. What each policy judges:
tests/policies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policies.pack import POLICIES
from tests.clusters import stack_file
from tests.policy_cases import CASES, CONFIG

HERE = Path(__file__).parent
PACK = HERE.parent.parent / "policies"
VERDICT = re.compile(r"\[(\w+)\] \[severity: \w+\]  (\S+)  \(\S+: (\S+)\)")
MANDATORY = {p.name for p in POLICIES if p.enforcement_level and p.enforcement_level.value == "mandatory"}
OF_SCRIPTS = {
    "aws-p5": {"aws-windows-node", "fabric-turned-off-at-boot"},
    "azure-nd-h100": {"fabric-turned-off-at-boot"},
}
UNTIL_UP = {name for name, case in CASES.items() if "up" in case}


def _stack(workspace: Callable[..., Any], cloud: str, **settings: str) -> Any:
    made = workspace(HERE / "offending")
    given = {"cloud": cloud, **settings}
    lines = [f"  offending:{key}: '{value}'" for key, value in given.items()]
    made.stack("dev", "\n".join(["config:", "  aws:region: us-east-1", *lines]))
    return made


def _pack(tmp_path: Path, config: Any) -> tuple[str, ...]:
    if isinstance(config, Path):
        return ("--policy-pack", str(PACK), "--policy-pack-config", str(config))
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    return ("--policy-pack", str(PACK), "--policy-pack-config", str(file))


def _verdicts(done: Any) -> list[tuple[str, str, str]]:
    """Level, policy and name of the resource of every verdict."""
    return VERDICT.findall(done.stdout)


@pytest.mark.parametrize("cloud", ["aws", "azure-native"])
def test_every_mandatory_policy_refuses_its_stack_in_a_preview(
    workspace: Callable[..., Any], tmp_path: Path, cloud: str
) -> None:
    of_cloud = {name for name in MANDATORY if CASES[name]["right"][-1]["type"].startswith(cloud)}
    stack = _stack(workspace, cloud)
    refused = stack.pulumi("preview", "--stack", "dev", *_pack(tmp_path, CONFIG), check=False)
    assert refused.returncode != 0
    own = {policy for level, policy, name in _verdicts(refused) if level == "mandatory" and name.startswith(policy)}
    assert own == of_cloud - UNTIL_UP
    assert stack.exists() == []


LATE = [
    "aws-admin-policy",
    "aws-imds-v1",
    "aws-role-trust-open",
    "fabric-turned-off-at-boot",
    *sorted(UNTIL_UP & MANDATORY),
]


@pytest.mark.parametrize("policy", LATE)
def test_what_a_preview_cannot_know_is_refused_before_it_is_made(
    workspace: Callable[..., Any], tmp_path: Path, policy: str
) -> None:
    stack = _stack(workspace, "aws", only=policy, late="true")
    pack = _pack(tmp_path, CONFIG)
    preview = stack.pulumi("preview", "--stack", "dev", *pack)
    assert policy in UNTIL_UP or f"can't run policy '{policy}'" in preview.stdout
    up = stack.up("dev", *pack, check=False)
    assert up.returncode != 0
    assert ("mandatory", policy) in {verdict[:2] for verdict in _verdicts(up)}
    assert {record.type for record in stack.exists()} == {"aws:ec2/keyPair:KeyPair"}


@pytest.mark.parametrize(
    ("profile", "level"), [("strict", "mandatory"), ("default", "mandatory"), ("research", "advisory")]
)
def test_the_engine_takes_every_profile(
    workspace: Callable[..., Any], tmp_path: Path, profile: str, level: str
) -> None:
    stack = _stack(workspace, "azure-native", only="rdma-scale-set-split")
    pack = _pack(tmp_path, PACK / "profiles" / f"{profile}.json")
    preview = stack.pulumi("preview", "--stack", "dev", *pack, check=False)
    assert (level, "rdma-scale-set-split") in {verdict[:2] for verdict in _verdicts(preview)}
    assert (preview.returncode == 0) == (level == "advisory")


@pytest.mark.parametrize("stack", ["aws-p5", "azure-nd-h100"])
def test_a_preview_of_an_example_passes_the_strict_profile_and_tells_what_it_can_not_know(
    workspace: Callable[..., Any], tmp_path: Path, stack: str
) -> None:
    cloud = workspace()
    cloud.stack("dev", stack_file(stack))
    preview = cloud.pulumi("preview", "--stack", "dev", *_pack(tmp_path, PACK / "profiles" / "strict.json"))
    told = {(level, policy) for level, policy, _ in _verdicts(preview)}
    assert told == {("advisory", policy) for policy in OF_SCRIPTS[stack]}, "of first-boot scripts, which hold ids"
    assert all(f"can't run policy '{policy}'" in preview.stdout for policy in OF_SCRIPTS[stack])


def test_a_state_that_came_about_without_the_pack_is_judged_as_it_is(
    workspace: Callable[..., Any], tmp_path: Path
) -> None:
    stack = _stack(workspace, "aws", only="efa-nodes-without-placement")
    stack.up("dev")
    exported = tmp_path / "state.json"
    exported.write_text(stack.pulumi("stack", "export", "--stack", "dev").stdout, encoding="utf-8")
    for source in (("--file", str(exported)), ("--stack", "dev")):
        judged = stack.pulumi("policy", "analyze", *source, *_pack(tmp_path, {}), check=False)
        assert judged.returncode != 0
        assert ("mandatory", "efa-nodes-without-placement") in {verdict[:2] for verdict in _verdicts(judged)}
    turned_off = _pack(tmp_path, {policy: "disabled" for _, policy, _ in _verdicts(judged)})
    assert stack.pulumi("policy", "analyze", "--file", str(exported), *turned_off).returncode == 0


def test_what_is_known_to_be_wrong_can_be_excepted_by_urn_with_a_reason(
    workspace: Callable[..., Any], tmp_path: Path
) -> None:
    stack = _stack(workspace, "aws", only="aws-user-key")
    urn = "urn:pulumi:dev::offending::aws:iam/accessKey:AccessKey::aws-user-key-key"
    exception = {"reason": "until the vendor takes roles", "match": [{"policies": ["aws-user-key"], "targets": [urn]}]}
    config = {"version": 2, "policies": {}, "exceptions": {"vendor-upload": exception}}
    excepted = stack.pulumi("preview", "--stack", "dev", *_pack(tmp_path, config))
    assert "[exempted]  aws-user-key" in excepted.stdout


def test_a_remediation_is_made_where_the_configuration_asks_for_it(
    workspace: Callable[..., Any], tmp_path: Path
) -> None:
    stack = _stack(workspace, "aws", only="aws-imds-v1")
    pack = _pack(tmp_path, {"aws-imds-v1": "remediate"})
    assert stack.up("dev", *_pack(tmp_path, {}), check=False).returncode != 0
    stack.up("dev", *_pack(tmp_path, {"aws-imds-v1": "remediate"}))
    (made,) = [r for r in stack.state("dev") if r["urn"].partition("::aws-imds-v1-")[2]]
    assert made["inputs"]["metadataOptions"]["httpTokens"] == "required"
    stack.pulumi("preview", "--stack", "dev", "--expect-no-changes", *pack)
