"""What every cluster promises, on both clouds alike: outputs, tags, protection, scale, and that it stands alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from pulumi.output import Unknown

from components.cluster import OUTPUTS
from components.dryrun import DuplicateUrnError, dry_run, run
from components.program import build
from tests.clusters import AWS, AZURE, CLUSTERS, EXAMPLES, ROOT, changes_of, planned

MIRRORED = sorted({name.removeprefix("aws-") for name in AWS} & {name.removeprefix("azure-") for name in AZURE})
"""Clusters that the table has on both clouds."""
RETAINED = [name for name in CLUSTERS if changes_of(name).get("storage.on_delete") == "retain"]
ONE_CLOUD_ONLY = {
    "aws": {
        "flow_logs": "on Azure they belong to a Network Watcher, of which a subscription has one in a region",
        "tags": "consoles of AWS show the tag Name; on Azure the name is the resource's own",
    },
    "azure": {
        "bastion": "on AWS Session Manager is there without a resource",
        "group": "AWS has no place that all resources of a cluster are in",
    },
}
"""Modules without a twin, and why."""
STORES = {
    "aws": {"Bucket", "LustreFileSystem"},
    "azure": {"ResourceGroup", "StorageAccount", "BlobContainer", "AmlFilesystem"},
}
GUARDS = {
    "aws": {
        "BucketLifecycleConfiguration",
        "BucketOwnershipControls",
        "BucketPolicy",
        "BucketPublicAccessBlock",
        "BucketServerSideEncryptionConfiguration",
        "BucketVersioning",
    },
    "azure": {"BlobServiceProperties"},
}
NODES = {
    "aws": {"CapacityReservation", "Group", "LaunchTemplate", "PlacementGroup"},
    "azure": {"VirtualMachineScaleSet"},
}
UNTAGGABLE = {
    "aws": GUARDS["aws"] | {"RolePolicy", "Route", "RouteTableAssociation"},
    "azure": {
        "BlobContainer",
        "BlobServiceProperties",
        "ManagementPolicy",
        "PrivateDnsZoneGroup",
        "RoleAssignment",
        "Subnet",
    },
}


def shape(value: Any) -> Any:
    return {k: shape(v) for k, v in value.items()} if isinstance(value, dict) else type(value)


def kind(resource: Any) -> str:
    return resource.type.rsplit(":", 1)[-1]


def tags_of(resource: Any) -> dict[str, str]:
    tags = resource.inputs.get("tags") or {}
    return {tag["key"]: tag["value"] for tag in tags} if isinstance(tags, list) else tags


def test_the_rooms_of_both_clouds_have_the_same_names() -> None:
    rooms = {cloud: {path.stem for path in (ROOT / f"components/{cloud}").glob("*.py")} for cloud in ONE_CLOUD_ONLY}
    assert rooms["aws"] - rooms["azure"] == set(ONE_CLOUD_ONLY["aws"])
    assert rooms["azure"] - rooms["aws"] == set(ONE_CLOUD_ONLY["azure"])


def test_the_table_of_clusters_has_the_main_ones_on_both_clouds() -> None:
    main = {"on-demand", "spot", "stopped", "elastic", "single", "no-filesystem", "existing-filesystem", "linked"}
    assert set(MIRRORED) >= main | {"existing-network", "egress-none", "retain", "delete"}


@pytest.mark.parametrize("name", MIRRORED)
def test_both_clouds_give_the_same_exports_of_the_same_types(name: str, cluster: Callable[[str], Any]) -> None:
    one, other = (dict(cluster(f"{cloud}-{name}").run.exports) for cloud in ("aws", "azure"))
    assert set(one) == set(other) == set(OUTPUTS)
    launcher = one.pop("launcher_env"), other.pop("launcher_env")
    assert shape(one) == shape(other)
    assert launcher[0].get("PET_NNODES") == launcher[1].get("PET_NNODES")
    assert one["node_count"] == other["node_count"]


@pytest.mark.parametrize("name", MIRRORED)
def test_both_clouds_keep_and_give_up_the_same_data(name: str, cluster: Callable[[str], Any]) -> None:
    """Of each cluster: what `storage.on_delete` means for stores and their guards, of which both have some."""
    kept = {}
    for cloud in ("aws", "azure"):
        here = cluster(f"{cloud}-{name}")
        stores = [r for r in here.run.resources if kind(r) in STORES[cloud] | GUARDS[cloud]]
        kept[cloud] = {(r.request.protect, r.request.retainOnDelete) for r in stores}
        assert kept[cloud] == {(here.plan.on_delete == "protect", here.plan.on_delete == "retain")}
    assert kept["aws"] == kept["azure"]


@pytest.mark.parametrize("name", MIRRORED)
def test_both_clouds_declare_nodes_for_the_same_clusters(name: str, cluster: Callable[[str], Any]) -> None:
    for cloud in ("aws", "azure"):
        here = cluster(f"{cloud}-{name}")
        groups = here.kinds() & {"Group", "Fleet", "Instance", "VirtualMachineScaleSet"}
        assert bool(groups) == here.plan.nodes.running == bool(here.run.exports["node_count"])


def test_the_exports_say_what_the_plan_says(cloud: str, declared: Callable[..., Any]) -> None:
    cluster = declared(cloud)
    exports, plan = cluster.run.exports, cluster.plan
    assert exports["node_count"] == 16
    assert exports["node_type"] == plan.nodes.type
    assert exports["gpus_per_node"] == 8
    assert exports["gpu_memory_gib"] == 80
    assert exports["fabric"]["gbps_per_node"] == 3200
    assert exports["usd_per_hour"] == float(plan.cost.usd_per_hour)
    assert exports["launcher_env"] == dict(plan.launcher_env)
    assert exports["objects"]["checkpoint_uri"] == exports["objects"]["uri"] + "/checkpoints"
    assert re.fullmatch(
        r"sudo mount -t lustre -o noatime,flock,lazystatfs \S+@tcp:/\w+ /lustre", exports["filesystem"]["mount_command"]
    )
    assert plan.region in exports["hosts"]["command"] or plan.name in exports["hosts"]["command"]


def test_the_component_has_the_type_of_its_cloud_and_the_clusters_name(
    cloud: str, declared: Callable[..., Any]
) -> None:
    (component,) = [c for c in declared(cloud).run.components if c.type.startswith("gpu-clusters:")]
    assert (component.type, component.name) == (
        {"aws": "gpu-clusters:aws:EfaCluster", "azure": "gpu-clusters:azure:InfiniBandCluster"}[cloud],
        "llama-70b",
    )


def test_every_resource_is_a_child_of_the_cluster_and_uses_its_explicit_provider(
    cloud: str, declared: Callable[..., Any]
) -> None:
    account = {"aws": "123456789012", "azure": "00000000-0000-0000-0000-00000000abcd"}[cloud]
    cluster = declared(cloud, {"account": account})
    (component,) = [c for c in cluster.run.components if c.type.startswith("gpu-clusters:")]
    (provider,) = [c for c in cluster.run.components if c.type.startswith("pulumi:providers:")]
    said = {
        "aws": {"region": "us-east-1", "allowedAccountIds": f'["{account}"]'},
        "azure": {"location": "eastus", "subscriptionId": account},
    }[cloud]
    assert said.items() <= dict(provider.inputs).items()
    for resource in cluster.run.resources:
        assert resource.request.parent == component.urn
        assert resource.request.provider.startswith(provider.urn)


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_names_of_all_resources_begin_with_the_clusters(name: str, cluster: Callable[[str], Any]) -> None:
    here = cluster(name)
    assert [r.name for r in here.run.resources if not r.name.startswith(f"{here.plan.name}-")] == []


@pytest.mark.parametrize("on_delete", ["protect", "retain", "delete"])
def test_data_stores_and_their_guards_are_kept_as_on_delete_says(
    cloud: str, on_delete: str, declared: Callable[..., Any]
) -> None:
    cluster = declared(cloud, {"storage.on_delete": on_delete})
    kept = {
        (kind(r), r.request.protect, r.request.retainOnDelete)
        for r in cluster.run.resources
        if kind(r) in STORES[cloud] | GUARDS[cloud]
    }
    expected = (on_delete == "protect", on_delete == "retain")
    assert kept == {(kind, *expected) for kind in STORES[cloud] | GUARDS[cloud]}


def test_what_is_no_data_store_is_not_protected(cloud: str, declared: Callable[..., Any]) -> None:
    protected = {kind(r) for r in declared(cloud).run.resources if r.request.protect}
    assert protected == STORES[cloud] | GUARDS[cloud]


@pytest.mark.parametrize("name", RETAINED)
def test_whatever_a_retained_resource_refers_to_is_retained_too(name: str, cluster: Callable[[str], Any]) -> None:
    """Else a destroy fails at the first thing that the store still uses, or takes its ground away."""
    here = cluster(name)
    retained = [r for r in here.run.resources if r.request.retainOnDelete]
    assert retained
    for resource in retained:
        for prop in resource.request.propertyDependencies:
            for ground in here.made_from(resource, prop):
                assert ground.request.retainOnDelete, f"{resource.name}: {prop} needs {ground.type} {ground.name}"


def test_the_servers_own_lustre_rules_stay_with_a_retained_filesystem(declared: Callable[..., Any]) -> None:
    rules = declared("aws", {"storage.on_delete": "retain"}).run.resources
    kept = {r.name for r in rules if "SecurityGroup" in r.type and r.request.retainOnDelete}
    assert kept == {
        "llama-70b-filesystem",
        "llama-70b-filesystem-self-in",
        "llama-70b-filesystem-self-out",
    }


def test_a_retained_store_says_so_in_its_tags(cloud: str, declared: Callable[..., Any]) -> None:
    for resource in declared(cloud, {"storage.on_delete": "retain"}).run.resources:
        if kind(resource) in STORES[cloud] - {"BlobContainer"}:
            assert resource.inputs["tags"]["on-delete"] == "retain"


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_resource_that_can_have_tags_has_all_of_the_plan(name: str, cluster: Callable[[str], Any]) -> None:
    here = cluster(name)
    tagged = [r for r in here.run.resources if tags_of(r)]
    assert {kind(r) for r in tagged} == here.kinds() - UNTAGGABLE[here.plan.cloud]
    assert {kind(r) for r in here.run.resources if not tags_of(r)} <= UNTAGGABLE[here.plan.cloud]
    assert set.intersection(*(set(tags_of(r).items()) for r in tagged)) == set(here.plan.tags.items())


def test_tags_of_the_spec_and_the_clusters_own_are_the_same_on_both_clouds() -> None:
    """Those of each resource are the plan's, by the test above."""
    wanted = {"team": "research", "cost-center": "42", "gpu-cluster": "llama-70b"}
    for cloud in EXAMPLES:
        assert planned(cloud, {"tags": {"team": "research", "cost-center": "42"}}).tags == wanted


