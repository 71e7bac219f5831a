"""The Python environment of a Pulumi project: which interpreter runs it, and which cloud SDKs it holds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

USUAL_FOLDERS = (".venv", "venv")

ASK = """\
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


class WorkspaceError(Exception):
    """The project cannot run on the local cloud; the text says why and what to do."""


def project_python(project: Path, document: Mapping[str, Any]) -> Path:
    """The interpreter that Pulumi.yaml names, else that of the usual folder beside it, else ours."""
    runtime = document.get("runtime")
    options = (runtime.get("options") if isinstance(runtime, dict) else None) or {}
    if named := options.get("virtualenv"):
        python = Path(project, named, "bin", "python")
        if not python.is_file():
            raise WorkspaceError(
                f"{project / 'Pulumi.yaml'} names the virtualenv {named}, and there is no {python}.\n"
                "  Make that environment and install the project's requirements into it."
            )
        return python.absolute()
    for folder in USUAL_FOLDERS:
        if (python := Path(project, folder, "bin", "python")).is_file():
            return python.absolute()
    return Path(sys.executable)


def sdk_versions(python: Path, distributions: list[str]) -> dict[str, str]:
    """The installed versions of those of `distributions` that the interpreter has."""
    command = [python, "-c", ASK, *distributions]
    try:
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return json.loads(answer.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        raise WorkspaceError(f"{python} does not run. Make the project's environment anew.") from None
