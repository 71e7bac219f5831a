"""Any value in any place gives findings and never an exception; secrets are not repeated; order does not matter."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from planning.findings import render
from planning.plan import Assessment, assess
from planning.shape import fields_at
from planning.spec import AwsSpec, AzureSpec
from tests.agreement.specs import whole_specs

Assessed = Callable[..., Assessment]
MODELS: dict[str, type[BaseModel]] = {"aws": AwsSpec, "azure": AzureSpec}
TODAY = date(2026, 11, 30)
SECRET = "hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2"
PRIVATE_KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----\n"


def places(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[str]:
    """Dotted paths of all fields, parts and leaves."""
    for name in fields_at(model, above):
        yield ".".join((*above, name))
        yield from places(model, (*above, name))


PLACES = {cloud: [*places(model), "tags.x", "waive.expired"] for cloud, model in MODELS.items()}
words = st.sampled_from(
    ["", " ", "yes", "~", "1e3", "0x10", "10.0.0.0/8", "48TiB", "999999999999999PiB", "2035-12-31", "aws", "auto"]
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), words, st.dates(), st.datetimes(),
    st.sampled_from([10**400, -(10**400), 2**63, "\0", "\ud800", "x" * 10_000, date.min, datetime.max]),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars.filter(lambda k: k == k), inner, max_size=3),
    max_leaves=8,
)


def check_findings(assessment: Assessment) -> None:
    assert assessment.findings or assessment.plan is not None
    for finding in assessment.findings:
        assert finding.message
        assert finding.fix
    assert render(assessment.findings) is not None
    json.dumps([finding.as_json() for finding in assessment.findings])


@settings(max_examples=150, deadline=None)
@given(cloud=st.sampled_from(["aws", "azure"]), data=st.data())
def test_any_value_in_any_place_gives_findings_and_no_exception(
    cloud: str, data: st.DataObject, assessed: Assessed, spec_of: Any
) -> None:
    changes = data.draw(st.dictionaries(st.sampled_from(PLACES[cloud]), values, min_size=1, max_size=3))
    raw = spec_of(cloud, {})
    for path, value in changes.items():
        _put(raw, path.split("."), value)
    check_findings(assessed(raw))


def _put(raw: Any, keys: list[str], value: Any) -> None:
    for key in keys[:-1]:
        raw = raw.setdefault(key, {}) if isinstance(raw, dict) else None
    if isinstance(raw, dict):
        raw[keys[-1]] = value


@settings(max_examples=100, deadline=None)
@given(raw=values)
@example(raw={None: 1, "cloud": "aws"})
@example(raw={"cloud": ["aws"], 1: 2})
def test_any_value_as_a_whole_spec_gives_findings_and_no_exception(raw: Any, tmp_path_factory: Any) -> None:
    check_findings(assess(raw, date(2026, 11, 30), tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize("cloud", ["aws", "azure"])
@pytest.mark.parametrize("secret", [SECRET, PRIVATE_KEY], ids=["password", "private key"])
def test_a_long_text_in_the_wrong_place_is_never_repeated(cloud: str, secret: str, assessed: Assessed) -> None:
    for place in PLACES[cloud]:
        for value in (secret, [secret], {"x": secret}):
            said = [f"{f.message} {f.fix}" for f in assessed(cloud, {place: value}).findings]
            assert not any("hunter2" in text for text in said), (place, said)


@pytest.mark.parametrize("cloud", ["aws", "azure"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"nodes.count": 0, "nodes.purchse": "x"},
        {"network.cidr": "10.0.0.0/28"},
        {"tags": {"team": "a", "Team": "b", "TEAM": "c"}},
    ],
)
def test_the_order_of_keys_does_not_matter(
    cloud: str, changes: dict[str, Any], assessed: Assessed, spec_of: Any
) -> None:
    raw = spec_of(cloud, changes)
    shuffle = random.Random(4)
    for _ in range(5):
        assert assessed(_shuffled(raw, shuffle)) == assessed(raw)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(raw=st.sampled_from(["aws", "azure"]).flatmap(lambda cloud: whole_specs(cloud, TODAY)), seed=st.integers(0, 99))
def test_the_order_of_keys_does_not_matter_in_any_spec(raw: dict[str, Any], seed: int, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert assess(_shuffled(raw, random.Random(seed)), TODAY, folder) == assess(raw, TODAY, folder)


def _shuffled(value: Any, shuffle: random.Random) -> Any:
    if not isinstance(value, dict):
        return value
    items = [(key, _shuffled(inner, shuffle)) for key, inner in value.items()]
    shuffle.shuffle(items)
    return dict(items)


def test_a_thousand_times_the_nodes_are_judged_by_the_same_steps(assessed: Assessed) -> None:
    changes = {"nodes.start": "elastic", "storage.filesystem": None}
    small, large = (assessed("aws", {**changes, "nodes.count": count}) for count in (10, 10_000))
    assert {f.rule for f in small.findings} == {f.rule for f in large.findings} == {"elastic-start"}


@pytest.mark.parametrize("count", [2**32, 10**9])
def test_a_count_beyond_all_networks_is_refused_in_plain_words(count: int, assessed: Assessed) -> None:
    found = {f.rule: f for f in assessed("aws", {"nodes.count": count, "nodes.interfaces": "efa"}).findings}
    assert "take fewer nodes" in found["network-too-small"].fix
