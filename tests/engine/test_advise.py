"""What `gpu-clusters advise` writes comes up on the local cloud, with the policy pack, on both clouds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.engine.conftest import POLICY_PACK

RUNS = {
    "pre-training of 70B": ["--model", "llama-3-70b", "--tokens", "1.5e12", "--deadline-days", "60"],
    "fine-tuning of 13B": ["--model", "13B", "--tokens", "300M", "--deadline-days", "3"],
}


@pytest.mark.parametrize("cloud", ["aws", "azure"])
@pytest.mark.parametrize("run", RUNS)
def test_an_advised_stack_comes_up(workspace: Callable[..., Any], cloud: str, run: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.advised.yaml"
    assert main(["advise", *RUNS[run], "--cloud", cloud, "--write", str(path)]) == 0
    local = workspace()
    local.stack("advised", path.read_text())
    local.pulumi("up", "--yes", "--skip-preview", "--stack", "advised", "--policy-pack", str(POLICY_PACK))
    given = local.outputs("advised")
    assert given["node_count"] == (1 if run == "fine-tuning of 13B" else 64)
    assert given["cloud"] == cloud
    assert (given["filesystem"]["kind"] == "none") == (run == "fine-tuning of 13B")
