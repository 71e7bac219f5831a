"""A recommendation as a cluster's spec, and as a stack file that says why each number is there."""

from __future__ import annotations

import re
from datetime import date, timedelta
from math import ceil
from typing import Any

from planning.catalog.records import AwsNodeType
from planning.sizing.advise import Recommendation
from planning.sizing.errors import SizingError
from planning.sizing.explain import OWN_NAMES
from planning.sizing.gpus import GIB
from planning.spec import LONGEST_NAME
from planning.stackkeys import CLUSTER, EDITOR_HINT
from planning.units import show_size

KEPT_DAYS = 30
"""Checkpoints in object storage (ours)."""
SPARE_DAYS = 7
"""Between the latest end of the run and that of the cluster (ours)."""
WRITABLE = ("on-demand", "spot")
"""Ways of buying that a spec says without an id that only the cloud gives."""
EXAMPLE_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYJof/1iH++8qxPpbhtnQUO+mx0DBoHjXtumkz6IfKM example"
"""The public half of a key that nobody holds."""


def name_of(found: Recommendation) -> str:
    """A cluster's name from that of its model: llama-3-70b."""
    plain = re.sub(r"[^a-z0-9]+", "-", found.estimate.run.model.name.lower()).strip("-")
    lettered = plain if plain[:1].isalpha() else f"m-{plain}"
    return lettered[:LONGEST_NAME].rstrip("-")


def zone_of(found: Recommendation) -> str | None:
    """AWS: a zone of the region in which the node type was seen. Azure needs none, and numbers them by subscription."""
    node, region = found.estimate.node, found.estimate.region
    if not isinstance(node, AwsNodeType):
        return None
    from planning import catalog

    known = catalog.regions("aws").get(region)
    prefix = known.zone_prefix if known else ""
    zones = [zone for zone in node.zones if prefix and zone.startswith(f"{prefix}-az")]
    if not zones and node.zones:
        raise SizingError(
            f"region: {node.name} was seen in no zone of {region}",
            f"name a region with one of {', '.join(node.zones[:6])}",
        )
    return zones[0] if zones else f"{prefix}-az1"


def spec_of(found: Recommendation, today: date) -> dict[str, Any]:
    """Raises `SizingError` where no spec can say it."""
    of = found.estimate
    purchase = found.options[0].purchase
    if purchase not in WRITABLE:
        raise SizingError(
            f"purchase: {purchase} needs an id that the cloud gives when it is made or bought",
            f"write the stack with {' or '.join(WRITABLE)}, and put nodes.purchase and nodes.reservation into it then",
        )
    spec: dict[str, Any] = {"name": name_of(found), "cloud": found.cloud, "region": of.region}
    if zone := zone_of(found):
        spec["zone"] = zone
    spec["nodes"] = {"type": of.node.name, "count": of.nodes, "purchase": purchase}
    checkpoints = {"size": show_size(ceil(of.checkpoint_bytes / GIB)), "expire_after_days": KEPT_DAYS}
    storage: dict[str, Any] = {"objects": {"checkpoints": checkpoints}}
    if of.filesystem is not None:
        storage["filesystem"] = {
            "capacity": show_size(of.filesystem.capacity_gib),
            "throughput_per_tib": of.filesystem.mbps_per_tib,
        }
    spec["storage"] = storage
    if found.cloud == "azure":
        spec["access"] = {"ssh_public_key": EXAMPLE_KEY}
    spec["lifetime"] = {"expires": (today + timedelta(days=ceil(of.days.high) + SPARE_DAYS)).isoformat()}
    return spec


def stack_text(found: Recommendation, spec: dict[str, Any]) -> str:
    """The stack file of a spec that `spec_of` made."""
    of, nodes = found.estimate, spec["nodes"]
    lines = [
        EDITOR_HINT,
        f"# {of.run.model.name}, {of.run.tokens:.4g} tokens: {of.days.likely:.3g} days likely, {of.days.low:.3g} to "
        f"{of.days.high:.3g}. By `gpu-clusters advise`.",
        "config:",
        f"  {CLUSTER}:",
        f"    name: {spec['name']}",
        f"    cloud: {spec['cloud']}",
        f"    region: {spec['region']}",
    ]
    if "zone" in spec:
        lines.append(f"    zone: {spec['zone']} # where the type was seen; ask AWS which zone has capacity")
    lines += ["    nodes:", f"      type: {nodes['type']}", f"      count: {nodes['count']}"]
    lines.append(f"      purchase: {nodes['purchase']}")
    lines.append("    storage:")
    if filesystem := spec["storage"].get("filesystem"):
        lines += [
            "      filesystem:",
            f"        capacity: {filesystem['capacity']} # {OWN_NAMES[found.cloud]}: three checkpoints and the data",
            f"        throughput_per_tib: {filesystem['throughput_per_tib']} # MB/s; a checkpoint takes "
            f"{of.write_s:.0f} s",
        ]
    checkpoints = spec["storage"]["objects"]["checkpoints"]
    lines += [
        "      objects:",
        "        checkpoints:",
        f"          size: {checkpoints['size']} # one every {of.failures.interval_s / 60:.0f} minutes",
        f"          expire_after_days: {checkpoints['expire_after_days']}",
    ]
    if "access" in spec:
        lines += [
            "    access:",
            "      # The public half of a key that nobody holds: put your own here.",
            f"      ssh_public_key: {spec['access']['ssh_public_key']}",
        ]
    lines += ["    lifetime:", f"      expires: {spec['lifetime']['expires']} # {SPARE_DAYS} days after the slow end"]
    return "\n".join(lines) + "\n"
