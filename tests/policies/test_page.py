"""docs/policies.md tells every policy of the pack in the words of its declaration; `make golden` rewrites that part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pulumi_policy import Policy, StackValidationPolicy

from policies.declare import DECLARED
from policies.pack import POLICIES

PAGE = Path(__file__).parents[2] / "docs" / "policies.md"
BLOCK = re.compile(r"(<!-- generated: policies -->\n)(.*?)(<!-- end -->)", re.DOTALL)
TITLES = {
    "linux": "Linux",
    "placement": "Placement",
    "fabric": "Fabric",
    "exposure": "Exposure",
    "data": "Data",
    "identity": "Identity",
    "cost": "Cost",
}


def written() -> str:
    return "\n".join(line for area, title in TITLES.items() for line in _area(area, title)) + "\n"


def _area(area: str, title: str) -> Iterator[str]:
    of_area = [policy for policy in POLICIES if DECLARED[policy.name].area == area]
    yield from (f"### {title}", "", "| policy | cloud | looks at | level | severity |", "|---|---|---|---|---|")
    for policy in of_area:
        clouds = ", ".join(DECLARED[policy.name].clouds)
        scope = "whole stack" if isinstance(policy, StackValidationPolicy) else "each resource"
        yield f"| [`{policy.name}`](#{policy.name}) | {clouds} | {scope} | {_level(policy)} | {_severity(policy)} |"
    yield ""
    for policy in of_area:
        yield from _policy(policy)


def _policy(policy: Policy) -> Iterator[str]:
    declared = DECLARED[policy.name]
    yield from (
        f"#### {policy.name}",
        "",
        f"{policy.description} {declared.why}",
        "",
        f"Fix: {policy.remediation_steps}",
    )
    if declared.mends:
        yield from ("", "The level `remediate` sets it right.")
    for name, schema in (policy.config_schema.properties if policy.config_schema else {}).items():
        yield from ("", f"Option `{name}` ({json.dumps(schema['default'])}): {schema['description']}")
    if policy.url:
        yield from ("", f"Reference: <{policy.url}>")
    yield ""


def _level(policy: Policy) -> str:
    assert policy.enforcement_level is not None
    return policy.enforcement_level.value


def _severity(policy: Policy) -> str:
    assert policy.severity is not None
    return policy.severity.value


def test_the_page_tells_every_policy_as_it_is(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    now = BLOCK.sub(lambda match: match[1] + written() + match[3], page)
    if request.config.option.update_snapshots:
        PAGE.write_text(now, encoding="utf-8")
        page = now
    assert page == now, "`make golden` rewrites docs/policies.md"
    assert set(re.findall(r"^#### (\S+)$", page, re.MULTILINE)) == {policy.name for policy in POLICIES}


def test_every_policy_that_the_page_names_in_an_example_exists() -> None:
    page = BLOCK.sub("", PAGE.read_text(encoding="utf-8"))
    known = {policy.name: policy for policy in POLICIES}
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    assert len(examples) == 2
    named = [
        *examples[0],
        *examples[1]["policies"],
        *examples[1]["exceptions"]["vendor-upload"]["match"][0]["policies"],
    ]
    assert set(named) <= set(known)
    for example in (examples[0], examples[1]["policies"]):
        for name, given in example.items():
            options = known[name].config_schema
            assert isinstance(given, str) or (options and set(given) <= set(options.properties))
