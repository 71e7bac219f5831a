"""What the words of `gpu-clusters local` mean, with a stand-in for `pulumi` that says what it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import local
from localcloud.engine import Engine
from localcloud.pinned import EngineError
from localcloud.store import Record, Store

ENGINE = """\
#!/bin/sh
if [ "$1 $2" = "stack init" ]; then
  mkdir -p ../state/.pulumi/stacks/train && echo '{}' > "../state/.pulumi/stacks/train/$3.json"
  exit 0
fi
if [ "$1 $2" = "stack --show-name" ]; then
  echo aws-p5
  exit 0
fi
for word; do echo "$word"; done
exit 5
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is ours as far as the command knows, in the working folder."""
    folder = tmp_path / "train"
    (folder / "stacks").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: train\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n")
    (folder / "stacks" / "Pulumi.aws-p5.yaml").write_text("config: {}\n")
    binary = tmp_path / "pulumi"
    binary.write_text(ENGINE)
    binary.chmod(0o755)
    monkeypatch.setattr(local, "OUR_PROJECT", folder)
    monkeypatch.setattr(local, "find_engine", lambda: Engine(binary, "v3.274.1", "path"))
    monkeypatch.chdir(folder)
    return folder


def asked(capfd: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    """What Pulumi was asked; its code is the command's own."""
    assert local.run(list(argv)) == 5
    return capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("command", ["preview", "up"])
def test_the_policy_pack_is_in_force_where_a_command_takes_one(
    project: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    words = asked(capfd, "--color", "never", command, "--stack", "aws-p5")
    assert words == ["--color", "never", command, "--policy-pack", str(project / "policies"), "--stack", "aws-p5"]


def test_the_policy_pack_is_in_force_also_where_the_stack_is_named_first(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pack = ["--policy-pack", str(project / "policies")]
    assert asked(capfd, "--stack", "aws-p5", "preview") == ["--stack", "aws-p5", "preview", *pack]
    assert asked(capfd, "-s", "aws-p5", "up") == ["-s", "aws-p5", "up", *pack]


@pytest.mark.parametrize("together", [True, False])
def test_the_policy_pack_takes_a_configuration_that_lies_where_the_person_is(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    monkeypatch.chdir(project)
    given = ["--policy-pack-config=ours.json"] if together else ["--policy-pack-config", "ours.json"]
    words = asked(capfd, "up", "--stack", "aws-p5", *given)
    assert words[:3] == ["up", "--policy-pack", str(project / "policies")]
    assert "=".join(words[5:]) == f"--policy-pack-config={project / 'ours.json'}"


@pytest.mark.parametrize("named", [[], ["-saws-p5"], ["-s", "aws-p5"], ["--stack=aws-p5"]])
def test_a_run_reads_the_stack_file_as_it_is_now_however_the_stack_is_named(
    project: Path, capfd: pytest.CaptureFixture[str], named: list[str]
) -> None:
    asked(capfd, "preview", "--stack", "aws-p5")
    (project / "stacks" / "Pulumi.aws-p5.yaml").write_text("config:\n  train:size: large\n")
    asked(capfd, "preview", *named)
    assert "size: large" in (project / ".local" / "project" / "Pulumi.aws-p5.yaml").read_text()


@pytest.mark.parametrize(
    "argv",
    [
        ["--no-policies", "up", "--stack", "aws-p5"],
        ["up", "--no-policies", "--stack", "aws-p5"],
        ["refresh", "--stack", "aws-p5"],
        ["stack", "output", "up", "--stack", "aws-p5"],
    ],
)
def test_no_policy_pack_where_it_is_not_wanted_or_not_taken(
    project: Path, capfd: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    assert asked(capfd, *argv) == [word for word in argv if word != "--no-policies"]


def test_another_project_is_run_without_our_policies(
    project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "Pulumi.yaml").write_text("name: train\nruntime: python\n")
    (other / "Pulumi.dev.yaml").write_text("config: {}\n")
    assert asked(capfd, "--project", "../other", "up", "--stack", "dev") == ["up", "--stack", "dev"]
    assert (other / ".local" / "project" / "Pulumi.dev.yaml").exists()


def test_a_banner_on_the_error_channel_says_that_nothing_is_real(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    local.run(["stack", "output", "--json"])
    out, err = capfd.readouterr()
    assert out.splitlines() == ["stack", "output", "--json"]
    assert "nothing real is deployed" in err


def test_paths_count_from_the_folder_of_the_person(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = asked(capfd, "stack", "export", "--file", "state.json", "--stack=aws-p5", "--plan=../p.json")
    assert words[2:4] == ["--file", str(project / "state.json")]
    assert words[-1] == f"--plan={project / '../p.json'}"


def test_a_stack_of_the_project_is_made_on_first_use_and_selected_by_name(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert asked(capfd, "stack", "select", "organization/train/aws-p5")[-1] == "organization/train/aws-p5"
    assert (project / ".local/state/.pulumi/stacks/train/aws-p5.json").exists()


@pytest.mark.parametrize("flags", [["--stack", "aws-p6"], ["--stack=aws-p6"], ["-s", "aws-p6"]])
def test_an_unknown_stack_is_one_message_with_near_names(
    project: Path, capfd: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert local.run(["up", *flags]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "there is no stack aws-p6: did you mean aws-p5?" in err


def test_a_new_stack_may_be_made_under_any_name(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert local.run(["stack", "init", "--stack", "mine"]) != 2


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["plugin", "install", "resource", "aws", "7.51.1"], "a real provider must not take their place"),
        (["login", "s3://state"], "has its own state backend"),
        (["config", "set", "a", "b"], "Edit the stack file itself"),
        (["up", "--cwd", "/tmp"], "--project DIR"),
        (["-C", "/tmp", "up"], "--project DIR"),
        (["--project"], "--project needs the folder"),
        (["--project", "/nowhere", "up"], "/nowhere/Pulumi.yaml cannot be read"),
        (["cloud", "drop"], "show, reset"),
    ],
)
def test_what_has_no_meaning_here_is_refused_in_one_line(
    project: Path, capfd: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    assert local.run(argv) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_without_an_engine_the_message_is_the_engines_own(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def none() -> Engine:
        raise EngineError("No Pulumi engine: none.")

    monkeypatch.setattr(local, "find_engine", none)
    assert local.run(["up"]) == 1
    assert capfd.readouterr().err == "No Pulumi engine: none.\n"


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_help_needs_no_engine(project: Path, argv: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert local.run(argv) == 0
    assert capfd.readouterr().out.startswith("usage: gpu-clusters local")


def test_the_cloud_can_be_looked_at_and_emptied(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert local.run(["cloud", "show"]) == 0
    assert capfd.readouterr().out == "The local cloud is empty.\n"
    store = Store(project / ".local" / "cloud.db")
    with store.transaction("aws") as transaction:
        transaction.put(Record(cloud="aws", scope="", type="aws:s3/bucket:Bucket", id="data"))
    store.close()
    local.run(["cloud", "show"])
    _, row, total = capfd.readouterr().out.splitlines()
    assert row.split() == ["aws:s3/bucket:Bucket", "data", "(no", "stack", "has", "it)"]
    assert "1 resource;" in total
    local.run(["cloud", "reset"])
    capfd.readouterr()
    local.run(["cloud", "show"])
    assert capfd.readouterr().out == "The local cloud is empty.\n"
