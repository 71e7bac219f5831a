"""The stack-file loader without an engine: the recorded spellings, and what it says about bad files.

That the record is what a program receives is proved by tests/engine/test_stackfile_as_pulumi.py.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from planning import yamlnodes
from planning.findings import UNPLACED, Finding
from planning.stackfile import MAX_BYTES, MISSING, SECRET, StackFile, read_stack

SPELLINGS = json.loads(Path(__file__).with_name("spellings.json").read_text())
CLUSTER = "config:\n  gpu-clusters:cluster:"
Read = Callable[[str | bytes], StackFile]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str | bytes) -> StackFile:
        path = tmp_path / "Pulumi.aws-p5.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_stack(path)

    return read


def exact(value: object) -> str:
    """Tells 1 from 1.0 and from true, which == does not."""
    return json.dumps(value, sort_keys=True)


def only(file: StackFile) -> Finding:
    assert len(file.findings) == 1, file.findings
    return file.findings[0]


# What the program gets


@pytest.mark.parametrize(("spelling", "value"), SPELLINGS["inside"])
def test_a_value_is_typed_as_pulumi_types_it(read: Read, spelling: str, value: object) -> None:
    file = read(f"{CLUSTER}\n    field: {spelling}\n    list:\n      - {spelling}\n    flow: [{spelling}]\n")
    assert exact(file.spec) == exact({"field": value, "list": [value], "flow": [value]})
    assert file.findings == []


@pytest.mark.parametrize(("spelling", "text"), SPELLINGS["keys"])
def test_a_key_becomes_the_text_that_pulumi_makes_of_it(read: Read, spelling: str, text: str) -> None:
    assert read(f"{CLUSTER}\n    tags: {{{spelling}: 1}}\n").spec == {"tags": {text: 1}}


@pytest.mark.parametrize("row", SPELLINGS["alone"], ids=lambda row: row[0])
def test_a_cluster_that_is_one_scalar_reaches_the_program_as_json_text(read: Read, row: list[object]) -> None:
    file = read(f"{CLUSTER} {row[0]}\n")
    received = [] if file.spec is MISSING else [file.spec]
    assert exact(received) == exact(row[1:])
    assert file.readable
    assert bool(file.findings) == (received == [])


def test_the_record_holds_without_the_c_parser_too(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlnodes, "_LOADER", yaml.SafeLoader)
    wrong = {}
    for spelling, value in SPELLINGS["inside"]:
        spec = read(f"{CLUSTER} {{a: {spelling}}}\n").spec
        if exact({"a": value}) != exact(spec if spec is not MISSING else "missing"):
            wrong[spelling] = spec
    assert wrong == {}


def test_a_merged_mapping_gives_way_to_what_stands_beside_it_and_to_earlier_ones(read: Read) -> None:
    text = "x: [&a {n: 1, m: 1, 0x1: hex}, &b {m: 2, o: 2}]\nconfig:\n  gpu-clusters:cluster: {<<: [*a, *b], n: 0}\n"
    # Merged into a mapping whose own keys are texts, 0x1 stays as written; by itself it would be the key 1.
    assert read(text).spec == {"n": 0, "m": 1, "o": 2, "0x1": "hex"}


def test_an_anchor_set_twice_means_the_later_one_from_there_on(read: Read) -> None:
    assert read(f"{CLUSTER} [&a 1, *a, &a 2, *a]\n").spec == [1, 1, 2, 2]


def test_the_line_break_that_pulumi_loses_before_a_block_is_lost_here_too(read: Read) -> None:
    assert read(f"{CLUSTER}\n    setup:\n      - |\n\n        echo\n").spec == {"setup": ["echo\n"]}


@pytest.mark.parametrize("key", ["cluster", "gpu-clusters:cluster", "gpu-clusters:config:cluster"])
def test_every_way_to_write_the_key_of_the_cluster_is_the_same_key(read: Read, key: str) -> None:
    file = read(f"config:\n  {key}: {{name: a}}\n")
    assert (file.spec, file.findings) == ({"name": "a"}, [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_file(read: Read, encoding: str) -> None:
    assert read(f"{CLUSTER} {{name: é}}\n".encode(encoding)).spec == {"name": "é"}


def test_a_shared_anchor_beside_config_is_no_mistake(read: Read) -> None:
    file = read("shared: [&nodes {count: 2}]\nconfig:\n  gpu-clusters:cluster: {nodes: *nodes}\n")
    assert (file.spec, file.findings) == ({"nodes": {"count": 2}}, [])


def test_each_key_and_item_has_its_line_and_column(read: Read) -> None:
    lines = ["config:", "  aws:region: us-east-1", "  cluster:", "    name: a"]
    lines += ["    access:", "      ssh_from: [10.0.0.0/8,", "        x]"]
    assert read("\n".join(lines)).positions == {
        "": (3, 3),
        "aws:region": (2, 3),
        "name": (4, 5),
        "access": (5, 5),
        "access.ssh_from": (6, 7),
        "access.ssh_from.0": (6, 18),
        "access.ssh_from.1": (7, 9),
    }


# Files that Pulumi cannot read

UNREADABLE = [
    ("a tab in the indentation", "config:\n\tcluster: {}\n", "", "line 2, column 1", "spaces"),
    ("a bracket left open", f"{CLUSTER} {{name: a\n", "", "line 3", "correct"),
    ("a colon in a plain text", f"{CLUSTER}\n    name: a: b\n", "", "line 3, column 12", "quotes"),
    ("keys that do not line up", " a: 1\nconfig: {}\n", "", "line 2, column 1", "same column"),
    ("a control character", "config: \x07\n", "", "line 1, column 9", "remove"),
    ("bytes that are not UTF-8", b"config:\n  cluster: \xff\n", "", "line 2, column 12: byte 0xff", "UTF-8"),
    ("a key given twice", f"{CLUSTER}\n    nodes: {{a: 1,\n      a: 2}}\n", "nodes.a", "line 3.*line 4", ""),
    ("a key given twice, once in quotes", f"{CLUSTER} {{a: {{1: x, '1': y}}}}\n", "a.1", "twice", "keep one"),
    ("one key in two spellings", f"{CLUSTER} {{a: {{0x1: x, 1: y}}}}\n", "a.1", "twice", "keep one"),
    ("config given twice", f"{CLUSTER} {{}}\nconfig: {{}}\n", "", "config is given twice", ""),
    ("an unknown anchor", f"{CLUSTER} *nodes\n", "", r"\*nodes", "&nodes"),
    ("an anchor that holds itself", f"{CLUSTER} &a [*a]\n", "", "&a holds itself", ""),
    ("a mapping that merges itself", f"{CLUSTER} &a {{<<: *a}}\n", "", "merges itself|holds itself", ""),
    ("a merge of a list of texts", f"{CLUSTER} {{<<: [a]}}\n", "", "<< takes", "alias"),
    ("a merge of nothing", f"{CLUSTER} {{<<: ~}}\n", "", "<< takes", "alias"),
    ("two merges", f"{CLUSTER} {{<<: {{a: 1}}, <<: {{b: 1}}}}\n", "", "<< stands twice", r"\[\*a"),
    ("a merge key in quotes", f"{CLUSTER} {{'<<': {{a: 1}}}}\n", "", "<< is a key in quotes", ""),
    ("a list as key", f"{CLUSTER} {{[a]: 1}}\n", "", "a key is a list", ""),
    ("a tag that does not fit", f"{CLUSTER} {{nodes: {{count: !!int many}}}}\n", "nodes.count", "!!int", "tag"),
    ("a tag on nothing", f"{CLUSTER} [!!str, a]\n", "0", "no value", "tag"),
    ("bad base64", f"{CLUSTER} {{name: !!binary a}}\n", "name", "base64", ""),
    ("a number that is none", f"{CLUSTER} {{nodes: {{count: .nan}}}}\n", "nodes.count", "count is infinite", ""),
    ("an infinite number", f"{CLUSTER} {{list: [.inf]}}\n", "list.0", "line 2, column", "number"),
    ("an infinite number elsewhere", "config: {gpu-clusters:other: .inf}\n", "gpu-clusters:other", "infinite", ""),
    ("a key that is no number", f"{CLUSTER} {{tags: {{.nan: 1}}}}\n", "tags", "nan", "quotes"),
    ("a question mark in braces", f"{CLUSTER} {{name: a?b}}\n", "", r"\?", "quotes"),
    ("a block that begins with a tab", f'{CLUSTER} {{setup: ["\\ta\\nb"]}}\n', "setup.0", "tab", "spaces"),
    ("a list", "- config\n", "", "mapping", "config:"),
    ("a text", "config\n", "", "mapping", "config:"),
    ("a list of config", "config: [a]\n", "", "config is no mapping", "gpu-clusters:cluster"),
    ("a list of salt", "encryptionsalt: [a]\n", "", "encryptionsalt is no text", "Pulumi wrote"),
    ("a number as root key", f"{CLUSTER} {{}}\n1: a\n", "", "the key 1 is no text", "quotes"),
    ("a date as config key", "config: {2035-12-31: a}\n", "2035-12-31 00", "no text", "quotes"),
    ("too many colons", "config: {a:b:c: 1}\n", "a:b:c", "colons", "<namespace>:<name>"),
    ("too deep", f"{CLUSTER} {'[' * 120}{']' * 120}\n", "", "deeper than 100", ""),
    ("very deep", f"{CLUSTER} {'[' * 100_000}\n", "", "deeper than 100|depth", ""),
    ("too large", b"#" * (MAX_BYTES + 1), "", "larger than 1 MiB", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "path", "says", "fix"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE]
)
def test_a_file_that_pulumi_refuses_has_a_finding_where_and_why(
    read: Read, text: str | bytes, path: str, says: str, fix: str
) -> None:
    file = read(text)
    finding = file.findings[0]
    assert (finding.path.startswith(path), finding.rule, finding.level) == (True, "schema", "error")
    line, column = finding.place
    told = f"line {line}, column {column}: {finding.message}"
    assert re.search(says, told), told
    assert re.search(fix, finding.fix), finding.fix
    assert not file.readable
    assert file.spec is MISSING


def test_all_keys_given_twice_are_named_at_once(read: Read) -> None:
    file = read(f"{CLUSTER}\n    a: 1\n    b: 1\n    a: 2\n    b: 2\n")
    assert [f.path for f in file.findings] == ["a", "b"]
    assert (file.positions["a"], file.positions["b"]) == ((5, 5), (6, 5))


def test_aliases_that_multiply_without_end_are_refused_in_no_time(read: Read) -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
    merges = ["b0: &b0 {}", *(f"b{n}: &b{n} {{<<: [*b{n - 1}, *b{n - 1}]}}" for n in range(1, 60))]
    for bomb in (lines, merges):
        file = read("\n".join(bomb) + "\n")
        assert "100,000 values" in only(file).message
        assert not file.readable


def test_a_long_chain_of_merges_ends_in_a_finding(read: Read) -> None:
    chain = ["a0: &a0 {}", *(f"a{n}: &a{n} {{<<: *a{n - 1}}}" for n in range(1, 3000))]
    assert "deeper" in only(read("\n".join(chain) + "\n")).message


def test_a_pipe_that_nobody_writes_to_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (tmp_path / "pipe.yaml", Path("/dev/zero")):
        file = read_stack(path)
        assert only(file).message == f"{path} is no regular file"
        assert not file.readable


@pytest.mark.parametrize("what", ["missing", "folder", "odd"])
def test_a_file_that_cannot_be_opened_is_a_finding(tmp_path: Path, what: str) -> None:
    (tmp_path / "folder").mkdir()
    path = {"missing": tmp_path / "no.yaml", "folder": tmp_path / "folder", "odd": tmp_path / "a\0b"}[what]
    file = read_stack(path)
    assert only(file).message.startswith(f"{path} cannot be read: ")
    assert not file.readable


# Files that Pulumi reads, and that say something else than they seem to

NO_CLUSTER = [
    ("nothing", "", "no config", "gpu-clusters:cluster"),
    ("a comment", "# to be written\n", "no config", "gpu-clusters:cluster"),
    ("a null", "~\n", "no config", "gpu-clusters:cluster"),
    ("an empty config", "config:\n", "no config", "gpu-clusters:cluster"),
    ("no config", "encryptionsalt: v1:abc\n", "no config", "gpu-clusters:cluster"),
    ("config misspelt", "confg:\n  gpu-clusters:cluster: {}\n", "confg is not", "write config"),
    ("the spec at the top", "name: a\ncloud: aws\nnodes: {}\n", "top of the file", "config:"),
    ("the key at the top", "gpu-clusters:cluster: {name: a}\n", "top of the file", "config:"),
    ("other keys only", "config:\n  pulumi:tags: {a: b}\n", "config has no", "gpu-clusters:cluster"),
    ("another namespace", "config:\n  gpu-cluster:cluster: {}\n", "gpu-cluster:cluster is not", "write gpu-clusters:"),
    ("another name", "config:\n  gpu-clusters:clustr: {}\n", "gpu-clusters:clustr is not", "write gpu-clusters:"),
    ("an empty cluster", f"{CLUSTER}\n", "is empty", "name, cloud"),
    ("an empty first document", f"---\n---\n{CLUSTER} {{}}\n", "no config", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says", "fix"), [row[1:] for row in NO_CLUSTER], ids=[row[0] for row in NO_CLUSTER])
def test_a_file_without_a_cluster_says_what_is_there_instead(read: Read, text: str, says: str, fix: str) -> None:
    file = read(text)
    found = [f for f in file.findings if says in f.message]
    assert [(f.path, f.rule, f.level) for f in found] == [("", "schema", "error")], file.findings
    assert fix in found[0].fix
    assert file.readable
    assert file.spec is MISSING


def test_two_keys_for_the_cluster_are_refused_since_pulumi_takes_either(read: Read) -> None:
    file = read("config: {cluster: {name: a}, gpu-clusters:cluster: {name: b}}\n")
    assert file.spec is MISSING
    assert "cluster and as gpu-clusters:cluster" in only(file).message


def test_a_second_document_is_an_error_since_pulumi_never_reads_it(read: Read) -> None:
    file = read(f"{CLUSTER} {{name: a}}\n---\n{CLUSTER} {{name: b}}\n")
    assert file.spec == {"name": "a"}
    assert (only(file).level, "more than one" in only(file).message) == ("error", True)
    assert only(file).place == (3, 1)


def test_keys_that_have_no_effect_are_warned_of(read: Read) -> None:
    file = read(
        f"{CLUSTER} {{name: a}}\n  gpu-clusters:tags: {{}}\n  pulumi:tags: {{}}\nlifetime: {{}}\nenvironment: [dev]\n"
    )
    assert [(f.level, f.path) for f in file.findings] == [
        ("warning", ""),
        ("warning", ""),
        ("warning", "gpu-clusters:tags"),
    ]
    assert {(f.message.split()[0], f.place) for f in file.findings} == {
        ("environment:", (6, 1)),
        ("lifetime", (5, 1)),
        ("gpu-clusters:tags", UNPLACED),
    }
    assert file.positions["gpu-clusters:tags"] == (3, 3)


def test_a_time_with_an_offset_is_warned_of_since_its_words_depend_on_the_machine(read: Read) -> None:
    file = read(f"{CLUSTER} {{lifetime: {{expires: 2035-12-31T08:00:00-05:30}}}}\n")
    assert file.spec == {"lifetime": {"expires": "2035-12-31 08:00:00 -0530 -0530"}}
    assert (only(file).path, only(file).level) == ("lifetime.expires", "warning")


# Keys of default providers

IGNORED = [
    ("aws:region", "region"),
    ("aws:config:region", "region"),
    ("aws:profile", "AWS_PROFILE"),
    ("aws:allowedAccountIds", "account"),
    ("aws:defaultTags", "tags"),
    ("aws:assumeRoles", "AWS_PROFILE"),
    ("azure-native:location", "region"),
    ("azure-native:subscriptionId", "account"),
    ("azure-native:clientId", "ARM_CLIENT_ID"),
    ("azure-native:auxiliaryTenantIds", "ARM_"),
    ("azure:location", "region"),
]


@pytest.mark.parametrize(("key", "names"), IGNORED)
def test_a_key_that_the_clusters_own_provider_ignores_is_an_error_naming_what_to_use(
    read: Read, key: str, names: str
) -> None:
    file = read(f"{CLUSTER} {{name: a}}\n  {key}: value-of-it\n")
    finding = only(file)
    assert (finding.path, finding.rule, finding.level) == (key, "provider-key-ignored", "error")
    assert names in finding.fix
    assert file.provider_keys == {key: "value-of-it"}
    assert file.positions[key] == (3, 3)


# Secrets

CIPHERTEXT = "v1:l0Ng+ciPhert3xt/AAAA=="


@pytest.mark.parametrize(
    ("text", "path", "spec"),
    [
        (f"{CLUSTER} {{tags: {{team: {{secure: '{CIPHERTEXT}'}}}}}}\n", "tags.team", {"tags": {"team": SECRET}}),
        (f"{CLUSTER} {{setup: [a, {{secure: {CIPHERTEXT}}}]}}\n", "setup.1", {"setup": ["a", SECRET]}),
        (f"{CLUSTER}\n    secure: {CIPHERTEXT}\n", "", MISSING),
    ],
    ids=["nested", "in a list", "the whole cluster"],
)  # fmt: skip
def test_an_encrypted_value_is_an_error_at_its_path(read: Read, text: str, path: str, spec: object) -> None:
    file = read(text)
    assert (only(file).path, only(file).rule, only(file).level) == (path, "secret-in-spec", "error")
    assert file.spec == spec
    assert file.readable


def test_no_ciphertext_is_ever_shown(read: Read) -> None:
    texts = [
        f"{CLUSTER}\n    secure: {CIPHERTEXT}\n",
        f"{CLUSTER} {{a: {{secure: {CIPHERTEXT}}}}}\n  aws:secretKey: {{secure: {CIPHERTEXT}}}\n",
        f"{CLUSTER} {{a: {{secure: !!int {CIPHERTEXT}}}}}\n",
        f"{CLUSTER} {{a: {{secure: {CIPHERTEXT}: {CIPHERTEXT}}}}}\n",
        f"{CLUSTER} {CIPHERTEXT}\n",
    ]
    for text in texts:
        file = read(text)
        assert file.findings
        assert "ciPhert3xt" not in repr(file)


def test_a_mapping_with_secure_and_more_is_no_secret(read: Read) -> None:
    file = read(f"{CLUSTER} {{tags: {{secure: 'yes', team: a}}, waive: {{secure: 1}}}}\n")
    assert file.spec == {"tags": {"secure": "yes", "team": "a"}, "waive": {"secure": 1}}
    assert file.findings == []


# Anything at all

WORDS = [
    "config:",
    "gpu-clusters:cluster:",
    "aws:region: ",
    "secure: ",
    "a",
    ": ",
    ", ",
    "\n",
    "  ",
    "\t",
    "- ",
    "---\n",
]
WORDS += [
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "<<: ",
    "? ",
    "|\n",
    "'",
    '"',
    "%",
    "!!int ",
    "!!binary ",
    "!own ",
    "0x",
    ".inf",
]
WORDS += ["2035-1-1", "\u2028", "~"]


@given(st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(WORDS), max_size=40).map("".join).map(str.encode)))
@example(b'config: {cluster: "\\"\\\\ud800\\""}')
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_makes_the_loader_raise_and_a_file_without_a_spec_has_a_finding(read: Read, data: bytes) -> None:
    file = read(data)
    assert file.findings or file.spec is not MISSING
    assert file.readable or any(f.level == "error" for f in file.findings)
    json.dumps([f.as_json() for f in file.findings], ensure_ascii=False).encode()
