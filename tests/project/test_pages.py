"""The pages show real output: every block marked with its command or file is compared with what that gives now.

`make golden` rewrites the blocks. Ids that a cloud draws are made the same on both sides. The block of `make up`, which
needs the engine, is filled and compared in tests/engine/test_demo.py.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.main import main
from components.dryrun import run
from tests.pages import PAGES, README, ROOT, blocks, rewrite, shown

NEEDS_ENGINE = {"make up"}
SHOWN = [(page, what) for page in PAGES for what in blocks(page) if what not in NEEDS_ENGINE]


@pytest.mark.parametrize(("page", "what"), SHOWN, ids=[f"{page.name}: {what}" for page, what in SHOWN])
def test_a_block_of_a_page_shows_what_its_command_or_file_gives(
    page: Path,
    what: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(ROOT)
    if blocks(page)[what] == "file":
        now = (ROOT / what).read_text(encoding="utf-8")
    else:
        command, *words = shlex.split(what)
        assert command == "gpu-clusters"
        main(words)
        now = capsys.readouterr().out
    if request.config.option.update_snapshots:
        rewrite(page, what, now)
    assert shown(page, what) == now


def test_the_page_of_rules_is_what_the_command_gives(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    main(["rules", "--format", "markdown"])
    now, page = capsys.readouterr().out, ROOT / "docs/rules.md"
    if request.config.option.update_snapshots:
        page.write_text(now, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == now


def test_the_readme_shows_the_main_job_a_check_a_plan_and_a_stack_file() -> None:
    assert set(blocks(README)) == {
        "make up",
        "gpu-clusters check docs/examples/Pulumi.mistakes.yaml",
        "gpu-clusters plan aws-p5",
        "stacks/Pulumi.aws-p5.yaml",
    }


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_what_a_page_links_to_or_names_as_a_path_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if not link.startswith("https://")]
    rooms = "cli|components|docs|localcloud|planning|policies|stacks|tests"
    named = re.findall(rf"`((?:{rooms})/[\w./-]*)`", text)
    missing = [p for p in links if not (page.parent / p).exists()]
    missing += [p for p in named if not (ROOT / p).exists() and "prod" not in p]
    assert missing == []


def test_the_program_of_the_readme_declares_a_cluster() -> None:
    [source] = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    done = run(lambda: exec(compile(source, "README.md", "exec"), {}))
    assert "aws:autoscaling/group:Group" in {r.type for r in done.resources}
