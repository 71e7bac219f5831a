"""One provider plugin as a process: the engine starts it, reads the port that it prints, and ends it by a signal."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

from localcloud.cloud import LocalCloud, Log
from localcloud.proto import engine_pb2, engine_pb2_grpc, provider_pb2_grpc
from localcloud.provider import Provider
from localcloud.store import Cloud, Store, StoreError

STORE_VARIABLE = "LOCALCLOUD_STORE"
LIMITS_VARIABLE = "LOCALCLOUD_LIMITS"
_THREADS = 16
_MESSAGE_BYTES = 400 << 20
_ORPHAN_CHECK_SECONDS = 1.0


def main(cloud: Cloud) -> None:
    """Serve one cloud until the engine ends it. argv: flags, then the engine's address."""
    engine = os.getppid()  # first of all: it may be killed at any moment from here on
    path = os.environ.get(STORE_VARIABLE)
    if not path:
        sys.exit(
            f"pulumi-resource-{cloud}: this is the local stand-in for {cloud}, and {STORE_VARIABLE} does not say where "
            f"its store is. Run Pulumi through `gpu-clusters local`, which sets it."
        )
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    try:
        store = Store(path)
        served = open_cloud(cloud, store, _engine_log(addresses[-1] if addresses else ""))
        served.scarcity.read(Path(os.environ.get(LIMITS_VARIABLE) or os.devnull))
    except StoreError as error:
        sys.exit(f"pulumi-resource-{cloud}: {error}")
    _leave_on_signal(store)
    _serve(Provider(served), engine)


def _leave_on_signal(store: Store) -> None:
    """At once and silently: the engine waits for the process, and prints what it says."""

    def leave(*_: object) -> None:
        store.settle(os.getpid())
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def open_cloud(cloud: Cloud, store: Store, log: Log) -> LocalCloud:
    if cloud == "aws":
        from localcloud.aws.cloud import Aws

        return Aws(store, log)
    from localcloud.azure.cloud import Azure

    return Azure(store, log)


def _serve(provider: Provider, engine: int) -> None:
    options = [("grpc.max_receive_message_length", _MESSAGE_BYTES), ("grpc.max_send_message_length", _MESSAGE_BYTES)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=options)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while server.wait_for_termination(_ORPHAN_CHECK_SECONDS):
        if os.getppid() != engine:  # the engine was killed: nobody will end this process
            os._exit(0)


def _engine_log(address: str) -> Log:
    if not address:
        return lambda _urn, _message: None
    engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def log(urn: str, message: str) -> None:
        request = engine_pb2.LogRequest(severity=engine_pb2.WARNING, message=message, urn=urn)
        try:
            engine.Log(request, timeout=5)
        except grpc.RpcError:  # a warning that cannot be shown must not fail the update
            return

    return log
