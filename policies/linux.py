"""Linux on every machine with accelerators: no Windows image and no Windows licence. Machines whose type is known to
have none are left alone: a Windows file server or a Windows pool of CPU nodes is nobody's GPU cluster.

The type never tells the system. An AMI's id does not tell it either, so on AWS the signs are the platform of a
reservation, the path of an image parameter, the kind of an EKS node group and first-boot scripts that only Windows
runs. What else a script may hold: `policies.boot`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies import kinds
from policies.boot import decoded
from policies.declare import Fault, Resource, resource_policy
from policies.machines import accelerated
from policies.rdma import pools
from policies.view import View, shown

_WINDOWS = re.compile(r"windows|(?<![a-z])win(?![a-z])|(?<![a-z])(win|ws)-?(10|11|20\d\d)", re.IGNORECASE)
_WINDOWS_SCRIPT = re.compile(r"^\s*<(powershell|script)>", re.IGNORECASE | re.MULTILINE)
_AWS_SIGNS = ("instancePlatform", "amiType", "imageId", "ami", "runtimePlatform.operatingSystemFamily")


@resource_policy(
    "aws-windows-node",
    kinds.CAPACITY_BLOCK,
    kinds.CAPACITY_RESERVATION,
    kinds.ECS_TASK,
    kinds.EKS_NODE_GROUP,
    kinds.INSTANCE,
    kinds.LAUNCH_CONFIGURATION,
    kinds.LAUNCH_TEMPLATE,
    kinds.SPOT_FLEET,
    kinds.SPOT_INSTANCE,
    area="linux",
    description="Nodes with accelerators and the capacity reserved for them are Linux.",
    why="GPU and EFA drivers, Lustre clients and the launchers of this cluster are Linux only, and Windows "
    "adds a licence per vCPU.",
    fix="Use a Linux image (platform Linux/UNIX), such as the Deep Learning Base OSS Nvidia driver AMI.",
    reference="https://docs.aws.amazon.com/dlami/latest/devguide/what-is-dlami.html",
)
def aws_windows_node(resource: Resource) -> Iterator[Fault]:
    machines = resource.each("launchSpecifications[]") if resource.type == kinds.SPOT_FLEET else [resource]
    for machine in machines:
        if _may_be_accelerated(machine):
            for path, found in _aws_signs(machine):
                yield resource.fault(machine.where(path), found)


def _aws_signs(machine: View) -> Iterator[tuple[str, str]]:
    for sign in _AWS_SIGNS:
        value = machine.get(sign)
        if isinstance(value, str) and "windows" in value.lower():
            yield sign, f"is {shown(value)}"
    for key in ("userData", "userDataBase64"):
        script = machine.get(key)
        if isinstance(script, str) and _WINDOWS_SCRIPT.search(decoded(script)):
            yield key, "is a script for Windows (<powershell> or <script>)"


def _may_be_accelerated(machine: View) -> bool:
    """False only where the types are told and none of them has accelerators."""
    if isinstance(machine, Resource) and machine.type == kinds.ECS_TASK:
        return '"GPU"' in str(machine.get("containerDefinitions"))
    paths = ("instanceType", "instanceTypes[]", "hardwareProfile.vmSize", "sku.name", "vmSize")
    types = [v.value for path in paths for v in machine.each(path)]
    if isinstance(machine, Resource) and machine.type == kinds.EKS_NODE_GROUP and not types:
        return machine.has("launchTemplate") or machine.has("instanceTypes")  # EKS takes t3.medium by itself
    return not types or any(isinstance(t, str) and accelerated(t) for t in types)


_IMAGE = ("publisher", "offer", "sku", "id", "sharedGalleryImageId", "communityGalleryImageId")
_MACHINE = {
    kinds.AZURE_BATCH_POOL: "deploymentConfiguration.virtualMachineConfiguration.",
    kinds.SCALE_SET: "virtualMachineProfile.",
    kinds.VM: "",
}


@resource_policy(
    "azure-windows-node",
    kinds.AKS_CLUSTER,
    kinds.AKS_POOL,
    kinds.AZURE_BATCH_POOL,
    kinds.MACHINE_LEARNING,
    kinds.SCALE_SET,
    kinds.VM,
    area="linux",
    description="Nodes with GPUs run a Linux image, with a Linux OS profile and without a Windows licence.",
    why="There is no Windows HPC image: InfiniBand, Lustre clients and the launchers of this cluster are "
    "Linux only. The OS is decided by image, OS profile and licence, never by the size.",
    fix="Use a Linux image such as microsoft-dsvm:ubuntu-hpc with osProfile.linuxConfiguration, and leave "
    "Windows profile and licence out.",
    reference="https://learn.microsoft.com/azure/virtual-machines/azure-hpc-vm-images",
)
def azure_windows_node(resource: Resource) -> Iterator[Fault]:
    if resource.type in (kinds.AKS_CLUSTER, kinds.AKS_POOL):
        machines = [(pool, list(_named_windows(pool, "osType", "osSKU"))) for pool in pools(resource)]
    elif resource.type == kinds.MACHINE_LEARNING:
        machines = [(v, list(_named_windows(v, "osType"))) for v in resource.each("properties.properties")]
    else:
        machines = [(resource, list(_azure_signs(resource)))]
    for machine, signs in machines:
        if signs and _may_be_accelerated(machine):
            for path, found in signs:
                yield resource.fault(machine.where(path), found)


def _named_windows(view: View, *paths: str) -> Iterator[tuple[str, str]]:
    for path in paths:
        value = view.get(path)
        if isinstance(value, str) and value.lower().startswith("windows"):
            yield path, f"is {shown(value)}"


def _azure_signs(resource: Resource) -> Iterator[tuple[str, str]]:
    at = _MACHINE[resource.type]
    for path in (f"{at}osProfile.windowsConfiguration", f"{at}windowsConfiguration"):
        if resource.has(path):
            yield path, "is set"
    yield from _named_windows(resource, f"{at}licenseType", f"{at}storageProfile.osDisk.osType")
    reference = "imageReference" if resource.type == kinds.AZURE_BATCH_POOL else "storageProfile.imageReference"
    for image in resource.each(f"{at}{reference}"):
        for part in _IMAGE:
            value = image.get(part)
            if isinstance(value, str) and _WINDOWS.search(value.lower().rpartition("/images/")[2]):
                yield image.where(part), f"is {shown(value)}"
