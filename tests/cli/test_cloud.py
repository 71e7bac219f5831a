"""`gpu-clusters local cloud`: what its words do and show, and how it refuses what it cannot mean."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli import local
from localcloud import faults
from localcloud.scarcity import Scarcity
from localcloud.store import Record, Store

VPC = Record(
    cloud="aws",
    scope="123456789012/us-east-1",
    type="aws:ec2/vpc:Vpc",
    id="vpc-1",
    urn="urn:pulumi:dev::train::aws:ec2/vpc:Vpc::net",
    inputs={"cidrBlock": "10.0.0.0/16"},
    outputs={"cidrBlock": "10.0.0.0/16", "region": "us-east-1"},
)
NAT = Record(
    cloud="aws",
    scope="123456789012/us-east-1",
    type="aws:ec2/natGateway:NatGateway",
    id="nat-1",
    urn="urn:pulumi:dev::train::aws:ec2/natGateway:NatGateway::nat",
    outputs={"region": "us-east-1"},
)
HELD = Record(
    cloud="aws",
    scope="123456789012/us-east-1",
    type="aws:ec2/capacityReservation:CapacityReservation",
    id="cr-1",
    urn="urn:pulumi:dev::train::aws:ec2/capacityReservation:CapacityReservation::held",
    outputs={"region": "us-east-1", "instanceType": "p5.48xlarge", "instanceCount": 2},
)
SCALE_SET = Record(
    cloud="azure-native",
    scope="",
    type="azure-native:compute:VirtualMachineScaleSet",
    id="/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/nodes",
    urn="urn:pulumi:dev::train::azure-native:compute:VirtualMachineScaleSet::nodes",
    outputs={"location": "East US", "sku": {"name": "Standard_ND96isr_H100_v5", "capacity": 2}, "__nodes": 2},
)
LUSTRE = Record(
    cloud="aws",
    scope="123456789012/us-east-1",
    type="aws:fsx/lustreFileSystem:LustreFileSystem",
    id="fs-1",
    urn="urn:pulumi:dev::train::aws:fsx/lustreFileSystem:LustreFileSystem::lustre",
    outputs={
        "region": "us-east-1",
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250,
        "storageCapacity": 38400,
    },
)


class Command:
    def __init__(self, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.project = project
        self.capfd = capfd

    def __call__(self, *words: str) -> str:
        code, out, err = self.outcome(*words)
        assert (code, err) == (0, "")
        return out

    def outcome(self, *words: str) -> tuple[int, str, str]:
        self.capfd.readouterr()
        code = local.run(["--project", str(self.project), "cloud", *words])
        return (code, *self.capfd.readouterr())

    def store(self) -> Store:
        return Store(self.project / ".local" / "cloud.db")

    def holds(self, *records: Record) -> None:
        with closing(self.store()) as store:
            for record in records:
                with store.transaction(record.cloud) as tx:
                    tx.put(record)


@pytest.fixture
def command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    (tmp_path / "Pulumi.yaml").write_text("name: train\nruntime: python\n")
    return Command(tmp_path, capfd)


def document(command: Command) -> dict[str, Any]:
    return json.loads(command("show", "--format", "json"))


def test_show_lists_what_exists_with_its_price_per_day_where_one_is_known(command: Command):
    command.holds(VPC, NAT, HELD, SCALE_SET, LUSTRE)
    prices = {row["id"].rpartition("/")[2]: row["usd_per_day"] for row in document(command)["resources"]}
    assert prices == {
        "vpc-1": None,
        "nat-1": pytest.approx(24 * 0.045, abs=0.01),
        "cr-1": pytest.approx(2 * 24 * 55.04),
        "nodes": pytest.approx(2 * 24 * 98.32),
        "fs-1": pytest.approx(38400 * 0.21 / 730 * 24, abs=0.01),
    }
    text = command("show")
    assert "2,641.92  aws:ec2/capacityReservation:CapacityReservation" in text
    total = sum(price for price in prices.values() if price)
    assert f"{total:,.2f}  5 resources" in text


def test_the_json_holds_all_that_was_set(command: Command):
    command("set", "capacity", "aws", "p5.48xlarge", "use1-az6", "on-demand", "15")
    command("set", "capacity", "azure", "Standard_ND96isr_H100_v5", "*", "*", "0")
    command("set", "quota", "aws", "L-417A185B", "768")
    command("set", "fault", "server-error", "aws", "Vpc", "3")
    found = document(command)
    assert found["resources"] == []
    assert {"cloud": "aws", "type": "p5.48xlarge", "zone": "use1-az6", "purchase": "on-demand", "nodes": 15} in found[
        "capacity"
    ]
    assert len(found["capacity"]) == 2
    assert found["quota"] == [{"cloud": "aws", "code": "L-417A185B", "vcpus": 768}]
    assert (found["faults"][0]["type"], found["faults"][0]["passes"]) == ("aws:ec2/vpc:Vpc", 2)


def test_what_is_set_holds_on_the_cloud_and_none_lifts_it(command: Command):
    command("set", "capacity", "aws", "p5.48xlarge", "use1-az6", "spot", "4")
    with closing(command.store()) as store:
        assert Scarcity(store).available("aws", "p5.48xlarge", "use1-az6", "spot") == 4
    assert "no limit" in command("set", "capacity", "aws", "p5.48xlarge", "use1-az6", "spot", "none")
    assert document(command)["capacity"] == []


def test_show_has_the_limits_of_the_projects_file_too(command: Command):
    file = command.project / "localcloud.toml"
    file.write_text('[[quota]]\ncloud = "aws"\ncode = "L-417A185B"\nvcpus = 192\n')
    assert document(command)["quota"] == [{"cloud": "aws", "code": "L-417A185B", "vcpus": 192}]
    file.write_text("[[quota]]\nvcpus = 192\n")
    code, out, err = command.outcome("show")
    assert (code, out) == (2, "")
    assert f"{file} cannot be used" in err


def test_faults_are_ordered_as_they_are_written(command: Command):
    command("set", "fault", "throttle", "azure", "VirtualMachineScaleSet", "4")
    command("set", "fault", "after-create", "aws", "aws:ec2/vpc:Vpc", "Broken", "It broke.")
    with closing(command.store()) as store:
        throttled, named = faults.ordered(store)
    assert (throttled.cloud, throttled.type, throttled.throttled) == ("azure-native", SCALE_SET.type, 4)
    assert (named.operation, named.code, named.message) == ("after-create", "Broken", "It broke.")
    assert "fault  aws:ec2/vpc:Vpc: the next after-create ends with Broken" in command("show")


def test_drift_changes_the_cloud_by_type_and_name(command: Command):
    command.holds(VPC)
    said = command("drift", "Vpc/net", "enableDnsHostnames=true", "tags.team=b")
    assert "vpc-1: enableDnsHostnames is true now" in said
    with closing(command.store()) as store:
        (record,) = store.list()
    assert record.inputs == {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, "tags": {"team": "b"}}


def test_a_node_dies_by_command(command: Command):
    inputs = {"location": "eastus", **SCALE_SET.outputs}
    command.holds(replace(SCALE_SET, inputs=inputs))
    assert "1 node died" in command("kill-node", "nodes")
    with closing(command.store()) as store:
        assert store.list()[0].outputs["sku"]["capacity"] == 1


def test_reset_forgets_resources_limits_and_faults(command: Command):
    command.holds(VPC)
    command("set", "quota", "aws", "L-417A185B", "0")
    command("set", "fault", "throttle", "aws", "Vpc")
    assert "1 resource " in command("reset")
    assert document(command) == {"resources": [], "capacity": [], "quota": [], "faults": []}


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["set", "--help"]])
def test_help_shows_every_verb(command: Command, words: list[str]):
    text = command(*words)
    for verb in ("show", "reset", "set capacity", "set quota", "set fault", "drift", "kill-node", "interrupt-spot"):
        assert f"\n  {verb} " in text or f"\n  {verb}" in text


def test_nothing_of_it_shows_in_git(command: Command):
    command("set", "quota", "aws", "L-417A185B", "0")
    assert (command.project / ".local" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["shwo"], "did you mean show?"),
        (["show", "--format", "xml"], "takes --format text or --format json; found --format xml"),
        (["show", "all"], "found all"),
        (["reset", "now"], "takes no now"),
        (["set"], "capacity, quota, fault"),
        (["set", "capasity"], "did you mean capacity?"),
        (["set", "capacity", "aws", "p5.48xlarge", "3"], "takes CLOUD TYPE ZONE PURCHASE NODES"),
        (["set", "capacity", "gcp", "x", "z", "spot", "3"], "CLOUD: found 'gcp'; write one of aws, azure"),
        (["set", "capacity", "aws", "x", "us-east-1a", "spot", "3"], "write a zone id as in use1-az6"),
        (["set", "capacity", "aws", "x", "z", "free", "3"], "purchase: found 'free'; write one of on-demand"),
        (["set", "capacity", "aws", "x", "*", "spot", "-3"], "NODES: found '-3'; write a whole number"),
        (["set", "quota", "aws", "L-1"], "takes CLOUD CODE VCPUS"),
        (["set", "quota", "aws", "L-1", "many"], "VCPUS: found 'many'"),
        (["set", "fault", "fire"], "throttle, server-error, create"),
        (["set", "fault", "create", "aws", "Vpc"], "takes CLOUD TYPE CODE [MESSAGE]"),
        (["set", "fault", "create", "aws", "Vcp", "Broken"], "did you mean"),
        (["set", "fault", "throttle", "aws", "Vpc", "0"], "NUMBER: found 0; write 1 or more"),
        (["drift", "net"], "takes RESOURCE KEY=VALUE"),
        (["drift", "net", "a=b"], "nothing on the local cloud is named net"),
        (["kill-node"], "takes GROUP [N]"),
        (["kill-node", "nodes", "0"], "N: found 0; write 1 or more"),
        (["interrupt-spot"], "the local cloud runs no spot nodes"),
        (["interrupt-spot", "a", "b"], "takes no b"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(command: Command, words: list[str], says: str):
    code, out, err = command.outcome(*words)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_a_folder_without_a_project_gets_no_cloud(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    assert local.run(["--project", str(tmp_path), "cloud", "show"]) == 2
    assert "has no Pulumi.yaml" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_used_is_one_message(command: Command):
    folder = command.project / ".local"
    folder.mkdir()
    (folder / "cloud.db").write_text("no database, and long enough to be taken for one" * 20)
    code, out, err = command.outcome("show")
    assert (code, out) == (2, "")
    assert "delete the file" in err
    assert "Traceback" not in err


def test_a_limit_of_a_type_that_nobody_knows_is_said_to_be_one(command: Command):
    code, out, err = command.outcome("set", "capacity", "aws", "p5.48xlrge", "*", "*", "1")
    assert (code, "1 node in all" in out) == (0, True)
    assert "does not know the type p5.48xlrge" in err
