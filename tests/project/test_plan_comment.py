"""The script of preview.yml that writes the plans into one comment, run with a stand-in for `gh`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB_LIMIT = 65_536
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> gh.log
if [[ "$*" == *--paginate* ]]; then cat earlier; fi
"""


class Comment:
    """What the script makes of `plans`, where `earlier` holds the ids of its comments on the pull request."""

    def __init__(self, folder: Path, plans: dict[str, str], earlier: str = "") -> None:
        workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "preview.yml").read_text())
        script = workflow["jobs"]["comment"]["steps"][-1]["run"]
        (folder / "plans").mkdir()
        for stack, plan in plans.items():
            (folder / "plans" / f"{stack}.plan.txt").write_text(plan)
        (folder / "earlier").write_text(earlier)
        (folder / "gh").write_text(GH)
        (folder / "gh").chmod(0o755)
        env = {
            "PULL_REQUEST": "7",
            "COMMIT": "abc123",
            "RESULT": "success",
            "RUN_URL": "https://example.com/1",
        }
        path = f"{folder}:{os.environ['PATH']}"
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=folder,
            env={**env, "PATH": path, "GITHUB_REPOSITORY": "o/r", "LC_ALL": "C.UTF-8"},
            check=True,
        )
        self.body = (folder / "comment.md").read_text()
        self.calls = (folder / "gh.log").read_text().splitlines()


def test_the_plan_of_every_stack_is_in_the_one_comment(tmp_path: Path) -> None:
    comment = Comment(tmp_path, {"aws-p5": "+ 41 to create", "azure-nd-h100": "no changes"})
    assert "Preview of abc123: **success** ([run](https://example.com/1))" in comment.body
    assert comment.body.index("aws-p5") < comment.body.index("+ 41 to create") < comment.body.index("azure-nd-h100")
    assert "no changes" in comment.body
    assert "cut here" not in comment.body
    assert comment.calls[1:] == ["api --silent repos/o/r/issues/7/comments --field body=@comment.md"]


def test_the_comment_of_an_earlier_push_is_renewed(tmp_path: Path) -> None:
    comment = Comment(tmp_path, {"aws-p5": "no changes"}, earlier="11\n12\n")
    assert comment.calls[1:] == ["api --silent --method PATCH repos/o/r/issues/comments/11 --field body=@comment.md"]


@pytest.mark.parametrize("stacks", [1, 12])
def test_long_plans_are_cut_to_what_github_takes_and_say_so(tmp_path: Path, stacks: int) -> None:
    comment = Comment(tmp_path, {f"stack-{i}": "\N{GREEK SMALL LETTER PI}" * 100_000 for i in range(stacks)})
    assert 30_000 / 2 < len(comment.body.encode()) < GITHUB_LIMIT
    assert comment.body.count("(cut here") == stacks
    assert comment.body.count("</details>") == stacks


def test_a_preview_that_failed_before_its_plan_still_leaves_a_comment(tmp_path: Path) -> None:
    comment = Comment(tmp_path, {})
    assert "**success**" in comment.body
    assert len(comment.calls) == 2
