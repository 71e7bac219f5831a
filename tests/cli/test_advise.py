"""What `gpu-clusters advise` takes, tells and writes. The numbers: tests/planning/test_sizing*.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.main import main

Capture = pytest.CaptureFixture[str]
RUN = ["--model", "llama-3-70b", "--tokens", "1.5e12", "--deadline-days", "60"]


def asked(capsys: Capture, *words: str) -> Any:
    assert main(["advise", *words, "--format", "json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_both_clouds_answer_with_nodes_time_cost_and_a_spec(capsys: Capture) -> None:
    advice = asked(capsys, *RUN)
    assert [answer["cloud"] for answer in advice["answers"]] == ["aws", "azure"]
    for answer in advice["answers"]:
        assert answer["nodes"] * 8 == answer["gpus"]
        assert answer["days"]["low"] < answer["days"]["likely"] < answer["days"]["high"]
        assert answer["cost"]["usd_per_run"] > 10**6
        assert answer["spec"]["nodes"]["count"] == answer["nodes"]
        assert {finding["level"] for finding in answer["findings"]} <= {"info"}
    assert main(["advise", *RUN]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "TP 8" in text
    assert "GiB of 70 usable" in text


@pytest.mark.parametrize("cloud", ["aws", "azure"])
@pytest.mark.parametrize("run", [RUN, ["--model", "13B", "--tokens", "300M", "--deadline-days", "3"]])
def test_what_is_written_passes_check_and_plans(cloud: str, run: list[str], tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "Pulumi.advised.yaml"
    assert main(["advise", *run, "--cloud", cloud, "--write", str(path)]) == 0
    assert f"{path} is written" in capsys.readouterr().out
    assert main(["check", str(path), "--format", "json"]) == 0
    [result] = json.loads(capsys.readouterr().out)["results"]
    assert {finding["level"] for finding in result["findings"]} <= {"info"}
    assert main(["plan", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] >= 1
    assert path.read_text().startswith("# yaml-language-server")


def test_the_file_holds_the_spec_that_is_told(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "Pulumi.advised.yaml"
    advice = asked(capsys, *RUN, "--cloud", "azure", "--write", str(path))
    written = yaml.safe_load(path.read_text())["config"]["gpu-clusters:cluster"]
    written["lifetime"]["expires"] = written["lifetime"]["expires"].isoformat()
    assert written == advice["answers"][0]["spec"]


def test_a_file_that_is_there_is_kept_unless_force_is_said(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "Pulumi.advised.yaml"
    path.write_text("mine\n")
    assert main(["advise", *RUN, "--cloud", "aws", "--write", str(path)]) == 2
    assert "write over it with --force" in capsys.readouterr().err
    assert path.read_text() == "mine\n"
    assert main(["advise", *RUN, "--cloud", "aws", "--write", str(path), "--force"]) == 0
    assert "p5.48xlarge" in path.read_text()


def test_an_impossible_deadline_ends_with_1_says_what_would_do_and_writes_nothing(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "Pulumi.advised.yaml"
    words = ["--model", "llama-3-70b", "--tokens", "1.5e12", "--deadline-days", "30", "--cloud", "azure"]
    assert main(["advise", *words, "--write", str(path)]) == 1
    text = capsys.readouterr().out
    assert "100 is the most" in text
    assert "would do" in text
    assert not path.exists()
    [refusal] = asked(capsys, *words)["refusals"]
    assert refusal["would"]


def test_prices_of_ones_own_reach_the_budget_and_the_cost(tmp_path: Path, capsys: Capture) -> None:
    prices = tmp_path / "ours.toml"
    prices.write_text('[nodes."p5.48xlarge"]\non-demand = "1"\n')
    words = ["--model", "llama-3-70b", "--tokens", "1T", "--budget", "100,000", "--cloud", "aws"]
    assert main(["advise", *words]) == 1
    assert "more than 100,000" in capsys.readouterr().out
    [answer] = asked(capsys, *words, "--prices", str(prices))["answers"]
    assert answer["cost"]["usd_per_run"] < 200_000, "nodes of 59,600 USD, and storage"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tokens", "1T"], "--model is missing"),
        (["--model", "13B"], "--tokens is missing"),
        (["--model", "llama-3-70", "--tokens", "1T"], "did you mean llama-3-70b"),
        (["--model", "13B", "--tokens", "0"], "is not a number above 0"),
        (["--model", "13B", "--tokens=-5"], "is not a number above 0"),
        (["--model", "13B", "--tokens", "1T", "--deadline-days", "nan"], "no time to train in"),
        (["--model", "13B", "--tokens", "1T", "--budget", "cheap"], "'cheap' is no money"),
        (["--model", "13B", "--tokens", "1T", "--budget", "nan"], "is no money"),
        (["--model", "13B", "--tokens", "1T", "--region", "us-esat-1"], "did you mean us-west-1"),
        (["--model", "13B", "--tokens", "1T", "--region", "eastus", "--cloud", "aws"], "is a region of azure"),
        (["--model", "13B", "--tokens", "1T", "--purchase", "sport"], "did you mean spot"),
        (["--model", "13B", "--tokens", "1T", "--node-type", "p5.48xlarg"], "did you mean p5.48xlarge"),
        ([*RUN, "--write", "x.yaml"], "two clouds, and one file"),
        ([*RUN, "--cloud", "aws", "--write", "/no/such/folder/x.yaml"], "there is no folder /no/such/folder"),
        ([*RUN, "--cloud", "aws", "--purchase", "reserved"], "needs an id that the cloud gives"),
    ],
)
def test_a_mistake_in_the_question_is_one_clear_error(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["advise", *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.startswith("gpu-clusters: ")
    assert not shown.out
