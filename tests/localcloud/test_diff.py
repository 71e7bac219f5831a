"""Differences between inputs, path by path. What they mean for a type: the clouds' tests."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.diff import covers, differences, replacing


def _equal(_path: str, old: Any, new: Any) -> bool:
    return old == new


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": "update"}),
        ({"a": 1}, {}, {"a": "delete"}),
        ({}, {"a": False}, {"a": "add"}),
        ({"a": None}, {}, {}),
        ({"sku": {"capacity": 16}}, {"sku": {"capacity": 12}}, {"sku.capacity": "update"}),
        ({"l": [{"x": 1}]}, {"l": [{"x": 1}, {"x": 2}]}, {"l[1]": "add"}),
        ({"l": [{"x": 1}, {"x": 2}]}, {"l": [{"x": 3}]}, {"l[0].x": "update", "l[1]": "delete"}),
        ({"tags": {"my.key": "a"}}, {"tags": {"my.key": "b"}}, {'tags["my.key"]': "update"}),
        ({"a": [1]}, {"a": "1"}, {"a": "update"}),
        ({"__defaults": ["a"]}, {"__defaults": ["b"]}, {}),
    ],
)
def test_each_difference_has_its_path(old: dict[str, Any], new: dict[str, Any], expected: dict[str, str]):
    assert dict(differences(old, new, _equal)) == expected


def test_a_difference_that_the_cloud_does_not_see_is_none():
    folded = lambda _path, old, new: str(old).casefold() == str(new).casefold()  # noqa: E731
    assert dict(differences({"location": "EastUS"}, {"location": "eastus"}, folded)) == {}


def test_a_pattern_covers_what_lies_in_it_and_ignores_indices():
    assert covers("rootBlockDevice", "rootBlockDevice.encrypted")
    assert covers("interfaces.subnet", "interfaces[3].subnet")
    assert not covers("name", "namePrefix")
    assert replacing(["a.b", "c"], ["a"]) == {"a.b"}


def test_an_object_that_comes_or_goes_as_a_whole_replaces_where_it_holds_what_cannot_change():
    disk = {"rootBlockDevice": {"encrypted": True}}
    assert replacing(["rootBlockDevice"], ["rootBlockDevice.encrypted"], {}, disk) == {"rootBlockDevice"}
    assert replacing(["rootBlockDevice"], ["rootBlockDevice.encrypted"], disk, {}) == {"rootBlockDevice"}
    assert replacing(["rootBlockDevice"], ["rootBlockDevice.encrypted"], {}, {"rootBlockDevice": {"size": 1}}) == set()
