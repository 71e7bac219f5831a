"""The private folder of a local run: what is laid there, what a run sees, and that tracked files are only read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from localcloud.engine import Engine
from localcloud.environments import WorkspaceError
from localcloud.workspace import Workspace

ENGINE = """\
#!/bin/sh
# A stand-in: `stack init NAME` does what the state backend does to the stack file, all else says what it was asked.
if [ "$1 $2" = "stack init" ]; then
  mkdir -p ../state/.pulumi/stacks/train && echo '{{}}' > "../state/.pulumi/stacks/train/$3.json"
  echo "encryptionsalt: v1:private" >> "Pulumi.$3.yaml"
  exit 0
fi
{body}
"""

STACK = "config:\n  train:size: 012\n  train:day: 2035-12-31   # as it is\n"


def make(tmp_path: Path, body: str = 'echo "$@"', *, folder: str = "train", document: str = "") -> Workspace:
    project = tmp_path / folder
    (project / "stacks").mkdir(parents=True)
    (project / "Pulumi.yaml").write_text(
        document or "name: train\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n"
    )
    (project / "stacks" / "Pulumi.dev.yaml").write_text(STACK)
    binary = tmp_path / "pulumi"
    binary.write_text(ENGINE.format(body=body))
    binary.chmod(0o755)
    return Workspace(project, Engine(binary, "v3.274.1", "built"), project / ".local", lambda _: None)


def test_the_stand_ins_stand_under_the_versions_of_the_installed_sdks(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    assert workspace.prepare() == {"aws": version("pulumi-aws"), "azure-native": version("pulumi-azure-native")}
    plugins = workspace.root / "home" / "plugins"
    laid = {
        str(path.relative_to(plugins)) for path in plugins.rglob("*") if path.is_file() and os.access(path, os.X_OK)
    }
    assert laid == {
        f"resource-aws-v{version('pulumi-aws')}/pulumi-resource-aws",
        f"resource-azure-native-v{version('pulumi-azure-native')}/pulumi-resource-azure-native",
        "language-python-v3.274.1/pulumi-language-python",
    }


def test_the_language_host_starts_from_a_folder_with_blanks_and_quotes_in_its_name(tmp_path: Path) -> None:
    workspace = make(tmp_path, folder="it's a folder")
    workspace.prepare()
    launcher = workspace.root / "home/plugins/language-python-v3.274.1/pulumi-language-python"
    with subprocess.Popen([launcher, "127.0.0.1:1"], text=True, stdout=subprocess.PIPE, cwd=workspace.project) as host:
        assert host.stdout is not None
        assert host.stdout.readline().strip().isdigit()
        host.terminate()


def test_files_of_the_project_do_not_stand_for_modules_of_the_host(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.prepare()
    (workspace.project / "grpc.py").write_text("raise SystemExit('the wrong grpc')")
    launcher = workspace.root / "home/plugins/language-python-v3.274.1/pulumi-language-python"
    with subprocess.Popen([launcher], text=True, stdout=subprocess.PIPE, cwd=workspace.project) as host:
        assert host.stdout is not None
        assert host.stdout.readline().strip().isdigit()
        host.terminate()


def test_the_copy_of_the_project_leads_back_to_the_program_and_nowhere_else(tmp_path: Path) -> None:
    document = """\
