"""What is refused because of the limits in the services' own models: words, ranges, lengths and patterns.

terraform-provider-aws, which pulumi_aws is made of, judges words and numbers at preview, mostly by the same models
(assumed: for all of them). The rest the service refuses, in the words that the generated services share. Where each
input goes: `requests`.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.aws import requests
from localcloud.kinds import Call, Refusal
from localcloud.models import Breach, breach
from localcloud.schema import Failure
from localcloud.values import Properties


def failures(token: str, inputs: Properties) -> Iterator[Failure]:
    for found in _breaches(token, inputs):
        if found.what == "word":
            yield Failure(found.path, f"expected {found.path} to be one of {found.words}, got {found.value!r}")
        elif found.what == "range":
            yield Failure(found.path, f"expected {found.path} to be {found.bounds}, got {found.value}")


def judge(call: Call) -> None:
    for found in _breaches(call.kind.token, call.inputs):
        if found.what == "length":
            wanted = f"have length {found.bounds}; it has {len(found.value)}"
        elif found.what == "pattern":
            wanted = f"satisfy regular expression pattern: {found.limits['pattern']}"
        else:
            continue
        raise Refusal(
            requests.rows()[call.kind.token].code,
            f"1 validation error detected: Value '{found.value}' at '{found.path}' failed to satisfy constraint: "
            f"Member must {wanted}",
        )


def _breaches(token: str, inputs: Properties) -> Iterator[Breach]:
    if token not in requests.rows() or not requests.is_known():
        return
    also = requests.rows()[token].also
    for member in requests.members(token, inputs):
        if member.value not in also.get(member.path, ()) and (found := breach(member.path, member.value, member.model)):
            yield found
