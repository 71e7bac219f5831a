"""From configuration to cluster: the program of `stacks/`, the classes used on their own, and errors that surface."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime.config import set_all_config

from components.dryrun import DuplicateUrnError, run
from tests.clusters import planned

ROOT = Path(__file__).parents[2]
STACKS = ROOT / "stacks"


def clean(
    code: str, *, folder: Path = STACKS, config: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Python in a fresh interpreter that knows of no engine."""
    env = {"PATH": "/usr/bin:/bin", "PULUMI_CONFIG": json.dumps(config or {}), "HOME": "/nonexistent"}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=folder, env=env, capture_output=True, text=True
    )


RUN_STACKS = """
import pulumi, runpy
try:
    runpy.run_path("../stacks", run_name="__main__")
except pulumi.RunError as error:
    print(error)
"""


def test_the_program_without_configuration_ends_with_a_finding_and_no_traceback() -> None:
    ran = clean(RUN_STACKS)
    assert ran.stderr == ""
    assert "the cluster can not be built as it is described" in ran.stdout
    assert "error: " in ran.stdout


def test_the_program_with_a_bad_spec_lists_every_finding_with_its_path() -> None:
    spec = {"name": "Llama", "cloud": "aws", "region": "us-east-1", "zone": "use1-az6", "nodes": {"count": 0}}
    ran = clean(RUN_STACKS, config={"gpu-clusters:cluster": json.dumps(spec)})
    assert ran.stderr == ""
    for path in ("name:", "nodes.count:", "nodes.type:"):
        assert f"error: {path}" in ran.stdout


