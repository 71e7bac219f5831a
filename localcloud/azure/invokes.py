"""Functions that programs call on Azure: who one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from localcloud.azure.identity import TENANT
from localcloud.values import Properties

if TYPE_CHECKING:
    from localcloud.azure.cloud import Azure

_CLIENT = "22222222-2222-2222-2222-222222222222"
_OBJECT = "33333333-3333-3333-3333-333333333333"


def _client_config(cloud: Azure, _: Properties) -> Properties:
    return {"clientId": _CLIENT, "objectId": _OBJECT, "subscriptionId": cloud.subscription, "tenantId": TENANT}


FUNCTIONS: dict[str, Callable[..., Properties]] = {
    "azure-native:authorization:getClientConfig": _client_config,
}
