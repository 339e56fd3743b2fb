"""The HTML page of a report, and its charts; it reads well on a phone, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.metrics import number

STYLE = """
:root{color-scheme:light dark;--ink:#1b2330;--soft:#566172;--line:#d9dee6;--paper:#ffffff;--card:#f5f7fa;
--before:#a3afbf;--after:#1d6fb8;--good:#2b8a4b;--bad:#c2453c;--mark:#e09a2b}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#a9b4c2;--line:#36404e;--paper:#12171f;--card:#1b222d;
--before:#6d7b8d;--after:#5aa9ee;--good:#58bd7c;--bad:#ee7d74;--mark:#f0b95c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;
overflow-wrap:break-word}
main{max-width:900px;margin:0 auto;padding:24px 18px 60px;min-width:0}
h1{font-size:1.75rem;line-height:1.2;margin:.2em 0}
h2{font-size:1.3rem;margin:2.4em 0 .5em;padding-top:.7em;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:2em 0 .3em}
h4{font-size:.92rem;margin:1em 0 .3em;color:var(--soft);font-weight:600}
p,li{max-width:74ch}
a{color:var(--after)}
.lead,.facts{color:var(--soft);margin-top:0}
.facts{font-size:.93rem}
nav{font-size:.9rem;line-height:1.35;background:var(--paper)}
nav b{display:block}
nav a{display:block;padding:5px 0;color:var(--soft);text-decoration:none}
nav a:hover,nav a:focus{color:var(--after);text-decoration:underline}
section:focus{outline:none}
@media (min-width:1100px){body{display:grid;grid-template-columns:220px minmax(0,900px);justify-content:center;gap:24px}
nav{position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;padding:34px 0 20px 14px}
nav b{color:var(--ink);padding-bottom:6px}main{width:100%}}
@media (max-width:1099px){nav{position:sticky;top:0;z-index:1;border-bottom:1px solid var(--line);padding:0 18px}
nav b{padding:9px 0;color:var(--after);cursor:pointer}nav b::after{content:" \\25BE"}
nav div{display:none;padding-bottom:8px;max-height:70vh;overflow-y:auto}nav:focus-within div{display:block}
nav:focus{outline:none}nav:focus-visible b{text-decoration:underline}section{scroll-margin-top:34px}}
.verdict{border-left:5px solid var(--good);background:var(--card);padding:12px 16px;border-radius:4px}
.verdict ul{margin:.5em 0 0;padding-left:1.2em}
.verdict.no{border-color:var(--bad)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;margin:18px 0}
.figures div{background:var(--card);border-radius:8px;padding:12px 14px}
.figures b{display:block;font-size:1.45rem;line-height:1.2;font-variant-numeric:tabular-nums}
.figures span{color:var(--soft);font-size:.86rem;line-height:1.35;display:block}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th.n{white-space:normal;vertical-align:bottom}
td small{display:block;color:var(--soft);font-size:.88em}
tr.mark td{background:var(--card);font-weight:600}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:8px 36px;align-items:start}
.bars{margin:10px 0}
.row{display:grid;grid-template-columns:36% minmax(0,1fr);gap:4px 12px;align-items:center;padding:3px 0;
break-inside:avoid}
.sides .row{grid-template-columns:42% minmax(0,1fr)}
.label{font-size:.88rem;line-height:1.3;text-align:right;color:var(--ink)}
.label small{display:block;color:var(--soft);font-size:.92em}
.line{display:flex;align-items:center;min-height:15px}
.line span{font-size:.82rem;line-height:1.2;color:var(--soft);padding-left:6px;font-variant-numeric:tabular-nums;
flex:1 1 0;min-width:0}
.bar{height:11px;flex:0 0 auto;min-width:1px;overflow:hidden}
.histogram{margin:10px 0;max-width:720px}
.histogram svg{width:100%;height:150px;display:block;border-bottom:1px solid var(--line)}
.ticks{display:flex;justify-content:space-between;font-size:.82rem;color:var(--soft)}
.area{fill:var(--before);opacity:.75}
.outline{fill:none;stroke:var(--after);stroke-width:2;vector-effect:non-scaling-stroke}
.before,.unsafe{fill:var(--before)}.after{fill:var(--after)}.safe{fill:var(--good)}.cutkey{fill:var(--mark)}
.tree,.tree ul{list-style:none;margin:0;padding:0}
.tree{font-size:.9rem;margin:8px 0}
.tree ul{padding-left:10px;margin-left:6px;border-left:1px solid var(--line)}
.tree li{padding:1px 0 1px 12px;position:relative;max-width:none;line-height:1.4}
.tree li::before{content:"";position:absolute;left:-10px;top:.75em;width:18px;border-top:1px solid var(--line)}
.tree>li::before{display:none}
.tree .cut>span{background:color-mix(in srgb,var(--mark) 28%,transparent);font-weight:600;padding:0 5px;
border-radius:4px;border-left:3px solid var(--mark)}
.tree small,.tree .more{color:var(--soft)}
.legend{font-size:.86rem;color:var(--soft);margin:.3em 0}
.key{display:inline-block;margin-right:16px}.key svg{margin-right:5px;vertical-align:-1px}
.warn{background:var(--card);border-left:4px solid var(--mark);padding:8px 14px;border-radius:4px;margin:8px 0;
max-width:none}
.warn p{margin:.3em 0;max-width:none;font-size:.93rem}
.note{color:var(--soft);font-size:.88rem}
details{margin:8px 0}summary{cursor:pointer;color:var(--after);font-size:.93rem}
code{background:var(--card);padding:1px 5px;border-radius:4px;font-size:.9em}
pre{background:var(--card);padding:12px;border-radius:6px;overflow-x:auto;white-space:pre-wrap;font-size:.88rem}
footer{margin-top:48px;color:var(--soft);font-size:.85rem;border-top:1px solid var(--line);padding-top:12px}
@media (max-width:640px){main{padding:16px 14px 40px}h1{font-size:1.4rem}.sides{grid-template-columns:1fr}
.row,.sides .row{grid-template-columns:minmax(0,1fr);gap:0;padding:5px 0}.label{text-align:left}
nav{padding:0 14px}th,td{padding-right:10px}
.wide thead{display:none}.wide tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}
.wide td,.wide td.n{display:grid;grid-template-columns:38% minmax(0,1fr);gap:0 12px;border:0;padding:2px 0;
text-align:left;white-space:normal;overflow-wrap:anywhere}
.wide td::before{content:attr(data-label);color:var(--soft);grid-row:span 2}.wide td small{grid-column:2}
.wide td:empty{display:none}.wide tr.mark{background:var(--card);padding-left:8px}}
@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--card:#f1f3f5;--soft:#444;--line:#bbb;--before:#9aa5b3;
--after:#1d5f9e;--good:#2b8a4b;--bad:#b03a32;--mark:#c27f16}
@page{margin:15mm 14mm}body{font-size:10pt;line-height:1.4}h2{margin-top:1.4em}
.tree{columns:2;font-size:9.5pt}main{max-width:none;padding:0}nav{display:none}
h2,h3,h4{break-after:avoid}table,.figures,.verdict,.histogram{break-inside:avoid}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details::details-content{display:block;content-visibility:visible;block-size:auto}
summary{list-style:none;color:var(--soft)}}
"""


def page(title: str, head: str, sections: Sequence[tuple[str, str, str]], foot: str) -> str:
    """A whole HTML page: what stands first, the contents, the sections (id, title, body) that have a body, the foot.

    >>> page("Report", "<h1>Report</h1>", [("risk", "Risk", "<p>low</p>")], "").startswith("<!doctype html>")
    True
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    shown = [section for section in sections if section[2]]
    links = "".join(f'<a href="#{anchor}">{escape(heading)}</a>' for anchor, heading, _ in shown)
    body = "".join(
        f'<section id="{anchor}" tabindex="-1"><h2>{escape(heading)}</h2>{text}</section>'
        for anchor, heading, text in shown
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<link rel="icon" href="data:,"><style>{STYLE}</style></head>'
        f'<body><nav aria-label="Contents" tabindex="0"><b>Contents</b><div>{links}</div></nav><main>{head}{body}'
        f"<footer>{foot}</footer></main></body></html>\n"
    )


