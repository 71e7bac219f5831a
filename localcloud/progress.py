"""How a long job shows that it is alive: one line rewritten on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TextIO

QUIET_SECONDS = 15.0
"""Between two lines where there is no terminal: a log stays short and yet never looks dead."""


class Progress:
    """Lines for a person, on one stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._open = False
        self._last: float | None = None

    def say(self, text: str) -> None:
        """A line that stays."""
        self._close()
        print(text, file=self._stream, flush=True)

    def tick(self, text: str) -> None:
        """The state of now: call it as often as you like."""
        now = time.monotonic()
        if self._terminal:
            print(f"\r\x1b[2K{text}", end="", file=self._stream, flush=True)
            self._open = True
        elif self._last is None:
            self._last = now
        elif now - self._last >= QUIET_SECONDS:
            print(text, file=self._stream, flush=True)
            self._last = now

    def done(self) -> None:
        """The job is over: the next line of anybody starts on a line of its own."""
        self._close()
        self._last = None

    def _close(self) -> None:
        if self._open:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)
            self._open = False