def test_what_is_called_untaggable_is_there(cloud: str, declared: Callable[..., Any]) -> None:
    assert UNTAGGABLE[cloud] <= declared(cloud).kinds()


@pytest.mark.parametrize("count", [2, 64])
def test_the_number_of_resources_does_not_grow_with_the_nodes(
    cloud: str, count: int, declared: Callable[..., Any]
) -> None:
    changed = declared(cloud, {"nodes.count": count})
    assert changed.names == declared(cloud).names
    differing = {
        kind(r)
        for r, before in zip(changed.run.resources, declared(cloud).run.resources, strict=True)
        if r.inputs != before.inputs
    }
    # The launcher environment tells the nodes how many they are, and so the template differs.
    assert differing <= NODES[cloud]
    assert changed.run.exports["node_count"] == count


def test_a_stopped_cluster_drops_nodes_and_reservation_and_nothing_else(
    cloud: str, declared: Callable[..., Any]
) -> None:
    running, stopped = declared(cloud), declared(cloud, {"nodes.running": False})
    assert stopped.names < running.names
    assert {t.rsplit(":", 1)[-1] for t, _ in running.names - stopped.names} == NODES[cloud]
    assert stopped.run.exports["node_count"] == 0
    assert set(stopped.run.exports) == set(running.run.exports)
    assert [r.inputs for r in stopped.run.resources] == [
        r.inputs for r in running.run.resources if (r.type, r.name) in stopped.names
    ]


