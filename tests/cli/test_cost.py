"""What `gpu-clusters cost` takes and gives. The figures: tests/planning/test_cost*.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.main import main
from tests.clusters import stack_file

Capture = pytest.CaptureFixture[str]


def test_json_of_one_stack_is_an_object_and_of_several_a_list(capsys: Capture) -> None:
    assert main(["cost", "aws-p5", "--format", "json", "--hours", "100"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert {"source", "ok", "currency", "lines", "usd_per_hour", "usd_per_month", "usd_per_run", "assumptions"} <= set(
        one
    )
    assert one["lines"][0]["usd_per_hour"] == 880.64
    assert main(["cost", "aws-p5", "azure-nd-h100", "--format", "json"]) == 0
    assert [each["lines"][0]["usd_per_hour"] for each in json.loads(capsys.readouterr().out)] == [880.64, 1573.12]


def test_a_stack_with_errors_has_its_findings_and_no_cost(capsys: Capture) -> None:
    assert main(["cost", "docs/examples/Pulumi.mistakes.yaml", "aws-p5", "--format", "json"]) == 1
    wrong, right = json.loads(capsys.readouterr().out)
    assert (wrong["ok"], right["ok"]) == (False, True)
    assert wrong["findings"]
    assert main(["cost", "docs/examples/Pulumi.mistakes.yaml"]) == 1
    assert "no cost" in capsys.readouterr().out
    assert main(["cost", "no-such-stack"]) == 2


def test_the_size_of_a_checkpoint_comes_from_the_stack_where_no_flag_says_it(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "Pulumi.sized.yaml"
    path.write_text(stack_file("aws-p5", {"storage.objects.checkpoints.size": "1TiB"}))
    main(["cost", str(path)])
    assert "a checkpoint of 1,100 GB every 2 h" in capsys.readouterr().out
    main(["cost", str(path), "--checkpoint-size", "50GB"])
    assert "a checkpoint of 50 GB every 2 h" in capsys.readouterr().out


def test_an_unknown_price_is_said_and_the_sum_is_a_least(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "Pulumi.elsewhere.yaml"
    path.write_text(stack_file("aws-p5", {"region": "eu-south-2", "zone": "eus2-az1"}))
    assert main(["cost", str(path)]) == 0
    text = capsys.readouterr().out
    assert "unknown" in text
    assert "at least" in text
    assert "lower bound" in text


def test_prices_of_ones_own_are_named_beside_what_they_change(tmp_path: Path, capsys: Capture) -> None:
    prices = tmp_path / "ours.toml"
    prices.write_text('[nodes."p5.48xlarge"]\non-demand = "40"\n')
    assert main(["cost", "aws-p5", "--prices", str(prices)]) == 0
    text = capsys.readouterr().out
    assert "640.00" in text
    assert "prices of ours.toml over list prices" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hours", "0"], "not between a minute and"),
        (["--hours", "soon"], "write hours, such as 720, 90m or 30d"),
        (["--hours", "1e400"], "is no time"),
        (["--checkpoint-size", "50"], "write a number with GB, TB, GiB or TiB"),
        (["--checkpoint-size", "50gb"], "did you mean 50GB?"),
        (["--checkpoint-interval", "0h"], "not between"),
        (["--dataset-region", "us-esat-1"], "did you mean us-west-1 or us-east-1"),
        (["--interruptions", "101"], "write per cent from 0 to 100"),
        (["--prices", "no-such-file.toml"], "can not be read"),
        (["--format", "csv"], "invalid choice"),
    ],
)
def test_wrong_usage_is_told_in_words_and_ends_with_2(words: list[str], said: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["cost", "aws-p5", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