@pytest.mark.parametrize("stack", ["aws-p5", "azure-nd-h100"])
def test_the_program_of_the_stacks_declares_the_cluster_of_its_configuration(
    stack: str, declared: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from planning.stackfile import read_stack

    spec = read_stack(STACKS / f"Pulumi.{stack}.yaml").spec
    monkeypatch.chdir(STACKS)

    def program() -> None:
        set_all_config({"gpu-clusters:cluster": json.dumps(spec)})
        runpy.run_path(str(STACKS), run_name="__main__")

    ran = run(program)
    expected = declared(stack)
    assert {(r.type, r.name) for r in ran.resources} == expected.names
    assert set(ran.exports) == set(expected.run.exports)


def test_provider_settings_in_the_stacks_configuration_are_refused_and_not_dropped() -> None:
    from planning.stackfile import read_stack

    spec = read_stack(STACKS / "Pulumi.aws-p5.yaml").spec
    ran = clean(RUN_STACKS, config={"gpu-clusters:cluster": json.dumps(spec), "aws:region": "eu-west-1"})
    assert "aws:region" in ran.stdout


@pytest.mark.parametrize(
    ("module", "foreign"),
    [
        ("components.aws", {"pulumi_azure_native"}),
        ("components.azure", {"pulumi_aws"}),
        ("components.dryrun", {"pulumi_aws", "pulumi_azure_native"}),
    ],
)
def test_a_program_loads_the_sdk_of_its_own_cloud_only(module: str, foreign: set[str]) -> None:
    ran = clean(f"import sys, {module}\nprint(sorted({foreign!r} & set(sys.modules)))")
    assert ran.stdout == "[]\n", ran.stderr


def test_an_error_inside_an_apply_surfaces() -> None:
    def program() -> None:
        def fail(_: str) -> str:
            raise ValueError("found too late")

        pulumi.export("never", pulumi.Output.from_input("value").apply(fail))

    with pytest.raises(ValueError, match="found too late"):
        run(program)


def test_an_unknown_lookup_is_an_error_and_not_an_empty_answer() -> None:
    import pulumi_aws as aws

    def program() -> None:
        pulumi.export("zones", aws.get_availability_zones_output().names)

    with pytest.raises(Exception, match="knows no answer to aws:index/getAvailabilityZones"):
        run(program)


def test_an_efa_cluster_goes_into_a_vpc_of_the_same_program() -> None:
    import pulumi_aws as aws

    from components.aws.cluster import EfaCluster
    from components.aws.network import NetworkInputs

    def program() -> None:
        vpc = aws.ec2.Vpc("shared", cidr_block="10.0.0.0/16")
        subnet = aws.ec2.Subnet("private", vpc_id=vpc.id, cidr_block="10.0.0.0/18", availability_zone_id="use1-az6")
        network = NetworkInputs(vpc_id=vpc.id, subnet_id=subnet.id, availability_zone=subnet.availability_zone)
        cluster = EfaCluster("train", planned("aws"), network=network)
        pulumi.export("mount", cluster.filesystem.apply(lambda f: f["mount_command"]))

    ran = run(program)
    kinds = [r.type.rsplit(":", 1)[-1] for r in ran.resources]
    assert kinds.count("Vpc") == kinds.count("Subnet") == 1
    assert not {"NatGateway", "InternetGateway", "RouteTable", "VpcEndpoint", "Eip"} & set(kinds)
    (nodes,) = [r for r in ran.resources if r.type.endswith(":Group")]
    assert list(nodes.inputs["vpcZoneIdentifiers"]) == ["private-id"]
    (lustre,) = [r for r in ran.resources if r.type.endswith(":LustreFileSystem")]
    assert lustre.inputs["subnetIds"] == "private-id"
    (reservation,) = [r for r in ran.resources if r.type.endswith(":CapacityReservation")]
    assert reservation.inputs["availabilityZone"] == "zone-a"
    assert {r.name.split("-")[0] for r in ran.resources} == {"shared", "private", "train"}
    assert ran.exports["mount"].endswith(" /lustre")


def _azure_network(filesystem: bool) -> Any:
    from pulumi_azure_native import network

    from components.azure.network import NetworkInputs

    vnet = network.VirtualNetwork(
        "shared", resource_group_name="own", address_space={"address_prefixes": ["10.0.0.0/16"]}
    )
    nodes, lustre = (
        network.Subnet(name, resource_group_name="own", virtual_network_name=vnet.name, address_prefix=prefix)
        for name, prefix in (("nodes", "10.0.0.0/18"), ("lustre", "10.0.64.0/24"))
    )
    return NetworkInputs(vnet_id=vnet.id, subnet_id=nodes.id, filesystem_subnet_id=lustre.id if filesystem else None)


def test_an_infiniband_cluster_goes_into_a_network_of_the_same_program() -> None:
    from components.azure.cluster import InfiniBandCluster

    def program() -> None:
        InfiniBandCluster("train", planned("azure"), network=_azure_network(filesystem=True))

    ran = run(program)
    kinds = [r.type.rsplit(":", 1)[-1] for r in ran.resources]
    assert kinds.count("VirtualNetwork") == 1
    assert kinds.count("Subnet") == 2
    assert not {"NatGateway", "PublicIPAddress", "NetworkSecurityGroup"} & set(kinds)
    endpoints = [r for r in ran.resources if r.type.endswith(":PrivateEndpoint")]
    assert [r.inputs["subnet"]["id"] for r in endpoints] == ["nodes-id", "nodes-id"]
    (lustre,) = [r for r in ran.resources if r.type.endswith(":AmlFilesystem")]
    assert lustre.inputs["filesystemSubnet"] == "lustre-id"


def test_a_filesystem_without_a_subnet_for_it_is_refused_in_words() -> None:
    from components.azure.cluster import InfiniBandCluster

    def program() -> None:
        InfiniBandCluster("train", planned("azure"), network=_azure_network(filesystem=False))

    with pytest.raises(pulumi.RunError, match=r"train: network.filesystem_subnet_id is missing"):
        run(program)


def test_a_program_that_fails_leaves_nothing_to_the_next_one() -> None:
    import pulumi_aws as aws

    def failing() -> None:
        for name in ("first", "second", "second"):
            aws.ec2.Vpc(name, cidr_block="10.0.0.0/16")

    def fine() -> None:
        aws.ec2.Vpc("only", cidr_block="10.0.0.0/16")

    for _ in range(3):
        with pytest.raises(DuplicateUrnError):
            run(failing)
        assert [r.name for r in run(fine).resources] == ["only"]
