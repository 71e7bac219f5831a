"""The blocks of the pages that show output or a file: `make golden` rewrites them, the tests compare them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, *(ROOT / "docs").glob("*.md")]
BLOCK = re.compile(r"(<!-- (?P<kind>output|file): (?P<what>.+?) -->\n```\w+\n)(?P<text>.*?)(```\n)", re.DOTALL)


def blocks(page: Path) -> dict[str, str]:
    """By command or file, which of the two it is."""
    return {m["what"]: m["kind"] for m in BLOCK.finditer(page.read_text(encoding="utf-8"))}


def shown(page: Path, what: str) -> str:
    return next(m["text"] for m in BLOCK.finditer(page.read_text(encoding="utf-8")) if m["what"] == what)


def rewrite(page: Path, what: str, text: str) -> None:
    old = page.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda m: m[1] + (text if m["what"] == what else m["text"]) + m[5], old)
    page.write_text(new, encoding="utf-8")
