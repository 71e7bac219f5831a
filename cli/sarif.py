"""Findings as a SARIF 2.1.0 log, for code scanning and for whatever else reads it.

The form is that of https://docs.oasis-open.org/sarif/sarif/v2.1.0/, with all that GitHub asks for:
https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from cli.repository import repository_path
from cli.stacks import Judged
from planning.findings import Finding
from planning.rules import RULES

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_FILE_RULES = {
    "schema": "A stack file is one that Pulumi reads, and its cluster has the fields and the values that there are.",
    "secret-in-spec": "A spec holds no secrets, since plans and exports print it.",
    "provider-key-ignored": "Config of a default provider has no effect on a cluster, which has a provider of its own.",
}
"""What is found before there is a spec that rules could judge."""


def sarif(results: Iterable[Judged]) -> dict[str, Any]:
    rules = [_rule(id_, guards, "error", "") for id_, guards in _FILE_RULES.items()]
    rules += [_rule(r.id, r.guards, r.level, r.reference) for r in sorted(RULES.values(), key=lambda r: r.id)]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "gpu-clusters", "semanticVersion": version("gpu-clusters"), "rules": rules}
    found = [_result(r, f, index[f.rule]) for r in results for f in r.findings]
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}],
    }


def _rule(id_: str, guards: str, level: str, reference: str) -> dict[str, Any]:
    text = {"text": guards}
    page = reference.split(" ")[0]
    return {
        "id": id_,
        "shortDescription": text,
        "fullDescription": text,
        "help": {"text": f"{guards} Source: {reference}" if reference else guards},
        **({"helpUri": page} if page.startswith("https://") else {}),
        "defaultConfiguration": {"level": _LEVELS[level]},
    }


def _result(result: Judged, finding: Finding, rule_index: int) -> dict[str, Any]:
    level = RULES[finding.rule].level if finding.level == "waived" else finding.level
    where = f"{finding.path}: " if finding.path else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[level],
        "message": {"text": f"{where}{finding.message}\nfix: {finding.fix}"},
        "locations": [{"physicalLocation": _location(result, finding)}],
        **({"suppressions": [_suppression(finding)]} if finding.level == "waived" else {}),
    }


def _location(result: Judged, finding: Finding) -> dict[str, Any]:
    """What cannot be read has no line of its own, and GitHub asks for one: the first."""
    frames = result.frames()
    name = repository_path(frames.stack.path) if frames else result.source
    line, column = (frames.place(finding) if frames else None) or (1, 1)
    region = {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column + 1}
    return {
        "artifactLocation": {"uri": quote(name, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"},
        "region": region,
    }


def _suppression(finding: Finding) -> dict[str, str]:
    return {"kind": "inSource", "justification": finding.waiver}
