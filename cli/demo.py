"""`make up` and `make down`: both example clusters on the local cloud, one table, and the end of all of it.

python -m cli.demo up|down
"""

from __future__ import annotations

import json
import re
import sys
import time
from contextlib import closing
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Any

from cli.local import OUR_PROJECT
from localcloud.engine import find_engine
from localcloud.environments import WorkspaceError
from localcloud.pinned import EngineError
from localcloud.progress import Progress
from localcloud.store import Store, StoreError
from localcloud.workspace import Workspace

EXAMPLES = ("aws-p5", "azure-nd-h100")

STEP = re.compile(r" (?:created|updated|deleted|replaced) \(")
"""A line of Pulumi's log that ends the work on one resource."""

SUMMARY = re.compile(r"^Resources:\n((?: +.+\n)+)", re.MULTILINE)
"""The counts at the end of Pulumi's log."""


class PulumiFailedError(Exception):
    """Pulumi ended with this code; its log has been shown."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def main(argv: list[str]) -> int:
    if argv not in (["up"], ["down"]):
        print("usage: python -m cli.demo up|down", file=sys.stderr)
        return 2
    progress = Progress()
    try:
        workspace = Workspace(OUR_PROJECT, find_engine(progress), OUR_PROJECT / ".local", progress.say)
        workspace.prepare()
        return up(workspace, progress) if argv == ["up"] else down(workspace, progress)
    except PulumiFailedError as failure:
        return failure.code
    except (EngineError, WorkspaceError, StoreError) as error:
        progress.done()
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def up(workspace: Workspace, progress: Progress) -> int:
    progress.say(f"Pulumi {workspace.engine.version} on the local cloud: nothing real is deployed.")
    clusters = []
    for stack in EXAMPLES:
        if not workspace.ready(stack):
            raise WorkspaceError(f"There is no stacks/Pulumi.{stack}.yaml. Restore it from git.")
        pack = str(OUR_PROJECT / "policies")
        run(workspace, progress, "up", stack, "--yes", "--skip-preview", "--policy-pack", pack)
        clusters.append(json.loads(workspace.run("stack", "output", "--json", "--stack", stack, check=True).stdout))
    show(clusters)
    return 0


def down(workspace: Workspace, progress: Progress) -> int:
    stacks = [stack for stack in EXAMPLES if stack in workspace.stacks()]
    if not stacks:
        progress.say("Nothing is up.")
    for stack in stacks:
        workspace.ready(stack)
        progress.say(f"{stack}: the protection of its data is lifted; that is done here, on the local cloud, only.")
        workspace.run("state", "unprotect", "--all", "--yes", "--stack", stack, check=True)
        drop_leftovers(workspace, progress)  # objects in its buckets would stop the end of the bucket
        run(workspace, progress, "destroy", stack, "--yes", "--skip-preview")
        workspace.run("stack", "rm", "--yes", "--preserve-config", "--stack", stack, check=True)
    drop_leftovers(workspace, progress)
    return 0


def drop_leftovers(workspace: Workspace, progress: Progress) -> None:
    """Drop what a cloud keeps when its stack ends: backups, objects in buckets."""
    if workspace.store_path.exists():
        with closing(Store(workspace.store_path)) as store:
            for record in store.drop_leftovers():
                progress.say(f"Kept by the cloud beyond its stack, dropped here: {record.type} {record.id}")


def run(workspace: Workspace, progress: Progress, command: str, stack: str, *flags: str) -> None:
    """Run one command on one stack; say how it goes and what came of it. Raises PulumiFailedError, the log shown."""
    start = time.monotonic()
    log: list[str] = []
    words = (command, "--stack", stack, *flags, "--non-interactive", "--color", "never")
    with workspace.start(*words, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT) as child:
        steps = 0
        for line in child.stdout or ():
            log.append(line)
            steps += bool(STEP.search(line))
            progress.tick(f"{stack}: {command}, {steps} resources, {time.monotonic() - start:.0f} s")
    progress.done()
    text = "".join(log)
    if child.returncode:
        print(text, end="", file=sys.stderr)
        progress.say(f"{stack}: `pulumi {command}` failed with {child.returncode}; its log stands above.")
        raise PulumiFailedError(child.returncode)
    progress.say(f"{stack}: {outcome(text)} ({time.monotonic() - start:.1f} s)")


def outcome(log: str) -> str:
    """What Pulumi's own summary counts: `63 created`, `2 updated, 61 unchanged`, or `no changes`."""
    found = SUMMARY.search(log)
    counts = re.findall(r"\d+ (?!changes?\b)[a-z]+", found[1]) if found else []
    if len(counts) == 1 and counts[0].endswith(" unchanged"):
        return f"no changes, {counts[0]}"
    return ", ".join(counts) or "done"


def show(clusters: list[dict[str, Any]]) -> None:
    """One table, a section for each cluster; a command stays on one line wherever the terminal has room for it."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE, show_header=False, show_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for cluster in clusters:
        for place, (label, cell) in enumerate(ROWS.items()):
            table.add_row("" if place else cluster["name"], label, cell(cluster))
        table.add_section()
    # A terminal folds at its edge; a file or a pipe has none.
    console = Console(width=None if sys.stdout.isatty() else 400)
    with console.capture() as text:
        console.print(table)
    print("\n".join(line.rstrip() for line in text.get().rstrip().splitlines()))


def fabric(cluster: dict[str, Any]) -> str:
    of = cluster["fabric"]
    return f"{of['kind']}, {of['interfaces_per_node']} interfaces and {of['gbps_per_node']} Gbps per node"


ROWS = {
    "cloud": lambda c: f"{c['cloud']}, {c['region']}",
    "nodes": lambda c: f"{c['node_count']} x {c['node_type']}",
    "GPUs": lambda c: f"{c['node_count'] * c['gpus_per_node']}",
    "fabric": fabric,
    "filesystem": lambda c: (c["filesystem"] or {}).get("mount_command", "none"),
    "objects": lambda c: (c["objects"] or {}).get("uri", "none"),
    "USD per hour": lambda c: f"{c['usd_per_hour']:,.2f}",
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
