"""Drives a provider in process, as the engine would. The process: test_plugin_process. The real engine: tests/engine.

What is declared comes from the tables types_aws.yaml and types_azure.yaml: `World` makes a row with all it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import status_pb2

from localcloud.plugin import open_cloud
from localcloud.provider import Provider
from localcloud.store import Cloud, Store
from localcloud.values import Properties, from_struct, to_struct


class Refused(Exception):  # noqa: N818 - what the cloud does, not what went wrong
    """What the engine would print as the error."""

    def __init__(self, text: str, kept: pb.ErrorResourceInitFailed | None = None) -> None:
        super().__init__(text)
        self.kept = kept
        """What the engine keeps in its state all the same, with the reasons."""


class _Context:
    kept: pb.ErrorResourceInitFailed | None = None

    def set_trailing_metadata(self, pairs: tuple[tuple[str, bytes], ...]) -> None:
        status = status_pb2.Status.FromString(dict(pairs)["grpc-status-details-bin"])
        self.kept = pb.ErrorResourceInitFailed()
        assert status.details[0].Unpack(self.kept)

    def abort(self, _code: object, details: str) -> None:
        raise Refused(details, self.kept)


@dataclass(frozen=True)
class Made:
    token: str
    urn: str
    id: str
    inputs: Properties
    outputs: Properties

    def __getitem__(self, output: str) -> Any:
        return self.outputs[output]


class Driver:
    def __init__(self, cloud: Cloud, store: Store, **config: str) -> None:
        self.store = store
        self.warnings: list[str] = []
        self.provider = Provider(open_cloud(cloud, store, lambda _urn, text: self.warnings.append(text)))
        self.configure(**config)

    def configure(self, **config: str) -> None:
        self.provider.Configure(pb.ConfigureRequest(args=to_struct(config)), _Context())

    def check_config(self, **config: str) -> dict[str, str]:
        answer = self.provider.CheckConfig(pb.CheckRequest(news=to_struct(config)), _Context())
        return {f.property: f.reason for f in answer.failures}

    def check(
        self, token: str, inputs: Properties, name: str = "x", old: Properties | None = None, **request: Any
    ) -> tuple[Properties, dict[str, str]]:
        answer = self.provider.Check(
            pb.CheckRequest(
                urn=urn_of(token, name),
                type=token,
                name=name,
                news=to_struct(inputs),
                olds=to_struct(old) if old is not None else None,
                **request,
            ),
            _Context(),
        )
        return from_struct(answer.inputs), {f.property: f.reason for f in answer.failures}

    def up(self, token: str, inputs: Properties, name: str = "x") -> Made:
        checked = self._good(token, inputs, name)
        answer = self.provider.Create(self._create(token, name, checked), _Context())
        return Made(token, urn_of(token, name), answer.id, checked, from_struct(answer.properties))

    def preview(self, token: str, inputs: Properties, name: str = "x") -> Properties:
        checked = self._good(token, inputs, name)
        return from_struct(
            self.provider.Create(self._create(token, name, checked, preview=True), _Context()).properties
        )

    def diff(self, made: Made, inputs: Properties, **request: Any) -> pb.DiffResponse:
        checked = self._good(made.token, inputs, old=made.inputs)
        return self.provider.Diff(pb.DiffRequest(**self._old(made), news=to_struct(checked), **request), _Context())

    def update(self, made: Made, inputs: Properties, *, preview: bool = False) -> Made:
        checked = self._good(made.token, inputs, old=made.inputs)
        request = pb.UpdateRequest(**self._old(made), news=to_struct(checked), preview=preview)
        answer = self.provider.Update(request, _Context())
        return Made(made.token, made.urn, made.id, checked, from_struct(answer.properties))

    def read(self, token: str, id_: str, properties: Properties | None = None) -> pb.ReadResponse:
        request = pb.ReadRequest(id=id_, urn=urn_of(token, "x"), type=token, properties=to_struct(properties or {}))
        return self.provider.Read(request, _Context())

    def delete(self, made: Made) -> None:
        request = pb.DeleteRequest(id=made.id, urn=made.urn, type=made.token, properties=to_struct(made.outputs))
        self.provider.Delete(request, _Context())

    def invoke(self, token: str, **args: Any) -> Properties:
        answer = self.provider.Invoke(pb.InvokeRequest(tok=token, args=to_struct(args)), _Context())
        return from_struct(getattr(answer, "return"))

    def _good(self, token: str, inputs: Properties, name: str = "x", old: Properties | None = None) -> Properties:
        checked, failures = self.check(token, inputs, name, old)
        if failures:
            raise Refused("; ".join(f"{path}: {reason}" for path, reason in failures.items()))
        return checked

    def _create(self, token: str, name: str, inputs: Properties, *, preview: bool = False) -> pb.CreateRequest:
        urn = urn_of(token, name)
        return pb.CreateRequest(urn=urn, type=token, name=name, properties=to_struct(inputs), preview=preview)

    def _old(self, made: Made) -> dict[str, Any]:
        return {
            "id": made.id,
            "urn": made.urn,
            "type": made.token,
            "olds": to_struct(made.outputs),
            "old_inputs": to_struct(made.inputs),
        }

    def refusal(self, action: Callable[[], object]) -> str:
        """What the engine would print: of a failed check, or of a refused request."""
        return str(self.failure(action))

    def failure(self, action: Callable[[], object]) -> Refused:
        """The same with what the engine would keep of it."""
        try:
            done = action()
        except Refused as error:
            return error
        pytest.fail(f"was accepted: {done}")

    def kept(self, action: Callable[[], object]) -> pb.ErrorResourceInitFailed:
        """What the engine keeps in its state of a request that fails and leaves a resource."""
        failure = self.failure(action)
        assert failure.kept is not None, failure
        return failure.kept

    def ask(self, method: str, request: object) -> Any:
        """A request with members that the methods above do not give."""
        return getattr(self.provider, method)(request, _Context())


class World:
    """Resources of a table, made when they are first asked for."""

    def __init__(self, driver: Driver, table: dict[str, Any]) -> None:
        self.driver = driver
        self.rows: dict[str, Any] = table["types"]
        self.made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self.made:
            self.made[name] = self.driver.up(self.rows[name]["type"], self.inputs(name), name)
        return self.made[name]

    def inputs(self, name: str, change: Properties | None = None) -> Properties:
        """The good inputs of a row, with some of them changed; None takes one away."""
        merged = {**self.rows[name]["inputs"], **(change or {})}
        return self.resolved({key: value for key, value in merged.items() if value is not None})

    def resolved(self, value: Any) -> Any:
        """`${vpc.id}` is the id, or the output, of another row."""
        if isinstance(value, dict):
            return {key: self.resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolved(item) for item in value]
        if isinstance(value, str):
            if alone := re.fullmatch(r"\$\{(\w+)\.(\w+)\}", value):
                return self._output(alone)
            return re.sub(r"\$\{(\w+)\.(\w+)\}", lambda match: str(self._output(match)), value)
        return value

    def attempt(self, case: dict[str, Any]) -> object:
        """Do what a row of `refusals` describes."""
        driver, row = self.driver, self.rows[case["of"]]
        inputs = self.inputs(case["of"], case.get("change"))
        match case.get("when", "create"):
            case "twice":
                driver.up(row["type"], self.inputs(case["of"], case.get("first", case.get("change"))), "first")
                return driver.up(row["type"], inputs, "second")
            case "update":
                return driver.update(self[case["of"]], inputs)
            case "delete":
                made = self.made[case["of"]] = self.made.get(case["of"]) or driver.up(row["type"], inputs, case["of"])
                for other in case.get("while", []):
                    assert self[other]
                return driver.delete(made)
            case _:
                return driver.up(row["type"], inputs)

    def _output(self, match: re.Match[str]) -> Any:
        made = self[match[1]]
        return made.id if match[2] == "id" else made.outputs[match[2]]


@cache
def table_of(cloud: str) -> dict[str, Any]:
    return yaml.safe_load(Path(__file__).with_name(f"types_{cloud.partition('-')[0]}.yaml").read_text())


@cache
def aws_semantics() -> dict[str, Any]:
    return yaml.safe_load(Path(__file__).with_name("semantics_aws.yaml").read_text())


def urn_of(token: str, name: str) -> str:
    return f"urn:pulumi:stack::project::{token}::{name}"


@pytest.fixture
def index_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tests keep the SDKs' index: the project's test cache, so that it is derived once and not on every run."""
    folder = request.config.cache.mkdir("sdk-index")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def store() -> Iterator[Store]:
    """In memory: what is special to the file is for test_store and test_store_safety."""
    store = Store(":memory:")
    yield store
    store.close()


@pytest.fixture
def aws(index_cache: Path, store: Store) -> Driver:
    return Driver("aws", store, region="us-east-1")


@pytest.fixture
def azure(index_cache: Path, store: Store) -> Driver:
    return Driver("azure-native", store)


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Callable[[str], World]:
    """The world of one cloud, empty at first."""

    def of(cloud: str) -> World:
        return World(request.getfixturevalue(cloud.partition("-")[0]), table_of(cloud))

    return of


@pytest.fixture
def aws_world(world: Callable[[str], World]) -> World:
    """The world of AWS with the rows of semantics_aws.yaml in it."""
    found = world("aws")
    found.rows = {**found.rows, **aws_semantics()["types"]}
    return found
