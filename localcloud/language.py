"""The Python language host for an engine that was built from its Go modules.

Those modules hold the `pulumi` command but not `pulumi-language-python`. This file does that program's work
with the SDK's own language server: it runs a Pulumi program in this process and a policy pack in a child. The
engine uses it only where no official host stands beside the binary; `workspace.py` lays the launcher.

The launcher runs this file by its path, in the environment of the Pulumi project: it imports nothing of ours.
"""

from __future__ import annotations

import os
import queue
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Protocol

import grpc
from google.protobuf import empty_pb2
from pulumi import RunError
from pulumi.automation._server import LanguageServer
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

WORKERS = 16
"""A program, a policy pack and the engine's small questions are each one call that holds a thread."""

Said = language_pb2.RunPluginResponse

_children: set[subprocess.Popen[bytes]] = set()


class Call(Protocol):
    """What is needed of a gRPC call: to hear when it ends."""

    def add_callback(self, callback: Callable[[], None], /) -> bool: ...


class PythonHost(LanguageServer):
    """Runs Python programs and policy packs for the engine."""

    def __init__(self) -> None:
        super().__init__(lambda: None)

    def Handshake(self, request, context):  # noqa: N802
        return language_pb2.LanguageHandshakeResponse()

    def Run(self, request, context):  # noqa: N802
        self.program = program_of(request.info)
        result = super().Run(request, context)
        # The server has sent the text to the engine's log. `bail` says so; `error` would print it again.
        return language_pb2.RunResponse(bail=True) if result.error else result

    def RunPlugin(self, request, context):  # noqa: N802
        command = [
            interpreter(request.info), "-u", "-m", "pulumi.policy",
            *request.args[:1], request.info.program_directory,
        ]  # fmt: skip
        env = dict(pair.split("=", 1) for pair in request.env)
        yield from stream(command, env, request.pwd or None, context)

    def InstallDependencies(self, request, context):  # noqa: N802
        return iter(())

    def GetProgramDependencies(self, request, context):  # noqa: N802
        return language_pb2.GetProgramDependenciesResponse()

    def RuntimeOptionsPrompts(self, request, context):  # noqa: N802
        return language_pb2.RuntimeOptionsResponse()

    def Cancel(self, request, context):  # noqa: N802
        return empty_pb2.Empty()  # ty: ignore[missing-attribute]  # made at run time


def program_of(info: language_pb2.ProgramInfo) -> Callable[[], None]:
    """The program at its entry point, as a function that the SDK's server runs inside a stack."""

    def run() -> None:
        os.chdir(info.program_directory)
        try:
            runpy.run_path(os.path.join(info.program_directory, info.entry_point), run_name="__main__")
        except RunError:
            raise
        except Exception as error:
            # Ours and runpy's frames come first and tell the program's author nothing.
            frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_machinery(f.filename)]
            lines = traceback.format_list(frames) + traceback.format_exception_only(error)
            raise RunError("Program failed with an unhandled exception:\n" + "".join(lines)) from None

    return run


def _is_machinery(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<frozen")


def interpreter(info: language_pb2.ProgramInfo) -> str:
    """The Python of the pack's own `virtualenv` option, or the one that runs this host."""
    fields = info.options.fields
    if "virtualenv" in fields:
        python = Path(info.root_directory, fields["virtualenv"].string_value, "bin", "python")
        if python.is_file():
            return str(python)
    return sys.executable


def stream(command: list[str], env: dict[str, str], cwd: str | None, call: Call) -> Iterator[Said]:
    """Run a child and hand on what it prints; the child ends when the engine hangs up."""
    child = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _children.add(child)
    if not call.add_callback(child.kill):
        child.kill()
    said: queue.SimpleQueue[Said | None] = queue.SimpleQueue()
    for wrap, pipe in ((lambda b: Said(stdout=b), child.stdout), (lambda b: Said(stderr=b), child.stderr)):
        threading.Thread(target=_forward, args=(wrap, pipe, said), daemon=True).start()
    try:
        for _ in range(2):
            yield from iter(said.get, None)
        yield Said(exitcode=child.wait())
    finally:
        child.kill()
        child.wait()
        _children.discard(child)


def _forward(wrap: Callable[[bytes], Said], pipe: IO[bytes], said: queue.SimpleQueue[Said | None]) -> None:
    for line in pipe:
        said.put(wrap(line))
    said.put(None)


def leave(*_: object) -> None:
    """End at once: waiting delays every command, a traceback would land in the diagnostics."""
    for child in tuple(_children):
        child.kill()
    os._exit(0)


def follow_parent() -> None:
    """End when the engine is gone, also when it was killed and could not say so."""
    engine = os.getppid()
    while os.getppid() == engine:
        time.sleep(1)
    leave()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    threading.Thread(target=follow_parent, daemon=True).start()
    server = grpc.server(
        ThreadPoolExecutor(WORKERS),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(PythonHost(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
