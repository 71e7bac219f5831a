"""The shape of a spec: for every field the spellings that are taken, and those that are refused, with path and fix.

What a well-shaped spec means: test_rules. Values of any kind in any place: test_robustness.
"""

from __future__ import annotations

import base64
from datetime import date
from ipaddress import IPv4Network
from typing import Any

import pytest
from pydantic import BaseModel

from planning.shape import fields_at, read_spec
from planning.spec import AwsSpec, AzureSpec
from planning.units import show_size

GUID = "01234567-89ab-cdef-0123-456789abcdef"


def key(kind: str, *fields: bytes) -> str:
    """A public key with these fields after its kind."""
    blob = b"".join(len(each).to_bytes(4, "big") + each for each in (kind.encode(), *fields))
    return f"{kind} {base64.b64encode(blob).decode()} me"


RSA = key("ssh-rsa", b"\1\0\1", b"\0" + b"n" * 256)
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----\n"

TAKEN: list[tuple[str, str, Any, Any]] = [
    # cloud, field, as written, as read
    ("aws", "name", "a1", "a1"),
    ("aws", "name", "llama-70b-pretrainin", "llama-70b-pretrainin"),
    ("aws", "region", "us-east-1", "us-east-1"),
    ("aws", "account", "012345678901", "012345678901"),
    ("azure", "account", GUID.upper(), GUID.upper()),
    ("aws", "zone", "use1-az6", "use1-az6"),
    ("azure", "zone", 1, "1"),
    ("azure", "zone", "3", "3"),
    ("azure", "zone", ..., None),
    ("aws", "nodes.type", "p5.48xlarge", "p5.48xlarge"),
    ("aws", "nodes.count", 1, 1),
    ("aws", "nodes.count", 2000, 2000),
    ("aws", "nodes.running", ..., True),
    ("aws", "nodes.running", False, False),
    ("aws", "nodes.max_count", 32, 32),
    ("aws", "nodes.purchase", ..., "on-demand"),
    *(("aws", "nodes.purchase", way, way) for way in ("on-demand", "spot", "reserved", "capacity-block")),
    ("aws", "nodes.reservation", "cr-0123456789abcdef0", "cr-0123456789abcdef0"),
    ("aws", "nodes.reservation", {"id": "cr-0", "count": 16, "zone": "use1-az6", "placement_group": "pg-0"}, dict),
    ("aws", "nodes.reservation", {"id": "cr-0", "start": "2035-12-01", "end": "2035-12-31"}, dict),
    ("aws", "nodes.reservation", {"buy": "cbo-0", "confirm": True}, dict),
    ("aws", "nodes.spot.max_price", 20, 20.0),
    ("aws", "nodes.spot.max_price", 16.5, 16.5),
    ("azure", "nodes.spot.on_eviction", "deallocate", "deallocate"),
    *(("aws", "nodes.start", start, start) for start in ("auto", "gang", "elastic")),
    *(("azure", "nodes.placement", placement, placement) for placement in ("auto", "cluster", "none")),
    ("aws", "nodes.interfaces", ..., "efa-only"),
    ("aws", "nodes.interfaces", "efa", "efa"),
    ("aws", "nodes.image", "ami-0123456789abcdef0", "ami-0123456789abcdef0"),
    ("aws", "nodes.root_disk", ..., 300),
    ("aws", "nodes.root_disk", "1TiB", 1024),
    ("aws", "nodes.setup", ["true", "false"], ("true", "false")),
    ("aws", "nodes.setup", "setup.sh", "setup.sh"),
    ("aws", "network.cidr", "10.40.0.0/16", IPv4Network("10.40.0.0/16")),
    ("aws", "network.existing", {"vpc": "v", "subnet": "s", "security_groups": ["sg-0"]}, dict),
    ("azure", "network.existing", {"subnet": "s", "filesystem_subnet": "f", "endpoint_subnet": "e"}, dict),
    ("aws", "network.egress", "none", "none"),
    ("aws", "network.flow_logs", True, True),
    ("aws", "storage.filesystem", None, None),
    ("aws", "storage.filesystem.capacity", "38400GiB", 38400),
    ("aws", "storage.filesystem.capacity", "37.5TiB", 38400),
    ("aws", "storage.filesystem.capacity", "1PiB", 1024**2),
    ("aws", "storage.filesystem.capacity", " 48 TiB ", 48 * 1024),
    ("aws", "storage.filesystem.throughput_per_tib", 250, 250),
    ("aws", "storage.filesystem.deployment", "scratch", "scratch"),
    ("azure", "storage.filesystem.deployment", "persistent", "persistent"),
    ("aws", "storage.filesystem.mount", ..., "/lustre"),
    ("aws", "storage.filesystem.mount", "/mnt/lustre-1.x", "/mnt/lustre-1.x"),
    ("aws", "storage.filesystem.backup_days", 0, 0),
    ("aws", "storage.filesystem.backup_days", 90, 90),
    *(("aws", "storage.filesystem.efa", efa, efa) for efa in ("auto", True, False)),
    ("aws", "storage.filesystem.metadata_iops", 1500, 1500),
    ("aws", "storage.filesystem.compression", "none", "none"),
    ("azure", "storage.filesystem.kms_key", "key", "key"),
    ("aws", "storage.filesystem.existing", "fs-0123456789abcdef0", "fs-0123456789abcdef0"),
    ("aws", "storage.objects.name", "llama-data", "llama-data"),
    ("aws", "storage.objects.existing", "llama-data", "llama-data"),
    ("aws", "storage.objects.link", True, True),
    ("azure", "storage.objects.link_principal", GUID, GUID),
    ("aws", "storage.objects.checkpoints.prefix", ..., "checkpoints"),
    ("aws", "storage.objects.checkpoints.prefix", "runs/llama_70b", "runs/llama_70b"),
    ("aws", "storage.objects.checkpoints.cool_after_days", 1, 1),
    ("aws", "storage.objects.checkpoints.expire_after_days", 36500, 36500),
    ("aws", "storage.objects.checkpoints.size", "2.25TiB", 2304),
    *(("azure", "storage.on_delete", way, way) for way in ("protect", "retain", "delete")),
    ("aws", "access.ssh_public_key", RSA, RSA),
    ("aws", "access.ssh_public_key", f"  {RSA}\n", RSA),
    *(
        ("aws", "access.ssh_public_key", whole, whole)
        for whole in (
            key("ssh-ed25519", b"p" * 32),
            key("ssh-rsa", b"\3", b"n" * 128),
            key("ecdsa-sha2-nistp521", b"nistp521", b"p" * 133),
        )
    ),
    (
        "aws",
        "access.ssh_from",
        ["10.0.0.0/8", "192.0.2.1/32"],
        (IPv4Network("10.0.0.0/8"), IPv4Network("192.0.2.1/32")),
    ),
    ("aws", "access.bastion", True, True),
    ("aws", "lifetime.expires", date(2035, 12, 31), date(2035, 12, 31)),
    ("aws", "lifetime.expires", "2035-12-31", date(2035, 12, 31)),
    ("aws", "lifetime.expires", "2035-12-31 00:00:00 +0000 UTC", date(2035, 12, 31)),
    ("aws", "lifetime.max_usd_per_hour", 1000, 1000.0),
    ("aws", "tags", ..., {}),
    ("aws", "tags", {"team": "", "cost-center": "4711"}, {"team": "", "cost-center": "4711"}),
    ("aws", "orchestrator", "none", "none"),
    ("aws", "waive", {"expired": "last run"}, {"expired": "last run"}),
]

