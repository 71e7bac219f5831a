"""What the VMs of a scale set may be: names and keys, image, disk, security and interfaces.

The set as a whole: `scale_set_shape`. Where public reports quote no text of Azure for a rule, the code is the general
one of the service and the words are ours.
Sources: the compute SDK's own descriptions, Azure documents on VM error codes, ephemeral OS disks, trusted launch and
SSH keys; magic_castle#201 (plan), cluster-api-provider-azure#2579 (ephemeral spot).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from localcloud.azure.refusals import invalid, is_word, missing, not_among
from localcloud.azure.scale_set_shape import is_flexible, is_spot
from localcloud.azure.sizes import Offer, Size, offer_of, os_words
from localcloud.kinds import Refusal
from localcloud.values import Properties, at, first

_PROFILE = "virtualMachineProfile"
_OS = f"{_PROFILE}.osProfile"
_LINUX = f"{_OS}.linuxConfiguration"
_DISK = f"{_PROFILE}.storageProfile.osDisk"
_IMAGE = f"{_PROFILE}.storageProfile.imageReference"
_SECURITY = f"{_PROFILE}.securityProfile"
_LONGEST_CUSTOM_DATA = 87380
"""Base64 characters: 65535 bytes."""
_LONGEST_PREFIX = 15
_MOST_DISK_GIB = 4095
"""Of an OS disk."""
_OS_DISK_TYPES = ("Standard_LRS", "StandardSSD_LRS", "StandardSSD_ZRS", "Premium_LRS", "Premium_ZRS")


def model_refusals(inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    if inputs.get(_PROFILE) is None:  # a flexible set may be empty; `scale_set_shape` says so of a uniform one
        return
    yield from _names(inputs)
    yield from _access(inputs)
    yield from _image(inputs, size)
    yield from _disk(inputs)
    yield from _ephemeral(inputs, size)
    yield from _security(inputs, size)
    yield from _license(inputs)
    yield from _interfaces(inputs, size)


def _names(inputs: Properties) -> Iterator[Refusal]:
    if first(inputs, _OS) is None:
        return
    user = first(inputs, f"{_OS}.adminUsername")
    if user is None:
        yield missing(f"{_OS}.adminUsername")
    elif user.casefold() in os_words("refused_admins") or not 1 <= len(user) <= 64:
        yield invalid(f"{_OS}.adminUsername", "The Admin Username specified is not allowed.")
    prefix = first(inputs, f"{_OS}.computerNamePrefix")
    if prefix is not None and not re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9-]{{0,{_LONGEST_PREFIX - 1}}}", prefix):
        text = (
            f"Linux host name prefix '{prefix}' cannot exceed {_LONGEST_PREFIX} characters in length, or contain "
            "anything else than letters, digits and hyphens."
        )
        yield invalid(f"{_OS}.computerNamePrefix", text)
    yield from _encoded(inputs, f"{_OS}.customData", "Custom data in OSProfile")


def _encoded(inputs: Properties, path: str, what: str) -> Iterator[Refusal]:
    data = first(inputs, path)
    if data is None:
        return
    try:
        base64.b64decode(data, validate=True)
        fits = len(data) <= _LONGEST_CUSTOM_DATA
    except (binascii.Error, ValueError):
        fits = False
    if not fits:
        text = f"{what} must be in Base64 encoding and with a maximum length of {_LONGEST_CUSTOM_DATA} characters."
        yield invalid(path, f"{text} (it has {len(data)})")


def _access(inputs: Properties) -> Iterator[Refusal]:
    if first(inputs, _OS) is None or first(inputs, f"{_OS}.windowsConfiguration") is not None:
        return
    keys = list(at(inputs, f"{_LINUX}.ssh.publicKeys[]"))
    if first(inputs, f"{_LINUX}.disablePasswordAuthentication"):
        if not keys:
            text = "Authentication using either SSH or by user name and password must be enabled in Linux profile."
            yield invalid(_LINUX, text)
    elif first(inputs, f"{_OS}.adminPassword") is None:
        yield missing(f"{_OS}.adminPassword")
    default = f"/home/{first(inputs, f'{_OS}.adminUsername')}/.ssh/authorized_keys"
    for place, key in keys:
        if key.get("path") != default:
            text = (
                "Destination path for SSH public keys is currently limited to its default value "
                f"{default} due to a known issue in Linux provisioning agent."
            )
            yield invalid(f"{place}.path", text)
        if not _is_key(str(key.get("keyData", ""))):
            text = "is invalid: an RSA key of at least 2048 bits or an Ed25519 key is needed."
            yield invalid(f"{place}.keyData", f"The value of parameter {place}.keyData {text}")


def _is_key(text: str) -> bool:
    kind, _, rest = text.strip().partition(" ")
    try:
        blob = base64.b64decode(rest.partition(" ")[0], validate=True)
    except (binascii.Error, ValueError):
        return False
    if kind.encode() != blob[4 : 4 + len(kind)]:
        return False
    return (kind == "ssh-ed25519" and len(blob) == 51) or (kind == "ssh-rsa" and len(blob) >= 270)


def _image(inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    image = first(inputs, _IMAGE)
    if image is None:
        yield missing(_IMAGE)
        return
    if any(image.get(name) for name in ("id", "communityGalleryImageId", "sharedGalleryImageId")):
        return
    for name in ("publisher", "offer", "sku", "version"):
        if not image.get(name):
            yield missing(f"{_IMAGE}.{name}")
    version = str(image["version"])
    if version != "latest" and not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield invalid(f"{_IMAGE}.version", "The value of parameter imageReference.version is invalid.")
    known = offer_of(image["publisher"], image["offer"]) or Offer()
    if known.skus and image["sku"] not in known.skus:
        name = ":".join(str(image[part]) for part in ("publisher", "offer", "sku", "version"))
        text = (
            f"The platform image '{name}' is not available. Verify that all fields in the storage profile are correct."
        )
        yield Refusal("PlatformImageNotFound", text, status=404, target=_IMAGE)
    yield from _plan(inputs, image, known)
    yield from _fit(inputs, image, known, size)


def _plan(inputs: Properties, image: Properties, known: Offer) -> Iterator[Refusal]:
    plan = inputs.get("plan")
    if plan is None and known.plan:
        text = "Creating a virtual machine from Marketplace image requires Plan information in the request."
        yield Refusal("VMMarketplaceInvalidInput", text, target="plan")
    if plan is not None:
        wanted = (image["publisher"], image["offer"], image["sku"])
        if tuple(plan.get(name) for name in ("publisher", "product", "name")) != wanted:
            text = "The purchase information does not match. Unable to deploy from the Marketplace image."
            yield Refusal("VMMarketplaceInvalidInput", text, target="plan")


def _fit(inputs: Properties, image: Properties, known: Offer, size: Size | None) -> Iterator[Refusal]:
    disk = first(inputs, f"{_DISK}.diskSizeGB")
    if disk is not None and disk < known.disk_gib:
        text = (
            f"Disk with size {disk}GB, which is smaller than the size {known.disk_gib}GB of corresponding disk in "
            "Image, is not allowed."
        )
        yield Refusal("OperationNotAllowed", text, status=409, target=f"{_DISK}.diskSizeGB")
    arch = "Arm64" if image["sku"] in known.arm64 else "x64"
    if size is not None and known.skus and arch != size.arch:
        text = (
            f"Cannot create a VM of size '{size.name}' because this VM size only supports a CPU Architecture of "
            f"'{size.arch}', but an image or disk with CPU Architecture '{arch}' was given. Please check that the CPU "
            "Architecture of the image or disk is compatible with that of the VM size."
        )
        yield Refusal("BadRequest", text, target=_IMAGE)


def _disk(inputs: Properties) -> Iterator[Refusal]:
    disk = first(inputs, _DISK)
    if disk is None:
        return
    yield from not_among(inputs, f"{_DISK}.createOption", "FromImage")
    yield from not_among(inputs, f"{_DISK}.managedDisk.storageAccountType", *_OS_DISK_TYPES)
    gib = disk.get("diskSizeGB")
    if gib is not None and not 1 <= gib <= _MOST_DISK_GIB:
        text = f"The value {gib} of parameter 'osDisk.diskSizeGB' is out of range: 1 to {_MOST_DISK_GIB}."
        yield invalid(f"{_DISK}.diskSizeGB", text)


def _ephemeral(inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    path = f"{_DISK}.diffDiskSettings"
    if first(inputs, path) is None:
        return
    if not is_word(inputs, f"{_DISK}.caching", "ReadOnly"):
        yield invalid(f"{_DISK}.caching", "Ephemeral OS disks support ReadOnly caching only.")
    if is_spot(inputs) and not is_word(inputs, f"{_PROFILE}.evictionPolicy", "Delete"):
        text = "Ephemeral OS disks cannot be deallocated: set evictionPolicy to Delete (Deallocate where none is set)."
        yield Refusal("OperationNotAllowed", text, status=409, target=f"{_PROFILE}.evictionPolicy")
    if size is None:
        return
    placement = first(inputs, f"{path}.placement")
    if size.ephemeral is not None and (not size.ephemeral or placement not in (None, *size.ephemeral)):
        can = ", ".join(size.ephemeral) or "none"
        text = f"OS disk of Ephemeral VM is not allowed on {placement} for VM size {size.name}. It supports: {can}."
        yield Refusal("NotSupported", text, target=f"{path}.placement")
    yield from _on_temporary_disk(inputs, placement, size)


def _on_temporary_disk(inputs: Properties, placement: object, size: Size) -> Iterator[Refusal]:
    disk = first(inputs, f"{_DISK}.diskSizeGB")
    if placement != "ResourceDisk" or disk is None or size.temp_gib is None:
        return
    most = size.temp_gib - is_word(inputs, f"{_SECURITY}.securityType", "TrustedLaunch")  # it keeps 1 GiB
    if disk > most:
        text = (
            f"OS disk of Ephemeral VM with size greater than {most} GB is not allowed for VM size {size.name} when the "
            "DiffDiskPlacement is ResourceDisk."
        )
        yield Refusal("NotSupported", text, target=f"{_DISK}.diskSizeGB")


def _security(inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    path = f"{_SECURITY}.securityType"
    yield from not_among(inputs, path, "TrustedLaunch", "ConfidentialVM")
    kind = first(inputs, path)
    if kind is None:
        if first(inputs, f"{_SECURITY}.uefiSettings") is not None:
            text = "UEFI settings need a security type: set securityType to TrustedLaunch."
            yield Refusal("BadRequest", text, target=f"{_SECURITY}.uefiSettings")
        return
    if size is not None and (kind == "ConfidentialVM" or not size.trusted_launch):
        text = (
            f"The VM size '{size.name}' is not supported for creation of VMs and Virtual Machine Scale Set with "
            f"'{kind}' security type."
        )
        yield invalid(path, text)


def _license(inputs: Properties) -> Iterator[Refusal]:
    yield from not_among(inputs, f"{_PROFILE}.licenseType", *os_words("licenses"))
    license_ = str(first(inputs, f"{_PROFILE}.licenseType", ""))
    if license_.startswith("Windows_") and first(inputs, _LINUX) is not None:
        text = f"The license type is {license_}, but the image is not of Windows."
        yield Refusal("NotSupported", text, target=f"{_PROFILE}.licenseType")


def _interfaces(inputs: Properties, size: Size | None) -> Iterator[Refusal]:
    path = f"{_PROFILE}.networkProfile.networkInterfaceConfigurations"
    cards = [card for _, card in at(inputs, f"{path}[]")]
    if not cards:
        yield missing(path)
        return
    if is_flexible(inputs) and first(inputs, f"{_PROFILE}.networkProfile.networkApiVersion") is None:
        yield missing(f"{_PROFILE}.networkProfile.networkApiVersion")
    if len(cards) > 1 and sum(bool(card.get("primary")) for card in cards) != 1:
        text = f"Virtual machine {inputs['vmScaleSetName']} must have one network interface set as the primary."
        yield Refusal("VirtualMachineMustHaveOneNetworkInterfaceAsPrimary", text, target=path)
    if size is not None and size.nics is not None and len(cards) > size.nics:
        text = (
            f"The number of network interfaces for virtual machine {inputs['vmScaleSetName']} exceeds the maximum "
            f"allowed for the virtual machine size {size.name}. The number of network interfaces is {len(cards)} and "
            f"the maximum allowed is {size.nics}."
        )
        yield Refusal("NetworkInterfaceCountExceeded", text, target=path)
    for i, card in enumerate(cards):
        yield from _card(card, f"{path}[{i}]", size)


def _card(card: Properties, place: str, size: Size | None) -> Iterator[Refusal]:
    if card.get("enableAcceleratedNetworking") and size is not None and not size.accelerated:
        text = f"Virtual machine size {size.name} is not permitted to enable accelerated networking."
        code = "VMSizeIsNotPermittedToEnableAcceleratedNetworking"
        yield Refusal(code, text, target=f"{place}.enableAcceleratedNetworking")
    configs = card.get("ipConfigurations") or []
    if not configs:
        yield missing(f"{place}.ipConfigurations")
    for j, config in enumerate(configs):
        if first(config, "subnet.id") is None:
            yield missing(f"{place}.ipConfigurations[{j}].subnet.id")
