"""The engine's protocol as Pulumi's SDK ships it, without the SDK itself.

`import pulumi.runtime.proto` would first import all of `pulumi`, which is most of a plugin's start. This module is
a package whose folder is that of the SDK's generated files; they need nothing but protobuf and grpc.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2, provider_pb2_grpc
    from pulumi.runtime.proto import status_pb2 as status_pb2
else:
    _sdk = find_spec("pulumi")  # finds, and does not import
    __path__ = [str(Path(folder, "runtime", "proto")) for folder in _sdk.submodule_search_locations]
    engine_pb2 = import_module("localcloud.proto.engine_pb2")
    engine_pb2_grpc = import_module("localcloud.proto.engine_pb2_grpc")
    plugin_pb2 = import_module("localcloud.proto.plugin_pb2")
    provider_pb2 = import_module("localcloud.proto.provider_pb2")
    provider_pb2_grpc = import_module("localcloud.proto.provider_pb2_grpc")
    status_pb2 = import_module("localcloud.proto.status_pb2")

__all__ = ["engine_pb2", "engine_pb2_grpc", "plugin_pb2", "provider_pb2", "provider_pb2_grpc", "status_pb2"]
