"""What is derived from a spec: address plan, network interfaces, Lustre sizes, quota, image, set-up.

What may be bought or fits: test_rules. Prices: test_cost.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planning import catalog
from planning.catalog.records import AwsNodeType
from planning.facts.fabric import Fabric, Interface, fabric_of, interfaces_of
from planning.facts.network import KEPT_BY_CLOUD, AddressPlan, address_plan, prefix_for
from planning.facts.setup import setup_of
from planning.facts.storage import fits_efa, fits_tier, lustre_of, nearest_capacities, subnet_prefix_for
from planning.plan import Assessment
from planning.shape import read_spec
from planning.spec import AwsSpec, AzureSpec

AWS_TYPES = [node for node in catalog.node_types("aws").values() if isinstance(node, AwsNodeType)]
TIERS = [*catalog.lustre_tiers("aws"), *catalog.lustre_tiers("aws", "scratch"), *catalog.lustre_tiers("azure")]
TYPES = {"aws": "p5.48xlarge", "azure": "Standard_ND96isr_H100_v5"}


def spec_of(cloud: str, *, cidr: str = "10.0.0.0/16", **nodes: Any) -> AwsSpec | AzureSpec:
    raw = {"name": "a1", "cloud": cloud, "region": "r", "zone": "1", "network": {"cidr": cidr}}
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
    return [subnet for subnet in (plan.nodes, plan.public, plan.filesystem, plan.endpoints) if subnet is not None]


# Addresses

CAPACITIES = st.none() | st.integers(1, 700).map(lambda tib: tib * 1024)


@given(
    cloud=st.sampled_from(["aws", "azure"]),
    prefix=st.integers(8, 28),
    count=st.integers(1, 2000),
    interfaces=st.sampled_from(["efa-only", "efa"]),
    capacity=CAPACITIES,
)
def test_what_fits_lies_apart_inside_of_the_network(
    cloud: str, prefix: int, count: int, interfaces: str, capacity: int | None
) -> None:
    nodes = {"count": count} if cloud == "azure" else {"count": count, "interfaces": interfaces}
    plan = planned(cloud, f"10.0.0.0/{prefix}", capacity, **nodes)
    if not plan.fits:
        assert prefix > plan.smallest_prefix
        return
    assert all(subnet.subnet_of(plan.cidr) for subnet in subnets(plan))
    assert not any(one.overlaps(other) for one, other in combinations(subnets(plan), 2))
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
    plan = planned("azure", "10.0.0.0/16", 48 * 1024, count=16)
    assert not any(subnet.overlaps(IPv4Network("10.0.255.192/26")) for subnet in subnets(plan))


@pytest.mark.parametrize(
    ("interfaces", "count", "needed"),
    [("efa-only", 16, 16), ("efa", 16, 512), ("efa", 64, 2048)],
)
def test_efa_with_addresses_takes_one_on_every_card(interfaces: str, count: int, needed: int) -> None:
    assert planned("aws", "10.0.0.0/16", None, count=count, interfaces=interfaces).needed == needed


@pytest.mark.parametrize(("addresses", "prefix"), [(1, 28), (11, 28), (12, 27), (251, 24), (252, 23), (2048, 20)])
def test_a_subnet_has_five_addresses_less_than_its_size(addresses: int, prefix: int) -> None:
    assert prefix_for(addresses) == prefix


# Interfaces

LAYOUTS = {
    # type: interfaces and addresses of one node with efa-only, then with efa
    "p4d.24xlarge": (5, 1, 4, 4),
    "p4de.24xlarge": (5, 1, 4, 4),
    "p5.4xlarge": (2, 1, 1, 1),
    "p5.48xlarge": (33, 1, 32, 32),
    "p5e.48xlarge": (33, 1, 32, 32),
    "p5en.48xlarge": (17, 1, 16, 16),
    "p6-b200.48xlarge": (9, 1, 8, 8),
    "p6-b300.48xlarge": (17, 1, 17, 17),
    "p6e-gb200.36xlarge": (5, 1, 5, 5),
    "trn1.32xlarge": (9, 1, 8, 8),
    "trn1n.32xlarge": (17, 1, 16, 16),
    "trn2.48xlarge": (17, 1, 16, 16),
    "g5.12xlarge": (2, 1, 1, 1),
    "g5.24xlarge": (2, 1, 1, 1),
    "g5.48xlarge": (2, 1, 1, 1),
    "g6.12xlarge": (2, 1, 1, 1),
    "g6.24xlarge": (2, 1, 1, 1),
    "g6.48xlarge": (2, 1, 1, 1),
    "g6e.12xlarge": (2, 1, 1, 1),
    "g6e.24xlarge": (3, 1, 2, 2),
    "g6e.48xlarge": (5, 1, 4, 4),
    "g7e.12xlarge": (2, 1, 1, 1),
    "g7e.24xlarge": (3, 1, 2, 2),
    "g7e.48xlarge": (5, 1, 4, 4),
}


def test_the_table_of_layouts_has_every_type_with_efa() -> None:
    assert set(LAYOUTS) == {node.name for node in AWS_TYPES if node.efa}


@pytest.mark.parametrize("node", AWS_TYPES, ids=lambda node: node.name)
@pytest.mark.parametrize("kind", ["efa-only", "efa"])
def test_interfaces_are_laid_out_within_the_limits_of_the_cards(node: AwsNodeType, kind: str) -> None:
    layout = interfaces_of(spec_of("aws", type=node.name, interfaces=kind), node)
    total, addresses = LAYOUTS[node.name][:2] if kind == "efa-only" else LAYOUTS[node.name][2:]
    assert (len(layout), sum(i.has_address for i in layout)) == (total, addresses)
    assert sum(i.kind in ("efa", "efa-only") for i in layout) == node.efa
    assert (layout[0].card, layout[0].device) == (0, 0)
    assert layout[0].kind != "efa-only", "the primary interface can not be without an address"
    assert len({(i.card, i.device) for i in layout}) == len(layout)
    assert all(i.card < node.network_cards for i in layout)
    assert all(i.device < node.interfaces_per_card[i.card] for i in layout)
    assert {i.card for i in layout if i.kind != "interface"} <= set(node.efa_cards)


def test_p5_has_one_ena_and_an_efa_on_each_of_its_32_cards() -> None:
    layout = interfaces_of(spec_of("aws"), catalog.node_type("p5.48xlarge"))
    assert layout[:3] == (Interface(0, 0, "interface"), Interface(0, 1, "efa-only"), Interface(1, 0, "efa-only"))
    assert layout[-1] == Interface(31, 0, "efa-only")


def test_card_0_of_p6_b300_carries_no_efa() -> None:
    layout = interfaces_of(spec_of("aws", type="p6-b300.48xlarge"), catalog.node_type("p6-b300.48xlarge"))
    assert [i.kind for i in layout if i.card == 0] == ["interface"]


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
