"""Nodes, images, Lustre tiers and regions. Prices: test_catalog_prices; reading the files: test_catalog_reading."""

from __future__ import annotations

import pytest

from planning import catalog
from planning.catalog import reading
from planning.catalog.records import AwsNodeType, AzureNodeType, Cloud, NodeType

NODES = list(catalog.node_types().values())
AWS = [node for node in NODES if isinstance(node, AwsNodeType)]
AZURE = [node for node in NODES if isinstance(node, AzureNodeType)]
CLOUDS: tuple[Cloud, ...] = ("aws", "azure")

TOTAL_GIB = {
    "p4d.24xlarge": 320,
    "p4de.24xlarge": 640,
    "p5.4xlarge": 80,
    "p5.48xlarge": 640,
    "p5e.48xlarge": 1128,
    "p5en.48xlarge": 1128,
    "p6-b200.48xlarge": 1432,
    "p6-b300.48xlarge": 2148,
    "p6e-gb200.36xlarge": 740,
    "trn1.32xlarge": 512,
    "trn1n.32xlarge": 512,
    "trn2.48xlarge": 1536,
    "g5.12xlarge": 89,
    "g5.24xlarge": 89,
    "g5.48xlarge": 178,
    "g6.12xlarge": 89,
    "g6.24xlarge": 89,
    "g6.48xlarge": 178,
    "g6e.12xlarge": 178,
    "g6e.24xlarge": 178,
    "g6e.48xlarge": 357,
    "g7e.12xlarge": 192,
    "g7e.24xlarge": 384,
    "g7e.48xlarge": 768,
    "Standard_ND96asr_v4": 320,
    "Standard_ND96amsr_A100_v4": 640,
    "Standard_ND96ams_A100_v4": 640,
    "Standard_ND96isr_H100_v5": 640,
    "Standard_ND96isrf_H100_v5": 640,
    "Standard_ND96is_H100_v5": 640,
    "Standard_ND96isr_H200_v5": 1128,
    "Standard_ND96isrf_H200_v5": 1128,
    "Standard_ND96is_H200_v5": 1128,
    "Standard_ND96isr_MI300X_v5": 1536,
    "Standard_ND96is_MI300X_v5": 1536,
    "Standard_ND128isr_NDR_GB200_v6": 768,
    "Standard_ND128isr_GB300_v6": 1152,
    "Standard_ND128isrG5_GB300_v6": 1152,
    "Standard_NC24ads_A100_v4": 80,
    "Standard_NC48ads_A100_v4": 160,
    "Standard_NC96ads_A100_v4": 320,
    "Standard_NC40ads_H100_v5": 94,
    "Standard_NC80adis_H100_v5": 188,
}
"""GPU memory of a node as the vendors print it, whole GiB."""

INTERFACES = {
    "p4d.24xlarge": 5,
    "p4de.24xlarge": 5,
    "p5.48xlarge": 33,
    "p5e.48xlarge": 33,
    "p5en.48xlarge": 17,
    "p6-b200.48xlarge": 9,
    "p6-b300.48xlarge": 17,
    "trn1.32xlarge": 9,
    "trn1n.32xlarge": 17,
    "trn2.48xlarge": 17,
    "p5.4xlarge": 2,
    "g5.48xlarge": 2,
    "g6e.48xlarge": 5,
}
"""One ENA and all EFA interfaces, as EC2's documents and aws-parallelcluster count them."""


def ids(node: NodeType) -> str:
    return node.name


def aws(name: str) -> AwsNodeType:
    return next(node for node in AWS if node.name == name)


def azure(name: str) -> AzureNodeType:
    return next(node for node in AZURE if node.name == name)


