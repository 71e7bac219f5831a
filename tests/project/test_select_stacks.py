"""`.github/select_stacks.py` as the workflows call it, and the set-up page that names its variables."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github" / "select_stacks.py"
AWS = {"AWS_PREVIEW_ROLE": "arn:aws:iam::123456789012:role/preview", "PULUMI_BACKEND_URL_AWS": "s3://state"}
AZURE = {
    "AZURE_PREVIEW_CLIENT_ID": "11111111-1111-1111-1111-111111111111",
    "AZURE_TENANT_ID": "22222222-2222-2222-2222-222222222222",
    "AZURE_SUBSCRIPTION_ID": "33333333-3333-3333-3333-333333333333",
    "PULUMI_BACKEND_URL_AZURE": "azblob://state",
}


class Selection:
    def __init__(self, folder: Path, stacks: str, variables: dict[str, str], purpose: str = "PREVIEW") -> None:
        output = folder / "output"
        output.touch()
        env = {"STACKS": stacks, "VARIABLES": json.dumps(variables), "GITHUB_OUTPUT": str(output)}
        done = subprocess.run(
            [sys.executable, str(SCRIPT), purpose],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        self.code, self.said, self.written = done.returncode, done.stdout, output.read_text()

    @property
    def stacks(self) -> list[dict[str, str]]:
        return json.loads(self.written.removeprefix("stacks="))


def test_a_configured_cloud_gets_a_job_with_the_cloud_and_region_of_its_stack(tmp_path: Path) -> None:
    both = Selection(tmp_path, "aws-p5 azure-nd-h100", AWS | AZURE)
    assert [(s["stack"], s["cloud"]) for s in both.stacks] == [("aws-p5", "aws"), ("azure-nd-h100", "azure")]
    assert all(s["region"] for s in both.stacks)
    assert (both.code, both.said) == (0, "")


def test_a_cloud_without_its_variables_is_left_out_by_name_and_fails_nothing(tmp_path: Path) -> None:
    one = Selection(tmp_path, "aws-p5 azure-nd-h100", AWS | {"AZURE_TENANT_ID": ""})
    assert one.code == 0
    assert [s["stack"] for s in one.stacks] == ["aws-p5"]
    assert one.said.startswith("::notice::azure-nd-h100 is left out")
    assert all(name in one.said for name in AZURE)


def test_the_reading_identity_does_not_open_the_way_to_a_deployment(tmp_path: Path) -> None:
    none = Selection(tmp_path, "aws-p5", AWS, purpose="DEPLOY")
    assert none.stacks == []
    assert "AWS_DEPLOY_ROLE" in none.said


def test_without_a_stack_nothing_runs_and_the_variable_to_set_is_named(tmp_path: Path) -> None:
    none = Selection(tmp_path, "", AWS | AZURE)
    assert (none.code, none.stacks) == (0, [])
    assert "PULUMI_STACKS" in none.said


def test_a_stack_named_twice_gets_one_job(tmp_path: Path) -> None:
    assert len(Selection(tmp_path, "aws-p5 aws-p5", AWS).stacks) == 1


@pytest.mark.parametrize("name", ["aws-p6x", "../aws-p5", "::error::x"])
def test_an_unknown_stack_is_an_error_and_selects_nothing(tmp_path: Path, name: str) -> None:
    wrong = Selection(tmp_path, name, AWS | AZURE)
    assert (wrong.code, wrong.written) == (1, "")
    assert wrong.said.startswith(f"::error::unknown stack {name!r}: stacks/ holds ")
    assert "aws-p5" in wrong.said


def test_the_set_up_page_explains_every_variable_and_secret_and_no_other() -> None:
    text = "".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    used = set(re.findall(r"\b(?:vars|secrets)\.([A-Z_]+)", text))
    rows = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "github-actions.md").read_text(), re.MULTILINE)
    assert used == set(rows)
