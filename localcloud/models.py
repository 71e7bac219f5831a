"""What a service's own model says of one value: its words, its range, its length, its pattern.

Whose models they are, and what a cloud answers: `aws.requests`, `azure.models`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal

from localcloud.values import UNKNOWN

Limits = Mapping[str, Any]
"""Of one value: `enum`, `min`, `max`, `pattern`, where the model has them; `min` and `max` count what has a length."""
LIMITS = ("enum", "min", "max", "pattern")
_ALL_WORDS = 20
_CLASSES = ((r"\p{L}", r"\w"), (r"\p{N}", r"\w"), (r"\p{Z}", r"\s"))
"""Of characters: as the models write them, and what of Python comes nearest without refusing more."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One limit that a value is outside of."""

    path: str
    value: Any
    what: Literal["word", "range", "length", "pattern"]
    limits: Limits

    @property
    def bounds(self) -> str:
        """As in `between 1 and 64`."""
        least, most = self.limits.get("min"), self.limits.get("max")
        if least is None:
            return f"at most {most}"
        return f"at least {least}" if most is None else f"between {least} and {most}"

    @property
    def words(self) -> list[str]:
        """Those that could be meant: all, of many the nearest."""
        known = self.limits["enum"]
        return known if len(known) <= _ALL_WORDS else get_close_matches(str(self.value), known, n=3, cutoff=0)


def breach(path: str, value: Any, limits: Limits, *, exact: bool = True) -> Breach | None:
    """What is wrong with a value, if anything. Not exact: the service takes its words in any case and with blanks."""
    if value in (None, "", []) or isinstance(value, bool) or (isinstance(value, str) and UNKNOWN in value):
        return None  # what is empty is not sent
    if isinstance(value, int | float):
        return None if _within(value, limits) else Breach(path, value, "range", limits)
    if isinstance(value, str) and "enum" in limits:
        return None if _is_among(value, limits["enum"], exact) else Breach(path, value, "word", limits)
    if isinstance(value, str | list) and not _within(len(value), limits):
        return Breach(path, value, "length", limits)
    if isinstance(value, str) and not _matches(limits.get("pattern"), value):
        return Breach(path, value, "pattern", limits)
    return None


def is_readable(pattern: str) -> bool:
    """Whether a pattern, which is written for another language, means something to Python."""
    return _compiled(pattern) is not None


def _within(number: float, limits: Limits) -> bool:
    least, most = limits.get("min"), limits.get("max")
    return (least is None or number >= least) and (most is None or number <= most)


def _is_among(value: str, words: Iterable[str], exact: bool) -> bool:
    return value in words if exact else _plain(value) in {_plain(word) for word in words}


def _plain(word: str) -> str:
    """Azure's services, too, write `SystemAssigned, UserAssigned` with the blank and without."""
    return word.replace(" ", "").casefold()


def _matches(pattern: str | None, value: str) -> bool:
    compiled = _compiled(pattern) if pattern else None
    return compiled is None or compiled.fullmatch(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    for foreign, ours in _CLASSES:
        pattern = pattern.replace(foreign, ours)
    try:
        return re.compile(pattern)
    except re.error:
        return None
