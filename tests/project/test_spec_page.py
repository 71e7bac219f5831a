"""docs/spec.md tells every field of the spec and every output of a cluster, with the defaults that hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

from components.cluster import OUTPUTS
from planning.spec import AwsSpec, AzureSpec, Part

PAGE = (Path(__file__).resolve().parents[2] / "docs/spec.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]*) \|", PAGE, re.MULTILINE))


def fields(model: type[Part], above: str = "") -> Iterator[tuple[str, object, object]]:
    """Each field below a model: its path, its annotation and its default."""
    for name, field in model.model_fields.items():
        path = f"{above}.{name}" if above else name
        yield path, field.annotation, field.default
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, Part):
                yield from fields(part, path)


FIELDS = {path: (annotation, default) for model in (AwsSpec, AzureSpec) for path, annotation, default in fields(model)}
WORDS = [path for path, (annotation, _) in FIELDS.items() if get_origin(annotation) is Literal and path in ROWS]


@pytest.mark.parametrize("path", FIELDS)
def test_a_field_is_told_in_a_row_of_its_own_or_of_the_part_that_it_is_in(path: str) -> None:
    above, _, name = path.rpartition(".")
    told = path in ROWS or any(row.startswith(f"{path}.") for row in ROWS)
    [row] = re.findall(rf"^\| `{re.escape(above)}` \|.*$", PAGE, re.MULTILINE) or [""]
    assert told or re.search(rf"\b{name}\b", row)


@pytest.mark.parametrize("path", [path for path in WORDS if path != "cloud"])
def test_the_first_word_that_is_told_is_the_default(path: str) -> None:
    assert re.findall(r"`([\w-]+)`", ROWS[path])[0] == FIELDS[path][1]


def test_the_outputs_are_those_of_a_cluster() -> None:
    section = PAGE.partition("## What a cluster gives back")[2]
    assert tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == OUTPUTS
