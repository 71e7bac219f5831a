"""What `gpu-clusters compare` shows; its page: whole, escaped, of its own, and seen by a browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cli.main import main
from tests.clusters import ROOT, stack_file

Capture = pytest.CaptureFixture[str]
STACKS = ["aws-p5", "azure-nd-h100"]
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
]  # fmt: skip
VOID = {"meta", "rect"}


def test_two_stacks_are_told_side_by_side_with_what_differs(capsys: Capture) -> None:
    assert main(["compare", *STACKS, "--hours", "720", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    aws, azure = found["clusters"]
    assert aws["usd_by_kind"]["nodes"] == pytest.approx(880.64 * 720, rel=0.001)
    assert azure["usd_by_kind"]["nodes"] == pytest.approx(1573.12 * 720)
    assert aws["capabilities"].keys() == azure["capabilities"].keys()
    assert main(["compare", *STACKS]) == 0
    text = capsys.readouterr().out
    assert "a month of 730 hours" in text
    assert re.search(r"against aws-p5 +\+[\d,.]+ \(\+7\d\.\d%\)", text)
    assert "not atomic" in text


def test_one_run_on_both_clouds_is_sized_for_each(capsys: Capture) -> None:
    run = ["--model", "llama-3-70b", "--tokens", "1.5T"]
    assert main(["compare", *run, "--deadline-days", "60", "--format", "json"]) == 0
    assert [c["cloud"] for c in json.loads(capsys.readouterr().out)["clusters"]] == ["aws", "azure"]
    assert main(["compare", *run, "--deadline-days", "30"]) == 0
    assert "no answer on azure" in capsys.readouterr().out
    assert main(["compare", *run, "--deadline-days", "1"]) == 1
    assert "azure: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "0 stacks are given"),
        (["aws-p5"], "1 stacks are given"),
        (["aws-p5", "--model", "13B"], "stacks and --model are both given"),
        (["--model", "13B", "--tokens", "1T", "--hours", "3"], "--hours is for stacks"),
        ([*STACKS, "--html", "/no/such/folder/x.html"], "can not be written"),
    ],
)
def test_wrong_usage_is_told(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["compare", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_stack_with_errors_ends_the_comparison_with_its_findings(capsys: Capture) -> None:
    assert main(["compare", "aws-p5", "docs/examples/Pulumi.mistakes.yaml"]) == 1
    assert "zone-not-an-id" in capsys.readouterr().err


class Page(HTMLParser):
    """Checks that tags nest, and gathers texts and what is fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def page(tmp_path: Path, capsys: Capture) -> Path:
    path = tmp_path / "compare.html"
    assert main(["compare", *STACKS, "--hours", "720", "--checkpoint-size", "988GB", "--html", str(path)]) == 0
    capsys.readouterr()
    return path


def test_the_page_is_whole_fetches_nothing_and_shows_every_amount(page: Path, capsys: Capture) -> None:
    text = page.read_text(encoding="utf-8")
    read = Page(text)
    assert read.open == []
    assert read.fetched == []
    assert "<script" not in text
    assert not re.search(r"url\(|@import|http-equiv", text)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    main(["compare", *STACKS, "--hours", "720", "--checkpoint-size", "988GB", "--format", "json"])
    for cluster in json.loads(capsys.readouterr().out)["clusters"]:
        for line in cluster["cost"]["lines"]:
            assert line["item"] in read.texts
            assert f"{line['usd_per_run']:,.2f}" in read.texts or line["usd_per_run"] < 0.01
        assert all(what in read.texts for what in cluster["capabilities"].values() if what in text)


def test_what_a_stack_says_is_escaped_on_the_page(tmp_path: Path, capsys: Capture) -> None:
    sources = []
    for n in (1, 2):
        path = tmp_path / f"<b>{n}&.yaml"
        path.write_text(stack_file("aws-p5", {"nodes.count": n}))
        sources.append(str(path))
    html = tmp_path / "page.html"
    assert main(["compare", *sources, "--html", str(html)]) == 0
    text = html.read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "&lt;b&gt;1&amp;" in text
    assert Page(text).open == []


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here; the page is checked as text above")
@pytest.mark.parametrize("width", [1100, 500])
def test_a_browser_shows_the_page(page: Path, width: int, tmp_path: Path) -> None:
    shots = ROOT / ".local/artifacts"
    shots.mkdir(parents=True, exist_ok=True)
    shot = shots / f"compare-{width}.png"
    shot.unlink(missing_ok=True)
    subprocess.run(
        [
            str(BROWSER), *QUIET, f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1500",
            f"--screenshot={shot}", page.as_uri(),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 20_000, "an empty page is smaller"
