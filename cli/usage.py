"""What the commands about money ask of a run: its hours, its checkpoints, its data, its prices. Their flags, read."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from planning import catalog
from planning.cost import LIST, Prices, Usage
from planning.cost.pricebook import PriceFileError, read_prices
from planning.cost.usage import USUAL_INTERRUPTIONS, USUAL_INTERVAL
from planning.findings import near, shown
from planning.plan import Plan

_BYTES = {"GB": 10**9, "TB": 10**12, "PB": 10**15, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_HOURS = {"h": Decimal(1), "m": Decimal(1) / 60, "min": Decimal(1) / 60, "d": Decimal(24)}
_AMOUNT = re.compile(r"(?P<number>[0-9]{1,12}(?:\.[0-9]{1,6})?) ?(?P<unit>[A-Za-z]*)")
LONGEST = 10 * 8760
"""Hours of a run; more is a slip of the keyboard."""


def add_usage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hours", type=_hours, metavar="H", help="hours of one training run, such as 720 or 30d")
    parser.add_argument(
        "--checkpoint-size",
        type=size,
        metavar="SIZE",
        help="of one checkpoint, such as 988GB or 2TiB; default: what the stack says of it",
    )
    parser.add_argument(
        "--checkpoint-interval",
        type=_hours,
        metavar="TIME",
        default=USUAL_INTERVAL,
        help=f"between checkpoints, such as 90m or 2h; default: {USUAL_INTERVAL}h",
    )
    parser.add_argument("--dataset-size", type=size, metavar="SIZE", help="of the data, such as 6TB")
    parser.add_argument("--dataset-region", type=_region, metavar="REGION", help="where the data are now")
    parser.add_argument("--egress", type=size, metavar="SIZE", help="what leaves to the internet in a month")
    parser.add_argument(
        "--interruptions",
        type=_share,
        metavar="PERCENT",
        default=USUAL_INTERRUPTIONS,
        help=f"spot nodes that are taken back in a month; default: {USUAL_INTERRUPTIONS}",
    )
    add_prices(parser)


def add_prices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prices", type=_prices, metavar="FILE", default=LIST, help="TOML of prices of your own")


def usage_of(arguments: argparse.Namespace) -> Usage:
    """As the flags say, for any stack."""
    return Usage(
        hours=arguments.hours,
        checkpoint=arguments.checkpoint_size,
        interval=arguments.checkpoint_interval,
        dataset=arguments.dataset_size,
        dataset_region=arguments.dataset_region,
        egress=arguments.egress,
        interruptions=arguments.interruptions,
    )


def with_stack(usage: Usage, plan: Plan) -> Usage:
    """With the size of a checkpoint that the stack tells, where no flag does."""
    gib = plan.objects.checkpoint_gib
    return replace(usage, checkpoint=gib * 2**30) if usage.checkpoint is None and gib else usage


def size(text: str) -> int:
    """Bytes. Unlike sizes in a stack file, decimal units are taken, too: data are mostly told in them."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or found["unit"] not in _BYTES:
        close = near(found["unit"], list(_BYTES)) if found and found["unit"] else []
        meant = f"did you mean {text.strip()[: -len(found['unit'])]}{close[0]}?" if found and close else ""
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a size; {meant or 'write a number with GB, TB, GiB or TiB, such as 988GB'}"
        )
    return int(Decimal(found["number"]) * _BYTES[found["unit"]])


def _hours(text: str) -> Decimal:
    found = _AMOUNT.fullmatch(text.strip())
    unit = found["unit"] or "h" if found else ""
    if found is None or unit not in _HOURS:
        raise argparse.ArgumentTypeError(f"{shown(text)} is no time; write hours, such as 720, 90m or 30d")
    hours = Decimal(found["number"]) * _HOURS[unit]
    if not Decimal("0.01") <= hours <= LONGEST:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not between a minute and {LONGEST:,} hours")
    return hours


def _share(text: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,3})?|100", text.strip()):
        raise argparse.ArgumentTypeError(f"{shown(text)} is no share; write per cent from 0 to 100, such as 20")
    return Decimal(text.strip())


def _region(text: str) -> str:
    known = [*catalog.regions("aws"), *catalog.regions("azure")]
    if text not in known and (close := near(text, known)):
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is no region that is known; did you mean {' or '.join(close)}?"
        )
    return text


def _prices(text: str) -> Prices:
    try:
        return read_prices(Path(text), datetime.now(UTC).date())
    except PriceFileError as faults:
        raise argparse.ArgumentTypeError(str(faults)) from None
