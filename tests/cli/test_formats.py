"""`check` for machines: annotations of GitHub Actions, and SARIF as GitHub's code scanning asks for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from cli.main import main
from cli.repository import _root
from planning.rules import RULES
from tests.planning.conftest import BASES

SPEC = {
    "name": "llama-70b",
    "cloud": "aws",
    "region": "us-east-1",
    "zone": "x",
    "nodes": {"type": "p5.48xlarge", "count": 16, "placement": "none"},
    "waive": {"account-not-said": "a trial: 100%"},
    "pass, word:\n": 1,
}


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an odd stack file, and with a working directory below its root."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "infra, a"
    folder.mkdir()
    (folder / "Pulumi.odd.yaml").write_text(yaml.safe_dump({"config": {"gpu-clusters:cluster": SPEC}}))
    (folder / "Pulumi.tab.yaml").write_text("config:\n\tcluster: {}\n")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(folder)
    _root.cache_clear()
    return tmp_path


def check(form: str, capsys: pytest.CaptureFixture[str], *stacks: str) -> str:
    code = main(["check", "--format", form, *stacks])
    text = capsys.readouterr().out
    assert code == main(["check", *stacks])
    capsys.readouterr()
    return text


# github

COMMAND = re.compile(r"::(?P<command>error|warning|notice) (?P<properties>[^:]*)::(?P<data>.*)")


def unescaped(text: str) -> str:
    for code, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """As a runner reads them; every line is one."""
    found = []
    for line in text.splitlines():
        command = COMMAND.fullmatch(line)
        assert command, line
        pairs = dict(pair.split("=", 1) for pair in command["properties"].split(","))
        found.append((command["command"], {k: unescaped(v) for k, v in pairs.items()}, unescaped(command["data"])))
    return found


def test_each_finding_is_an_annotation_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    found = {told[1]["title"]: told for told in commands(check("github", capsys, "Pulumi.odd.yaml"))}
    lines = Path("Pulumi.odd.yaml").read_text().splitlines()
    command, properties, text = found["zone-not-an-id"]
    assert (command, properties["file"], properties["col"]) == ("error", "infra, a/Pulumi.odd.yaml", "5")
    assert lines[int(properties["line"]) - 1] == "    zone: x"
    assert re.fullmatch(r"zone: .*\nfix: .*", text)
    assert found["zone-without-the-type"][0] == "warning"
    assert found["image-not-recorded"][0] == "notice"
    command, _, text = found["account-not-said"]
    assert (command, "(waived: a trial: 100%)" in text) == ("notice", True)


def test_a_key_cannot_break_out_of_its_annotation(capsys: pytest.CaptureFixture[str]) -> None:
    told = [text for _, _, text in commands(check("github", capsys, "Pulumi.odd.yaml")) if "pass, word" in text]
    assert told[0].startswith("pass, word:\n: a cluster has no field pass, word:\n")


def test_the_checkout_of_a_workflow_is_the_root(
    capsys: pytest.CaptureFixture[str], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repository / "infra, a"))
    [(_, properties, _)] = commands(check("github", capsys, "Pulumi.tab.yaml"))
    assert properties == {"file": "Pulumi.tab.yaml", "line": "2", "col": "1", "title": "schema"}


def test_files_without_places_and_unknown_stacks_are_annotations_too(capsys: pytest.CaptureFixture[str]) -> None:
    missing, unknown = commands(check("github", capsys, "no.yaml", "no-such-stack"))
    assert missing[:2] == ("error", {"file": "infra, a/no.yaml", "title": "schema"})
    assert unknown[:2] == ("error", {"title": "schema"})


def test_a_stack_without_findings_gives_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("Pulumi.good.yaml").write_text(yaml.safe_dump({"config": {"gpu-clusters:cluster": BASES["azure"]}}))
    assert check("github", capsys, "Pulumi.good.yaml") == ""


# sarif


def text_of(least: int = 1) -> dict[str, Any]:
    text = {"type": "string", "minLength": least}
    return {"type": "object", "required": ["text"], "properties": {"text": text}}


def closed(**properties: Any) -> dict[str, Any]:
    """An object with these members and no others, all of them there but for those that end in _."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if not name.endswith("_")],
        "properties": {name.rstrip("_"): value for name, value in properties.items()},
    }


URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"}
NUMBER = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["error", "warning", "note", "none"]}
REGION = closed(startLine=NUMBER, startColumn=NUMBER, endLine=NUMBER, endColumn=NUMBER)
FILE = closed(uri=URI, uriBaseId={"const": "%SRCROOT%"})
LOCATION = closed(physicalLocation=closed(artifactLocation=FILE, region=REGION))
RULE = closed(
    id={"type": "string", "maxLength": 255},
    shortDescription=text_of(),
    fullDescription=text_of(),
    help=text_of(),
    helpUri_={**URI, "pattern": "^https://[^ ]+$"},
    defaultConfiguration=closed(level=LEVEL),
)
RESULT = closed(
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=text_of(),
    locations={"type": "array", "minItems": 1, "maxItems": 1, "items": LOCATION},
    suppressions_={"type": "array", "items": closed(kind={"const": "inSource"}, justification={"minLength": 1})},
)
DRIVER = closed(name={"const": "gpu-clusters"}, semanticVersion={}, rules={"type": "array", "items": RULE})
RUN = closed(
    tool=closed(driver=DRIVER),
    columnKind={"const": "unicodeCodePoints"},
    results={"type": "array", "items": RESULT},
)
SARIF = closed(**{"$schema": URI, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": RUN}})
"""SARIF 2.1.0, as far as it is used, with all that GitHub requires: the texts of a rule, and whole regions."""


def sarif(capsys: pytest.CaptureFixture[str], *stacks: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rules and results."""
    log = json.loads(check("sarif", capsys, *stacks))
    assert [error.message for error in Draft7Validator(SARIF).iter_errors(log)] == []
    [run] = log["runs"]
    return run["tool"]["driver"]["rules"], run["results"]


def test_a_sarif_log_holds_every_rule_and_each_finding_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    rules, found = sarif(capsys, "Pulumi.odd.yaml")
    ids = [rule["id"] for rule in rules]
    assert set(RULES) < set(ids)
    assert len(ids) == len(set(ids))
    assert all(ids[result["ruleIndex"]] == result["ruleId"] for result in found)
    [zone] = [result for result in found if result["ruleId"] == "zone-not-an-id"]
    where = zone["locations"][0]["physicalLocation"]
    assert (zone["level"], where["artifactLocation"]["uri"]) == ("error", "infra%2C%20a/Pulumi.odd.yaml")
    lines = Path("Pulumi.odd.yaml").read_text().splitlines()
    assert lines[where["region"]["startLine"] - 1][where["region"]["startColumn"] - 1 :] == "zone: x"


def test_a_waived_finding_is_suppressed_with_its_reason_at_the_level_of_its_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, found = sarif(capsys, "Pulumi.odd.yaml")
    waived = [(r["ruleId"], r["level"], r["suppressions"]) for r in found if "suppressions" in r]
    reason = {"kind": "inSource", "justification": "a trial: 100%"}
    assert waived == [("account-not-said", "note", [reason])]


def test_what_cannot_be_read_is_a_result_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = sarif(capsys, "Pulumi.tab.yaml", "no.yaml", "no-such-stack")
    places = [result["locations"][0]["physicalLocation"] for result in found]
    assert [place["artifactLocation"]["uri"].rpartition("/")[2] for place in places] == [
        "Pulumi.tab.yaml",
        "no.yaml",
        "no-such-stack",
    ]
    assert [place["region"]["startLine"] for place in places] == [2, 1, 1]
    assert {result["ruleId"] for result in found} == {"schema"}
