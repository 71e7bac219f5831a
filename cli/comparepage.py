"""The page of a comparison: one HTML file with its own style and charts, and nothing from elsewhere."""

from __future__ import annotations

from decimal import Decimal
from html import escape
from string import Template
from typing import TYPE_CHECKING

from planning.cost.lines import KINDS, Kind

if TYPE_CHECKING:
    from cli.compare import Column, Comparison

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root { --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --band: #f6f8fa;
  --nodes: #0b5cad; --filesystem: #b35900; --objects: #1a7f37; --network: #8250df; --logs: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --paper: #0d1117;
  --band: #151b23; --nodes: #58a6ff; --filesystem: #f0883e; --objects: #3fb950; --network: #bc8cff; --logs: #8b949e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p.lead, figcaption, li { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .45rem .7rem; border-bottom: 1px solid var(--line); }
thead th { background: var(--band); }
tbody th { font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.total th, tr.total td { font-weight: 700; border-top: 2px solid var(--ink); }
figure { margin: 1rem 0; }
figure p { margin: .4rem 0 .15rem; }
h3 { font-size: 1rem; margin: 1rem 0 0; }
svg { width: 100%; height: 1.6rem; display: block; }
figcaption { margin-top: .4rem; }
figcaption .key:first-child { margin-left: 0; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .35em 0 .9em; }
$colours
@media print { body { max-width: none; padding: 0; font-size: 11pt; } h2, figure, tr { break-inside: avoid; }
  h2 { break-after: avoid; } .scroll { overflow: visible; } * { print-color-adjust: exact; } }
@media (max-width: 36rem) { body { padding: 1rem .75rem; } th, td { padding: .4rem .45rem; }
  tbody th { white-space: normal; } }
</style>
</head>
<body>
<h1>$title</h1>
<p class="lead">US dollars for $horizon. List prices unless it is said otherwise; each is dated below.</p>
$charts
<h2>The money</h2>
<div class="scroll"><table><thead><tr><td></td>$heads</tr></thead><tbody>$money</tbody></table></div>
<h2>What differs beside it</h2>
<div class="scroll"><table><thead><tr><td></td>$plain_heads</tr></thead><tbody>$differs</tbody></table></div>
$refusals
$details
<h2>Assumed</h2>
<ul>$assumed</ul>
</body>
</html>
""")


def page(found: Comparison) -> str:
    from cli.compare import assumptions, differing, rows

    titles = [column.title for column in found.columns]
    plain_heads = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    return PAGE.substitute(
        title=escape(" beside ".join(titles)),
        horizon=escape(found.horizon),
        colours="\n".join(f".{kind} {{ background: var(--{kind}); fill: var(--{kind}); }}" for kind in KINDS),
        charts=_charts(found),
        heads=plain_heads.replace("<th ", '<th class="n" '),
        plain_heads=plain_heads,
        money="".join(_row(name, cells, numbers=True) for name, cells in rows(found)),
        differs="".join(_row(name, cells) for name, cells in differing(found)),
        refusals="".join(
            f"<h2>No answer on {escape(cloud)}</h2><p>{escape(why)}</p>" for cloud, why in found.refusals.items()
        ),
        details="".join(_details(column) for column in found.columns),
        assumed="".join(f"<li>{escape(text)}</li>" for text in assumptions(found)),
    )


def _row(name: str, cells: list[str], *, numbers: bool = False) -> str:
    attribute = ' class="n"' if numbers else ""
    total = ' class="total"' if name == "total" else ""
    inner = "".join(f"<td{attribute}>{escape(cell)}</td>" for cell in cells)
    return f'<tr{total}><th scope="row">{escape(name)}</th>{inner}</tr>'


def _charts(found: Comparison) -> str:
    """What the totals are made of; and the same without nodes, beside which the rest is hard to see."""
    rest = tuple(kind for kind in KINDS if kind != "nodes")
    return _chart(found, "all of it", KINDS) + _chart(found, "without nodes", rest)


def _chart(found: Comparison, title: str, kinds: tuple[Kind, ...]) -> str:
    """A bar for each cluster; the longest fills the width."""
    sums = [sum((column.cost.sum_of(kind) or Decimal(0) for kind in kinds), Decimal(0)) for column in found.columns]
    most = max(sums)
    if not most:
        return ""
    bars = "".join(_bar(column, amount, most, kinds) for column, amount in zip(found.columns, sums, strict=True))
    told = {line.kind for column in found.columns for line in column.cost.lines}
    legend = "".join(f'<span class="key {kind}"></span>{kind}' for kind in kinds if kind in told)
    return f"<figure><h3>{title}</h3>{bars}<figcaption>{legend}</figcaption></figure>"


def _bar(column: Column, amount: Decimal, most: Decimal, kinds: tuple[Kind, ...]) -> str:
    parts, left = [], Decimal(0)
    for kind in kinds:
        width = (column.cost.sum_of(kind) or Decimal(0)) / most * 100
        if width:
            parts.append(f'<rect class="{kind}" x="{left:.3f}" y="0" width="{width:.3f}" height="1"></rect>')
        left += width
    said = escape(f"{column.title}: {amount:,.0f} USD")
    return (
        f"<p>{said}</p>"
        f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="{said}">{"".join(parts)}</svg>'
    )


def _details(column: Column) -> str:
    hours = column.cost.hours
    heads = ["USD an hour", "USD a month"] + (["USD of the run"] if hours else [])
    lines = []
    for line in column.cost.lines:
        amounts = [line.usd_per_hour, line.usd_per_month] + ([line.usd_in(hours)] if hours else [])
        unknown = "unknown" if line.unit_price is None else "once"
        cells = "".join(f'<td class="n">{unknown if a is None else f"{a:,}"}</td>' for a in amounts)
        price = f"{line.unit_price:f} of {line.price_date}, {line.source}" if line.unit_price is not None else "unknown"
        quantity = f"{round(line.quantity, 3).normalize():,f} {line.unit}"
        lines.append(
            f'<tr><th scope="row">{escape(line.item)}</th>{cells}<td>{escape(quantity)}</td>'
            f"<td>{escape(price)}{escape('; ' + line.note if line.note else '')}</td></tr>"
        )
    head = "".join(f'<th scope="col" class="n">{name}</th>' for name in heads)
    return (
        f"<h2>{escape(column.title)}, line by line</h2>"
        f'<div class="scroll"><table><thead><tr><td></td>{head}<th scope="col">quantity</th>'
        f'<th scope="col">price</th></tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )
