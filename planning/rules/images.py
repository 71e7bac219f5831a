"""Rules about what a node boots: its image and its root disk. What it then runs: `setup`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from planning.catalog.records import Arch, Vendor
from planning.facts.derive import Facts
from planning.facts.imagerecord import FILE
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule

HPC_IMAGES = "https://github.com/Azure/azhpc-images"
DEPRECATION = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ami-deprecate.html"
DISK_SIZES = {
    "aws": "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html",
    "azure": "https://learn.microsoft.com/azure/virtual-machines/managed-disks-overview",
}
AWS_IMAGE = re.compile(r"ami-[0-9a-z]+|/[\w./-]+")
AZURE_IMAGE = re.compile(r"[^:\s]+(:[^:\s]+){3}")
WINDOWS = re.compile(r"windows", re.IGNORECASE)
LONGEST_UNASKED_DAYS = 180
"""Base images are released about every month; half a year without one is half a year of security fixes."""
UPDATE = "run `gpu-clusters images --update`"
MOST_ROOT_GIB = {"aws": 65536, "azure": 4095}
"""A gp3 volume (EC2 API reference, EbsBlockDevice); an OS disk (Azure documentation, managed disks overview)."""


class Mark(NamedTuple):
    """What a part of an image's name tells."""

    cloud: str
    pattern: re.Pattern[str]
    arch: Arch | None = None
    vendor: Vendor | None = None


MARKS = (
    Mark("aws", re.compile(r"/arm64/"), arch="arm64"),
    Mark("aws", re.compile(r"/x86_64/"), arch="x86_64"),
    Mark("aws", re.compile(r"nvidia-driver"), vendor="nvidia"),
    Mark("aws", re.compile(r"^/aws/service/neuron/"), vendor="aws"),
    Mark("azure", re.compile(r":ubuntu-hpc:[^:]*-(gb|arm64)\d*:"), arch="arm64"),
    Mark("azure", re.compile(r":ubuntu-hpc:(?![^:]*-(gb|arm64))"), arch="x86_64"),
    Mark("azure", re.compile(r":ubuntu-hpc:[^:]*-rocm:"), vendor="amd"),
    Mark("azure", re.compile(r":ubuntu-hpc:(?![^:]*-rocm:)"), vendor="nvidia"),
)
"""Of images whose names tell; others pass. Source: AWS SSM public parameters, azhpc-images README."""
DRIVERS = {"nvidia": "NVIDIA GPUs", "amd": "AMD GPUs (rocm)", "aws": "AWS Neuron"}


