"""What `gpu-clusters plan` tells of a stack. Its exit codes and JSON keys: test_check."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.clusters import CLUSTERS, changes_of, stack_file

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:pulumi_aws")
Shown = Callable[..., str]


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shown:
    """`shown(stack, {field: value}, "--option")`: the output of the command for a stack that is changed."""

    def run(stack: str, changes: dict[str, Any] | None = None, *options: str) -> str:
        path = tmp_path / f"Pulumi.{stack}.yaml"
        path.write_text(stack_file(stack, changes))
        assert main(["plan", str(path), *options]) == 0
        return capsys.readouterr().out

    return run


def row(text: str, name: str) -> str:
    """All that stands beside a name, in one line."""
    found = re.search(rf"^  {name} +(.*?)(?=\n  \S|\n\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no row {name} in\n{text}"
    return " ".join(found[1].split())


def test_the_plan_of_aws_tells_what_one_asks_before_it_is_made(shown: Shown) -> None:
    text = shown("aws-p5")
    assert "all or none, a capacity reservation of the cluster's own" in row(text, "nodes")
    assert "card 0: interface at device 0, efa-only at device 1; cards 1-31: efa-only at device 0" in row(
        text, "fabric"
    )
    assert "33 needed (16 nodes, 1 each, and 17 others), 32,763 usable in 10.40.0.0/17" in row(text, "addresses")
    assert "--quota-code L-417A185B --region us-east-1 --desired-value 3072" in row(text, "quota")
    assert "38,400 GiB, 250 MB/s per TiB, 9.4 GB/s over EFA" in row(text, "storage")
    assert "bucket llama-70b-objects…" in row(text, "names")
    assert "VPC llama-70b-vpc, placement group llama-70b-nodes…" in row(text, "names")
    assert "FI_PROVIDER=efa" in row(text, "launcher")


def test_the_plan_of_azure_tells_what_one_asks_before_it_is_made(shown: Shown) -> None:
    text = shown("azure-nd-h100")
    assert "1536 vCPU of standardNDSH100v5Family" in row(text, "quota")
    assert "--limit-object value=1536 --resource-type dedicated" in row(text, "quota")
    assert "6.0 GB/s" in row(text, "storage")
    assert "VNet llama-70b-vnet, scale set llama-70b-nodes" in row(text, "names")
    assert "123 usable in 10.50.128.0/25 (filesystem)" in row(text, "addresses")


@pytest.mark.parametrize("stack", ["aws-p5", "azure-nd-h100"])
def test_the_number_of_resources_is_the_sum_of_the_areas_and_said_as_up_counts_it(stack: str, shown: Shown) -> None:
    told = row(shown(stack), "resources")
    total, own, counted = map(int, re.findall(r"^(\d+), and (\d+) of Pulumi's own .*?: (\d+) in what", told)[0])
    assert total == sum(map(int, re.findall(r"\((\d+)\):", told)))
    assert total == len(json.loads(shown(stack, None, "--format", "json"))["resources"])
    assert (own, counted) == (3, total + 3)


@pytest.mark.parametrize(
    ("changes", "options", "takes"),
    [
        ({"storage.objects.checkpoints.size": "2TiB"}, [], "a checkpoint of 2TiB takes 3.9 minutes"),
        ({"storage.objects.checkpoints.size": "2TiB"}, ["--checkpoint-size", "512GiB"], "of 512GiB takes 59 s"),
        ({}, [], "a checkpoint of 1TiB takes 117 s to write or read at best; --checkpoint-size tells of others"),
    ],
)
def test_a_checkpoint_takes_its_size_over_the_throughput(
    changes: dict[str, Any], options: list[str], takes: str, shown: Shown
) -> None:
    assert takes in row(shown("aws-p5", changes, *options), "storage")


def test_the_json_of_a_plan_has_the_throughput_and_the_time_of_a_checkpoint(shown: Shown) -> None:
    plan = json.loads(shown("aws-p5", None, "--format", "json", "--checkpoint-size", "4TiB"))
    assert plan["storage"] == {
        "capacity_gib": 38400,
        "mbps": 9375,
        "checkpoint_gib": 4096,
        "checkpoint_seconds": 469.1,
    }


def test_a_size_without_a_binary_unit_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["plan", "aws-p5", "--checkpoint-size", "1TB"])
    assert end.value.code == 2
    assert "did you mean 1TiB?" in capsys.readouterr().err


def test_waivers_are_listed_with_rule_and_reason(shown: Shown) -> None:
    waived = {"nodes.placement": "none", "waive": {"efa-without-placement": "one rack only"}}
    assert row(shown("aws-p5", waived), "waived") == "efa-without-placement at nodes.placement: one rack only"
    assert json.loads(shown("aws-p5", waived, "--format", "json"))["waived"] == [
        {"rule": "efa-without-placement", "path": "nodes.placement", "reason": "one rack only"}
    ]
    assert "waived  " not in shown("aws-p5")


@pytest.mark.parametrize("cluster", list(CLUSTERS)[::4])
def test_text_keeps_to_the_width_but_for_what_is_copied(cluster: str, shown: Shown) -> None:
    text = shown(CLUSTERS[cluster]["stack"], changes_of(cluster)).partition("\ninfo:")[0].partition("\nwarning:")[0]
    long = [line.strip() for line in text.splitlines()[1:] if len(line) > 100]
    copied = re.compile(r"(aws|az|image) |[\d.,]+  |no price known")
    assert [line for line in long if not copied.match(line) and max(map(len, line.split())) < 60] == []
