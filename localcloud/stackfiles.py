"""Private copies of a project's stack files.

The state backend writes `encryptionsalt:` into the stack file that it uses. The copy takes that; the tracked
file is only ever read. All else is copied byte for byte, so that Pulumi reads what stands there.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from localcloud.environments import WorkspaceError

SUFFIXES = (".yaml", ".yml")

SECRETS = re.compile(rb"^(?:encryptionsalt|secretsprovider|encryptedkey):.*(?:\n|\Z)", re.MULTILINE)
SALT = re.compile(rb"^encryptionsalt:.*$", re.MULTILINE)


def tracked_stacks(project: Path, config_folder: str) -> dict[str, Path]:
    """The project's stack files by the name of their stack."""
    found = {}
    for suffix in SUFFIXES:
        for path in sorted((project / config_folder).glob(f"Pulumi.*{suffix}")):
            found.setdefault(path.name.removeprefix("Pulumi.").removesuffix(suffix), path)
    return found


def copy_stack_file(tracked: Path, copy: Path) -> None:
    """Bring the copy up to date. Raises WorkspaceError where no run could use the file."""
    try:
        text = tracked.read_bytes()
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise WorkspaceError(f"{tracked} cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        raise WorkspaceError(yaml_fault(tracked, error)) from None
    for line in encrypted_lines(document):
        raise WorkspaceError(
            f"{tracked}, line {line}: an encrypted value, and the local cloud does not have this stack's key.\n"
            "  Run a stack of its own here, with a plain stand-in in place of the secret."
        )
    text = SECRETS.sub(b"", text)
    if text and not text.endswith(b"\n"):
        text += b"\n"
    block = not getattr(document, "flow_style", False)  # a line cannot follow a root in braces
    if block and copy.exists() and (salt := SALT.search(copy.read_bytes())):
        text += salt[0] + b"\n"
    write(copy, text)


def encrypted_lines(node: yaml.Node | None) -> Iterator[int]:
    """The lines of values that Pulumi would decrypt: mappings with `secure` as their only key."""
    if isinstance(node, yaml.MappingNode):
        if len(node.value) == 1 and node.value[0][0].value == "secure":
            yield node.value[0][0].start_mark.line + 1
        for _, value in node.value:
            yield from encrypted_lines(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from encrypted_lines(value)


def yaml_fault(path: Path, error: yaml.YAMLError) -> str:
    """One line on what is wrong where."""
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    return f"{path}{where}: this is not YAML ({what})."


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write whole or not at all; a file that says this already stays, another run may be reading it."""
    if path.exists() and path.read_bytes() == content:
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.chmod(temporary, mode)
    os.replace(temporary, path)
