"""What holds for every policy of the pack, taken from the pack itself: nothing here lists policies by hand."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto.resource_pb2 import RegisterResourceRequest
from pulumi_policy import EnforcementLevel, Policy

import policies
from policies.pack import POLICIES
from policies.view import UNKNOWN, View


def test_every_policy_that_a_module_declares_is_in_the_pack_once() -> None:
    names = [m.name for m in pkgutil.iter_modules(policies.__path__) if m.name not in ("__main__", "pack")]
    modules = [importlib.import_module(f"policies.{name}") for name in names]
    declared = [value for m in modules for value in vars(m).values() if isinstance(value, Policy)]
    assert len(declared) > 20
    assert sorted(p.name for p in declared) == sorted(p.name for p in POLICIES)
    assert len({p.name for p in POLICIES}) == len(POLICIES)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_a_policy_says_in_whole_sentences_what_holds_and_how_to_mend_it(policy: Policy) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", policy.name)
    assert re.fullmatch(r"[A-Z].*\.", policy.description)
    assert re.fullmatch(r"[A-Z].*\.", policy.remediation_steps or "")
    assert policy.enforcement_level in (EnforcementLevel.MANDATORY, EnforcementLevel.ADVISORY)
    assert policy.severity is not None
    assert policy.url is None or policy.url.startswith("https://")


def test_importing_the_pack_starts_nothing_and_loads_no_cloud_sdk() -> None:
    code = "import sys, policies.pack; print([m for m in sys.modules if m.startswith(('pulumi_a', 'planning'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"


def test_the_pack_file_names_the_environment_of_the_project() -> None:
    with open(f"{policies.__path__[0]}/PulumiPolicy.yaml") as file:
        pack = yaml.safe_load(file)
    assert pack["runtime"] == {"name": "python", "options": {"virtualenv": "../.venv"}}


def test_requests_recorded_from_a_program_are_judged_as_they_are(analyze: Any) -> None:
    urn = "urn:pulumi:s::p::my:Component$aws:ebs/volume:Volume::disk"
    request = RegisterResourceRequest(type="aws:ebs/volume:Volume", name="disk")
    request.object.update({"size": 100, "encrypted": False})
    (verdict,) = analyze({urn: request})
    assert (verdict.policy, verdict.level, verdict.urn) == ("aws-storage-unencrypted", "mandatory", urn)


def test_a_fault_beside_an_unknown_value_is_still_reported(judge: Any) -> None:
    rules = [{"cidrBlocks": ["<unknown>", "0.0.0.0/0"]}]
    group = {"type": "aws:ec2/securityGroup:SecurityGroup", "props": {"ingress": rules}}
    found, unjudged = judge(group)["aws-public-ingress"]
    assert "ingress[0].cidrBlocks[1] of r0" in found
    assert "can't run policy" in unjudged


def test_a_view_reads_plain_values_by_path_and_tells_missing_from_empty() -> None:
    view = View({"a": [{"b": 1}, {"c": None}], "s": "text", "n": {}})
    assert [(v.path, v.value) for v in view.each("a[].b")] == [("a[0].b", 1)]
    assert view.get("a[].c") is None
    assert view.get("s.deeper") is None
    assert not view.has("n")
    assert view.has("s")
    assert list(view.each("s[]")) == []
    assert not UNKNOWN
