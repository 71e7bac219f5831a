"""Building the engine with Go from the pinned modules, once, into the user's cache.

Everything happens in a scratch folder beside the final place, under a file lock; one rename at the end makes
the engine exist. So an interrupted build leaves nothing that counts, and two at once do the work once.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from localcloud.pinned import (
    MODULES,
    EngineError,
    dotted,
    is_program,
    needed_go,
    no_engine,
    pinned_version,
    release,
    version_of,
)
from localcloud.progress import Progress

PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
VERSION_SYMBOL = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"

# Measured, rounded up: the binary with Go's scratch files, the build cache, the sources of all modules.
SPACE = {"the engine": 0.7e9, "Go's build cache": 2.0e9, "Go's module cache": 1.8e9}

MAKE_ROOM = "Make room (XDG_CACHE_HOME, GOCACHE, GOMODCACHE move the folders), and run the same command again."

TOOLCHAIN_SWITCH = (1, 21)
"""From this release on, Go fetches a newer Go by itself where a module asks for one."""

GO_TOO_OLD = re.compile(r"requires go >= |invalid go version|unknown directive")


def build(binary: Path, version: str, progress: Progress, unfit: str = "") -> None:
    """Make `binary` exist. `unfit` says, for the message, what is wrong with the `pulumi` on PATH."""
    try:
        with lock(binary.parent.parent / f"{version}.lock", progress):
            if is_program(binary):
                return
            go = find_go(unfit)
            places = cache_places(go, binary.parent.parent)
            check_space(places)
            with scratch(binary.parent.parent) as folder:
                compile_engine(go, folder, version, progress)
                accept(folder / "pulumi", binary, version)
    except OSError as error:
        raise no_engine(
            f"{error.strerror or error} at {error.filename or binary.parent}.",
            "Make room or access there (XDG_CACHE_HOME moves the cache), and run the same command again.",
        ) from None


@contextmanager
def lock(path: Path, progress: Progress) -> Generator[None]:
    """Hold `path` alone, after a wait where another process has it. However that one ends, it lets go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            progress.say(f"Another process ({file.read() or '?'}) is building the engine. Waiting for it.")
            wait_for(file, progress)
        file.truncate(0)
        file.write(f"pid {os.getpid()}")
        file.flush()
        yield


def wait_for(file, progress: Progress) -> None:
    start = time.monotonic()
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.tick(f"Waiting for the other build, {elapsed(start)}")
            time.sleep(0.2)
        finally:
            progress.done()


