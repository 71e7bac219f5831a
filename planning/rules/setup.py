"""Rules about the set-up that a node runs at the end of first boot. What is in its lines beside: `setup_lines`."""

from __future__ import annotations

from collections.abc import Iterator

from planning.facts.derive import Facts
from planning.rules.registry import AnySpec, Fault, rule

USER_DATA = {
    "aws": "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html",
    "azure": "https://learn.microsoft.com/azure/virtual-machines/custom-data",
}
MOST_SETUP_BYTES = {"aws": 8 << 10, "azure": 32 << 10}
"""What the project's own first boot leaves of user data: 16 KiB on EC2, 64 KiB in base64 on Azure."""
INDENTATION = 5
"""Bytes that user data spends on each line: four blanks and the line's end."""


@rule("setup-file-unusable", "error", reference="docs/spec.md", waivable=False)
def setup_file_unusable(_spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A set-up file lies beside the stack file and is text."""
    if facts.setup.problem:
        fix = "put the file beside the stack file, or write a list of shell lines"
        yield Fault("nodes.setup", facts.setup.problem, fix)


@rule("setup-too-long", "error", reference=USER_DATA)
def setup_too_long(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The set-up travels in user data, whose size the clouds limit."""
    size = sum(len(line.encode("utf-8", "replace")) + INDENTATION for line in facts.setup.lines)
    most = MOST_SETUP_BYTES[spec.cloud]
    if size > most:
        message = f"the set-up takes {size:,} bytes of the nodes' user data, which has room for {most:,}"
        yield Fault("nodes.setup", message, "keep the script in the bucket or on the filesystem, and call it from here")
