"""The command `gpu-clusters`. Each subcommand is a module of its own, imported only when it is asked for."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import sys
from importlib import import_module
from importlib.metadata import version

COMMANDS = {
    "check": "say everything that is wrong with stacks, without any cloud",
    "plan": "show what a stack would make, need and cost",
    "cost": "show what a stack costs an hour, a month and a run, line by line",
    "compare": "show stacks, or one training run on both clouds, side by side",
    "advise": "say which nodes and storage a training run takes, how long and what it costs",
    "images": "show which machine image each stack's nodes are made from, and record it",
    "schema": "print the JSON Schema of a stack file, by which editors complete and underline",
    "rules": "list the rules that stacks are checked by",
}
LOCAL = "any Pulumi command line against the local cloud"


def main(argv: list[str] | None = None) -> int:
    """Exit code: 0 fine; 1 at least one error finding; 2 wrong usage or an unreadable file; of Pulumi for `local`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal without UTF-8 shows an escape for what it lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        print(end="", flush=True)
        return code
    except BrokenPipeError:
        _drop_output()
        return 1
    except OSError as problem:
        if problem.errno not in _FULL:
            raise
        _drop_output()
        print(f"gpu-clusters: the output cannot be written: {problem.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _drop_output() -> None:
    """Python writes what is left of standard output when it ends, and would fail once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    if words[:1] == ["local"]:
        # Pulumi's own words follow, which are not ours to parse.
        return import_module("cli.local").run(words[1:])
    parser = _parser(words[0] if words else "")
    arguments = parser.parse_args(words)
    if arguments.command is None:
        parser.print_help()
        return 2
    return import_module(f"cli.{arguments.command}").run(arguments)


def _parser(asked: str) -> argparse.ArgumentParser:
    """The parser; arguments are added for the command that is asked for only, since each import costs time."""
    parser = argparse.ArgumentParser(
        prog="gpu-clusters", description="GPU training clusters on AWS and Azure from one typed spec."
    )
    parser.add_argument("--version", action="version", version=f"gpu-clusters {version('gpu-clusters')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, says in COMMANDS.items():
        command = commands.add_parser(name, help=says, description=says.capitalize() + ".")
        if name == asked:
            import_module(f"cli.{name}").add_arguments(command)
    commands.add_parser("local", help=LOCAL, add_help=False)
    return parser


if __name__ == "__main__":
    sys.exit(main())
