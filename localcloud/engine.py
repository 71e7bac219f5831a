"""Where the Pulumi engine comes from: PATH, the user's cache, or a build from pinned modules (`build.py`).

`python -m localcloud.engine` obtains it and prints its path.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from localcloud.build import build
from localcloud.pinned import MINIMUM, EngineError, dotted, is_program, no_engine, pinned_version, release, version_of
from localcloud.progress import Progress


@dataclass(frozen=True, slots=True)
class Engine:
    """A `pulumi` command that can be run."""

    path: Path
    version: str
    source: Literal["path", "built"]


def find_engine(progress: Progress | None = None, *, may_build: bool = True) -> Engine:
    """The engine to use, built first where there is none yet. Raises EngineError."""
    progress = progress or Progress()
    on_path, unfit = engine_on_path()
    if on_path:
        return on_path
    version = pinned_version()
    kept = cache_folder() / version / "pulumi"
    if not is_program(kept):
        if not may_build:
            raise no_engine(unfit or "none is on PATH and none is built yet.", "Build it: python -m localcloud.engine")
        if unfit:
            progress.say(f"{unfit} Using an engine of our own instead.")
        build(kept, version, progress, unfit)
    return Engine(kept, version, "built")


def engine_on_path() -> tuple[Engine | None, str]:
    """`pulumi` on PATH, or a sentence on why the one there cannot serve; None and "" where there is none."""
    found = shutil.which("pulumi")
    if not found:
        return None, ""
    version = version_of(Path(found))
    if version is None:
        return None, f"{found} does not answer `pulumi version`."
    if release(version) < MINIMUM:
        return None, f"{found} is {version}, older than the {dotted(MINIMUM)} that the stacks need."
    return Engine(Path(found), version, "path"), ""


def cache_folder() -> Path:
    """Where engines that were built here are kept, for all projects of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gpu-clusters" / "engine"


def main() -> int:
    try:
        engine = find_engine()
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(engine.path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
