"""`make bench`: wall time and peak memory of what a user waits for, as medians of several runs.

Nothing here asserts a time: machines differ and are shared. Peak memory is the sum over all processes of a command,
sampled from /proc, thus on Linux only.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from cli.stacks import judge_stack
from tests.clusters import stack_file

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(ROOT / ".venv/bin/gpu-clusters")
RUNS = 5
IN_PROCESS_RUNS = 50
FEW_NODES, MANY_NODES = 10, 10_000
MANY = 200
STACKS = ("aws-p5", "azure-nd-h100")


def main() -> int:
    subprocess.run([sys.executable, "-m", "localcloud.engine"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    print(f"{'step':<52}{'wall s':>8}{'MiB':>7}   median of {RUNS}")
    with tempfile.TemporaryDirectory() as folder:
        report("check, one stack", [COMMAND, "check", "aws-p5"])
        report(f"check, {MANY} stacks", [COMMAND, "check", *copies(Path(folder))])
        for stack in STACKS:
            report(f"plan {stack}", [COMMAND, "plan", stack, "--format", "json"])
        report_nodes(Path(folder))
    report("policy pack, loaded", [sys.executable, "-c", "import policies.pack"])
    for stack in STACKS:
        report(f"preview {stack}, with the pack, local cloud", local("preview", stack))
    for stack in STACKS:
        report(f"up and destroy {stack}, local cloud", local("up", stack), local("destroy", stack))
    return 0


def local(command: str, stack: str) -> list[str]:
    if command == "preview":
        return [COMMAND, "local", "preview", "--stack", stack, "--non-interactive"]
    unprotected = ["--exclude-protected"] if command == "destroy" else []
    return [COMMAND, "local", command, "--stack", stack, "--yes", "--skip-preview", "--non-interactive", *unprotected]


def copies(folder: Path) -> list[str]:
    text = (ROOT / "stacks/Pulumi.aws-p5.yaml").read_text(encoding="utf-8")
    paths = [folder / f"Pulumi.copy-{n}.yaml" for n in range(MANY)]
    for path in paths:
        path.write_text(text, encoding="utf-8")
    return [str(path) for path in paths]


def report(title: str, *commands: list[str]) -> None:
    """Runs the commands one after the other, once to warm up and then RUNS times, and prints the medians."""
    runs = [[measure(command) for command in commands] for _ in range(RUNS + 1)][1:]
    wall = statistics.median(sum(seconds for seconds, _ in run) for run in runs)
    memory = statistics.median(max(mib for _, mib in run) for run in runs)
    print(f"{title:<52}{wall:>8.2f}{memory:>7.0f}", flush=True)


def report_nodes(folder: Path) -> None:
    """How much longer a stack is judged that has a thousand times the nodes, in this process, in turns."""
    seconds: dict[str, list[float]] = {}
    for count in (FEW_NODES, MANY_NODES):
        changes = {"nodes.count": count, "nodes.start": "elastic"}
        path = folder / f"Pulumi.nodes-{count}.yaml"
        path.write_text(stack_file("aws-p5", changes), encoding="utf-8")
        seconds[str(path)] = []
    for _ in range(IN_PROCESS_RUNS):
        for source, times in seconds.items():
            start = time.perf_counter()
            judge_stack(source)
            times.append(time.perf_counter() - start)
    few, many = (statistics.median(times) * 1000 for times in seconds.values())
    title = f"check in process, {FEW_NODES} and {MANY_NODES:,} nodes"
    print(f"{title:<52}{few:.2f} and {many:.2f} ms ({many / few - 1:+.1%}), median of {IN_PROCESS_RUNS}", flush=True)


def measure(command: list[str]) -> tuple[float, float]:
    """Wall seconds of one run, and MiB that all its processes held at once at most."""
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = Peak(child.pid)
    output, _ = child.communicate()
    seconds = time.perf_counter() - start
    if child.returncode:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{output}")
    return seconds, peak.stop()


class Peak:
    """Samples the resident memory of a process and all below it."""

    def __init__(self, pid: int) -> None:
        self.pid, self.most, self.ended = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()

    def stop(self) -> float:
        self.ended.set()
        self.thread.join()
        return self.most / 1024

    def _sample(self) -> None:
        while not self.ended.wait(0.01):
            self.most = max(self.most, sum(map(resident_kib, family(self.pid))))


def family(pid: int) -> list[int]:
    """The process and its descendants."""
    children: list[str] = []
    with contextlib.suppress(OSError):  # it may have ended meanwhile
        for path in Path(f"/proc/{pid}/task").glob("*/children"):  # of any thread: Go starts processes from several
            children += path.read_text().split()
    return [pid, *(p for child in children for p in family(int(child)))]


def resident_kib(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")), 0)


if __name__ == "__main__":
    sys.exit(main())
