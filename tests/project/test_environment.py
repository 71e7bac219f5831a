"""`make env`: the script behind it, with stand-ins for uv and for the interpreter's own tools."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "environment.py"

UV = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$@" >> calls
[ -n "$VIRTUAL_ENV" ] && echo foreign >> calls
[ -e fail ] && exit 3
while [ -e hold ]; do sleep 0.02; done
mkdir -p .venv/bin
"""


class Checkout:
    """A checkout with the script in it and a PATH that holds one uv."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        (self.root / ".ci").mkdir(parents=True)
        (self.root / ".ci" / "environment.py").write_text(SCRIPT.read_text())
        (self.root / "pyproject.toml").write_text('dev = ["uv==0.13.9"]\n')
        (self.root / "uv.lock").write_text("")
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "uv").write_text(UV)
        (self.bin / "uv").chmod(0o755)
        self.env = {"PATH": f"{self.bin}:/usr/bin:/bin", "VIRTUAL_ENV": "/somewhere/else"}

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, ".ci/environment.py"]
        return subprocess.Popen(
            command, cwd=self.root, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def make(self) -> tuple[int, str]:
        process = self.start()
        out, err = process.communicate(timeout=60)
        return process.returncode, out + err

    def calls(self) -> list[str]:
        log = self.root / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def wait_for_calls(self, count: int) -> None:
        deadline = time.monotonic() + 20
        while len(self.calls()) < count:
            assert time.monotonic() < deadline, "uv was not called"
            time.sleep(0.02)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_uv_on_path_fills_our_own_environment_as_the_lock_says(checkout: Checkout) -> None:
    assert checkout.make()[0] == 0
    (call,) = checkout.calls()
    assert call.startswith("sync --quiet --frozen --all-extras --compile-bytecode")
    assert (checkout.root / ".venv" / ".ready").exists()


def test_nothing_is_done_again_until_the_lock_changes(checkout: Checkout) -> None:
    checkout.make()
    checkout.make()
    assert len(checkout.calls()) == 1
    later = time.time() + 10
    os.utime(checkout.root / "uv.lock", (later, later))
    checkout.make()
    assert len(checkout.calls()) == 2


def test_a_failed_set_up_is_said_and_starts_over(checkout: Checkout) -> None:
    (checkout.root / "fail").touch()
    code, said = checkout.make()
    assert code == 1
    assert "ended with 3" in said
    assert "Traceback" not in said
    assert not (checkout.root / ".venv" / ".ready").exists()
    (checkout.root / "fail").unlink()
    assert checkout.make()[0] == 0
    assert len(checkout.calls()) == 2


def test_an_interrupted_set_up_starts_over(checkout: Checkout) -> None:
    (checkout.root / "hold").touch()
    process = checkout.start()
    checkout.wait_for_calls(1)
    process.send_signal(signal.SIGINT)
    (checkout.root / "hold").unlink()
    assert "Traceback" not in process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert checkout.make()[0] == 0
    assert len(checkout.calls()) == 2


def test_of_two_at_once_one_does_the_work_and_the_other_waits_and_says_so(checkout: Checkout) -> None:
    (checkout.root / "hold").touch()
    first = checkout.start()
    checkout.wait_for_calls(1)
    second = checkout.start()
    assert second.stdout is not None
    assert second.stdout.readline() == "Another process is making .venv. Waiting for it.\n"
    (checkout.root / "hold").unlink()
    for process in (first, second):
        process.communicate(timeout=20)
        assert process.returncode == 0
    assert len(checkout.calls()) == 1


def test_a_broken_environment_is_replaced(checkout: Checkout) -> None:
    (checkout.root / ".venv" / "lib").mkdir(parents=True)
    assert checkout.make()[0] == 0
    assert not (checkout.root / ".venv" / "lib").exists()


def test_the_uv_for_pip_is_the_one_that_the_project_pins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = runpy.run_path(str(SCRIPT))
    commands: list[list[str]] = []
    monkeypatch.setitem(script["uv_from_pip"].__globals__, "VENV", tmp_path)
    monkeypatch.setitem(script["uv_from_pip"].__globals__, "run", lambda *words: commands.append([*map(str, words)]))
    assert script["uv_from_pip"]() == str(tmp_path / "bin" / "uv")
    assert commands[0][1:] == ["-m", "venv", "--clear", str(tmp_path)]
    assert commands[1][-1].startswith("uv==")
