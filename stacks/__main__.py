"""One stack, one cluster: configuration -> plan -> cluster -> exports."""

from datetime import UTC, datetime
from pathlib import Path

import pulumi

from components.program import build, read_plan

plan = read_plan(pulumi.Config("gpu-clusters"), datetime.now(UTC).date(), Path.cwd())
cluster = build(plan)
for name, value in cluster.exports.items():
    pulumi.export(name, value)
