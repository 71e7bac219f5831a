"""The Azure network: subnets and their rules, one's own VNet, no way out, Bastion.

Ids of a wrong form, and combinations that are refused: tests/planning. The rest of the cluster: test_azure_cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from ipaddress import IPv4Network
from itertools import pairwise
from typing import Any

import pulumi
import pytest
from pulumi_azure_native import network as azure

from components.azure.cluster import InfiniBandCluster
from components.azure.network import NetworkInputs
from components.dryrun import DryRun, fitting_network, run
from components.program import build
from tests.clusters import planned

VNET = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/research/providers/Microsoft.Network/"
    "virtualNetworks/research"
)
OWN = {"subnet": f"{VNET}/subnets/nodes", "filesystem_subnet": f"{VNET}/subnets/lustre"}
EXISTING = {"network": {"existing": OWN}}
NO_WAY_OUT = {"network.egress": "none"}
BASTION = {"access.bastion": True}
CONTAINER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/research/providers/Microsoft.Storage/"
    "storageAccounts/researchdata/blobServices/default/containers/data"
)
SUBNET, NETWORK = "azure-native:network:getSubnet", "azure-native:network:getVirtualNetwork"
LUSTRE = ["988", "1019-1023"]


def deployed(plan: Any, found: Mapping[str, Any], vnet: Mapping[str, Any] | None = None) -> DryRun:
    """The cluster of a plan in a network that fits, but for what is found otherwise of each subnet and the VNet."""
    fitting = fitting_network(plan)
    answers = {SUBNET: {**fitting[SUBNET], **found}, NETWORK: {**fitting[NETWORK], **(vnet or {})}}

    def program() -> None:
        build(plan)

    return run(program, answers=answers)


def rules_of(cluster: Any, role: str = "nodes") -> list[dict[str, Any]]:
    return cluster.one("NetworkSecurityGroup", f"-{role}").inputs["securityRules"]


def let_in(cluster: Any) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """By name: whom, where, on what ports."""
    allowed = [r for r in rules_of(cluster) if (r["direction"], r["access"]) == ("Inbound", "Allow")]
    ends = ("sourceAddressPrefix", "destinationAddressPrefix")
    return {r["name"]: (r[ends[0]], r[ends[1]], tuple(r["destinationPortRanges"])) for r in allowed}


# A network of the cluster's own


def test_changes_of_one_network_wait_for_each_other(declared: Callable[..., Any]) -> None:
    """Azure refuses two at a time: the subnets one by one, then the endpoints one by one."""
    cluster = declared("azure", BASTION)
    order = [f"Subnet llama-70b-{role}" for role in ("nodes", "endpoints", "filesystem", "bastion")]
    order += ["PrivateEndpoint llama-70b-blob", "PrivateEndpoint llama-70b-dfs"]
    by_title = {f"{r.type.rsplit(':', 1)[-1]} {r.name}": r for r in cluster.run.resources}
    for earlier, later in pairwise(order):
        assert earlier in cluster.before(by_title[later])


def test_nodes_go_out_by_nat_and_by_nothing_else(declared: Callable[..., Any]) -> None:
    """Default outbound access is retired: without NAT the first boot would hang."""
    cluster = declared("azure")
    nodes = cluster.one("Subnet", "-nodes")
    assert nodes.inputs["defaultOutboundAccess"] is False
    assert [r.name for r in cluster.made_from(nodes, "natGateway")] == ["llama-70b-nat"]
    assert [r.name for r in cluster.made_from(nodes, "networkSecurityGroup")] == ["llama-70b-nodes"]


@pytest.mark.parametrize("changes", [{}, BASTION, NO_WAY_OUT], ids=["nat", "bastion", "none"])
def test_subnets_are_resources_of_their_own_and_never_inline(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    """Of both forms together an update deletes subnets (pulumi-azure-native#611)."""
    assert "subnets" not in declared("azure", changes).one("VirtualNetwork").inputs


def test_a_new_network_never_overlaps_what_infiniband_keeps() -> None:
    network = planned("azure", {"network.cidr": "172.20.0.0/16"}).network
    assert not network.cidr.overlaps(IPv4Network("172.16.0.0/16"))
    with pytest.raises(AssertionError, match="network-of-infiniband"):
        planned("azure", {"network.cidr": "172.16.0.0/12"})


@pytest.mark.parametrize("changes", [{}, BASTION, NO_WAY_OUT], ids=["nat", "bastion", "none"])
def test_nothing_enters_the_nodes_subnet_but_what_is_named(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    cluster = declared("azure", changes)
    ways = let_in(cluster)
    bastion = {"bastion": ("10.50.255.192/26", "10.50.0.0/17", ("22",))} if changes == BASTION else {}
    assert ways == {
        "nodes": ("10.50.0.0/17", "10.50.0.0/16", ("*",)),
        "lustre": ("10.50.128.0/25", "10.50.0.0/17", tuple(LUSTRE)),
        **bastion,
    }
    last = max((r for r in rules_of(cluster) if r["direction"] == "Inbound"), key=lambda r: r["priority"])
    assert (last["priority"], last["access"], last["sourceAddressPrefix"]) == (4096, "Deny", "*")


def test_ssh_is_let_in_beside_the_bastion_from_the_networks_of_the_spec(declared: Callable[..., Any]) -> None:
    ways = let_in(declared("azure", {**BASTION, "access.ssh_from": ["10.9.0.0/16"]}))
    assert [where[0] for where in ways.values() if where[2] == ("22",)] == ["10.50.255.192/26", "10.9.0.0/16"]


def test_a_linked_filesystem_reaches_the_endpoints_of_the_container(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", {"storage.objects.link": True})
    assert let_in(cluster)["link"] == ("10.50.128.0/25", "10.50.255.176/28", ("443",))


@pytest.mark.parametrize("changes", [BASTION, NO_WAY_OUT, {"storage.objects.link": True}])
def test_every_rule_says_what_it_is_for_and_has_its_own_place(
    changes: dict[str, Any], declared: Callable[..., Any]
) -> None:
    for group in declared("azure", changes).of("NetworkSecurityGroup"):
        rules = group.inputs["securityRules"]
        assert all(rule["description"] for rule in rules)
        assert len({(r["direction"], r["priority"]) for r in rules}) == len({r["name"] for r in rules}) == len(rules)


def test_lustre_passes_both_ways_between_servers_and_nodes(declared: Callable[..., Any]) -> None:
    rules = rules_of(declared("azure"), "filesystem")
    nodes = "10.50.0.0/17"
    lustre = {
        (r["direction"], r["sourceAddressPrefix"], r["destinationAddressPrefix"])
        for r in rules
        if r["destinationPortRanges"] == LUSTRE
    }
    own = next(destination for direction, source, destination in lustre if source == nodes)
    assert lustre == {
        ("Inbound", nodes, own),
        ("Inbound", own, own),
        ("Outbound", own, nodes),
        ("Outbound", own, own),
    }


# Bastion


def test_a_bastion_has_the_name_the_size_and_the_address_that_azure_asks_for(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", BASTION)
    subnet = cluster.one("Subnet", "-bastion")
    assert (subnet.inputs["subnetName"], subnet.inputs["addressPrefix"]) == ("AzureBastionSubnet", "10.50.255.192/26")
    assert not {"natGateway", "networkSecurityGroup", "delegations"} & set(subnet.inputs)
    address = cluster.one("PublicIPAddress", "-bastion").inputs
    assert (address["sku"], address["publicIPAllocationMethod"]) == ({"name": "Standard"}, "Static")
    (place,) = cluster.one("BastionHost").inputs["ipConfigurations"]
    assert place["subnet"] == {"id": "llama-70b-bastion-id"}


def test_a_bastion_takes_the_command_that_the_cluster_gives_back(declared: Callable[..., Any]) -> None:
    """`az network bastion ssh` needs tunnelling, an address as target IP connections; both need Standard."""
    cluster = declared("azure", BASTION)
    host = cluster.one("BastionHost").inputs
    assert (host["sku"], host["enableTunneling"], host["enableIpConnect"]) == ({"name": "Standard"}, True, True)
    access = cluster.run.exports["access"]
    assert access["kind"] == "bastion"
    group = cluster.one("ResourceGroup").inputs["resourceGroupName"]
    wanted = f"az network bastion ssh --name {host['bastionHostName']} --resource-group {group} --target-ip-address"
    assert access["command"].startswith(f"{wanted} NODE_ADDRESS --username azureuser --auth-type ssh-key")


def test_without_a_bastion_nothing_of_one_is_declared_and_its_place_stays_free(declared: Callable[..., Any]) -> None:
    cluster = declared("azure")
    assert "BastionHost" not in cluster.kinds()
    assert cluster.run.exports["access"] == {"kind": "ssh", "command": "ssh azureuser@NODE_ADDRESS"}
    place = IPv4Network("10.50.255.192/26")
    assert not [s.name for s in cluster.of("Subnet") if IPv4Network(s.inputs["addressPrefix"]).overlaps(place)]


def test_no_node_has_a_public_address_whatever_the_ways_in(declared: Callable[..., Any]) -> None:
    for changes in ({}, BASTION, NO_WAY_OUT, EXISTING):
        profile = declared("azure", changes).one("VirtualMachineScaleSet").inputs["virtualMachineProfile"]
        assert "publicIPAddress" not in json.dumps(profile["networkProfile"])


# No way out


def test_without_a_way_out_there_is_no_gateway_no_public_address_and_no_default_access(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("azure", NO_WAY_OUT)
    assert not cluster.kinds() & {"NatGateway", "PublicIPAddress"}
    nodes = cluster.one("Subnet", "-nodes").inputs
    assert "natGateway" not in nodes
    assert nodes["defaultOutboundAccess"] is False


def test_without_a_way_out_the_internet_is_denied_and_the_endpoints_of_the_storage_stay(
    declared: Callable[..., Any],
) -> None:
    cluster = declared("azure", NO_WAY_OUT)
    out = [r for r in rules_of(cluster) if r["direction"] == "Outbound"]
    assert [(r["access"], r["destinationAddressPrefix"]) for r in out] == [("Deny", "Internet")]
    assert len(cluster.of("PrivateEndpoint")) == 2
    assert not [r for r in rules_of(declared("azure")) if r["direction"] == "Outbound"]


# A network that exists


def test_nothing_of_an_existing_network_is_made_or_changed(declared: Callable[..., Any]) -> None:
    cluster = declared("azure", EXISTING)
    assert not cluster.kinds() & {"NatGateway", "NetworkSecurityGroup", "PublicIPAddress", "Subnet", "VirtualNetwork"}
    touched = {r.type.rsplit(":", 1)[-1] for r in cluster.run.resources if VNET in json.dumps(r.inputs, default=str)}
    assert touched == {"AmlFilesystem", "PrivateEndpoint", "VirtualMachineScaleSet", "VirtualNetworkLink"}


def test_each_role_is_in_the_subnet_that_is_named_for_it(declared: Callable[..., Any]) -> None:
    links = f"{VNET}/subnets/links"
    for changes, endpoints in (({}, OWN["subnet"]), ({"network.existing.endpoint_subnet": links}, links)):
        cluster = declared("azure", {**EXISTING, **changes})
        profile = cluster.one("VirtualMachineScaleSet").inputs["virtualMachineProfile"]["networkProfile"]
        (interface,) = profile["networkInterfaceConfigurations"]
        assert interface["ipConfigurations"][0]["subnet"] == {"id": OWN["subnet"]}
        assert cluster.one("AmlFilesystem").inputs["filesystemSubnet"] == OWN["filesystem_subnet"]
        assert [e.inputs["subnet"] for e in cluster.of("PrivateEndpoint")] == [{"id": endpoints}] * 2
        assert {e.inputs["virtualNetwork"]["id"] for e in cluster.of("VirtualNetworkLink")} == {VNET}


def test_a_preview_of_an_existing_network_declares_what_the_deployment_does(declared: Callable[..., Any]) -> None:
    assert declared("azure", EXISTING, preview=True).names == declared("azure", EXISTING).names


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({"addressPrefix": "10.0.0.0/28"}, ["subnet: nodes, 10.0.0.0/28, has 11 usable addresses", "needs 18", "/27"]),
        (
            {"addressPrefix": "10.0.0.0/26"},
            ["filesystem_subnet: lustre, 10.0.0.0/26, is too small", "take a /25", "a subnet of /25 or larger"],
        ),
        (
            {"delegations": [{"name": "anf", "serviceName": "Microsoft.NetApp/volumes"}]},
            ["subnet: nodes is delegated to Microsoft.NetApp/volumes", "without a delegation"],
        ),
        ({"addressPrefix": None, "addressPrefixes": ["fd00::/64"]}, ["nodes, without IPv4, has 0 usable addresses"]),
    ],
)
def test_an_existing_subnet_that_can_not_hold_its_role_is_refused_before_anything_is_made(
    found: dict[str, Any], says: list[str]
) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        deployed(planned("azure", EXISTING), found)
    assert "error: network.existing." in str(refused.value)
    assert all(text in str(refused.value) for text in says), str(refused.value)


@pytest.mark.parametrize(
    ("vnet", "says"),
    [
        ({"location": "westus3"}, "the VNet research is in westus3, and the cluster in eastus"),
        (
            {"id": VNET.replace("-000000000000", "-000000000001")},
            f"{VNET} is not in the subscription of this deployment",
        ),
        ({"addressSpace": {"addressPrefixes": ["10.0.0.0/8", "172.16.0.0/12"]}}, "research has 172.16.0.0/12"),
        (
            {"virtualNetworkPeerings": [{"remoteAddressSpace": {"addressPrefixes": ["172.16.9.0/24"]}}]},
            "a VNet peered with research has 172.16.9.0/24, which overlaps 172.16.0.0/16",
        ),
    ],
)
def test_an_existing_vnet_elsewhere_or_over_the_addresses_of_infiniband_is_refused(
    vnet: dict[str, Any], says: str
) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        deployed(planned("azure", EXISTING), {}, vnet)
    assert says in str(refused.value)


def test_without_infiniband_an_existing_vnet_may_have_those_addresses() -> None:
    changes = {"nodes.type": "Standard_NC96ads_A100_v4", "network": {"existing": {"subnet": OWN["subnet"]}}}
    vnet = {"location": "East US", "addressSpace": {"addressPrefixes": ["172.16.0.0/16"]}}
    assert deployed(planned("azure-single", changes), {}, vnet).resources


def test_all_that_is_wrong_with_an_existing_network_is_told_at_once() -> None:
    wrong = {"addressPrefix": "10.0.0.0/28", "delegations": [{"serviceName": "Microsoft.NetApp/volumes"}]}
    with pytest.raises(pulumi.RunError) as refused:
        deployed(planned("azure", EXISTING), wrong, {"location": "westus3"})
    assert str(refused.value).count("error: ") == 5


@pytest.mark.parametrize(
    ("found", "warned"),
    [
        ({"defaultOutboundAccess": False}, True),
        ({"defaultOutboundAccess": False, "natGateway": {"id": "nat"}}, False),
        ({"defaultOutboundAccess": False, "routeTable": {"id": "routes"}}, False),
        ({}, False),
    ],
)
def test_a_subnet_without_a_way_out_in_sight_is_warned_of_since_first_boot_would_hang(
    found: dict[str, Any], warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, *_: told.append(text))
    assert deployed(planned("azure", EXISTING), found).resources
    assert [("no NAT gateway and no route table" in text) for text in told] == [True] * warned


@pytest.mark.parametrize(("changes", "warned"), [({}, True), ({"storage.objects": {"existing": CONTAINER}}, False)])
def test_name_servers_of_the_vnets_own_are_warned_of_since_they_do_not_know_private_endpoints(
    changes: dict[str, Any], warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, *_: told.append(text))
    vnet = {"dhcpOptions": {"dnsServers": ["10.0.0.10"]}}
    assert deployed(planned("azure", {**EXISTING, **changes}), {}, vnet).resources
    assert [("name servers of its own (10.0.0.10)" in text) for text in told] == [True] * warned


def test_a_subnet_of_the_very_size_is_large_enough() -> None:
    """Nodes, and the two endpoints of the storage account where they have no subnet of their own."""
    alone = {"network": {"existing": {"subnet": OWN["subnet"]}}, "storage.filesystem": ...}
    assert deployed(planned("azure", {**alone, "nodes.count": 25}), {"addressPrefix": "10.0.0.0/27"}).resources
    with pytest.raises(pulumi.RunError, match="needs 28"):
        deployed(planned("azure", {**alone, "nodes.count": 26}), {"addressPrefix": "10.0.0.0/27"})
    apart = {**alone, "network.existing.endpoint_subnet": f"{VNET}/subnets/links", "nodes.count": 27}
    assert deployed(planned("azure", apart), {"addressPrefix": "10.0.0.0/27"}).resources


@pytest.mark.parametrize("what", ["get_subnet", "get_virtual_network"])
def test_a_network_that_can_not_be_read_is_named_with_the_words_of_the_cloud(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise Exception("AuthorizationFailed")

    monkeypatch.setattr(azure, what, refuse)
    with pytest.raises(
        pulumi.RunError, match=r"error: network\.existing\.subnet: .* can not be read .*: Authorization"
    ):
        deployed(planned("azure", EXISTING), {})


# A network of the same program


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (EXISTING, "network.existing"),
        (NO_WAY_OUT, "network.egress: none"),
        (BASTION, "access.bastion"),
        ({"access.ssh_from": ["10.0.0.0/8"]}, "access.ssh_from"),
    ],
)
def test_a_network_of_the_program_and_what_only_a_new_one_can_have_are_one_too_many(
    changes: dict[str, Any], said: str
) -> None:
    given = NetworkInputs(vnet_id="v", subnet_id="s", filesystem_subnet_id="f")

    def program() -> None:
        InfiniBandCluster("train", planned("azure", changes), network=given)

    with pytest.raises(pulumi.RunError, match=f"train: the plan has {said}, and the program gives a network"):
        run(program)


def test_a_filesystem_in_a_network_of_the_program_needs_a_subnet_of_its_own() -> None:
    def program() -> None:
        InfiniBandCluster("train", planned("azure"), network=NetworkInputs(vnet_id="v", subnet_id="s"))

    with pytest.raises(pulumi.RunError, match=r"train: network\.filesystem_subnet_id is missing"):
        run(program)
