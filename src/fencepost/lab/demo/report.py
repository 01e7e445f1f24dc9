"""The demonstration as one HTML page that needs nothing else: the verdict, the pictures, the story in words."""

from collections.abc import Mapping, Sequence
from html import escape

from fencepost.lab.demo.judgement import Judgement
from fencepost.lab.demo.pictures import curves_picture, lanes_picture
from fencepost.lab.demo.timeline import Timeline

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --paper: #ffffff; --soft: #5d6b7a; --line: #dde3ea;
  --good: #1b8a5a; --bad: #c7372f; --up: #b9c7d6; --first: #4a6fa5; --second: #1b8a5a; --third: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --paper: #14191f; --soft: #93a1b0; --line: #2b343e;
  --good: #3fbf86; --bad: #ef6a61; --up: #3d4b5a; --first: #7ea6df; --second: #3fbf86; --third: #f0a04f; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.verdict { font-size: 1.1rem; color: var(--good); font-weight: 600; } .verdict.broken { color: var(--bad); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .7rem; border-bottom: 1px solid var(--line); }
th { text-align: left; color: var(--soft); font-weight: 600; } td.number, th.number { text-align: right; }
td.wrong { color: var(--bad); font-weight: 700; } td.at { color: var(--soft); white-space: nowrap; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); } svg .grid { stroke: var(--line); fill: none; }
svg .up { fill: var(--up); } svg .committed { fill: var(--good); } svg .aborted { fill: var(--bad); opacity: .75; }
svg .kill path { stroke: var(--bad); stroke-width: 3; fill: none; }
svg .kill-name { fill: var(--bad); font-weight: 700; }
svg .curve { fill: none; stroke-width: 2; } svg .curve-0 { stroke: var(--first); }
svg .curve-1 { stroke: var(--second); }
svg .curve-2 { stroke: var(--third); stroke-dasharray: 5 3; }
code { font-size: .95em; } .key { display: inline-block; width: .9em; height: .9em; border-radius: 2px; }
"""
COLUMNS = ("purchases", "invoices", "shipments", "duplicates", "lost", "torn")
FAULTS = ("duplicates", "lost", "torn")


def report_page(timeline: Timeline, judgements: Mapping[str, Judgement], next_commands: Sequence[str]) -> str:
    ours = next(iter(judgements.values()))
    verdict = "exactly once" if ours.is_exactly_once else "NOT exactly once"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Fencepost: {verdict}</title><style>{STYLE}</style></head><body>
<h1>A shop that was killed, and what arrived</h1>
<p class="verdict{"" if ours.is_exactly_once else " broken"}">Fencepost's pipeline: {verdict}.</p>
{_table(judgements)}
<h2>Processes, transactions, kills</h2>
{lanes_picture(timeline)}
<p><span class="key" style="background: var(--good)"></span> committed transaction
&nbsp; <span class="key" style="background: var(--bad)"></span> aborted transaction: its records are in the log, and no
<code>read_committed</code> reader ever sees them. The bars are read from the log itself: from the first batch of a
transaction to its marker.</p>
<h2>Records</h2>
{curves_picture(timeline)}
<h2>What happened</h2>
<table>{_story(timeline)}</table>
<h2>Try next</h2>
{"".join(f"<p><code>{escape(command)}</code></p>" for command in next_commands)}
</body></html>
"""


def _story(timeline: Timeline) -> str:
    return "".join(f'<tr><td class="at">{at_s:.1f} s</td><td>{escape(text)}</td></tr>' for at_s, text in timeline.words)


def _table(judgements: Mapping[str, Judgement]) -> str:
    heads = "".join(f'<th class="number">{column}</th>' for column in COLUMNS)
    rows = "".join(f"<tr><td>{escape(name)}</td>{_cells(judgement)}</tr>" for name, judgement in judgements.items())
    return f"<table><tr><th>pipeline</th>{heads}</tr>{rows}</table>"


def _cells(judgement: Judgement) -> str:
    cells = []
    for column in COLUMNS:
        count = getattr(judgement, column)
        wrong = " wrong" if column in FAULTS and count else ""
        cells.append(f'<td class="number{wrong}">{count:,}</td>')
    return "".join(cells)