def figures(items: Sequence[tuple[str, str]]) -> str:
    """A row of large figures with a line of explanation each.

    >>> figures([("5", "people at least")]).count("<div>")
    1
    """
    cells = "".join(f"<div><b>{escape(big)}</b><span>{escape(small)}</span></div>" for big, small in items)
    return f'<div class="figures">{cells}</div>'


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, words: Sequence[int] = (0,), marked: Sequence[int] = ()
) -> str:
    """A table; columns are set as numbers, apart from `words`. A cell may have a remark after a line break.

    With more than two columns a row becomes a list on a phone, each cell after the name of its column.

    >>> table(["metric", "value"], [["loss\\nless is better", "0.2"]]).count("<small>")
    1
    """
    wide = len(header) > 2

    def cell(kind: str, j: int, text: str) -> str:
        first, _, rest = text.partition("\n")
        note = f"<small>{escape(rest)}</small>" if rest else ""
        label = f' data-label="{escape(header[j])}"' if wide and kind == "td" else ""
        value = f"<span>{escape(first)}</span>" if label and first else escape(first)
        return f"<{kind}{label}{'' if j in words else ' class=n'}>{value}{note}</{kind}>"

    def line(kind: str, row: Sequence[str]) -> str:
        return "".join(cell(kind, j, text) for j, text in enumerate(row))

    body = "".join(f"<tr{' class=mark' if i in marked else ''}>{line('td', row)}</tr>" for i, row in enumerate(rows))
    kind = "scroll wide" if wide else "scroll"
    return f'<div class="{kind}"><table><thead><tr>{line("th", header)}</tr></thead><tbody>{body}</tbody></table></div>'


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p{f' class={kind}' if kind else ''}>{escape(text)}</p>"


