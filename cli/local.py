"""`gpu-clusters local`: any Pulumi command line against the local cloud.

Here is what the words of the command line mean; the private folder that it runs in: `localcloud/workspace.py`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from localcloud.engine import find_engine
from localcloud.environments import WorkspaceError
from localcloud.pinned import EngineError
from localcloud.stackfiles import write
from localcloud.store import StoreError
from localcloud.workspace import Workspace
from planning.findings import near

OUR_PROJECT = Path(__file__).resolve().parent.parent

USAGE = """\
usage: gpu-clusters local [--project DIR] [--no-policies] PULUMI-COMMAND ...
       gpu-clusters local [--project DIR] cloud COMMAND ...

Runs a Pulumi command line against the local cloud: nothing real is deployed, and no credential is used.

  gpu-clusters local preview --stack aws-p5
  gpu-clusters local up --stack aws-p5 --yes
  gpu-clusters local cloud show               what exists on the local cloud
  gpu-clusters local cloud reset              forget all of it
  gpu-clusters local cloud --help             limits of capacity and quota, faults, drift, dead nodes

  --project DIR    another Pulumi Python project (without our policies)
  --no-policies    preview and up without the policy pack of this project; what is bold but legal passes it with
                   Pulumi's own flag --policy-pack-config policies/profiles/research.json
"""

WITH_POLICIES = {"preview", "pre", "up", "update"}
"""The commands that take a policy pack."""

NOT_LOCAL = {
    "login": "the local cloud has its own state backend",
    "logout": "the local cloud has its own state backend",
    "plugin": "the stand-ins are laid by this command, and a real provider must not take their place",
    "install": "the stand-ins are laid by this command, and a real provider must not take their place",
    "package": "the stand-ins are laid by this command, and a real provider must not take their place",
    "do": "it speaks to clouds without a stack",
    "new": "it makes a project; run `pulumi new` itself, then name the folder with --project",
}

READS_STACK_FILE = {*WITH_POLICIES, "refresh", "destroy", "down", "dn", "import", "watch", "config"}
"""The commands that read the file of the stack, be it named or selected."""

CONFIG_WRITES = {"set", "set-all", "rm", "rm-all", "cp", "refresh", "env"}

VALUE_FLAGS = {
    "-s",
    "--stack",
    "--color",
    "-v",
    "--verbose",
    "--tracing",
    "--profiling",
    "--memprofilerate",
    "--otel-traces",
}
"""Pulumi's flags that may stand before the command and take a word of their own."""

PATH_FLAGS = {"--policy-pack", "--policy-pack-config", "--file", "--plan", "--save-plan", "--config-file"}
"""Pulumi's flags whose value is a path: it counts from the folder of the person, not from the private one."""


class UsageError(Exception):
    """The command line cannot be meant; the text says why and what to write."""


@dataclass(frozen=True)
class CommandLine:
    """What was asked for."""

    project: Path
    policies: bool
    words: list[str]
    """Pulumi's own command line."""
    command: int | None
    """Where its command stands in `words`."""

    @property
    def name(self) -> str:
        return "" if self.command is None else self.words[self.command]

    @property
    def rest(self) -> list[str]:
        return [] if self.command is None else self.words[self.command + 1 :]


def run(argv: list[str]) -> int:
    """The command; Pulumi's code, 2 for wrong usage, 1 where no engine can be had."""
    try:
        line = read(argv)
        if line is None:
            print(USAGE, end="")
            return 0
        root = line.project / ".local"
        if line.name == "cloud":
            return cloud(line, root)
        refuse(line)
        workspace = Workspace(line.project, find_engine(), root)
        return pulumi(line, workspace)
    except UsageError as error:
        print(f"gpu-clusters local: {error}", file=sys.stderr)
        return 2
    except (WorkspaceError, StoreError) as error:
        print(f"gpu-clusters local: {error}", file=sys.stderr)
        return 2
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def read(argv: list[str]) -> CommandLine | None:
    """The command line, or None where only help is wanted. Raises UsageError."""
    project, policies, words = OUR_PROJECT, True, list(argv)
    ours = True
    while words and words[0] in ("--project", "--no-policies"):
        flag = words.pop(0)
        if flag == "--no-policies":
            policies = False
        elif not words:
            raise UsageError("--project needs the folder of a Pulumi project.")
        else:
            project = Path(words.pop(0)).absolute()
            ours = project.resolve() == OUR_PROJECT
    if "--no-policies" in words:
        policies = False
        words.remove("--no-policies")
    if not words or words[0] in ("-h", "--help", "help"):
        return None
    return CommandLine(project, policies and ours, words, command_index(words))


