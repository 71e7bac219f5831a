"""How an engine is found and built, with stand-ins for `pulumi` and `go`. The real build: `.ci/run`."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from localcloud import build
from localcloud.engine import Engine, find_engine
from localcloud.pinned import MINIMUM, MODULES, EngineError, dotted, needed_go, pinned_version
from localcloud.progress import Progress

VERSION = pinned_version()
INSTALLER = "curl -fsSL https://get.pulumi.com | sh"

GO = """\
import os, pathlib, sys, time
here = pathlib.Path(__file__).parent
verb = sys.argv[1]
if verb == "version":
    print("go version go{release} linux/amd64")
elif verb == "env":
    print(here / "gocache", here / "gomod", sep="\\n")
elif verb == "build":
    with (here / "builds").open("a") as log:
        print(os.getcwd(), os.environ["CGO_ENABLED"], repr(os.environ["GOFLAGS"]), *sys.argv[2:], file=log)
    print("go: downloading example.com/module v1.0.0", file=sys.stderr)
    print("example.com/module", file=sys.stderr, flush=True)
    made = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
    made.write_text("half of a binary")
    {build}
    made.write_text("#!/bin/sh\\necho {version}\\n")
    made.chmod(0o755)
"""


class Machine:
    """A PATH and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.cache = folder / "cache"
        self.bin.mkdir()
        self.said = io.StringIO()

    @property
    def engines(self) -> Path:
        return self.cache / "gpu-clusters" / "engine"

    @property
    def kept(self) -> Path:
        return self.engines / VERSION / "pulumi"

    def builds(self) -> list[str]:
        log = self.bin / "builds"
        return log.read_text().splitlines() if log.exists() else []

    def install(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def pulumi(self, version: str, code: int = 0) -> None:
        self.install("pulumi", f"#!/bin/sh\necho {version}\nexit {code}\n")

    def go(self, build: str = "pass", release: str = "1.26.8", version: str = VERSION) -> None:
        self.install("go", f"#!{sys.executable}\n" + GO.format(build=build, release=release, version=version))

    def find(self) -> Engine:
        return find_engine(Progress(self.said))

    def refused(self) -> str:
        """The one message, which always ends with the official installer."""
        with pytest.raises(EngineError) as caught:
            self.find()
        message = str(caught.value)
        assert message.endswith(INSTALLER)
        return message

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "localcloud.engine"]
        return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_build(self) -> None:
        deadline = time.monotonic() + 20
        while not self.builds():
            assert time.monotonic() < deadline, "the build never began"
            time.sleep(0.02)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(made.bin))
    monkeypatch.setenv("XDG_CACHE_HOME", str(made.cache))
    return made


def test_a_pulumi_on_path_that_is_new_enough_is_used_and_nothing_is_built(machine: Machine) -> None:
    machine.pulumi(f"v{dotted(MINIMUM)}")
    machine.go()
    assert machine.find() == Engine(machine.bin / "pulumi", f"v{dotted(MINIMUM)}", "path")
    assert machine.builds() == []


def test_an_old_pulumi_on_path_is_named_and_an_engine_is_built_instead(machine: Machine) -> None:
    machine.pulumi("v3.254.9")
    machine.go()
    assert machine.find() == Engine(machine.kept, VERSION, "built")
    assert "v3.254.9, older than the 3.255.0" in machine.said.getvalue()


@pytest.mark.parametrize(("version", "code"), [("no version", 0), ("v3.300.0", 1)])
def test_a_broken_pulumi_on_path_is_not_used(machine: Machine, version: str, code: int) -> None:
    machine.pulumi(version, code)
    assert f"{machine.bin / 'pulumi'} does not answer `pulumi version`" in machine.refused()


def test_a_kept_engine_needs_neither_pulumi_nor_go(machine: Machine) -> None:
    machine.kept.parent.mkdir(parents=True)
    machine.kept.write_text("")
    machine.kept.chmod(0o755)
    assert machine.find().path == machine.kept


