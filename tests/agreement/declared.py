"""The real program on the local cloud, in process: each resource is made when the program registers it, and what the
cloud computes goes back into the program, as the engine does it. The engine itself: tests/engine.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import grpc
from pulumi.runtime import mocks

from components.dryrun import run
from components.program import build
from localcloud.events import nodes
from localcloud.store import Cloud, Store
from planning.plan import Plan
from tests.localcloud.conftest import Driver, Refused

CLOUDS: dict[str, Cloud] = {"aws": "aws", "azure": "azure-native"}


@contextmanager
def empty_cloud(cloud: str) -> Generator[Driver]:
    """A local cloud of its own, in memory."""
    store = Store(":memory:")
    try:
        yield Driver(CLOUDS[cloud], store)
    finally:
        store.close()


class _RefusedCall(grpc.RpcError):
    """A refused function call as the SDK gets it, which gives the program an error that it can catch."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNKNOWN

    def details(self) -> str:
        return self.said


class _OnTheLocalCloud(mocks.Mocks):
    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.refusals: list[str] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        inputs = {name: value for name, value in args.inputs.items() if value is not None}
        if args.typ.startswith("pulumi:providers:"):
            return args.name, self._configured(inputs)
        if args.resource_id:
            return args.resource_id, self._read(args.typ, args.resource_id)
        if not args.custom:
            return None, inputs
        try:
            made = self.driver.up(args.typ, inputs, args.name)
        except Refused as refusal:
            self.refusals.append(f"{args.typ.rpartition(':')[2]} {args.name}: {refusal}")
            raise
        return made.id, made.outputs

    def call(self, args: mocks.MockCallArgs) -> Any:
        given = {name: value for name, value in args.args.items() if value is not None}
        try:
            return self.driver.invoke(args.token, **given)
        except Refused as refusal:
            raise _RefusedCall(str(refusal)) from None

    def _configured(self, inputs: dict[str, Any]) -> dict[str, Any]:
        failures = self.driver.check_config(**inputs)
        if failures:
            self.refusals.append(f"provider: {failures}")
        self.driver.configure(**inputs)
        return inputs

    def _read(self, token: str, id_: str) -> dict[str, Any]:
        answer = self.driver.read(token, id_)
        if not answer.id:
            self.refusals.append(f"{token.rpartition(':')[2]} {id_}: it is not there")
        return dict(answer.properties)


def refusals(plan: Plan, driver: Driver) -> list[str]:
    """What the local cloud refuses of all that the plan's program declares, or of the nodes that it asks for; what the
    program itself raises, too.
    """
    cloud = _OnTheLocalCloud(driver)

    def program() -> None:
        build(plan)

    try:
        run(program, cloud=cloud)
    except Exception as error:
        return cloud.refusals or [f"the program: {type(error).__name__}: {error}"]
    running = sum(len(nodes(record)) for record in driver.store.list())
    if running != plan.nodes.declared:
        cloud.refusals.append(f"{running} of {plan.nodes.declared} nodes run")
    return cloud.refusals
