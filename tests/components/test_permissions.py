"""The roles of docs/aws and docs/azure: enough for every resource that clusters declare, and nothing beside.

What each type needs is in aws_permissions.toml and azure_permissions.toml. What each cloud says of its own roles:
test_aws_permissions, test_azure_permissions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.clusters import CLUSTERS, EXAMPLES, ROOT
from tests.permissions import NEEDS, ROLES, STEPS, TYPES, actions, needed

EVERY_TYPE = [(cloud, name) for cloud in EXAMPLES for name in TYPES[cloud]]


@pytest.mark.parametrize("cloud", EXAMPLES)
def test_permissions_are_known_of_all_that_clusters_declare_and_of_nothing_else(
    cloud: str, cluster: Callable[[str], Any]
) -> None:
    clusters = [cluster(name) for name in CLUSTERS if name.startswith(cloud)]
    assert sorted({resource.type for here in clusters for resource in here.run.resources}) == TYPES[cloud]


@pytest.mark.parametrize(("cloud", "name"), EVERY_TYPE)
def test_the_deploy_role_may_do_all_that_a_type_needs_and_the_preview_role_may_read_it(cloud: str, name: str) -> None:
    assert needed(cloud, *STEPS, of=name) - actions(cloud, *ROLES) == set()
    assert needed(cloud, "read", of=name) - actions(cloud, "preview") == set()


@pytest.mark.parametrize("cloud", EXAMPLES)
def test_no_role_may_do_what_nothing_needs(cloud: str) -> None:
    """A wildcard would be such an action, since nothing needs one."""
    assert actions(cloud, *ROLES) == needed(cloud, *STEPS)
    assert not actions(cloud, "preview") & actions(cloud, "deploy"), "the deployer has both roles"


@pytest.mark.parametrize(("cloud", "name"), EVERY_TYPE)
def test_what_is_unproved_of_a_type_is_among_what_it_needs(cloud: str, name: str) -> None:
    assert set(NEEDS[cloud][name].get("unproved", ())) <= needed(cloud, *STEPS, of=name)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("cloud", EXAMPLES)
def test_the_page_names_the_role(cloud: str, role: str) -> None:
    assert f"{cloud}/{role}-role.json" in (ROOT / f"docs/{cloud}.md").read_text(encoding="utf-8")
