"""The services' own models as a judge: what they refuse, what they let pass, and what of the inputs they reach."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from localcloud.aws import limits, requests
from localcloud.aws.cloud import Aws
from localcloud.azure import models
from localcloud.schema import shape_of
from localcloud.schema_index import Spec
from localcloud.values import UNKNOWN

pytestmark = pytest.mark.usefixtures("index_cache")

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"

# Row of types_aws.yaml, what is changed in it, and what is said.
AWS_REFUSES: list[tuple[str, dict[str, Any], str]] = [
    # Words and numbers, at preview.
    ("vpc", {"instanceTenancy": "shared"}, "expected instanceTenancy to be one of ['default', 'dedicated', 'host']"),
    ("endpoint", {"vpcEndpointType": "Gatway"}, "vpcEndpointType: expected vpcEndpointType to be one of"),
    ("nat_gateway", {"connectivityType": "open"}, "connectivityType to be one of ['private', 'public'], got 'open'"),
    ("eip", {"domain": "classic"}, "domain: expected domain to be one of ['vpc', 'standard'], got 'classic'"),
    ("reservation", {"instancePlatform": "Linux"}, "instancePlatform to be one of ['Linux/UNIX', "),
    ("reservation", {"endDateType": "never"}, "expected endDateType to be one of ['unlimited', 'limited']"),
    (
        "launch_template",
        {"instanceMarketOptions": {"marketType": "block"}},
        "instanceMarketOptions.marketType: expected instanceMarketOptions.marketType to be one of ['spot',",
    ),
    (
        "launch_template",
        {"blockDeviceMappings": [{"deviceName": "a"}, {"ebs": {"volumeType": "gp4"}}]},
        "blockDeviceMappings[1].ebs.volumeType: expected",
    ),
    ("launch_template", {"placement": {"tenancy": "mine"}}, "placement.tenancy: expected placement.tenancy to be one"),
    (
        "fleet",
        {"targetCapacitySpecification": {"totalTargetCapacity": 1, "defaultTargetCapacityType": "cheap"}},
        "targetCapacitySpecification.defaultTargetCapacityType to be one of ['spot', 'on-demand', 'capacity-block'",
    ),
    (
        "group",
        {"instanceMaintenancePolicy": {"minHealthyPercentage": 90, "maxHealthyPercentage": 300}},
        "expected instanceMaintenancePolicy.maxHealthyPercentage to be between -1 and 200, got 300",
    ),
    ("group", {"instanceRefresh": {"strategy": "Fast"}}, "instanceRefresh.strategy: expected"),
    ("lustre", {"storageType": "TAPE"}, "storageType to be one of ['SSD', 'HDD', 'INTELLIGENT_TIERING'], got 'TAPE'"),
    ("lustre", {"automaticBackupRetentionDays": 91}, "automaticBackupRetentionDays to be between 0 and 90, got 91"),
    ("lustre", {"metadataConfiguration": {"mode": "FAST"}}, "expected metadataConfiguration.mode to be one of"),
    ("lustre", {"logConfiguration": {"level": "ALL"}}, "expected logConfiguration.level to be one of ['DISABLED',"),
    (
        "data_link",
        {"s3": {"autoExportPolicy": {"events": ["NEW", "MOVED"]}}},
        "s3.autoExportPolicy.events[1]: expected s3.autoExportPolicy.events[1] to be one of ['NEW', 'CHANGED',",
    ),
    (
        "lifecycle",
        {"rules": [{"id": "a", "status": "Enabled", "transitions": [{"days": 30, "storageClass": "COLD"}]}]},
        "rules[0].transitions[0].storageClass to be one of ['GLACIER', 'STANDARD_IA'",
    ),
    ("encryption", {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES"}}]}, "got 'AES'"),
    ("key", {"rotationPeriodInDays": 30}, "rotationPeriodInDays to be between 90 and 2560, got 30"),
    ("log_group", {"logGroupClass": "CHEAP"}, "logGroupClass to be one of ['STANDARD', 'INFREQUENT_ACCESS'"),
    ("budget", {"timeUnit": "WEEKLY"}, "timeUnit to be one of ['DAILY', 'MONTHLY', 'QUARTERLY', 'ANNUALLY'"),
    ("alarm", {"comparisonOperator": "Above"}, "comparisonOperator to be one of ['GreaterThanOrEqualToThreshold'"),
    # Lengths and patterns, by the service.
    (
        "role",
        {"name": "nodes of mine"},
        "api error ValidationError: 1 validation error detected: Value 'nodes of mine' at 'name' failed to satisfy "
        r"constraint: Member must satisfy regular expression pattern: [\w+=,.@-]+",
    ),
    (
        "role",
        {"description": "a" * 1001},
        "'description' failed to satisfy constraint: Member must have length at most",
    ),
    (
        "policy",
        {"tags": {str(n): "" for n in range(51)}},
        "at 'tags' failed to satisfy constraint: Member must have le",
    ),
    ("log_group", {"name": "nodes & more"}, "api error InvalidParameterException: 1 validation error detected: Value"),
    (
        "alias",
        {"name": "alias/data 1"},
        "api error ValidationException: 1 validation error detected: Value 'alias/data",
    ),
    (
        "lustre",
        {"dailyAutomaticBackupStartTime": "25:00", "automaticBackupRetentionDays": 7},
        "api error ValidationException: 1 validation error detected: Value '25:00' at 'dailyAutomaticBackupStartTime'",
    ),
    (
        "lustre",
        {"rootSquashConfiguration": {"rootSquash": "nobody"}},
        "'nobody' at 'rootSquashConfiguration.rootSquash'",
    ),
    (
        "group",
        {"healthCheckType": "E" * 33},
        "at 'healthCheckType' failed to satisfy constraint: Member must have leng",
    ),
    (
        "topic",
        {"tags": {"a": "b" * 257}},
        "at 'tags.a' failed to satisfy constraint: Member must have length between 0",
    ),
]

# Row of types_azure.yaml, the property with its word, the code, and one of the words that are allowed.
AZURE_REFUSES = [
    ("proximity_group", "proximityPlacementGroupType", "Close", "InvalidParameter", "Ultra"),
    ("scale_set", "orchestrationMode", "Pair", "InvalidParameter", "Flexible"),
    ("scale_set", "upgradePolicy.mode", "Never", "InvalidParameter", "Manual"),
    ("scale_set", "identity.type", "Mine", "InvalidParameter", "UserAssigned"),
    ("scale_set", "scaleInPolicy.rules[0]", "Any", "InvalidParameter", "OldestVM"),
    ("scale_set", "virtualMachineProfile.storageProfile.osDisk.caching", "Always", "InvalidParameter", "ReadWrite"),
    (
        "scale_set",
        "virtualMachineProfile.networkProfile.networkInterfaceConfigurations[0].deleteOption",
        "Keep",
        "InvalidParameter",
        "Detach",
    ),
    ("address", "publicIPAllocationMethod", "Fixed", "InvalidRequestFormat", "Static"),
    ("nat", "sku.name", "Basic", "InvalidRequestFormat", "Standard"),
    ("nsg", "securityRules[0].access", "Permit", "InvalidRequestFormat", "Allow"),
    ("plain_subnet", "privateEndpointNetworkPolicies", "On", "InvalidRequestFormat", "NetworkSecurityGroupEnabled"),
    ("account", "kind", "StorageV3", "InvalidRequestPropertyValue", "BlockBlobStorage"),
    ("account", "sku.name", "Standard", "InvalidRequestPropertyValue", "Standard_LRS"),
    ("account", "minimumTlsVersion", "TLS1.2", "InvalidRequestPropertyValue", "TLS1_2"),
    ("account", "networkRuleSet.defaultAction", "Block", "InvalidRequestPropertyValue", "Deny"),
    ("container", "publicAccess", "Public", "InvalidRequestPropertyValue", "Container"),
    ("lifecycle", "policy.rules[0].type", "Expiry", "InvalidRequestPropertyValue", "Lifecycle"),
    ("lustre", "maintenanceWindow.dayOfWeek", "Someday", "InvalidParameter", "Sunday"),
    ("lustre", "rootSquashSettings.mode", "Some", "InvalidParameter", "RootOnly"),
    ("role_assignment", "principalType", "Robot", "BadRequestFormat", "ServicePrincipal"),
]


@pytest.mark.parametrize(
    ("name", "change", "says"), AWS_REFUSES, ids=[f"{row[0]}-{next(iter(row[1]))}" for row in AWS_REFUSES]
)
def test_aws_refuses_what_is_beyond_its_model(world: Any, name: str, change: dict[str, Any], says: str) -> None:
    here = world("aws")
    assert says in here.driver.refusal(lambda: here.attempt({"of": name, "change": change}))


@pytest.mark.parametrize(("name", "path", "word", "code", "allowed"), AZURE_REFUSES, ids=lambda value: value)
def test_azure_refuses_a_word_that_its_model_lacks(
    world: Any, name: str, path: str, word: str, code: str, allowed: str
) -> None:
    here = world("azure")
    inputs = copy.deepcopy(here.inputs(name))
    _set(inputs, path, word)
    token = here.rows[name]["type"]
    assert here.driver.check(token, inputs)[1] == {}, "azure-native checks no words at preview"
    said = here.driver.refusal(lambda: here.driver.up(token, inputs, "other"))
    assert f"Code=\"{code}\" Message=\"The value '{word}' of parameter '{path}' is not allowed." in said
    assert said.endswith(f'Target="{path}"')
    assert allowed in said


def _set(holder: Any, path: str, value: Any) -> None:
    *above, last = [int(part) if part.isdigit() else part for part in re.findall(r"\w+", path)]
    for step, following in pairwise([*above, last]):
        if isinstance(holder, dict):
            holder.setdefault(step, [None] if isinstance(following, int) else {})
        holder = holder[step]
    holder[last] = value


AWS_TAKES: list[tuple[str, dict[str, Any], str]] = [
    ("launch_template", {"instanceType": "p9.48xlarge"}, "an instance type that is newer than the model"),
    ("versioning", {"versioningConfiguration": {"status": "Disabled"}}, "a word of the provider's own"),
    ("vpc", {"instanceTenancy": ""}, "an empty word, which is not sent"),
    ("backup", {"tags": {}}, "an empty map, which is not sent"),
    ("launch_template", {"networkInterfaces": [{"deleteOnTermination": True}]}, "a boolean where the SDK has a text"),
    ("key", {"deletionWindowInDays": 30}, "a number at the border"),
    ("reservation", {"tags": {"a": "b"}}, "an ARN whose pattern in the model nothing can match"),
]


@pytest.mark.parametrize(("name", "change", "what"), AWS_TAKES, ids=[row[2] for row in AWS_TAKES])
def test_aws_takes_what_its_model_does_not_exclude(world: Any, name: str, change: dict[str, Any], what: str) -> None:
    here = world("aws")
    assert here.attempt({"of": name, "change": change}), what


@pytest.mark.parametrize(
    ("name", "path", "word"),
    [
        ("scale_set", "orchestrationMode", "uniform"),
        ("account", "identity.type", "None"),
        ("scale_set", "virtualMachineProfile.networkProfile.networkApiVersion", "2030-11-01"),
    ],
)
def test_azure_takes_words_in_any_case_and_of_lists_that_grow(world: Any, name: str, path: str, word: str) -> None:
    here = world("azure")
    inputs = copy.deepcopy(here.inputs(name))
    _set(inputs, path, word)
    assert here.driver.up(here.rows[name]["type"], inputs, "other").id


@pytest.mark.parametrize("value", [UNKNOWN, f"arn:aws:iam::1:role/{UNKNOWN}", None])
def test_unknown_values_are_not_judged(value: Any) -> None:
    inputs = {"instanceType": value, "metadataOptions": {"httpTokens": value}, "networkInterfaces": [value]}
    assert list(limits.failures(TEMPLATE, inputs)) == []


def test_every_input_of_a_modelled_aws_type_has_a_place_in_a_request_or_a_reason() -> None:
    """So that the walk over declarations (tests/components/test_aws_requests.py) can trust the table."""
    assert set(Aws.kinds) <= set(requests.rows())
    without = {
        token: [m.path for m in requests.members(token, _all_inputs(token)) if not m.steps] for token in Aws.kinds
    }
    assert {token: paths for token, paths in without.items() if paths} == {}


def test_every_input_that_the_table_names_is_one_of_the_sdk() -> None:
    """A misspelt name in the table would hide an input, or none."""
    common = {"region", "tagsAll", "namePrefix", "timeouts", "tags"}
    for token, row in requests.rows().items():
        known = {re.sub(r"\[0\]", "", path) for path in _paths("", _all_inputs(token))}
        named = {name.removesuffix("[]") for name in {*row.named, *row.outside, *row.also}} - common
        assert named <= known, token


@pytest.mark.parametrize("token", models._table()["types"])
def test_the_model_of_an_azure_type_has_words_for_its_inputs(token: str) -> None:
    shape = shape_of("azure-native", token)
    assert shape is not None
    package, _, name = models.model_of(token).partition(".")
    index = models._index(package)
    assert index is not None
    members = {**index[name], **index.get(index[name].get("properties", {}).get("object", ""), {})}
    assert set(members) & set(shape.properties)


def test_without_the_libraries_nothing_is_judged(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("aws")
    monkeypatch.setattr(requests, "_version", lambda: "")
    assert here.attempt({"of": "vpc", "change": {"instanceTenancy": "shared"}})


def test_the_models_are_slimmed_once_and_then_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    derived = requests._index.__wrapped__("fsx"), models._index.__wrapped__("privatedns")
    monkeypatch.setattr(requests, "_slim", lambda _: pytest.fail("botocore was asked again"))
    monkeypatch.setattr(models, "_derive", lambda _: pytest.fail("the library was asked again"))
    assert derived == (requests._index.__wrapped__("fsx"), models._index.__wrapped__("privatedns"))
    assert len(list(tmp_path.rglob("*.json"))) == 2


def _all_inputs(token: str) -> dict[str, Any]:
    """One value for every input that the SDK has, at every depth."""
    shape = shape_of("aws", token)
    assert shape is not None
    return {name: _a_value(spec, shape.objects, ()) for name, spec in shape.properties.items()}


def _a_value(spec: Spec, objects: Any, above: tuple[str, ...]) -> Any:
    match spec:
        case ["list", item]:
            return [_a_value(item, objects, above)]
        case ["map", item]:
            return {"k": _a_value(item, objects, above)}
        case ["union", first, *_]:
            return _a_value(first, objects, above)
        case ["object", name]:
            members = {} if name in above else objects[name]["properties"]
            return {key: _a_value(inner, objects, (*above, name)) for key, inner in members.items()}
        case scalar:
            return {"integer": 1, "number": 1.0, "boolean": True}.get(str(scalar), "x")


def _paths(path: str, value: Any) -> Iterator[str]:
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list):
        yield from _paths(f"{path}[0]", value[0])