def command_index(words: list[str]) -> int | None:
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in VALUE_FLAGS:
            skip = True
        elif not word.startswith("-"):
            return index
    return None


def refuse(line: CommandLine) -> None:
    """Raise UsageError for what has no meaning here, or would lead out of the private folder."""
    if any(word in ("-C", "--cwd") or word.startswith("--cwd=") for word in line.words):
        raise UsageError("--cwd is set by this command. Name another project with --project DIR before the command.")
    if reason := NOT_LOCAL.get(line.name):
        raise UsageError(f"`pulumi {line.name}` is no command of the local cloud: {reason}.")
    if line.name == "config" and CONFIG_WRITES & set(line.rest[:1]):
        raise UsageError(
            "local runs read the stack files and never write them. Edit the stack file itself; the next run reads it."
        )


def cloud(line: CommandLine, root: Path) -> int:
    """The local cloud itself, without Pulumi. Raises UsageError."""
    from cli.cloud import CloudUsageError, run
    from localcloud.events import EventError

    if not (line.project / "Pulumi.yaml").is_file():
        raise UsageError(f"{line.project} has no Pulumi.yaml. Name the folder of a project with --project DIR.")
    try:
        root.mkdir(exist_ok=True)
        write(root / ".gitignore", b"*\n")
        return run(line.rest, root, line.project / "localcloud.toml")
    except OSError as error:
        raise UsageError(f"{error.filename or root} cannot be written ({error.strerror}).") from None
    except (CloudUsageError, EventError) as error:
        raise UsageError(str(error)) from None


def pulumi(line: CommandLine, workspace: Workspace) -> int:
    versions = workspace.prepare()
    known = ", ".join(f"{cloud} {version}" for cloud, version in versions.items()) or "no cloud SDK found"
    print(f"Local cloud ({known}): nothing real is deployed, no credential is used.", file=sys.stderr, flush=True)
    stack = named_stack(line)
    if stack is None and line.name in READS_STACK_FILE:
        selected = workspace.run("stack", "--show-name")
        stack = selected.stdout.strip() if selected.returncode == 0 else None
    if stack and not makes_stack(line) and not workspace.ready(stack):
        raise UsageError(unknown_stack(stack, workspace))
    return workspace.hand_over(*final_words(line))


def named_stack(line: CommandLine) -> str | None:
    """The stack that the command line names, without its organization and project."""
    named = None
    for index, word in enumerate(line.words):
        if word == "--":
            break
        if word in ("-s", "--stack") and index + 1 < len(line.words):
            named = line.words[index + 1]
        elif word.startswith("--stack="):
            named = word.removeprefix("--stack=")
        elif re.match(r"-s=?\w", word):
            named = word.removeprefix("-s").removeprefix("=")
    if named is None and line.name == "stack" and line.rest[:1] == ["select"]:
        named = next((word for word in line.rest[1:] if not word.startswith("-")), None)
    return named.rpartition("/")[2] if named else None


def makes_stack(line: CommandLine) -> bool:
    verb = line.rest[:1]
    return line.name == "stack" and (
        verb in (["init"], ["new"], ["create"]) or (verb == ["select"] and bool({"-c", "--create"} & set(line.rest)))
    )


def unknown_stack(name: str, workspace: Workspace) -> str:
    known = sorted({*workspace.tracked(), *workspace.stacks()})
    close = near(name, known)
    folder = workspace.project / (workspace.document().get("stackConfigDir") or "")
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known) or 'none'}."
    return (
        f"there is no stack {name}: {hint}\n"
        f"  A stack is a file {folder}/Pulumi.{name}.yaml; `stack init {name}` makes one without."
    )


def final_words(line: CommandLine) -> list[str]:
    """Pulumi's command line with the policy pack in it and with paths that hold from another folder."""
    words = [absolute(line.words, index) for index in range(len(line.words))]
    pack = line.project / "policies"
    if line.policies and line.command is not None and line.name in WITH_POLICIES:
        words[line.command + 1 : line.command + 1] = ["--policy-pack", str(pack)]
    return words


def absolute(words: list[str], index: int) -> str:
    word = words[index]
    flag, equals, value = word.partition("=")
    if equals and flag in PATH_FLAGS:
        return f"{flag}={Path(value).absolute()}"
    return str(Path(word).absolute()) if index and words[index - 1] in PATH_FLAGS else word