def test_gpu_memory_of_a_node_is_count_times_each_and_agrees_with_the_documents() -> None:
    assert {node.name: node.total_gpu_memory_mib // 1024 for node in NODES} == TOTAL_GIB


def test_nd_h100_v5_has_the_80_gib_sxm_card_and_not_the_nvl_one() -> None:
    node = azure("Standard_ND96isr_H100_v5")
    assert (node.accelerator, node.gpus, node.gpu_memory_mib) == ("H100", 8, 80 * 1024)
    assert azure("Standard_NC40ads_H100_v5").accelerator == "H100 NVL"


@pytest.mark.parametrize("node", NODES, ids=ids)
def test_every_row_can_be_bought_and_says_where_it_comes_from(node: NodeType) -> None:
    assert node.gpus > 0
    assert node.vcpus > 0
    assert node.memory_gib > 0
    assert node.purchase
    assert len(node.source) > 20
    assert catalog.node_type(node.name) is node


@pytest.mark.parametrize("node", NODES, ids=ids)
def test_the_default_image_fits_cloud_architecture_and_accelerators(node: NodeType) -> None:
    image = catalog.default_image(node)
    assert image.cloud == node.cloud
    assert image.arch == node.arch
    assert node.vendor in image.vendors


@pytest.mark.parametrize("node", AWS, ids=ids)
def test_every_efa_interface_and_the_primary_one_find_room_on_their_cards(node: AwsNodeType) -> None:
    assert len(node.interfaces_per_card) == node.network_cards
    assert len(node.efa_cards) == node.efa
    assert list(node.efa_cards) == sorted(set(node.efa_cards))
    used = [1 if card == 0 else 0 for card in range(node.network_cards)]
    for card in node.efa_cards:
        used[card] += 1
    assert all(taken <= most for taken, most in zip(used, node.interfaces_per_card, strict=True))


def test_one_ena_and_all_efa_interfaces_add_up_to_the_documented_number() -> None:
    assert {name: 1 + aws(name).efa for name in INTERFACES} == INTERFACES


def test_b300_has_17_cards_and_16_efa_interfaces_because_card_0_is_ena_only() -> None:
    node = aws("p6-b300.48xlarge")
    assert (node.network_cards, node.efa) == (17, 16)
    assert 0 not in node.efa_cards


def test_gb200_uses_only_cards_that_reach_400_gbit_and_comes_in_whole_ultraservers() -> None:
    node = aws("p6e-gb200.36xlarge")
    assert node.efa * 400 == node.network_gbps
    assert all(card % 2 for card in node.efa_cards)
    assert node.ultraserver_sizes == (9, 18)
    assert node.purchase == ("capacity-block",)


@pytest.mark.parametrize("node", AWS, ids=ids)
def test_every_way_to_buy_that_counts_against_a_quota_names_its_code(node: AwsNodeType) -> None:
    assert set(node.quota) == set(node.purchase) & {"on-demand", "spot"}


def test_quota_codes_go_by_family_and_differ_for_spot() -> None:
    assert aws("p5.48xlarge").quota == {"on-demand": "L-417A185B", "spot": "L-C4BD4855"}
    assert aws("g6e.48xlarge").quota == {"on-demand": "L-DB2E81BA", "spot": "L-3819A6DF"}
    assert aws("trn2.48xlarge").quota == {"on-demand": "L-2C3B7624", "spot": "L-6B0D517C"}
    assert all(code.startswith("L-") and len(code) == 10 for node in AWS for code in node.quota.values())


def test_zone_ids_belong_to_known_regions() -> None:
    prefixes = {region.zone_prefix for region in catalog.regions("aws").values()}
    zones = {zone for node in AWS for zone in node.zones}
    assert {zone.split("-")[0] for zone in zones} <= prefixes
    assert aws("p6-b300.48xlarge").zones == ("usw2-az2",)


def test_nodes_without_gpudirect_are_known_as_such() -> None:
    assert not aws("p5.4xlarge").gpudirect
    assert aws("p5.48xlarge").gpudirect


@pytest.mark.parametrize("node", AZURE, ids=ids)
def test_infiniband_and_placement_agree(node: AzureNodeType) -> None:
    assert (node.infiniband > 0) == (node.infiniband_gbps > 0)
    assert node.single_placement_group == (node.infiniband > 0 and node.rack_nodes == 0)
    assert 0 < node.nodes_per_fabric <= node.nodes_per_fabric_by_ticket
    assert node.nodes_per_fabric == (100 if node.single_placement_group else 1000)
    assert node.quota_family.casefold().startswith("standard")


def test_a_size_without_infiniband_names_its_twin_which_has_it() -> None:
    twins = {node.name: node.rdma_twin for node in AZURE if node.rdma_twin}
    assert set(twins) == {
        "Standard_ND96ams_A100_v4",
        "Standard_ND96is_H100_v5",
        "Standard_ND96is_H200_v5",
        "Standard_ND96is_MI300X_v5",
    }
    for name, twin in twins.items():
        assert azure(name).infiniband == 0
        assert azure(twin).infiniband == 8
        assert (azure(name).accelerator, azure(name).quota_family) == (
            azure(twin).accelerator,
            azure(twin).quota_family,
        )


def test_only_nc_a100_takes_capacity_reservations_and_no_azure_size_has_capacity_blocks() -> None:
    assert {node.name for node in AZURE if node.capacity_reservation} == {
        f"Standard_NC{vcpus}ads_A100_v4" for vcpus in (24, 48, 96)
    }
    assert not any("capacity-block" in node.purchase for node in AZURE)


def test_trusted_launch_is_refused_by_nd_a100_alone() -> None:
    refusing = {node.name for node in AZURE if not node.trusted_launch}
    assert refusing == {"Standard_ND96asr_v4", "Standard_ND96amsr_A100_v4", "Standard_ND96ams_A100_v4"}


def test_an_unknown_type_is_none_and_gets_near_names_of_its_cloud() -> None:
    assert catalog.node_type("p5.47xlarge") is None
    assert catalog.node_type("Standard_ND96isr_H101_v5") is None
    assert catalog.near_node_types("P5.48xlarg", "aws")[0] == "p5.48xlarge"
    assert catalog.near_node_types("nd96isr_h100_v5", "azure")[0] == "Standard_ND96isr_H100_v5"
    assert "p5.48xlarge" in catalog.near_node_types("p5", "aws")
    assert catalog.near_node_types("zzz", "aws") == []


def test_one_lookup_reads_one_file() -> None:
    catalog.node_type.cache_clear()
    reading.read.cache_clear()
    assert catalog.node_type("p5.48xlarge") is not None
    assert reading.read.cache_info().currsize == 1


@pytest.mark.parametrize("cloud", CLOUDS)
def test_images_are_pinned_in_the_way_of_their_cloud(cloud: Cloud) -> None:
    for key, image in catalog.images(cloud).items():
        assert image.key == key
        assert bool(image.parameter) == (cloud == "aws")
        assert bool(image.urn) == (cloud == "azure")
        assert 0 < image.root_gib < 300
        if image.urn:
            version = image.urn.split(":")[3]
            assert version[:5] == image.os.removeprefix("ubuntu-")
            assert version[6:].isdigit()


def test_an_image_that_does_not_exist_is_an_error_of_the_catalogue() -> None:
    with pytest.raises(catalog.CatalogError, match=r"images\.toml: no-such"):
        catalog.image("no-such")


def test_fsx_sizes_follow_the_documented_steps() -> None:
    tiers = catalog.lustre_tiers("aws")
    assert [tier.mbps_per_tib for tier in tiers] == [125, 250, 500, 1000]
    for tier in tiers:
        assert (tier.smallest_gib, tier.step_gib, tier.also_gib) == (1200, 2400, (1200,))
        assert tier.efa_step_gib * tier.mbps_per_tib == 4_800_000
        assert tier.efa_step_gib % tier.step_gib == 0
    (scratch,) = catalog.lustre_tiers("aws", "scratch")
    assert (scratch.mbps_per_tib, scratch.efa_step_gib) == (0, 0)


def test_azure_lustre_begins_at_one_step_and_ends_at_a_multiple_of_it() -> None:
    tiers = catalog.lustre_tiers("azure")
    assert [tier.mbps_per_tib for tier in tiers] == [40, 125, 250, 500]
    for tier in tiers:
        assert tier.smallest_gib == tier.step_gib
        assert tier.documented_max_gib % tier.step_gib == 0
        assert tier.sku == f"AMLFS-Durable-Premium-{tier.mbps_per_tib}"
    assert [tier.step_gib // 1024 for tier in tiers] == [48, 16, 8, 4]
    assert catalog.lustre_tiers("azure", "scratch") == ()


def test_a_tier_is_found_by_its_throughput_or_not_at_all() -> None:
    found = catalog.lustre_tier("aws", "persistent", 250)
    assert found is not None
    assert found.efa_step_gib == 19200
    assert catalog.lustre_tier("aws", "persistent", 300) is None


def test_regions_tell_the_clouds_apart() -> None:
    assert not set(catalog.regions("aws")) & set(catalog.regions("azure"))
    assert {"us-east-1", "eu-north-1", "sa-east-1"} <= set(catalog.regions("aws"))
    assert {"eastus", "westeurope", "mexicocentral"} <= set(catalog.regions("azure"))


def test_zone_prefixes_are_unique_and_end_in_the_number_of_their_region() -> None:
    regions = catalog.regions("aws")
    assert len({region.zone_prefix for region in regions.values()}) == len(regions)
    assert all(region.zone_prefix[-1] == name[-1] for name, region in regions.items())
    assert regions["us-east-1"].zone_prefix == "use1"
    assert all(region.zone_prefix == "" for region in catalog.regions("azure").values())
