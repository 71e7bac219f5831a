"""What the spec has room for and the project does not build yet: refused clearly, never ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule


class Unbuilt(NamedTuple):
    path: str
    asked: Callable[[AnySpec], bool]
    instead: str


UNBUILT = (
    Unbuilt("nodes.purchase", lambda s: s.nodes.purchase != "on-demand", "write on-demand"),
    Unbuilt("nodes.start", lambda s: s.nodes.start == "elastic", "write gang, or leave it out"),
    Unbuilt("nodes.max_count", lambda s: s.nodes.max_count is not None, "remove it"),
    Unbuilt("nodes.spot", lambda s: s.nodes.spot is not None, "remove it"),
    Unbuilt(
        "network.existing",
        lambda s: s.network.existing is not None,
        "remove it and let the stack make a network",
    ),
    Unbuilt("network.egress", lambda s: s.network.egress == "none", "write nat"),
    Unbuilt("network.flow_logs", lambda s: s.network.flow_logs, "write false"),
    Unbuilt(
        "storage.filesystem.deployment",
        lambda s: s.storage.filesystem is not None and s.storage.filesystem.deployment == "scratch",
        "write persistent",
    ),
    Unbuilt(
        "storage.filesystem.existing",
        lambda s: s.storage.filesystem is not None and s.storage.filesystem.existing is not None,
        "remove it and let the stack make a filesystem",
    ),
    Unbuilt(
        "storage.filesystem.kms_key",
        lambda s: s.storage.filesystem is not None and s.storage.filesystem.kms_key is not None,
        "remove it: the cloud's own key encrypts the filesystem",
    ),
    Unbuilt("storage.objects.existing", lambda s: s.storage.objects.existing is not None, "remove it"),
    Unbuilt("storage.objects.link", lambda s: s.storage.objects.link, "write false"),
    Unbuilt("access.bastion", lambda s: s.access.bastion, "write false"),
)


@rule("not-built-yet", "error", reference="CHANGELOG.md", waivable=False)
def not_built_yet(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A field whose effect is not built yet is refused rather than ignored."""
    for path, asked, instead in UNBUILT:
        if asked(spec):
            yield Fault(path, f"this version knows {path} but does not build what it asks for yet", instead)
