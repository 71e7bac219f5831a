"""What is derived once and kept in the user's cache folder, so that the plugins start fast."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def kept(name: str, derive: Callable[[], Any]) -> Any:
    """The JSON kept under `name` (`schema/…/fsx.json`), derived now if it is not there yet; None is not kept."""
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpu-clusters" / name
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        derived = derive()
    if derived is not None:
        _keep(path, derived)
    return derived


def _keep(path: Path, value: Any) -> None:
    """Write whole or not at all; without a writable cache it is only derived again next time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(value, file, separators=(",", ":"))
        os.replace(file.name, path)
    except OSError:
        return