def test_without_a_filesystem_there_is_no_trace_of_one(cloud: str, declared: Callable[..., Any]) -> None:
    cluster = declared(cloud, {"storage.filesystem": ...})
    assert not cluster.kinds() & {"LustreFileSystem", "AmlFilesystem"}
    assert not [r.name for r in cluster.run.resources if "filesystem" in r.name]
    assert cluster.run.exports["filesystem"] == {"kind": "none"}


def test_ssh_is_let_in_from_the_named_networks_only(cloud: str, declared: Callable[..., Any]) -> None:
    cluster = declared(cloud, {"access.ssh_from": ["10.9.0.0/16", "192.168.4.0/24"]})
    if cloud == "aws":
        rules = [r.inputs for r in cluster.of("SecurityGroupIngressRule") if "cidrIpv4" in r.inputs]
        opened = {(r["cidrIpv4"], r["fromPort"], r["toPort"], r["ipProtocol"]) for r in rules}
        assert opened == {("10.9.0.0/16", 22, 22, "tcp"), ("192.168.4.0/24", 22, 22, "tcp")}
    else:
        rules = cluster.one("NetworkSecurityGroup", "-nodes").inputs["securityRules"]
        opened = {(r["sourceAddressPrefix"], *r["destinationPortRanges"]) for r in rules if r["name"].startswith("ssh")}
        assert opened == {("10.9.0.0/16", "22"), ("192.168.4.0/24", "22")}
        assert {r["destinationAddressPrefix"] for r in rules if r["name"].startswith("ssh")} == {"10.50.0.0/17"}


