"""A lesson as an offline HTML page: the flowchart, every step with its table, and the release."""

from __future__ import annotations

from html import escape

from keepsense.guide.catalogue import flowchart
from keepsense.guide.catalogue_page import page
from keepsense.guide.flowchart_drawing import draw_svg
from keepsense.lessons.recorder import Step
from keepsense.lessons.walkthrough import Trace

_COLOURS = 8
_LESSON_STYLE = """
:root { --g0:#d6ecff; --g1:#ffe3c2; --g2:#dcf2d3; --g3:#f3daf5; --g4:#fff3b8; --g5:#d3f0ec; --g6:#fbd9dc;
  --g7:#e4e0ff; }
@media (prefers-color-scheme: dark) { :root { --g0:#16344d; --g1:#4a3214; --g2:#22401a; --g3:#432448; --g4:#453d10;
  --g5:#123f3a; --g6:#4c2226; --g7:#2c2855; } }
.step { border: 1px solid var(--rule); border-radius: 8px; padding: .9rem 1rem 1rem; margin: 1rem 0;
  background: var(--box); }
.step h3 { margin: 0 0 .35rem; font-size: 1.05rem; }
.badge { font-size: .8rem; font-weight: 600; border: 1px solid; border-radius: 99px; padding: .05rem .6rem;
  margin-left: .5rem; white-space: nowrap; }
.safe { color: var(--good); } .unsafe { color: var(--bad); }
dl.facts { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: 0 0 .7rem; font-size: .92rem; }
dl.facts div { display: flex; gap: .4rem; } dl.facts dt { color: var(--muted); } dl.facts dd { margin: 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .93rem; }
th, td { text-align: left; padding: .2rem .8rem; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--muted); font-weight: 600; } td.num { text-align: right; font-variant-numeric: tabular-nums; }
td.new { font-weight: 700; } td.why { white-space: normal; min-width: 9rem; }
tr.gone td { color: var(--muted); text-decoration: line-through; } tr.gone td.why { text-decoration: none; }
@media (max-width: 34rem) { th, td { padding: .2rem .4rem; } table { font-size: .84rem; }
  .step { padding: .8rem .6rem; } td { white-space: normal; } td.why { min-width: 6rem; } }
@media print { .step { break-inside: avoid; } }
""" + "".join(f"tr.g{i} td {{ background: var(--g{i}); }}\n" for i in range(_COLOURS))


def trace_page(trace: Trace) -> str:
    """A trace as a page: what the method does, its flowchart, every step with the table, and the release.

    >>> from keepsense.lessons.walkthrough import explain
    >>> text = trace_page(explain("datafly", k=2))
    >>> "Raise age to level 1" in text, "<script" in text
    (True, False)
    """
    method = trace.method
    parts = [
        f'<p class="muted">Keepsense guide: an algorithm step by step</p><h1>{escape(method.title)}</h1>',
        f'<p class="lead">{escape(method.intent)}</p>',
        f"<p>On {escape(trace.where)}. Rows of one colour form a group. Values that a step changed are bold.</p>",
        '<div class="two"><section><h2>The table before</h2>',
        _table(trace, trace.before, None),
        "</section><section><h2>What the algorithm does</h2>",
        draw_svg(flowchart(method.name), method.title),
        "</section></div><h2>Step by step</h2>",
    ]
    for number, (step, last) in enumerate(zip(trace.steps, (trace.before, *trace.steps), strict=False), start=1):
        parts.append(_step(trace, number, step, last))
    hidden = sum(trace.suppressed)
    suppressed = f" {hidden} of {len(trace.suppressed)} rows are suppressed." if hidden else ""
    parts.append(f"<h2>The released table</h2><p>{escape(trace.verdict)}{suppressed}</p>")
    parts.append(_table(trace, trace.final, None))
    parts += [f'<p class="unsafe">{escape(note)}</p>' for note in trace.notes]
    parts.append(f'<p class="muted">{escape(method.paper)}</p>')
    return page(f"{method.title}, step by step", "".join(parts), _LESSON_STYLE)


def _step(trace: Trace, number: int, step: Step, last: Step) -> str:
    badge = ""
    if step.safe is not None:
        kind, word = ("safe", "safe") if step.safe else ("unsafe", "not safe")
        badge = f'<span class="badge {kind}">{word}</span>'
    facts = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in step.facts)
    return (
        f'<section class="step"><h3>{number}. {escape(step.title)}{badge}</h3><dl class="facts">{facts}</dl>'
        f"{_table(trace, step, last)}</section>"
    )


def _table(trace: Trace, step: Step, last: Step | None) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in trace.head(step))
    colours = _colours(step)
    rows = []
    for i, row in enumerate(step.table):
        hidden = step is trace.final and trace.suppressed[i]
        cells = [f'<td class="num">{i + 1}</td>'] if trace.by_rows else []
        for j, value in enumerate(row):
            new = last is not None and value != last.table[i][j]
            cells.append(f"<td{' class=new' if new else ''}>{escape(str(value))}</td>")
        cells += [f"<td>{escape(str(trace.lesson.columns[name][i]))}</td>" for name in trace.further]
        if any(step.marks):
            cells.append(f'<td class="why">{escape(step.marks[i])}</td>')
        elif not step.marks:
            cells.append('<td class="why">suppressed</td>' if hidden else f'<td class="num">{step.sizes[i]}</td>')
        mark = ' class="gone"' if hidden else (f' class="g{colours[i]}"' if colours[i] is not None else "")
        rows.append(f"<tr{mark}>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _colours(step: Step) -> list[int | None]:
    """A colour for each group large enough; rows that stand out have none. Groups with a number keep their colour."""
    if step.marks:
        return [g % _COLOURS if n >= step.k else None for g, n in zip(step.groups, step.sizes, strict=True)]
    safe = dict.fromkeys(g for g, size in zip(step.groups, step.sizes, strict=True) if size >= step.k)
    number = {group: i % _COLOURS for i, group in enumerate(safe)}
    return [number.get(group) for group in step.groups]
