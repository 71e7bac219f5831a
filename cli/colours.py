"""Colours of findings: on a terminal only, and not where NO_COLOR is set (https://no-color.org)."""

from __future__ import annotations

import os
import sys

from planning.findings import Paint, unpainted

_CODES = {"error": "1;31", "warning": "1;33", "info": "1;36", "waived": "1;35", "faint": "2"}


def painter() -> Paint:
    """For what goes to standard output."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not (sys.stdout and sys.stdout.isatty())
    return unpainted if plain else lambda what, text: f"\x1b[{_CODES[what]}m{text}\x1b[0m"
