"""Whole clusters as our components declare them, and each of them broken in one place.

Resources that others wrote: the tests by area. What holds for every policy: `test_pack`.
"""

from __future__ import annotations

from typing import Any

import pytest


def test_the_aws_cluster_passes_the_whole_pack_in_a_preview(aws_cluster: Any) -> None:
    assert aws_cluster.verdicts() == []


def test_the_azure_cluster_passes_the_whole_pack_in_a_preview(azure_cluster: Any) -> None:
    assert azure_cluster.verdicts() == []


AWS = [
    ("reservation", "instancePlatform", "Windows", "aws-windows-node", 'instancePlatform of reservation is "Windows"'),
    ("nodes-template", "imageId", "resolve:ssm:/aws/service/ami-windows-latest/Windows_Server-2022-English-Full-Base",
     "aws-windows-node", "imageId of nodes-template"),
    ("nodes-template", "userData", "PHBvd2Vyc2hlbGw+DQpHZXQtRGlzaw0KPC9wb3dlcnNoZWxsPg==", "aws-windows-node",
     "userData of nodes-template is a script for Windows"),
    ("placement", "strategy", "spread", "efa-nodes-without-placement", 'strategy of placement is "spread"'),
    ("fabric-in", "ipProtocol", "tcp", "efa-group-not-self-referring", "ingress of fabric-group holds no rule"),
    ("fabric-out", "ipProtocol", "tcp", "efa-group-not-self-referring", "egress of fabric-group holds no rule"),
    ("nodes-template", "networkInterfaces.1.securityGroups", None, "efa-group-not-self-referring",
     "networkInterfaces[1].securityGroups of nodes-template is not set"),
    ("nodes-template", "networkInterfaces.0.associatePublicIpAddress", "true", "aws-public-address",
     "networkInterfaces[0].associatePublicIpAddress of nodes-template is true"),
    ("nodes-subnet", "mapPublicIpOnLaunch", True, "aws-public-subnet",
     "mapPublicIpOnLaunch of nodes-subnet is true, and nodes launches into it"),
    ("nodes-template", "metadataOptions.httpTokens", "optional", "aws-imds-v1",
     'metadataOptions.httpTokens of nodes-template is "optional"'),
    ("nodes-template", "metadataOptions", None, "aws-imds-v1",
     "metadataOptions.httpTokens of nodes-template is not set"),
    ("objects-private", "blockPublicPolicy", False, "bucket-public", "blockPublicPolicy of objects-private is false"),
    ("objects-private", "restrictPublicBuckets", None, "bucket-public",
     "restrictPublicBuckets of objects-private is not set"),
    ("objects", "acl", "public-read", "bucket-public", 'acl of objects is "public-read"'),
    ("objects", "forceDestroy", True, "bucket-force-destroy", "forceDestroy of objects is true"),
    ("nodes-template", "blockDeviceMappings.0.ebs.encrypted", "false", "aws-storage-unencrypted",
     'blockDeviceMappings[0].ebs.encrypted of nodes-template is "false"'),
    ("nodes-template", "blockDeviceMappings.0.ebs.encrypted", None, "aws-storage-unencrypted",
     "blockDeviceMappings[0].ebs.encrypted of nodes-template is not set"),
]  # fmt: skip