REFUSED: list[tuple[str, str, Any, str, str]] = [
    # cloud, field, as written, path of the finding, part of its fix
    ("aws", "name", ..., "name", "write name: llama-70b"),
    ("aws", "name", "Llama_70B", "name", "write llama-70b"),
    ("aws", "name", "llama-70b-pretraining", "name", "write llama-70b-pretrainin"),
    ("aws", "name", "llama-", "name", "write llama"),
    ("azure", "name", "llama--70b", "name", "write llama-70b"),
    ("aws", "name", "70b", "name", "a name such as llama-70b"),
    ("aws", "name", "a", "name", "a name such as llama-70b"),
    ("aws", "name", 70, "name", 'put it in quotes: "70"'),
    ("aws", "cloud", ..., "cloud", "write aws or azure"),
    ("aws", "cloud", "gcp", "cloud", "write aws or azure"),
    ("aws", "cloud", ["aws"], "cloud", "write aws or azure"),
    ("aws", "region", ..., "region", "write region: us-east-1"),
    ("azure", "region", ..., "region", "write region: eastus"),
    ("aws", "region", "", "region", "write a value"),
    ("aws", "account", 123456789012, "account", "put its 12 digits in quotes"),
    ("aws", "account", GUID, "account", "12 digits"),
    ("azure", "account", "123456789012", "account", "GUID"),
    ("aws", "zone", ..., "zone", "write zone: use1-az6"),
    ("aws", "zone", ["use1-az4", "use1-az6"], "zone", "write text"),
    ("azure", "zone", "4", "zone", 'write "1", "2" or "3"'),
    ("azure", "zone", 0, "zone", 'write "1", "2" or "3"'),
    ("azure", "zone", True, "zone", 'put it in quotes: "true"'),
    ("aws", "nodes", ..., "nodes", "{type: p5.48xlarge, count: 16}"),
    ("aws", "nodes", ["p5.48xlarge"], "nodes", "write fields below it"),
    ("azure", "nodes.type", ..., "nodes.type", "write type: Standard_ND96isr_H100_v5"),
    ("aws", "nodes.count", ..., "nodes.count", "write count: 16"),
    ("aws", "nodes.count", 0, "nodes.count", "write 1 or more"),
    ("aws", "nodes.count", -3, "nodes.count", "write 1 or more"),
    ("aws", "nodes.count", 1.5, "nodes.count", "write 2"),
    ("aws", "nodes.count", 16.0, "nodes.count", "write 16"),
    ("aws", "nodes.count", "16", "nodes.count", "write 16 without quotes"),
    ("aws", "nodes.count", True, "nodes.count", "a whole number without quotes"),
    ("aws", "nodes.count", 10**30, "nodes.count", "or less"),
    ("aws", "nodes.running", "yes", "nodes.running", "true or false without quotes"),
    ("aws", "nodes.running", 1, "nodes.running", "true or false without quotes"),
    ("aws", "nodes.max_count", 0, "nodes.max_count", "write 1 or more"),
    ("aws", "nodes.purchase", "on demand", "nodes.purchase", "did you mean on-demand?"),
    ("aws", "nodes.purchase", "preemptible", "nodes.purchase", "on-demand, spot, reserved, capacity-block"),
    ("aws", "nodes.reservation", ["cr-0"], "nodes.reservation", "write an id such as cr-0123456789abcdef0"),
    ("aws", "nodes.reservation", {"count": 16}, "nodes.reservation.id", "write id: cr-0123456789abcdef0"),
    ("aws", "nodes.reservation", {"id": "cr-0", "count": "16"}, "nodes.reservation.count", "write 16 without quotes"),
    ("aws", "nodes.reservation", {"buy": "cbo-0"}, "nodes.reservation.confirm", "write confirm: true"),
    ("aws", "nodes.reservation", {"buy": "cbo-0", "confirm": False}, "nodes.reservation.confirm", "true"),
    ("aws", "nodes.reservation", {"buy": "cbo-0", "confirm": 1}, "nodes.reservation.confirm", "true"),
    ("aws", "nodes.reservation", {"id": "cr-0", "zone": 1, "placement_group": ""}, "nodes.reservation.zone", '"1"'),
    ("aws", "nodes.reservation", {"id": "cr-0", "placement_group": 3}, "nodes.reservation.placement_group", '"3"'),
    ("aws", "nodes.reservation", {"id": "cr-0", "start": "soon"}, "nodes.reservation.start", "2035-12-31"),
    ("aws", "nodes.reservation", {"id": "cr-0", "end": 3}, "nodes.reservation.end", "2035-12-31"),
    ("aws", "nodes.reservation", {"buy": "", "confirm": True}, "nodes.reservation.buy", "write a value"),
    ("aws", "nodes.spot.max_price", 0, "nodes.spot.max_price", "a positive amount"),
    ("aws", "nodes.spot.on_eviction", "stop", "nodes.spot.on_eviction", "delete, deallocate"),
    ("aws", "nodes.start", "gangs", "nodes.start", "did you mean gang?"),
    ("aws", "nodes.placement", "spread", "nodes.placement", "auto, cluster, none"),
    ("aws", "nodes.interfaces", "ena", "nodes.interfaces", "efa-only, efa"),
    ("azure", "nodes.interfaces", "efa-only", "nodes.interfaces", "remove interfaces"),
    ("aws", "nodes.image", "", "nodes.image", "leave the field out"),
    ("aws", "nodes.root_disk", 300, "nodes.root_disk", "write 300GiB or 300TiB"),
    ("aws", "nodes.root_disk", True, "nodes.root_disk", "38400GiB or 48TiB"),
    ("aws", "nodes.setup", {"run": "true"}, "nodes.setup", "[first line, second line]"),
    ("aws", "nodes.setup", ["true", 1], "nodes.setup.1", 'put it in quotes: "1"'),
    ("aws", "network.cidr", "10.40.1.0/16", "network.cidr", "write 10.40.0.0/16"),
    ("aws", "network.cidr", "10.40.0.0", "network.cidr", "such as 10.40.0.0/16"),
    ("aws", "network.cidr", "10.40.0.0/255.255.0.0", "network.cidr", "such as 10.40.0.0/16"),
    ("aws", "network.cidr", "fd00::/8", "network.cidr", "such as 10.40.0.0/16"),
    ("aws", "network.existing", {"vpc": "vpc-0"}, "network.existing.subnet", "write subnet: subnet-"),
    ("aws", "network.existing", {"subnet": "s"}, "network.existing.vpc", "write vpc: vpc-"),
    (
        "aws",
        "network.existing",
        {"vpc": "v", "subnet": "s", "security_groups": "sg-0"},
        "network.existing.security_groups",
        "[sg-0]",
    ),
    ("azure", "network.existing", {"vpc": "v", "subnet": "s"}, "network.existing.vpc", "remove vpc"),
    ("azure", "network.existing", {"subnet": "s", "filesystem_subnet": 1}, "network.existing.filesystem_subnet", '"1"'),
    (
        "azure",
        "network.existing",
        {"subnet": "s", "endpoint_subnet": ""},
        "network.existing.endpoint_subnet",
        "a value",
    ),
    ("aws", "network.egress", "igw", "network.egress", "nat, none"),
    ("aws", "network.flow_logs", "on", "network.flow_logs", "true or false without quotes"),
    ("aws", "storage.filesystem", "lustre", "storage.filesystem", "write fields below it"),
    ("aws", "storage.filesystem.capacity", 38400, "storage.filesystem.capacity", "write 38400GiB or 38400TiB"),
    ("aws", "storage.filesystem.capacity", "38.4TB", "storage.filesystem.capacity", "did you mean 38400GiB?"),
    ("aws", "storage.filesystem.capacity", "48TB", "storage.filesystem.capacity", "did you mean 48TiB?"),
    ("aws", "storage.filesystem.capacity", "48tib", "storage.filesystem.capacity", "write 48TiB"),
    ("aws", "storage.filesystem.capacity", "48T", "storage.filesystem.capacity", "did you mean 48TiB?"),
    ("aws", "storage.filesystem.capacity", "48 tons", "storage.filesystem.capacity", "use GiB, TiB or PiB"),
    ("aws", "storage.filesystem.capacity", "1.2TiB", "storage.filesystem.capacity", "write 1200GiB"),
    ("aws", "storage.filesystem.capacity", "38.4TiB", "storage.filesystem.capacity", "write 38400GiB"),
    ("aws", "storage.filesystem.capacity", "1.2PiB", "storage.filesystem.capacity", "write 1200TiB"),
    ("aws", "nodes.root_disk", "300.5GiB", "nodes.root_disk", "write 301GiB"),
    ("aws", "storage.filesystem.capacity", "1.0001TiB", "storage.filesystem.capacity", "write 1025GiB"),
    ("aws", "storage.filesystem.capacity", "-1GiB", "storage.filesystem.capacity", "38400GiB or 48TiB"),
    ("aws", "storage.filesystem.capacity", "1" * 16 + "GiB", "storage.filesystem.capacity", "38400GiB or 48TiB"),
    (
        "aws",
        "storage.filesystem.throughput_per_tib",
        "250",
        "storage.filesystem.throughput_per_tib",
        "250 without quotes",
    ),
    ("azure", "storage.filesystem.deployment", "scratch", "storage.filesystem.deployment", "persistent"),
    ("aws", "storage.filesystem.mount", "lustre", "storage.filesystem.mount", "such as /lustre"),
    ("aws", "storage.filesystem.mount", "/", "storage.filesystem.mount", "such as /lustre"),
    ("aws", "storage.filesystem.mount", "/lustre/../etc", "storage.filesystem.mount", "such as /lustre"),
    ("aws", "storage.filesystem.mount", "/my data", "storage.filesystem.mount", "such as /lustre"),
    ("aws", "storage.filesystem.backup_days", 91, "storage.filesystem.backup_days", "write 90 or less"),
    ("azure", "storage.filesystem.backup_days", 7, "storage.filesystem.backup_days", "remove backup_days"),
    ("aws", "storage.filesystem.efa", "on", "storage.filesystem.efa", "auto, true, false"),
    ("aws", "storage.filesystem.efa", 1, "storage.filesystem.efa", "true or false"),
    ("aws", "storage.filesystem.metadata_iops", 0, "storage.filesystem.metadata_iops", "write 1 or more"),
    ("aws", "storage.filesystem.compression", "gzip", "storage.filesystem.compression", "none, lz4"),
    ("aws", "storage.filesystem.kms_key", "", "storage.filesystem.kms_key", "leave the field out"),
    ("aws", "storage.filesystem.existing", True, "storage.filesystem.existing", 'put it in quotes: "true"'),
    ("aws", "storage.objects.name", 70, "storage.objects.name", 'put it in quotes: "70"'),
    ("aws", "storage.objects.existing", {"id": "b"}, "storage.objects.existing", "write text"),
    ("aws", "storage.objects.link", None, "storage.objects.link", "true or false"),
    ("azure", "storage.objects.link_principal", "HPC Cache", "storage.objects.link_principal", "GUID"),
    (
        "aws",
        "storage.objects.checkpoints.prefix",
        "/runs/",
        "storage.objects.checkpoints.prefix",
        "such as checkpoints",
    ),
    (
        "aws",
        "storage.objects.checkpoints.cool_after_days",
        -7,
        "storage.objects.checkpoints.cool_after_days",
        "1 or more",
    ),
    (
        "aws",
        "storage.objects.checkpoints.expire_after_days",
        "30",
        "storage.objects.checkpoints.expire_after_days",
        "30 w",
    ),
    ("azure", "storage.objects.checkpoints.size", "1TB", "storage.objects.checkpoints.size", "did you mean 1TiB?"),
    ("aws", "storage.on_delete", "keep", "storage.on_delete", "protect, retain, delete"),
    ("aws", "access.ssh_public_key", "me@example", "access.ssh_public_key", "~/.ssh/id_ed25519.pub"),
    ("aws", "access.ssh_public_key", "ssh-ed25519 AAAA", "access.ssh_public_key", "~/.ssh/id_ed25519.pub"),
    *(
        ("aws", "access.ssh_public_key", part, "access.ssh_public_key", "~/.ssh/id_ed25519.pub")
        for part in (
            key("ssh-ed25519"),
            key("ssh-ed25519", b"p" * 31),
            key("ssh-ed25519", b"p" * 32, b""),
            key("ssh-ed25519", b"p" * 32).replace("me", "")[:-5],
            key("ssh-rsa"),
            key("ssh-rsa", b"\1\0\1"),
            key("ssh-rsa", b"", b"n" * 256),
            key("ssh-rsa", b"\1\0\1", b"n" * 64),
            key("ecdsa-sha2-nistp256", b"nistp521", b"p" * 65),
            key("ecdsa-sha2-nistp256", b"nistp256", b"\4"),
            key("ssh-rsa", b"p" * 32).replace("ssh-rsa", "ssh-ed25519"),
        )
    ),
    ("aws", "access.ssh_public_key", PRIVATE, "access.ssh_public_key", "replace the private key"),
    ("aws", "access.ssh_from", "10.0.0.0/8", "access.ssh_from", "write [10.0.0.0/8]"),
    ("aws", "access.ssh_from", ["10.0.0.1/8"], "access.ssh_from.0", "write 10.0.0.0/8"),
    ("aws", "access.bastion", "yes", "access.bastion", "true or false without quotes"),
    ("aws", "lifetime.expires", "31.12.2035", "lifetime.expires", "write the day as 2035-12-31"),
    ("aws", "lifetime.expires", "2035-02-30", "lifetime.expires", "write the day as 2035-12-31"),
    ("aws", "lifetime.expires", "2035-12-31 12:00:00 +0000 UTC", "lifetime.expires", "write the day as 2035-12-31"),
    ("aws", "lifetime.expires", 20351231, "lifetime.expires", "write the day as 2035-12-31"),
    ("aws", "lifetime.max_usd_per_hour", 0, "lifetime.max_usd_per_hour", "a positive amount"),
    ("aws", "lifetime.max_usd_per_hour", float("inf"), "lifetime.max_usd_per_hour", "leave the field out"),
    ("aws", "lifetime.max_usd_per_hour", "1000", "lifetime.max_usd_per_hour", "without quotes"),
    ("aws", "tags", ["team"], "tags", "write fields below it"),
    ("aws", "tags", {"cost": 4711}, "tags.cost", 'put it in quotes: "4711"'),
    ("aws", "tags", {"gpu": True}, "tags.gpu", 'put it in quotes: "true"'),
    ("aws", "orchestrator", "slurm", "orchestrator", "none"),
    ("aws", "waive", {"expired": None}, "waive.expired", "write text"),
    ("aws", "node", {}, "node", "did you mean nodes?"),
    ("aws", "nodes.purchse", "spot", "nodes.purchse", "did you mean purchase?"),
    (
        "azure",
        "storage.objects.checkpoints.cool_after_day",
        3,
        "storage.objects.checkpoints.cool_after_day",
        "cool_after_days",
    ),
    ("aws", "network.zzz", 1, "network.zzz", "network takes: cidr, egress, existing, flow_logs"),
]