# Charts as inline SVG next to real text: no script, no font, no network; colours come from the page


def show(value: Value) -> str:
    """A cell as text for people.

    >>> show(None), show("nurse"), show(("tea", "jazz"))
    ('(missing)', 'nurse', 'tea; jazz')
    """
    if isinstance(value, tuple):
        return "; ".join(map(show, value)) or "(nothing)"
    return "(missing)" if value is None else str(value)


@dataclass(frozen=True)
class Row:
    """One row of a bar chart: its label, its values and how these are spelled, a remark below the label.

    >>> Row("nurse", (3.0,), ("3",)).note
    ''
    """

    label: str
    values: tuple[float, ...]
    texts: tuple[str, ...]
    note: str = ""
    strong: bool = False


def bars(rows: Sequence[Row], kinds: Sequence[str], title: str, *, most: float | None = None, room: int = 5) -> str:
    """Horizontal bars, one group a row, one bar a kind (`before`, `after`, `safe`); `room` letters fit behind them.

    >>> bars([Row("nurse", (3, 2), ("3", "2"))], ("before", "after"), "jobs").count("<rect")
    2
    """
    top = most or max((value for row in rows for value in row.values), default=0) or 1
    parts = []
    for row in rows:
        lines = []
        for value, text, kind in zip(row.values, row.texts, kinds, strict=True):
            share = min(1.0, max(0.0, value / top))
            lines.append(_line(((share, kind),), text, room))
        note = f"<small>{escape(row.note)}</small>" if row.note else ""
        name = f"<b>{escape(row.label)}</b>" if row.strong else escape(row.label)
        parts.append(f'<div class="row"><div class="label">{name}{note}</div><div>{"".join(lines)}</div></div>')
    return f'<div class="bars" role="group" aria-label="{escape(title)}">{"".join(parts)}</div>'


def _line(shares: Sequence[tuple[float, str]], text: str, room: int) -> str:
    drawn = "".join(
        f'<svg class="bar" style="flex-basis:calc((100% - {room}em)*{share:.4f})" aria-hidden="true">'
        f'<rect width="100%" height="100%" class="{kind}"/></svg>'
        for share, kind in shares
        if share > 0
    )
    return f'<div class="line">{drawn}<span>{escape(text)}</span></div>'


