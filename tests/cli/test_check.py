"""The commands `check`, `plan` and `rules`: exit codes, JSON and text. What the findings say: tests/planning."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.main import COMMANDS, main
from planning import catalog
from planning.facts.imagerecord import FILE, ImageRecord, render

ROOT = Path(__file__).parents[2]
FINDING = ["rule", "level", "path", "message", "fix", "reference", "file", "line", "column"]
SPEC: dict[str, Any] = {
    "name": "llama-70b",
    "cloud": "aws",
    "region": "us-east-1",
    "account": "123456789012",
    "zone": "use1-az6",
    "nodes": {"type": "p5.48xlarge", "count": 16},
}
IMAGE = "dlami-ubuntu-22.04-x86_64"
RECORD = ImageRecord(
    id="ami-0123456789abcdef0",
    name="Base GPU AMI",
    arch="x86_64",
    root_device="/dev/sda1",
    root_gib=75,
    recorded=date.today(),
)
Stack = Any


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    """`stack(name, field=value)`: the path of a stack file with a good spec, changed."""

    def write(name: str, **changes: Any) -> str:
        (tmp_path / FILE).write_text(render({"us-east-1": {catalog.image(IMAGE).parameter: RECORD}}))
        path = tmp_path / f"Pulumi.{name}.yaml"
        path.write_text(yaml.safe_dump({"config": {"gpu-clusters:cluster": {**SPEC, **changes}}}))
        return str(path)

    return write


def results(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == ["results"]
    return shown["results"]


# check


@pytest.mark.parametrize("name", ["aws-p5", "aws-single", "azure-nd-h100", "azure-single"])
def test_a_stack_of_the_project_is_fine_by_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name]) == 0
    assert capsys.readouterr().out.startswith(f"{name}: fine")


def test_an_error_gives_1_and_a_warning_gives_0(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", stack("bad", nodes={"type": "p5.48xlarge", "count": 0})]) == 1
    unplaced = {"type": "p5.48xlarge", "count": 2, "placement": "none"}
    assert main(["check", stack("odd", nodes=unplaced)]) == 0
    assert "warning: nodes.placement: " in capsys.readouterr().out


def test_json_of_check_has_one_result_per_source_in_the_form_of_the_command(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = stack("good"), stack("bad", network={"cidr": "10.40.0.0/28"}, zone="us-east-1a")
    assert main(["check", "--format", "json", good, bad]) == 1
    first, second = results(capsys)
    assert first == {"source": good, "ok": True, "findings": []}
    assert (list(second), second["source"], second["ok"]) == (["source", "ok", "findings"], bad, False)
    assert all(list(finding) == FINDING for finding in second["findings"])
    assert [(f["rule"], f["level"], f["path"]) for f in second["findings"]] == [
        ("network-too-small", "error", "network.cidr"),
        ("zone-not-an-id", "error", "zone"),
        ("zone-without-the-type", "warning", "zone"),
    ]


def test_mistakes_of_shape_and_of_meaning_come_in_one_list(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    path = stack("both", nodes={"type": "p5.48xlarge", "count": "16"}, network={"cidr": "10.0.0.0/8"})
    assert main(["check", "--format", "json", path]) == 1
    assert [f["rule"] for f in results(capsys)[0]["findings"]] == ["network-outside-limits", "schema"]


def test_an_unknown_stack_gives_2_and_names_its_neighbour(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", "aws-p4"]) == 2
    [result] = results(capsys)
    assert not result["ok"]
    assert [(f["rule"], f["level"]) for f in result["findings"]] == [("schema", "error")]
    assert "did you mean aws-p5" in result["findings"][0]["fix"]


@pytest.mark.parametrize("content", ["config: [", "a: 1\na: 2\n", "\tconfig: {}", "config: {gpu-clusters:cluster: *x}"])
def test_unreadable_yaml_among_good_files_gives_2_and_the_others_are_judged(
    content: str, stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "Pulumi.broken.yaml"
    broken.write_text(content)
    assert main(["check", "--format", "json", stack("good"), str(broken), stack("bad", zone="x")]) == 2
    good, unreadable, bad = results(capsys)
    assert (good["ok"], unreadable["ok"], bad["ok"]) == (True, False, False)
    assert {f["rule"] for f in unreadable["findings"]} == {"schema"}
    assert [f["rule"] for f in bad["findings"] if f["level"] == "error"] == ["zone-not-an-id"]


@pytest.mark.parametrize("name", ["no/such/file.yaml", "missing.yaml", "."])
def test_a_file_that_can_not_be_read_gives_2(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name]) == 2
    assert "error: " in capsys.readouterr().out


def test_a_file_without_a_cluster_gives_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "Pulumi.empty.yaml"
    empty.write_text("config: {}\n")
    assert main(["check", str(empty)]) == 1
    assert "gpu-clusters:cluster" in capsys.readouterr().out


def test_text_shows_errors_first_each_with_its_fix(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    path = stack("bad", nodes={"type": "p5.48xlarge", "count": 2, "placement": "none"}, zone="x")
    assert main(["check", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: 1 error"
    assert lines[-1] == "1 error, 2 warnings, 0 infos over 1 stack"
    told = [line for line in lines[1:-1] if line and line[0] != " "]
    assert [line.split(":")[0] for line in told] == ["error", "warning", "warning"]
    assert [sum(line.startswith(start) for line in lines) for start in ("  fix: ", "  --> ", "  see: ")] == [3, 3, 1]


def test_stacks_without_findings_are_one_line_each(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, better = stack("good"), stack("bad", zone="x"), stack("better")
    assert main(["check", good, better, bad, good]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [f"{good}: fine", f"{better}: fine", f"{bad}: 1 error"]
    assert lines[-3:] == ["", f"{good}: fine", "1 error, 1 warning, 0 infos over 4 stacks"]


def test_a_waived_finding_is_shown_and_counted_as_waived(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    path = stack("odd", zone="use1-az9", waive={"zone-without-the-type": "a new zone"})
    assert main(["check", path]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^waived: zone: .*\(waived: a new zone\) \[zone-without-the-type\]\n  --> .*:\d+:5$", text, re.M)
    assert text.endswith("0 errors, 0 warnings, 0 infos, 1 waived over 1 stack\n")


def test_an_encrypted_value_has_one_finding_and_its_placeholder_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Pulumi.a.yaml"
    path.write_text(yaml.safe_dump({"config": {"gpu-clusters:cluster": {**SPEC, "account": {"secure": "v1:abc"}}}}))
    assert main(["check", "--format", "json", str(path)]) == 1
    told = [f["rule"] for f in results(capsys)[0]["findings"] if f["path"] == "account"]
    assert told == ["secret-in-spec"]


def test_json_says_where_each_finding_is(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stack("bad", zone="x")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--format", "json", path, "no.yaml", "no-stack"]) == 2
    bad, missing, unknown = ([(f["file"], f["line"], f["column"]) for f in r["findings"]] for r in results(capsys))
    lines = Path(path).read_text().splitlines()
    assert {lines[line - 1][column - 1 :] for _, line, column in bad} == {"zone: x"}
    assert {file for file, *_ in bad} == {"Pulumi.bad.yaml"}
    assert (missing, unknown) == ([("no.yaml", None, None)], [(None, None, None)])


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_and_give_way_to_no_color(
    no_color: str, coloured: bool, stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    path = stack("bad", zone="x")
    main(["check", path])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    main(["check", path])
    assert ("\x1b[1;31merror:\x1b[0m zone: " in capsys.readouterr().out) is coloured


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device of Linux that is always full")
@pytest.mark.parametrize("words", [["check", "aws-p5"], ["rules"], ["schema"], ["rules", "--format", "json"]])
def test_an_output_that_is_full_gives_2_and_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "cli.main", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr == "gpu-clusters: the output cannot be written: No space left on device\n"


def test_a_terminal_without_utf_8_gets_escapes_and_no_traceback(stack: Stack) -> None:
    command = [sys.executable, "-m", "cli.main", "check", stack("odd", password="x")]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "password: \\u2026" in done.stdout


@pytest.mark.parametrize("arguments", [["check"], ["check", "aws-p5", "--format", "xml"], ["no-such-command"]])
def test_wrong_usage_gives_2_on_stderr(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    shown = capsys.readouterr()
    assert "usage: gpu-clusters" in shown.err
    assert shown.out == ""


def test_no_command_shows_what_there_is_and_gives_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(name in shown for name in [*COMMANDS, "local"])


def test_a_spec_read_by_check_is_found_beside_its_setup_file(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stack("setup", nodes={"type": "p5.48xlarge", "count": 1, "setup": "setup.sh"})
    assert main(["check", path]) == 1
    (tmp_path / "setup.sh").write_text("true\n")
    assert main(["check", path]) == 0


def test_check_loads_neither_pulumi_nor_the_other_commands() -> None:
    code = "import sys; from cli.main import main; main(['check', 'aws-p5']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "planning.plan" in loaded
    assert not loaded & {"pulumi", "grpc", "components", "policies", "localcloud", "cli.plan", "cli.local", "rich"}


# plan

KEYS = [
    *("source", "ok", "cluster", "nodes", "gpus", "interfaces", "addresses", "quota", "resources"),
    *("storage", "cost", "waived", "findings"),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:pulumi_aws")
@pytest.mark.parametrize(
    ("name", "quota", "interfaces"),
    [("aws-p5", ("L-417A185B", 3072), 33), ("azure-nd-h100", ("standardNDSH100v5Family", 1536), 0)],
)
def test_json_of_plan_has_the_keys_of_the_command(
    name: str, quota: tuple[str, int], interfaces: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--format", "json", name]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert list(plan) == KEYS
    assert (plan["nodes"], plan["gpus"], len(plan["interfaces"])) == (16, 128, interfaces)
    assert plan["quota"] == [{"code": quota[0], "unit": "vCPU", "need": quota[1]}]
    assert sorted(plan["addresses"]) == ["needed", "usable"]
    assert (plan["cluster"]["name"], plan["cluster"]["node_count"]) == ("llama-70b", 16)
    assert all(sorted(resource) == ["name", "type"] for resource in plan["resources"])
    assert len(plan["resources"]) > 20
    assert plan["cost"]["usd_per_hour"] > 800


def test_plan_of_a_stack_with_errors_gives_1_and_its_findings(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--format", "json", stack("bad", zone="x")]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (list(shown), shown["ok"]) == (["source", "ok", "findings"], False)


def test_several_plans_are_a_list(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--format", "json", stack("bad", zone="x"), "no-such-stack"]) == 2
    assert [plan["ok"] for plan in json.loads(capsys.readouterr().out)] == [False, False]


def test_plan_for_people_tells_nodes_quota_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "aws-p5"]) == 0
    text = capsys.readouterr().out
    assert "16 x p5.48xlarge, 128 GPUs of 80 GiB" in text
    assert "3072 vCPU of L-417A185B" in text
    assert re.search(r"880\.64 +16 node-hour", text)


# rules


def test_rules_are_listed_with_all_that_is_declared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--format", "json"]) == 0
    rules = json.loads(capsys.readouterr().out)["rules"]
    assert all(list(rule) == ["id", "level", "cloud", "guards", "reference"] for rule in rules)
    assert [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})
    assert main(["rules"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rules)


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert re.fullmatch(r"gpu-clusters \d+\.\d+\.\d+\n", capsys.readouterr().out)
