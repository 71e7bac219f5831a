"""The local cloud is a judge of its own: it works without any other room of this project, and knows nothing from them.

That its imports point nowhere else is also a contract in pyproject.toml; here it runs where nothing else exists.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCALCLOUD = ROOT / "localcloud"
OTHERS = {"cli", "components", "planning", "policies", "stacks", "tests"}
NOT_AT_START = ("pulumi_aws", "pulumi_azure_native", "pulumi_policy", "boto", "azure", "moto")

ALONE = f"""\
import importlib, pkgutil, sys
from pathlib import Path

sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(finder).lower()]
sys.path[:] = [".", *(entry for entry in sys.path if entry and Path(entry).resolve() != Path({str(ROOT)!r}))]
import localcloud
assert Path(localcloud.__file__).is_relative_to(Path.cwd()), localcloud.__file__
names = [module.name for module in pkgutil.walk_packages(localcloud.__path__, "localcloud.")]
for name in names:
    importlib.import_module(name)
print(len(names))
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & set({sorted(OTHERS)!r})))
"""

START = """\
import sys
import localcloud.plugin
from localcloud.store import Store
localcloud.plugin.open_cloud({cloud!r}, Store("cloud.db"), lambda urn, message: None)
print(*sorted(name for name in sys.modules if "." not in name))
"""


def imports(source: str) -> Iterator[str]:
    """Every package that a module names in an import, also in those inside functions and in calls of import_module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (str(a.value).partition(".")[0] for a in node.args if isinstance(a, ast.Constant))


def run(code: str, folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("path", sorted(LOCALCLOUD.rglob("*.py")), ids=lambda path: str(path.relative_to(LOCALCLOUD)))
def test_no_module_of_the_local_cloud_imports_another_room(path: Path) -> None:
    assert not OTHERS & set(imports(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "code",
    ["import planning.spec", "def late():\n    from components import cluster", "import_module('policies.pack')"],
)
def test_an_import_of_another_room_would_be_seen(code: str) -> None:
    assert OTHERS & set(imports(code))


def test_all_of_it_can_be_imported_where_no_other_room_exists(tmp_path: Path) -> None:
    shutil.copytree(LOCALCLOUD, tmp_path / "localcloud", ignore=shutil.ignore_patterns("__pycache__"))
    number, others = [*run(ALONE, tmp_path), ""][:2]
    assert int(number) > 30
    assert others == ""


def test_it_reads_no_data_of_another_room() -> None:
    """A wrong row in the planner's catalogue must show as a disagreement, so nothing here may come from there."""
    texts = {
        path: path.read_text(encoding="utf-8") for path in LOCALCLOUD.rglob("*") if path.suffix in (".py", ".toml")
    }
    found = [
        (path.name, room)
        for path, text in texts.items()
        for room in OTHERS - {"policies", "stacks"}  # words of IAM and of Pulumi
        if f"{room}/" in text or f'"{room}"' in text
    ]
    assert found == []


@pytest.mark.parametrize("cloud", ["aws", "azure-native"])
def test_a_plugin_opens_its_cloud_without_any_cloud_sdk(cloud: str, tmp_path: Path) -> None:
    [loaded] = run(START.format(cloud=cloud), tmp_path)
    assert "sqlite3" in loaded.split()
    assert [name for name in loaded.split() if name.startswith(NOT_AT_START)] == []
