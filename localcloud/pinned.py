"""Which engine it is to be, how a binary is judged, and the error where none can be had.

`engine.py` looks for one, `build.py` makes one.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

MINIMUM = (3, 255, 0)
"""The oldest engine with all that the stacks use: hooks, and policy packs as local runs call them."""

MODULES = Path(__file__).with_name("engine")
"""The folder with the go.mod and go.sum that pin the engine and all it is made of."""

INSTALL = "curl -fsSL https://get.pulumi.com | sh"


class EngineError(Exception):
    """No engine can be had; the text says why and what to do."""


def no_engine(reason: str, go_on: str = "") -> EngineError:
    """An error that ends with the ways out, the official installer last."""
    ways = [go_on] if go_on else []
    ways.append(f"Or install Pulumi {dotted(MINIMUM)} or newer, and put it on PATH:  {INSTALL}")
    return EngineError("\n  ".join([f"No Pulumi engine: {reason}", *ways]))


def pinned_version() -> str:
    """The engine's version, like v3.274.1."""
    return _pinned(r"^\s*github\.com/pulumi/pulumi/pkg/v3 (v\S+)", "the Pulumi modules")


def needed_go() -> tuple[int, ...]:
    return release(_pinned(r"^go (\S+)", "Go"))


def _pinned(pattern: str, what: str) -> str:
    source = MODULES / "go.mod"
    try:
        match = re.search(pattern, source.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError as error:
        raise EngineError(f"{source} cannot be read ({error.strerror}). Restore it from git.") from None
    if not match:
        raise EngineError(f"{source} pins no version of {what}. Restore it from git.")
    return match[1]


def release(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(n) for n in version)


def is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def version_of(binary: Path) -> str | None:
    """What `pulumi version` prints, like v3.274.1, or None where it does not work."""
    try:
        answer = subprocess.run(
            [binary, "version"],
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    version = answer.stdout.strip()
    return version if answer.returncode == 0 and re.match(r"v?\d+\.\d+\.\d+", version) else None
