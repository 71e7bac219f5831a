"""The JSON Schema of a stack file: current, described, and of one mind with the check of shape.

What each row of the two tables means: test_spec.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from cli.main import main
from planning.jsonschema import stack_schema
from planning.shape import read_spec
from planning.stackfile import MISSING, read_stack
from planning.stackkeys import CLUSTER, EDITOR_HINT
from tests.clusters import CLUSTERS, ROOT, changes_of, stack_file
from tests.planning.conftest import SpecOf
from tests.planning.test_robustness import PLACES, scalars
from tests.planning.test_spec import REFUSED, TAKEN

SCHEMA = stack_schema()
VALIDATOR = Draft7Validator(SCHEMA)
STACKS = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))


class EditorLoader(yaml.SafeLoader):
    """YAML 1.2, as editors read it: a day is text, and so are yes and on."""


EditorLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag.rpartition(":")[2] in ("null", "int", "float", "merge")]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
EditorLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"true|false|True|False"), list("tfTF"))


def mistakes(text: str) -> list[str]:
    """What an editor underlines."""
    return [error.message for error in VALIDATOR.iter_errors(yaml.load(text, EditorLoader))]


def takes(spec: Any) -> bool:
    plain = json.loads(json.dumps(spec, default=date.isoformat))
    return VALIDATOR.is_valid({"config": {CLUSTER: plain}})


def test_the_schema_is_one_of_draft_7() -> None:
    Draft7Validator.check_schema(SCHEMA)


def test_the_file_in_stacks_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    assert main(["schema"]) == 0
    printed, kept = capsys.readouterr().out, ROOT / "stacks/schema.json"
    if request.config.option.update_snapshots:
        kept.write_text(printed, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == printed, "run: gpu-clusters schema > stacks/schema.json"


def test_every_field_is_described_where_an_editor_shows_it() -> None:
    def bare(schema: Any, path: str) -> Iterator[str]:
        if isinstance(schema, list):
            for item in schema:
                yield from bare(item, path)
        elif isinstance(schema, dict):
            for name, field in schema.get("properties", {}).items():
                if not field.get("description"):
                    yield f"{path}.{name}"
                yield from bare(field, f"{path}.{name}")
            for below in ("anyOf", "items", "else"):
                yield from bare(schema.get(below), path)

    assert [path for name, part in SCHEMA["definitions"].items() for path in bare(part, name)] == []
    fields = SCHEMA["definitions"]["aws"]["properties"]
    assert "ssh-ed25519" in fields["access"]["properties"]["ssh_public_key"]["pattern"]
    assert fields["nodes"]["properties"]["root_disk"]["default"] == "300GiB"


# What check takes, the schema takes


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_a_stack_file_has_the_hint_and_no_mistake(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"{EDITOR_HINT}\n")
    assert mistakes(text) == []


def test_the_example_with_mistakes_of_meaning_has_none_of_shape() -> None:
    path = ROOT / "docs/examples/Pulumi.mistakes.yaml"
    hint = path.read_text(encoding="utf-8").splitlines()[0].partition("$schema=")[2]
    assert (path.parent / hint).resolve() == ROOT / "stacks/schema.json"
    assert mistakes(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_cluster_of_the_tests_is_taken(name: str) -> None:
    assert mistakes(stack_file(CLUSTERS[name]["stack"], changes_of(name))) == []


def test_every_legal_spelling_of_every_field_is_taken(spec_of: SpecOf) -> None:
    refused = [(field, written) for cloud, field, written, _ in TAKEN if not takes(spec_of(cloud, {field: written}))]
    assert refused == []


WRITTEN = [written for _, _, written, *_ in (*TAKEN, *REFUSED)]


@settings(max_examples=300, deadline=None)
@given(cloud=st.sampled_from(["aws", "azure"]), data=st.data())
def test_no_value_in_any_place_is_taken_by_the_check_of_shape_alone(
    cloud: str, data: st.DataObject, spec_of: SpecOf
) -> None:
    place, written = data.draw(st.sampled_from(PLACES[cloud])), data.draw(st.sampled_from(WRITTEN) | scalars)
    spec = spec_of(cloud, {"storage.filesystem": {}, "nodes.reservation": {"id": "cr-0"}})
    spec = spec_of(spec, {place: written})
    if read_spec(spec)[0] is not None:
        assert takes(spec)


WHOLE = """{encryptionsalt: v1:a, config: {KEY: {name: a1, cloud: azure, region: eastus, zone: 1,
  nodes: {type: x, count: 1}, lifetime: {expires: 2035-12-31}}, pulumi:tags: {a: b}, aws:region: x}, shared: 1}"""


@pytest.mark.parametrize("key", ["cluster", "gpu-clusters:cluster", "gpu-clusters:config:cluster"])
def test_every_spelling_of_the_key_and_what_pulumi_keeps_beside_it_are_taken(key: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.a.yaml"
    path.write_text(WHOLE.replace("KEY", f'"{key}"'))
    assert read_stack(path).spec is not MISSING
    assert mistakes(path.read_text()) == []


def test_a_cluster_may_be_json_text_as_pulumi_config_set_writes_it() -> None:
    assert mistakes(f'config:\n  {CLUSTER}: \'{{"name": "a"}}\'\n') == []
    assert mistakes(f"config:\n  {CLUSTER}: llama-70b\n") != []


# What check refuses, the schema refuses, where a schema can tell

BEYOND = {
    ("nodes.count", "16.0"),  # the same as 16 to JSON
    ("nodes.root_disk", "300.5GiB"),
    ("storage.filesystem.capacity", "1.2TiB"),
    ("storage.filesystem.capacity", "38.4TiB"),
    ("storage.filesystem.capacity", "1.2PiB"),
    ("storage.filesystem.capacity", "1.0001TiB"),
    ("storage.filesystem.capacity", "1111111111111111GiB"),
    ("network.cidr", "10.40.1.0/16"),
    ("access.ssh_from", "['10.0.0.1/8']"),
    ("lifetime.expires", "2035-02-30"),
    ("lifetime.expires", "2035-12-31 12:00:00 +0000 UTC"),
    ("lifetime.max_usd_per_hour", "inf"),
}
"""Arithmetic, and what JSON does not tell apart. Also what the base64 of a key holds."""


def test_every_mistake_of_shape_that_a_schema_can_tell_is_refused(spec_of: SpecOf) -> None:
    taken = {(field, str(written)) for cloud, field, written, *_ in REFUSED if takes(spec_of(cloud, {field: written}))}
    assert {row for row in taken if row[0] != "access.ssh_public_key"} == BEYOND
    assert all(re.match("ssh-|ecdsa-", key) for field, key in taken if field == "access.ssh_public_key")


@pytest.mark.parametrize(
    "text",
    [
        "confg: {}\n",
        "config: {gpu-clusters:clustr: {}}\n",
        "config: {cluster: {cloud: aws}, gpu-clusters:cluster: {cloud: aws}}\n",
        "config: [a]\n",
        "encryptionsalt: [a]\nconfig: {cluster: '{}'}\n",
        "config: {cluster: {name: a1}}\n",
        "config: {cluster: [a]}\n",
        "config:\n  cluster:\n",
    ],
)
def test_a_file_without_one_cluster_is_refused(text: str) -> None:
    assert mistakes(text) != []
