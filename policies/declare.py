"""How a policy is declared: its words as data, its judgement as one generator of faults.

    @resource_policy(
        "aws-imds-v1", kinds.INSTANCE,                  # its name, and the types that it judges
        area="exposure",
        description="...", why="...", fix="...",        # whole sentences; severity, level, reference besides
        mends=True,                                     # it holds faults that can be set right (below)
    )
    def aws_imds_v1(resource: Resource) -> Iterator[Fault]:
        if resource.differs("metadataOptions.httpTokens", "required"):
            mend = {"metadataOptions": {"httpTokens": "required"}}
            yield resource.fault("metadataOptions.httpTokens", "is ...", mend=mend)

`stack_policy` is the same over a whole `Stack`; it is asked where one of its types is in the stack.

A judgement never raises and never returns: it yields a fault per thing that is wrong. What a preview could
not tell it is raised here, at the end, in the way in which the engine says "can't run ... during preview";
the same policy decides during `up`, before the resource is made.

What an organisation may choose is a frozen dataclass of `option`s, handed to the judgement as its second argument:
`@resource_policy(..., options=Sizes)` and `def allowed(resource: Resource, sizes: Sizes)`. Its fields are the
policy's configuration, in camelCase beside `enforcementLevel`: `policies.options`.

A remediation is the `mend` of a fault: the properties to set, nested as the resource nests them. The engine asks for
it only where the configuration gives the policy the level "remediate"; a fault that is left after it is mandatory.

The policies themselves: one module per area or half of it; the list of them: `policies.pack`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pulumi_policy import (
    EnforcementLevel,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError, unknown_checking_proxy

from policies.options import chosen, config_schema, misspelt
from policies.view import View, plain

Area = Literal["linux", "placement", "fabric", "exposure", "data", "identity", "cost"]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with one resource."""

    resource: Resource
    path: str
    """Where: the property, as written on the wire; a trailing part that is missing is named all the same."""
    found: str
    """What was found there, continuing the sentence that the path begins: `is not set`, `is "spread"`."""
    fix: str = ""
    """What to do, where it differs from what the policy always says."""
    mend: Mapping[str, Any] = field(default_factory=dict)
    """Properties that set it right and harm nobody; empty where that takes a person."""


@dataclass(frozen=True)
class Resource(View):
    """A resource as a policy sees it: its properties, and what only a policy over the whole stack is told."""

    type: str = ""
    """Type token without an API version: one name for the resource in every version of a provider."""
    name: str = ""
    urn: str = ""
    protected: bool = False
    sources: Mapping[str, list[PolicyResource]] = field(default_factory=dict)
    """By property, the resources whose outputs went into it: known in a preview, when ids are not."""
    in_stack: bool = False

    def fault(self, path: str, found: str, fix: str = "", mend: Mapping[str, Any] | None = None) -> Fault:
        return Fault(self, path, found, fix, mend or {})

    def made_from(self, prop: str, *types: str) -> list[str]:
        """URNs of the resources of these types whose outputs went into a property."""
        return [r.urn for r in self.sources.get(prop, ()) if plain_type(r.resource_type) in types]

    def _child(self, key: str) -> Iterator[View]:
        """In a stack a policy sees outputs: what is unknown there though nothing went into it, the program has not
        said, and the cloud will fill in."""
        unsaid = self.in_stack and not self.sources.get(key)
        return View(self.value, self.path)._child(key) if unsaid else super()._child(key)


@dataclass(frozen=True)
class Stack:
    resources: dict[str, Resource]
    """By URN."""

    def of(self, *types: str) -> list[Resource]:
        return [r for r in self.resources.values() if r.type in types]


@dataclass(frozen=True)
class Declaration:
    """What a policy says of itself beyond what Pulumi's own object holds. The page of the policies is made from it."""

    area: Area
    types: tuple[str, ...]
    why: str
    options: type[Any] | None
    mends: bool

    @property
    def clouds(self) -> list[str]:
        return sorted({"Azure" if token.startswith("azure") else "AWS" for token in self.types})


DECLARED: dict[str, Declaration] = {}
"""By the name of the policy."""

_VERSION_IN_MODULE = re.compile(r"/v\d{8}(preview)?(?=:)")
_VERSION_IN_PACKAGE = re.compile(r"^azure-native_[a-z0-9]+_v\d{8}(preview)?:")


