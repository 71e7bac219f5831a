"""Every input that the components declare has a name and a type of the cloud SDK's own, at every depth.

Mocks take anything: a misspelt key or a boolean where the API wants a word would only show in a real deployment.
"""

from __future__ import annotations

import collections.abc
import enum
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import pulumi
import pytest
from pulumi import _types

from tests.clusters import CLUSTERS

SDKS = {"aws": "pulumi_aws", "azure-native": "pulumi_azure_native"}


@cache
def args_class(token: str) -> type:
    package, module, name = token.split(":")
    sdk = import_module(f"{SDKS[package]}.{module.split('/')[0]}")
    # The SDKs write InitArgs where a nested type has the plain name.
    return getattr(sdk, f"{name}InitArgs", None) or getattr(sdk, f"{name}Args")


def faults(value: Any, wanted: Any, path: str) -> Iterator[str]:
    """What is wrong with a wire value, judged by the SDK's declared type."""
    if _types.is_input_type(wanted):
        yield from _object_faults(value, wanted, path)
    elif get_origin(wanted) in (Union, UnionType):
        choices = [c for c in get_args(wanted) if c is not NoneType and not _later(c)]
        strict = [c for c in choices if isinstance(c, type) and issubclass(c, enum.Enum)] or choices
        if len(strict) == 1:
            yield from faults(value, strict[0], path)
        elif all(list(faults(value, choice, path)) for choice in strict):
            yield f"{path} is {value!r}, not one of {strict}"
    elif get_origin(wanted) is collections.abc.Sequence:
        if not isinstance(value, list):
            yield f"{path} is no list"
        else:
            for index, element in enumerate(value):
                yield from faults(element, get_args(wanted)[0], f"{path}[{index}]")
    elif get_origin(wanted) is collections.abc.Mapping:
        if not isinstance(value, dict):
            yield f"{path} is no mapping"
        else:
            for key, element in value.items():
                yield from faults(element, get_args(wanted)[1], f"{path}.{key}")
    elif wanted is not Any and not _fits(value, wanted):
        yield f"{path} is {value!r}, not {wanted.__name__}"


def _object_faults(value: Any, wanted: type, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} is no mapping"
        return
    types, wire = _types.input_type_types(wanted), _types.input_type_py_to_pulumi_names(wanted)
    for key, inner in value.items():
        if key not in types:
            yield f"{path}.{key} is unknown to {wanted.__name__}"
        else:
            yield from faults(inner, types[key], f"{path}.{key}")
    for name, parameter in inspect.signature(wanted.__init__).parameters.items():
        if parameter.default is inspect.Parameter.empty and name in wire and wire[name] not in value:
            yield f"{path}.{wire[name]} is missing"


def _later(choice: Any) -> bool:
    return get_origin(choice) in (collections.abc.Awaitable, pulumi.Output)


def _fits(value: Any, wanted: type) -> bool:
    if issubclass(wanted, enum.Enum):
        return value in [member.value for member in wanted]
    if wanted is int:
        return isinstance(value, float | int) and not isinstance(value, bool) and value == int(value)
    if wanted is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    return isinstance(value, wanted)


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_input_has_a_name_and_a_type_of_the_sdk(name: str, cluster: Callable[[str], Any]) -> None:
    assert [
        fault
        for resource in cluster(name).run.resources
        for fault in faults(dict(resource.inputs), args_class(resource.type), resource.name)
    ] == []


@pytest.mark.parametrize(
    ("token", "inputs", "says"),
    [
        ("aws:ec2/vpc:Vpc", {"cidrBlok": "10.0.0.0/16"}, "cidrBlok is unknown"),
        ("aws:ec2/vpc:Vpc", {"enableDnsSupport": "yes"}, "not bool"),
        ("aws:ec2/route:Route", {}, "routeTableId is missing"),
        (
            "aws:ec2/launchTemplate:LaunchTemplate",
            {"networkInterfaces": [{"associatePublicIpAddress": False}]},
            "networkInterfaces[0].associatePublicIpAddress is False",
        ),
        ("azure-native:network:PublicIPAddress", {"resourceGroupName": "g", "sku": {"name": "Standart"}}, "Standart"),
        ("azure-native:network:Subnet", {"resourceGroupName": "g", "virtualNetworkName": 1.0}, "not str"),
    ],
)
def test_a_wrong_name_or_type_is_found(token: str, inputs: dict[str, Any], says: str) -> None:
    assert any(says in fault for fault in faults(inputs, args_class(token), "resource"))