def test_a_preview_leaves_unknown_what_only_the_cloud_knows(cloud: str, declared: Callable[..., Any]) -> None:
    preview = declared(cloud, preview=True)
    assert preview.names == declared(cloud).names
    exports = preview.run.exports
    assert isinstance(exports["filesystem"]["mount_command"], Unknown)
    assert exports["node_count"] == 16
    nodes = preview.one({"aws": "LaunchTemplate", "azure": "VirtualMachineScaleSet"}[cloud]).inputs
    data = nodes["userData"] if cloud == "aws" else nodes["virtualMachineProfile"]["osProfile"]["customData"]
    assert isinstance(data, Unknown)


def test_two_clusters_live_in_one_program(cloud: str) -> None:
    longest = "abcdefghij-klmnopqrs"

    def program() -> None:
        build(planned(cloud))
        build(planned(cloud, {"name": longest}))

    both = run(program).resources
    assert len(both) == 2 * len(dry_run(planned(cloud)).resources)
    assert len([r for r in both if r.name.startswith(f"{longest}-")]) == len(both) / 2
    explicit = [
        (r.type, value)
        for r in both
        for key, value in r.inputs.items()
        if re.fullmatch(r"(resourceGroup|vmScaleSet|account|virtualNetwork|amlFilesystem)Name", key)
        and key.lower().startswith(kind(r).lower()[:6])
    ]
    assert len(explicit) == len(set(explicit))


def test_a_cluster_declared_twice_is_refused(cloud: str) -> None:
    def program() -> None:
        build(planned(cloud))
        build(planned(cloud))

    with pytest.raises(DuplicateUrnError, match="two resources are"):
        run(program)
