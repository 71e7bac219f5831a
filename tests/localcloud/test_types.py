"""Every modelled type by its row in types_aws.yaml or types_azure.yaml: accepted, changed, replaced, refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto.provider_pb2 import DiffResponse

from localcloud.aws.cloud import Aws
from localcloud.azure.cloud import Azure
from localcloud.values import UNKNOWN, from_struct, has_unknown, visible

TABLES = {
    cloud: yaml.safe_load(Path(__file__).with_name(f"types_{cloud}.yaml").read_text()) for cloud in ("aws", "azure")
}
ROWS = [(cloud, name) for cloud, table in TABLES.items() for name in table["types"]]
REFUSALS = [
    pytest.param(cloud, case, id=f"{cloud}-{case['of']}-{case['says']}")
    for cloud, table in TABLES.items()
    for case in table["refusals"]
]


def _changes(how: str) -> list[tuple[str, str, str]]:
    return [(cloud, name, key) for cloud, name in ROWS for key in TABLES[cloud]["types"][name].get(how, {})]


@pytest.mark.parametrize("cloud", [Aws, Azure])
def test_every_modelled_type_has_a_row(cloud: Any):
    rows = TABLES[cloud.name.partition("-")[0]]["types"].values()
    assert set(cloud.kinds) == {row["type"] for row in rows}


@pytest.mark.parametrize(("cloud", "name"), ROWS)
def test_good_inputs_are_accepted_and_come_back_with_their_outputs(world, cloud: str, name: str):
    here = world(cloud)
    row = here.rows[name]
    made = here[name]
    for output, expected in row["outputs"].items():
        value = made.id if output == "id" else made.outputs[output]
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        assert re.search(expected, text), f"{output}: {text}"
    assert here.driver.warnings == [] or "is not of this local cloud" in here.driver.warnings[0]
    assert not has_unknown(made.outputs)

    read = here.driver.read(made.token, made.id, made.outputs)
    assert read.id == made.id
    assert from_struct(read.inputs) == made.inputs
    assert from_struct(read.properties) == made.outputs
    assert here.driver.diff(made, here.inputs(name)).changes == DiffResponse.DIFF_NONE


@pytest.mark.parametrize(("cloud", "name"), ROWS)
def test_preview_knows_the_inputs_and_not_the_computed_outputs(world, cloud: str, name: str):
    here = world(cloud)
    row = here.rows[name]
    inputs = here.inputs(name)
    before = here.driver.store.list()
    seen = here.driver.preview(row["type"], inputs, name)
    computed = row["outputs"].keys() - {"id"} - {key for key, value in seen.items() if value != UNKNOWN}
    assert {key: seen[key] for key in computed} == dict.fromkeys(computed, UNKNOWN)
    assert {key for key in inputs if seen[key] == UNKNOWN} == set()
    assert here.driver.store.list() == before, "a preview makes nothing"


@pytest.mark.parametrize(("cloud", "name", "key"), _changes("replaces"))
def test_an_immutable_property_replaces(world, cloud: str, name: str, key: str):
    diff = _diff_of(world(cloud), name, "replaces", key)
    assert any(re.match(rf"{key}\b", path) for path in diff.replaces), diff
    assert diff.hasDetailedDiff


@pytest.mark.parametrize(("cloud", "name", "key"), _changes("updates"))
def test_any_other_property_changes_in_place(world, cloud: str, name: str, key: str):
    here = world(cloud)
    diff = _diff_of(here, name, "updates", key)
    assert list(diff.replaces) == []
    assert key in diff.diffs

    inputs = _changed(here, name, "updates", key)
    updated = here.driver.update(here[name], inputs)
    stored = from_struct(here.driver.read(updated.token, updated.id, updated.outputs).inputs)
    assert {k: v for k, v in visible(stored).items() if k in inputs} == inputs
    assert here.driver.diff(updated, inputs).changes == DiffResponse.DIFF_NONE


@pytest.mark.parametrize(("cloud", "case"), REFUSALS)
def test_what_the_cloud_refuses_is_refused_in_its_words(world, cloud: str, case: dict[str, Any]):
    here = world(cloud)
    message = here.driver.refusal(lambda: here.attempt(case))
    assert case["says"] in message


def _changed(here: Any, name: str, how: str, key: str) -> dict[str, Any]:
    row = here.rows[name]
    return here.inputs(name, {**row.get("with", {}).get(key, {}), key: row[how][key]})


def _diff_of(here: Any, name: str, how: str, key: str) -> DiffResponse:
    made = here[name]
    diff = here.driver.diff(made, _changed(here, name, how, key))
    assert diff.changes == DiffResponse.DIFF_SOME
    return diff
