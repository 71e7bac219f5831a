"""For every policy of the pack: a stack that it passes, the same broken so that it refuses, and the same with a value
that a preview does not know. The cases: tests/policy_cases.py. Whole clusters, and resources as others write them: the
files beside this one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pulumi_policy import Policy

from policies.declare import DECLARED, plain_type
from policies.pack import POLICIES
from tests.policy_cases import CASES, changed

UNJUDGED = "can't run policy"
MAY_BE_UNKNOWN = [name for name, case in CASES.items() if not isinstance(case["unknown"], str)]


def test_every_policy_has_its_case_and_no_case_is_left_over() -> None:
    assert set(CASES) == {policy.name for policy in POLICIES}


@pytest.mark.parametrize("policy", CASES)
def test_a_stack_that_is_right_is_passed(policy: str, judge: Callable[..., dict[str, list[str]]]) -> None:
    case = CASES[policy]
    right = changed(case, case.get("without", {}))
    judged = {plain_type(r["type"]) for r in right} & set(DECLARED[policy].types)
    assert judged or "without" in case, "a stack that the policy does not look at proves nothing"
    assert policy not in judge(*right, config={policy: case.get("config", {})})


@pytest.mark.parametrize("policy", CASES)
def test_the_same_stack_with_the_fault_is_refused(policy: str, judge: Callable[..., dict[str, list[str]]]) -> None:
    case = CASES[policy]
    refused = judge(*changed(case, case["wrong"]), config={policy: case.get("config", {})})
    assert not any(UNJUDGED in message for message in refused[policy])


@pytest.mark.parametrize("policy", MAY_BE_UNKNOWN)
def test_a_preview_that_cannot_tell_says_so(policy: str, judge: Callable[..., dict[str, list[str]]]) -> None:
    case = CASES[policy]
    said = judge(*changed(case, case["unknown"]), config={policy: case.get("config", {})})
    assert any(UNJUDGED in message for message in said[policy])


ODD = ("[secret]", -1, ["x", {"a": 1}], {"a": ["b"]}, "<unknown>", ["<unknown>"])
"""What may stand anywhere: a redacted secret, another type, a value that is not known yet."""


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_no_value_of_another_kind_makes_a_policy_fall_over(
    policy: Policy, judge: Callable[..., dict[str, list[str]]]
) -> None:
    case = CASES[policy.name]
    broken = changed(case, case["wrong"])
    for resource in broken:
        props = resource.get("props", {})
        for path in list(_paths(props)):
            for value in ODD:
                resource["props"] = _with(props, path, value)
                judge(*broken, config={policy.name: case.get("config", {})}, policies=[policy])
        resource["props"] = props


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield (*above, key)
        yield from _paths(child, (*above, key))


def _with(props: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    props = copy.deepcopy(props)
    holder: Any = props
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return props
