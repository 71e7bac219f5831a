# ruff: noqa: N802 - the methods have the names of the protocol
"""The engine's provider protocol on one side, a `LocalCloud` on the other. It translates and decides nothing."""

from __future__ import annotations

import functools
import sqlite3
import traceback
from collections.abc import Callable
from typing import Any, Literal, NoReturn

import grpc
from google.protobuf.empty_pb2 import Empty  # ty: ignore[missing-module-member]

from localcloud.cloud import LocalCloud, Old
from localcloud.diff import Change
from localcloud.kinds import CloudError, Refusal, UnfinishedError
from localcloud.naming import Autonaming, Naming
from localcloud.proto import plugin_pb2, provider_pb2_grpc, status_pb2
from localcloud.proto import provider_pb2 as pb
from localcloud.schema import Failure
from localcloud.schema_index import sdk_version
from localcloud.store import StoreError
from localcloud.values import Properties, from_struct, to_struct, visible

_MODES: dict[int, Literal["propose", "enforce", "disable"]] = {0: "propose", 1: "enforce", 2: "disable"}
_DETAIL = {
    ("add", False): pb.PropertyDiff.ADD,
    ("add", True): pb.PropertyDiff.ADD_REPLACE,
    ("delete", False): pb.PropertyDiff.DELETE,
    ("delete", True): pb.PropertyDiff.DELETE_REPLACE,
    ("update", False): pb.PropertyDiff.UPDATE,
    ("update", True): pb.PropertyDiff.UPDATE_REPLACE,
}


def answered(method: Any) -> Callable[..., Any]:
    """Turn what can be refused into one message for the engine, never a traceback."""

    @functools.wraps(method)
    def call(self: Provider, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(self, request, context)
        except UnfinishedError as error:
            context.set_trailing_metadata((("grpc-status-details-bin", _unfinished(error)),))
            _abort(context, str(error))
        except (CloudError, StoreError) as error:
            _abort(context, str(error))
        except Refusal as refusal:
            _abort(context, f"{refusal.code}: {refusal.message}")
        except sqlite3.Error as error:
            _abort(context, f"{self.cloud.store.path}: the local cloud's store failed ({error}); nothing was changed.")
        except Exception as error:  # a mistake of the local cloud itself
            traceback.print_exc()
            _abort(context, f"the local cloud failed in {method.__name__}: {type(error).__name__}: {error}")

    return call


def _abort(context: grpc.ServicerContext, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort returned")


def _unfinished(error: UnfinishedError) -> bytes:
    """What makes the engine keep the resource in its state, with the reasons why it is not done."""
    details = pb.ErrorResourceInitFailed(
        id=error.id, properties=_outputs(error.outputs), inputs=to_struct(error.inputs), reasons=error.reasons
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error))
    status.details.add().Pack(details)
    return status.SerializeToString()


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, cloud: LocalCloud) -> None:
        self.cloud = cloud

    def Handshake(self, request: pb.ProviderHandshakeRequest, context: grpc.ServicerContext) -> Any:
        # Nothing is accepted in a special form: the engine then sends plain values.
        return pb.ProviderHandshakeResponse(supports_autonaming_configuration=True)

    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext) -> Any:
        return Empty()

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Any:
        return Empty()

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> Any:
        return plugin_pb2.PluginInfo(version=sdk_version(self.cloud.name))

    def GetSchema(self, request: pb.GetSchemaRequest, context: grpc.ServicerContext) -> Any:
        return pb.GetSchemaResponse(schema="{}")

    @answered
    def CheckConfig(self, request: pb.CheckRequest, context: grpc.ServicerContext) -> Any:
        failures = self.cloud.check_config(from_struct(request.news))
        return pb.CheckResponse(inputs=request.news, failures=_failures(failures))

    @answered
    def DiffConfig(self, request: pb.DiffRequest, context: grpc.ServicerContext) -> Any:
        old, new = from_struct(request.old_inputs or request.olds), from_struct(request.news)
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        return pb.DiffResponse(changes=_changes(bool(changed)), diffs=changed)

    @answered
    def Configure(self, request: pb.ConfigureRequest, context: grpc.ServicerContext) -> Any:
        self.cloud.configure(from_struct(request.args))
        return pb.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    @answered
    def Invoke(self, request: pb.InvokeRequest, context: grpc.ServicerContext) -> Any:
        answer = self.cloud.invoke(request.tok, from_struct(request.args))
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(answer))  # a keyword of Python
        return response

    @answered
    def Check(self, request: pb.CheckRequest, context: grpc.ServicerContext) -> Any:
        inputs, failures = self.cloud.check(_token(request), from_struct(request.news), _naming(request))
        return pb.CheckResponse(inputs=to_struct(inputs), failures=_failures(failures))

    @answered
    def Diff(self, request: pb.DiffRequest, context: grpc.ServicerContext) -> Any:
        old = _old(request)
        self.cloud.read(_token(request), request.id, old.outputs)
        change = self.cloud.diff(_token(request), old, from_struct(request.news))
        return _diff(change, list(request.ignoreChanges))

    @answered
    def Create(self, request: pb.CreateRequest, context: grpc.ServicerContext) -> Any:
        inputs = from_struct(request.properties)
        id_, outputs = self.cloud.create(
            request.urn, _token(request), inputs, preview=request.preview, timeout=request.timeout
        )
        return pb.CreateResponse(id=id_, properties=_outputs(outputs))

    @answered
    def Read(self, request: pb.ReadRequest, context: grpc.ServicerContext) -> Any:
        record = self.cloud.read(_token(request), request.id, from_struct(request.properties))
        if record is None:
            return pb.ReadResponse()
        return pb.ReadResponse(id=record.id, properties=_outputs(record.outputs), inputs=to_struct(record.inputs))

    @answered
    def Update(self, request: pb.UpdateRequest, context: grpc.ServicerContext) -> Any:
        inputs = from_struct(request.news)
        outputs = self.cloud.update(
            request.urn, _token(request), request.id, _old(request), inputs, preview=request.preview
        )
        return pb.UpdateResponse(properties=_outputs(outputs))

    @answered
    def Delete(self, request: pb.DeleteRequest, context: grpc.ServicerContext) -> Any:
        olds = from_struct(request.properties)
        self.cloud.delete(_token(request), request.id, olds, urn=request.urn, timeout=request.timeout)
        return Empty()


def _token(request: Any) -> str:
    return request.type or request.urn.split("::")[2].rpartition("$")[2]


def _outputs(outputs: Properties) -> Any:
    return to_struct(visible(outputs))  # without what the cloud keeps for itself: running nodes, versions


def _old(request: Any) -> Old:
    return Old(from_struct(request.old_inputs), from_struct(request.olds))


def _naming(request: pb.CheckRequest) -> Naming:
    asked = None
    if request.HasField("autonaming"):
        asked = Autonaming(_MODES[request.autonaming.mode], request.autonaming.proposed_name)
    logical = request.name or request.urn.rpartition("::")[2]
    old: Properties = from_struct(request.olds)
    return Naming(urn=request.urn, logical=logical, old=old, seed=request.randomSeed, asked=asked)


def _failures(failures: Any) -> list[pb.CheckFailure]:
    return [pb.CheckFailure(property=f.path, reason=f.reason) for f in failures if isinstance(f, Failure)]


def _changes(some: bool) -> Any:
    return pb.DiffResponse.DIFF_SOME if some else pb.DiffResponse.DIFF_NONE


def _diff(change: Change, ignored: list[str]) -> pb.DiffResponse:
    detail = {
        path: pb.PropertyDiff(kind=_DETAIL[how, path in change.replaces], inputDiff=True)
        for path, how in change.properties.items()
        if not any(path == ignore or path.startswith((f"{ignore}.", f"{ignore}[")) for ignore in ignored)
    }
    top = sorted({path.partition(".")[0].partition("[")[0] for path in detail})
    return pb.DiffResponse(
        changes=_changes(bool(detail)),
        diffs=top,
        replaces=sorted(path for path in detail if path in change.replaces),
        deleteBeforeReplace=change.delete_first,
        detailedDiff=detail,
        hasDetailedDiff=True,
    )
