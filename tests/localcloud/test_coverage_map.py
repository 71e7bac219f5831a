"""behaviour.toml is complete: every modelled type and every behaviour has its proof, or the reason why it has none."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcloud.aws.cloud import Aws
from localcloud.azure.cloud import Azure

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MAP = tomllib.loads((HERE / "behaviour.toml").read_text(encoding="utf-8"))
PROOFS: dict[str, str] = MAP["proofs"]
TYPES: dict[str, Any] = MAP["types"]
AREAS = ("inputs", "provider", "semantics", "scarcity", "faults", "state", "knowledge")


@cache
def collected() -> list[str]:
    """The ids of all tests of the local cloud, as pytest names them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/localcloud", "tests/engine", "tests/cli"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def proved(proof: str) -> bool:
    """Whether a test of this name exists; * stands for anything, a word before [ for a test of the list of proofs."""
    name, bracket, case = proof.partition("[")
    whole = f"{PROOFS.get(name, f'tests/{name}')}{bracket}{case}"
    pattern = ".*".join(re.escape(part) for part in whole.split("*")) + ("" if bracket else r"(\[.*)?")
    return any(re.fullmatch(pattern, test) for test in collected())


def claims() -> Iterator[tuple[str, dict[str, Any]]]:
    """Where in the map, and what is claimed there."""
    for area in AREAS:
        yield from ((f"{area}: {claim.get('says')}", claim) for claim in MAP[area])
    for token, entry in TYPES.items():
        yield from ((f"{token}: {claim.get('says')}", claim) for claim in entry.get("modelled", []))


def test_every_area_and_nothing_else_is_in_the_map() -> None:
    assert set(MAP) == {"proofs", "types", *AREAS}


@pytest.mark.parametrize("cloud", [Aws, Azure], ids=lambda cloud: cloud.name)
def test_every_modelled_type_is_in_the_map(cloud: Any) -> None:
    assert {token for token in TYPES if token.startswith(f"{cloud.name}:")} == set(cloud.kinds)


def test_every_type_is_proved_by_rows_of_its_own() -> None:
    rows = {
        (cloud, name): row["type"]
        for cloud in ("aws", "azure")
        for name, row in yaml.safe_load((HERE / f"types_{cloud}.yaml").read_text(encoding="utf-8"))["types"].items()
    }
    for token, entry in TYPES.items():
        cloud = token.partition(":")[0].removesuffix("-native")
        assert entry["rows"], token
        assert {rows.get((cloud, name)) for name in entry["rows"]} == {token}, token


def test_every_claim_says_something_and_has_a_proof_or_a_reason() -> None:
    wrong = [
        where
        for where, claim in claims()
        if not claim.get("says")
        or claim.keys() - {"says", "by", "not_modelled"}
        or bool(claim.get("by")) == bool(claim.get("not_modelled"))
    ]
    assert wrong == []


def test_no_reason_is_empty() -> None:
    reasons = [claim["not_modelled"] for _, claim in claims() if "not_modelled" in claim]
    reasons += [reason for entry in TYPES.values() for reason in entry.get("not_modelled", [])]
    reasons += [when for entry in TYPES.values() for when in entry.get("replaces_when", {}).values()]
    assert [reason for reason in reasons if len(reason.split()) < 3] == []


def test_every_named_test_exists() -> None:
    missing = [f"{where}: {proof}" for where, claim in claims() for proof in claim.get("by", []) if not proved(proof)]
    assert missing == []


@pytest.mark.parametrize("proof", ["refused[aws-vpc-no such words*]", "localcloud/test_types.py::test_nothing"])
def test_a_test_that_does_not_exist_is_missed(proof: str) -> None:
    assert not proved(proof)
