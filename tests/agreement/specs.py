"""Whole specs of both clouds that are likely to be legal, drawn by Hypothesis: a value for every field of the models.

A spec is drawn field by field, each with an eye on those before it. One in four is then crossed with another one, so
that combinations come up that nobody thought of. Values that are a cloud's own: `aws_specs`, `azure_specs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

from planning.rules import RULES
from tests.agreement.fields import ABSENT
from tests.sshkeys import ED25519, public_key, rsa_key

CROSSED = 25
"""Per cent of the specs that take fields from another one."""
ECDSA = public_key("ecdsa-sha2-nistp256", b"nistp256", bytes(range(65)))
KEYS = (*[ED25519, rsa_key(2048), rsa_key(4096)] * 5, rsa_key(1024), ECDSA)
CIDRS = ("10.40.0.0/16", "10.0.0.0/16", "172.20.0.0/18", "192.168.0.0/20", "10.1.2.0/24", "100.64.0.0/16")
SETUPS = (*[["apt-get install -y hwloc"], ["true", "echo 'a: b' > /etc/x", "é"]] * 4, [""], ["x" * 9000])
SOURCES = ("10.9.0.0/16", "192.168.7.0/24", "203.0.113.7/32", "172.20.0.0/14", "10.0.0.0/8")


@dataclass
class Draft:
    """A spec while it is drawn, by dotted path."""

    draw: st.DrawFn
    today: date
    said: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, path: str) -> Any:
        return self.said.get(path)

    def __contains__(self, path: str) -> bool:
        return path in self.said

    def chance(self, percent: int) -> bool:
        # Of many numbers, since Hypothesis is fond of some; the smallest, which it likes best, is the likely answer.
        number = self.draw(st.integers(0, 9_999)) % 100
        return number < percent if percent >= 50 else number >= 100 - percent

    def pick(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def some(self, values: tuple[Any, ...], most: int = 3) -> list[Any]:
        unique = not self.chance(5)
        return self.draw(st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=unique))

    def day(self, *days: int) -> str:
        return (self.today + timedelta(days=self.pick(*days))).isoformat()


Value = Callable[[Draft], Any]
"""What a field says, or ABSENT."""


def often(percent: int, *values: Any) -> Value:
    return lambda d: d.pick(*values) if d.chance(percent) else ABSENT


def within(part: str, value: Value) -> Value:
    """Of a part that may be left out."""
    return lambda d: value(d) if d[part] == {} else ABSENT


def drawn(strategy: st.SearchStrategy[Any], percent: int = 100) -> Value:
    return lambda d: d.draw(strategy) if d.chance(percent) else ABSENT


def _tags(d: Draft) -> Any:
    keys = st.text("abcXYZ019 _.:=+-@", min_size=1, max_size=20).map(str.strip).filter(bool)
    odd = st.sampled_from(["Name", "Team", "team", "gpu-clusters:cluster", "a/b", "aws:x", "microsoft.x", "k" * 128])
    values = st.text("abcXYZ019 _.:/=+-@", max_size=20) | st.sampled_from(["", "v" * 256])
    chosen = odd if d.chance(8) else keys
    return d.draw(st.dictionaries(chosen, values, min_size=1, max_size=4)) if d.chance(40) else ABSENT


def _waive(d: Draft) -> Any:
    return {d.pick(*(id_ for id_, rule in RULES.items() if rule.waivable)): "taken"} if d.chance(14) else ABSENT


SHARED: dict[str, Value] = {
    "name": drawn(st.from_regex(r"[a-z][a-z0-9]{1,8}(-[a-z0-9]{1,9})?", fullmatch=True)),
    "tags": _tags,
    "waive": _waive,
    "lifetime.expires": lambda d: d.day(1, 30, 400, 0, -1) if d.chance(25) else ABSENT,
    "lifetime.max_usd_per_hour": often(20, 100_000, 5000.5, 20),
    "access.ssh_from": lambda d: d.some(SOURCES) if d.chance(20) else ABSENT,
    "nodes.running": often(18, False),
    "nodes.start": often(48, "gang", "elastic", "elastic", "elastic", "auto"),
    "nodes.max_count": lambda d: _most(d) if d["nodes.start"] == "elastic" and d.chance(85) else ABSENT,
    "nodes.setup": lambda d: d.pick(*SETUPS) if d.chance(30) else ABSENT,
    "storage.objects.link": lambda d: True if d["storage.filesystem"] == {} and d.chance(_link(d)) else ABSENT,
    "storage.objects.checkpoints.size": often(25, "100GiB", "2TiB", "40TiB"),
    "storage.objects.checkpoints.prefix": often(25, "runs", "a/b.c/d_e", "checkpoints"),
    "storage.on_delete": often(45, "retain", "delete", "protect"),
}
"""Fields that both clouds fill alike, but for those that come before them."""


def _link(d: Draft) -> int:
    return 3 if "storage.filesystem.existing" in d else 25


def _most(d: Draft) -> int:
    return d["nodes.count"] + d.pick(0, 1, 8, d["nodes.count"])


def days(d: Draft, name: str, percent: int, *values: int) -> Any:
    """Days of a lifecycle, which an existing store has for itself."""
    if "storage.objects.existing" in d or not d.chance(percent):
        return ABSENT
    cool = d["storage.objects.checkpoints.cool_after_days"]
    return d.pick(*values) + (cool or 0 if name == "expire" else 0)


def table_of(cloud: str) -> Mapping[str, Value]:
    if cloud == "aws":
        from tests.agreement.aws_specs import FIELDS
    else:
        from tests.agreement.azure_specs import FIELDS
    return FIELDS


@st.composite
def whole_specs(draw: st.DrawFn, cloud: str, today: date) -> dict[str, Any]:
    """Specs of one cloud, legal or not."""
    said = _draft(draw, cloud, today)
    if Draft(draw, today).chance(CROSSED):
        other = _draft(draw, cloud, today)
        paths = draw(st.lists(st.sampled_from(sorted(other)), min_size=1, max_size=3))
        for path in paths:
            said |= dict(_with_its_part(other, path))
    return {"cloud": cloud, **_nested(said)}


def _draft(draw: st.DrawFn, cloud: str, today: date) -> dict[str, Any]:
    d = Draft(draw, today)
    for path, value in table_of(cloud).items():
        if (found := value(d)) is not ABSENT:
            d.said[path] = found
    return d.said


def _with_its_part(said: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """A field, and the whole of a part that has fields without a default."""
    whole = next((part for part in ("network.existing", "nodes.reservation") if path.startswith(part)), None)
    for other, value in said.items():
        if other == path or (whole is not None and other.startswith(whole)):
            yield other, value


def _nested(said: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    for path, value in said.items():
        *above, leaf = path.split(".")
        holder = spec
        for key in above:
            inner = holder.get(key)
            if not isinstance(inner, dict):
                inner = holder[key] = {}
            holder = inner
        if value == {} and isinstance(holder.get(leaf), dict):
            continue
        holder[leaf] = dict(value) if isinstance(value, dict) else value
    return spec
