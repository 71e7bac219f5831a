"""No spec that `check` accepts is refused by the local cloud: a few whole specs here, thousands in `make prove`."""

from __future__ import annotations

import pytest

from tests.agreement import prove
from tests.agreement.fields import fields
from tests.agreement.specs import table_of

SPECS, SEED = 30, 5
LEAST_ACCEPTED = 5
"""Of so few; the share that is wanted of many: `prove`."""


@pytest.mark.parametrize("cloud", prove.CLOUDS)
def test_every_field_of_the_models_has_values_to_draw(cloud: str) -> None:
    assert table_of(cloud).keys() == fields(cloud).keys()


@pytest.mark.parametrize("cloud", prove.CLOUDS)
def test_what_is_never_accepted_is_a_field(cloud: str) -> None:
    assert prove.NEVER_ACCEPTED[cloud] <= fields(cloud).keys()


@pytest.mark.parametrize("cloud", prove.CLOUDS)
def test_no_accepted_spec_is_refused_by_the_local_cloud(cloud: str) -> None:
    done = prove.tally(cloud, SPECS, SEED)
    assert done.refused == {}
    assert done.accepted >= LEAST_ACCEPTED
