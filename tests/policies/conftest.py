"""How these tests run the pack: through the servicer that serves it to the engine, without an engine.

A resource is what a program declares: wire properties, the sources of each property, protection. `analyze` also takes
the raw registration requests that the recording monitor of the component tests keeps. The happy clusters are YAML files
in `happy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi.runtime.proto.resource_pb2 import RegisterResourceRequest
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.pack import NAME, POLICIES

HAPPY = Path(__file__).parent / "happy"


@dataclass
class Resource:
    type: str
    name: str
    props: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    """By property, the URNs (or, within one stack, the names) of the resources whose outputs went into it."""
    protect: bool = False
    parent: str = ""

    @property
    def urn(self) -> str:
        return f"urn:pulumi:test::gpu-clusters::{self.type}::{self.name}"


@dataclass(frozen=True)
class Verdict:
    policy: str
    level: str
    message: str
    urn: str


Declared = list[Resource] | dict[str, RegisterResourceRequest]


Config = Mapping[str, Any]
"""What stands in a file of --policy-pack-config."""


def served(config: Config, policies: Sequence[Policy] = POLICIES) -> _PolicyAnalyzerServicer:
    """The pack, configured as the engine configures it: levels and defaults of the policies, then what is given."""
    servicer = _PolicyAnalyzerServicer(NAME, "0.0.1", list(policies), EnforcementLevel.MANDATORY)
    request = proto.ConfigureAnalyzerRequest()
    for policy in policies:
        given = config.get(policy.name, {})
        given = {"enforcementLevel": given} if isinstance(given, str) else dict(given)
        declared = policy.enforcement_level or EnforcementLevel.MANDATORY
        level = given.pop("enforcementLevel", None) or config.get("all") or declared.value
        options = policy.config_schema.properties if policy.config_schema else {}
        request.policyConfig[policy.name].enforcementLevel = proto.EnforcementLevel.Value(level.upper())
        request.policyConfig[policy.name].properties.update(
            {name: schema["default"] for name, schema in options.items()} | given
        )
    servicer.Configure(request, None)
    return servicer


def run_pack(
    declared: Declared, config: Config = MappingProxyType({}), policies: Sequence[Policy] = POLICIES
) -> list[Verdict]:
    """What the engine would be told about these resources, each and all together."""
    servicer = served(config, policies)
    resources = [_asked(urn, request) for urn, request in _requests(declared).items()]
    answers = [
        servicer.Analyze(
            proto.AnalyzeRequest(urn=r.urn, type=r.type, name=r.name, properties=r.properties, options=r.options),
            None,
        )
        for r in resources
    ]
    answers.append(servicer.AnalyzeStack(proto.AnalyzeStackRequest(resources=resources), None))
    return [
        Verdict(d.policyName, proto.EnforcementLevel.Name(d.enforcementLevel).lower(), d.message, d.urn)
        for answer in answers
        for d in answer.diagnostics
    ]


def _requests(declared: Declared) -> dict[str, RegisterResourceRequest]:
    if isinstance(declared, dict):
        return declared
    urns = {r.name: r.urn for r in declared}
    return {r.urn: _request(r, urns) for r in declared}


def _request(resource: Resource, urns: Mapping[str, str]) -> RegisterResourceRequest:
    request = RegisterResourceRequest(
        type=resource.type, name=resource.name, protect=resource.protect, parent=resource.parent
    )
    request.object.update(_not_known_yet(resource.props))
    for prop, names in resource.sources.items():
        request.propertyDependencies[prop].urns.extend(urns.get(n, n) for n in names)
    return request


def _asked(urn: str, request: RegisterResourceRequest) -> proto.AnalyzerResource:
    return proto.AnalyzerResource(
        urn=urn,
        type=request.type,
        name=request.name,
        properties=request.object,
        options=proto.AnalyzerResourceOptions(protect=request.protect, parent=request.parent),
        parent=request.parent,
        dependencies=list(request.dependencies),
        propertyDependencies={
            prop: proto.AnalyzerPropertyDependencies(urns=list(sources.urns))
            for prop, sources in request.propertyDependencies.items()
        },
    )


def _not_known_yet(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _not_known_yet(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_not_known_yet(v) for v in value]
    return UNKNOWN_STRING_VALUE if value == "<unknown>" else value


@dataclass
class Cluster:
    """A stack of resources that a test breaks in one place."""

    resources: dict[str, Resource]

    def set(self, name: str, path: str, value: Any) -> None:
        """Put a value at a dotted path (numbers index lists); None takes it away."""
        *above, leaf = path.split(".")
        holder: Any = self.resources[name].props
        for step in above:
            holder = holder[int(step)] if step.isdigit() else holder.setdefault(step, {})
        if value is None:
            del holder[leaf]
        else:
            holder[leaf] = value

    def drop(self, name: str) -> None:
        del self.resources[name]

    def add(self, resource: Resource) -> None:
        self.resources[resource.name] = resource

    def verdicts(self, config: Config = MappingProxyType({})) -> list[Verdict]:
        return run_pack(list(self.resources.values()), config)

    def refused_by(self, config: Config = MappingProxyType({})) -> dict[str, list[str]]:
        """By policy, the messages of what it refuses."""
        return _by_policy(self.verdicts(config))


def _by_policy(verdicts: Iterable[Verdict]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.policy, []).append(verdict.message)
    return found


def _cluster(file: str) -> Cluster:
    resources = [Resource(**entry) for entry in yaml.safe_load((HAPPY / file).read_text())]
    return Cluster({r.name: r for r in resources})


@pytest.fixture
def aws_cluster() -> Cluster:
    return _cluster("aws.yaml")


@pytest.fixture
def azure_cluster() -> Cluster:
    return _cluster("azure.yaml")


@pytest.fixture
def judge() -> Callable[..., dict[str, list[str]]]:
    """Judge a stack of a few resources, each given as the keywords of `Resource`: messages by policy."""

    def judge(
        *declared: dict[str, Any], config: Config = MappingProxyType({}), policies: Sequence[Policy] = POLICIES
    ) -> dict[str, list[str]]:
        return _by_policy(run_pack(_named(declared), config, policies))

    return judge


@pytest.fixture
def mended() -> Callable[..., dict[str, Any]]:
    """The properties of a resource after the remediations of a configuration; empty where there was none to make."""

    def mended(declared: dict[str, Any], config: Config) -> dict[str, Any]:
        (resource,) = _named([declared])
        ((urn, request),) = _requests([resource]).items()
        asked = proto.AnalyzeRequest(urn=urn, type=request.type, name=request.name, properties=request.object)
        made = served(config).Remediate(asked, None).remediations
        return json_format.MessageToDict(made[-1].properties) if made else {}

    return mended


def _named(declared: Iterable[dict[str, Any]]) -> list[Resource]:
    return [Resource(**entry | {"name": entry.get("name", f"r{n}")}) for n, entry in enumerate(declared)]


@pytest.fixture
def analyze() -> Callable[..., list[Verdict]]:
    """The whole pack on resources, or on {urn: RegisterResourceRequest} as recorded from a program."""
    return run_pack
