"""What each rule says: one table of changed specs with the exact set of findings. Shape: test_spec."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from planning.plan import Assessment
from planning.rules import RULES
from planning.rules.registry import Fault, rule

GB200, GB300 = "p6e-gb200.36xlarge", "Standard_ND128isr_GB300_v6"
IN_DALLAS = {
    "nodes.type": GB200,
    "zone": "use1-dfw2-az1",
    "nodes.purchase": "capacity-block",
    "nodes.reservation": "cr-0a1",
}
BLOCK = {"nodes.purchase": "capacity-block", "nodes.reservation": "cr-0123456789abcdef0"}
RESERVED = {"nodes.purchase": "reserved", "nodes.reservation": "cr-0123456789abcdef0"}
GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c"
NC = {"nodes.type": "Standard_NC96ads_A100_v4", "nodes.count": 1}
NC_RESERVED = {**NC, "nodes.purchase": "reserved", "nodes.reservation": GROUP}
SCRATCH = {"storage.filesystem": {"capacity": "2400GiB", "deployment": "scratch"}, "storage.objects.link": True}
DLAMI = "/aws/service/deeplearning/ami/{}/base-oss-nvidia-driver-gpu-ubuntu-22.04/1/ami-id"
ECDSA = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA=="
MANY = "warning efa-connections-exceeded nodes.count"
BOUGHT = "error not-built-yet nodes.purchase"
SCRATCH_BUILT = {"error not-built-yet storage.filesystem.deployment", "error not-built-yet storage.objects.link"}


class Row(NamedTuple):
    base: str
    changes: dict[str, Any]
    findings: set[str]
    """Each as `level rule path`; all that is said, not just some of it."""


FINE: set[str] = set()

TABLE: dict[str, list[Row]] = {
    "capacity-block-on-azure": [
        Row("azure", {"nodes.purchase": "capacity-block"}, {
            "error capacity-block-on-azure nodes.purchase", "error reservation-missing nodes.reservation", BOUGHT,
        }),
        Row("aws", BLOCK, {BOUGHT}),
    ],
    "purchase-not-offered": [
        Row("aws", {**BLOCK, "nodes.type": "g5.48xlarge"}, {
            "error purchase-not-offered nodes.purchase", BOUGHT,
        }),
        Row("aws", {**RESERVED, "nodes.type": GB200, "nodes.count": 18, "zone": "use1-dfw2-az1"}, {
            "error purchase-not-offered nodes.purchase", BOUGHT,
        }),
        Row("aws", {**IN_DALLAS, "nodes.count": 18}, {BOUGHT}),
        Row("azure", {"nodes.purchase": "spot"}, {BOUGHT}),
    ],
    "reservation-missing": [
        Row("aws", {"nodes.purchase": "reserved"}, {"error reservation-missing nodes.reservation", BOUGHT}),
        Row("aws", {"nodes.purchase": "capacity-block"}, {"error reservation-missing nodes.reservation", BOUGHT}),
        Row("aws", RESERVED, {BOUGHT}),
    ],
    "reservation-unused": [
        Row("aws", {"nodes.reservation": "cr-0a1"}, {"error reservation-unused nodes.reservation"}),
        Row("aws", {**RESERVED, "nodes.purchase": "spot"}, {"error reservation-unused nodes.reservation", BOUGHT}),
        Row("aws", RESERVED, {BOUGHT}),
    ],
    "reservation-not-an-id": [
        Row("aws", {**RESERVED, "nodes.reservation": "r-0a1"}, {
            "error reservation-not-an-id nodes.reservation", BOUGHT,
        }),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "lr-0a1", "count": 16}}, {
            "error reservation-not-an-id nodes.reservation.id", BOUGHT,
        }),
        Row("azure", {**NC_RESERVED, "nodes.reservation": "my-group"}, {
            "error reservation-not-an-id nodes.reservation", BOUGHT,
        }),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "count": 16}}, {BOUGHT}),
        Row("azure", NC_RESERVED, {BOUGHT}),
    ],
    "reservation-not-for-the-size": [
        Row("azure", {"nodes.purchase": "reserved", "nodes.reservation": GROUP}, {
            "error reservation-not-for-the-size nodes.purchase", BOUGHT,
        }),
        Row("azure", NC_RESERVED, {BOUGHT}),
    ],
    "capacity-block-too-large": [
        Row("aws", {**BLOCK, "nodes.count": 65}, {"error capacity-block-too-large nodes.count", BOUGHT}),
        Row("aws", {**BLOCK, "nodes.count": 64}, {BOUGHT}),
    ],
    "placement-around-block": [
        Row("aws", {**BLOCK, "nodes.placement": "cluster"}, {"error placement-around-block nodes.placement", BOUGHT}),
        Row("aws", {**BLOCK, "nodes.placement": "none"}, {BOUGHT}),
    ],
    "placement-around-reservation": [
        Row("aws", {**RESERVED, "nodes.placement": "cluster"}, {
            "error placement-around-reservation nodes.placement", BOUGHT,
        }),
        Row("aws", {
            **RESERVED, "nodes.placement": "cluster", "nodes.reservation": {"id": "cr-0", "placement_group": "g"},
        }, {
            BOUGHT,
        }),
        Row("aws", {**RESERVED, "nodes.placement": "none"}, {BOUGHT}),
    ],
    "reservation-in-single-group": [
        Row("azure", {**NC_RESERVED, "nodes.placement": "cluster"}, {
            "error reservation-in-single-group nodes.placement", BOUGHT,
        }),
        Row("azure", {**NC_RESERVED, "nodes.placement": "none"}, {BOUGHT}),
    ],
    "gang-above-limit": [
        Row("aws", {"nodes.count": 1001}, {"error gang-above-limit nodes.count", MANY}),
        Row("aws", {"nodes.count": 1000}, {MANY}),
        Row("aws", {"nodes.count": 2000, "nodes.start": "elastic"}, {"error not-built-yet nodes.start", MANY}),
    ],
    "ultraserver-size": [
        Row("aws", {**IN_DALLAS, "nodes.count": 16}, {"error ultraserver-size nodes.count", BOUGHT}),
        Row("aws", {**IN_DALLAS, "nodes.count": 9}, {BOUGHT}),
    ],
    "no-atomic-start": [
        Row("azure", {"nodes.start": "gang"}, {"info no-atomic-start nodes.start"}),
        Row("aws", {"nodes.start": "gang"}, FINE),
    ],
    "node-type-unknown": [
        Row("aws", {"nodes.type": "p5.48xlarg"}, {"error node-type-unknown nodes.type"}),
        Row("azure", {"nodes.type": "p5.48xlarge"}, {"error node-type-unknown nodes.type"}),
        Row("aws", {"nodes.type": "p5en.48xlarge"}, FINE),
    ],
    "no-fabric-for-several-nodes": [
        Row("azure", {**NC, "nodes.count": 2}, {"error no-fabric-for-several-nodes nodes.type"}),
        Row("azure", {"nodes.type": "Standard_ND96is_H100_v5"}, {"error no-fabric-for-several-nodes nodes.type"}),
        Row("azure", NC, FINE),
        Row("aws", {"nodes.type": "g5.48xlarge", "nodes.count": 2}, FINE),
    ],
    "twin-without-infiniband": [
        Row("azure", {"nodes.type": "Standard_ND96is_H100_v5", "nodes.count": 1}, {
            "error twin-without-infiniband nodes.type",
        }),
        Row("azure", {"nodes.count": 1}, FINE),
    ],
    "more-nodes-than-a-fabric": [
        Row("azure", {"nodes.count": 101}, {"error more-nodes-than-a-fabric nodes.count"}),
        Row("azure", {"nodes.count": 301}, {"error more-nodes-than-a-fabric nodes.count"}),
        Row("azure", {"nodes.count": 101, "waive": {"more-nodes-than-a-fabric": "ticket 4711"}}, {
            "waived more-nodes-than-a-fabric nodes.count",
        }),
        Row("azure", {"nodes.count": 100}, FINE),
        Row("aws", {"nodes.count": 301}, {MANY}),
    ],
    "broken-rack": [
        Row("azure", {"nodes.type": GB300, "nodes.count": 20}, {"warning broken-rack nodes.count"}),
        Row("azure", {"nodes.type": GB300, "nodes.count": 36}, FINE),
    ],
    "placement-refused-by-size": [
        Row("azure", {"nodes.type": GB300, "nodes.count": 18, "nodes.placement": "cluster"}, {
            "error placement-refused-by-size nodes.placement",
        }),
        Row("azure", {"nodes.type": GB300, "nodes.count": 18, "nodes.placement": "none"}, FINE),
    ],
    "infiniband-without-placement": [
        Row("azure", {"nodes.placement": "none"}, {"error infiniband-without-placement nodes.placement"}),
        Row("azure", {"nodes.placement": "cluster"}, FINE),
        Row("azure", {**NC, "nodes.placement": "none"}, FINE),
    ],
    "efa-without-placement": [
        Row("aws", {"nodes.placement": "none"}, {"warning efa-without-placement nodes.placement"}),
        Row("aws", {"nodes.placement": "none", "nodes.count": 1}, FINE),
        Row("aws", {"nodes.placement": "cluster"}, FINE),
    ],
    "image-does-not-fit": [
        Row("aws", {"nodes.image": DLAMI.format("arm64")}, {"error image-does-not-fit nodes.image"}),
        Row("aws", {"nodes.image": "/aws/service/neuron/dlami/base/ubuntu-22.04/1/image_id"}, {
            "error image-does-not-fit nodes.image",
        }),
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2404-rocm:24.04.1"}, {
            "error image-does-not-fit nodes.image",
        }),
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2404-gb:24.04.1"}, {
            "error image-does-not-fit nodes.image",
        }),
        Row("azure", {
            "nodes.type": "Standard_ND96isr_MI300X_v5", "nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:1.2.3",
        }, {
            "error image-does-not-fit nodes.image",
        }),
        Row("azure", {"nodes.type": GB300, "nodes.count": 18, "nodes.image": "microsoft-dsvm:ubuntu-hpc:2404:1.2.3"}, {
            "error image-does-not-fit nodes.image",
        }),
        Row("aws", {"nodes.image": DLAMI.format("x86_64")}, FINE),
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:22.04.2025061801"}, FINE),
        Row("azure", {
            "nodes.type": GB300, "nodes.count": 18, "nodes.image": "microsoft-dsvm:ubuntu-hpc:2404-gb:1.2.3",
        }, FINE),
        Row("azure", {"nodes.image": "acme:gpu:one:1.2.3"}, FINE),
    ],
    "image-form": [
        Row("aws", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:1.2.3"}, {"error image-form nodes.image"}),
        Row("azure", {"nodes.image": "ami-0123456789abcdef0"}, {"error image-form nodes.image"}),
        Row("aws", {"nodes.image": "ami-0123456789abcdef0"}, FINE),
    ],
    "image-is-windows": [
        Row("azure", {"nodes.image": "MicrosoftWindowsServer:WindowsServer:2022-datacenter:1.2.3"}, {
            "error image-is-windows nodes.image",
        }),
        Row("aws", {"nodes.image": "/aws/service/ami-windows-latest/Windows_Server-2022"}, {
            "error image-is-windows nodes.image",
        }),
        Row("azure", {"nodes.image": "canonical:ubuntu-24_04-lts:server:24.04.1"}, FINE),
    ],
    "image-not-pinned": [
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:latest"}, {
            "warning image-not-pinned nodes.image",
        }),
        Row("aws", {"nodes.image": "/aws/service/x/latest/ami-id"}, {"warning image-not-pinned nodes.image"}),
        Row("aws", {"nodes.image": ...}, FINE),
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:22.04.2025061801"}, FINE),
    ],
    "image-with-terms": [
        Row("azure", {"nodes.image": "almalinux:almalinux-hpc:8_10-hpc-gen2:8.10.2025060401"}, {
            "warning image-with-terms nodes.image",
        }),
        Row("azure", {"nodes.image": "azure-hpc:azurelinux-hpc:3:3.0.1"}, FINE),
    ],
    "root-disk-below-image": [
        Row("aws", {"nodes.root_disk": "74GiB"}, {"error root-disk-below-image nodes.root_disk"}),
        Row("aws", {"nodes.root_disk": "75GiB"}, FINE),
        Row("aws", {"nodes.root_disk": "30GiB", "nodes.image": "ami-0123456789abcdef0"}, FINE),
    ],
    "setup-file-unusable": [
        Row("aws", {"nodes.setup": "no-such-file.sh"}, {"error setup-file-unusable nodes.setup"}),
        Row("aws", {"nodes.setup": "../setup.sh"}, {"error setup-file-unusable nodes.setup"}),
        Row("aws", {"nodes.setup": ["true"]}, FINE),
    ],
    "setup-too-long": [
        Row("aws", {"nodes.setup": ["x" * 8188]}, {"error setup-too-long nodes.setup"}),
        Row("azure", {"nodes.setup": [":"] * 5462}, {"error setup-too-long nodes.setup"}),
        Row("aws", {"nodes.setup": ["x" * 8187]}, FINE),
        Row("azure", {"nodes.setup": [":"] * 5461}, FINE),
    ],
    "throughput-not-sold": [
        Row("aws", {"storage.filesystem.throughput_per_tib": 0}, {
            "error throughput-not-sold storage.filesystem.throughput_per_tib",
        }),
        Row("aws", {"storage.filesystem.throughput_per_tib": 300}, {
            "error throughput-not-sold storage.filesystem.throughput_per_tib",
        }),
        Row("azure", {"storage.filesystem.throughput_per_tib": 1000}, {
            "error throughput-not-sold storage.filesystem.throughput_per_tib",
        }),
        Row("aws", {"storage.filesystem.throughput_per_tib": 1000}, FINE),
    ],
    "throughput-of-scratch": [
        Row("aws", {**SCRATCH, "storage.filesystem.throughput_per_tib": 250}, SCRATCH_BUILT | {
            "error throughput-of-scratch storage.filesystem.throughput_per_tib",
        }),
        Row("aws", SCRATCH, SCRATCH_BUILT),
    ],
    "throughput-chosen": [
        Row("aws", {"storage.filesystem.throughput_per_tib": ...}, {
            "info throughput-chosen storage.filesystem.throughput_per_tib",
        }),
        Row("azure", {"storage.filesystem.throughput_per_tib": ...}, {
            "info throughput-chosen storage.filesystem.throughput_per_tib",
        }),
        Row("aws", {"storage.filesystem": None}, FINE),
    ],
    "capacity-not-sold": [
        Row("aws", {"storage.filesystem.capacity": "3600GiB"}, {
            "error capacity-not-sold storage.filesystem.capacity", "info efa-left-off storage.filesystem.capacity",
        }),
        Row("azure", {"storage.filesystem.capacity": "20TiB"}, {"error capacity-not-sold storage.filesystem.capacity"}),
        Row("azure", {"storage.filesystem": {"capacity": "24TiB", "throughput_per_tib": 40}}, {
            "error capacity-not-sold storage.filesystem.capacity",
        }),
        Row("aws", {"storage.filesystem.capacity": "75TiB"}, FINE),
        Row("aws", {"storage.filesystem.capacity": "460800GiB"}, FINE),
        Row("azure", {"storage.filesystem": {"capacity": "4TiB", "throughput_per_tib": 500}}, FINE),
    ],
    "capacity-above-documents": [
        Row("azure", {"storage.filesystem.capacity": "256TiB"}, {
            "warning capacity-above-documents storage.filesystem.capacity",
        }),
        Row("azure", {"storage.filesystem.capacity": "128TiB"}, FINE),
    ],
    "efa-capacity": [
        Row("aws", {"storage.filesystem": {"capacity": "1200GiB", "throughput_per_tib": 250, "efa": True}}, {
            "error efa-capacity storage.filesystem.capacity",
        }),
        Row("aws", {**SCRATCH, "storage.filesystem.efa": True}, SCRATCH_BUILT | {
            "error efa-capacity storage.filesystem.efa",
        }),
        Row("aws", {"storage.filesystem.efa": True}, FINE),
        Row("aws", {"storage.filesystem": {"throughput_per_tib": 1000, "efa": True}}, FINE),
    ],
    "efa-left-off": [
        Row("aws", {"storage.filesystem.capacity": "1200GiB"}, {"info efa-left-off storage.filesystem.capacity"}),
        Row("aws", {"storage.filesystem": {"capacity": "1200GiB", "throughput_per_tib": 250, "efa": False}}, FINE),
    ],
    "metadata-iops-not-sold": [
        Row("aws", {"storage.filesystem.metadata_iops": 2000}, {
            "error metadata-iops-not-sold storage.filesystem.metadata_iops",
        }),
        Row("aws", {"storage.filesystem.metadata_iops": 204000}, {
            "error metadata-iops-not-sold storage.filesystem.metadata_iops",
        }),
        Row("aws", {"storage.filesystem.metadata_iops": 1500}, FINE),
        Row("aws", {"storage.filesystem.metadata_iops": 192000}, FINE),
    ],
    "scratch-cannot": [
        Row("aws", {**SCRATCH, "storage.filesystem.backup_days": 7}, SCRATCH_BUILT | {
            "error scratch-cannot storage.filesystem.backup_days",
        }),
        Row("aws", {**SCRATCH, "storage.filesystem.metadata_iops": 1500}, SCRATCH_BUILT | {
            "error scratch-cannot storage.filesystem.metadata_iops",
        }),
        Row("aws", {**SCRATCH, "storage.filesystem.backup_days": 0}, SCRATCH_BUILT),
    ],
    "scratch-without-link": [
        Row("aws", {**SCRATCH, "storage.objects.link": False}, {
            "warning scratch-without-link storage.filesystem.deployment",
            "error not-built-yet storage.filesystem.deployment",
        }),
        Row("aws", SCRATCH, SCRATCH_BUILT),
    ],
    "mount-over-system": [
        *(
            Row("aws", {"storage.filesystem.mount": mount}, {"error mount-over-system storage.filesystem.mount"})
            for mount in ("/usr", "/etc", "/home", "/opt", "/var/lib", "/proc/lustre", "/dev/shm")
        ),
        *(Row("azure", {"storage.filesystem.mount": mount}, FINE) for mount in ("/lustre", "/mnt", "/home/shared")),
    ],
    "mount-over-scratch": [
        Row("aws", {"storage.filesystem.mount": "/scratch"}, {"warning mount-over-scratch storage.filesystem.mount"}),
        Row("aws", {"storage.filesystem.mount": "/scratch/lustre"}, FINE),
    ],
    "account-not-said": [
        Row("aws", {"account": ...}, {"info account-not-said account"}),
        Row("azure", {"account": ...}, {"info account-not-said account"}),
        Row("azure", {}, FINE),
    ],
    "region-of-other-cloud": [
        Row("aws", {"region": "eastus"}, {"error region-of-other-cloud region"}),
        Row("azure", {"region": "us-east-1"}, {"error region-of-other-cloud region"}),
        Row("azure", {"region": "East US"}, {"error region-of-other-cloud region"}),
        Row("azure", {"region": "westus3"}, FINE),
    ],
    "region-unknown": [
        Row("aws", {"region": "us-east-7"}, {"warning region-unknown region"}),
        Row("azure", {"region": "eastus9"}, {"warning region-unknown region"}),
        Row("azure", {"region": "eastus2"}, FINE),
    ],
    "zone-not-an-id": [
        Row("aws", {"zone": "us-east-1a"}, {"error zone-not-an-id zone", "warning zone-without-the-type zone"}),
        Row("aws", {"zone": "use1-az5"}, FINE),
    ],
    "zone-of-other-region": [
        Row("aws", {"zone": "use2-az1"}, {"error zone-of-other-region zone"}),
        Row("aws", {"zone": "use2-az1", "region": "us-east-2"}, FINE),
    ],
    "zone-without-the-type": [
        Row("aws", {"nodes.type": "p6-b300.48xlarge"}, {"warning zone-without-the-type zone"}),
        Row("aws", {"nodes.type": "p6-b300.48xlarge", "region": "us-west-2", "zone": "usw2-az2"}, FINE),
        Row("aws", {"nodes.type": "g5.48xlarge", "zone": "use1-az3"}, FINE),
    ],
    "tag-key-refused": [
        Row("aws", {"tags/aws:team": "x"}, {"error tag-key-refused tags.aws:team"}),
        Row("aws", {"tags/a*b": "x"}, {"error tag-key-refused tags.a*b"}),
        Row("azure", {"tags": {"org/unit": "x", "Azure-team": "x", "": "x"}}, {
            "error tag-key-refused tags.org/unit", "error tag-key-refused tags.Azure-team",
            "error tag-key-refused tags.",
        }),
        Row("azure", {"tags": {"k" * 129: "x"}}, {f"error tag-key-refused tags.{'k' * 129}"}),
        Row("aws", {"tags": {"org/unit": "a b", "cost-center": "4711", "Équipe": "é", "k" * 128: ""}}, FINE),
    ],
    "tag-value-refused": [
        Row("aws", {"tags.team": "a*b"}, {"error tag-value-refused tags.team"}),
        Row("azure", {"tags.team": "x" * 257}, {"error tag-value-refused tags.team"}),
        Row("azure", {"tags.team": "a*b"}, FINE),
        Row("aws", {"tags.team": "x" * 256}, FINE),
    ],
    "tag-twice": [
        Row("azure", {"tags": {"Team": "a", "team": "b"}}, {"error tag-twice tags.team"}),
        Row("azure", {"tags.ON-DELETE": "x"}, {"error tag-twice tags.ON-DELETE"}),
        Row("aws", {"tags.Name": "x"}, {"error tag-twice tags.Name"}),
        Row("aws", {"tags": {"Team": "a", "team": "b", "name": "c"}}, FINE),
    ],
    "tags-too-many": [
        Row("aws", {"tags": {f"t{n}": "x" for n in range(46)}}, {"error tags-too-many tags"}),
        Row("aws", {"tags": {f"t{n}": "x" for n in range(45)}}, FINE),
    ],
    "above-cost-limit": [
        Row("aws", {"lifetime.max_usd_per_hour": 500}, {"error above-cost-limit lifetime.max_usd_per_hour"}),
        Row("aws", {"lifetime.max_usd_per_hour": 1000}, FINE),
        Row("aws", {"lifetime.max_usd_per_hour": 500, "nodes.running": False}, FINE),
    ],
    "cost-limit-undecided": [
        Row("azure", {"lifetime.max_usd_per_hour": 5000, "region": "uaenorth"}, {
            "warning cost-limit-undecided lifetime.max_usd_per_hour",
        }),
        Row("azure", {"lifetime.max_usd_per_hour": 5000}, FINE),
    ],
    "expired": [
        Row("aws", {"lifetime.expires": "2026-11-29"}, {"error expired lifetime.expires"}),
        Row("aws", {"lifetime.expires": "2026-11-30"}, FINE),
        Row("aws", {"lifetime.expires": "2020-01-31", "nodes.running": False}, FINE),
    ],
    "network-too-small": [
        Row("aws", {"nodes.interfaces": "efa", "network.cidr": "10.40.0.0/24"}, {
            "error network-too-small network.cidr",
        }),
        Row("azure", {"network.cidr": "10.50.0.0/28"}, {"error network-too-small network.cidr"}),
        Row("azure", {"nodes.count": 100, "network.cidr": "10.50.0.0/25"}, {"error network-too-small network.cidr"}),
        Row("aws", {"network.cidr": "10.40.0.0/24"}, FINE),
        Row("aws", {"nodes.interfaces": "efa", "network.cidr": "10.40.0.0/20"}, FINE),
    ],
    "network-outside-limits": [
        Row("aws", {"network.cidr": "10.0.0.0/8"}, {"error network-outside-limits network.cidr"}),
        Row("azure", {"network.cidr": "10.0.0.0/8"}, FINE),
    ],
    "network-not-for-hosts": [
        Row("aws", {"network.cidr": "169.254.0.0/16"}, {"error network-not-for-hosts network.cidr"}),
        Row("azure", {"network.cidr": "224.0.0.0/8"}, {"error network-not-for-hosts network.cidr"}),
        Row("azure", {"network.cidr": "192.168.0.0/16"}, FINE),
    ],
    "network-public": [
        Row("aws", {"network.cidr": "8.8.0.0/16"}, {"warning network-public network.cidr"}),
        Row("aws", {"network.cidr": "172.32.0.0/16"}, {"warning network-public network.cidr"}),
        Row("aws", {"network.cidr": "172.31.0.0/16"}, FINE),
        Row("azure", {"network.cidr": "100.64.0.0/16"}, FINE),
    ],
    "network-of-infiniband": [
        Row("azure", {"network.cidr": "172.16.0.0/16"}, {"error network-of-infiniband network.cidr"}),
        Row("azure", {"network.cidr": "172.16.0.0/12"}, {"error network-of-infiniband network.cidr"}),
        Row("azure", {"network.cidr": "172.20.0.0/16"}, FINE),
        Row("azure", {**NC, "network.cidr": "172.16.0.0/16"}, FINE),
        Row("aws", {"network.cidr": "172.16.0.0/16"}, FINE),
    ],
    "network-twice": [
        Row("aws", {"network": {"cidr": "10.40.0.0/16", "existing": {"vpc": "vpc-0", "subnet": "subnet-0"}}}, {
            "error network-twice network", "error not-built-yet network.existing",
        }),
        Row("aws", {"network": {"existing": {"vpc": "vpc-0", "subnet": "subnet-0"}}}, {
            "error not-built-yet network.existing",
        }),
    ],
    "ssh-from-everywhere": [
        Row("azure", {"access.ssh_from": ["10.0.0.0/8", "0.0.0.0/0"]}, {"error ssh-from-everywhere access.ssh_from.1"}),
        Row("azure", {"access.ssh_from": ["10.0.0.0/8"]}, FINE),
    ],
    "ssh-from-twice": [
        Row("azure", {"access.ssh_from": ["10.0.0.0/8", "10.0.0.0/8"]}, {"error ssh-from-twice access.ssh_from.1"}),
        Row("azure", {"access.ssh_from": ["10.0.0.0/8", "10.0.0.0/16"]}, FINE),
    ],
    "ssh-key-missing": [
        Row("azure", {"access": ...}, {"error ssh-key-missing access.ssh_public_key"}),
        Row("aws", {"access": ...}, FINE),
    ],
    "ssh-key-refused": [
        Row("aws", {"access.ssh_public_key": ECDSA}, {"error ssh-key-refused access.ssh_public_key"}),
        Row("azure", {"access.ssh_public_key": ECDSA}, {"error ssh-key-refused access.ssh_public_key"}),
        Row("azure", {}, FINE),
    ],
    "efa-connections-exceeded": [
        Row("aws", {"nodes.count": 129}, {MANY}),
        Row("aws", {"nodes.count": 128}, FINE),
    ],
    "ssh-without-key": [
        Row("aws", {"access.ssh_from": ["10.0.0.0/8"]}, {"warning ssh-without-key access.ssh_from"}),
        Row("aws", {"access": {}}, FINE),
    ],
    "bucket-name": [
        *(
            Row("aws", {"storage.objects.name": name}, {"error bucket-name storage.objects.name"})
            for name in ("Llama_70B", "ab", "10.0.0.1", "a..b", "xn--llama", "x" * 64)
        ),
        Row("aws", {"storage.objects.name": "llama-70b-data"}, FINE),
        Row("aws", {"storage.objects.name": "llama.70b"}, FINE),
    ],
    "storage-account-name": [
        *(
            Row("azure", {"storage.objects.name": name}, {"error storage-account-name storage.objects.name"})
            for name in ("llama-70b-data", "Llama", "ab", "x" * 25)
        ),
        Row("azure", {"storage.objects.name": "llama70bdata"}, FINE),
    ],
    "objects-twice": [
        Row("aws", {"storage.objects.name": "llama-new", "storage.objects.existing": "llama-old"}, {
            "error objects-twice storage.objects", "error not-built-yet storage.objects.existing",
        }),
        Row("aws", {"storage.objects.existing": "llama-old"}, {"error not-built-yet storage.objects.existing"}),
    ],
    "expired-before-cooled": [
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 45, "expire_after_days": 45}}, {
            "error expired-before-cooled storage.objects.checkpoints.cool_after_days",
        }),
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 44, "expire_after_days": 45}}, FINE),
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 45}}, FINE),
    ],
    "cooled-by-intelligent-tiering": [
        Row("aws", {"storage.objects.checkpoints.cool_after_days": 29}, {
            "info cooled-by-intelligent-tiering storage.objects.checkpoints.cool_after_days",
        }),
        Row("aws", {"storage.objects.checkpoints.cool_after_days": 30}, FINE),
        Row("azure", {"storage.objects.checkpoints.cool_after_days": 7}, FINE),
    ],
    "link-without-filesystem": [
        Row("aws", {"storage.filesystem": None, "storage.objects.link": True}, {
            "error link-without-filesystem storage.objects.link", "error not-built-yet storage.objects.link",
        }),
        Row("aws", {"storage.objects.link": True}, {"error not-built-yet storage.objects.link"}),
    ],
    "destroy-deletes-data": [
        Row("aws", {"storage.on_delete": "delete"}, {"warning destroy-deletes-data storage.on_delete"}),
        Row("azure", {"storage.on_delete": "retain"}, FINE),
    ],
    "waiver-without-effect": [
        Row("aws", {"waive": {"no-such-rule": "we know"}}, {"error waiver-without-effect waive.no-such-rule"}),
        Row("aws", {"waive": {"network-too-small": "we know"}}, {
            "error waiver-without-effect waive.network-too-small",
        }),
        Row("aws", {"nodes.placement": "none", "waive": {"efa-without-placement": "  "}}, {
            "error waiver-without-effect waive.efa-without-placement", "warning efa-without-placement nodes.placement",
        }),
        Row("aws", {"nodes.placement": "none", "waive": {"efa-without-placement": "one rack"}}, {
            "waived efa-without-placement nodes.placement",
        }),
    ],
    "not-built-yet": [
        Row("aws", {"access.bastion": True}, {"error not-built-yet access.bastion"}),
        Row("aws", {"network": {"egress": "none", "flow_logs": True}}, {
            "error not-built-yet network.egress", "error not-built-yet network.flow_logs",
        }),
        Row("aws", {"nodes.max_count": 32, "nodes.spot": {"max_price": 20}, "nodes.start": "elastic"}, {
            f"error not-built-yet nodes.{field}" for field in ("max_count", "spot", "start")
        }),
        Row("aws", {"storage.filesystem.kms_key": "k", "storage.filesystem.existing": "fs-0"}, {
            "error not-built-yet storage.filesystem.kms_key", "error not-built-yet storage.filesystem.existing",
        }),
        Row("azure", {"nodes.running": False, "storage.on_delete": "retain"}, FINE),
    ],
}  # fmt: skip
ROWS = [pytest.param(row, id=f"{rule_id}-{n}") for rule_id, rows in TABLE.items() for n, row in enumerate(rows)]


@pytest.mark.parametrize("row", ROWS)
def test_a_changed_spec_has_exactly_these_findings(row: Row, assessed: Callable[..., Assessment]) -> None:
    found = assessed(row.base, row.changes).findings
    assert {f"{f.level} {f.rule} {f.path}" for f in found} == row.findings
    assert all(f.message and f.fix and f.reference for f in found), "each says what, what to do and why"


@pytest.mark.parametrize("rule_id", RULES)
def test_every_rule_has_a_row_that_fails_and_one_that_passes(rule_id: str) -> None:
    told = [any(f" {rule_id} " in finding for finding in row.findings) for row in TABLE.get(rule_id, [])]
    assert True in told, f"no row of {rule_id} fails"
    assert False in told, f"no legal twin of {rule_id} passes"


@pytest.mark.parametrize("rule_id", RULES)
def test_every_rule_is_declared_in_full(rule_id: str) -> None:
    declared = RULES[rule_id]
    assert declared.id == rule_id
    assert declared.guards.endswith(".")
    assert declared.reference.startswith(("https://", "docs/", "CHANGELOG.md"))
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule_id)


def test_the_table_names_only_rules_that_exist() -> None:
    assert set(TABLE) == set(RULES)


def test_a_rule_id_can_not_be_used_twice() -> None:
    with pytest.raises(ValueError, match="expired is taken"):
        rule("expired", "error", reference="docs/spec.md")(lambda spec, facts: iter([Fault("", "", "")]))
