"""Functions that programs call on Azure: who one is, and what was made here of groups. Networks: `lookups`.

Nothing is known of the groups of a real subscription: what is not in the store is not found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from localcloud.azure import lookups
from localcloud.azure.allocation import SCALE_SET
from localcloud.azure.identity import RESOURCE_GROUP, TENANT
from localcloud.kinds import Refusal
from localcloud.values import Properties, visible

if TYPE_CHECKING:
    from localcloud.azure.cloud import Azure

_CLIENT = "22222222-2222-2222-2222-222222222222"
_OBJECT = "33333333-3333-3333-3333-333333333333"


def _client_config(cloud: Azure, _: Properties) -> Properties:
    return {"clientId": _CLIENT, "objectId": _OBJECT, "subscriptionId": cloud.subscription, "tenantId": TENANT}


def _group(cloud: Azure, args: Properties) -> Properties:
    group = args["resourceGroupName"]
    id_ = cloud.kinds[RESOURCE_GROUP].template.format(subscription=cloud.subscription, resourceGroupName=group)
    with cloud.store.transaction(cloud.name) as tx:
        record = tx.get("", RESOURCE_GROUP, id_)
    if record is None or record.lost:
        raise Refusal("ResourceGroupNotFound", f"Resource group '{group}' could not be found.", status=404)
    return {**visible(record.outputs), "id": record.id}


def _scale_set(cloud: Azure, args: Properties) -> Properties:
    id_ = cloud.kinds[SCALE_SET].template.format(subscription=cloud.subscription, **args)
    with cloud.store.transaction(cloud.name) as tx:
        record = tx.get("", SCALE_SET, id_)
    if record is None or record.lost:
        text = f"The Resource '{id_.partition('/providers/')[2]}' was not found."
        raise Refusal("ResourceNotFound", text, status=404)
    return {**visible(record.outputs), "id": record.id}


FUNCTIONS: dict[str, Callable[..., Properties]] = {
    "azure-native:authorization:getClientConfig": _client_config,
    "azure-native:compute:getVirtualMachineScaleSet": _scale_set,
    "azure-native:resources:getResourceGroup": _group,
    **lookups.FUNCTIONS,
}
