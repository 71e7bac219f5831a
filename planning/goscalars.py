"""Single YAML scalars as Go's yaml.v3 types them, and as Pulumi then hands them on. Whole files: `planning.goyaml`.

Pulumi is written in Go, and its YAML reader follows neither YAML 1.1 (as PyYAML does) nor 1.2: `yes` is text, 012 is
ten, 22:22 is text, a date is a point in time. Sources: gopkg.in/yaml.v3 v3.0.1, Go's strconv and time, and Pulumi's
sdk/go/common/resource/config; tests/engine proves the table of spellings on the real engine.
"""

from __future__ import annotations

import base64
import calendar
import math
import re
from dataclasses import dataclass
from decimal import Decimal

STR, INT, FLOAT, BOOL, NULL = "!!str", "!!int", "!!float", "!!bool", "!!null"
TIME, BINARY, MERGE = "!!timestamp", "!!binary", "!!merge"
_TYPED = frozenset({STR, INT, FLOAT, BOOL, NULL, TIME})

_INT64_MAX, _UINT64_MAX = 2**63 - 1, 2**64 - 1
_WORDS: dict[str, tuple[str, object]] = {
    **dict.fromkeys(("true", "True", "TRUE"), (BOOL, True)),
    **dict.fromkeys(("false", "False", "FALSE"), (BOOL, False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), (NULL, None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (FLOAT, math.nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (FLOAT, math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (FLOAT, -math.inf)),
    "<<": (MERGE, "<<"),
}
_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_SIGN_AFTER_PREFIX = re.compile(r"0([bo])([+-])([0-7]+)")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BARE_FRACTION = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:[Tt]| +)([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]+))?(Z|([+-])([0-9]{2}):([0-9]{2}))?)?"
)


class ScalarError(ValueError):
    """A scalar that its tag does not allow; the text never quotes the value, which may be secret."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, in the words in which the program gets it."""

    text: str
    zoned: bool
    """Whether it names an offset from UTC: then the last word also depends on the time zone of the machine."""


def short_tag(tag: str) -> str:
    prefix = "tag:yaml.org,2002:"
    return "!!" + tag.removeprefix(prefix) if tag.startswith(prefix) else tag


def implied(text: str) -> tuple[str, object]:
    """Tag and value of a plain scalar that carries no tag."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        found = _float(text) if _BARE_FRACTION.fullmatch(text) else None
        return (STR, text) if found is None else (FLOAT, found)
    if text[0] not in "+-0123456789":
        return STR, text
    moment = _moment(text)
    return (TIME, moment) if moment else _number(text)


def tagged(tag: str, text: str) -> tuple[str, object]:
    """Tag and value of a scalar with an explicit tag; one that YAML does not know leaves plain text."""
    if tag == BINARY:
        return BINARY, _from_base64(text)
    if tag == STR or tag not in _TYPED:
        return tag, text
    got, value = implied(text)
    if got == TIME and tag != TIME:
        got, value = _number(text)
    if got == tag:
        return tag, value
    if tag == FLOAT and isinstance(value, int) and not isinstance(value, bool) and value <= _INT64_MAX:
        return tag, float(value)
    raise ScalarError(f"is tagged {tag} and cannot be read as one")


def as_text(value: object) -> str:
    """How Go prints a value, which is how Pulumi makes a key that is no text into text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "<nil>"
    if isinstance(value, float):
        return _float_text(value)
    return value.text if isinstance(value, Moment) else str(value)


def as_json(number: float) -> int | float:
    """The number that Python's json reads after Go's json wrote `number`: no fraction means an integer."""
    if isinstance(number, int) and number <= _INT64_MAX:
        return number
    number = float(number)
    if not math.isfinite(number):
        raise ScalarError("is no finite number, which JSON cannot carry")
    if abs(number) < 1e21 and number.is_integer():
        return int(Decimal(repr(number)))
    return number


def _number(text: str) -> tuple[str, object]:
    digits = text.replace("_", "")
    whole = _integer(digits)
    if whole is not None:
        return INT, whole
    found = _float(digits) if _DECIMAL.fullmatch(digits) else None
    if found is not None:
        return FLOAT, found
    odd = _SIGN_AFTER_PREFIX.fullmatch(digits)
    if odd and (odd[1] == "o" or not set(odd[3]) - {"0", "1"}):
        return INT, int(odd[2] + odd[3], 2 if odd[1] == "b" else 8)
    return STR, text


def _integer(digits: str) -> int | None:
    match = _INTEGER.fullmatch(digits)
    if not match:
        return None
    sign, *bodies = match.groups()
    body, base = next((b, n) for b, n in zip(bodies, (16, 2, 8, 10), strict=True) if b is not None)
    body = body.lstrip("0") or "0"
    if len(body) > 64:
        return None
    value = int(sign + body, base)
    largest = _INT64_MAX if sign else _UINT64_MAX
    return value if -(2**63) <= value <= largest else None


def _float(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits))
    power = exponent + len(shown) - 1
    if value == 0:
        return "0"
    if -4 <= power < 6:
        return format(Decimal((sign, digits, exponent)), "f")
    fraction = f".{shown[1:]}" if len(shown) > 1 else ""
    return f"{'-' if sign else ''}{shown[0]}{fraction}e{power:+03d}"


def _moment(text: str) -> Moment | None:
    match = _TIME.fullmatch(text)
    if not match:
        return None
    year, month, day = (int(match[n]) for n in (1, 2, 3))
    hour, minute, second = (int(match[n] or 0) for n in (4, 5, 6))
    between, zone = text[match.end(3) : match.end(3) + 1], match[8]
    if (between in ("T", "t")) != (zone is not None):
        return None
    if not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    if hour > 23 or minute > 59 or second > 59 or int(match[10] or 0) > 24 or int(match[11] or 0) > 60:
        return None
    fraction = (match[7] or "")[:9].rstrip("0")
    stamp = f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{'.' * bool(fraction)}{fraction}"
    offset = int(match[10] or 0) * 60 + int(match[11] or 0)
    if not offset:
        return Moment(f"{stamp} +0000 UTC", zoned=False)
    shown = f"{match[9]}{offset // 60:02}{offset % 60:02}"
    return Moment(f"{stamp} {shown} {shown}", zoned=True)


def _from_base64(text: str) -> str:
    packed = text.replace("\n", "").replace("\r", "")
    try:
        data = base64.b64decode(packed, validate=True) if len(packed) % 4 == 0 else None
    except ValueError:
        data = None
    if data is None:
        raise ScalarError("is tagged !!binary and is no base64")
    return re.sub("[\udc80-\udcff]", "\ufffd", data.decode("utf-8", "surrogateescape"))
