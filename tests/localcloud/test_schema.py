"""Names, nesting, types and required members against the SDKs' own types, and the index that is kept of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud import schema_index
from localcloud.schema import shape_of
from localcloud.values import UNKNOWN, Properties

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
SUBNET = "azure-native:network:Subnet"

pytestmark = pytest.mark.usefixtures("index_cache")

REFUSED = [
    (TEMPLATE, {"imageid": "ami-1"}, "imageid", "did you mean 'imageId'?"),
    (TEMPLATE, {"networkInterfaces": [{"deviceIndx": 0}]}, "networkInterfaces[0].deviceIndx", "'deviceIndex'"),
    (
        TEMPLATE,
        {"networkInterfaces": [{"deleteOnTermination": True}]},
        "networkInterfaces[0].deleteOnTermination",
        "should be a string but got a boolean",
    ),
    (TEMPLATE, {"networkInterfaces": {"deviceIndex": 0}}, "networkInterfaces", "should be a list but got an object"),
    (TEMPLATE, {"placement": "pg"}, "placement", "should be an object but got a string"),
    (TEMPLATE, {"tags": {"a": 1}}, "tags.a", "should be a string but got a number"),
    (TEMPLATE, {"defaultVersion": "1"}, "defaultVersion", "should be an integer but got a string"),
    (LUSTRE, {"storageCapacity": 1200}, "subnetIds", "missing required property 'subnetIds'"),
    (LUSTRE, {"subnetIds": "s", "storageCapacity": 1200.5}, "storageCapacity", "should be an integer"),
    (LUSTRE, {"subnetIds": "s", "efaEnabled": "yes"}, "efaEnabled", "should be a boolean"),
    (SCALE_SET, {"singlePlacementGroup": True}, "resourceGroupName", "missing required property"),
    (SCALE_SET, {"resourceGroupName": "g", "sku": {"capacty": 16}}, "sku.capacty", "did you mean 'capacity'?"),
]


@pytest.mark.parametrize(("token", "inputs", "path", "reason"), REFUSED)
def test_a_wrong_shape_is_refused_with_its_path(token: str, inputs: Properties, path: str, reason: str):
    shape = shape_of(token.partition(":")[0], token)
    assert shape is not None
    failures = {failure.path: failure.reason for failure in shape.failures(inputs)}
    assert reason in failures[path]


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (TEMPLATE, {"networkInterfaces": UNKNOWN, "imageId": UNKNOWN}),
        (TEMPLATE, {"networkInterfaces": [{"networkCardIndex": 0, "securityGroups": [UNKNOWN]}]}),
        (LUSTRE, {"subnetIds": UNKNOWN, "__defaults": ["x"]}),
        (SCALE_SET, {"resourceGroupName": "g", "orchestrationMode": "AnyText"}),
        (SUBNET, {"resourceGroupName": "g", "virtualNetworkName": "v", "natGateway": {"id": UNKNOWN}}),
        (
            "aws:s3/bucketObjectv2:BucketObjectv2",
            {"bucket": "b", "source": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17"}},
        ),
    ],
)
def test_unknown_values_enumerations_and_assets_pass(token: str, inputs: Properties):
    shape = shape_of(token.partition(":")[0], token)
    assert shape is not None
    assert shape.failures(inputs) == []


@pytest.mark.parametrize("token", ["aws:ec2/vpcc:Vpcc", "aws:nowhere/x:X", "azure-native:network:Vnet"])
def test_a_type_that_the_sdk_does_not_have_has_no_shape(token: str):
    assert shape_of(token.partition(":")[0], token) is None


def test_the_index_is_kept_and_read_again_without_the_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    schema_index._index.cache_clear()
    derived = schema_index.index_of("aws", "fsx")
    (kept,) = tmp_path.glob("gpu-clusters/schema/pulumi_aws-*/fsx.json")
    assert json.loads(kept.read_text()) == derived
    schema_index._index.cache_clear()
    monkeypatch.setattr(schema_index, "_derive", lambda *_: pytest.fail("the SDK was asked again"))
    assert schema_index.index_of("aws", "fsx") == derived


def test_a_half_written_index_is_derived_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    version = schema_index.sdk_version("aws")
    kept = tmp_path / f"gpu-clusters/schema/pulumi_aws-{version}-{schema_index._FORMAT}" / "fsx.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"resources": {')
    schema_index._index.cache_clear()
    index = schema_index.index_of("aws", "fsx")
    assert index is not None
    assert "LustreFileSystem" in index["resources"]
    assert json.loads(kept.read_text()) == index
