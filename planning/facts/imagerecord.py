"""The file `images.toml` beside a stack file: which AMI each image was, when somebody last asked AWS.

It is the user's own and tracked, so that an image changes only with a commit. `gpu-clusters images --update` writes it;
here it is read and rendered. What a stack takes from it: `planning.facts.image`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

FILE = "images.toml"
MOST_BYTES = 1 << 20
LONGEST_PLACE = 200
"""Of an entry that a message names. Whatever else the file holds is never repeated: it may be a secret."""
HEAD = """\
# The machine images of the stacks beside this file, as `gpu-clusters images --update` found them at AWS.
# Keep it under version control: nodes are made from these until it changes.
"""
Printable = Annotated[str, Field(pattern=r"^[ -~]+$")]


class ImageRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True, hide_input_in_errors=True)

    id: Annotated[str, Field(pattern=r"^ami-[0-9a-f]{8,17}$")]
    name: Printable
    arch: Literal["x86_64", "arm64"]
    root_device: Printable
    """The name of the root disk in its block device mapping."""
    root_gib: Annotated[int, Field(ge=1)]
    deprecated: date | None = None
    """The day from which its owner advises against it."""
    recorded: date
    """When AWS was last asked, and gave this id."""


Records = dict[str, dict[str, ImageRecord]]
"""By region, and there by the SSM parameter or the AMI id that a spec or the catalogue names."""


class DamagedRecordError(Exception):
    """The file is there and can not be used: it is never taken for an empty one."""


def read_records(folder: Path) -> Records:
    """Empty where there is no file."""
    try:
        with (folder / FILE).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise DamagedRecordError(getattr(problem, "strerror", None) or str(problem)) from None
    if len(data) > MOST_BYTES:
        raise DamagedRecordError(f"it is larger than {MOST_BYTES >> 20} MiB")
    try:
        return _adapter().validate_python(tomllib.loads(data.decode("utf-8-sig")))
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        known = where.isprintable() and len(where) <= LONGEST_PLACE
        raise DamagedRecordError(f"{where if known else 'an entry'}: {first['msg'].lower()}") from None
    except UnicodeDecodeError:
        raise DamagedRecordError("it is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        place = re.search(r"\(at [^()]*\)$", str(problem))
        raise DamagedRecordError(f"it is no TOML {place[0] if place else ''}".rstrip()) from None


@cache
def _adapter() -> TypeAdapter[Records]:
    return TypeAdapter(dict[Printable, dict[Printable, ImageRecord]])


def render(records: Mapping[str, Mapping[str, ImageRecord]]) -> str:
    """The file's text: regions, images and fields always in the same order."""
    tables = [
        "\n".join([f"[{_key(region)}.{_key(asked)}]", *(f"{k} = {_toml(v)}" for k, v in _fields(record).items())])
        for region, images in sorted(records.items())
        for asked, record in sorted(images.items())
    ]
    return "\n\n".join([HEAD.rstrip(), *tables]) + "\n"


def _fields(record: ImageRecord) -> dict[str, object]:
    return record.model_dump(exclude_none=True)


def _key(text: str) -> str:
    return text if re.fullmatch(r"[\w-]+", text) else json.dumps(text)


def _toml(value: object) -> str:
    """Texts are printable ASCII, of which JSON and TOML have the same notation."""
    return value.isoformat() if isinstance(value, date) else json.dumps(value)
