"""Public addresses and NAT gateways.

Where no public report shows Azure's code for a rule, it is BadRequest, and the words are ours.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from localcloud.azure.kind import AzureKind
from localcloud.azure.network_kind import API, NAME, created
from localcloud.azure.refusals import bad_zones, is_word, raise_first, same_region, same_zones, stay
from localcloud.kinds import Call, Ref, Refusal
from localcloud.store import Record
from localcloud.values import Properties, at, first

PUBLIC_ADDRESS = "azure-native:network:PublicIPAddress"
NAT_GATEWAY = "azure-native:network:NatGateway"
_ADDRESSES = "publicIpAddresses[].id"


def _judge_address(call: Call) -> None:
    raise_first(bad_zones(call))
    raise_first(same_zones(call))
    if is_word(call.inputs, "sku.name", "Basic") or first(call.inputs, "sku.name") is None:
        text = "Cannot create more than 0 IPv4 Basic SKU public IP addresses for this subscription in this region."
        raise Refusal("IPv4BasicSkuPublicIpCountLimitReached", text, target="sku.name")
    if not is_word(call.inputs, "publicIPAllocationMethod", "Static"):
        text = f"Standard sku publicIp {call.id} must have AllocationMethod set to Static."
        code = "StandardAndStandardV2SkuPublicIPAddressesMustBeStatic"
        raise Refusal(code, text, target="publicIPAllocationMethod")


def _create_address(call: Call) -> Properties:
    return {"ipAddress": f"203.0.113.{1 + secrets.randbelow(254)}", **created(call)}  # a block kept for documentation


def _judge_nat(call: Call) -> None:
    stay(call)
    sku = str(first(call.inputs, "sku.name", ""))
    if sku not in ("Standard", "StandardV2"):
        text = f"A NAT gateway needs the sku Standard or StandardV2; found '{sku}'."
        raise Refusal("BadRequest", text, target="sku.name")
    raise_first(bad_zones(call, most=1 if sku == "Standard" else 3))
    raise_first(same_zones(call))
    same_region(call, _ADDRESSES)
    for place, id_ in at(call.inputs, _ADDRESSES):
        for user in address_users(call, id_):
            text = (
                f"Resource {call.id} is referencing public IP address {id_} that is already allocated to resource "
                f"{user.id}."
            )
            raise Refusal("PublicIPAddressInUse", text, target=place)
        _judge_zone_of_address(call, place, id_, sku)


def address_users(call: Call, id_: str) -> Iterator[Record]:
    """What else has a public address."""
    for kind in call.cloud.kinds.values():
        for ref in kind.refs:
            for other in call.tx.of_type(kind.token) if ref.target == PUBLIC_ADDRESS else ():
                held = {str(value).casefold() for _, value in at(other.inputs, ref.path)}
                if id_.casefold() in held and other.key != call.id.casefold() and not other.lost:
                    yield other


def _judge_zone_of_address(call: Call, place: str, id_: str, sku: str) -> None:
    """A gateway of one zone takes addresses of that zone, of all zones, or of none."""
    address = call.find(PUBLIC_ADDRESS, id_)
    theirs = (address.inputs.get("zones") or []) if address else []
    mine = call.inputs.get("zones") or []
    if sku == "Standard" and mine and theirs and not set(mine) <= set(theirs):
        text = f"The NAT gateway is in zone {mine[0]} and the public IP address {id_} in zone {', '.join(theirs)}."
        raise Refusal("BadRequest", text, target=place)


KINDS = (
    AzureKind(
        token=PUBLIC_ADDRESS,
        path="Microsoft.Network/publicIPAddresses/{publicIpAddressName}",
        api=API,
        pattern=NAME,
        immutable=("location", "publicIPAddressVersion", "publicIPPrefix", "sku"),
        judge=_judge_address,
        create=_create_address,
        in_use=(
            "PublicIPAddressCannotBeDeleted",
            "Public IP address {id} can not be deleted since it is still allocated to resource {other}.",
        ),
    ),
    AzureKind(
        token=NAT_GATEWAY,
        path="Microsoft.Network/natGateways/{natGatewayName}",
        api=API,
        pattern=NAME,
        refs=(Ref(path=_ADDRESSES, target=PUBLIC_ADDRESS),),
        judge=_judge_nat,
        create=created,
        in_use=("InUseNatGatewayCannotBeDeleted", "NAT gateway {id} is in use by {other} and cannot be deleted."),
    ),
)
