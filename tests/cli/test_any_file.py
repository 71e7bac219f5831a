"""Whatever a stack file holds: `check` in every format and `plan` give findings, and never a traceback.

Values in the place of others, without a file: tests/planning/test_robustness.py.
"""

from __future__ import annotations

import argparse
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cli import check
from cli.main import main
from cli.stacks import judge_stack
from planning.plan import assess
from planning.shape import read_spec
from tests.agreement.fields import fields
from tests.agreement.specs import whole_specs
from tests.clusters import changed

TODAY = datetime.now(UTC).date()
CLOUDS = st.sampled_from(["aws", "azure"])
SPECS = CLOUDS.flatmap(lambda cloud: whole_specs(cloud, TODAY))
HERE = "@here{}@"
"""Where a piece of YAML is put."""
PIECES = [
    "&a [*a]", "*unknown", "&a x", "{<<: *a}", "{<<: {count: 3}}", "!!binary aGk=", "!!set {a}", "!own x", "!!int x",
    "!!float 1", "!!null x", "! 5", "? [a]", "{[a]: b}", "{null: 1}", "{1: 2, 1.0: 3}", "012", "0o17", "1_000", ".nan",
    "-.inf", "22:22", "yes", "~", "2035-12-31", "2035-12-31T00:00:00+02:00", "2035-13-45", "|\n  block\n", ">-\n  x",
    '"\\ud83d"', '"\\0"', "'", '"', "[", "}", "- x", "@", "`", "%", "#", "", "\t", "\u2028", "\ufeff", "\x85", "é\x7f",
    "{secure: AAABAE}", "{a: 1, a: 2}", "x: y", "\n---\nsecond: document", "\n...\n", "9" * 400, "1e999",
    "0x" + "f" * 300, "[" * 200, "x" * 5000, "${aws:region}",
]  # fmt: skip
pieces = st.sampled_from(PIECES) | st.text(max_size=12)


def _formats() -> list[str]:
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    (choices,) = (action.choices for action in parser._actions if action.dest == "format")
    return [str(choice) for choice in choices or ()]


FORMATS = _formats()


def _said(*arguments: str) -> tuple[int, str]:
    """The exit code and the standard output, as a terminal would get it."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        code = main(list(arguments))
    output.flush()
    return code, output.buffer.getvalue().decode("utf-8")


def check_all(path: Path) -> None:
    codes = set()
    for form in FORMATS:
        code, said = _said("check", str(path), "--format", form)
        codes.add(code)
        if form in ("json", "sarif"):
            json.loads(said)
    assert len(codes) == 1, "all formats end alike"
    (code,) = codes
    assert code in (0, 1, 2)
    planned, said = _said("plan", str(path), "--format", "json")
    assert planned == code
    assert json.loads(said)["ok"] == (code == 0)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A stack file with up to three pieces of YAML in places of their own, or keys that are pieces."""
    cloud = draw(CLOUDS)
    spec = draw(whole_specs(cloud, TODAY))
    paths = draw(st.lists(st.sampled_from([*fields(cloud), "tags.x", "odd", "nodes"]), min_size=1, max_size=3))
    for number, path in enumerate(paths):
        spec = _put(spec, path, HERE.format(number))
    text = yaml.safe_dump({"config": {"gpu-clusters:cluster": spec}}, sort_keys=False)
    for number, _ in enumerate(paths):
        piece = draw(pieces)
        text = text.replace(f"'{HERE.format(number)}'", piece).replace(HERE.format(number), piece)
    return text


def _put(spec: dict[str, Any], path: str, value: str) -> dict[str, Any]:
    try:
        return changed(spec, {path: value})
    except (AttributeError, TypeError):  # below something that holds no fields
        return spec


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stacks") / "Pulumi.any.yaml"


SLOW = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(text=texts())
@example(text="")
@example(text="config: {gpu-clusters:cluster: &a {x: *a}}")
@example(text="config:\n  gpu-clusters:cluster:\n    name: !!binary aGk=\n    cloud: aws\n")
def test_any_yaml_in_any_place_gives_findings_in_every_format(text: str, file: Path) -> None:
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    check_all(file)


@SLOW
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_as_a_stack_file_give_findings_in_every_format(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    check_all(file)


@SLOW
@given(raw=SPECS)
def test_a_spec_that_is_written_back_is_judged_alike(raw: dict[str, Any], file: Path) -> None:
    spec, _ = read_spec(raw)
    if spec is None:
        return
    written = spec.model_dump(mode="json", exclude_unset=True)
    file.write_text(yaml.safe_dump({"config": {"gpu-clusters:cluster": written}}, sort_keys=False))
    again = judge_stack(str(file)).assessment
    assert again is not None
    first = assess(raw, TODAY, file.parent)
    assert [(f.rule, f.path, f.message, f.level) for f in again.findings] == [
        (f.rule, f.path, f.message, f.level) for f in first.findings
    ]
    assert (again.plan, again.facts) == (first.plan, first.facts)
