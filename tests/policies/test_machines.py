"""What the pack concludes from the name of an instance type or a size, known to the catalogue or not."""

from __future__ import annotations

import pytest

from planning.catalog import node_types
from policies.machines import accelerated, has_infiniband, single_placement_group


@pytest.mark.parametrize("name", node_types())
def test_every_node_type_of_the_catalogue_counts_as_accelerated_by_its_name_alone(name: str) -> None:
    assert accelerated(name)


@pytest.mark.parametrize(
    "name", ["g4dn.xlarge", "gr6.4xlarge", "p9.48xlarge", "inf2.xlarge", "Standard_NV36ads_A10_v5", "STANDARD_NC6S_V3"]
)
def test_types_outside_the_catalogue_are_known_by_their_family(name: str) -> None:
    assert accelerated(name)


@pytest.mark.parametrize("name", ["m7i.large", "c7gn.16xlarge", "i4i.large", "hpc7a.96xlarge", "Standard_D2s_v5"])
def test_types_without_accelerators_are_left_alone(name: str) -> None:
    assert not accelerated(name)


@pytest.mark.parametrize(
    ("size", "infiniband", "single"),
    [
        ("Standard_ND96isr_H100_v5", True, True),
        ("standard_nd96isr_h100_v5", True, True),
        ("Standard_ND96is_H100_v5", False, False),
        ("Standard_ND128isr_NDR_GB200_v6", True, False),
        ("Standard_ND999isr_GB900_v9", True, False),
        ("Standard_HB176rs_v4", True, True),
        ("Standard_D8s_v5", False, True),
    ],
)
def test_infiniband_and_its_placement_are_read_from_the_catalogue_or_else_from_the_letters(
    size: str, infiniband: bool, single: bool
) -> None:
    assert has_infiniband(size) is infiniband
    assert single_placement_group(size) is single
