"""Linux on every node: no Windows image and no Windows licence. Nothing is concluded from the name of a size.

An AMI's id does not tell its platform, so on AWS the signs are the platform of a reservation, the path of an
image parameter, the kind of an EKS node group and first-boot scripts that only Windows runs.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from policies import kinds
from policies.declare import Fault, Resource, resource_policy
from policies.view import UNKNOWN, shown

_WINDOWS_SCRIPT = re.compile(r"^\s*<(powershell|script)>", re.IGNORECASE | re.MULTILINE)
_AWS_SIGNS = ("instancePlatform", "amiType", "imageId", "ami")


@resource_policy(
    "aws-windows-node",
    kinds.CAPACITY_BLOCK,
    kinds.CAPACITY_RESERVATION,
    kinds.EKS_NODE_GROUP,
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    description="Nodes and the capacity reserved for them are Linux.",
    why="GPU and EFA drivers, Lustre clients and the launchers of this cluster are Linux only, and Windows "
    "adds a licence per vCPU.",
    fix="Use a Linux image (platform Linux/UNIX), such as the Deep Learning Base OSS Nvidia driver AMI.",
    reference="https://docs.aws.amazon.com/dlami/latest/devguide/what-is-dlami.html",
)
def aws_windows_node(resource: Resource) -> Iterator[Fault]:
    for sign in _AWS_SIGNS:
        value = resource.get(sign)
        if isinstance(value, str) and "windows" in value.lower():
            yield resource.fault(sign, f"is {shown(value)}")
    # A node's script usually holds the address of a filesystem, which a preview does not know. Then `up` judges
    # it, before the template is made; the preview keeps quiet rather than say "can't run" every time.
    for key in ("userData", "userDataBase64"):
        script = resource.peek(key)
        if script is not UNKNOWN and isinstance(script, str) and _WINDOWS_SCRIPT.search(_decoded(script)):
            yield resource.fault(key, "is a script for Windows (<powershell> or <script>)")


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return text


_IMAGE = ("publisher", "offer", "sku", "id", "sharedGalleryImageId", "communityGalleryImageId")


@resource_policy(
    "azure-windows-node",
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.SCALE_SET,
    kinds.VM,
    description="Nodes run a Linux image, with a Linux OS profile and without a Windows licence.",
    why="There is no Windows HPC image: InfiniBand, Lustre clients and the launchers of this cluster are "
    "Linux only. The OS is decided by image, OS profile and licence, never by the size.",
    fix="Use a Linux image such as microsoft-dsvm:ubuntu-hpc with osProfile.linuxConfiguration, and leave "
    "Windows profile and licence out.",
    reference="https://learn.microsoft.com/azure/virtual-machines/azure-hpc-vm-images",
)
def azure_windows_node(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.AKS_CLUSTER, kinds.AKS_POOL):
        yield from _windows_pools(resource)
        return
    profile = "virtualMachineProfile." if resource.type == kinds.SCALE_SET else ""
    if resource.has(f"{profile}osProfile.windowsConfiguration"):
        yield resource.fault(f"{profile}osProfile.windowsConfiguration", "is set")
    licence = resource.get(f"{profile}licenseType")
    if isinstance(licence, str) and licence.lower().startswith("windows"):
        yield resource.fault(f"{profile}licenseType", f"is {shown(licence)}")
    os_type = resource.get(f"{profile}storageProfile.osDisk.osType")
    if isinstance(os_type, str) and os_type.lower() == "windows":
        yield resource.fault(f"{profile}storageProfile.osDisk.osType", f"is {shown(os_type)}")
    for image in resource.each(f"{profile}storageProfile.imageReference"):
        for part in _IMAGE:
            value = image.get(part)
            if isinstance(value, str) and "windows" in value.lower().rpartition("/images/")[2]:
                yield resource.fault(image.where(part), f"is {shown(value)}")


def _windows_pools(resource: Resource) -> Iterator[Fault]:
    pools = [resource] if resource.type == kinds.AKS_POOL else resource.each("agentPoolProfiles[]")
    for pool in pools:
        os_type = pool.get("osType")
        if isinstance(os_type, str) and os_type.lower() == "windows":
            yield resource.fault(pool.where("osType"), f"is {shown(os_type)}")