@pytest.mark.parametrize(("cloud", "field", "written", "read"), TAKEN)
def test_a_legal_spelling_is_taken(cloud: str, field: str, written: Any, read: Any, spec_of: Any) -> None:
    spec, mistakes = read_spec(spec_of(cloud, {field: written}))
    assert mistakes == []
    value: Any = spec
    for name in field.split("."):
        value = getattr(value, name)
    if read is dict:
        assert value.model_dump(mode="json", exclude_unset=True) == written
    else:
        assert (value, type(value)) == (read, type(read))


@pytest.mark.parametrize(("cloud", "field", "written", "path", "fix"), REFUSED)
def test_an_illegal_spelling_is_refused_at_its_place_with_a_fix(
    cloud: str, field: str, written: Any, path: str, fix: str, spec_of: Any
) -> None:
    spec, mistakes = read_spec(spec_of(cloud, {field: written}))
    assert spec is None
    assert [mistake.path for mistake in mistakes] == [path]
    assert fix in mistakes[0].fix
    assert (mistakes[0].rule, mistakes[0].level) == ("schema", "error")


def _leaves(model: type[BaseModel], above: tuple[str, ...] = ()) -> set[str]:
    found = set()
    for name in fields_at(model, above):
        path = (*above, name)
        found |= _leaves(model, path) if fields_at(model, path) else {".".join(path)}
    return found


