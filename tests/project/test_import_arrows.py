"""Imports point one way: stacks -> components -> plan -> rules -> facts -> spec, and the local cloud stands alone.

The contracts are in pyproject.toml; here they are run, and what import-linter cannot see is checked: that each of our
packages is bound by one, and that planning asks neither the clock nor the environment.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
CALLS = {"today", "now", "utcnow", "fromtimestamp", "getenv", "cwd", "home", "expanduser", "gethostname"}
"""Calls of the standard library that answer differently from day to day or from machine to machine."""
VALUES = {"environ"}


def test_every_contract_of_the_import_arrows_is_kept() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    ran = subprocess.run([linter, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_package_of_ours_is_watched_and_shipped() -> None:
    assert PYPROJECT["tool"]["importlinter"]["root_packages"] == PACKAGES
    assert PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == PACKAGES


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "cli"])
def test_every_package_but_the_command_is_bound_by_a_contract(package: str) -> None:
    sources = {s for c in PYPROJECT["tool"]["importlinter"]["contracts"] for s in c.get("source_modules", ())}
    assert package in sources


def asks_of_the_machine(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        asked = node.func if isinstance(node, ast.Call) else node
        if isinstance(asked, ast.Attribute) and asked.attr in (CALLS if asked is not node else VALUES):
            yield f"line {asked.lineno}: {asked.attr}"


def test_planning_asks_neither_the_clock_nor_the_environment() -> None:
    found = {
        str(path.relative_to(ROOT)): asks
        for path in sorted((ROOT / "planning").rglob("*.py"))
        if (asks := list(asks_of_the_machine(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


@pytest.mark.parametrize("code", ["date.today()", "os.environ['HOME']", "Path.cwd()"])
def test_a_question_to_the_machine_is_seen(code: str) -> None:
    assert list(asks_of_the_machine(code))


def imported_at_top(path: Path) -> set[str]:
    """Top-level packages that a module imports when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "cli").glob("*.py")), ids=lambda path: path.stem)
def test_the_command_loads_no_sdk_before_it_needs_one(path: Path) -> None:
    heavy = {"components", "policies", "pulumi", "pulumi_aws", "pulumi_azure_native", "pulumi_policy", "grpc"}
    assert not imported_at_top(path) & heavy


def test_only_the_folder_of_a_cloud_imports_its_sdk() -> None:
    found = {
        (sdk, path.relative_to(ROOT / "components").parts[0])
        for path in (ROOT / "components").rglob("*.py")
        for sdk in imported_at_top(path) & {"pulumi_aws", "pulumi_azure_native"}
    }
    assert found == {("pulumi_aws", "aws"), ("pulumi_azure_native", "azure")}
