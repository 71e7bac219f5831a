"""What is derived from a spec: address plan, network interfaces, Lustre sizes, quota, image, set-up.

What may be bought or fits: test_rules. Prices: test_cost.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planning import catalog
from planning.catalog.records import AwsNodeType
from planning.facts.fabric import Fabric, Interface, InterfaceKind, fabric_of, interfaces_of
from planning.facts.network import KEPT_BY_CLOUD, AddressPlan, address_plan, prefix_for
from planning.facts.setup import setup_of
from planning.facts.storage import fits_efa, fits_tier, lustre_of, nearest_capacities, subnet_prefix_for
from planning.plan import Assessment
from planning.shape import read_spec
from planning.spec import AwsSpec, AzureSpec

AWS_TYPES = [node for node in catalog.node_types("aws").values() if isinstance(node, AwsNodeType)]
TIERS = [*catalog.lustre_tiers("aws"), *catalog.lustre_tiers("aws", "scratch"), *catalog.lustre_tiers("azure")]
TYPES = {"aws": "p5.48xlarge", "azure": "Standard_ND96isr_H100_v5"}


def spec_of(cloud: str, *, cidr: str = "10.0.0.0/16", bastion: bool = False, **nodes: Any) -> AwsSpec | AzureSpec:
    raw = {"name": "a1", "cloud": cloud, "region": "r", "zone": "1", "network": {"cidr": cidr}}
    raw["access"] = {"bastion": bastion}
    spec, mistakes = read_spec({**raw, "nodes": {"type": TYPES[cloud], "count": 1, **nodes}})
    assert spec is not None, mistakes
    return spec


def planned(cloud: str, cidr: str, capacity_gib: int | None, **nodes: Any) -> AddressPlan:
    spec = spec_of(cloud, cidr=cidr, **nodes)
    if capacity_gib is not None:
        raw = {**spec.model_dump(mode="json"), "storage": {"filesystem": {"capacity": f"{capacity_gib}GiB"}}}
        spec = read_spec(raw)[0] or spec
    node = catalog.node_type(spec.nodes.type)
    return address_plan(spec, interfaces_of(spec, node), lustre_of(spec, node))


def subnets(plan: AddressPlan) -> list[IPv4Network]:
    roles = (plan.nodes, plan.public, plan.filesystem, plan.endpoints, plan.bastion)
    return [subnet for subnet in roles if subnet is not None]


# Addresses

CAPACITIES = st.none() | st.integers(1, 700).map(lambda tib: tib * 1024)


@given(
    cloud=st.sampled_from(["aws", "azure"]),
    prefix=st.integers(8, 28),
    count=st.integers(1, 2000),
    interfaces=st.sampled_from(["efa-only", "efa"]),
    capacity=CAPACITIES,
    bastion=st.booleans(),
)
def test_what_fits_lies_apart_inside_of_the_network(
    cloud: str, prefix: int, count: int, interfaces: str, capacity: int | None, bastion: bool
) -> None:
    more = {"bastion": bastion} if cloud == "azure" else {"interfaces": interfaces}
    plan = planned(cloud, f"10.0.0.0/{prefix}", capacity, count=count, **more)
    if not plan.fits:
        assert prefix > plan.smallest_prefix
        return
    assert all(subnet.subnet_of(plan.cidr) for subnet in subnets(plan))
    assert not any(one.overlaps(other) for one, other in combinations(subnets(plan), 2))
    assert plan.usable is not None
    assert plan.needed <= plan.usable == plan.nodes.num_addresses - KEPT_BY_CLOUD
    if plan.filesystem is not None and capacity is not None:
        assert plan.filesystem.prefixlen <= subnet_prefix_for(capacity)


@pytest.mark.parametrize("cloud", ["aws", "azure"])
@pytest.mark.parametrize("prefix", range(8, 33))
@pytest.mark.parametrize("capacity", [None, 16 * 1024])
def test_the_smallest_network_that_is_named_is_the_smallest(cloud: str, prefix: int, capacity: int | None) -> None:
    plan = planned(cloud, f"10.0.0.0/{prefix}", capacity, count=16)
    assert planned(cloud, f"10.0.0.0/{plan.smallest_prefix}", capacity, count=16).fits
    assert plan.fits == (prefix <= plan.smallest_prefix)
    assert not planned(cloud, f"10.0.0.0/{plan.smallest_prefix + 1}", capacity, count=16).fits


@given(
    cloud=st.sampled_from(["aws", "azure"]), prefix=st.integers(8, 28), counts=st.tuples(*[st.integers(1, 5000)] * 2)
)
def test_growth_never_renumbers_a_subnet(cloud: str, prefix: int, counts: tuple[int, int]) -> None:
    before, after = (planned(cloud, f"10.0.0.0/{prefix}", 16 * 1024, count=count) for count in counts)
    assert subnets(before) == subnets(after)


def test_a_filesystem_that_is_added_later_renumbers_nothing() -> None:
    without, with_one = (planned("azure", "10.0.0.0/16", capacity, count=16) for capacity in (None, 48 * 1024))
    assert (without.nodes, without.endpoints) == (with_one.nodes, with_one.endpoints)


def test_room_for_a_bastion_stays_free_at_the_end_of_an_azure_network() -> None:
    without, with_one = (planned("azure", "10.0.0.0/16", 48 * 1024, count=16, bastion=b) for b in (False, True))
    assert with_one.bastion == IPv4Network("10.0.255.192/26")
    assert subnets(with_one) == [*subnets(without), with_one.bastion], "one that is added later renumbers nothing"


@pytest.mark.parametrize(("bastion", "capacity", "smallest"), [(False, None, 27), (True, None, 24), (True, 16384, 24)])
def test_a_bastion_takes_its_place_in_the_smallest_network(bastion: bool, capacity: int | None, smallest: int) -> None:
    plan = planned("azure", "10.0.0.0/16", capacity, count=1, bastion=bastion)
    assert plan.smallest_prefix == smallest
    assert planned("azure", f"10.0.0.0/{smallest}", capacity, count=1, bastion=bastion).fits
    assert not planned("azure", f"10.0.0.0/{smallest + 1}", capacity, count=1, bastion=bastion).fits


@pytest.mark.parametrize(
    ("interfaces", "count", "needed"),
    [("efa-only", 16, 16), ("efa", 16, 512), ("efa", 64, 2048)],
)
def test_efa_with_addresses_takes_one_on_every_card(interfaces: str, count: int, needed: int) -> None:
    assert planned("aws", "10.0.0.0/16", None, count=count, interfaces=interfaces).needed == needed


@pytest.mark.parametrize(
    ("changes", "services", "needed"),
    [
        ({}, 0, 33),
        ({"network.egress": "none"}, 4, 37),
        ({"network.egress": "none", "storage.filesystem": ...}, 3, 19),
        ({"nodes.start": "elastic", "nodes.max_count": 24}, 0, 41),
        ({"nodes.interfaces": "efa", "network.egress": "none"}, 4, 533),
        ({"network.existing": {"vpc": "vpc-0a1b2c3d", "subnet": "subnet-0a1b2c3d"}}, 0, 33),
    ],
)
def test_nodes_file_servers_and_endpoints_share_the_nodes_subnet(
    changes: dict[str, Any], services: int, needed: int, assessed: Callable[..., Assessment]
) -> None:
    facts = assessed("aws", changes).facts
    assert facts is not None
    assert (len(facts.network.services), facts.network.needed) == (services, needed)


def test_the_addresses_of_a_subnet_that_exists_are_known_to_the_cloud_only(
    assessed: Callable[..., Assessment],
) -> None:
    facts = assessed("aws", {"network.existing": {"vpc": "vpc-0a1b2c3d", "subnet": "subnet-0a1b2c3d"}}).facts
    assert facts is not None
    assert facts.network.usable is None


@pytest.mark.parametrize(
    ("cloud", "changes", "says"),
    [
        (
            "aws",
            {"network.egress": "none", "network.cidr": "10.40.0.0/27"},
            "16 nodes with 1 address each, 17 file servers and 4 endpoints need 37 in their subnet, the lower half of "
            "10.40.0.0/27, which has 11",
        ),
        (
            "aws",
            {"nodes.start": "elastic", "nodes.max_count": 300, "network.cidr": "10.40.0.0/24"},
            "300 nodes with 1 address each and 17 file servers need 317 in their subnet",
        ),
        (
            "aws",
            {"nodes.count": 1, "storage.filesystem": ..., "network.cidr": "10.40.0.0/28"},
            "the upper half of 10.40.0.0/28 does not hold the NAT gateway's subnet, a /28",
        ),
        (
            "azure",
            {"network.cidr": "10.50.0.0/26", "access.bastion": True, "storage.filesystem": ...},
            "the upper half of 10.50.0.0/26 does not hold the endpoints' subnet, a /28, and Azure Bastion's subnet, "
            "a /26",
        ),
        (
            "azure",
            {"network.cidr": "10.50.0.0/24"},
            "the upper half of 10.50.0.0/24 does not hold the filesystem's subnet, a /25, beside the endpoints' "
            "subnet, a /28, and the place kept for Azure Bastion, a /26",
        ),
    ],
)
def test_what_does_not_fit_into_a_network_is_named(
    cloud: str, changes: dict[str, Any], says: str, assessed: Callable[..., Assessment]
) -> None:
    (found,) = [f for f in assessed(cloud, changes).findings if f.rule == "network-too-small"]
    assert says in found.message
    # Only what lacks room is named: the other half may well fit.
    assert ("; " in found.message) == (found.message.count(" half of ") == 2)


@pytest.mark.parametrize(("addresses", "prefix"), [(1, 28), (11, 28), (12, 27), (251, 24), (252, 23), (2048, 20)])
def test_a_subnet_has_five_addresses_less_than_its_size(addresses: int, prefix: int) -> None:
    assert prefix_for(addresses) == prefix


# Interfaces

LAYOUTS = {
    # type: card.device and kind of each interface with efa-only, then with efa
    "p4d.24xlarge": ("0.0 interface, 0.1 efa-only, 1-3.0 efa-only", "0.0 efa, 1-3.1 efa"),
    "p4de.24xlarge": ("0.0 interface, 0.1 efa-only, 1-3.0 efa-only", "0.0 efa, 1-3.1 efa"),
    "p5.4xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "p5.48xlarge": ("0.0 interface, 0.1 efa-only, 1-31.0 efa-only", "0.0 efa, 1-31.1 efa"),
    "p5e.48xlarge": ("0.0 interface, 0.1 efa-only, 1-31.0 efa-only", "0.0 efa, 1-31.1 efa"),
    "p5en.48xlarge": ("0.0 interface, 0.1 efa-only, 1-15.0 efa-only", "0.0 efa, 1-15.1 efa"),
    "p6-b200.48xlarge": ("0.0 interface, 0.1 efa-only, 1-7.0 efa-only", "0.0 efa, 1-7.1 efa"),
    "p6-b300.48xlarge": ("0.0 interface, 1-16.0 efa-only", "0.0 interface, 1-16.1 efa"),
    "p6e-gb200.36xlarge": (
        "0.0 interface, 1.0 efa-only, 5.0 efa-only, 9.0 efa-only, 13.0 efa-only",
        "0.0 interface, 1.0 efa, 5.0 efa, 9.0 efa, 13.0 efa",
    ),
    "trn1.32xlarge": ("0.0 interface, 0.1 efa-only, 1-7.0 efa-only", "0.0 efa, 1-7.1 efa"),
    "trn1n.32xlarge": ("0.0 interface, 0.1 efa-only, 1-15.0 efa-only", "0.0 efa, 1-15.1 efa"),
    "trn2.48xlarge": ("0.0 interface, 0.1 efa-only, 1-15.0 efa-only", "0.0 efa, 1-15.1 efa"),
    "g5.12xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g5.24xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g5.48xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g6.12xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g6.24xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g6.48xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g6e.12xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g6e.24xlarge": ("0.0 interface, 0.1 efa-only, 1.0 efa-only", "0.0 efa, 1.1 efa"),
    "g6e.48xlarge": ("0.0 interface, 0.1 efa-only, 1-3.0 efa-only", "0.0 efa, 1-3.1 efa"),
    "g7e.12xlarge": ("0.0 interface, 0.1 efa-only", "0.0 efa"),
    "g7e.24xlarge": ("0.0 interface, 0.1 efa-only, 1.0 efa-only", "0.0 efa, 1.1 efa"),
    "g7e.48xlarge": ("0.0 interface, 0.1 efa-only, 1-3.0 efa-only", "0.0 efa, 1-3.1 efa"),
}


def listed(text: str) -> list[Interface]:
    """`1-3.0 efa-only` is one on each of the cards 1 to 3, at device 0."""
    found: list[Interface] = []
    for part in text.split(", "):
        place, kind = part.split()
        cards, device = place.split(".")
        first, _, last = cards.partition("-")
        found += [
            Interface(card, int(device), cast(InterfaceKind, kind))
            for card in range(int(first), int(last or first) + 1)
        ]
    return found


def test_the_table_of_layouts_has_every_type_with_efa() -> None:
    assert set(LAYOUTS) == {node.name for node in AWS_TYPES if node.efa}


@pytest.mark.parametrize("node", AWS_TYPES, ids=lambda node: node.name)
@pytest.mark.parametrize("kind", ["efa-only", "efa"])
def test_interfaces_are_laid_out_within_the_limits_of_the_cards(node: AwsNodeType, kind: str) -> None:
    layout = interfaces_of(spec_of("aws", type=node.name, interfaces=kind), node)
    if node.efa:
        assert list(layout) == listed(LAYOUTS[node.name][("efa-only", "efa").index(kind)])
    assert sum(i.kind in ("efa", "efa-only") for i in layout) == node.efa
    assert sum(i.has_address for i in layout) == (1 if kind == "efa-only" or not node.efa else len(layout))
    assert (layout[0].card, layout[0].device) == (0, 0)
    assert layout[0].kind != "efa-only", "the primary interface can not be without an address"
    assert len({(i.card, i.device) for i in layout}) == len(layout)
    assert all(i.card < node.network_cards for i in layout)
    assert all(i.device < node.interfaces_per_card[i.card] for i in layout)
    assert {i.card for i in layout if i.kind != "interface"} <= set(node.efa_cards)


@pytest.mark.parametrize(
    ("name", "fabric"),
    [
        ("p5.48xlarge", Fabric("efa", 32, 3200)),
        ("p6-b300.48xlarge", Fabric("efa", 16, 6400)),
        ("Standard_ND96isr_H100_v5", Fabric("infiniband", 8, 3200)),
        ("Standard_ND96asr_v4", Fabric("infiniband", 8, 1600)),
        ("Standard_NC96ads_A100_v4", Fabric("ethernet", 1, 80)),
        ("no-such-type", Fabric("ethernet", 0, 0)),
    ],
)
def test_the_fabric_is_what_the_type_has(name: str, fabric: Fabric) -> None:
    assert fabric_of(catalog.node_type(name)) == fabric


# Lustre


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: f"{tier.cloud}-{tier.deployment}-{tier.mbps_per_tib}")
@settings(max_examples=30)
@given(capacity=st.integers(0, 2_000_000))
def test_the_nearest_capacities_are_legal_and_next_to_what_was_asked(tier: Any, capacity: int) -> None:
    assume(not fits_tier(tier, capacity))
    near = nearest_capacities(tier, capacity)
    assert near
    assert all(fits_tier(tier, size) for size in near)
    for size in near:
        low, high = sorted((size, capacity))
        assert not any(fits_tier(tier, between) for between in range(low + 1, high))


@pytest.mark.parametrize(
    ("mbps", "step"),
    [(125, 38400), (250, 19200), (500, 9600), (1000, 4800)],
)
def test_efa_takes_steps_of_4_800_000_over_the_throughput(mbps: int, step: int) -> None:
    tier = catalog.lustre_tier("aws", "persistent", mbps)
    assert tier is not None
    assert fits_efa(tier, step)
    assert fits_efa(tier, 3 * step)
    assert not fits_efa(tier, step // 2)


@pytest.mark.parametrize(
    ("filesystem", "capacity", "efa", "mbps"),
    [
        ({"capacity": "38400GiB", "throughput_per_tib": 250}, 38400, True, 9375),
        ({"capacity": "1200GiB", "throughput_per_tib": 250}, 1200, False, 292),
        ({"throughput_per_tib": 1000}, 1200, False, 1171),
        ({"throughput_per_tib": 1000, "efa": True}, 4800, True, 4687),
        ({"capacity": "38400GiB", "efa": False}, 38400, False, 9375),
    ],
)
def test_fsx_is_reached_over_efa_where_its_size_allows_it(
    filesystem: dict[str, Any], capacity: int, efa: bool, mbps: int, assessed: Callable[..., Assessment]
) -> None:
    facts = assessed("aws", {"storage.filesystem": filesystem}).facts
    assert facts is not None
    assert facts.lustre is not None
    assert (facts.lustre.capacity_gib, facts.lustre.efa, facts.lustre.throughput_mbps) == (capacity, efa, mbps)


@pytest.mark.parametrize(
    ("capacity", "iops"),
    [
        (1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12000, 12000), (45600, 12000), (48000, 24000),
        (384000, 192000),
    ],
)  # fmt: skip
def test_fsx_gives_metadata_iops_by_capacity(capacity: int, iops: int) -> None:
    assert catalog.metadata_iops(capacity) == iops


def test_a_filesystem_that_exists_takes_no_address_of_the_nodes_subnet(assessed: Callable[..., Assessment]) -> None:
    facts = assessed("aws", {"storage.filesystem": {"existing": "fs-0123456789abcdef0"}}).facts
    assert facts is not None
    assert (facts.lustre, facts.network.needed) == (None, 16)


@pytest.mark.parametrize(("tib", "prefix"), [(4, 27), (16, 27), (17, 26), (48, 25), (128, 24), (400, 23), (500, 22)])
def test_azure_lustre_takes_a_subnet_by_its_capacity(tib: int, prefix: int) -> None:
    assert subnet_prefix_for(tib * 1024) == prefix


# Quota, image, set-up


@pytest.mark.parametrize(
    ("cloud", "changes", "quota"),
    [
        ("aws", {}, [("L-417A185B", "vCPU", 3072)]),
        ("aws", {"nodes.purchase": "spot"}, [("L-C4BD4855", "vCPU", 3072)]),
        ("aws", {"nodes.purchase": "reserved"}, [("L-417A185B", "vCPU", 3072)]),
        ("aws", {"nodes.purchase": "capacity-block"}, []),
        ("aws", {"nodes.type": "g5.48xlarge"}, [("L-DB2E81BA", "vCPU", 3072)]),
        ("aws", {"nodes.running": False}, []),
        ("azure", {}, [("standardNDSH100v5Family", "vCPU", 1536)]),
        ("azure", {"nodes.purchase": "spot"}, [("lowPriorityCores", "vCPU", 1536)]),
        ("azure", {"nodes.type": "no-such-type"}, []),
    ],
)
def test_quota_is_asked_for_in_vcpus(
    cloud: str, changes: dict[str, Any], quota: list[tuple[str, str, int]], assessed: Callable[..., Assessment]
) -> None:
    facts = assessed(cloud, changes).facts
    assert facts is not None
    assert [(q.code, q.unit, q.need) for q in facts.quota] == quota


def test_a_setup_file_is_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_bytes("\ufeffecho ä\r\ntrue\n".encode())
    assert setup_of("setup.sh", tmp_path).lines == ("echo ä", "true")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing.sh", "there is no set-up file"),
        ("", "there is no set-up file"),
        ("../secret.sh", "outside the stack file's folder"),
        ("/etc/passwd", "outside the stack file's folder"),
        ("link.sh", "outside the stack file's folder"),
        ("circle.sh", "set-up file"),
        ("binary.sh", "not UTF-8"),
        ("nul\0.sh", "can not be read"),
        ("x" * 5000, "a text of 5000 characters"),
    ],
)
def test_a_setup_file_that_can_not_be_used_says_why(name: str, problem: str, tmp_path: Path) -> None:
    folder = tmp_path / "stacks"
    folder.mkdir()
    (tmp_path / "secret.sh").write_text("true")
    (folder / "link.sh").symlink_to(tmp_path / "secret.sh")
    (folder / "circle.sh").symlink_to(folder / "circle.sh")
    (folder / "binary.sh").write_bytes(b"\xff\xfe\x00")
    setup = setup_of(name, folder)
    assert problem in setup.problem
    assert setup.lines == ()
