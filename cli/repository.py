"""Files as a repository's services name them: by their path from its root."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


def repository_path(path: Path) -> str:
    """The path from the root of its repository; outside of one as it is."""
    whole, root = Path(os.path.abspath(path)), _root()
    return (whole.relative_to(root) if whole.is_relative_to(root) else path).as_posix()


@cache
def _root() -> Path:
    """Where the workflow checked out, else the repository around the working directory, else that directory."""
    if workspace := os.environ.get("GITHUB_WORKSPACE"):
        return Path(workspace)
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
