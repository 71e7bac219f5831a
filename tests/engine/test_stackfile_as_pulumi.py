"""The stack-file loader against the engine: what `read_stack` returns is what a program receives, spelling by spelling.

The same spellings without an engine, and the findings: tests/planning/test_stackfile.py. The local cloud plays no part.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planning.stackfile import MISSING, read_stack

SPELLINGS = json.loads((Path(__file__).parents[1] / "planning" / "spellings.json").read_text())
INSIDE = [spelling for spelling, _ in SPELLINGS["inside"]]
KEYS = [spelling for spelling, _ in SPELLINGS["keys"]]
ALONE = [row[0] for row in SPELLINGS["alone"]]

PROGRAM = """\
import json, pulumi

config, received = pulumi.Config(), {}
for key in ["cluster", *(f"alone{n}" for n in range(COUNT))]:
    try:
        received[key] = [config.get_object(key)]
    except pulumi.ConfigTypeError:
        received[key] = []
with open("received.json", "w") as file:
    json.dump(received, file)
"""

TEXTS = """\
    # comments, blocks and folds
    literal: |
      first line
        second line

    leading: |

      begins with an empty line
    folded: >-
      one
      text

      two
    plain: it goes on
      here
    setup:
    - |
      systemctl stop x   # no comment
    - 'it''s'
    base: &base {type: p5.48xlarge, count: 012}
    derived:
      <<: *base
      count: 0x10
"""


def _stack_text() -> str:
    lines = ["config:", "  gpu-clusters:cluster:", TEXTS.rstrip("\n"), "    block:"]
    lines += [f"      v{n}: {spelling}" for n, spelling in enumerate(INSIDE)]
    lines += ["    items:", *(f"      - {spelling}" for spelling in INSIDE)]
    lines += [f"    flow: [{', '.join(INSIDE)}]", "    keys:"]
    lines += [f"      - {spelling}: {{{spelling}: 1}}" for spelling in KEYS]
    lines += [f"  alone{n}: {spelling}" for n, spelling in enumerate(ALONE)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def program(workspace: Callable[..., Any], tmp_path: Path) -> Any:
    """A stack `spelt` of a project with our name, whose program writes down what it receives."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: gpu-clusters\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM.replace("COUNT", str(len(ALONE))))
    cloud = workspace(folder)
    cloud.stack("spelt")
    return cloud


def _as_text(value: object) -> str:
    """Tells 1 from 1.0 and from true, which == does not."""
    return json.dumps(value, sort_keys=True)


def _read(folder: Path, text: str) -> Any:
    path = folder / "Pulumi.spelt.yaml"
    path.write_text(text)
    return read_stack(path)


def test_the_loader_gives_every_spelling_the_value_that_the_program_receives(program: Any, tmp_path: Path) -> None:
    text = _stack_text()
    program.stack("spelt", text)
    program.pulumi("preview", "--stack", "spelt")
    received = json.loads((tmp_path / "program" / "received.json").read_text())
    (cluster,) = received["cluster"]

    recorded = {
        **{f"- {spelling}": value for spelling, value in SPELLINGS["inside"]},
        **{f"{spelling}:": {text: {text: 1}} for spelling, text in SPELLINGS["keys"]},
        **{f"alone {row[0]}": row[1:] for row in SPELLINGS["alone"]},
    }
    engine = {
        **{f"- {spelling}": value for spelling, value in zip(INSIDE, cluster["items"], strict=True)},
        **{f"{spelling}:": value for spelling, value in zip(KEYS, cluster["keys"], strict=True)},
        **{f"alone {spelling}": received[f"alone{n}"] for n, spelling in enumerate(ALONE)},
    }
    wrong = {spelling: (recorded[spelling], engine[spelling]) for spelling in recorded}
    assert {spelling: pair for spelling, pair in wrong.items() if _as_text(pair[0]) != _as_text(pair[1])} == {}

    mine = _read(tmp_path, text)
    assert mine.readable
    assert _as_text(mine.spec) == _as_text(cluster)


REFUSED = {
    "a key given twice": "config:\n  gpu-clusters:cluster:\n    name: a\n    name: b\n",
    "no number": "config:\n  gpu-clusters:cluster: {count: .nan}\n",
    "infinite": "config:\n  gpu-clusters:cluster: {count: .inf}\n",
    "a tag that does not fit": "config:\n  gpu-clusters:cluster: {count: !!int many}\n",
    "tabs": "config:\n\tgpu-clusters:cluster: {}\n",
    "a list of config": "config:\n  - gpu-clusters:cluster\n",
    "a list": "- config\n",
    "a number as config key": "config:\n  1: a\n",
    "too many colons": "config:\n  gpu-clusters:x:cluster: {}\n",
    "no alias": "config:\n  gpu-clusters:cluster: *cluster\n",
    "a question mark in braces": "config:\n  gpu-clusters:cluster: {name: a?b}\n",
    "a text that begins with a tab": 'config:\n  gpu-clusters:cluster: {name: "\\ta\\nb"}\n',
}


def test_the_loader_refuses_what_the_engine_refuses(program: Any, tmp_path: Path) -> None:
    accepted = []
    for what, text in REFUSED.items():
        program.stack("spelt", text)
        result = program.pulumi("preview", "--stack", "spelt", check=False)
        mine = _read(tmp_path, text)
        if result.returncode == 0 or mine.readable or mine.spec is not MISSING:
            accepted.append((what, result.returncode, mine))
    assert accepted == []
