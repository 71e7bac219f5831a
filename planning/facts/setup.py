"""The shell lines that a node runs at the end of first boot: those of the spec, or of a file beside the stack file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from planning.findings import shown

MOST_BYTES = 1 << 20
"""No more is read of a file; what a node can be given is far less, and a rule says so."""


@dataclass(frozen=True, slots=True)
class Setup:
    lines: tuple[str, ...] = ()
    problem: str = ""
    """Why there are no lines, where the file that should hold them can not be used."""


def setup_of(setup: str | tuple[str, ...], folder: Path) -> Setup:
    """`setup` is the spec's own: lines, or the name of a file in `folder`."""
    if not isinstance(setup, str):
        return Setup(setup)
    try:
        path = (folder / setup).resolve()
        if not path.is_relative_to(folder.resolve()):
            return Setup(problem=f"the set-up file {shown(setup)} is outside the stack file's folder")
        if not path.is_file():
            return Setup(problem=f"there is no set-up file {shown(setup)} beside the stack file")
        with path.open("rb") as file:
            return Setup(tuple(file.read(MOST_BYTES).decode("utf-8-sig").splitlines()))
    except UnicodeDecodeError:
        return Setup(problem=f"the set-up file {shown(setup)} is not UTF-8 text")
    except (OSError, RuntimeError, ValueError) as problem:  # RuntimeError: links in a circle
        why = getattr(problem, "strerror", None) or str(problem)
        return Setup(problem=f"the set-up file {shown(setup)} can not be read: {why}")
