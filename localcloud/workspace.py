"""The private folder in which a Pulumi project runs against the local cloud: `<project>/.local/`.

    home/       PULUMI_HOME: the stand-in providers, under the versions that the project's SDKs ask for
    project/    copies of Pulumi.yaml and of the stack files: Pulumi writes into those, not into tracked files
    state/      the state backend
    cloud.db    what exists on the local cloud

Where the engine comes from: `engine.py`. What a killed run leaves behind: `recovery.py`.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import yaml

from localcloud.engine import Engine
from localcloud.environments import WorkspaceError, project_python, sdk_versions
from localcloud.recovery import recover
from localcloud.scarcity import limits_of
from localcloud.stackfiles import SUFFIXES, copy_stack_file, tracked_stacks, write, yaml_fault

PROVIDERS = {"aws": "pulumi-aws", "azure-native": "pulumi-azure-native"}
"""The stand-ins, and the SDK distribution whose version each must have."""

REAL = ("AWS_", "ARM_", "AZURE_", "PULUMI_")
"""Variables that lead to an account, a credential or another backend: no run gets them."""

NOT_COPIED = {"stackConfigDir", "backend", "plugins"}
"""Keys of Pulumi.yaml that would lead a run out of the private folder."""

LAUNCHER = """\
#!/bin/sh
exec {python} -c {code} "$@"
"""

CLEAN_PATH = "import sys; sys.path[:] = filter(None, sys.path); "
"""The working folder is the project's: its files must not stand for modules of ours or of Python."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Workspace:
    """One Pulumi project on the local cloud."""

    project: Path
    """The folder that holds Pulumi.yaml."""
    engine: Engine
    root: Path
    """The private folder. Two of them are two clouds."""
    say: Callable[[str], None] = say

    @property
    def store_path(self) -> Path:
        return self.root / "cloud.db"

    @property
    def limits_path(self) -> Path:
        """What the cloud has of nodes and quota, if the project says so: beside its Pulumi.yaml."""
        return self.project / "localcloud.toml"

    @property
    def name(self) -> str:
        return self.document()["name"]

    def prepare(self) -> dict[str, str]:
        """Lay all but the stack files, or bring it up to date; the versions of the stand-ins.

        Raises WorkspaceError, and ScarcityError where localcloud.toml is wrong."""
        document = self.document()
        limits_of(self.limits_path)
        python = project_python(self.project, document)
        versions = sdk_versions(python, ["pulumi", *PROVIDERS.values()])
        if "pulumi" not in versions:
            raise WorkspaceError(f"{python} has no Pulumi SDK. Install the requirements of {self.project} into it.")
        try:
            for folder in ("home", "project", "state"):
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            write(self.root / ".gitignore", b"*\n")
            private = yaml.safe_dump(self._private(document, python), sort_keys=False)
            write(self.root / "project" / "Pulumi.yaml", private.encode())
            self._lay_language_host(python)
            return {cloud: self._lay_provider(cloud, versions[d]) for cloud, d in PROVIDERS.items() if d in versions}
        except OSError as error:
            raise WorkspaceError(f"{error.filename or self.root} cannot be written ({error.strerror}).") from None

    def document(self) -> dict[str, Any]:
        """The project's own Pulumi.yaml. Raises WorkspaceError."""
        path = self.project / "Pulumi.yaml"
        try:
            document = yaml.safe_load(path.read_bytes())
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be read ({error.strerror}). Name the folder of a project.") from None
        except yaml.YAMLError as error:
            raise WorkspaceError(yaml_fault(path, error)) from None
        if not isinstance(document, dict) or not isinstance(document.get("name"), str):
            raise WorkspaceError(f"{path} has no `name`: it is no Pulumi project.")
        runtime = document.get("runtime")
        kind = runtime.get("name") if isinstance(runtime, dict) else runtime
        if kind != "python":
            raise WorkspaceError(f"{path} has the runtime {kind}; only Python projects run on the local cloud.")
        return document

    def _private(self, document: Mapping[str, Any], python: Path) -> dict[str, Any]:
        private = {key: value for key, value in document.items() if key not in NOT_COPIED}
        private["main"] = str((self.project / document.get("main", ".")).resolve())
        # Any other toolchain would let the official host change the environment.
        options = {"toolchain": "pip", "virtualenv": str(python.parent.parent)}
        return private | {"runtime": {"name": "python", "options": options}}

    def _lay_language_host(self, python: Path) -> None:
        """Used only where no official host stands beside the engine: that one goes before."""
        host = Path(__file__).with_name("language.py")
        code = f'import runpy; runpy.run_path({str(host)!r}, run_name="__main__")'
        self._lay("language", "python", self.engine.version.removeprefix("v"), python, code)

    def _lay_provider(self, cloud: str, version: str) -> str:
        code = f"from localcloud.plugin import main; main({cloud!r})"
        self._lay("resource", cloud, version, Path(sys.executable), code)
        return version

    def _lay(self, kind: str, name: str, version: str, python: Path, code: str) -> None:
        path = self.root / "home" / "plugins" / f"{kind}-{name}-v{version}" / f"pulumi-{kind}-{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = LAUNCHER.format(python=shlex.quote(str(python)), code=shlex.quote(CLEAN_PATH + code))
        write(path, text.encode(), mode=0o755)

    def environment(self) -> dict[str, str]:
        """What a run sees: nothing that leads to a real cloud, and the private folder for all that Pulumi keeps."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(REAL)}
        return kept | {
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": (self.root / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "local",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
            "LOCALCLOUD_STORE": str(self.store_path),
            "LOCALCLOUD_LIMITS": str(self.limits_path),
            # A program that asks a cloud by itself finds no login of the person who runs it.
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AZURE_CONFIG_DIR": str(self.root / "home" / "azure"),
        }

    def tracked(self) -> dict[str, Path]:
        """The project's stack files by stack."""
        return tracked_stacks(self.project, self.document().get("stackConfigDir") or "")

    def stacks(self) -> list[str]:
        """The stacks that exist here."""
        folder = self.root / "state" / ".pulumi" / "stacks" / self.name
        return sorted(path.name.removesuffix(".json") for path in folder.glob("*.json"))

    def ready(self, stack: str) -> bool:
        """Have `stack` exist with its file as of now, and clear of a killed run. False where nobody knows it."""
        tracked = self.tracked().get(stack)
        exists = stack in self.stacks()
        if tracked:
            suffix = next(s for s in SUFFIXES if tracked.name.endswith(s))
            copy_stack_file(tracked, self.root / "project" / f"Pulumi.{stack}{suffix}")
        if exists:
            self._recover(stack)
        elif tracked:
            made = self.run("stack", "init", stack, "--no-select")
            if made.returncode and stack not in self.stacks():
                raise WorkspaceError(f"The stack {stack} could not be made here.\n{made.stderr.strip()}")
        return exists or tracked is not None

    def _recover(self, stack: str) -> None:
        folder = self.root / "state" / ".pulumi"
        recover(
            folder / "stacks" / self.name / f"{stack}.json",
            folder / "locks" / "organization" / self.name / stack,
            self.store_path,
            lambda: self.run("cancel", "--yes", "--stack", stack),
            self.say,
        )

    def run(self, *arguments: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run Pulumi and keep what it says."""
        with self.start(*arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE) as child:
            out, err = child.communicate()
        if check and child.returncode:
            raise WorkspaceError(f"pulumi {shlex.join(arguments)} ended with {child.returncode}.\n{out}{err}")
        return subprocess.CompletedProcess(arguments, child.returncode, out, err)

    def hand_over(self, *arguments: str) -> int:
        """Run Pulumi on the person's own terminal; its code."""
        with self.start(*arguments) as child:
            return child.wait()

    @contextmanager
    def start(self, *arguments: str, **streams: Any) -> Generator[subprocess.Popen[str]]:
        """A Pulumi process. Ctrl-C is its to handle: it ends in order, and we wait for that."""
        command = [str(self.engine.path), *arguments]
        with signals_left_to_child() as children:
            child = subprocess.Popen(
                command, cwd=self.root / "project", env=self.environment(), text=True, errors="replace", **streams
            )
            children.append(child)
            try:
                yield child
            finally:
                child.wait()


@contextmanager
def signals_left_to_child() -> Generator[list[subprocess.Popen[str]]]:
    """SIGINT reaches a child from the terminal as it reaches us; SIGTERM is sent on to those in the list."""
    children: list[subprocess.Popen[str]] = []
    if threading.current_thread() is not threading.main_thread():
        yield children
        return
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: [child.terminate() for child in children]),
    }
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
