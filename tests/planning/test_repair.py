"""What is still told of a spec with mistakes of shape: all that is true whatever the misshapen fields were to be."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from planning.plan import Assessment
from planning.shape import read_spec

Assessed = Callable[..., Assessment]
TOLD: list[tuple[str, dict[str, Any], set[str]]] = [
    # cloud, changes, what is told, as `rule path`
    (
        "aws",
        {"nodes.count": 0, "nodes.purchse": "spot", "storage.filesystem.capacity": "3600GiB", "region": "eastus"},
        {
            "schema nodes.count", "schema nodes.purchse", "capacity-not-sold storage.filesystem.capacity",
            "efa-left-off storage.filesystem.capacity", "region-of-other-cloud region",
        },
    ),
    ("aws", {"nodes.purchase": "preemptible", "nodes.reservation": "cr-0"}, {"schema nodes.purchase"}),
    ("aws", {"nodes.purchse": "reserved", "nodes.reservation": "cr-0"}, {"schema nodes.purchse"}),
    ("aws", {"nodes.prefix": "x", "nodes.reservation": "cr-0"}, {
        "schema nodes.prefix", "reservation-unused nodes.reservation",
    }),
    ("azure", {"storage.filesystem": {"capacity": "4TiB", "throughput_per_tib": "500MB/s"}}, {
        "schema storage.filesystem.throughput_per_tib",
    }),
    ("aws", {"access": {"ssh_from": ["10.0.0.0/8", "0.0.0.0/0"], "ssh_public_key": "x"}}, {
        "schema access.ssh_public_key", "ssh-from-everywhere access.ssh_from.1",
    }),
    ("aws", {"access.ssh_from": ["10.0.0.0", "0.0.0.0/0"]}, {"schema access.ssh_from.0"}),
    ("aws", {"tags": {"team": 1, "aws:x": "y"}}, {"schema tags.team", "tag-key-refused tags.aws:x"}),
    ("aws", {"nodes.placement": "none", "waive": {"efa-without-placement": 1}}, {"schema waive.efa-without-placement"}),
    ("aws", {"nodes.count": "many", "lifetime.max_usd_per_hour": 1}, {"schema nodes.count"}),
    ("aws", {"region": 1, "lifetime.max_usd_per_hour": 1000}, {"schema region"}),
    ("azure", {"nodes": "sixteen", "network.cidr": "169.254.0.0/16"}, {
        "schema nodes", "network-not-for-hosts network.cidr",
    }),
    ("azure", {"storage": [], "access": ...}, {"schema storage", "ssh-key-missing access.ssh_public_key"}),
    ("aws", {"network.existing": {"vpc": "vpc-0a1b2c3d"}, "network.cidr": "10.0.0.0/8"}, {
        "schema network.existing.subnet", "network-outside-limits network.cidr",
    }),
    ("aws", {"nodes.setup": 5, "storage.on_delete": "delete"}, {
        "schema nodes.setup", "destroy-deletes-data storage.on_delete",
    }),
    ("aws", {"cloud": "gcp", "region": "eastus"}, {"schema cloud"}),
]  # fmt: skip


@pytest.mark.parametrize(("cloud", "changes", "told"), TOLD)
def test_rules_speak_beside_mistakes_of_shape(
    cloud: str, changes: dict[str, Any], told: set[str], assessed: Assessed
) -> None:
    assessment = assessed(cloud, changes)
    assert {f"{f.rule} {f.path}" for f in assessment.findings} == told
    assert assessment.plan is None


# Whatever is broken, no rule may say what it would not say of the whole spec.

LEGAL: dict[str, list[Any]] = {
    "region": ["us-east-1", "us-west-2", "us-east-7", "eastus"],
    "zone": ["use1-az6", "usw2-az2"],
    "account": [...],
    "nodes.type": ["p6-b300.48xlarge", "g5.48xlarge", "p6e-gb200.36xlarge", "x"],
    "nodes.count": [1, 20, 65, 1001],
    "nodes.running": [False],
    "nodes.purchase": ["spot", "reserved", "capacity-block"],
    "nodes.reservation": ["cr-0", {"id": "cr-0", "placement_group": "g"}, "r-0"],
    "nodes.start": ["gang", "elastic"],
    "nodes.placement": ["cluster", "none"],
    "nodes.interfaces": ["efa"],
    "nodes.image": ["ami-0", "/aws/service/x/arm64/latest/id"],
    "nodes.root_disk": ["20GiB"],
    "nodes.setup": [["true"], ["apt-get install cuda", "export NCCL_NET=Socket"], "missing.sh"],
    "network.cidr": ["10.0.0.0/8", "10.0.0.0/24", "8.8.0.0/16"],
    "network.egress": ["none"],
    "storage.filesystem": [None],
    "storage.filesystem.capacity": ["1200GiB", "3600GiB", "38400GiB"],
    "storage.filesystem.throughput_per_tib": [..., 1000, 300],
    "storage.filesystem.deployment": ["scratch"],
    "storage.filesystem.mount": ["/usr", "/scratch"],
    "storage.filesystem.efa": [True, False],
    "storage.filesystem.metadata_iops": [1500, 2000],
    "storage.filesystem.existing": ["fs-0"],
    "storage.objects.name": ["llama-data", "Llama"],
    "storage.objects.existing": ["llama-old"],
    "storage.objects.link": [True],
    "storage.objects.checkpoints.cool_after_days": [..., 7, 200],
    "storage.objects.checkpoints.expire_after_days": [..., 8],
    "storage.objects.checkpoints.size": ["100GiB", "40TiB"],
    "storage.on_delete": ["delete"],
    "access.ssh_public_key": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYJof/1iH++8qxPpbhtnQUO+mx0DBoHjXtumkz6IfKM"],
    "access.ssh_from": [["0.0.0.0/0"], ["10.0.0.0/8", "10.0.0.0/8"]],
    "lifetime.expires": ["2020-01-31"],
    "lifetime.max_usd_per_hour": [1, 900, 5000],
    "tags": [{"aws:x": "y"}, {"Name": "x"}],
    "waive": [{"efa-without-placement": "one rack"}, {"no-such-rule": "x"}],
}
BROKEN = [[1], 1.5, "?", None, True, "a typo in the key"]
SECTIONS = ["nodes", "network", "storage", "storage.objects", "storage.objects.checkpoints", "access", "lifetime"]


@st.composite
def legal_changes(draw: st.DrawFn) -> dict[str, Any]:
    """Changes that keep the shape; a part before the fields in it."""
    paths = sorted(draw(st.lists(st.sampled_from(list(LEGAL)), max_size=8, unique=True)))
    if "storage.filesystem" in paths:
        paths = [path for path in paths if not path.startswith("storage.filesystem.")]
    return {path: draw(st.sampled_from(LEGAL[path])) for path in paths}


breaks = st.dictionaries(st.sampled_from([*LEGAL, *SECTIONS]), st.sampled_from(BROKEN), min_size=1, max_size=3)


@settings(max_examples=150, deadline=None)
@given(legal=legal_changes(), broken=breaks)
@example(legal={"network.egress": "none", "nodes.image": "ami-0"}, broken={"nodes.image": [1]})
@example(legal={"storage.objects.link": True}, broken={"storage.filesystem": "a typo in the key"})
def test_no_rule_says_of_a_broken_spec_what_it_does_not_say_of_the_whole(
    legal: dict[str, Any], broken: dict[str, Any], assessed: Assessed, spec_of: Any
) -> None:
    whole = spec_of("aws", legal)
    half = _broken(whole, broken)
    _, mistakes = read_spec(half)
    # A misspelt key begins like the place.
    assume(all(any(mistake.path.startswith(place) for mistake in mistakes) for place in broken))
    told = {(f.rule, f.path) for f in assessed(half).findings if f.rule != "schema"}
    assert told <= {(f.rule, f.path) for f in assessed(whole).findings}


def _broken(spec: dict[str, Any], broken: dict[str, Any]) -> dict[str, Any]:
    spec = copy.deepcopy(spec)
    for place, value in broken.items():
        *above, last = place.split(".")
        node: Any = spec
        for key in above:
            node = node.get(key) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            continue
        if value == "a typo in the key":
            node[f"{last}x"] = node.pop(last, None)
        else:
            node[last] = value
    return spec