def plain_type(token: str) -> str:
    """A type token without the API version that azure-native writes into its module or its package."""
    return _VERSION_IN_PACKAGE.sub("azure-native:", _VERSION_IN_MODULE.sub("", token))


def resource_policy(
    name: str,
    *types: str,
    area: Area,
    description: str,
    why: str,
    fix: str,
    severity: Severity = Severity.HIGH,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    reference: str = "",
    options: type[Any] | None = None,
    mends: bool = False,
) -> Callable[[Callable[..., Iterator[Fault]]], ResourceValidationPolicy]:
    """Declare a policy over single resources of the given types, asked before each of them is made."""
    declared = DECLARED[name] = Declaration(area, types, why, options, mends)

    def declare(judge: Callable[..., Iterator[Fault]]) -> ResourceValidationPolicy:
        def judged(resource: Resource, config: Mapping[str, Any]) -> Iterator[Fault]:
            return judge(resource, chosen(options, config)) if options else judge(resource)

        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            if plain_type(args.resource_type) in types:
                resource, config = _alone(args, args.props), args.get_config()
                _report_misspelt(options, config, report, resource.urn)
                _report(judged(resource, config), why, fix, report, resource.unknowns)

        def remediate(args: ResourceValidationArgs) -> Any:
            if plain_type(args.resource_type) not in types:
                return None
            resource = _alone(args, unknown_checking_proxy(plain(args.props)))
            mends = [fault.mend for fault in judged(resource, args.get_config()) if fault.mend]
            for mend in mends:
                _merge(args.props, mend)
            return args.props if mends else None

        return ResourceValidationPolicy(
            name,
            description,
            validate,
            level,
            config_schema(options),
            remediate if mends else None,
            severity=severity,
            tags=[area, *declared.clouds],
            remediation_steps=fix,
            url=reference or None,
        )

    return declare


def stack_policy(
    name: str,
    *types: str,
    area: Area,
    description: str,
    why: str,
    fix: str,
    severity: Severity = Severity.HIGH,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    reference: str = "",
    options: type[Any] | None = None,
) -> Callable[[Callable[..., Iterator[Fault]]], StackValidationPolicy]:
    """Declare a policy over a whole stack that holds one of these types, for what takes several resources to see; by
    URN, never by id."""
    declared = DECLARED[name] = Declaration(area, types, why, options, mends=False)

    def declare(judge: Callable[..., Iterator[Fault]]) -> StackValidationPolicy:
        def validate(args: StackValidationArgs, report: ReportViolation) -> None:
            unknowns: list[UnknownValueError] = []
            stack = Stack({r.urn: _in_stack(r, unknowns) for r in args.resources})
            if stack.of(*types):
                config = args.get_config()
                _report_misspelt(options, config, report, "")
                faults = judge(stack, chosen(options, config)) if options else judge(stack)
                _report(faults, why, fix, report, unknowns)

        return StackValidationPolicy(
            name,
            description,
            validate,
            level,
            config_schema(options),
            severity=severity,
            tags=[area, *declared.clouds],
            remediation_steps=fix,
            url=reference or None,
        )

    return declare


def _alone(args: ResourceValidationArgs, props: Mapping[str, Any]) -> Resource:
    protected = bool(args.opts and args.opts.protect)
    return Resource(props, type=plain_type(args.resource_type), name=args.name, urn=args.urn, protected=protected)


def _in_stack(resource: PolicyResource, unknowns: list[UnknownValueError]) -> Resource:
    return Resource(
        resource.props,
        unknowns=unknowns,
        type=plain_type(resource.resource_type),
        name=resource.name,
        urn=resource.urn,
        protected=resource.opts.protect,
        sources=resource.property_dependencies,
        in_stack=True,
    )


def _report(
    faults: Iterator[Fault], why: str, fix: str, report: ReportViolation, unknowns: list[UnknownValueError]
) -> None:
    for fault in faults:
        message = f"{fault.path} of {fault.resource.name} {fault.found}. {why} {fault.fix or fix}"
        report(message, fault.resource.urn)
    if unknowns:
        raise unknowns[0]


def _report_misspelt(options: type[Any] | None, config: Mapping[str, Any], report: ReportViolation, urn: str) -> None:
    """The engine checks the values of the options that it knows, and passes over a name that it does not."""
    if names := misspelt(options, config):
        report(names, urn)


def _merge(holder: Any, changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if not isinstance(value, Mapping):
            holder[key] = value
            continue
        if not isinstance(holder.get(key), Mapping):
            holder[key] = {}
        _merge(holder[key], value)
