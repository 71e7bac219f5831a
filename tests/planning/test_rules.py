"""What each rule says: one table of changed specs with the exact set of findings. Shape: test_spec."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from planning.facts.imagerecord import FILE, ImageRecord, render
from planning.plan import Assessment
from planning.rules import RULES
from planning.rules.registry import Fault, rule
from tests.sshkeys import rsa_key

TODAY = date(2026, 11, 30)
GB200, GB300 = "p6e-gb200.36xlarge", "Standard_ND128isr_GB300_v6"
IN_DALLAS = {
    "nodes.type": GB200,
    "zone": "use1-dfw2-az1",
    "nodes.purchase": "capacity-block",
    "nodes.reservation": "cr-0a1",
}
BLOCK = {"nodes.purchase": "capacity-block", "nodes.reservation": "cr-0123456789abcdef0"}
RESERVED = {"nodes.purchase": "reserved", "nodes.reservation": "cr-0123456789abcdef0"}
SPOT = {"nodes.purchase": "spot", "nodes.spot": {"max_price": 30}}
BUY = {"buy": "cb-0123456789abcdef0", "confirm": True}
AZURE_GROUP = "/subscriptions/01234567-89ab-cdef-0123-456789abcdef/resourceGroups/research/providers"
GROUP = f"{AZURE_GROUP}/Microsoft.Compute/capacityReservationGroups/research"
NC = {"nodes.type": "Standard_NC96ads_A100_v4", "nodes.count": 1}
NC_RESERVED = {**NC, "nodes.purchase": "reserved", "nodes.reservation": GROUP}
SCRATCH = {"storage.filesystem": {"capacity": "2400GiB", "deployment": "scratch"}, "storage.objects.link": True}
DLAMI = "/aws/service/deeplearning/ami/{}/base-oss-nvidia-driver-gpu-ubuntu-22.04/1/ami-id"
ECDSA = (
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBAABAgMEBQYHCAkKCwwNDg8QERIT"
    "FBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
)
AMI = "ami-0123456789abcdef0"
NAMED = "/acme/images/gpu"
UNRECORDED = "info image-not-recorded nodes.image"
OLD_RECORD = "warning image-record-old nodes.image"
MANY = "warning efa-connections-exceeded nodes.count"
PLAIN = {"throughput_per_tib": 125, "efa": False}
LINKED = {"storage.objects.link": True, "storage.filesystem.backup_days": 0}
KEYS, KEY_ID = "arn:aws:kms:us-east-1:123456789012", "01234567-89ab-cdef-0123-456789abcdef"
MOUNTED = {
    "storage.filesystem": {"existing": "fs-0123456789abcdef0", "efa": False},
    "network": {"existing": {"vpc": "vpc-0a1b2c3d", "subnet": "subnet-0a1b2c3d", "security_groups": ["sg-0a1b2c3d"]}},
}
VAULT_KEY = f"{AZURE_GROUP}/Microsoft.KeyVault/vaults/research/keys/lustre/versions/{'0123456789abcdef' * 2}"
AZURE_MOUNTED = {"storage.filesystem": {"existing": f"{AZURE_GROUP}/Microsoft.StorageCache/amlFilesystems/research"}}
APART = "warning existing-filesystem-apart storage.filesystem.existing"
OWN_CONTAINER = f"{AZURE_GROUP}/Microsoft.Storage/storageAccounts/researchdata/blobServices/default/containers/data"
PRINCIPAL = "44444444-4444-4444-4444-444444444444"
LINK = {"link": True, "link_principal": PRINCIPAL}
AZURE_LINKED = {f"storage.objects.{field}": value for field, value in LINK.items()}
OTHER = "fedcba98-89ab-cdef-0123-456789abcdef"
CHECKPOINT = "storage.objects.checkpoints"
BRIEFLY = f"warning cooled-too-briefly {CHECKPOINT}.cool_after_days"
NOT_MENDED = "info spot-gang-not-mended nodes.purchase"
TAKEN_BACK = "info spot-taken-back nodes.purchase"
TO_OPT_IN = "info zone-to-opt-in zone"
BY_THE_HOST = "info no-gpudirect nodes.type"
SECRET_LINES = tuple(
    line.replace("*", "Q" * 40)
    for line in (
        f"export AWS_ACCESS_KEY_ID={'AKIA'}{'Q' * 16}",
        "git clone https://ghp_*@github.com/acme/train.git",
        "hf auth login --token hf_*",
        "echo '-----BEGIN OPENSSH PRIVATE KEY-----' > /root/.ssh/id",
        "curl 'https://research.blob.core.windows.net/data/x?sv=2024-01-01&sig=*'",
        "WANDB_API_KEY=*",
        "pip install --index-url https://me:*@pypi.example.com/simple train",
        "export DB_PASSWORD='*'",
        "curl -H 'Authorization: Bearer *' https://api.example.com",
    )
)
SUBNET_OF_OTHER = (
    "/subscriptions/fedcba98-89ab-cdef-0123-456789abcdef/resourceGroups/research/providers/Microsoft.Network"
    "/virtualNetworks/research/subnets/nodes"
)
IN_OTHER = {"network": {"existing": {"subnet": SUBNET_OF_OTHER}}, "storage.filesystem": None}
OF_LINK = {"warning link-takes-shared-keys storage.objects.link", "info link-imports-once storage.objects.link"}


def recorded(asked: str, **changes: Any) -> str:
    """A record of one image."""
    fields = {"id": "ami-0a0a0a0a0a0a0a0a0", "name": "n", "arch": "x86_64", "root_device": "/dev/xvda", "root_gib": 120}
    days = {"recorded": TODAY - timedelta(days=180)}
    return render({"us-east-1": {asked: ImageRecord.model_validate({**fields, **days, **changes})}})


class Row(NamedTuple):
    base: str
    changes: dict[str, Any]
    findings: set[str]
    """Each as `level rule path`; all that is said, not just some of it."""
    images: str | None = None
    """What is recorded of images, where it is not all of them."""


FINE: set[str] = set()
VPC, SUBNET = "vpc-0123456789abcdef0", "subnet-0123456789abcdef0"
EXISTING = {"existing": {"vpc": VPC, "subnet": SUBNET}}
VNET = f"{AZURE_GROUP}/Microsoft.Network/virtualNetworks/research"
OWN_SUBNETS = {"subnet": f"{VNET}/subnets/nodes", "filesystem_subnet": f"{VNET}/subnets/lustre"}
NOTHING_MORE = "warning no-way-out-at-first-boot network.egress"
AS_THEY_COME = "info elastic-start nodes.start"
NO_CLIENT = "warning no-way-out-at-first-boot storage.filesystem"


def groups(number: int) -> list[str]:
    return [f"sg-0123456789abcde{n:02}" for n in range(number)]


TABLE: dict[str, list[Row]] = {
    "capacity-block-on-azure": [
        Row("azure", {"nodes.purchase": "capacity-block"}, {
            "error capacity-block-on-azure nodes.purchase",
        }),
        Row("aws", BLOCK, FINE),
    ],
    "purchase-not-offered": [
        Row("aws", {**BLOCK, "nodes.type": "g5.48xlarge"}, {
            "error purchase-not-offered nodes.purchase", BY_THE_HOST,
        }),
        Row("aws", {**RESERVED, "nodes.type": GB200, "nodes.count": 18, "zone": "use1-dfw2-az1"}, {
            "error purchase-not-offered nodes.purchase", TO_OPT_IN,
        }),
        Row("aws", {**IN_DALLAS, "nodes.count": 18}, {TO_OPT_IN}),
        Row("azure", {"nodes.purchase": "spot"}, {"info spot-evicted nodes.purchase"}),
    ],
    "reservation-missing": [
        Row("aws", {"nodes.purchase": "reserved"}, {"error reservation-missing nodes.reservation"}),
        Row("aws", {"nodes.purchase": "capacity-block"}, {"error reservation-missing nodes.reservation"}),
        Row("aws", RESERVED, FINE),
    ],
    "reservation-unused": [
        Row("aws", {"nodes.reservation": "cr-0a1"}, {"error reservation-unused nodes.reservation"}),
        Row("aws", {**RESERVED, "nodes.purchase": "spot"}, {
            "error reservation-unused nodes.reservation", "info spot-gang-not-mended nodes.purchase",
        }),
        Row("aws", RESERVED, FINE),
    ],
    "reservation-not-an-id": [
        Row("aws", {**RESERVED, "nodes.reservation": "r-0a1"}, {
            "error reservation-not-an-id nodes.reservation",
        }),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "lr-0a1", "count": 16}}, {
            "error reservation-not-an-id nodes.reservation.id",
        }),
        *(
            Row("azure", {**NC_RESERVED, "nodes.reservation": name}, {"error reservation-not-an-id nodes.reservation"})
            for name in ("my-group", GROUP.replace("01234567-", "mine-"), GROUP + "/capacityReservations/h100")
        ),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "count": 16}}, FINE),
        Row("azure", NC_RESERVED, FINE),
    ],
    "reservation-not-for-the-size": [
        Row("azure", {"nodes.purchase": "reserved", "nodes.reservation": GROUP}, {
            "error reservation-not-for-the-size nodes.purchase",
        }),
        Row("azure", NC_RESERVED, FINE),
    ],
    "capacity-block-too-large": [
        Row("aws", {**BLOCK, "nodes.count": 65}, {"error capacity-block-too-large nodes.count"}),
        Row("aws", {**BLOCK, "nodes.count": 64}, FINE),
    ],
    "placement-around-block": [
        Row("aws", {**BLOCK, "nodes.placement": "cluster"}, {"error placement-around-block nodes.placement"}),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "placement_group": "g"}}, {
            "error placement-around-block nodes.reservation.placement_group",
        }),
        Row("aws", {**BLOCK, "nodes.placement": "none"}, FINE),
    ],
    "placement-around-reservation": [
        Row("aws", {**RESERVED, "nodes.placement": "cluster"}, {
            "error placement-around-reservation nodes.placement",
        }),
        Row("aws", {
            **RESERVED, "nodes.placement": "cluster", "nodes.reservation": {"id": "cr-0", "placement_group": "g"},
        }, FINE),
        Row("aws", {**RESERVED, "nodes.placement": "none"}, FINE),
        Row("aws", {
            **RESERVED, "nodes.placement": "none", "nodes.reservation": {"id": "cr-0", "placement_group": "g"},
        }, {"error placement-around-reservation nodes.placement"}),
    ],
    "reservation-group-on-azure": [
        Row("azure", {**NC_RESERVED, "nodes.reservation": {"id": GROUP, "placement_group": "g"}}, {
            "warning reservation-group-on-azure nodes.reservation.placement_group",
        }),
        Row("azure", {**NC_RESERVED, "nodes.reservation": {"id": GROUP, "count": 1}}, FINE),
    ],
    "reservation-in-single-group": [
        Row("azure", {**NC_RESERVED, "nodes.placement": "cluster"}, {
            "error reservation-in-single-group nodes.placement",
        }),
        Row("azure", {**NC_RESERVED, "nodes.placement": "none"}, FINE),
    ],
    "gang-above-limit": [
        Row("aws", {"nodes.count": 1001}, {"error gang-above-limit nodes.count", MANY}),
        Row("aws", {"nodes.count": 1000}, {MANY}),
        Row("aws", {"nodes.count": 2000, "nodes.start": "elastic"}, {
            "info elastic-start nodes.start", MANY,
        }),
        Row("aws", {"nodes.count": 1001, "nodes.purchase": "spot"}, {
            "error gang-above-limit nodes.count", "info spot-gang-not-mended nodes.purchase", MANY,
        }),
    ],
    "gang-of-reserved": [
        Row("aws", {**RESERVED, "nodes.start": "gang"}, {"info gang-of-reserved nodes.start"}),
        Row("aws", {**BLOCK, "nodes.start": "gang"}, {"info gang-of-reserved nodes.start"}),
        Row("aws", {"nodes.start": "gang"}, FINE),
    ],
    "max-count-unused": [
        Row("aws", {"nodes.max_count": 32}, {"error max-count-unused nodes.max_count"}),
        Row("aws", {"nodes.max_count": 32, "nodes.start": "elastic"}, {"info elastic-start nodes.start"}),
    ],
    "max-count-below-count": [
        Row("aws", {"nodes.max_count": 15, "nodes.start": "elastic"}, {
            "error max-count-below-count nodes.max_count", "info elastic-start nodes.start",
        }),
        Row("aws", {"nodes.max_count": 16, "nodes.start": "elastic"}, {"info elastic-start nodes.start"}),
    ],
    "elastic-start": [
        Row("aws", {**RESERVED, "nodes.start": "elastic"}, {"info elastic-start nodes.start"}),
        Row("aws", RESERVED, FINE),
    ],
    "elastic-on-azure": [
        Row("azure", {"nodes.start": "elastic", "nodes.max_count": 32}, {"info elastic-on-azure nodes.start"}),
        Row("azure", {"nodes.start": "elastic", "nodes.max_count": 101}, {
            "info elastic-on-azure nodes.start", "error more-nodes-than-a-fabric nodes.count",
        }),
        Row("azure", {}, FINE),
    ],
    "spot-evicted": [
        Row("azure", {"nodes.purchase": "spot", "nodes.spot": {"max_price": 30.12345}}, {
            "info spot-evicted nodes.purchase",
        }),
        Row("azure", {}, FINE),
    ],
    "spot-price-digits": [
        Row("azure", {"nodes.purchase": "spot", "nodes.spot": {"max_price": 30.123456}}, {
            "error spot-price-digits nodes.spot.max_price", "info spot-evicted nodes.purchase",
        }),
        Row("azure", {"nodes.purchase": "spot", "nodes.spot": {"max_price": 30.5, "on_eviction": "deallocate"}}, {
            "info spot-evicted nodes.purchase",
        }),
    ],
    "spot-price-too-low": [
        Row("aws", {**SPOT, "nodes.spot": {"max_price": 25.74}}, {
            "warning spot-price-too-low nodes.spot.max_price", "info spot-gang-not-mended nodes.purchase",
        }),
        Row("aws", {**SPOT, "nodes.spot": {"max_price": 25.75}}, {"info spot-gang-not-mended nodes.purchase"}),
    ],
    "offering-not-an-id": [
        Row("aws", {**BLOCK, "nodes.reservation": {**BUY, "buy": "cr-0123456789abcdef0"}}, {
            "error offering-not-an-id nodes.reservation.buy", "warning capacity-block-bought nodes.reservation.buy",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": BUY}, {"warning capacity-block-bought nodes.reservation.buy"}),
    ],
    "reservation-still-paid": [
        Row("aws", {**RESERVED, "nodes.running": False}, {"warning reservation-still-paid nodes.running"}),
        Row("azure", {**NC_RESERVED, "nodes.running": False}, {"warning reservation-still-paid nodes.running"}),
        Row("aws", {"nodes.running": False}, FINE),
    ],
    "spot-options-unused": [
        Row("aws", {"nodes.spot": {"max_price": 20}}, {"error spot-options-unused nodes.spot"}),
        Row("aws", SPOT, {"info spot-gang-not-mended nodes.purchase"}),
    ],
    "spot-can-not-stop": [
        Row("aws", {**SPOT, "nodes.spot": {"on_eviction": "deallocate"}}, {
            "error spot-can-not-stop nodes.spot.on_eviction", "info spot-gang-not-mended nodes.purchase",
        }),
        Row("aws", {**SPOT, "nodes.spot": {"on_eviction": "delete"}}, {"info spot-gang-not-mended nodes.purchase"}),
    ],
    "spot-gang-not-mended": [
        Row("aws", {"nodes.purchase": "spot"}, {"info spot-gang-not-mended nodes.purchase"}),
        Row("aws", {"nodes.purchase": "spot", "nodes.start": "elastic"}, {AS_THEY_COME, TAKEN_BACK}),
    ],
    "spot-taken-back": [
        Row("aws", {"nodes.purchase": "spot", "nodes.start": "elastic"}, {AS_THEY_COME, TAKEN_BACK}),
        Row("aws", {"nodes.purchase": "spot"}, {NOT_MENDED}),
        Row("aws", {"nodes.start": "elastic"}, {AS_THEY_COME}),
    ],
    "reservation-too-small": [
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "count": 15}}, {
            "error reservation-too-small nodes.count",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "count": 16}}, FINE),
        Row("aws", {
            **RESERVED, "nodes.reservation": {"id": "cr-0a1", "count": 16}, "nodes.start": "elastic",
            "nodes.max_count": 17,
        }, {
            "error reservation-too-small nodes.count", "info elastic-start nodes.start",
        }),
    ],
    "reservation-partly-used": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "count": 32}}, {
            "warning reservation-partly-used nodes.count",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "count": 16}}, FINE),
    ],
    "reservation-in-other-zone": [
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "zone": "use1-az5"}}, {
            "error reservation-in-other-zone zone",
        }),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "zone": "use1-az6"}}, FINE),
    ],
    "reservation-dates": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "end": "2026-11-29"}}, {
            "error reservation-dates nodes.reservation.end",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2027-01-02", "end": "2027-01-02"}}, {
            "error reservation-dates nodes.reservation.end", "warning capacity-block-not-begun nodes.reservation.start",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2026-11-02", "end": "2027-01-02"}}, FINE),
    ],
    "reservation-future-dated": [
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "start": "2026-12-01"}}, {
            "error reservation-future-dated nodes.reservation.start",
        }),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "start": "2026-11-30"}}, FINE),
    ],
    "capacity-block-not-begun": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2026-12-01"}}, {
            "warning capacity-block-not-begun nodes.reservation.start",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2026-11-29"}}, FINE),
    ],
    "capacity-block-begins-today": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2026-11-30"}}, {
            "warning capacity-block-begins-today nodes.reservation.start",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2026-11-29"}}, FINE),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2026-11-30"}, "nodes.running": False}, {
            "warning reservation-still-paid nodes.running",
        }),
    ],
    "capacity-block-too-far": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2027-01-26"}}, {
            "warning capacity-block-too-far nodes.reservation.start",
            "warning capacity-block-not-begun nodes.reservation.start",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "start": "2027-01-25"}}, {
            "warning capacity-block-not-begun nodes.reservation.start",
        }),
    ],
    "capacity-block-ends": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "end": "2026-12-07"}}, {
            "warning capacity-block-ends nodes.reservation.end",
        }),
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "end": "2026-12-08"}}, FINE),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "end": "2026-12-07"}}, FINE),
    ],
    "capacity-block-bought": [
        Row("aws", {**BLOCK, "nodes.reservation": BUY}, {"warning capacity-block-bought nodes.reservation.buy"}),
        Row("aws", BLOCK, FINE),
    ],
    "purchase-without-block": [
        Row("aws", {**RESERVED, "nodes.reservation": BUY}, {"error purchase-without-block nodes.reservation"}),
        Row("aws", {**BLOCK, "nodes.reservation": BUY}, {"warning capacity-block-bought nodes.reservation.buy"}),
    ],
    "bastion-on-aws": [
        Row("aws", {"access.bastion": True}, {"error bastion-on-aws access.bastion"}),
        Row("aws", {"access.bastion": False}, FINE),
    ],
    "ultraserver-size": [
        Row("aws", {**IN_DALLAS, "nodes.count": 16}, {"error ultraserver-size nodes.count", TO_OPT_IN}),
        Row("aws", {**IN_DALLAS, "nodes.count": 9}, {TO_OPT_IN}),
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
        Row("aws", {"nodes.type": "g5.48xlarge", "nodes.count": 2}, {BY_THE_HOST}),
    ],
    "no-gpudirect": [
        *(Row("aws", {"nodes.type": name}, {BY_THE_HOST}) for name in ("g5.48xlarge", "g6e.48xlarge", "p5.4xlarge")),
        Row("aws", {"nodes.type": "g5.48xlarge", "nodes.count": 1}, FINE),
        Row("aws", {"nodes.type": "p4d.24xlarge"}, FINE),
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
        Row("aws", {"nodes.image": DLAMI.format("arm64")}, {"error image-does-not-fit nodes.image", UNRECORDED}),
        Row("aws", {"nodes.image": "/aws/service/neuron/dlami/base/ubuntu-22.04/1/image_id"}, {
            "error image-does-not-fit nodes.image", UNRECORDED,
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
        Row("aws", {"nodes.image": AMI}, {"error image-does-not-fit nodes.image"}, recorded(AMI, arch="arm64")),
        Row("aws", {"nodes.image": NAMED}, {"error image-does-not-fit nodes.image"}, recorded(NAMED, arch="arm64")),
        Row("aws", {"nodes.image": NAMED}, FINE, recorded(NAMED)),
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
            "error image-is-windows nodes.image", UNRECORDED,
        }),
        Row("azure", {"nodes.image": "canonical:ubuntu-24_04-lts:server:24.04.1"}, FINE),
    ],
    "image-not-pinned": [
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:latest"}, {
            "warning image-not-pinned nodes.image",
        }),
        Row("aws", {"nodes.image": "/aws/service/x/latest/ami-id"}, {"warning image-not-pinned nodes.image"}),
        Row("aws", {"nodes.image": "/aws/service/x/latest/ami-id"}, FINE, recorded("/aws/service/x/latest/ami-id")),
        Row("aws", {"nodes.image": ...}, FINE),
        Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:22.04.2025061801"}, FINE),
    ],
    "image-not-recorded": [
        Row("aws", {}, {UNRECORDED}, ""),
        Row("aws", {"nodes.image": AMI}, {UNRECORDED}, ""),
        Row("aws", {"nodes.image": NAMED}, {UNRECORDED}, ""),
        Row("aws", {"region": "us-west-2", "zone": "usw2-az1", "nodes.image": NAMED}, {UNRECORDED}, recorded(NAMED)),
        Row("aws", {"nodes.image": NAMED}, FINE, recorded(NAMED)),
        Row("azure", {}, FINE, ""),
    ],
    "image-record-old": [
        Row("aws", {"nodes.image": NAMED}, {OLD_RECORD}, recorded(NAMED, recorded=TODAY - timedelta(days=181))),
        Row("aws", {"nodes.image": NAMED}, {OLD_RECORD}, recorded(NAMED, deprecated=TODAY)),
        Row("aws", {"nodes.image": AMI}, {OLD_RECORD}, recorded(AMI, id=AMI, deprecated=TODAY)),
        Row("aws", {"nodes.image": AMI}, FINE, recorded(AMI, id=AMI, recorded=TODAY - timedelta(days=999))),
        Row("aws", {"nodes.image": NAMED}, FINE, recorded(NAMED, deprecated=TODAY + timedelta(days=1))),
    ],
    "image-record-unusable": [
        Row("aws", {}, {"error image-record-unusable nodes.image"}, "<<<<<<< HEAD"),
        Row("aws", {}, {"error image-record-unusable nodes.image"}, "[us-east-1.x]\nid = 'ami-1'"),
        Row("aws", {"nodes.image": NAMED}, FINE, recorded(NAMED)),
        Row("azure", {}, FINE, "<<<<<<< HEAD"),
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
        Row("aws", {"nodes.root_disk": "30GiB", "nodes.image": AMI}, FINE),
        Row("aws", {"nodes.root_disk": "30GiB", "nodes.image": AMI}, {UNRECORDED}, ""),
        Row("aws", {"nodes.root_disk": "119GiB", "nodes.image": NAMED}, {
            "error root-disk-below-image nodes.root_disk",
        }, recorded(NAMED)),
    ],
    "root-disk-too-large": [
        Row("aws", {"nodes.root_disk": "65537GiB"}, {"error root-disk-too-large nodes.root_disk"}),
        Row("azure", {"nodes.root_disk": "4TiB"}, {"error root-disk-too-large nodes.root_disk"}),
        Row("aws", {"nodes.root_disk": "64TiB"}, FINE),
        Row("azure", {"nodes.root_disk": "4095GiB"}, FINE),
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
    "fabric-off-in-setup": [
        *(
            Row("azure", {"nodes.setup": ["true", line]}, {"warning fabric-off-in-setup nodes.setup.1"})
            for line in (
                "export NCCL_IB_DISABLE=1", 'echo "NCCL_NET = Socket" >> /etc/nccl.conf', "NCCL_P2P_DISABLE=1 ./run",
                "export NCCL_IB_HCA=mlx5_an0",
            )
        ),
        *(
            Row("aws", {"nodes.setup": [line]}, {"warning fabric-off-in-setup nodes.setup.0"})
            for line in ("export FI_PROVIDER='tcp'", "NCCL_NET_PLUGIN=none", "NCCL_NET=Socket", "NCCL_P2P_DISABLE=1")
        ),
        Row("azure", {"nodes.setup": ["# export NCCL_IB_DISABLE=1", "export NCCL_IB_DISABLE=0"]}, FINE),
        Row("azure", {"nodes.setup": ["export NCCL_IB_HCA=mlx5_ib", "export NCCL_DEBUG=INFO"]}, FINE),
        Row("azure", {**NC, "nodes.setup": ["export NCCL_IB_DISABLE=1"]}, FINE),
        Row("aws", {"nodes.setup": ["export FI_PROVIDER=efa NCCL_IB_DISABLE=1"]}, FINE),
    ],
    "fabric-tuned-in-setup": [
        *(
            Row("aws", {"nodes.setup": [line]}, {"warning fabric-tuned-in-setup nodes.setup.0"})
            for line in (
                "export NCCL_ALGO=Tree", "NCCL_PROTO=simple", "FI_EFA_FORK_SAFE=1", "export RDMAV_FORK_SAFE=1",
                "export FI_EFA_USE_DEVICE_RDMA=1",
            )
        ),
        Row("azure", {"nodes.setup": ["export NCCL_ALGO=Ring"]}, FINE),
        Row("aws", {"nodes.setup": ["export FI_EFA_USE_HUGE_PAGE=0"]}, FINE),
    ],
    "driver-replaced-in-setup": [
        *(
            Row(cloud, {"nodes.setup": [line]}, {"warning driver-replaced-in-setup nodes.setup.0"})
            for cloud in ("aws", "azure")
            for line in (
                "apt-get install -y nvidia-driver-550", "apt install cuda", "sh NVIDIA-Linux-x86_64-570.86.15.run",
                "dnf -y install cuda-drivers", "./mlnxofedinstall --force", "sudo ubuntu-drivers autoinstall",
                "cd aws-efa-installer && ./efa_installer.sh -y",
            )
        ),
        Row("aws", {"nodes.image": AMI, "nodes.setup": ["apt-get install -y nvidia-driver-550"]}, FINE),
        Row("aws", {"nodes.setup": ["apt-get install -y cuda-toolkit-12-8 htop nvidia-container-toolkit"]}, FINE),
    ],
    "upgrade-in-setup": [
        *(
            Row("azure", {"nodes.setup": [line]}, {"warning upgrade-in-setup nodes.setup.0"})
            for line in (
                "apt-get update && apt-get -y upgrade", "apt dist-upgrade -y", "yum update -y",
                "dnf -y upgrade && true", "do-release-upgrade", "apt-get install -y unattended-upgrades",
                "sudo unattended-upgrade -d", "apt-get install linux-image-generic",
            )
        ),
        Row("azure", {"nodes.setup": [
            "apt-get update", "systemctl disable --now unattended-upgrades",
            "systemctl is-active unattended-upgrades", "grep -r . /etc/apt/apt.conf.d/50unattended-upgrades",
            "yum update -y curl", "apt-get install --only-upgrade openssl", "pip install --upgrade torch",
        ]}, FINE),
    ],
    "secret-in-setup": [
        *(
            Row("aws", {"nodes.setup": ["true", line]}, {"warning secret-in-setup nodes.setup.1"})
            for line in SECRET_LINES
        ),
        *(
            Row("azure", {"nodes.setup": [line]}, FINE)
            for line in (
                "export HF_TOKEN=$(az keyvault secret show --id https://v.vault.azure.net/secrets/hf --query value)",
                "export HF_TOKEN_PATH=/lustre/hf/token_of_the_team", "git clone https://github.com/acme/train.git",
                "TOKEN=${HF_TOKEN:?set by the launcher}", "export MAX_TOKENS=1000000000000",
                "SECRET=arn:aws:secretsmanager:us-east-1:123456789012:secret:hf",
            )
        ),
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
        Row("aws", {**SCRATCH, "storage.filesystem.throughput_per_tib": 250}, {
            "error throughput-of-scratch storage.filesystem.throughput_per_tib",
        }),
        Row("aws", SCRATCH, FINE),
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
        Row("aws", {**SCRATCH, "storage.filesystem.efa": True}, {"error efa-capacity storage.filesystem.efa"}),
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
        Row("aws", {"storage.filesystem.metadata_iops": 12000}, FINE),
        Row("aws", {"storage.filesystem.metadata_iops": 192000}, FINE),
    ],
    "metadata-iops-below-capacity": [
        *(
            Row("aws", {"storage.filesystem": {**PLAIN, "capacity": capacity, "metadata_iops": iops}}, {
                "warning metadata-iops-below-capacity storage.filesystem.metadata_iops",
            })
            for capacity, iops in (("2400GiB", 1500), ("9600GiB", 3000), ("38400GiB", 6000), ("48000GiB", 12000))
        ),
        *(
            Row("aws", {"storage.filesystem": {**PLAIN, "capacity": capacity, "metadata_iops": iops}}, FINE)
            for capacity, iops in (("1200GiB", 1500), ("9600GiB", 6000), ("45600GiB", 12000), ("48000GiB", 24000))
        ),
    ],
    "kms-key-form": [
        *(
            Row("aws", {"storage.filesystem.kms_key": key}, {"error kms-key-form storage.filesystem.kms_key"})
            for key in ("my-key", "alias/lustre", f"{KEYS}:alias/lustre", f"{KEYS}:key/0123", "arn:aws:s3:::bucket")
        ),
        Row("aws", {"storage.filesystem.kms_key": KEY_ID, "account": ...}, {
            "error kms-key-form storage.filesystem.kms_key", "info account-not-said account",
        }),
        Row("aws", {"storage.filesystem.kms_key": KEY_ID}, FINE),
        Row("aws", {"storage.filesystem.kms_key": f"{KEYS}:key/{KEY_ID}"}, FINE),
        Row("aws", {"storage.filesystem.kms_key": f"{KEYS}:key/mrk-{'0' * 32}"}, FINE),
    ],
    "kms-key-of-other-region": [
        Row("aws", {"storage.filesystem.kms_key": f"{KEYS.replace('east', 'west')}:key/{KEY_ID}"}, {
            "error kms-key-of-other-region storage.filesystem.kms_key",
        }),
        Row("aws", {"storage.filesystem.kms_key": f"{KEYS.replace('123', '999')}:key/{KEY_ID}"}, FINE),
    ],
    "scratch-cannot": [
        Row("aws", {**SCRATCH, "storage.filesystem.backup_days": 7}, {
            "error scratch-cannot storage.filesystem.backup_days",
        }),
        Row("aws", {**SCRATCH, "storage.filesystem.metadata_iops": 3000}, {
            "error scratch-cannot storage.filesystem.metadata_iops",
        }),
        Row("aws", {**SCRATCH, "storage.filesystem.kms_key": KEY_ID}, {
            "error scratch-cannot storage.filesystem.kms_key",
        }),
        Row("aws", {**SCRATCH, "storage.filesystem.backup_days": 0}, FINE),
    ],
    "scratch-without-link": [
        Row("aws", {**SCRATCH, "storage.objects.link": False}, {
            "warning scratch-without-link storage.filesystem.deployment",
        }),
        Row("aws", SCRATCH, FINE),
    ],
    "backups-off": [
        Row("aws", {"storage.filesystem.backup_days": 0}, {"warning backups-off storage.filesystem.backup_days"}),
        Row("aws", LINKED, FINE),
        Row("aws", {"storage.filesystem.backup_days": 1}, FINE),
    ],
    "existing-filesystem-id": [
        Row("azure", {"storage.filesystem": {"existing": "fs-0123456789abcdef0"}}, {
            "error existing-filesystem-id storage.filesystem.existing", APART,
        }),
        *(
            Row("aws", {**MOUNTED, "storage.filesystem.existing": name}, {
                "error existing-filesystem-id storage.filesystem.existing",
            })
            for name in ("my-lustre", "fs-xyz", "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com@tcp:/fsx")
        ),
        Row("aws", MOUNTED, FINE),
    ],
    "vault-key-form": [
        *(
            Row("azure", {"storage.filesystem.kms_key": key}, {"error vault-key-form storage.filesystem.kms_key"})
            for key in (
                "lustre",
                f"https://research.vault.azure.net/keys/lustre/{'0123456789abcdef' * 2}",
                VAULT_KEY.partition("/versions")[0],
            )
        ),
        Row("azure", {"storage.filesystem.kms_key": VAULT_KEY}, FINE),
    ],
    "vault-key-of-other-subscription": [
        Row("azure", {"account": "fedcba98-89ab-cdef-0123-456789abcdef", "storage.filesystem.kms_key": VAULT_KEY}, {
            "error vault-key-of-other-subscription storage.filesystem.kms_key",
        }),
        Row("azure", {"account": KEY_ID.upper(), "storage.filesystem.kms_key": VAULT_KEY}, FINE),
    ],
    "existing-filesystem-settings": [
        *(
            Row("aws", {**MOUNTED, f"storage.filesystem.{field}": value}, {
                f"error existing-filesystem-settings storage.filesystem.{field}",
            })
            for field, value in (
                ("capacity", "38400GiB"), ("throughput_per_tib", 250), ("deployment", "persistent"),
                ("deployment", "scratch"), ("backup_days", 7), ("metadata_iops", 12000), ("compression", "lz4"),
                ("kms_key", KEY_ID),
            )
        ),
        Row("aws", {**MOUNTED, "storage.filesystem.mount": "/data", "storage.filesystem.efa": True}, FINE),
    ],
    "existing-filesystem-apart": [
        Row("azure", AZURE_MOUNTED, {APART}),
        Row("aws", {**MOUNTED, "network": {}}, {"warning existing-filesystem-apart storage.filesystem.existing"}),
        Row("aws", {**MOUNTED, "network.existing.security_groups": []}, {
            "warning existing-filesystem-apart storage.filesystem.existing",
        }),
        Row("aws", MOUNTED, FINE),
    ],
    "existing-filesystem-tcp": [
        Row("aws", {**MOUNTED, "storage.filesystem.efa": "auto"}, {
            "info existing-filesystem-tcp storage.filesystem.efa",
        }),
        Row("aws", {**MOUNTED, "storage.filesystem.efa": True}, FINE),
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
        Row("aws", {"nodes.type": "g5.48xlarge", "zone": "use1-az4"}, {BY_THE_HOST}),
    ],
    "zone-to-opt-in": [
        Row("aws", {**IN_DALLAS, "nodes.count": 18}, {TO_OPT_IN}),
        Row("aws", {"zone": "use1-az4"}, FINE),
    ],
    "zone-left-open": [
        Row("azure", {"zone": ...}, {"info zone-left-open zone"}),
        Row("azure", {"zone": ..., "storage.filesystem": ...}, FINE),
        Row("azure", {"zone": 2}, FINE),
    ],
    "of-other-subscription": [
        Row("azure", {"account": OTHER, "storage.objects": {"existing": OWN_CONTAINER}}, {
            "warning of-other-subscription storage.objects.existing",
        }),
        Row("azure", {**AZURE_MOUNTED, "account": OTHER}, {
            "warning of-other-subscription storage.filesystem.existing", APART,
        }),
        Row("azure", {**NC_RESERVED, "account": OTHER}, {"warning of-other-subscription nodes.reservation"}),
        Row("azure", {"account": KEY_ID.upper(), "storage.objects": {"existing": OWN_CONTAINER}}, FINE),
        Row("azure", {**NC_RESERVED, **IN_OTHER, "account": ...}, {
            "info account-not-said account", "warning of-other-subscription nodes.reservation",
        }),
        Row("azure", {"account": ..., "storage.objects": {"existing": OWN_CONTAINER}}, {
            "info account-not-said account",
        }),
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
    "grows-above-cost-limit": [
        # 891.74 with 16 nodes, 55.04 for each more.
        Row("aws", {"lifetime.max_usd_per_hour": 1000, "nodes.start": "elastic", "nodes.max_count": 18}, {
            "warning grows-above-cost-limit nodes.max_count", AS_THEY_COME,
        }),
        Row("aws", {"lifetime.max_usd_per_hour": 1000, "nodes.start": "elastic", "nodes.max_count": 17}, {
            AS_THEY_COME,
        }),
        Row("aws", {"lifetime.max_usd_per_hour": 500, "nodes.start": "elastic", "nodes.max_count": 18}, {
            "error above-cost-limit lifetime.max_usd_per_hour", AS_THEY_COME,
        }),
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
    "expires-far-away": [
        Row("aws", {"lifetime.expires": "2029-11-30"}, {"warning expires-far-away lifetime.expires"}),
        Row("aws", {"lifetime.expires": "2029-11-29"}, FINE),
    ],
    "expires-after-reservation": [
        Row("aws", {**BLOCK, "nodes.reservation": {"id": "cr-0a1", "end": "2027-01-02"},
                    "lifetime.expires": "2027-01-03"}, {"warning expires-after-reservation lifetime.expires"}),
        Row("aws", {**RESERVED, "nodes.reservation": {"id": "cr-0a1", "end": "2027-01-02"},
                    "lifetime.expires": "2027-01-02"}, FINE),
    ],
    "network-too-small": [
        Row("aws", {"nodes.interfaces": "efa", "network.cidr": "10.40.0.0/24"}, {
            "error network-too-small network.cidr",
        }),
        Row("azure", {"network.cidr": "10.50.0.0/28"}, {"error network-too-small network.cidr"}),
        Row("azure", {"nodes.count": 100, "network.cidr": "10.50.0.0/25"}, {"error network-too-small network.cidr"}),
        Row("aws", {"network.cidr": "10.40.0.0/24"}, FINE),
        Row("aws", {"nodes.interfaces": "efa", "network.cidr": "10.40.0.0/20"}, FINE),
        Row("aws", {"nodes.start": "elastic", "nodes.max_count": 106, "network.cidr": "10.40.0.0/24"}, {AS_THEY_COME}),
        Row("aws", {"nodes.start": "elastic", "nodes.max_count": 107, "network.cidr": "10.40.0.0/24"}, {
            "error network-too-small network.cidr", AS_THEY_COME,
        }),
        Row("aws", {"nodes.count": 7, "network.egress": "none", "network.cidr": "10.40.0.0/26"}, {
            "error network-too-small network.cidr", NO_CLIENT,
        }),
        Row("aws", {"nodes.count": 6, "network.egress": "none", "network.cidr": "10.40.0.0/26"}, {NO_CLIENT}),
        Row("azure", {"access.bastion": True, "network.cidr": "10.50.0.0/25", "storage.filesystem": ...}, {
            "error network-too-small network.cidr",
        }),
        Row("azure", {"access.bastion": True, "network.cidr": "10.50.0.0/24", "storage.filesystem": ...}, FINE),
        Row("azure", {"network.cidr": "10.50.0.0/24", "storage.filesystem.capacity": "48TiB"}, {
            "error network-too-small network.cidr",
        }),
        Row("aws", {"network": EXISTING, "nodes.count": 65515, "nodes.start": "elastic"}, {
            "error network-too-small network.existing", MANY, AS_THEY_COME,
        }),
        Row("aws", {"network": EXISTING, "nodes.count": 65514, "nodes.start": "elastic"}, {MANY, AS_THEY_COME}),
    ],
    "network-outside-limits": [
        Row("aws", {"network.cidr": "10.0.0.0/8"}, {"error network-outside-limits network.cidr"}),
        Row("azure", {"network.cidr": "10.0.0.0/8"}, FINE),
    ],
    "network-not-for-hosts": [
        Row("aws", {"network.cidr": "169.254.0.0/16"}, {"error network-not-for-hosts network.cidr"}),
        Row("azure", {"network.cidr": "224.0.0.0/8"}, {"error network-not-for-hosts network.cidr"}),
        Row("azure", {"network.cidr": "168.63.0.0/16"}, {
            "error network-not-for-hosts network.cidr", "warning network-public network.cidr",
        }),
        Row("aws", {"network.cidr": "168.63.0.0/16"}, {"warning network-public network.cidr"}),
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
        Row("azure", {"network.cidr": "172.16.0.0/12"}, {
            "error network-of-infiniband network.cidr", "warning network-of-docker network.cidr",
        }),
        Row("azure", {"network.cidr": "172.20.0.0/16"}, FINE),
        Row("azure", {**NC, "network.cidr": "172.16.0.0/16"}, FINE),
        Row("aws", {"network.cidr": "172.16.0.0/16"}, FINE),
    ],
    "network-of-docker": [
        Row("aws", {"network.cidr": "172.17.0.0/16"}, {"warning network-of-docker network.cidr"}),
        Row("azure", {"network.cidr": "172.17.128.0/20"}, {"warning network-of-docker network.cidr"}),
        Row("aws", {"network.cidr": "172.18.0.0/16"}, FINE),
    ],
    "network-twice": [
        Row("aws", {"network": {"cidr": "10.40.0.0/16", **EXISTING}}, {"error network-twice network"}),
        Row("aws", {"network": EXISTING}, FINE),
    ],
    "network-not-an-id": [
        Row("aws", {"network.existing": {"vpc": "research", "subnet": "subnet-0123", "security_groups": ["sg-1"]}}, {
            "error network-not-an-id network.existing.vpc", "error network-not-an-id network.existing.subnet",
            "error network-not-an-id network.existing.security_groups.0",
        }),
        Row("aws", {"network.existing": {"vpc": VPC, "subnet": VPC}}, {
            "error network-not-an-id network.existing.subnet",
        }),
        Row("aws", {"network.existing": {"vpc": "vpc-1a2b3c4d", "subnet": "subnet-1a2b3c4d"}}, FINE),
    ],
    "security-groups-above-quota": [
        Row("aws", {"network.existing": {"vpc": VPC, "subnet": SUBNET, "security_groups": groups(5)}}, {
            "warning security-groups-above-quota network.existing.security_groups",
        }),
        Row("aws", {"network.existing": {"vpc": VPC, "subnet": SUBNET, "security_groups": groups(4) * 2}}, FINE),
    ],
    "egress-of-existing-network": [
        Row("aws", {"network": {**EXISTING, "egress": "none"}}, {
            "error egress-of-existing-network network.egress", NO_CLIENT,
        }),
        Row("aws", {"network": {**EXISTING, "egress": "nat", "flow_logs": True}}, FINE),
        Row("azure", {"network": {"existing": OWN_SUBNETS, "egress": "none"}}, {
            "error egress-of-existing-network network.egress", NOTHING_MORE,
        }),
        Row("azure", {"network": {"existing": OWN_SUBNETS, "egress": "nat"}}, FINE),
    ],
    "subnet-not-an-id": [
        Row("azure", {"network.existing": {"subnet": "nodes", "filesystem_subnet": f"{VNET}/subnets/lustre"}}, {
            "error subnet-not-an-id network.existing.subnet",
        }),
        Row("azure", {"network.existing": {**OWN_SUBNETS, "endpoint_subnet": f"{VNET}/subnets/"}}, {
            "error subnet-not-an-id network.existing.endpoint_subnet",
        }),
        Row("azure", {"account": "fedcba98-89ab-cdef-0123-456789abcdef", "network.existing": OWN_SUBNETS}, {
            "error subnet-not-an-id network.existing.subnet",
            "error subnet-not-an-id network.existing.filesystem_subnet",
        }),
        Row("azure", {"network.existing": OWN_SUBNETS}, FINE),
        Row("azure", {"account": ..., "network.existing": {k: v.lower() for k, v in OWN_SUBNETS.items()}}, {
            "info account-not-said account",
        }),
    ],
    "subnets-apart": [
        Row("azure", {"network.existing.subnet": OWN_SUBNETS["subnet"].replace("Networks/r", "Networks/s"),
                      "network.existing.filesystem_subnet": OWN_SUBNETS["filesystem_subnet"]}, {
            "error subnets-apart network.existing.filesystem_subnet",
        }),
        Row("azure", {"network.existing": {**OWN_SUBNETS, "endpoint_subnet": f"{VNET}/subnets/links"}}, FINE),
        Row("azure", {"network.existing": {**OWN_SUBNETS, "subnet": OWN_SUBNETS["subnet"].upper()}}, FINE),
    ],
    "filesystem-subnet-missing": [
        Row("azure", {"network.existing": {"subnet": OWN_SUBNETS["subnet"]}}, {
            "error filesystem-subnet-missing network.existing.filesystem_subnet",
        }),
        Row("azure", {"network.existing": {**OWN_SUBNETS, "filesystem_subnet": OWN_SUBNETS["subnet"]}}, {
            "error filesystem-subnet-missing network.existing.filesystem_subnet",
        }),
        Row("azure", {"network.existing": {**OWN_SUBNETS, "endpoint_subnet": OWN_SUBNETS["filesystem_subnet"]}}, {
            "error filesystem-subnet-missing network.existing.filesystem_subnet",
        }),
        Row("azure", {"network.existing": {"subnet": OWN_SUBNETS["subnet"]}, "storage.filesystem": ...}, FINE),
        Row("azure", {"network.existing": {**OWN_SUBNETS, "endpoint_subnet": OWN_SUBNETS["subnet"]}}, FINE),
    ],
    "bastion-in-existing-network": [
        Row("azure", {"access.bastion": True, "network.existing": OWN_SUBNETS}, {
            "error bastion-in-existing-network access.bastion",
        }),
        Row("azure", {"access.bastion": True}, FINE),
    ],
    "ssh-from-in-existing-network": [
        Row("azure", {"access.ssh_from": ["10.0.0.0/8"], "network.existing": OWN_SUBNETS}, {
            "error ssh-from-in-existing-network access.ssh_from",
        }),
        Row("azure", {"access.ssh_from": ["10.0.0.0/8"]}, FINE),
        Row("aws", {"access.ssh_from": ["10.0.0.0/8"], "network": EXISTING}, {
            "warning ssh-without-key access.ssh_from",
        }),
    ],
    "flow-logs-on-azure": [
        Row("azure", {"network.flow_logs": True}, {"error flow-logs-on-azure network.flow_logs"}),
        Row("aws", {"network.flow_logs": True}, FINE),
    ],
    "no-way-out-at-first-boot": [
        Row("aws", {"network.egress": "none", "nodes.setup": ["apt-get install -y htop"]}, {
            "warning no-way-out-at-first-boot nodes.setup", NO_CLIENT,
        }),
        Row("aws", {"network.egress": "none", "nodes.image": "ami-0123456789abcdef0"}, FINE),
        Row("aws", {"network.egress": "none", "storage.filesystem": ...}, FINE),
        Row("azure", {"network.egress": "none"}, {NOTHING_MORE}),
        Row("azure", {"network.egress": "none", "nodes.setup": ["apt-get install -y htop"]}, {
            NOTHING_MORE, "warning no-way-out-at-first-boot nodes.setup",
        }),
    ],
    "ssh-from-everywhere": [
        Row("azure", {"access.ssh_from": ["10.0.0.0/8", "0.0.0.0/0"]}, {"error ssh-from-everywhere access.ssh_from.1"}),
        Row("azure", {"access.ssh_from": ["0.0.0.0/1", "128.0.0.0/1"]}, {
            "error ssh-from-everywhere access.ssh_from.0", "error ssh-from-everywhere access.ssh_from.1",
        }),
        Row("azure", {"access.ssh_from": ["52.0.0.0/8", "54.0.0.0/8"]}, {"error ssh-from-everywhere access.ssh_from"}),
        Row("azure", {"access.ssh_from": ["52.0.0.0/8", "52.1.0.0/16", "10.0.0.0/8", "100.64.0.0/10"]}, FINE),
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
    "ssh-key-too-short": [
        Row("azure", {"access.ssh_public_key": rsa_key(1024)}, {"error ssh-key-too-short access.ssh_public_key"}),
        Row("azure", {"access.ssh_public_key": rsa_key(2047)}, {"error ssh-key-too-short access.ssh_public_key"}),
        Row("azure", {"access.ssh_public_key": rsa_key(2048)}, FINE),
        Row("aws", {"access.ssh_public_key": rsa_key(1024)}, FINE),
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
        *(
            Row("aws", {"storage.objects": {"existing": name}}, {"error bucket-name storage.objects.existing"})
            for name in ("s3://llama-data", "arn:aws:s3:::llama-data", "llama-data/checkpoints")
        ),
        Row("aws", {"storage.objects.name": "llama.70b"}, {"warning bucket-name-with-dots storage.objects.name"}),
    ],
    "bucket-name-with-dots": [
        Row("aws", {"storage.objects": {"existing": "llama.70b"}}, {
            "warning bucket-name-with-dots storage.objects.existing",
        }),
        Row("aws", {"storage.objects.name": "a..b"}, {"error bucket-name storage.objects.name"}),
        Row("aws", {"storage.objects": {"existing": "llama-70b"}}, FINE),
    ],
    "storage-account-name": [
        *(
            Row("azure", {"storage.objects.name": name}, {"error storage-account-name storage.objects.name"})
            for name in ("llama-70b-data", "Llama", "ab", "x" * 25)
        ),
        Row("azure", {"storage.objects.name": "llama70bdata"}, FINE),
    ],
    "existing-container-id": [
        *(
            Row("azure", {"storage.objects": {"existing": name}}, {
                "error existing-container-id storage.objects.existing",
            }) for name in ("researchdata", "https://researchdata.dfs.core.windows.net/data", OWN_CONTAINER + "/x")
        ),
        Row("azure", {"storage.objects": {"existing": OWN_CONTAINER}}, FINE),
        Row("azure", {"storage.objects": {"existing": OWN_CONTAINER.partition("/blobServices")[0]}}, FINE),
    ],
    "objects-named-for-other-region": [
        Row("aws", {"storage.objects": {"existing": "acme-eu-west-1-data"}}, {
            "warning objects-named-for-other-region storage.objects.existing",
        }),
        Row("azure", {"storage.objects": {"existing": OWN_CONTAINER.replace("researchdata", "researchwesteurope")}}, {
            "warning objects-named-for-other-region storage.objects.existing",
        }),
        Row("aws", {"storage.objects": {"existing": "acme-us-east-1-data"}}, FINE),
        Row("azure", {"region": "eastus2", "storage.objects": {
            "existing": OWN_CONTAINER.replace("researchdata", "researcheastus2"),
        }}, FINE),
        Row("aws", {"storage.objects": {"name": "acme-eu-west-1-data"}}, FINE),
    ],
    "objects-twice": [
        Row("aws", {"storage.objects": {"name": "llama-new", "existing": "llama-old"}}, {
            "error objects-twice storage.objects",
        }),
        Row("aws", {"storage.objects": {"existing": "llama-old"}}, FINE),
    ],
    "existing-objects-settings": [
        *(
            Row("aws", {"storage.objects": {"existing": "llama-old", "checkpoints": {field: 40}}}, {
                f"error existing-objects-settings storage.objects.checkpoints.{field}",
            })
            for field in ("cool_after_days", "expire_after_days")
        ),
        Row("aws", {"storage.objects": {"existing": "llama-old", "checkpoints": {"prefix": "runs"}}}, FINE),
    ],
    "expired-before-cooled": [
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 45, "expire_after_days": 45}}, {
            "error expired-before-cooled storage.objects.checkpoints.cool_after_days",
        }),
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 44, "expire_after_days": 74}}, FINE),
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 45}}, FINE),
    ],
    "cooled-too-briefly": [
        Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 44, "expire_after_days": 73}}, {BRIEFLY}),
        Row("aws", {"storage.objects.checkpoints": {"cool_after_days": 30, "expire_after_days": 59}}, {BRIEFLY}),
        Row("aws", {"storage.objects.checkpoints": {"cool_after_days": 30, "expire_after_days": 60}}, FINE),
        Row("aws", {"storage.objects.checkpoints": {"cool_after_days": 29, "expire_after_days": 31}}, {
            "info cooled-by-intelligent-tiering storage.objects.checkpoints.cool_after_days",
        }),
    ],
    "checkpoints-expire-soon": [
        Row("aws", {"storage.objects.checkpoints": {"expire_after_days": 6}}, {
            "warning checkpoints-expire-soon storage.objects.checkpoints.expire_after_days",
        }),
        Row("azure", {"storage.objects.checkpoints": {"expire_after_days": 7}}, FINE),
        Row("azure", {"storage.objects.checkpoints": {}}, FINE),
    ],
    "checkpoint-outlasts-notice": [
        # 9,375 MB/s for 120 s are 1,047 GiB; 6,000 MB/s for 30 s are 167 GiB.
        Row("aws", {**SPOT, f"{CHECKPOINT}.size": "1048GiB"}, {f"warning checkpoint-outlasts-notice {CHECKPOINT}.size",
            NOT_MENDED,
        }),
        Row("aws", {**SPOT, f"{CHECKPOINT}.size": "1047GiB"}, {NOT_MENDED}),
        Row("azure", {"nodes.purchase": "spot", f"{CHECKPOINT}.size": "168GiB"}, {
            f"warning checkpoint-outlasts-notice {CHECKPOINT}.size", "info spot-evicted nodes.purchase",
        }),
        Row("azure", {"nodes.purchase": "spot", f"{CHECKPOINT}.size": "167GiB"}, {"info spot-evicted nodes.purchase"}),
        Row("aws", {**BLOCK, f"{CHECKPOINT}.size": "6TiB"}, {f"warning checkpoint-outlasts-notice {CHECKPOINT}.size"}),
        Row("aws", {**BLOCK, f"{CHECKPOINT}.size": "5TiB"}, FINE),
        Row("aws", {**SPOT, **SCRATCH, f"{CHECKPOINT}.size": "53GiB"}, {
            f"warning checkpoint-outlasts-notice {CHECKPOINT}.size", NOT_MENDED,
        }),
        Row("aws", {f"{CHECKPOINT}.size": "7TiB"}, FINE),
        Row("aws", {**SPOT, f"{CHECKPOINT}.size": "9TiB", "storage.filesystem": ...}, {NOT_MENDED}),
    ],
    "checkpoint-slow": [
        # 9,375 MB/s for 900 s are 7,858 GiB.
        Row("aws", {f"{CHECKPOINT}.size": "7859GiB"}, {f"warning checkpoint-slow {CHECKPOINT}.size"}),
        Row("aws", {f"{CHECKPOINT}.size": "7858GiB"}, FINE),
        Row("aws", {**SPOT, f"{CHECKPOINT}.size": "7859GiB"}, {
            f"warning checkpoint-outlasts-notice {CHECKPOINT}.size", NOT_MENDED,
        }),
    ],
    "checkpoint-above-filesystem": [
        Row("aws", {"storage.filesystem.capacity": "2400GiB", f"{CHECKPOINT}.size": "1201GiB"}, {
            f"warning checkpoint-above-filesystem {CHECKPOINT}.size", f"warning checkpoint-slow {CHECKPOINT}.size",
            "info efa-left-off storage.filesystem.capacity",
        }),
        Row("azure", {f"{CHECKPOINT}.size": "49TiB"}, {
            f"warning checkpoint-above-filesystem {CHECKPOINT}.size", f"warning checkpoint-slow {CHECKPOINT}.size",
        }),
        Row("aws", {f"{CHECKPOINT}.size": "19200GiB"}, {f"warning checkpoint-slow {CHECKPOINT}.size"}),
        Row("aws", {**MOUNTED, f"{CHECKPOINT}.size": "1PiB"}, FINE),
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
            "error link-without-filesystem storage.objects.link",
        }),
        Row("aws", LINKED, FINE),
    ],
    "link-roles-unseen": [
        Row("azure", {"storage.objects.link": True}, {
            "warning link-roles-unseen storage.objects.link_principal", *OF_LINK,
        }),
        Row("azure", AZURE_LINKED, OF_LINK),
    ],
    "link-principal-alone": [
        Row("azure", {"storage.objects.link_principal": PRINCIPAL}, {
            "error link-principal-alone storage.objects.link_principal",
        }),
        Row("azure", AZURE_LINKED, OF_LINK),
    ],
    "link-takes-shared-keys": [
        Row("azure", {"storage.objects": {"existing": OWN_CONTAINER, **LINK}}, OF_LINK),
        Row("azure", {"storage.objects.link": False}, FINE),
    ],
    "link-imports-once": [
        Row("azure", AZURE_LINKED, OF_LINK),
        Row("azure", {"storage.objects.link": False}, FINE),
    ],
    "link-of-existing-filesystem": [
        Row("aws", {**MOUNTED, "storage.objects.link": True}, {
            "error link-of-existing-filesystem storage.objects.link",
        }),
        Row("aws", MOUNTED, FINE),
    ],
    "backups-of-linked": [
        Row("aws", {**LINKED, "storage.filesystem.backup_days": 7}, {
            "error backups-of-linked storage.filesystem.backup_days",
        }),
        Row("aws", {**LINKED, "storage.filesystem.backup_days": 0}, FINE),
        Row("aws", {"storage.filesystem.backup_days": 7}, FINE),
    ],
    "linked-without-backups": [
        Row("aws", {"storage.objects.link": True}, {"info linked-without-backups storage.objects.link"}),
        Row("aws", SCRATCH, FINE),
    ],
    "destroy-deletes-data": [
        Row("aws", {"storage.on_delete": "delete"}, {"warning destroy-deletes-data storage.on_delete"}),
        Row("aws", {**MOUNTED, "storage.on_delete": "delete"}, {"warning destroy-deletes-data storage.on_delete"}),
        Row("aws", {**MOUNTED, "storage.on_delete": "delete", "storage.objects": {"existing": "llama-old"}}, FINE),
        Row("azure", {"storage.on_delete": "retain"}, FINE),
    ],
    "waiver-unused": [
        Row("aws", {"waive": {"efa-without-placement": "one rack"}}, {
            "info waiver-unused waive.efa-without-placement",
        }),
        Row("aws", {"waive": {"efa-without-placement": "one rack", "waiver-unused": "kept for later"}}, {
            "waived waiver-unused waive.efa-without-placement",
        }),
        Row("aws", {"waive": {"ssh-key-too-short": "old key"}}, {"info waiver-unused waive.ssh-key-too-short"}),
        Row("aws", {"nodes.placement": "none", "waive": {"efa-without-placement": "one rack"}}, {
            "waived efa-without-placement nodes.placement",
        }),
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
}  # fmt: skip
ROWS = [pytest.param(row, id=f"{rule_id}-{n}") for rule_id, rows in TABLE.items() for n, row in enumerate(rows)]


@pytest.mark.parametrize("row", ROWS)
def test_a_changed_spec_has_exactly_these_findings(
    row: Row, assessed: Callable[..., Assessment], tmp_path: Path
) -> None:
    if row.images is not None:
        (tmp_path / FILE).write_text(row.images)
    found = assessed(row.base, row.changes, None if row.images is None else tmp_path).findings
    assert {f"{f.level} {f.rule} {f.path}" for f in found} == row.findings
    assert all(f.message and f.fix and f.reference for f in found), "each says what, what to do and why"


@pytest.mark.parametrize("rule_id", RULES)
def test_every_rule_has_a_row_that_fails_and_one_that_passes(rule_id: str) -> None:
    told = [any(f" {rule_id} " in finding for finding in row.findings) for row in TABLE.get(rule_id, [])]
    assert True in told, f"no row of {rule_id} fails"
    assert False in told, f"no legal twin of {rule_id} passes"


@pytest.mark.parametrize("line", SECRET_LINES)
def test_a_secret_is_told_and_never_repeated(line: str, assessed: Callable[..., Assessment]) -> None:
    told = "".join(f.message + f.fix for f in assessed("aws", {"nodes.setup": [line]}).findings)
    assert "secret" in told or "key" in told or "token" in told or "password" in told or "signature" in told
    assert "QQQQ" not in told
    assert "OPENSSH" not in told


def test_a_line_of_a_setup_file_is_told_by_its_number(assessed: Callable[..., Assessment], tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_text("#!/bin/bash\n\nexport NCCL_IB_DISABLE=1\n")
    told = assessed("azure", {"nodes.setup": "setup.sh"}, tmp_path).findings
    [fault] = [f for f in told if f.rule == "fabric-off-in-setup"]
    assert (fault.path, fault.message[:35]) == ("nodes.setup", "line 3 of the file: NCCL_IB_DISABLE")


@pytest.mark.parametrize(
    ("base", "changes", "takes", "fix"),
    [
        ("aws", {**SPOT, f"{CHECKPOINT}.size": "2TiB"}, "235 s at the filesystem's 9,375 MB/s",
            "write storage.filesystem.capacity: 76800GiB or throughput_per_tib: 500; 1047GiB are"),
        ("azure", {"nodes.purchase": "spot", f"{CHECKPOINT}.size": "1TiB"}, "183 s at the filesystem's 6,000 MB/s",
            "write storage.filesystem.capacity: 311296GiB; 167GiB are"),
    ],
)  # fmt: skip
def test_a_checkpoint_that_outlasts_the_notice_is_told_in_seconds_with_what_would_do(
    base: str, changes: dict[str, Any], takes: str, fix: str, assessed: Callable[..., Assessment]
) -> None:
    [fault] = [f for f in assessed(base, changes).findings if f.rule == "checkpoint-outlasts-notice"]
    assert takes in fault.message
    assert fault.fix.startswith(fix)


def test_before_the_end_of_a_block_the_last_checkpoint_begins_in_time(assessed: Callable[..., Assessment]) -> None:
    changes = {**BLOCK, f"{CHECKPOINT}.size": "6TiB"}
    [fault] = [f for f in assessed("aws", changes).findings if f.rule == "checkpoint-outlasts-notice"]
    assert "takes 704 s" in fault.message
    assert "the end of a Capacity Block gives 600 s' notice" in fault.message
    assert fault.fix.endswith("or begin the last one 42 minutes before the block's end")


def test_without_a_size_spot_says_what_is_written_in_the_notice(assessed: Callable[..., Assessment]) -> None:
    [said] = [f for f in assessed("azure", {"nodes.purchase": "spot"}).findings if f.rule == "spot-evicted"]
    assert "in which the filesystem takes 167 GiB at best" in said.message


@pytest.mark.parametrize("rule_id", RULES)
def test_every_rule_is_declared_in_full(rule_id: str) -> None:
    declared = RULES[rule_id]
    assert declared.id == rule_id
    assert declared.guards.endswith(".")
    assert set(declared.references) == ({"aws", "azure"} if declared.cloud == "both" else {declared.cloud})
    assert all(r.startswith(("https://", "docs/")) and " " not in r for r in declared.references.values())
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule_id)


def test_the_table_names_only_rules_that_exist() -> None:
    assert set(TABLE) == set(RULES)


def test_a_rule_id_can_not_be_used_twice() -> None:
    with pytest.raises(ValueError, match="expired is taken"):
        rule("expired", "error", reference="docs/spec.md")(lambda spec, facts: iter([Fault("", "", "")]))