@rule("image-does-not-fit", "error", reference="docs/spec.md")
def image_does_not_fit(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The image fits the architecture and the accelerators of the nodes."""
    node, image = facts.node, spec.nodes.image
    if node is None:
        return
    record = facts.image.record if facts.image is not None else None
    told = [mark for mark in MARKS if image and mark.cloud == spec.cloud and mark.pattern.search(image)]
    archs = [record.arch] if record is not None else [mark.arch for mark in told]
    wrong_arch = next((arch for arch in archs if arch not in (None, node.arch)), None)
    wrong_vendor = next((mark.vendor for mark in told if mark.vendor not in (None, node.vendor)), None)
    if wrong_arch:
        message = f"the image is for {wrong_arch}, and {node.name} is {node.arch}"
        yield Fault("nodes.image", message, f"take an image for {node.arch}, or leave nodes.image out")
    elif wrong_vendor:
        message = f"the image has drivers for {DRIVERS[wrong_vendor]}, and {node.name} needs {DRIVERS[node.vendor]}"
        yield Fault("nodes.image", message, f"take an image for {DRIVERS[node.vendor]}, or leave nodes.image out")


@rule("image-form", "error", reference="docs/spec.md", waivable=False)
def image_form(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The image is written as the cloud names images."""
    image = spec.nodes.image
    if image is None:
        return
    if spec.cloud == "aws" and not AWS_IMAGE.fullmatch(image):
        message = f"{shown(image)} is neither an AMI id nor an SSM parameter"
        yield Fault("nodes.image", message, "write ami-… or /aws/service/…/ami-id")
    if spec.cloud == "azure" and not AZURE_IMAGE.fullmatch(image):
        yield Fault("nodes.image", f"{shown(image)} is no marketplace image", "write publisher:offer:sku:version")


@rule("image-is-windows", "error", reference="docs/spec.md")
def image_is_windows(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Nodes run Linux: Windows has neither EFA nor an HPC image, and its licence is paid by vCPU."""
    if WINDOWS.search(spec.nodes.image or ""):
        message = "this is a Windows image: its licence is paid for every vCPU, and first boot is written for Linux"
        yield Fault("nodes.image", message, "leave nodes.image out")


@rule("image-not-pinned", "warning", reference={"aws": "docs/aws.md", "azure": HPC_IMAGES})
def image_not_pinned(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """An image called latest changes under the cluster: kernel, driver and Lustre client no longer match."""
    image = spec.nodes.image or ""
    recorded = facts.image is not None and facts.image.record is not None
    if spec.cloud == "azure" and image.endswith(":latest"):
        message = "the version latest gives nodes made later another kernel, driver and Lustre client"
        yield Fault("nodes.image", message, "pin a version")
    if spec.cloud == "aws" and "/latest/" in image and not recorded:
        message = "the parameter says latest, and what it names is found anew with every launch template"
        yield Fault("nodes.image", message, f"{UPDATE}, which pins its AMI id")


@rule("image-not-recorded", "info", cloud="aws", reference="docs/aws.md")
def image_not_recorded(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The AMI that nodes are made from is written down, with what a launch template must know of it."""
    image = facts.image
    if facts.node is None or image is None or image.record is not None or image.problem:
        return
    if "/latest/" in (spec.nodes.image or "") or not AWS_IMAGE.fullmatch(image.asked):
        return  # other rules say so
    region = shown(spec.region)
    if not image.by_parameter:
        message = f"nothing is recorded of this AMI in {region}: its root disk is taken to be {image.root_device}"
    else:
        message = f"no AMI is recorded for {region}: nodes get the one that is newest when their template is made"
    yield Fault("nodes.image", message, f"{UPDATE}, which asks AWS once and writes {FILE} beside the stack file")


@rule("image-record-old", "warning", cloud="aws", reference=DEPRECATION)
def image_record_old(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The recorded image is still the one to take: AWS was asked not too long ago, and its owner stands by it."""
    record = facts.image.record if facts.image is not None else None
    if facts.image is None or record is None:
        return
    unasked = (facts.today - record.recorded).days
    if record.deprecated is not None and record.deprecated <= facts.today:
        message = (
            f"{record.id} is deprecated since {record.deprecated}: its owner no longer mends it and may withdraw it"
        )
    elif facts.image.asked != record.id and unasked > LONGEST_UNASKED_DAYS:
        message = (
            f"{record.id} was recorded {unasked} days ago: newer ones have fixes of kernel and driver that it lacks"
        )
    else:
        return
    another = "name another image" if facts.image.asked == record.id else UPDATE
    yield Fault("nodes.image", message, f"{another}, and let nodes be replaced when it suits the training")


@rule("image-record-unusable", "error", cloud="aws", reference="docs/aws.md", waivable=False)
def image_record_unusable(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A record of images that is there can be read: without it nodes would silently be made from another image."""
    if facts.image is not None and facts.image.problem:
        message = f"{FILE} beside the stack file can not be used: {facts.image.problem}"
        yield Fault("nodes.image", message, f"mend the file, or take it away and {UPDATE}")


@rule("image-with-terms", "warning", cloud="azure", reference="https://github.com/Azure/azurehpc/issues/575")
def image_with_terms(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A marketplace image with a plan is refused until its terms are accepted in the subscription."""
    if facts.image is not None and facts.image.needs_plan:
        message = (
            "the marketplace sells this image with a plan, and refuses it (VMMarketplaceInvalidInput) until its terms "
            "are accepted once in the subscription"
        )
        fix = f"run `az vm image terms accept --urn {facts.image.reference}`, or leave nodes.image out"
        yield Fault("nodes.image", message, fix)


@rule("root-disk-below-image", "error", reference="docs/spec.md")
def root_disk_below_image(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The root disk holds the image."""
    least = facts.image.root_gib if facts.image is not None else None
    if least is not None and spec.nodes.root_disk < least:
        message = f"{spec.nodes.root_disk}GiB is smaller than the image, which has {least} GiB"
        yield Fault("nodes.root_disk", message, f"write {max(least, 300)}GiB")


@rule("root-disk-too-large", "error", reference=DISK_SIZES)
def root_disk_too_large(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The root disk is one that the cloud sells."""
    most = MOST_ROOT_GIB[spec.cloud]
    if spec.nodes.root_disk > most:
        disk = "a gp3 volume" if spec.cloud == "aws" else "an OS disk"
        message = f"{spec.nodes.root_disk}GiB is more than {disk} can have, which is {most:,} GiB"
        yield Fault("nodes.root_disk", message, f"write {most}GiB or less; data belong on the filesystem")
