"""What AWS refuses of tags whatever is tagged: keys that it keeps for itself. Lengths and patterns: `limits`."""

from __future__ import annotations

from localcloud.kinds import Call, Refusal

_REFUSALS = {
    "iam": ("InvalidInput", "aws: prefixed tag key names are not allowed for external use."),
    "s3": ("InvalidTag", "System tags cannot be added/updated by requester"),
}
"""By the service, as public issues quote it; the others are taken to answer as EC2 does."""
_OF_EC2 = ("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")


def judge(call: Call) -> None:
    tags = call.inputs.get("tags")
    for key in tags if isinstance(tags, dict) else ():
        if key.casefold().startswith("aws:"):
            code, text = _REFUSALS.get(call.kind.token.removeprefix("aws:").partition("/")[0], _OF_EC2)
            raise Refusal(code, f"tags.{key}: {text}")
