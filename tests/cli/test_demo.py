"""What `make up` and `make down` tell a person, with a stand-in for `pulumi`. With the real engine: tests/engine."""

from __future__ import annotations

import io
import json
from contextlib import closing
from pathlib import Path

import pytest

from cli import demo
from localcloud.engine import Engine
from localcloud.progress import Progress
from localcloud.store import Record, Store
from localcloud.workspace import Workspace

OUTPUTS = {
    "name": "training",
    "cloud": "aws",
    "region": "us-east-1",
    "node_type": "p5.48xlarge",
    "node_count": 16,
    "gpus_per_node": 8,
    "fabric": {"kind": "efa", "interfaces_per_node": 32, "gbps_per_node": 3200},
    "filesystem": {"kind": "lustre", "mount": "/lustre", "mount_command": "mount -t lustre fs-1@tcp:/abc /lustre"},
    "objects": {"uri": "s3://training", "checkpoint_uri": "s3://training/checkpoints"},
    "usd_per_hour": 1234.5,
}

ENGINE = """\
#!/bin/sh
echo "$@" >> ../asked
case "$1 $2" in
"stack init") mkdir -p ../state/.pulumi/stacks/train; echo '{{}}' > ../state/.pulumi/stacks/train/$3.json ;;
"stack output") echo '{outputs}' ;;
"stack rm") rm ../state/.pulumi/stacks/train/* ;;
"{failing} "*) echo "error: no capacity"; exit 255 ;;
up*) printf ' +  aws:ec2:Vpc v created (0.1s)\\nResources:\\n    + 63 created\\n\\nDuration: 1s\\n' ;;
destroy*) printf 'Resources:\\n    - 63 deleted\\n\\n' ;;
esac
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(demo, "EXAMPLES", ("one",))
    (tmp_path / "Pulumi.yaml").write_text("name: train\nruntime: python\n")
    (tmp_path / "Pulumi.one.yaml").write_text("config: {}\n")
    made = Workspace(tmp_path, Engine(tmp_path / "pulumi", "v3.274.1", "path"), tmp_path / ".local")
    behave(made, "nothing")
    made.prepare()
    return made


def behave(workspace: Workspace, failing: str) -> None:
    workspace.engine.path.write_text(ENGINE.format(outputs=json.dumps(OUTPUTS), failing=failing))
    workspace.engine.path.chmod(0o755)


def asked(workspace: Workspace) -> list[str]:
    return [" ".join(line.split()[:2]) for line in (workspace.root / "asked").read_text().splitlines()]


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("    + 63 created\n", "63 created"),
        ("    ~ 2 updated\n    +-1 replaced\n    3 changes. 60 unchanged\n", "2 updated, 1 replaced, 60 unchanged"),
        ("    63 unchanged\n", "no changes, 63 unchanged"),
        ("    - 63 deleted\n", "63 deleted"),
    ],
)
def test_the_outcome_is_what_pulumi_itself_counts(summary: str, said: str) -> None:
    assert demo.outcome(f"Outputs:\n    size: 3 created\n\nResources:\n{summary}\nDuration: 1s\n") == said


def test_up_says_the_outcome_and_shows_one_table(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    said = io.StringIO()
    assert demo.up(workspace, Progress(said)) == 0
    assert "one: 63 created (" in said.getvalue()
    table = " ".join(capsys.readouterr().out.split())
    for cell in ("training", "16 x p5.48xlarge", "GPUs 128", "mount -t lustre", "s3://training", "1,234.50"):
        assert cell in table


def test_a_failed_up_shows_the_whole_log_and_keeps_pulumis_code(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    behave(workspace, "up")
    with pytest.raises(demo.PulumiFailedError) as caught:
        demo.up(workspace, Progress(io.StringIO()))
    assert caught.value.code == 255
    out, err = capsys.readouterr()
    assert "error: no capacity" in err
    assert out == ""


def test_down_says_that_protection_is_lifted_and_drops_what_the_cloud_kept(workspace: Workspace) -> None:
    demo.up(workspace, Progress(io.StringIO()))
    with closing(Store(workspace.store_path)) as store, store.transaction("aws") as transaction:
        transaction.put(Record(cloud="aws", scope="", type="aws:fsx/backup:Backup", id="backup-1"))
    said = io.StringIO()
    assert demo.down(workspace, Progress(said)) == 0
    assert "the protection of its data is lifted" in said.getvalue()
    assert "dropped here: aws:fsx/backup:Backup backup-1" in said.getvalue()
    assert asked(workspace)[-3:] == ["state unprotect", "destroy --stack", "stack rm"]
    with closing(Store(workspace.store_path)) as store:
        assert store.list() == []


def test_down_is_fine_when_nothing_is_up(workspace: Workspace) -> None:
    said = io.StringIO()
    assert demo.down(workspace, Progress(said)) == 0
    assert said.getvalue() == "Nothing is up.\n"


def test_anything_but_up_and_down_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["sideways"]) == 2
    assert capsys.readouterr().err.startswith("usage:")
