"""What `check` refuses, the local cloud refuses, too, where a cloud would: clusters forced past the rules, by table.

A row says which rule tells of the mistake, and the words in which the cloud refuses it. Rules without a row speak of
what no cloud refuses: advice, what this project decides, and what only running nodes would find out.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest

from planning.azureids import example
from planning.plan import assess
from tests.agreement import aws_specs as aws
from tests.agreement import azure_specs as azure
from tests.agreement.forced import refused_all_the_same
from tests.agreement.specs import ECDSA
from tests.clusters import EXAMPLES, ROOT, changed, spec_of_stack
from tests.sshkeys import rsa_key

TODAY = datetime.now(UTC).date()
ENDED = {"start": (TODAY - timedelta(days=9)).isoformat(), "end": (TODAY - timedelta(days=2)).isoformat()}
MANY = {f"tag-{n}": "x" for n in range(60)}
BLOCK = {"nodes.purchase": "capacity-block", "nodes.reservation": aws.RESERVATION}
RESERVED = {"nodes.purchase": "reserved", "nodes.reservation": aws.RESERVATION}
GROUP = example("Microsoft.Compute/capacityReservationGroups/research", azure.HERE)
NC_RESERVED = {
    "nodes.type": "Standard_NC24ads_A100_v4",
    "nodes.count": 1,
    "nodes.purchase": "reserved",
    "nodes.reservation": GROUP,
}
GB200 = {"nodes.type": "Standard_ND128isr_NDR_GB200_v6", "nodes.count": 18}
OWN_NETWORK = {"network.cidr": ..., "network.existing": {"vpc": aws.VPC, "subnet": "subnet-x"}}
VALID = "1 validation error detected"
OVERLAP = 'Code="NetcfgSubnetRangesOverlap"'
KEY = 'Code="InvalidParameter" Message="The value of parameter virtualMachineProfile.osProfile.linuxConfiguration.ssh'


class Row(NamedTuple):
    cloud: str
    changes: dict[str, Any]
    rule: str
    says: str


ROWS = [
    Row("aws", {"region": "eastus"}, "region-of-other-cloud", "'eastus' is not an AWS region"),
    Row("aws", {"zone": "us-east-1a"}, "zone-not-an-id", "InvalidParameterValue: Value (us-east-1a)"),
    Row("aws", {"zone": "usw2-az1"}, "zone-of-other-region", "InvalidParameterValue: Value (usw2-az1)"),
    Row("aws", {"nodes.count": 1001}, "gang-above-limit", "InvalidParameterValue: instanceCount"),
    Row("aws", {"nodes.count": 1001, "nodes.purchase": "spot"}, "gang-above-limit", "minTargetCapacity: the maximum"),
    Row("aws", {"nodes.purchase": "capacity-block"}, "reservation-missing", "needs the id of a Capacity Block"),
    Row("aws", {"nodes.type": "g5.48xlarge", **BLOCK}, "purchase-not-offered", "g5.48xlarge is not sold as capacity"),
    Row("aws", {"nodes.type": "trn1n.32xlarge", **BLOCK}, "purchase-not-offered", "InvalidParameterCombination"),
    Row("aws", {**BLOCK, "nodes.reservation": {"id": aws.RESERVATION, "count": 8}}, "reservation-too-small",
        "ReservationCapacityExceeded"),
    Row("aws", {**RESERVED, "nodes.reservation": {"id": aws.RESERVATION, "count": 4}}, "reservation-too-small",
        "ReservationCapacityExceeded"),
    Row("aws", {**BLOCK, "nodes.reservation": {"id": aws.RESERVATION, **ENDED}}, "reservation-dates",
        "InvalidCapacityReservationState"),
    Row("aws", {**BLOCK, "nodes.reservation": {"id": aws.RESERVATION, "zone": "use1-az1"}},
        "reservation-in-other-zone", "is for use1-az1, not use1-az6"),
    Row("aws", {**RESERVED, "nodes.reservation": {"id": aws.RESERVATION, "zone": "use1-az1"}},
        "reservation-in-other-zone", "is for use1-az1, not use1-az6"),
    Row("aws", {**BLOCK, "nodes.reservation": {"id": aws.RESERVATION, "placement_group": "research"}},
        "placement-around-block", "InsufficientInstanceCapacity"),
    Row("aws", {
        **RESERVED, "nodes.placement": "none",
        "nodes.reservation": {"id": aws.RESERVATION, "placement_group": "research"},
    }, "placement-around-reservation", "InsufficientInstanceCapacity"),
    Row("aws", {"nodes.image": "ubuntu"}, "image-form", "InvalidAMIID.Malformed"),
    Row("aws", {"nodes.root_disk": "65TiB"}, "root-disk-too-large", "InvalidParameterValue: blockDeviceMappings[0]"),
    Row("aws", {"nodes.setup": ["x" * 17_000]}, "setup-too-long", "User data is limited to 16384 bytes"),
    Row("aws", {"network.cidr": "10.0.0.0/8"}, "network-outside-limits", "a prefix between /16 and /28"),
    Row("aws", {"network.cidr": "10.0.0.0/29"}, "network-too-small", "a prefix between /16 and /28"),
    Row("aws", {"network.cidr": "10.0.0.0/26"}, "network-too-small", "InsufficientFreeAddressesInSubnet"),
    Row("aws", {"network.cidr": "10.0.0.0/23", "nodes.interfaces": "efa"}, "network-too-small",
        "InsufficientFreeAddressesInSubnet"),
    Row("aws", {"network.cidr": "169.254.0.0/16"}, "network-not-for-hosts", "InvalidVpc.Range"),
    Row("aws", {"network.cidr": "224.0.0.0/16"}, "network-not-for-hosts", "InvalidVpc.Range"),
    Row("aws", OWN_NETWORK, "network-not-an-id", VALID),
    Row("aws", {"storage.filesystem.capacity": "3600GiB"}, "capacity-not-sold", "Invalid Lustre FS storage capacity"),
    Row("aws", {"storage.filesystem.throughput_per_tib": 300}, "throughput-not-sold", "perUnitStorageThroughput"),
    Row("aws", {"storage.filesystem.metadata_iops": 2000}, "metadata-iops-not-sold", "BadRequest: metadataConf"),
    Row("aws", {"storage.filesystem": {"capacity": "1200GiB", "efa": True}}, "efa-capacity",
        "Must be a multiple of 19200 with EFA"),
    Row("aws", {"storage.filesystem": {"existing": "fs-xyz"}}, "existing-filesystem-id", "FileSystemNotFound"),
    Row("aws", {"storage.objects.name": "Upper"}, "bucket-name", "'Upper' is not a bucket name"),
    Row("aws", {"storage.objects.name": "a_b"}, "bucket-name", "'a_b' is not a bucket name"),
    Row("aws", {"storage.objects.name": "xn--data"}, "bucket-name", "InvalidBucketName"),
    Row("aws", {"storage.objects.name": "10.40.0.1"}, "bucket-name", "InvalidBucketName"),
    Row("aws", {"storage.objects.checkpoints": {"cool_after_days": 60, "expire_after_days": 30}},
        "expired-before-cooled", "InvalidArgument"),
    Row("aws", {"storage.objects.checkpoints": {"cool_after_days": 30, "expire_after_days": 30}},
        "expired-before-cooled", "InvalidArgument"),
    Row("aws", {"access.ssh_public_key": ECDSA}, "ssh-key-refused", "Key is not in valid OpenSSH public key format"),
    Row("aws", {"tags": {"aws:team": "a"}}, "tag-key-refused", "aws: prefixed tag key names|keys starting with 'aws:'"),
    Row("aws", {"tags": {"a<b": "a"}}, "tag-key-refused", VALID),
    Row("aws", {"tags": {"k" * 129: "a"}}, "tag-key-refused", VALID),
    Row("aws", {"tags": {"a": "v" * 257}}, "tag-value-refused", VALID),
    Row("aws", {"tags": {"a": "a<b"}}, "tag-value-refused", VALID),
    Row("aws", {"tags": MANY}, "tags-too-many", VALID),
    Row("azure", {"region": "us-east-1"}, "region-of-other-cloud", 'Code="LocationNotAvailableForResourceGroup"'),
    Row("azure", {"nodes.count": 101}, "more-nodes-than-a-fabric", "the total limit of '100' Virtual Machine"),
    Row("azure", {**GB200, "nodes.count": 1008}, "more-nodes-than-a-fabric", "the total limit of '1000' Virtual"),
    Row("azure", {**GB200, "nodes.placement": "cluster"}, "placement-refused-by-size", "Vertical Connect Feature"),
    Row("azure", {**NC_RESERVED, "nodes.placement": "cluster"}, "reservation-in-single-group",
        "Capacity reservation is not supported with a single placement group"),
    Row("azure", {**NC_RESERVED, "zone": "1", "nodes.reservation": {"id": GROUP, "zone": "2"}},
        "reservation-in-other-zone", "has no capacity reservation of the VM size and zone"),
    Row("azure", {"nodes.purchase": "spot", "nodes.spot": {"max_price": 1.1234567}}, "spot-price-digits",
        'Code="MaxPriceValueInvalid"'),
    Row("azure", {"nodes.image": "microsoft-dsvm:ubuntu-hpc:2404-gb:24.04.2025110401"}, "image-does-not-fit",
        "only supports a CPU Architecture of 'x64'"),
    Row("azure", {**GB200, "nodes.image": "microsoft-dsvm:ubuntu-hpc:2204:22.04.2026082801"}, "image-does-not-fit",
        "only supports a CPU Architecture of 'Arm64'"),
    Row("azure", {"nodes.root_disk": "32GiB"}, "root-disk-below-image", 'Code="OperationNotAllowed"'),
    Row("azure", {"nodes.root_disk": "5TiB"}, "root-disk-too-large", "osDisk.diskSizeGB"),
    Row("azure", {"nodes.setup": ["x" * 70_000]}, "setup-too-long", "Custom data in OSProfile"),
    Row("azure", {"network.cidr": "10.0.0.0/30"}, "network-too-small", 'Code="NetcfgInvalidSubnet"'),
    Row("azure", {"network.cidr": "10.0.0.0/28"}, "network-too-small", OVERLAP),
    Row("azure", {"network.cidr": "10.0.0.0/25"}, "network-too-small", OVERLAP),
    Row("azure", {"network.cidr": "10.0.0.0/27"}, "network-too-small", 'Code="NetcfgSubnetRangeOutsideVnet"'),
    Row("azure", {"network.cidr": "10.0.0.0/26", "storage.filesystem": None, "access.bastion": True},
        "network-too-small", OVERLAP),
    Row("azure", {"network.cidr": "168.63.0.0/16"}, "network-not-for-hosts", "168.63.129.16/32, which is reserved"),
    Row("azure", {"network.cidr": "224.0.0.0/16"}, "network-not-for-hosts", "224.0.0.0/4, which is reserved"),
    Row("azure", {"storage.filesystem.capacity": "20TiB"}, "capacity-not-sold", "must be a multiple of 16 TiB"),
    Row("azure", {"storage.filesystem.capacity": "4TiB"}, "capacity-not-sold", "must be a multiple of 16 TiB"),
    Row("azure", {"storage.filesystem.throughput_per_tib": 300}, "throughput-not-sold", "of parameter 'sku.name'"),
    Row("azure", {"storage.filesystem": {"existing": "x"}}, "existing-filesystem-id", "ResourceNotFound"),
    Row("azure", {"storage.objects.name": "Upper"}, "storage-account-name", "does not match expression"),
    Row("azure", {"storage.objects.name": "a-b"}, "storage-account-name", "does not match expression"),
    Row("azure", {"storage.objects.name": "ab"}, "storage-account-name", "'accountName' is too short (2)"),
    Row("azure", {"storage.objects.name": "a" * 25}, "storage-account-name", "'accountName' is too long (25)"),
    Row("azure", {"storage.objects.checkpoints": {"cool_after_days": 60, "expire_after_days": 30}},
        "expired-before-cooled", 'Code="InvalidRequestPropertyValue"'),
    Row("azure", {"access.ssh_public_key": ...}, "ssh-key-missing", KEY),
    Row("azure", {"access.ssh_public_key": ECDSA}, "ssh-key-refused", KEY),
    Row("azure", {"access.ssh_public_key": rsa_key(1024)}, "ssh-key-too-short", KEY),
    Row("azure", {"tags": {"a/b": "a"}}, "tag-key-refused", 'Code="InvalidTagNameCharacters"'),
    Row("azure", {"tags": {"microsoft.team": "a"}}, "tag-key-refused", 'Code="ReservedTagName"'),
    Row("azure", {"tags": {"k" * 129: "a"}}, "tag-key-refused", 'Code="InvalidTagName"'),
    Row("azure", {"tags": {"a": "v" * 257}}, "tag-value-refused", 'Code="InvalidTagValue"'),
    Row("azure", {"tags": {"team": "a", "Team": "b"}}, "tag-twice", 'Code="DuplicateTagName"'),
    Row("azure", {"tags": MANY}, "tags-too-many", 'Code="InvalidTags"'),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.cloud}-{row.rule}-{row.says[:30]}")
def test_what_check_refuses_is_refused_in_the_words_of_the_cloud(row: Row) -> None:
    raw = changed(spec_of_stack(EXAMPLES[row.cloud]), row.changes)
    told = assess(raw, TODAY, ROOT / "stacks").findings
    assert row.rule in {f.rule for f in told if f.level == "error"}
    said = refused_all_the_same(raw, TODAY)
    assert any(words in said[0] for words in row.says.split("|")), said
