"""The real engine for tests, and for each test a local cloud of its own. What is tested: the files beside this one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localcloud.engine import Engine, find_engine
from localcloud.pinned import EngineError
from localcloud.store import Record, Store
from localcloud.workspace import Workspace

HERE = Path(__file__).parent
OUR_PROJECT = HERE.parent.parent
POLICY_PACK = OUR_PROJECT / "policies"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine at hand. Without one these tests are skipped, and under CI they fail: there nobody reads skips."""
    try:
        return find_engine(may_build=False)
    except EngineError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error).splitlines()[0])


@dataclass(frozen=True)
class LocalCloud:
    """One isolated local cloud with a project on it."""

    workspace: Workspace

    def pulumi(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a Pulumi command line; with `check`, a failure of it fails the test and shows its log."""
        if "--stack" in words:
            self.workspace.ready(words[words.index("--stack") + 1])
        return self.workspace.run(*words, check=check)

    def stack(self, name: str, text: str = "") -> None:
        """Have the stack `name` with this stack file, which stands in no tracked folder."""
        file = self.workspace.root / "project" / f"Pulumi.{name}.yaml"
        salt = [line for line in file.read_text().splitlines() if "encryptionsalt" in line] if file.exists() else []
        file.write_text("\n".join([text.rstrip(), *salt]) + "\n")
        if name not in self.workspace.stacks():
            self.workspace.run("stack", "init", name, "--no-select", check=True)

    def up(self, stack: str, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.pulumi("up", "--yes", "--skip-preview", "--stack", stack, *words, check=check)

    def outputs(self, stack: str) -> dict[str, Any]:
        return json.loads(self.pulumi("stack", "output", "--json", "--stack", stack).stdout)

    def state(self, stack: str) -> list[dict[str, Any]]:
        """The resources of the exported state."""
        exported = json.loads(self.pulumi("stack", "export", "--stack", stack).stdout)
        return exported["deployment"].get("resources") or []

    def exists(self) -> list[Record]:
        """All that is on the cloud now."""
        with closing(Store(self.workspace.store_path)) as store:
            return store.list()


@pytest.fixture
def workspace(engine: Engine, tmp_path: Path) -> Callable[..., LocalCloud]:
    """Call it for an isolated local cloud: `workspace()` runs our project, `workspace(folder)` that one."""

    def make(project: Path = OUR_PROJECT) -> LocalCloud:
        made = Workspace(project, engine, tmp_path / f"local-{project.name}")
        made.prepare()
        return LocalCloud(made)

    return make
