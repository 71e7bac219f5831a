"""tests/coverage.toml: every fault that was met in public has an answer, and every answer that is named exists."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from planning.rules import RULES
from policies.pack import POLICIES

ROOT = Path(__file__).resolve().parents[2]
TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads((ROOT / "tests/coverage.toml").read_text(encoding="utf-8"))
CASES = [pytest.param(case, id=f"{part}-{case['number']}") for part, cases in TABLE.items() for case in cases]
NUMBERS = {"aws": 32, "azure": 38, "claims": 24}
ANSWERS = {"rules", "policies", "places", "tests", "pages"}


@pytest.mark.parametrize("part", NUMBERS)
def test_every_case_has_its_number_once_and_none_is_left_out(part: str) -> None:
    assert [case["number"] for case in TABLE[part]] == list(range(1, NUMBERS[part] + 1))
    assert set(TABLE) == set(NUMBERS)


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_answered_and_what_a_choice_rests_on_is_held_by_a_test(case: dict[str, Any]) -> None:
    assert set(case) <= {"number", "case", *ANSWERS}
    assert len(case["case"]) > 10
    assert any(case.get(answer) for answer in ANSWERS)
    assert bool(case.get("places")) == bool(case.get("tests")), "a choice has a place and a test"


@pytest.mark.parametrize("case", CASES)
def test_all_that_answers_a_case_exists(case: dict[str, Any]) -> None:
    missing = [rule for rule in case.get("rules", []) if rule not in RULES]
    missing += [policy for policy in case.get("policies", []) if policy not in {p.name for p in POLICIES}]
    missing += [place for place in case.get("places", []) if not (ROOT / place).is_file()]
    missing += [
        test for test in case.get("tests", []) if test.partition("::")[2] not in _tests(test.partition("::")[0])
    ]
    missing += [
        page for page in case.get("pages", []) if page.partition("#")[2] not in _anchors(page.partition("#")[0])
    ]
    assert missing == []


@cache
def _tests(path: str) -> set[str]:
    file = ROOT / path
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return set(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


@cache
def _anchors(path: str) -> set[str]:
    """Of a page's headings, as GitHub makes them."""
    file = ROOT / path
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
