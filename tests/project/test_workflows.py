"""The GitHub workflows: what they may do, with which credentials, for whom. `make test` lints the syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SAME_REPOSITORY = "github.event.pull_request.head.repo.full_name == github.repository"
NOT_DEPENDABOT = "github.event.pull_request.user.login != 'dependabot[bot]'"


def load(name: str) -> dict[str, Any]:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    workflow["on"] = workflow.pop(True)  # YAML 1.1 reads the key `on` as a boolean
    return workflow


WORKFLOWS = {path.stem: load(path.stem) for path in FILES}
JOBS = [pytest.param(name, job, id=f"{name}-{job}") for name, flow in WORKFLOWS.items() for job in flow["jobs"]]


def steps(name: str, job: str | None = None) -> Iterator[dict[str, Any]]:
    for job_name, body in WORKFLOWS[name]["jobs"].items():
        if job in (None, job_name):
            yield from body["steps"]


def step(name: str, job: str, title: str) -> dict[str, Any]:
    return next(s for s in steps(name, job) if s["name"] == title)


def scripts(name: str, job: str | None = None) -> list[str]:
    return [s["run"] for s in steps(name, job) if "run" in s]


def index_of(name: str, job: str, words: str) -> int:
    return next(i for i, s in enumerate(steps(name, job)) if words in s.get("run", "") or words in s.get("uses", ""))


def test_the_three_workflows_are_all_there_is() -> None:
    assert set(WORKFLOWS) == {"ci", "preview", "deploy"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(path: Path) -> None:
    uses = re.findall(r"uses: *(.*)", path.read_text())
    assert uses
    loose = [line for line in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)]
    assert loose == []


def test_an_action_has_one_commit_in_all_workflows() -> None:
    pins = {s["uses"] for name in WORKFLOWS for s in steps(name) if "uses" in s}
    assert len(pins) == len({pin.partition("@")[0] for pin in pins})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_workflow_runs_with_the_rights_of_the_base_for_code_of_a_fork(name: str) -> None:
    assert {"pull_request_target", "workflow_run", "issue_comment"}.isdisjoint(WORKFLOWS[name]["on"])


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_every_job_says_its_permissions_and_inherits_none(name: str, job: str) -> None:
    assert WORKFLOWS[name]["permissions"] == {}
    granted = WORKFLOWS[name]["jobs"][job]["permissions"].items()
    assert granted <= {("contents", "read"), ("id-token", "write"), ("pull-requests", "write")}


def test_no_checkout_leaves_a_token_behind() -> None:
    checkouts = [s for name in WORKFLOWS for s in steps(name) if s.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == 5
    assert all(s["with"]["persist-credentials"] is False for s in checkouts)


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_no_expression_is_pasted_into_a_script(name: str, job: str) -> None:
    assert [script for script in scripts(name, job) if "${{" in script] == []


def test_on_a_pull_request_only_the_job_guarded_against_forks_gets_credentials() -> None:
    jobs = {j: body for flow in WORKFLOWS.values() if "pull_request" in flow["on"] for j, body in flow["jobs"].items()}
    with_credentials = [j for j, body in jobs.items() if "id-token" in body["permissions"] or "secrets." in str(body)]
    assert with_credentials == ["preview"]
    assert jobs["preview"]["if"].split(" && ") == [
        "needs.check.outputs.stacks != '[]'",
        SAME_REPOSITORY,
        NOT_DEPENDABOT,
    ]


def test_preview_changes_nothing() -> None:
    assert re.findall(r"pulumi (\w+)", "".join(scripts("preview"))) == ["preview"]


def test_the_job_that_may_write_to_the_pull_request_runs_no_code_of_it() -> None:
    writers = [n for n, job in WORKFLOWS["preview"]["jobs"].items() if "pull-requests" in job["permissions"]]
    assert writers == ["comment"]
    used = [s["uses"].partition("@")[0] for s in steps("preview", "comment") if "uses" in s]
    assert used == ["actions/download-artifact"]


def test_preview_signs_in_with_the_reading_identity_and_deploy_with_the_writing_one() -> None:
    assert "_DEPLOY_" not in str(WORKFLOWS["preview"])
    assert "_PREVIEW_" not in str(WORKFLOWS["deploy"])


@pytest.mark.parametrize(("name", "job"), [("preview", "preview"), ("deploy", "up")])
def test_project_code_is_installed_before_any_credentials_exist(name: str, job: str) -> None:
    installed = index_of(name, job, "make env")
    assert installed < index_of(name, job, "configure-aws-credentials")
    assert installed < index_of(name, job, "azure/login")


@pytest.mark.parametrize(("name", "job", "command"), [("preview", "preview", "preview"), ("deploy", "up", "up")])
def test_pulumi_runs_with_the_policy_pack(name: str, job: str, command: str) -> None:
    runs = [s for s in scripts(name, job) if f"pulumi {command}" in s]
    assert len(runs) == 1
    assert "--policy-pack policies --policy-pack-config policies/profiles/default.json" in runs[0]


@pytest.mark.parametrize(("name", "job"), [("preview", "preview"), ("deploy", "up")])
def test_every_stack_is_checked_without_credentials_before_its_cloud_is_called(name: str, job: str) -> None:
    assert WORKFLOWS[name]["jobs"][job]["needs"] == "check"
    assert any("gpu-clusters check stacks/" in script for script in scripts(name, "check"))
    assert WORKFLOWS[name]["jobs"]["check"]["permissions"] == {"contents": "read"}


def test_a_stack_is_deployed_in_its_environment_one_update_at_a_time() -> None:
    up = WORKFLOWS["deploy"]["jobs"]["up"]
    assert up["environment"] == "${{ matrix.stack }}"
    assert up["concurrency"] == {"group": "pulumi-${{ matrix.stack }}", "cancel-in-progress": False}
    assert "concurrency" not in WORKFLOWS["deploy"]
    assert up["timeout-minutes"] < 60


def test_only_main_is_deployed() -> None:
    assert set(WORKFLOWS["deploy"]["on"]) == {"push", "workflow_dispatch"}
    assert WORKFLOWS["deploy"]["on"]["push"]["branches"] == ["main"]
    assert WORKFLOWS["deploy"]["jobs"]["check"]["if"] == "github.ref == 'refs/heads/main'"


def test_every_path_that_triggers_a_deployment_exists() -> None:
    paths = WORKFLOWS["deploy"]["on"]["push"]["paths"]
    assert [path for path in paths if not (ROOT / path.removesuffix("/**")).exists()] == []


def test_ci_has_no_way_to_a_cloud() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert not re.search(r"secrets\.|vars\.|id-token|pulumi (up|preview)", text)


def test_the_make_targets_that_the_workflows_run_exist() -> None:
    run = {target for name in WORKFLOWS for script in scripts(name) for target in re.findall(r"\bmake (\S+)", script)}
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"up", "down", "test", "env"} == run
    assert run <= targets


def test_the_official_cli_has_the_version_of_the_engine_that_we_build() -> None:
    required = re.search(r"pulumi/pkg/v3 v(\S+)", (ROOT / "localcloud" / "engine" / "go.mod").read_text())
    assert required
    installed = {
        s["with"]["pulumi-version"] for n in WORKFLOWS for s in steps(n) if "pulumi/actions@" in s.get("uses", "")
    }
    assert installed == {required[1]}
