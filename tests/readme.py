"""The blocks of README.md that show output: `make golden` rewrites them, the tests compare them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- (?P<kind>output|file): (?P<what>.+?) -->\n```\w+\n)(?P<text>.*?)(```\n)", re.DOTALL)
BLOCKS = {m["what"]: m["kind"] for m in BLOCK.finditer(README.read_text(encoding="utf-8"))}


def shown(what: str) -> str:
    return next(m["text"] for m in BLOCK.finditer(README.read_text(encoding="utf-8")) if m["what"] == what)


def rewrite(what: str, text: str) -> None:
    old = README.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda m: m[1] + (text if m["what"] == what else m["text"]) + m[5], old)
    README.write_text(new, encoding="utf-8")
