"""The Python language host for an engine that was built from its Go modules.

Those modules hold the `pulumi` command but not `pulumi-language-python`. This file does that program's work on the
SDK's own runtime: it runs a Pulumi program in this process and a policy pack in a child. The engine uses it only where
no official host stands beside the binary; `workspace.py` lays the launcher.

The launcher runs this file by its path, in the environment of the Pulumi project: it imports nothing of ours.
"""

from __future__ import annotations

import asyncio
import concurrent
import contextvars
import logging
import os
import platform
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
import pulumi
from google.protobuf import empty_pb2
from pulumi import RunError, log
from pulumi.runtime import reset_options, run_in_stack, set_all_config
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

WORKERS = 16
"""A program, a policy pack and the engine's small questions are each one call that holds a thread."""

Said = language_pb2.RunPluginResponse

MACHINERY = (__file__, "<frozen", *(os.path.dirname(module.__file__) for module in (asyncio, concurrent, pulumi)))
"""Files whose frames tell the author of a program nothing: what runs it, and what carries its values."""

_children: set[subprocess.Popen[bytes]] = set()


class Call(Protocol):
    """What is needed of a gRPC call: to hear when it ends."""

    def add_callback(self, callback: Callable[[], None], /) -> bool: ...


class PythonHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs Python programs and policy packs for the engine at that address."""

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def Handshake(self, request, context):  # noqa: N802
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request, context):  # noqa: N802
        return plugin_pb2.PluginInfo()

    def GetRequiredPackages(self, request, context):  # noqa: N802
        return language_pb2.GetRequiredPackagesResponse()

    def About(self, request, context):  # noqa: N802
        return language_pb2.AboutResponse(executable=sys.executable, version=platform.python_version())

    def Run(self, request, context):  # noqa: N802
        return contextvars.copy_context().run(run_program, request, self.engine)

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


def run_program(request: language_pb2.RunRequest, engine: str) -> language_pb2.RunResponse:
    """Run the program inside its stack. What fails is said in the engine's log, and `bail` tells that it was said."""
    reset_options(
        project=request.project,
        stack=request.stack,
        organization=request.organization or "organization",
        monitor_address=request.monitor_address,
        engine_address=engine,
        parallel=request.parallel,
        preview=request.dryRun,
    )
    set_all_config(dict(request.config), list(request.configSecretKeys))
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # tasks that nobody awaits any more after a failure
    try:
        # A thread for each registration that may wait for the engine at the same time.
        with asyncio.Runner() as runner:
            runner.get_loop().set_default_executor(ThreadPoolExecutor(max(request.parallel, 1) * 4))
            runner.run(run_in_stack(program_of(request.info)))
    except Exception as error:
        if text := fault(error):
            log.error(text)
        return language_pb2.RunResponse(bail=True)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return language_pb2.RunResponse()


def program_of(info: language_pb2.ProgramInfo) -> Callable[[], None]:
    """The program at its entry point."""

    def program() -> None:
        os.chdir(info.program_directory)
        runpy.run_path(os.path.join(info.program_directory, info.entry_point), run_name="__main__")

    return program


def fault(error: Exception) -> str:
    """What the author of the program is told; nothing where the engine itself has ended the run and says why."""
    if isinstance(error, RunError):
        return str(error)
    if str(error) == "context canceled":
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(MACHINERY)]
    lines = traceback.format_list(own or frames) + traceback.format_exception_only(error)
    return "Program failed with an unhandled exception:\n" + "".join(lines)


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


def main(argv: list[str]) -> None:
    """Serve until the engine ends it. argv: flags, then the engine's address."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    threading.Thread(target=follow_parent, daemon=True).start()
    server = grpc.server(
        ThreadPoolExecutor(WORKERS),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(PythonHost(argv[-1] if argv else ""), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(sys.argv[1:])
