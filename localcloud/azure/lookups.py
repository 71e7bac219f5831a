"""Functions that read a network: one that was made here as it is, any other as something that was there before.

Of a network in a resource group that is not of this cloud nothing is known: it is answered as a program hopes for, in
the provider's location. Other functions: `invokes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from localcloud.azure.inline_subnets import SUBNET, VIRTUAL_NETWORK
from localcloud.kinds import Refusal
from localcloud.store import Record
from localcloud.values import Properties, visible

if TYPE_CHECKING:
    from localcloud.azure.cloud import Azure

_A_NETWORK = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": [], "virtualNetworkPeerings": []}
_A_SUBNET = {"addressPrefix": "10.0.0.0/17", "delegations": [], "natGateway": {"id": "elsewhere"}}


def _network(cloud: Azure, args: Properties) -> Properties:
    found, id_ = _found(cloud, VIRTUAL_NETWORK, args)
    return _answer(cloud, VIRTUAL_NETWORK, id_, found, {**_A_NETWORK, "location": cloud.location})


def _subnet(cloud: Azure, args: Properties) -> Properties:
    found, id_ = _found(cloud, SUBNET, args)
    return _answer(cloud, SUBNET, id_, found, _A_SUBNET)


def _found(cloud: Azure, token: str, args: Properties) -> tuple[Record | None, str]:
    """None where its group is not of this cloud."""
    kind = cloud.kinds[token]
    id_ = kind.template.format(subscription=cloud.subscription, **args)
    with cloud.store.transaction(cloud.name) as tx:
        record = tx.get("", token, id_)
        if record is not None and not record.lost:
            return record, id_
        if cloud.is_ours(tx, id_):
            what = f"{kind.arm_type}/{id_.rpartition('/')[2]}"
            group = args["resourceGroupName"]
            text = f"The Resource '{what}' under resource group '{group}' was not found."
            raise Refusal("ResourceNotFound", text, status=404)
    return None, id_


def _answer(cloud: Azure, token: str, id_: str, found: Record | None, plausible: Properties) -> Properties:
    if found is not None:
        return {**visible(found.outputs), "id": found.id}
    kind = cloud.kinds[token]
    common: dict[str, Any] = {"name": id_.rpartition("/")[2], "type": kind.arm_type, "provisioningState": "Succeeded"}
    return {**plausible, **common, "id": id_}


FUNCTIONS: dict[str, Callable[..., Properties]] = {
    "azure-native:network:getSubnet": _subnet,
    "azure-native:network:getVirtualNetwork": _network,
}
