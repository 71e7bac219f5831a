"""Faults that a person orders: throttling, a server error on the n-th request, a named failure of an operation.

Each is consumed when it fires. They are ordered by `gpu-clusters local cloud set fault`, kept in the store, and shared
by all stacks. What else may befall a cloud (drift, dead nodes, spot interruptions): `events`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal

from localcloud.kinds import Refusal
from localcloud.store import Cloud, Store

Operation = Literal["create", "after-create", "update", "delete"]
OPERATIONS: tuple[Operation, ...] = ("create", "after-create", "update", "delete")
"""after-create: the resource exists, and the request that made it ends in the error all the same."""
TRIES: dict[Cloud, int] = {"aws": 25, "azure-native": 4}
"""How often the provider sends one request while it is throttled: `max_retries` of the AWS provider's documentation;
azcore's default of 3 retries, which azure-native (provider/pkg/azure/client_azcore.go) leaves as it is."""
_PREFIX = "fault/"
_THROTTLED: dict[Cloud, tuple[str, str, int]] = {
    "aws": ("RequestLimitExceeded", "Request limit exceeded.", 503),
    "azure-native": (
        "SubscriptionRequestsThrottled",
        "Number of requests for this subscription exceeded the backend storage limit. "
        "Please try again after '6' seconds.",
        429,
    ),
}
_SERVER_ERROR: dict[Cloud, tuple[str, str, int]] = {
    "aws": ("InternalError", "An internal error has occurred", 500),
    "azure-native": ("InternalServerError", "The server encountered an internal error. Please retry.", 500),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    cloud: Cloud
    type: str
    operation: Operation | Literal["any"] = "any"
    code: str
    message: str
    status: int = 400
    passes: int = 0
    """Requests that still go well before it fires."""
    throttled: int = 0
    """Of throttling: the answers of this kind that are left. The provider tries again by itself, up to a limit."""


def throttling(cloud: Cloud, type_: str, answers: int) -> Fault:
    code, message, status = _THROTTLED[cloud]
    return Fault(cloud=cloud, type=type_, code=code, message=message, status=status, throttled=answers)


def server_error(cloud: Cloud, type_: str, nth: int) -> Fault:
    """Of the n-th request from now, after the provider's own tries."""
    code, message, status = _SERVER_ERROR[cloud]
    return Fault(cloud=cloud, type=type_, code=code, message=message, status=status, passes=nth - 1)


def order(store: Store, fault: Fault) -> None:
    with store.transaction(fault.cloud):
        last = max((int(name.removeprefix(_PREFIX)) for name in store.settings(_PREFIX)), default=0)
        store.set(f"{_PREFIX}{last + 1:06d}", asdict(fault))


def ordered(store: Store) -> list[Fault]:
    """Those that have not fired, in the order in which they were ordered."""
    return [Fault(**value) for value in store.settings(_PREFIX).values()]


def strike(store: Store, cloud: Cloud, type_: str, operation: Operation) -> tuple[Refusal | None, str]:
    """What the request meets, and a warning for what the provider got over by itself. Call it outside transactions."""
    if not store.settings(_PREFIX):
        return None, ""
    with store.transaction(cloud):
        for name, value in store.settings(_PREFIX).items():
            fault = Fault(**value)
            if not _fits(fault, cloud, type_, operation):
                continue
            if fault.passes:
                store.set(name, asdict(replace(fault, passes=fault.passes - 1)))
                continue
            if fault.throttled:
                return _throttle(store, name, fault)
            store.set(name, None)
            return Refusal(fault.code, fault.message, status=fault.status), ""
    return None, ""


def _fits(fault: Fault, cloud: Cloud, type_: str, operation: Operation) -> bool:
    if (fault.cloud, fault.type) != (cloud, type_):
        return False
    # One creation is one request, so that only what is ordered for its end counts there.
    return fault.operation == operation or (fault.operation == "any" and operation != "after-create")


def _throttle(store: Store, name: str, fault: Fault) -> tuple[Refusal | None, str]:
    tries = TRIES[fault.cloud]
    left = fault.throttled - tries
    store.set(name, asdict(replace(fault, throttled=left)) if left > 0 else None)
    if left < 0:
        times = "once" if fault.throttled == 1 else f"{fault.throttled} times"
        return None, f"throttled {times} ({fault.code}); the provider tried again by itself and got through"
    message = f"exceeded maximum number of attempts, {tries}: {fault.message}"
    return Refusal(fault.code, message, status=fault.status), ""