@pytest.mark.parametrize("model", [AwsSpec, AzureSpec])
def test_every_field_has_a_spelling_that_is_taken_and_one_that_is_refused(model: type[BaseModel]) -> None:
    taken = {field for _, field, *_ in TAKEN} | {"cloud"}
    taken |= {f"{field}.{below}" for _, field, written, read in TAKEN if read is dict for below in written}
    refused = [f"{path}." for *_, path, _ in REFUSED]
    leaves = _leaves(model)
    assert leaves - taken == set()
    assert {leaf for leaf in leaves if not any(path.startswith(f"{leaf}.") for path in refused)} == set()


def test_all_mistakes_are_told_at_once(spec_of: Any) -> None:
    raw = spec_of("aws", {"nodes.count": 0, "nodes.purchse": "spot", "network.cidr": "10.40.1.0/16", "name": "X"})
    _, mistakes = read_spec(raw)
    assert [mistake.path for mistake in mistakes] == ["name", "network.cidr", "nodes.count", "nodes.purchse"]


def test_mistakes_that_both_clouds_share_are_told_while_the_cloud_is_unknown(spec_of: Any) -> None:
    _, mistakes = read_spec(spec_of("aws", {"cloud": "gcp", "nodes.count": 0, "nodes.interfaces": 3}))
    assert [mistake.path for mistake in mistakes] == ["cloud", "nodes.count"]


