"""The row of an AWS resource type."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from localcloud.kinds import Kind
from localcloud.schema import Failure
from localcloud.values import UNKNOWN, Properties

LOCAL_ID = "010ca1"
"""Begins the hex digits of every id that the local cloud makes, so that it knows its own from a real account's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsKind(Kind):
    id_prefix: str = ""
    """Of ids that are random."""
    id_is_uuid: bool = False
    id_form: str = ""
    """Template of an id that holds the name, over the same words as `arn`."""
    id_of: Callable[[Properties], str] | None = None
    """Where the id is made from the inputs; writing it again is then no conflict."""
    arn: str = ""
    """Template over partition, region, account, id, name, host (a name without https://) and path; or none."""
    arn_output: str = "arn"
    named: str = ""
    """The input that is generated where the program gives none; empty where names are not generated."""
    prefixed: str = "namePrefix"
    longest: int = 255
    lower: bool = False
    taken: tuple[str, str] = ("", "")
    """Code and message for a name that exists; no code: names may repeat."""
    not_found: str = "ResourceNotFoundException"
    scope: Literal["region", "account", "world"] = "region"
    tagged: bool = True
    owned: bool = False
    """Whether it has the output ownerId."""
    forgotten: bool = False
    """Whether a deletion only forgets it, while the cloud keeps it."""


def partition_of(region: str) -> str:
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def one_of(inputs: Properties, *names: str) -> Iterator[Failure]:
    """Exactly one of them must be given."""
    given = [name for name in names if inputs.get(name) not in (None, "", [])]
    if len(given) != 1:
        listed = ", ".join(names)
        found = " and ".join(given) if given else "none"
        yield Failure(given[-1] if given else names[0], f"exactly one of {listed} must be given; found {found}")


def at_most_one_of(inputs: Properties, *names: str) -> Iterator[Failure]:
    given = [name for name in names if inputs.get(name) not in (None, "", [])]
    if len(given) > 1:
        yield Failure(given[-1], f"at most one of {', '.join(names)} can be given; found {' and '.join(given)}")


def in_range(inputs: Properties, name: str, least: int, most: int | None = None) -> Iterator[Failure]:
    value = inputs.get(name)
    if isinstance(value, int) and (value < least or (most is not None and value > most)):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        yield Failure(name, f"expected {name} to be {bounds}, got {value}")


def among(inputs: Properties, name: str, allowed: tuple[object, ...]) -> Iterator[Failure]:
    value = inputs.get(name)
    if value is not None and value != UNKNOWN and value not in allowed:
        yield Failure(name, f"expected {name} to be one of {list(allowed)}, got {value!r}")


def json_text(inputs: Properties, name: str) -> Iterator[Failure]:
    value = inputs.get(name)
    if not isinstance(value, str) or UNKNOWN in value:
        return
    try:
        good = isinstance(json.loads(value), dict)
    except ValueError:
        good = False
    if not good:
        yield Failure(name, f"'{name}' contains an invalid JSON policy: a JSON object is needed")