def test_the_build_is_reproducible_and_keeps_only_the_engine(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    machine.go()
    machine.find()
    machine.find()
    (command,) = machine.builds()
    assert command.startswith(f"{MODULES} 0 '' ")
    for flag in ("-mod=readonly", "-trimpath", "-buildvcs=false", f"version.Version={VERSION}"):
        assert flag in command
    assert sorted(p.name for p in machine.engines.iterdir()) == [VERSION, f"{VERSION}.lock"]
    assert list(machine.kept.parent.iterdir()) == [machine.kept]


def test_without_pulumi_and_without_go_the_message_names_both_ways(machine: Machine) -> None:
    message = machine.refused()
    assert "no `pulumi` on PATH, and no `go`" in message
    assert f"Install Go {dotted(needed_go())} or newer" in message


def test_an_old_pulumi_and_no_go_is_one_message_with_the_version_found(machine: Machine) -> None:
    machine.pulumi("v3.100.0")
    assert "is v3.100.0, older than the 3.255.0" in machine.refused()


@pytest.mark.parametrize(
    ("release", "build"),
    [
        ("1.19.4", "pass"),
        ("1.22.1", "print('go: go.mod requires go >= 1.26.6 (running go 1.22.1)', file=sys.stderr); sys.exit(1)"),
    ],
)
def test_a_go_that_is_too_old_is_said_with_what_is_needed(machine: Machine, release: str, build: str) -> None:
    machine.go(build, release)
    assert f"Install Go {dotted(needed_go())} or newer" in machine.refused()
    assert not machine.kept.exists()


def test_a_failed_build_shows_what_go_said_leaves_nothing_and_starts_over(machine: Machine) -> None:
    machine.go("print('dial tcp: no route to host', file=sys.stderr); sys.exit(1)")
    message = machine.refused()
    assert "dial tcp: no route to host" in message
    assert "go: downloading" not in message
    assert [p.name for p in machine.engines.iterdir()] == [f"{VERSION}.lock"]
    machine.go()
    assert machine.find().path == machine.kept


def test_a_disk_that_fills_up_during_the_build_is_named(machine: Machine) -> None:
    machine.go("print('write /x: no space left on device', file=sys.stderr); sys.exit(1)")
    message = machine.refused()
    assert "the disk is full" in message
    assert "GOMODCACHE" in message


def test_a_disk_without_room_is_refused_before_the_build(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1_000_000_000))
    machine.go()
    message = machine.refused()
    assert "1.0 GB free, and a build needs about 4.5 GB" in message
    assert machine.builds() == []


def test_modules_that_are_there_already_need_no_room(machine: Machine) -> None:
    machine.go()
    (machine.bin / f"gomod/github.com/pulumi/pulumi/pkg/v3@{VERSION}").mkdir(parents=True)
    assert "Go's module cache" not in build.cache_places(str(machine.bin / "go"), machine.cache)


def test_a_cache_that_cannot_be_written_is_one_message(machine: Machine) -> None:
    machine.go()
    machine.cache.write_text("a file where the folder should be")
    assert f"at {machine.cache}" in machine.refused()


def test_an_engine_that_answers_with_another_version_is_not_kept(machine: Machine) -> None:
    machine.go(version="v9.9.9")
    assert f"answers v9.9.9 to `pulumi version`, not {VERSION}" in machine.refused()
    assert not machine.kept.exists()


def test_ctrl_c_during_the_build_leaves_nothing_that_counts_and_the_next_run_starts_over(machine: Machine) -> None:
    machine.go("time.sleep(30)")
    process = machine.start()
    machine.wait_for_build()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == ""
    assert err.count("interrupted") == 1
    assert "Traceback" not in err
    assert [p.name for p in machine.engines.iterdir()] == [f"{VERSION}.lock"]
    machine.go()
    assert machine.find().path == machine.kept


def test_the_next_build_clears_away_what_a_killed_one_left(machine: Machine) -> None:
    machine.go("time.sleep(2); sys.exit(1)")
    process = machine.start()
    machine.wait_for_build()
    process.kill()
    process.communicate()
    assert (machine.engines / "building" / "pulumi").exists()
    machine.go()
    assert machine.find().path == machine.kept
    assert not (machine.engines / "building").exists()


def test_of_two_at_once_one_builds_and_the_other_waits_and_says_so(machine: Machine) -> None:
    machine.go("while not (here / 'go-on').exists(): time.sleep(0.02)")
    first = machine.start()
    machine.wait_for_build()
    second = machine.start()
    assert second.stderr is not None
    assert f"Another process (pid {first.pid}) is building the engine" in second.stderr.readline()
    (machine.bin / "go-on").touch()
    answers = [process.communicate(timeout=20)[0].strip() for process in (first, second)]
    assert answers == [str(machine.kept)] * 2
    assert len(machine.builds()) == 1


def test_without_leave_to_build_an_absent_engine_is_an_error(machine: Machine) -> None:
    machine.go()
    with pytest.raises(EngineError, match=r"python -m localcloud\.engine"):
        find_engine(may_build=False)
    assert machine.builds() == []


def test_the_pinned_modules_are_part_of_the_project() -> None:
    assert {"go.mod", "go.sum"} <= set(os.listdir(MODULES))
    assert VERSION.startswith("v3.")