@contextmanager
def scratch(parent: Path) -> Generator[Path]:
    """A folder for one build. What an interrupted one left goes first: the lock is ours."""
    folder = parent / "building"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_go(unfit: str) -> str:
    """The `go` command, new enough to try. Raises EngineError."""
    needed = dotted(needed_go())
    install = f"Install Go {needed} or newer (https://go.dev/doc/install), and run the same command again."
    go = shutil.which("go")
    if not go:
        found = unfit or "there is no `pulumi` on PATH,"
        raise no_engine(f"{found} and no `go` to build one with.", install)
    answer = subprocess.run([go, "version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    match = re.search(r"go(\d+(?:\.\d+)+)", answer.stdout)
    if answer.returncode or not match:
        said = (answer.stderr or answer.stdout).strip()
        raise no_engine(f"{go} does not answer `go version` ({said}).", install)
    if release(match[1]) < TOOLCHAIN_SWITCH:
        raise no_engine(f"{go} is Go {match[1]}, and the engine needs {needed}.", install)
    return go


def cache_places(go: str, cache: Path) -> dict[str, Path]:
    """Where a build writes, by what is written there."""
    answer = subprocess.run(
        [go, "env", "GOCACHE", "GOMODCACHE"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    paths = answer.stdout.split("\n")
    places = {"the engine": cache}
    if answer.returncode == 0 and len(paths) >= 2 and paths[0] and paths[1]:
        places["Go's build cache"] = Path(paths[0])
        if not (Path(paths[1]) / f"github.com/pulumi/pulumi/pkg/v3@{pinned_version()}").is_dir():
            places["Go's module cache"] = Path(paths[1])
    return places


def check_space(places: dict[str, Path]) -> None:
    """Refuse before the first minute is spent, not at the last step."""
    disks: dict[int, list[str]] = {}
    existing = {what: nearest_existing(path) for what, path in places.items()}
    for what, path in existing.items():
        disks.setdefault(path.stat().st_dev, []).append(what)
    for names in disks.values():
        need = sum(SPACE[name] for name in names)
        free = shutil.disk_usage(existing[names[0]]).free
        if free < need:
            where = ", ".join(f"{name} in {places[name]}" for name in names)
            raise no_engine(
                f"the disk has {free / 1e9:.1f} GB free, and a build needs about {need / 1e9:.1f} GB ({where}).",
                MAKE_ROOM,
            )


def nearest_existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def compile_engine(go: str, folder: Path, version: str, progress: Progress) -> None:
    """Run the build, and show that it moves. Raises EngineError."""
    progress.say(f"Building the Pulumi engine {version} with Go: once, about 3 minutes; it is kept.")
    env = {
        **os.environ,
        "GOFLAGS": "",  # a person's own flags (-mod=vendor, …) are not meant for these modules
        "GOWORK": "off",
        "CGO_ENABLED": "0",  # no C compiler needed, and the same result with and without one
        "GOTMPDIR": str(folder),
    }
    command = [
        go, "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false",
        "-ldflags", f"-s -w -X {VERSION_SYMBOL}={version}", "-o", str(folder / "pulumi"), PACKAGE,
    ]  # fmt: skip
    child = subprocess.Popen(
        command, cwd=MODULES, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    log: list[str] = []
    reader = threading.Thread(target=lambda: log.extend(child.stderr or ()), daemon=True)
    reader.start()
    start = time.monotonic()
    try:
        while child.poll() is None:
            progress.tick(f"Building the engine: {state(log)}, {elapsed(start)}")
            time.sleep(0.2)
    except KeyboardInterrupt:
        progress.done()
        progress.say("The build of the engine was interrupted; the same command starts it over.")
        raise
    finally:
        child.terminate()
        child.wait()
        progress.done()
    reader.join(timeout=5)
    if child.returncode:
        raise build_failed(go, "".join(log))
    progress.say(f"The engine is built ({elapsed(start)}).")


def state(log: list[str]) -> str:
    """`go build -v` names each module that it downloads and each package that it compiles."""
    downloads = sum(line.startswith("go: ") for line in log)
    packages = len(log) - downloads
    return f"{packages} packages compiled" if packages else f"{downloads} modules downloaded"


def elapsed(start: float) -> str:
    minutes, seconds = divmod(int(time.monotonic() - start), 60)
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


def build_failed(go: str, log: str) -> EngineError:
    said = [line for line in log.splitlines() if not re.fullmatch(r"[\w./~-]+|go: downloading .*", line)]
    tail = "".join(f"\n    {line}" for line in said[-12:])
    if "no space left on device" in log:
        return no_engine(
            f"the disk is full, the build could not end.{tail}",
            MAKE_ROOM,
        )
    if GO_TOO_OLD.search(log):
        needed = dotted(needed_go())
        return no_engine(
            f"{go} is too old, the engine needs Go {needed}.{tail}",
            f"Install Go {needed} or newer (https://go.dev/doc/install), and run the same command again.",
        )
    return no_engine(
        f"`go build` failed.{tail}",
        "If the modules could not be downloaded, see `go env GOPROXY`; then run the same command again.",
    )


def accept(made: Path, binary: Path, version: str) -> None:
    """Put the binary in its place: it must start, and be on the disk before its name is."""
    if (found := version_of(made)) != version:
        raise no_engine(f"the engine built here answers {found} to `pulumi version`, not {version}.")
    with made.open("rb") as file:
        os.fsync(file.fileno())
    binary.parent.mkdir(parents=True, exist_ok=True)
    made.replace(binary)
