"""How a policy is declared: its words as data, its judgement as one generator of faults.

A judgement never raises and never returns: it yields a fault per thing that is wrong. What a preview could
not tell it is raised here, at the end, in the way in which the engine says "can't run ... during preview";
the same policy decides during `up`, before the resource is made. The policies themselves: one module per
area; the list of them: `policies.pack`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

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
from pulumi_policy.proxy import UnknownValueError

from policies.view import View


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

    def fault(self, path: str, found: str, fix: str = "") -> Fault:
        return Fault(self, path, found, fix)

    def made_from(self, prop: str, *types: str) -> list[str]:
        """URNs of the resources of these types whose outputs went into a property."""
        return [r.urn for r in self.sources.get(prop, ()) if plain_type(r.resource_type) in types]


@dataclass(frozen=True)
class Stack:
    resources: dict[str, Resource]
    """By URN."""

    def of(self, *types: str) -> list[Resource]:
        return [r for r in self.resources.values() if r.type in types]


_VERSION_IN_MODULE = re.compile(r"/v\d{8}(preview)?(?=:)")
_VERSION_IN_PACKAGE = re.compile(r"^azure-native_[a-z0-9]+_v\d{8}(preview)?:")


def plain_type(token: str) -> str:
    """A type token without the API version that azure-native writes into its module or its package."""
    return _VERSION_IN_PACKAGE.sub("azure-native:", _VERSION_IN_MODULE.sub("", token))


def resource_policy(
    name: str,
    *types: str,
    description: str,
    why: str,
    fix: str,
    severity: Severity = Severity.HIGH,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    reference: str = "",
) -> Callable[[Callable[[Resource], Iterator[Fault]]], ResourceValidationPolicy]:
    """Declare a policy over single resources of the given types, asked before each of them is made."""

    def declare(judge: Callable[[Resource], Iterator[Fault]]) -> ResourceValidationPolicy:
        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            token = plain_type(args.resource_type)
            if token in types:
                protected = bool(args.opts and args.opts.protect)
                resource = Resource(args.props, type=token, name=args.name, urn=args.urn, protected=protected)
                _report(judge(resource), why, fix, report, resource.unknowns)

        return ResourceValidationPolicy(
            name,
            description,
            validate,
            level,
            severity=severity,
            remediation_steps=fix,
            url=reference or None,
        )

    return declare


def stack_policy(
    name: str,
    *,
    description: str,
    why: str,
    fix: str,
    severity: Severity = Severity.HIGH,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    reference: str = "",
) -> Callable[[Callable[[Stack], Iterator[Fault]]], StackValidationPolicy]:
    """Declare a policy over a whole stack, for what takes several resources to see; by URN, never by id."""

    def declare(judge: Callable[[Stack], Iterator[Fault]]) -> StackValidationPolicy:
        def validate(args: StackValidationArgs, report: ReportViolation) -> None:
            unknowns: list[UnknownValueError] = []
            stack = Stack({r.urn: _in_stack(r, unknowns) for r in args.resources})
            _report(judge(stack), why, fix, report, unknowns)

        return StackValidationPolicy(
            name,
            description,
            validate,
            level,
            severity=severity,
            remediation_steps=fix,
            url=reference or None,
        )

    return declare


def _in_stack(resource: PolicyResource, unknowns: list[UnknownValueError]) -> Resource:
    return Resource(
        resource.props,
        unknowns=unknowns,
        type=plain_type(resource.resource_type),
        name=resource.name,
        urn=resource.urn,
        protected=resource.opts.protect,
        sources=resource.property_dependencies,
    )


def _report(
    faults: Iterator[Fault], why: str, fix: str, report: ReportViolation, unknowns: list[UnknownValueError]
) -> None:
    for fault in faults:
        message = f"{fault.path} of {fault.resource.name} {fault.found}. {why} {fault.fix or fix}"
        report(message, fault.resource.urn)
    if unknowns:
        raise unknowns[0]
