"""The file of recorded images: what is written is read again, and a damaged one is told without repeating it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planning.facts.imagerecord import FILE, DamagedRecordError, ImageRecord, read_records, render

GOOD = "[us-east-1.\"/x\"]\nid = 'ami-0123456789abcdef0'\nname = 'n'\narch = 'arm64'\nroot_device = '/dev/sda1'\n"
printable = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1)
records = st.builds(
    ImageRecord,
    id=st.from_regex(r"ami-[0-9a-f]{8,17}", fullmatch=True),
    name=printable,
    arch=st.sampled_from(["x86_64", "arm64"]),
    root_device=printable,
    root_gib=st.integers(1, 65536),
    deprecated=st.none() | st.dates(date(2000, 1, 1)),
    recorded=st.dates(date(2000, 1, 1)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(held=st.dictionaries(printable, st.dictionaries(printable, records, min_size=1), max_size=3))
def test_what_is_written_is_read_again_whatever_it_is_called(held: Any, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(render(held))
    assert read_records(tmp_path) == held
    assert render(read_records(tmp_path)) == render(held)


def test_no_file_is_an_empty_record_and_an_unreadable_one_is_not(tmp_path: Path) -> None:
    assert read_records(tmp_path) == {}
    (tmp_path / FILE).mkdir()
    with pytest.raises(DamagedRecordError):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<<<<<<< HEAD", r"no TOML \(at line 1"),
        ("a = " + "[" * 10_000, "no TOML"),
        ("us-east-1 = 'hunter2'", "us-east-1: input should be a valid dictionary"),
        (GOOD, "us-east-1./x.root_gib: field required"),
        (f"{GOOD}root_gib = true\nrecorded = 2026-11-30", "root_gib"),
        (f"{GOOD}root_gib = 0\nrecorded = 2026-11-30", "root_gib"),
        (f"{GOOD}root_gib = 75\nrecorded = 2026-11-30T00:00:00", "recorded"),
        (f"{GOOD}root_gib = 75\nrecorded = '2026-11-30'", "recorded"),
        (f"{GOOD}root_gib = 75\nrecorded = 2026-11-30\nowner = 'hunter2'", "owner"),
        (GOOD.replace("ami-0123456789abcdef0", "ami-hunter2"), "us-east-1./x.id"),
        (f'["{"hunter2" * 50}".x]\nid = 1', "an entry"),
        ('["hunter2\\n".x]\nid = 1', "an entry"),
        ("\ufeffx = 1 # " + "x" * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_a_damaged_record_is_told_by_its_place_and_never_repeated(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(DamagedRecordError, match=says) as told:
        read_records(tmp_path)
    assert "hunter2" not in str(told.value)


def test_a_record_in_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(DamagedRecordError, match="not UTF-8"):
        read_records(tmp_path)