def stacked(rows: Sequence[tuple[str, Sequence[float], str, bool]], kinds: Sequence[str], title: str) -> str:
    """Bars of several parts behind each other: a label, the parts, a text, and whether the row is marked.

    >>> stacked([("height 0", (0, 1), "0 of 1", False)], ("safe", "unsafe"), "lattice").count("<rect")
    1
    """
    top = max((sum(parts) for _, parts, _, _ in rows), default=0) or 1
    drawn = []
    for label, values, text, marked in rows:
        line = _line([(value / top, kind) for value, kind in zip(values, kinds, strict=True)], text, 12)
        name = f"<b>{escape(label)}</b>" if marked else escape(label)
        drawn.append(f'<div class="row"><div class="label">{name}</div><div>{line}</div></div>')
    return f'<div class="bars" role="group" aria-label="{escape(title)}">{"".join(drawn)}</div>'


def histogram(before: Floats | None, after: Floats, ends: tuple[float, float], title: str) -> str:
    """How numbers are distributed over equal bins: the original as an area, the release as a line.

    >>> import numpy as np
    >>> histogram(None, np.array([1.0, 3.0]), (0, 10), "age").count("<path")
    1
    """
    tallest = max(float(after.max(initial=0)), 0.0 if before is None else float(before.max(initial=0))) or 1.0
    parts = []
    if before is not None:
        parts.append(f'<path d="{_steps(before, tallest)}V100H0Z" class="area"/>')
    parts.append(f'<path d="{_steps(after, tallest)}" class="outline"/>')
    low, high = ends
    middle = (low + high) / 2
    shown = (low, round(middle) if high - low > 10 else middle, high)
    ticks = "".join(f"<span>{escape(number(tick))}</span>" for tick in shown)
    return (
        f'<div class="histogram"><svg viewBox="0 -2 {len(after)} 102" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg><div class="ticks">{ticks}</div></div>'
    )


def _steps(values: Floats, tallest: float) -> str:
    points = [f"M0 {100 - 100 * float(values[0]) / tallest:.2f}"] if len(values) else ["M0 100"]
    for i, value in enumerate(values.tolist()):
        points.append(f"V{100 - 100 * value / tallest:.2f}H{i + 1}")
    return "".join(points)


def binned(ranges: Sequence[tuple[float, float, float]], ends: tuple[float, float], bins: int) -> Floats:
    """Records in each bin; (low, high, records) is spread evenly over the bins it reaches.

    >>> binned([(0, 4, 8.0), (3, 3, 1.0)], (0, 4), 4).tolist()
    [2.0, 2.0, 2.0, 3.0]
    """
    low, high = ends
    edges = np.linspace(low, high, bins + 1)
    totals = np.zeros(bins)
    for start, stop, records in ranges:
        if stop <= start:
            totals[min(bins - 1, max(0, int(np.searchsorted(edges, start, side="right")) - 1))] += records
            continue
        overlap = np.minimum(edges[1:], stop) - np.maximum(edges[:-1], start)
        inside = overlap.clip(0.0)
        totals += records * inside / (inside.sum() or 1.0)
    return totals


@dataclass(frozen=True)
class Branch:
    """A node of a drawn tree: its label, whether it is released, a remark, its children, and how many are left out.

    >>> Branch("medic", True).children
    ()
    """

    label: str
    released: bool
    note: str = ""
    children: tuple[Branch, ...] = ()
    more: int = 0


def tree(root: Branch, title: str) -> str:
    """A hierarchy from its top down as nested lists, the released labels marked.

    >>> tree(Branch("*", False, "", (Branch("medic", True),)), "jobs").count("<li")
    2
    """

    def draw(node: Branch) -> str:
        kind = ' class="cut"' if node.released else ""
        note = f" <small>{escape(node.note)}</small>" if node.note else ""
        below = "".join(map(draw, node.children))
        if node.more:
            below += f'<li class="more">… {node.more:,} more</li>'
        inner = f"<ul>{below}</ul>" if below else ""
        return f"<li{kind}><span>{escape(node.label)}</span>{note}{inner}</li>"

    return f'<ul class="tree" aria-label="{escape(title)}">{draw(root)}</ul>'


def legend(kinds: Mapping[str, str]) -> str:
    """Coloured marks with their meaning.

    >>> legend({"before": "original"}).count('class="before"')
    1
    """
    marks = (
        f'<span class="key"><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" rx="2" '
        f'class="{kind}"/></svg>{escape(text)}</span>'
        for kind, text in kinds.items()
    )
    return f'<p class="legend">{"".join(marks)}</p>'
