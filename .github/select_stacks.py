"""Which stacks preview.yml and deploy.yml run, as a job matrix. They call it after `gpu-clusters check`.

A stack whose cloud is not set up in the repository is left out with a notice and fails nothing. The set-up:
docs/github-actions.md.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from planning.stackfile import read_stack

STACKS = Path(__file__).parents[1] / "stacks"
NEEDED = {
    "aws": ("AWS_{purpose}_ROLE", "PULUMI_BACKEND_URL_AWS"),
    "azure": (
        "AZURE_{purpose}_CLIENT_ID",
        "AZURE_TENANT_ID",
        "AZURE_SUBSCRIPTION_ID",
        "PULUMI_BACKEND_URL_AZURE",
    ),
}
"""The repository variables without which a job cannot sign in, by cloud."""


def select(
    names: list[str], purpose: str, variables: Mapping[str, str], folder: Path
) -> tuple[list[dict[str, str]], list[str]]:
    """The stacks to run as matrix entries, and for every other one why it is left out."""
    chosen: list[dict[str, str]] = []
    left_out: list[str] = []
    for name in dict.fromkeys(names):
        spec = read_stack(stack_path(name, folder)).spec
        if not isinstance(spec, dict):
            raise ValueError(
                f"stack {name}: stacks/Pulumi.{name}.yaml holds no cluster; run `gpu-clusters check {name}`."
            )
        cloud, region = str(spec["cloud"]), str(spec["region"])
        needed = [variable.format(purpose=purpose) for variable in NEEDED[cloud]]
        missing = [variable for variable in needed if not variables.get(variable)]
        if missing:
            left_out.append(f"{name} is left out: the repository has no variable {', '.join(missing)}.")
        else:
            chosen.append({"stack": name, "cloud": cloud, "region": region})
    if not names:
        left_out.append("No stack is selected: the repository's variable PULUMI_STACKS names none.")
    return chosen, left_out


def stack_path(name: str, folder: Path) -> Path:
    known = {path.name.removeprefix("Pulumi.").removesuffix(".yaml"): path for path in folder.glob("Pulumi.*.yaml")}
    if name not in known:
        raise ValueError(f"unknown stack {name!r}: stacks/ holds {', '.join(sorted(known)) or 'none'}.")
    return known[name]


def main(purpose: str) -> int:
    variables = json.loads(os.environ["VARIABLES"])
    try:
        chosen, left_out = select(os.environ["STACKS"].split(), purpose, variables, STACKS)
    except ValueError as error:
        print(f"::error::{error}")
        return 1
    for reason in left_out:
        print(f"::notice::{reason} See docs/github-actions.md.")
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"stacks={json.dumps(chosen)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
