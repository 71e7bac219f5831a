"""What the installed cloud SDKs say of their inputs, as an index that is derived once per SDK version.

The index is JSON in the user's cache folder. Importing an SDK module costs 0.3 to 0.6 s, so a plugin does it only
where no index is kept yet. Checking values: `schema`.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import keyword
import sys
import threading
import types
import typing
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import Any

from localcloud.cache import kept

PACKAGES = {"aws": "pulumi_aws", "azure-native": "pulumi_azure_native"}
_FORMAT = 3
"""Raised when the shape of the index changes, so that an older one is derived anew."""
_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LOCK = threading.Lock()

Spec = str | list[Any]
"""A scalar's name, or ["list", spec], ["map", spec], ["object", name], ["union", spec, ...]."""


def index_of(cloud: str, module: str) -> dict[str, Any] | None:
    """The index of one SDK module (`ec2`, `network`), or None where the SDK has no such module."""
    with _LOCK:
        return _index(cloud, module)


@cache
def sdk_version(cloud: str) -> str:
    return metadata.version(PACKAGES[cloud])


@cache
def _index(cloud: str, module: str) -> dict[str, Any] | None:
    folder = f"schema/{PACKAGES[cloud]}-{sdk_version(cloud)}-{_FORMAT}"
    return kept(f"{folder}/{module}.json", lambda: _derive(cloud, module))


def _derive(cloud: str, module: str) -> dict[str, Any] | None:
    import pulumi

    name = f"{PACKAGES[cloud]}.{module}_" if keyword.iskeyword(module) else f"{PACKAGES[cloud]}.{module}"
    try:
        sdk = importlib.import_module(name)
    except ModuleNotFoundError:
        return None
    resources: dict[str, Any] = {}
    objects: dict[str, Any] = {}
    with warnings.catch_warnings(action="ignore"):  # of old types, which the program does not use
        _ = sdk._utilities  # the SDKs load a module on its first use, and listing its names is none
    for cls in list(vars(sdk).values()):
        if isinstance(cls, type) and issubclass(cls, pulumi.CustomResource):
            args = _args_of(cls)
            if args is not None:
                resources[cls.__name__] = {"inputs": _add_object(args, objects), "outputs": _outputs_of(cls, cloud)}
    return {"resources": resources, "objects": objects}


def _args_of(cls: type) -> type | None:
    # A resource that shares its name with a nested type (Subnet) has its own arguments in …InitArgs.
    home = vars(sys.modules[cls.__module__])
    return home.get(f"{cls.__name__}InitArgs") or home.get(f"{cls.__name__}Args")


def _outputs_of(cls: type, cloud: str) -> list[str]:
    """Outputs that a preview does not know unless they were said.

    The AWS SDK tells those that the cloud always fills in from those that are there only if they were said; Azure's
    calls nearly all optional.
    """
    from pulumi import _types

    hints = _types._raw_return_hints(cls)
    return sorted(name for name, hint in hints.items() if cloud != "aws" or not _may_be_none(hint))


def _may_be_none(output: Any) -> bool:
    return any(type(None) in typing.get_args(inner) for inner in typing.get_args(output))


def _add_object(cls: type, objects: dict[str, Any]) -> str:
    from pulumi import _types

    name = f"{cls.__module__.split('.')[1]}.{cls.__name__}"
    if name not in objects:
        properties: dict[str, Spec] = {}
        entry: dict[str, Any] = {"properties": properties, "required": []}
        objects[name] = entry  # before its members, which may hold the same type again
        wire_names = _types.input_type_py_to_pulumi_names(cls)
        parameters = inspect.signature(cls.__init__).parameters
        entry["required"] = sorted(
            wire for name_, wire in wire_names.items() if parameters[name_].default is inspect.Parameter.empty
        )
        for wire, hint in _types.input_type_types(cls).items():
            properties[wire] = _spec(hint, objects)
    return name


def _spec(hint: Any, objects: dict[str, Any]) -> Spec:
    from pulumi import Archive, Asset, _types

    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _union([_spec(a, objects) for a in arguments if not _is_wrapper(a)])
    if origin is not None and issubclass(origin, Sequence):
        return ["list", _spec(arguments[0], objects)]
    if origin is not None and issubclass(origin, Mapping):
        return ["map", _spec(arguments[1], objects)]
    if isinstance(hint, type):
        if issubclass(hint, enum.Enum):
            return next((wire for base, wire in _SCALARS.items() if issubclass(hint, base)), "any")
        if issubclass(hint, Asset | Archive):
            return "asset"
        if _types.is_input_type(hint):
            return ["object", _add_object(hint, objects)]
    return "any"


def _is_wrapper(hint: Any) -> bool:
    """Parts of an input's type that say only that it may come later or not at all."""
    from pulumi import Output

    return hint is type(None) or typing.get_origin(hint) in (Awaitable, Output)


def _union(members: list[Spec]) -> Spec:
    different = [member for i, member in enumerate(members) if member not in members[:i]]
    return different[0] if len(different) == 1 else ["union", *different]
