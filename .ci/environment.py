"""Makes .venv as uv.lock says: with uv where it is at hand, else with the uv that pyproject.toml pins, from pip.

Run by `make env`, before there is an environment: only the standard library is here. The stamp is written last, so
a set-up that was interrupted starts over; a file lock lets two at once do the work once.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".ready"
SOURCES = (ROOT / "pyproject.toml", ROOT / "uv.lock")


def main() -> int:
    lock = ROOT / ".local" / "environment.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another process is making .venv. Waiting for it.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        if not ready():
            try:
                make()
            except subprocess.CalledProcessError as error:
                print(f"make env: `{' '.join(map(str, error.cmd))}` ended with {error.returncode}; see above.\n"
                      "  Mend that (network, disk, or an environment in .venv that cannot be used), and run it again.",
                      file=sys.stderr)  # fmt: skip
                return 1
    return 0


def ready() -> bool:
    return STAMP.exists() and all(STAMP.stat().st_mtime >= source.stat().st_mtime for source in SOURCES)


def make() -> None:
    STAMP.unlink(missing_ok=True)
    if VENV.exists() and not works(VENV / "bin" / "python", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"):
        shutil.rmtree(VENV)
    uv = shutil.which("uv")
    if not (uv and works(uv, "--version")):
        uv = uv_from_pip()
    print("Making .venv as uv.lock says.", flush=True)
    run(uv, "sync", "--quiet", "--frozen", "--all-extras", "--compile-bytecode", "--python", python())
    STAMP.touch()


def uv_from_pip() -> str:
    uv = VENV / "bin" / "uv"
    wanted = re.search(r'"uv==([\w.]+)"', SOURCES[0].read_text(encoding="utf-8"))
    if not wanted:
        sys.exit("make env: pyproject.toml pins no uv in the extra dev. Restore it from git.")
    if not works(uv, "--version"):
        print(f"There is no uv here: getting uv {wanted[1]} into .venv.", flush=True)
        run(sys.executable, "-m", "venv", "--clear", VENV)
        run(VENV / "bin" / "python", "-m", "pip", "install", "--quiet", f"uv=={wanted[1]}")
    return str(uv)


def python() -> Path:
    """The interpreter of the environment that is there, so that it is kept, else the one that runs this."""
    made = VENV / "bin" / "python"
    return made if made.exists() else Path(sys.executable)


def works(*command: str | Path) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def run(*command: str | Path) -> None:
    # An active environment of another project is not the one to fill.
    env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")}
    subprocess.run(command, cwd=ROOT, env=env, check=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
