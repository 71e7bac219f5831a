"""The AWS data stores by value: filesystem, link, bucket, those of one's own; and what a node may do with them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.iam_policies import findings

FSX, BUCKET = "fs-0123456789abcdef0", "research-data"
SCRATCH = {"storage.filesystem": {"capacity": "2400GiB", "deployment": "scratch"}}
SCRATCH_LINKED = {**SCRATCH, "storage.objects.link": True}
LINKED = {"storage.objects.link": True}
MOUNTED = {"storage.filesystem": {"existing": FSX}}
OWN_BUCKET = {"storage.objects": {"existing": BUCKET}}
KEY = "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
OF_PERSISTENT = {
    "perUnitStorageThroughput",
    "efaEnabled",
    "metadataConfiguration",
    "kmsKeyId",
    "automaticBackupRetentionDays",
    "copyTagsToBackups",
    "skipFinalBackup",
    "finalBackupTags",
}


def _user_data(cluster: Any) -> str:
    return base64.b64decode(cluster.one("LaunchTemplate").inputs["userData"]).decode()


def _statements(cluster: Any) -> dict[str, dict[str, Any]]:
    return {s["Sid"]: s for s in json.loads(cluster.one("RolePolicy").inputs["policy"])["Statement"]}


def lint(policy: str) -> list[str]:
    """What parliament says of a policy, from low severity on, as `issue: detail`."""
    return [f"{f.issue}: {f.detail} {f.location}" for f in findings(policy) if f.severity not in ("MUTE", "INFO")]


# The filesystem


def test_the_filesystem_is_an_encrypted_persistent_one_with_efa_and_a_final_backup(
    declared: Callable[..., Any],
) -> None:
    inputs = declared("aws").one("LustreFileSystem").inputs
    assert inputs["deploymentType"] == "PERSISTENT_2"
    assert inputs["efaEnabled"] is True
    assert inputs["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    assert (inputs["storageCapacity"], inputs["perUnitStorageThroughput"]) == (38400, 250)
    assert inputs["skipFinalBackup"] is False
    assert inputs["automaticBackupRetentionDays"] == 7
    assert inputs["finalBackupTags"].items() >= {"team": "research", "gpu-cluster": "llama-70b"}.items()
    assert "kmsKeyId" not in inputs, "FSx's own key encrypts it"


@pytest.mark.parametrize(
    ("name", "count"),
    [("aws-on-demand", 6), ("aws-scratch-linked", 12), ("aws-egress-none", 6), ("aws-existing-network", 6)],
)
def test_the_filesystem_is_made_after_its_rules_and_does_not_wait_for_the_nat_gateway(
    name: str, count: int, cluster: Callable[[str], Any]
) -> None:
    """With EFA, FSx looks at them when it is created."""
    here = cluster(name)
    before = here.before(here.one("LustreFileSystem"))
    rules = {
        f"{r.type.rsplit(':', 1)[-1]} {r.name}"
        for r in here.run.resources
        if "gressRule" in r.type and "filesystem" in r.name
    }
    assert len(rules) == count
    assert rules <= before
    assert not [entry for entry in before if entry.startswith("NatGateway")]


def test_a_scratch_filesystem_has_nothing_that_fsx_takes_of_persistent_ones_only(declared: Callable[..., Any]) -> None:
    inputs = declared("aws", SCRATCH_LINKED).one("LustreFileSystem").inputs
    assert inputs["deploymentType"] == "SCRATCH_2"
    assert not OF_PERSISTENT & set(inputs)


def test_a_scratch_filesystem_has_a_lustre_that_takes_links(declared: Callable[..., Any]) -> None:
    """Left to FSx it is 2.10."""
    assert declared("aws", SCRATCH).one("LustreFileSystem").inputs["fileSystemTypeVersion"] == "2.15"


@pytest.mark.parametrize(
    ("filesystem", "wanted"),
    [
        ({"metadata_iops": 24000}, {"metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": 24000}}),
        ({"compression": "none"}, {"dataCompressionType": "NONE"}),
        ({"backup_days": 0}, {"automaticBackupRetentionDays": 0, "skipFinalBackup": False}),
        ({"kms_key": KEY}, {"kmsKeyId": KEY}),
        ({"kms_key": KEY.partition("/")[2]}, {"kmsKeyId": KEY}),
    ],
)
def test_what_the_spec_says_of_a_filesystem_reaches_it(
    filesystem: dict[str, Any], wanted: dict[str, Any], declared: Callable[..., Any]
) -> None:
    changes = {f"storage.filesystem.{field}": value for field, value in filesystem.items()}
    inputs = declared("aws", {"account": "123456789012", **changes}).one("LustreFileSystem").inputs
    assert {name: inputs[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({}, ["perUnitStorageThroughput"]),
        ({"storage.filesystem.efa": False}, []),
        (SCRATCH, []),
    ],
    ids=["efa", "tcp", "scratch"],
)
def test_another_throughput_previews_as_a_replacement_where_efa_makes_it_one(
    changes: dict[str, Any], replaced: list[str], declared: Callable[..., Any]
) -> None:
    """FSx refuses it in place, and only then; capacity and everything else change in place."""
    assert list(declared("aws", changes).one("LustreFileSystem").request.replaceOnChanges) == replaced


@pytest.mark.parametrize("changes", [{}, MOUNTED], ids=["made", "existing"])
def test_nodes_mount_the_name_that_fsx_gave_and_never_a_guess(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    """Only of the first scratch generation it is always fsx."""
    cluster = declared("aws", changes)
    command = cluster.run.exports["filesystem"]["mount_command"]
    assert command.endswith(".fsx.invalid@tcp:/mount123 /lustre")
    assert f"LUSTRE_SOURCE={command.split(' ')[-2]}\n" in _user_data(cluster)


# The link


@pytest.mark.parametrize("changes", [LINKED, SCRATCH_LINKED], ids=["persistent", "scratch"])
def test_a_link_joins_the_whole_filesystem_with_the_whole_bucket_in_both_directions(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    """It is the one association: no other could overlap it, and a checkpoint has the same path in both."""
    cluster = declared("aws", changes)
    link = cluster.one("DataRepositoryAssociation")
    assert link.inputs["fileSystemPath"] == "/"
    assert link.inputs["dataRepositoryPath"] == "s3://llama-70b-objects"
    assert cluster.made_from(link, "dataRepositoryPath") == [cluster.one("Bucket")]
    assert cluster.made_from(link, "fileSystemId") == [cluster.one("LustreFileSystem")]
    events = {"events": ["NEW", "CHANGED", "DELETED"]}
    assert link.inputs["s3"] == {"autoImportPolicy": events, "autoExportPolicy": events}
    assert link.inputs["deleteDataInFilesystem"] is False
    assert not {"importPath", "exportPath", "autoImportPolicy"} & set(cluster.one("LustreFileSystem").inputs)


def test_what_a_bucket_holds_already_shows_as_files(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", {"storage.objects": {"existing": BUCKET, "link": True}})
    link = cluster.one("DataRepositoryAssociation").inputs
    assert link["dataRepositoryPath"] == f"s3://{BUCKET}"
    assert link["batchImportMetaDataOnCreate"] is True


def test_a_linked_filesystem_asks_for_no_backup_which_fsx_would_refuse(declared: Callable[..., Any]) -> None:
    inputs = declared("aws", LINKED).one("LustreFileSystem").inputs
    assert inputs["automaticBackupRetentionDays"] == 0
    assert inputs["skipFinalBackup"] is True
    assert "finalBackupTags" not in inputs


def test_failed_exports_are_logged_and_a_filesystem_without_link_has_nothing_to_log(
    declared: Callable[..., Any],
) -> None:
    linked = declared("aws", LINKED)
    lustre, group = linked.one("LustreFileSystem"), linked.one("LogGroup", "-lustre")
    assert lustre.inputs["logConfiguration"]["level"] == "WARN_ERROR"
    assert linked.made_from(lustre, "logConfiguration") == [group]
    assert group.inputs["namePrefix"].startswith("/aws/fsx/"), "FSx writes to no other group"
    assert group.inputs["retentionInDays"] == 30
    assert "logConfiguration" not in declared("aws").one("LustreFileSystem").inputs


@pytest.mark.parametrize(
    ("on_delete", "protect", "retain"), [("protect", True, False), ("retain", False, True), ("delete", False, False)]
)
def test_a_link_stays_as_long_as_its_filesystem_which_exports_to_the_last(
    on_delete: str, protect: bool, retain: bool, declared: Callable[..., Any]
) -> None:
    cluster = declared("aws", {**SCRATCH_LINKED, "storage.on_delete": on_delete})
    request = cluster.one("DataRepositoryAssociation").request
    assert (request.protect, request.retainOnDelete) == (protect, retain)


# A filesystem and a bucket of one's own


def test_an_existing_filesystem_is_read_and_nothing_of_it_is_declared(declared: Callable[..., Any]) -> None:
    cluster = declared("aws", MOUNTED)
    assert not {"LustreFileSystem", "DataRepositoryAssociation", "LogGroup"} & cluster.kinds()
    assert not [r.name for r in cluster.of("SecurityGroup") if "filesystem" in r.name]


@pytest.mark.parametrize(("efa", "set_up"), [(True, "true"), ("auto", "false"), (False, "false")])
def test_the_efa_client_is_set_up_for_an_existing_filesystem_where_the_spec_says_so(
    efa: Any, set_up: str, declared: Callable[..., Any]
) -> None:
    cluster = declared("aws", {**MOUNTED, "storage.filesystem.efa": efa})
    assert f"LUSTRE_EFA={set_up}\n" in _user_data(cluster)


def test_of_an_existing_bucket_nothing_is_declared_and_it_is_the_one_that_nodes_may_use(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("aws", OWN_BUCKET)
    assert not [kind for kind in cluster.kinds() if kind.startswith("Bucket")]
    assert cluster.run.exports["objects"] == {
        "uri": f"s3://{BUCKET}",
        "checkpoint_uri": f"s3://{BUCKET}/checkpoints",
    }
    by_sid = _statements(cluster)
    assert by_sid["ListBucket"]["Resource"] == f"arn:aws:s3:::{BUCKET}"
    assert by_sid["ReadWriteObjects"]["Resource"] == f"arn:aws:s3:::{BUCKET}/*"


# The bucket


def test_the_bucket_is_private_encrypted_and_speaks_tls_only(declared: Callable[..., Any]) -> None:
    cluster = declared("aws")
    block = dict(cluster.one("BucketPublicAccessBlock").inputs)
    assert {k: v for k, v in block.items() if k != "bucket"} == dict.fromkeys(
        ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"), True
    )
    (statement,) = json.loads(cluster.one("BucketPolicy").inputs["policy"])["Statement"]
    bucket = "arn:aws:s3:::llama-70b-objects"
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Resource"] == [bucket, f"{bucket}/*"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert cluster.one("BucketOwnershipControls").inputs["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    (rule,) = cluster.one("BucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "AES256"
    assert cluster.one("Bucket").inputs["forceDestroy"] is False


@pytest.mark.parametrize(
    ("checkpoints", "rule"),
    [
        (
            {"cool_after_days": 7, "expire_after_days": 30},
            {"transitions": [{"days": 7, "storageClass": "INTELLIGENT_TIERING"}], "expiration": {"days": 30}},
        ),
        ({"cool_after_days": 45}, {"transitions": [{"days": 45, "storageClass": "STANDARD_IA"}]}),
        ({"expire_after_days": 14}, {"expiration": {"days": 14}}),
        ({}, None),
    ],
)
def test_checkpoints_are_cooled_and_deleted_as_the_spec_says_and_broken_uploads_always_go(
    checkpoints: dict[str, int], rule: dict[str, Any] | None, declared: Callable[..., Any]
) -> None:
    rules = declared("aws", {"storage.objects.checkpoints": checkpoints}).one("BucketLifecycleConfiguration").inputs
    uploads, *others = rules["rules"]
    assert uploads["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}
    expected = {"id": "checkpoints", "status": "Enabled", "filter": {"prefix": "checkpoints/"}, **(rule or {})}
    assert others == ([expected] if rule else [])


# What a node may do


def test_a_node_may_use_the_clusters_bucket_and_nothing_else(declared: Callable[..., Any]) -> None:
    by_sid = _statements(declared("aws"))
    bucket = "arn:aws:s3:::llama-70b-objects"
    assert set(by_sid) == {"ListBucket", "ReadWriteObjects", "AnswerSessionManager", "DescribeFilesystems"}
    assert by_sid["ListBucket"]["Resource"] == bucket
    assert by_sid["ReadWriteObjects"]["Resource"] == f"{bucket}/*"
    assert not [a for s in by_sid.values() for a in s["Action"] if "*" in a]


def test_a_node_may_describe_filesystems_lest_its_client_falls_back_to_tcp(declared: Callable[..., Any]) -> None:
    for changes in ({}, SCRATCH, MOUNTED):
        assert _statements(declared("aws", changes))["DescribeFilesystems"]["Action"] == ["fsx:DescribeFileSystems"]
    assert "fsx" not in json.dumps(_statements(declared("aws", {"storage.filesystem": ...})))


def test_a_node_answers_session_manager_and_reads_no_parameter_of_the_account(declared: Callable[..., Any]) -> None:
    """The usual managed policy lets it read all of them."""
    cluster = declared("aws")
    assert _statements(cluster)["AnswerSessionManager"]["Action"] == [
        "ssm:UpdateInstanceInformation",
        "ssmmessages:CreateControlChannel",
        "ssmmessages:CreateDataChannel",
        "ssmmessages:OpenControlChannel",
        "ssmmessages:OpenDataChannel",
    ]
    assert not cluster.of("RolePolicyAttachment")
    assert "managedPolicyArns" not in cluster.one("Role").inputs
    trust = json.loads(cluster.one("Role").inputs["assumeRolePolicy"])["Statement"]
    assert [s["Principal"] for s in trust] == [{"Service": "ec2.amazonaws.com"}]


def test_what_takes_no_resource_is_bound_to_the_region(declared: Callable[..., Any]) -> None:
    wide = [s for s in _statements(declared("aws")).values() if s["Resource"] == "*"]
    assert {s["Sid"] for s in wide} == {"AnswerSessionManager", "DescribeFilesystems"}
    assert [s["Condition"] for s in wide] == [{"StringEquals": {"aws:RequestedRegion": "us-east-1"}}] * 2


@pytest.mark.parametrize("changes", [{}, SCRATCH_LINKED, OWN_BUCKET], ids=["example", "scratch", "own-bucket"])
def test_the_linter_of_policies_finds_nothing(changes: dict[str, Any], declared: Callable[..., Any]) -> None:
    cluster = declared("aws", changes)
    policies = [r.inputs["policy"] for kind in ("RolePolicy", "BucketPolicy") for r in cluster.of(kind)]
    assert [finding for policy in policies for finding in lint(policy)] == []


@pytest.mark.parametrize(
    ("statement", "issue"),
    [
        ({"Action": "s3:GetObjects", "Resource": "arn:aws:s3:::b/*"}, "UNKNOWN_ACTION"),
        ({"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b"}, "RESOURCE_MISMATCH"),
        ({"Action": "s3:PutObject", "Resource": "*"}, "RESOURCE_STAR"),
    ],
)
def test_the_linter_of_policies_finds_what_is_wrong(statement: dict[str, Any], issue: str) -> None:
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]}
    assert [issue] == [finding.partition(":")[0] for finding in lint(json.dumps(policy))]
