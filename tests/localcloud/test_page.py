"""docs/local-cloud.md says what there is: its tables are written from the rows, behaviour.toml and the command's usage.

`make golden` rewrites them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.cloud import USAGE
from localcloud.aws.cloud import Aws
from localcloud.azure.cloud import Azure

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "local-cloud.md"
TYPES = tomllib.loads((HERE / "behaviour.toml").read_text(encoding="utf-8"))["types"]
CLOUDS = {"AWS": Aws, "Azure": Azure}
BLOCK = re.compile(r"(<!-- generated: (?P<what>\w+) -->\n)(?P<text>.*?)(<!-- end -->)", re.DOTALL)


def commands() -> Iterator[str]:
    yield from ("```text", USAGE.rstrip(), "```")


def functions() -> Iterator[str]:
    for name, cloud in CLOUDS.items():
        yield f"- {name}: {', '.join(f'`{short(token)}`' for token in sorted(cloud.invokes))}"


def types() -> Iterator[str]:
    for name, cloud in CLOUDS.items():
        yield from (f"### {name}", "", "| type | replaced by | also known | left out |", "|---|---|---|---|")
        yield from (row(token) for token in sorted(cloud.kinds))
        yield ""


def row(token: str) -> str:
    entry = TYPES[token]
    replaces = [f"`{path}`" for path in entry["replaces"]]
    sometimes: dict[str, list[str]] = {}
    for path, when in entry.get("replaces_when", {}).items():
        sometimes.setdefault(when, []).append(f"`{path}`")
    replaces += [f"{', '.join(paths)} when {when}" for when, paths in sometimes.items()]
    known = [claim["says"] for claim in entry.get("modelled", []) if "by" in claim]
    left = [f"{claim['says']}: {claim['not_modelled']}" for claim in entry.get("modelled", []) if "by" not in claim]
    left += entry.get("not_modelled", [])
    return f"| {short(token)} | {', '.join(replaces)} | {'; '.join(known)} | {'; '.join(left)} |"


def short(token: str) -> str:
    """ec2.Vpc, network.Subnet: as programs name it."""
    _, module, name = token.split(":")
    return f"{module.partition('/')[0]}.{name}".removeprefix("index.")


WRITERS: dict[str, Any] = {"commands": commands, "functions": functions, "types": types}


def written(match: re.Match[str]) -> str:
    return match[1] + "\n".join(WRITERS[match["what"]]()).rstrip() + "\n" + match[4]


def test_the_page_says_what_there_is(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert {match["what"] for match in BLOCK.finditer(page)} == set(WRITERS)
    now = BLOCK.sub(written, page)
    if request.config.option.update_snapshots:
        PAGE.write_text(now, encoding="utf-8")
        page = now
    assert page == now, "`make golden` rewrites docs/local-cloud.md"


def test_names_in_the_page_are_those_of_the_sdk() -> None:
    assert short("aws:ec2/launchTemplate:LaunchTemplate") == "ec2.LaunchTemplate"
    assert short("azure-native:network:Subnet") == "network.Subnet"