name: train
runtime: {name: python, options: {toolchain: uv}}
stackConfigDir: stacks
backend: {url: "s3://real"}
plugins: {providers: [{name: aws, path: ./real}]}
config: {train:size: {default: 3}}
"""
    workspace = make(tmp_path, document=document)
    workspace.prepare()
    copied = yaml.safe_load((workspace.root / "project" / "Pulumi.yaml").read_text())
    assert copied == {
        "name": "train",
        "runtime": {
            "name": "python",
            "options": {"toolchain": "pip", "virtualenv": str(Path(sys.executable).parent.parent)},
        },
        "config": {"train:size": {"default": 3}},
        "main": str(workspace.project),
    }


def test_a_run_finds_no_credential_and_no_other_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "ARM_CLIENT_SECRET", "AZURE_CLIENT_ID", "PULUMI_ACCESS_TOKEN"):
        monkeypatch.setenv(name, "real")
    monkeypatch.setenv("PULUMI_DEBUG_PROVIDERS", "aws:1")
    workspace = make(tmp_path, "env")
    workspace.prepare()
    seen = dict(line.split("=", 1) for line in workspace.run("whatever").stdout.splitlines() if "=" in line)
    assert "real" not in seen.values()
    assert "PULUMI_DEBUG_PROVIDERS" not in seen
    assert seen["AWS_CONFIG_FILE"] == os.devnull
    assert seen["PULUMI_BACKEND_URL"] == f"file://{workspace.root / 'state'}"
    assert seen["PULUMI_IGNORE_AMBIENT_PLUGINS"] == "true"
    assert seen["LOCALCLOUD_STORE"] == str(workspace.store_path)


def test_the_salt_goes_into_the_copy_and_stays_there_while_the_tracked_file_may_change(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.prepare()
    tracked, copy = workspace.project / "stacks/Pulumi.dev.yaml", workspace.root / "project/Pulumi.dev.yaml"
    assert workspace.ready("dev")
    assert tracked.read_text() == STACK
    assert copy.read_text() == STACK + "encryptionsalt: v1:private\n"
    tracked.write_text(STACK.replace("012", "013"))
    assert workspace.ready("dev")
    assert copy.read_text() == STACK.replace("012", "013") + "encryptionsalt: v1:private\n"


def test_the_keys_of_a_real_secrets_provider_are_not_asked(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.prepare()
    real = "secretsprovider: awskms://alias/real\nencryptedkey: AAAA\n" + STACK + "encryptionsalt: v1:real"
    (workspace.project / "stacks/Pulumi.dev.yaml").write_text(real)
    workspace.ready("dev")
    assert (workspace.root / "project/Pulumi.dev.yaml").read_text() == STACK + "encryptionsalt: v1:private\n"


def test_a_stack_that_nobody_knows_is_not_made(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.prepare()
    assert not workspace.ready("prod")
    assert workspace.stacks() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("config:\n  train:size: [1\n", "Pulumi.dev.yaml, line 3, column 1: this is not YAML"),
        ("config:\n  train:key:\n    secure: v1:abc\n", "Pulumi.dev.yaml, line 3: an encrypted value"),
        ("config:\n  train:list:\n    - a: {secure: v1:abc}\n", "Pulumi.dev.yaml, line 3: an encrypted value"),
        ("config: \xff\n", "Pulumi.dev.yaml"),
    ],
)
def test_a_stack_file_that_no_run_could_use_is_one_message(tmp_path: Path, text: str, said: str) -> None:
    workspace = make(tmp_path)
    workspace.prepare()
    (workspace.project / "stacks/Pulumi.dev.yaml").write_bytes(text.encode("latin-1"))
    with pytest.raises(WorkspaceError) as caught:
        workspace.ready("dev")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("name: [", "this is not YAML"),
        ("runtime: python\n", "has no `name`"),
        ("name: train\nruntime: nodejs\n", "has the runtime nodejs; only Python projects"),
        ("name: train\nruntime: {name: python, options: {virtualenv: env}}\n", "names the virtualenv env"),
    ],
)
def test_a_project_that_cannot_run_here_is_one_message(tmp_path: Path, document: str, said: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        make(tmp_path, document=document).prepare()
    assert said in str(caught.value)


def test_an_environment_without_the_sdk_is_named(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    python = workspace.project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho '{}'\n")
    python.chmod(0o755)
    with pytest.raises(WorkspaceError, match="has no Pulumi SDK"):
        workspace.prepare()


def test_the_private_folder_ignores_itself(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.prepare()
    subprocess.run(["git", "init", "--quiet", workspace.project], check=True)
    untracked = ["git", "-C", workspace.project, "status", "--porcelain", "--untracked-files=all"]
    assert ".local" not in subprocess.run(untracked, check=True, capture_output=True, text=True).stdout


def test_ctrl_c_is_left_to_pulumi_and_its_code_is_ours(tmp_path: Path) -> None:
    workspace = make(tmp_path, "trap 'sleep 0.3; exit 7' INT; echo ready; while :; do sleep 0.05; done")
    workspace.prepare()
    script = (
        "import sys; from pathlib import Path; from localcloud.workspace import Workspace\n"
        "from localcloud.engine import Engine\n"
        f"at = Path({str(workspace.project)!r})\n"
        f"engine = Engine(Path({str(workspace.engine.path)!r}), 'v3.274.1', 'built')\n"
        "sys.exit(Workspace(at, engine, at / '.local').hand_over('up'))"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        os.killpg(run.pid, signal.SIGINT)
        assert run.communicate(timeout=20)[1] == ""
    assert run.returncode == 7
