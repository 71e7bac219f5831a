"""Where findings stand in a stack file, the lines that show them, and what is never shown of a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planning.findings import Finding, Level, render, unpainted
from planning.frames import Frames
from planning.stackfile import read_stack
from tests.planning.test_stackfile import WORDS

HEAD = "config:\n  gpu-clusters:cluster:\n"
FramesOf = Callable[[str | bytes], Frames]


@pytest.fixture
def frames(tmp_path: Path) -> FramesOf:
    def read(text: str | bytes) -> Frames:
        path = tmp_path / "Pulumi.a.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return Frames(read_stack(path), "a.yaml")

    return read


def about(path: str, level: Level = "error") -> Finding:
    return Finding(path, "some-rule", level, "message", "fix")


# Where


PLACES = [
    ("a field", "    zone: x\n", "zone", (3, 5)),
    ("a field that is missing", "    nodes:\n      type: x\n", "nodes.count", (3, 5)),
    ("a field that is missing with all around it", "    zone: x\n", "storage.filesystem.capacity", (2, 3)),
    ("an entry of a list", "    access:\n      ssh_from: [x,\n        y]\n", "access.ssh_from.1", (5, 9)),
    ("an entry that is missing", "    access:\n      ssh_from: [x]\n", "access.ssh_from.7", (4, 7)),
    ("a key with dots", "    tags: {a.b: x}\n", "tags.a.b", (3, 12)),
    ("a config key", "    zone: x\n  aws:region: x\n", "aws:region", (4, 3)),
    ("the whole spec", "    zone: x\n", "", (2, 3)),
    ("what an alias brings", "    nodes: &n {count: 1}\n    tags: *n\n", "tags.count", (3, 16)),
    ("an alias itself", "    zone: &z x\n    region: *z\n", "region", (4, 5)),
    ("what a merge brings", "    tags: &t {a: x}\n    waive: {<<: *t, b: x}\n", "waive.a", (3, 15)),
]


@pytest.mark.parametrize(("text", "path", "place"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_a_finding_is_at_its_field_or_at_the_nearest_one_around_it(
    frames: FramesOf, text: str, path: str, place: tuple[int, int]
) -> None:
    assert frames(HEAD + text).place(about(path)) == place


WHOLE_FILES = [
    ("config without a cluster", "# a\nconfig:\n  a: 1\n", (2, 1)),
    ("a cluster under another name", "config:\n  gpu-clusters:clustr: {}\n", (2, 3)),
    ("config under another name", "# a\nconfgi: {}\n", (2, 1)),
    ("nothing", "", (1, 1)),
    ("a comment", "# a\n", (1, 1)),
    ("a key beside config", f"{HEAD}    name: a\nlifetime: 1\n", (4, 1)),
    ("a second document", f"{HEAD}    name: a\n---\n", (4, 1)),
    ("two clusters", "config:\n  cluster: {}\n  gpu-clusters:cluster: {}\n", (3, 3)),
    ("a tab", "config:\n\tcluster: {}\n", (2, 1)),
    ("an encrypted cluster", "config:\n  cluster:\n    secure: abc\n", (2, 3)),
]


@pytest.mark.parametrize(("text", "place"), [row[1:] for row in WHOLE_FILES], ids=[row[0] for row in WHOLE_FILES])
def test_a_finding_of_the_file_is_at_the_key_that_it_is_about(
    frames: FramesOf, text: str, place: tuple[int, int]
) -> None:
    shown = frames(text)
    assert place in [shown.place(finding) for finding in shown.stack.findings]


def test_a_file_that_cannot_be_had_has_no_places(tmp_path: Path) -> None:
    shown = Frames(read_stack(tmp_path / "no.yaml"), "no.yaml")
    assert [(shown.place(f), shown.frame(f)) for f in shown.stack.findings] == [(None, [])]


# How it is drawn


def test_a_frame_is_the_line_with_a_caret_under_the_field(frames: FramesOf) -> None:
    text = render([about("nodes.count")], frames(f"{HEAD}    nodes: {{type: x, count: 0}} # why\n").frame)
    assert text.splitlines() == [
        "error: nodes.count: message [some-rule]",
        "  --> a.yaml:3:22",
        "   3 |     nodes: {type: x, count: 0}",
        "     |                      ^^^^^",
        "  fix: fix",
    ]


def test_what_is_merely_said_has_its_place_and_no_line(frames: FramesOf) -> None:
    assert frames(f"{HEAD}    zone: x\n").frame(about("zone", "info")) == ["  --> a.yaml:3:5"]


DRAWN = [
    ("characters of two columns", "    nodes: {type: 日本, count: 0}\n", "nodes.count", "count"),
    ("characters of no column", "    nodes: {type: e\u0301, count: 0}\n", "nodes.count", "count"),
    ("a key in quotes", "    'zone': x\n", "zone", "'zone'"),
    ("an entry of a list", "    access:\n      ssh_from:\n        - 10.1/8 # a\n", "access.ssh_from.0", "10.1/8"),
    ("a tag", "    tags: {team: a, other: b}\n", "tags.team", "team"),
    ("Windows line ends", "    name: a\r\n    zone: x\r\n", "zone", "zone"),
    ("old Macintosh line ends", "    name: a\r    zone: x\r", "zone", "zone"),
    ("a line separator", "    tags: {a: 'x\u2028 y'}\n    zone: x\n", "zone", "zone"),
]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(("text", "path", "under"), [row[1:] for row in DRAWN], ids=[row[0] for row in DRAWN])
def test_the_caret_is_under_the_field(frames: FramesOf, text: str, path: str, under: str, encoding: str) -> None:
    from unicodedata import combining, east_asian_width

    _, line, caret = frames(f"{HEAD}{text}".encode(encoding)).frame(about(path))
    columns = [c for c in line if not combining(c) for _ in range(2 if east_asian_width(c) in "WF" else 1)]
    assert "".join(c for c, mark in zip(columns, caret, strict=False) if mark == "^") == under
    assert caret.count("^") == len(under)


def test_a_tab_is_seen_and_a_control_character_does_nothing(frames: FramesOf) -> None:
    shown = frames("config:\n\tcluster: {}\n")
    assert shown.frame(shown.stack.findings[0])[1:] == ["   2 | →cluster: …", "     | ^"]
    lost = "\N{REPLACEMENT CHARACTER}"
    assert render([about("a\x1b[31m\n::error::x")]).startswith(f"error: a{lost}[31m{lost}::error::x: message")


def test_of_a_long_line_the_part_around_the_caret_is_shown(frames: FramesOf) -> None:
    line = f"    nodes: {{image: {'x' * 55}, type: {'y' * 55}, count: 0, start: auto, placement: none}}"
    _, shown, caret = frames(f"{HEAD}{line}\n").frame(about("nodes.count"))
    assert shown.startswith("   3 | …pe: yyy")
    assert len(shown) == len("   3 | ") + 1 + 100
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "count"
    _, start, caret = frames(f"{HEAD}{line}\n").frame(about("nodes"))
    assert (start.startswith("   3 |     nodes: {"), start.endswith("y…"), caret) == (True, True, "     |     ^^^^^")


def test_level_frame_and_caret_are_painted_apart(frames: FramesOf) -> None:
    shown = frames(f"{HEAD}    zone: x\n")
    painted = Frames(shown.stack, "a.yaml", lambda what, text: f"<{what}>{text}</>")
    assert painted.frame(about("zone", "warning"))[2] == "<faint>     | </><warning>    ^^^^</>"
    assert unpainted("error", "x") == "x"


# What is never shown

S = "hunter2"
SECRETS = [
    ("under secure", f"    account: {{secure: {S}}}\n", "account"),
    ("under secure, among others", f"    tags: {{team: {{secure: {S}}}, name: a}}\n", "tags.team"),
    ("under a name that is no field", f"    password: {S}\n", "password"),
    ("under such a name, before a field", f"    nodes: {{password: {S}, count: 0}}\n", "nodes.count"),
    ("under such a name, with a field inside", f"    nodes: {{password: 'name: {S}', count: 0}}\n", "nodes.count"),
    ("in config of another program", f"  aws:secretKey: {S}\n", "aws:secretKey"),
    ("in a comment", f"    zone: x # {S}\n", "zone"),
    ("in a comment that looks like a field", f"    zone: x # name: {S}\n", "zone"),
    ("in a plain text with a blank line", f"    name: {S}\n\n      more\n", "name"),
    ("in a line of setup", f"    nodes: {{setup: [{S}]}}\n", "nodes.setup"),
    ("in an entry of setup", f"    nodes:\n      setup:\n        - {S}\n", "nodes.setup.0"),
    ("in place of a public key", f"    access: {{ssh_public_key: {S}}}\n", "access.ssh_public_key"),
    ("as a private key", f"    name: {S} PRIVATE KEY\n", "name"),
    ("in a long text", f"    name: {S}{'x' * 60}\n", "name"),
    ("in a text of several lines", f"    name: '{S}\n      more'\n", "name"),
    ("in a plain text of several lines", f"    name: {S}\n      more\n", "name"),
    ("in another tag", f"    tags: {{a: {S}, b: c}}\n", "tags.b"),
    ("in a list of several lines", f"    nodes:\n      setup: [a,\n        {S}]\n", "nodes.setup.1"),
    ("after the end of a text", f"    nodes: {{image: 'a\n      {S}', count: 0}}\n", "nodes.count"),
]


@pytest.mark.parametrize(("text", "path"), [row[1:] for row in SECRETS], ids=[row[0] for row in SECRETS])
def test_a_value_that_messages_would_not_show_is_not_in_the_frame(frames: FramesOf, text: str, path: str) -> None:
    shown = frames(HEAD + text)
    assert shown.stack.readable
    told = shown.frame(about(path))
    assert told[0].startswith("  --> a.yaml:")
    assert S not in "\n".join(told)


@pytest.mark.parametrize("value", [f"{S}", f"{{secure: {S}}}", f'\'{{"password": "{S}"}}\'', f"[{S}]"])
def test_a_cluster_that_is_no_mapping_is_not_shown(frames: FramesOf, value: str) -> None:
    told = frames(f"config:\n  cluster: {value}\n").frame(about(""))
    assert (len(told), S in "".join(told)) == (3, False)


@pytest.mark.parametrize("text", [f"config: {{password: {S}: a}}\n", f"encryptionsalt: {S}: a\n", f"{S}\na: b: c\n"])
def test_of_a_file_that_is_no_yaml_no_secret_is_shown(frames: FramesOf, text: str) -> None:
    shown = frames(text)
    assert not shown.stack.readable
    assert S not in render(shown.stack.findings, shown.frame)


@given(st.binary(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=40).map("".join).map(str.encode))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_makes_a_frame_fail(frames: FramesOf, data: bytes) -> None:
    shown = frames(data)
    for finding in (*shown.stack.findings, *map(about, shown.stack.positions)):
        place, drawn = shown.place(finding) or (0, 0), shown.frame(finding)
        assert place >= (1, 1)
        assert len(drawn) in (1, 3)
        assert all("\n" not in line for line in drawn)


KEYS = ("password", "token", "x", "setup", "ssh_public_key", "secure")
VALUES = (
    f"{S}",
    f"'{S}'",
    f'"{S}: name: {S}"',
    f"[{S}, {S}]",
    f"{{name: a, x: {S}}}",
    f"|\n      {S}",
    f"{S}\n      a",
)


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=4), st.booleans(), st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_shows_a_value_of_an_unknown_field_wherever_a_finding_points(
    frames: FramesOf, pairs: list[tuple[str, str]], flow: bool, data: st.DataObject
) -> None:
    if flow:
        text = f"{HEAD}    nodes: {{{', '.join(f'{k}: {v}' for k, v in pairs if '|' not in v)}, count: 0}}\n"
    else:
        text = HEAD + "".join(f"    {key}: {value}\n" for key, value in pairs)
    shown = frames(text)
    for path in (*shown.stack.positions, "nodes.count"):
        assert S not in "\n".join(shown.frame(about(path)))
    line = data.draw(st.integers(1, text.count("\n") + 2))
    place = line, data.draw(st.integers(1, 40))
    assert S not in "\n".join(shown.frame(Finding("", "schema", "error", "m", "f", place=place)))
