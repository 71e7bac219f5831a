"""What a run tells about nodes while it changes them: what is lost, what was refused, and what to do then.

A hook only tells; the one that fails a run is `whole_or_failed`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pulumi

Inputs = Mapping[str, Any]


def announcing(name: str, tell: Callable[[Inputs, Inputs], str | None]) -> pulumi.ResourceHook:
    """Before an update, and in its preview: `tell` has the old and the new inputs, and says what happens to nodes."""

    def hook(args: pulumi.ResourceHookArgs) -> None:
        if told := tell(args.old_inputs or {}, args.new_inputs or {}):
            pulumi.log.warn(told)

    return pulumi.ResourceHook(name, hook, pulumi.ResourceHookOptions(on_dry_run=True))


def advising(name: str, advise: Callable[[str, bool], str | None]) -> pulumi.ErrorHook:
    """After a refusal: `advise` has the cloud's words, and whether there is something already that was to change; it
    says what to do. Nothing is tried again.
    """

    def hook(args: pulumi.ErrorHookArgs) -> bool:
        if told := advise(args.errors[0] if args.errors else "", args.failed_operation == "update"):
            pulumi.log.error(told)
        return False

    return pulumi.ErrorHook(name, hook)


def whole_or_failed(name: str, wanted: int, count: Callable[[Inputs], int]) -> pulumi.ResourceHook:
    """After the creation: fails the run where there are fewer nodes than wanted. `count` has the outputs."""

    def hook(args: pulumi.ResourceHookArgs) -> None:
        have = count(args.new_outputs or {})
        if have < wanted:
            raise pulumi.RunError(short_of_nodes(args.urn, have, wanted))

    return pulumi.ResourceHook(name, hook)


def changes(old: Inputs, new: Inputs, unseen: Collection[str]) -> list[str]:
    """Names of the inputs that differ, but for those that are unseen by nodes."""
    return sorted(key for key in {**old, **new} if old.get(key) != new.get(key) and key not in unseen)


def short_of_nodes(urn: str, have: int, wanted: int) -> str:
    """With the way on: a plain `up` finds nothing to do where the cloud calls an empty group a success."""
    again = f"`pulumi up --stack {urn.split(':')[2]} --replace '{urn}'`"
    return f"{have or 'none'} of the {wanted} nodes started. Once there is capacity, run {again}"