AZURE = [
    ("nodes", "virtualMachineProfile.osProfile.windowsConfiguration", {"enableAutomaticUpdates": True},
     "azure-windows-node", "virtualMachineProfile.osProfile.windowsConfiguration of nodes is set"),
    ("nodes", "virtualMachineProfile.licenseType", "Windows_Server", "azure-windows-node", 'is "Windows_Server"'),
    ("nodes", "virtualMachineProfile.storageProfile.osDisk.osType", "Windows", "azure-windows-node",
     "virtualMachineProfile.storageProfile.osDisk.osType of nodes"),
    ("nodes", "virtualMachineProfile.storageProfile.imageReference.offer", "WindowsServer", "azure-windows-node",
     "virtualMachineProfile.storageProfile.imageReference.offer of nodes"),
    ("nodes", "virtualMachineProfile.storageProfile.imageReference.publisher", "MicrosoftWindowsServer",
     "azure-windows-node", "imageReference.publisher of nodes"),
    ("nodes", "singlePlacementGroup", False, "rdma-scale-set-split", "singlePlacementGroup of nodes is false"),
    ("nodes", "singlePlacementGroup", None, "rdma-scale-set-split", "singlePlacementGroup of nodes is not set"),
    ("nodes", "overprovision", None, "rdma-scale-set-split", "overprovision of nodes is not set"),
    ("nodes", "platformFaultDomainCount", 5, "rdma-scale-set-split", "platformFaultDomainCount of nodes is 5"),
    ("nodes", "zones", ["1", "2"], "rdma-scale-set-split", "zones of nodes names 2 zones"),
    ("nodes", "virtualMachineProfile.networkProfile.networkInterfaceConfigurations.0.ipConfigurations.0."
     "publicIPAddressConfiguration", {"name": "public"}, "azure-public-address",
     "networkInterfaceConfigurations[0].ipConfigurations[0].publicIPAddressConfiguration of nodes is set"),
    ("nodes-nsg", "securityRules.0.sourceAddressPrefix", "*", "azure-public-ingress",
     'securityRules[0].sourceAddressPrefix of nodes-nsg is "*"'),
    ("nodes-nsg", "securityRules.0.sourceAddressPrefix", "Internet", "azure-public-ingress", 'is "Internet"'),
    ("nodes-nsg", "securityRules.1.access", "Allow", "azure-public-ingress", "securityRules[1].sourceAddressPrefix"),
    ("nodes-nsg", "securityRules.0.sourceAddressPrefixes", ["10.0.0.0/8", "0.0.0.0/0"], "azure-public-ingress",
     'securityRules[0].sourceAddressPrefixes[1] of nodes-nsg is "0.0.0.0/0"'),
    ("objects", "allowBlobPublicAccess", True, "azure-storage-public", "allowBlobPublicAccess of objects is true"),
    ("objects", "allowBlobPublicAccess", None, "azure-storage-public", "allowBlobPublicAccess of objects is not set"),
    ("objects", "networkRuleSet.defaultAction", "Allow", "azure-storage-public", 'defaultAction of objects is "Allow"'),
    ("objects", "networkRuleSet", None, "azure-storage-public", "networkRuleSet.defaultAction of objects is not set"),
    ("checkpoints", "publicAccess", "Blob", "azure-storage-public", 'publicAccess of checkpoints is "Blob"'),
    ("objects", "minimumTlsVersion", "TLS1_0", "azure-storage-insecure-transport", 'of objects is "TLS1_0"'),
    ("objects", "minimumTlsVersion", None, "azure-storage-insecure-transport",
     "minimumTlsVersion of objects is not set"),
    ("objects", "enableHttpsTrafficOnly", False, "azure-storage-insecure-transport",
     "enableHttpsTrafficOnly of objects is false"),
    ("objects", "allowSharedKeyAccess", None, "azure-storage-shared-key", "allowSharedKeyAccess of objects is not set"),
    ("objects", "isHnsEnabled", False, "azure-storage-without-hierarchy", "isHnsEnabled of objects is false"),
]  # fmt: skip


def _ids(rows: list[tuple[Any, ...]]) -> list[str]:
    return [f"{policy}:{name}.{path.split('.')[-1]}={value!r:.20}" for name, path, value, policy, _ in rows]


@pytest.mark.parametrize(("name", "path", "value", "policy", "says"), AWS, ids=_ids(AWS))
def test_one_change_to_the_aws_cluster_is_refused_by_just_the_policy_that_guards_it(
    aws_cluster: Any, name: str, path: str, value: object, policy: str, says: str
) -> None:
    aws_cluster.set(name, path, value)
    refused = aws_cluster.refused_by()
    assert set(refused) == {policy}
    assert any(says in message for message in refused[policy])


@pytest.mark.parametrize(("name", "path", "value", "policy", "says"), AZURE, ids=_ids(AZURE))
def test_one_change_to_the_azure_cluster_is_refused_by_just_the_policy_that_guards_it(
    azure_cluster: Any, name: str, path: str, value: object, policy: str, says: str
) -> None:
    azure_cluster.set(name, path, value)
    refused = azure_cluster.refused_by()
    assert set(refused) == {policy}
    assert any(says in message for message in refused[policy])


@pytest.mark.parametrize("store", ["filesystem", "objects"])
@pytest.mark.parametrize("cloud", ["aws_cluster", "azure_cluster"])
def test_a_store_is_kept_by_protection_or_by_a_stated_retain_and_refused_without_both(
    request: pytest.FixtureRequest, cloud: str, store: str
) -> None:
    cluster = request.getfixturevalue(cloud)
    cluster.resources[store].protect = False
    refused = cluster.refused_by()
    assert set(refused) == {"data-store-unprotected"}
    assert f"protect of {store} is not set" in refused["data-store-unprotected"][0]
    cluster.set(store, "tags.on-delete", "retain")
    assert cluster.refused_by() == {}


def test_a_message_says_where_what_why_and_what_to_do(aws_cluster: Any) -> None:
    aws_cluster.set("nodes-template", "metadataOptions.httpTokens", "optional")
    (verdict,) = aws_cluster.verdicts()
    assert verdict.level == "mandatory"
    assert verdict.urn == aws_cluster.resources["nodes-template"].urn
    assert verdict.message == (
        "Instance metadata answers session requests (IMDSv2) only.\n"
        'metadataOptions.httpTokens of nodes-template is "optional". '
        "With IMDSv1 anything that makes a node fetch a URL gets the credentials of its role. "
        'Set metadataOptions.httpTokens to "required".'
    )