@pytest.mark.parametrize(
    ("raw", "says"), [(None, "nothing"), ([{"name": "a"}], "a list"), ("aws", "a text"), (5, "number")]
)
def test_a_cluster_that_is_no_mapping_is_one_finding(raw: object, says: str) -> None:
    spec, mistakes = read_spec(raw)
    assert (spec, [mistake.path for mistake in mistakes]) == (None, [""])
    assert says in mistakes[0].message


def test_a_private_key_is_never_repeated(spec_of: Any) -> None:
    _, mistakes = read_spec(spec_of("azure", {"access.ssh_public_key": PRIVATE}))
    assert "b3BlbnNzaC1rZXk" not in str(mistakes)


def test_a_spec_is_frozen(spec_of: Any) -> None:
    spec, _ = read_spec(spec_of("aws", {}))
    assert spec is not None
    with pytest.raises(ValueError, match="frozen"):
        setattr(spec, "name", "other")  # noqa: B010 - a type checker would refuse the plain assignment, too


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_a_spec_written_back_reads_as_the_same_spec(cloud: str, spec_of: Any) -> None:
    spec, _ = read_spec(spec_of(cloud, {"network.cidr": "10.0.0.0/16", "lifetime.expires": "2035-12-31"}))
    assert spec is not None
    assert read_spec(spec.model_dump(mode="json")) == (spec, [])


@pytest.mark.parametrize(("gib", "text"), [(300, "300GiB"), (1024, "1TiB"), (38400, "38400GiB"), (49152, "48TiB")])
def test_a_size_is_shown_in_the_largest_unit_that_is_whole(gib: int, text: str) -> None:
    assert show_size(gib) == text
