"""The Python language host as a process and by its parts. Programs and packs through the engine: tests/engine."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pulumi.runtime.proto import language_pb2

from localcloud import language

HOST = Path(language.__file__)


class Call:
    """What the host uses of a gRPC call."""

    def __init__(self, live: bool = True) -> None:
        self.live = live
        self.hang_up: Callable[[], None] = lambda: None

    def add_callback(self, callback: Callable[[], None], /) -> bool:
        self.hang_up = callback
        return self.live


def program(folder: Path, text: str) -> Callable[[], None]:
    (folder / "__main__.py").write_text(text)
    return language.program_of(
        language_pb2.ProgramInfo(root_directory=str(folder), program_directory=str(folder), entry_point=".")
    )


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return (
        Path(f"/proc/{pid}/stat").exists()
        and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    )


def test_the_host_imports_nothing_of_ours_for_it_runs_in_the_environment_of_any_project() -> None:
    imported = set()
    for node in ast.walk(ast.parse(HOST.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").partition(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"google", "grpc", "pulumi"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_host_ends_at_once_and_silently_at_a_signal(number: signal.Signals) -> None:
    host = subprocess.Popen([sys.executable, HOST], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdout.readline().strip().isdigit()
    start = time.monotonic()
    host.send_signal(number)
    assert host.communicate(timeout=10) == ("", "")
    assert host.returncode == 0
    assert time.monotonic() - start < 2


def test_the_host_ends_when_the_engine_was_killed() -> None:
    script = f"{sys.executable} {HOST} & echo $!; wait"
    engine = subprocess.Popen(["/bin/sh", "-c", script], text=True, stdout=subprocess.PIPE)
    assert engine.stdout is not None
    host = int(engine.stdout.readline())
    assert engine.stdout.readline().strip().isdigit()
    engine.kill()
    engine.wait()
    deadline = time.monotonic() + 10
    while not gone(host):
        assert time.monotonic() < deadline, "the host outlived its engine"
        time.sleep(0.05)


def raised(folder: Path, text: str) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever a program may raise
        program(folder, text)()
    return caught.value


def test_an_exception_of_the_program_is_shown_with_the_frames_of_the_program_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(language, "MACHINERY", (*language.MACHINERY, __file__))
    lines = language.fault(raised(tmp_path, "def deep():\n    return {}['missing']\n\ndeep()\n")).splitlines()
    assert lines[0] == "Program failed with an unhandled exception:"
    assert lines[-1] == "KeyError: 'missing'"
    files = [line.partition('"')[2].partition('"')[0] for line in lines if line.startswith("  File")]
    assert [Path(file).name for file in files] == ["__main__.py"] * 2


def test_a_run_error_of_the_program_is_its_own_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = raised(tmp_path, "import pulumi\nraise pulumi.RunError('two errors:\\n  nodes.count: 0')\n")
    assert language.fault(error) == "two errors:\n  nodes.count: 0"


def test_what_the_engine_itself_cancelled_is_not_told_as_a_fault_of_the_program() -> None:
    assert language.fault(Exception("context canceled")) == ""


def test_a_pack_is_run_by_the_virtualenv_that_it_names(tmp_path: Path) -> None:
    info = language_pb2.ProgramInfo(root_directory=str(tmp_path / "pack"))
    info.options.update({"virtualenv": "../own"})
    assert language.interpreter(info) == sys.executable
    python = tmp_path / "own" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (tmp_path / "pack").mkdir()
    python.touch()
    assert Path(language.interpreter(info)).resolve() == python


def test_what_a_pack_prints_is_handed_on_with_its_code(tmp_path: Path) -> None:
    script = "import os, sys; print(os.environ['X']); print('bad', file=sys.stderr); sys.exit(3)"
    said = list(language.stream([sys.executable, "-c", script], {"X": "y"}, str(tmp_path), Call()))
    assert b"".join(part.stdout for part in said) == b"y\n"
    assert b"".join(part.stderr for part in said) == b"bad\n"
    assert said[-1].exitcode == 3


def test_a_pack_ends_when_the_engine_hangs_up() -> None:
    call = Call()
    said = language.stream([sys.executable, "-uc", "import time; print(1); time.sleep(60)"], {}, None, call)
    assert next(said).stdout == b"1\n"
    call.hang_up()
    assert [part.exitcode for part in said] == [-signal.SIGKILL]


def test_a_pack_does_not_live_on_after_a_call_that_is_already_over() -> None:
    said = list(language.stream([sys.executable, "-c", "import time; time.sleep(60)"], {}, None, Call(live=False)))
    assert said[-1].exitcode == -signal.SIGKILL
