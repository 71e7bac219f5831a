"""What a person sees while a long job runs."""

from __future__ import annotations

import io

import pytest

from localcloud import progress as module
from localcloud.build import state
from localcloud.progress import QUIET_SECONDS, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_now_and_then_and_none_for_a_short_job(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress(stream)
    for second in range(31):
        now[0] = 100.0 + second
        progress.tick(f"second {second}")
    assert stream.getvalue().splitlines() == [f"second {QUIET_SECONDS:.0f}", "second 30"]


def test_a_terminal_has_one_line_that_is_rewritten_and_cleared_before_a_line_that_stays() -> None:
    stream = Terminal()
    progress = Progress(stream)
    progress.tick("one")
    progress.tick("two")
    progress.say("done")
    assert stream.getvalue() == "\r\x1b[2Kone\r\x1b[2Ktwo\r\x1b[2Kdone\n"


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ([], "0 modules downloaded"),
        (["go: downloading a v1\n"], "1 modules downloaded"),
        (["go: downloading a v1\n", "a\n", "a/b\n"], "2 packages compiled"),
    ],
)
def test_the_state_of_a_build_is_read_from_what_go_prints(log: list[str], shown: str) -> None:
    assert state(log) == shown
