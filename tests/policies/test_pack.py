"""What holds for every policy of the pack, taken from the pack itself: nothing here lists policies by hand."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
import yaml
from pulumi.runtime.proto.resource_pb2 import RegisterResourceRequest
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

import policies
from policies.declare import DECLARED, plain_type
from policies.gpus import Limit
from policies.options import chosen
from policies.pack import POLICIES
from policies.view import UNKNOWN, View
from tests.policy_cases import CASES, changed


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


INSTANCE: dict[str, Any] = {"type": "aws:ec2/instance:Instance", "props": {"ami": "ami-1", "userData": "<unknown>"}}
REMEDY = {"aws-imds-v1": "remediate"}


def test_a_remediation_sets_what_is_wrong_and_leaves_the_rest_as_it_is(mended: Any) -> None:
    whole = INSTANCE["props"] | {"metadataOptions": {"httpTokens": "optional", "httpPutResponseHopLimit": 2}}
    after = mended(INSTANCE | {"props": whole}, REMEDY)
    assert after == {
        "ami": "ami-1",
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        "userData": UNKNOWN_STRING_VALUE,
    }
    assert mended(INSTANCE | {"props": after}, REMEDY) == {}


def test_a_remediation_keeps_secrets_secret(mended: Any) -> None:
    secret = {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": "token"}
    after = mended(INSTANCE | {"props": {"userData": secret}}, REMEDY)
    assert after == {"userData": secret, "metadataOptions": {"httpTokens": "required"}}


def test_nothing_is_mended_where_the_level_does_not_ask_for_it(mended: Any) -> None:
    assert mended(INSTANCE, {}) == {}
    assert mended(INSTANCE, {"aws-imds-v1": "mandatory"}) == {}


@pytest.mark.parametrize("policy", [p for p in POLICIES if DECLARED[p.name].mends], ids=lambda p: p.name)
def test_a_policy_that_mends_mends_the_fault_of_its_case(policy: Policy, mended: Any, judge: Any) -> None:
    case = CASES[policy.name]
    config = {policy.name: {**case.get("config", {}), "enforcementLevel": "remediate"}}
    types = DECLARED[policy.name].types
    (resource,) = [r for r in changed(case, case["wrong"]) if plain_type(r["type"]) in types]
    assert policy.name in judge(resource, config=config)
    after = resource | {"props": mended(resource, config)}
    assert policy.name not in judge(after, config=config)


def test_an_option_that_is_misspelt_is_said_and_not_passed_over(judge: Any) -> None:
    volume = {"type": "aws:ebs/volume:Volume", "props": {"encrypted": True}}
    (message,) = judge(volume, config={"cost-required-tags": {"key": ["team"]}})["cost-required-tags"]
    assert "names key. Its options are keys, values." in message
    (message,) = judge(volume, config={"aws-storage-unencrypted": {"exempt": True}})["aws-storage-unencrypted"]
    assert "names exempt. It has no options besides enforcementLevel." in message


def test_numbers_of_a_configuration_are_whole_where_the_option_is() -> None:
    assert chosen(Limit, {"maxGpus": 64.0, "gpus": {"p9.48xlarge": 16.0}}) == Limit(64, {"p9.48xlarge": 16})


def test_an_option_says_what_it_is_in_a_sentence_and_has_a_default_that_its_schema_takes() -> None:
    for policy in POLICIES:
        for name, schema in (policy.config_schema.properties if policy.config_schema else {}).items():
            assert re.fullmatch(r"[A-Z].*\.", schema["description"]), f"{policy.name}.{name}"
            jsonschema.validate(schema["default"], schema)
