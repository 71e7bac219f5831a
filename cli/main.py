"""The command `gpu-clusters`. Each subcommand is a module of its own, imported only when it is asked for."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.metadata import version

COMMANDS = {
    "check": "say everything that is wrong with stacks, without any cloud",
    "plan": "show what a stack would make, need and cost",
    "images": "show which machine image each stack's nodes are made from, and record it",
    "rules": "list the rules that stacks are checked by",
}
LOCAL = "any Pulumi command line against the local cloud"


def main(argv: list[str] | None = None) -> int:
    """Exit code: 0 fine; 1 at least one error finding; 2 wrong usage or an unreadable file; of Pulumi for `local`."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if words[:1] == ["local"]:
            # Pulumi's own words follow, which are not ours to parse.
            return import_module("cli.local").run(words[1:])
        parser = _parser(words[0] if words else "")
        arguments = parser.parse_args(words)
        if arguments.command is None:
            parser.print_help()
            return 2
        return import_module(f"cli.{arguments.command}").run(arguments)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130


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
