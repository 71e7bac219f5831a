"""Resources as others write them: machines, node pools, open security groups, plain buckets, scratch filesystems.

The short cases are data: `foreign/refused.yaml` and `foreign/fine.yaml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_policy import EnforcementLevel

from policies.pack import POLICIES

ADVISORY = {p.name for p in POLICIES if p.enforcement_level == EnforcementLevel.ADVISORY}
INSTANCE = "aws:ec2/instance:Instance"
TOKENS = {"httpTokens": "required"}
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
BUCKET = "aws:s3/bucket:Bucket"


def _cases(file: str) -> list[dict[str, Any]]:
    return yaml.safe_load((Path(__file__).parent / "foreign" / file).read_text())


def _short_type(resource: dict[str, Any]) -> str:
    return resource["type"].rpartition(":")[2]


@pytest.mark.parametrize("resource", _cases("refused.yaml"), ids=_short_type)
def test_a_fault_in_a_resource_of_others_is_refused(judge: Any, resource: dict[str, Any]) -> None:
    declared = {key: value for key, value in resource.items() if key != "policy"}
    refused = judge(declared)
    assert set(refused) - ADVISORY == {resource["policy"]}
    assert "r0" in refused[resource["policy"]][0]


@pytest.mark.parametrize("resource", _cases("fine.yaml"), ids=_short_type)
def test_what_is_fine_is_left_alone(judge: Any, resource: dict[str, Any]) -> None:
    assert judge(resource) == {}


@pytest.mark.parametrize("skip", [None, True])
def test_a_persistent_lustre_that_can_vanish_with_its_data_is_refused_twice(judge: Any, skip: bool | None) -> None:
    props = {"deploymentType": "PERSISTENT_2"} | ({} if skip is None else {"skipFinalBackup": skip})
    assert set(judge({"type": LUSTRE, "props": props})) == {"data-store-unprotected", "lustre-without-final-backup"}
    assert judge({"type": LUSTRE, "props": props, "protect": True}) == {}


def test_a_launcher_in_a_default_subnet_is_public_unless_the_subnet_says_otherwise(judge: Any) -> None:
    subnet = {"type": "aws:ec2/defaultSubnet:DefaultSubnet", "name": "default", "props": {}}
    props = {"metadataOptions": TOKENS, "subnetId": "<unknown>"}
    instance = {"type": INSTANCE, "props": props, "sources": {"subnetId": ["default"]}}
    assert set(judge(subnet, instance)) == {"aws-public-subnet"}
    assert judge(subnet | {"props": {"mapPublicIpOnLaunch": False}}, instance) == {}


def test_a_bucket_is_covered_by_a_block_that_names_it_or_by_one_for_the_account(judge: Any) -> None:
    every = dict.fromkeys(("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"), True)
    bucket = {"type": BUCKET, "props": {"bucket": "llm-data"}, "protect": True}
    block = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    for_account = {"type": "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock", "props": every}
    assert set(judge(bucket, {"type": block, "props": {"bucket": "llm-data", **every}})) <= ADVISORY
    assert set(judge(bucket, for_account)) <= ADVISORY
    refused = judge(bucket, {"type": block, "props": {"bucket": "other", **every}})
    assert set(refused) - ADVISORY == {"bucket-without-public-access-block"}


def test_an_account_with_its_public_endpoint_off_needs_no_network_rules(judge: Any) -> None:
    props = {
        "allowBlobPublicAccess": False,
        "allowSharedKeyAccess": False,
        "isHnsEnabled": True,
        "minimumTlsVersion": "TLS1_3",
        "publicNetworkAccess": "Disabled",
    }
    assert set(judge({"type": "azure-native:storage:StorageAccount", "props": props, "protect": True})) <= ADVISORY


@pytest.mark.parametrize(
    ("type_", "path", "policy"),
    [
        (INSTANCE, "metadataOptions", "aws-imds-v1"),
        ("azure-native:network:SecurityRule", "sourceAddressPrefix", "azure-public-ingress"),
        (BUCKET, "forceDestroy", "bucket-force-destroy"),
        ("azure-native:storage:StorageAccount", "minimumTlsVersion", "azure-storage-insecure-transport"),
        ("aws:ec2/capacityReservation:CapacityReservation", "instancePlatform", "aws-windows-node"),
        ("aws:ebs/volume:Volume", "encrypted", "aws-storage-unencrypted"),
    ],
)
def test_a_deciding_value_that_a_preview_does_not_know_is_said_and_never_a_refusal(
    judge: Any, type_: str, path: str, policy: str
) -> None:
    props = {"direction": "Inbound", "access": "Allow", path: "<unknown>"}
    (message,) = judge({"type": type_, "props": props})[policy]
    assert f"can't run policy '{policy}'" in message
    assert path in message


def test_old_tls_and_plain_http_are_set_right_where_a_remediation_is_asked_for(mended: Any) -> None:
    account = {"type": "azure-native:storage:StorageAccount", "props": {"enableHttpsTrafficOnly": False}}
    config = {"azure-storage-insecure-transport": "remediate"}
    assert mended(account, config) == {"enableHttpsTrafficOnly": True, "minimumTlsVersion": "TLS1_2"}
    account["props"] = {"enableHttpsTrafficOnly": False, "enableNfsV3": True, "minimumTlsVersion": "TLS1_2"}
    assert mended(account, config) == {}, "NFSv3 would stop"


def test_the_address_of_a_nat_gateway_is_not_taken_for_one_of_a_node_when_a_state_is_judged(judge: Any) -> None:
    address = {"type": "aws:ec2/eip:Eip", "props": {"networkInterface": "eni-0123456789abcdef0"}}
    assert "aws-public-address" in judge(address)
    address["props"]["instance"] = ""
    assert "aws-public-address" not in judge(address)
