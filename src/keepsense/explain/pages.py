"""Offline HTML pages of the guide: a trace step by step, and one entry of the catalogue. No script, no network."""

from __future__ import annotations

from html import escape

from keepsense.explain.step import Step
from keepsense.explain.trace import Trace
from keepsense.guide import flowchart_svg, taxonomy_tree
from keepsense.guide.catalogue import children, entry, flowchart
from keepsense.methods.registry import Described as Entry
from keepsense.methods.registry import Relation

_COLOURS = 8
_STYLE = (
    """
:root { color-scheme: light dark; --ink:#1d2a2a; --paper:#fbfcfc; --muted:#566; --accent:#00695c; --line:#7b8f8f;
  --box:#fff; --soft:#e0f2f1; --ask:#fff8e1; --bad:#b3261e; --good:#1b6e3c; --rule:#d8e2e1;
  --g0:#d6ecff; --g1:#ffe3c2; --g2:#dcf2d3; --g3:#f3daf5; --g4:#fff3b8; --g5:#d3f0ec; --g6:#fbd9dc; --g7:#e4e0ff; }
@media (prefers-color-scheme: dark) { :root { --ink:#e4ecec; --paper:#131a1a; --muted:#9fb1b0; --accent:#4db6ac;
  --line:#7d9493; --box:#1b2525; --soft:#14312e; --ask:#33301c; --bad:#ff8a80; --good:#81c995; --rule:#2b3939;
  --g0:#16344d; --g1:#4a3214; --g2:#22401a; --g3:#432448; --g4:#453d10; --g5:#123f3a; --g6:#4c2226; --g7:#2c2855; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 62rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2rem 0 .6rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h1, h2, h3 { text-wrap: balance; } a { color: var(--accent); } p { max-width: 46rem; }
.lead { font-size: 1.1rem; } .muted { color: var(--muted); }
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
tr.gone td { color: var(--muted); text-decoration: line-through; }
tr.gone td.why { text-decoration: none; }
.two { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 2rem; }
@media (min-width: 56rem) { .two { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
dl.entry dt { font-weight: 600; margin-top: .7rem; } dl.entry dd { margin: 0; } ul { padding-left: 1.2rem; margin: 0; }
@media (max-width: 34rem) { body { padding: 1rem; } th, td { padding: .2rem .4rem; } table { font-size: .84rem; }
  .step { padding: .8rem .6rem; } td { white-space: normal; } td.why { min-width: 6rem; } }
@media print { body { max-width: none; } .step { break-inside: avoid; } }
"""
    + "".join(f"tr.g{i} td {{ background: var(--g{i}); }}\n" for i in range(_COLOURS))
    + flowchart_svg.STYLE
    + taxonomy_tree.STYLE
)


def page(title: str, body: str) -> str:
    """A whole HTML document that needs nothing from outside.

    >>> page("Datafly", "<p>x</p>").startswith("<!doctype html>")
    True
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def trace_page(trace: Trace) -> str:
    """A trace as a page: what the algorithm does, its flowchart, every step with the table, and the release.

    >>> from keepsense.explain.trace import explain
    >>> text = trace_page(explain("datafly", k=2))
    >>> "Raise age to level 1" in text, "<script" in text
    (True, False)
    """
    found = trace.entry
    parts = [
        f'<p class="muted">Keepsense guide: an algorithm step by step</p><h1>{escape(found.title)}</h1>',
        f'<p class="lead">{escape(found.intent)}</p>',
        f"<p>On {escape(trace.lesson.title)}; {escape(trace.in_a_line)}. Rows of one colour form a group. Values "
        "that a step changed are bold.</p>",
        '<div class="two"><section><h2>The table before</h2>',
        _table(trace, trace.before, None),
        "</section><section><h2>What the algorithm does</h2>",
        flowchart_svg.draw_svg(flowchart(found.name), found.title),
        "</section></div><h2>Step by step</h2>",
    ]
    last = trace.before
    for number, step in enumerate(trace.steps, start=1):
        parts.append(_step(trace, number, step, last))
        last = step
    gone = sum(trace.suppressed)
    told = f" {gone} of {len(trace.suppressed)} rows are suppressed." if gone else ""
    parts.append(f"<h2>The released table</h2><p>{escape(trace.verdict)}{told}</p>")
    parts.append(_table(trace, trace.final, None))
    for note in trace.notes:
        parts.append(f'<p class="unsafe">{escape(note)}</p>')
    parts.append(f'<p class="muted">{escape(found.paper)}</p>')
    return page(f"{found.title}, step by step", "".join(parts))


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
    names = trace.columns
    further = trace.further
    numbered = ("row",) if trace.by_rows else ()
    told = ("what happens",) if any(step.marks) else () if step.marks else ("group of",)
    head = "".join(f"<th>{escape(name)}</th>" for name in (*numbered, *names, *further, *told))
    colour = _colours(step)
    rows = []
    released = step is trace.final
    for i, row in enumerate(step.table):
        gone = released and trace.suppressed[i]
        cells = [f'<td class="num">{i + 1}</td>'] if numbered else []
        for j, value in enumerate(row):
            new = last is not None and value != last.table[i][j]
            cells.append(f"<td{' class=new' if new else ''}>{escape(str(value))}</td>")
        cells += [f"<td>{escape(str(trace.lesson.columns[name][i]))}</td>" for name in further]
        if step.marks and told:
            cells.append(f'<td class="why">{escape(step.marks[i])}</td>')
        elif told:
            cells.append('<td class="why">suppressed</td>' if gone else f'<td class="num">{step.sizes[i]}</td>')
        mark = ' class="gone"' if gone else (f' class="g{colour[i]}"' if colour[i] is not None else "")
        rows.append(f"<tr{mark}>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _colours(step: Step) -> list[int | None]:
    """A colour for each group large enough; rows that stand out have none. Groups with a number keep their colour."""
    if step.marks:
        return [g % _COLOURS if n >= step.k else None for g, n in zip(step.groups, step.sizes, strict=True)]
    safe = dict.fromkeys(g for g, size in zip(step.groups, step.sizes, strict=True) if size >= step.k)
    number = {group: i % _COLOURS for i, group in enumerate(safe)}
    return [number.get(group) for group in step.groups]


def entry_page(name: str) -> str:
    """An entry of the catalogue as a page, with its flowchart and, for techniques and categories, its tree.

    >>> "InfoGain" in entry_page("infogain mondrian")
    True
    """
    found = entry(name)
    body = [
        f'<p class="muted">Keepsense guide: {escape(found.kind)}</p><h1>{escape(found.title)}</h1>',
        f'<p class="lead">{escape(found.intent)}</p><div class="two"><section>',
        _described(found),
        "</section><section><h2>Steps</h2>",
        flowchart_svg.draw_svg(flowchart(found.name), found.title),
        "</section></div>",
    ]
    if children(found.name):
        body.append(f"<h2>Below it</h2>{taxonomy_tree.draw_tree_svg(taxonomy_tree.tree(found.name))}")
        if any(one.nine for child in (found, *children(found.name)) for one in (child, *children(child.name))):
            note = "Dashed: not among the nine algorithms of Ben Fredj et al. (2015), Fig. 9."
            body.append(f'<p class="muted">{note}</p>')
    return page(found.title, "".join(body))


def _described(found: Entry) -> str:
    parts = [
        _listed("Use it when", found.use),
        _listed("Rather not when", found.avoid),
        _listed("It needs", found.inputs),
        _listed("It guarantees", (found.guarantee,)),
        _listed("For example", (found.example,)),
        _listed("Cost", (found.cost,)),
        _related("Goes well with", found.combines),
        _related("Does not go with", found.conflicts),
        _listed("Paper", (found.paper,)),
        _listed(
            "In project files",
            (f'name = "{(found.name if found.in_projects else None)}"',)
            if (found.name if found.in_projects else None)
            else (),
        ),
    ]
    return f'<dl class="entry">{"".join(parts)}</dl>'


def _listed(title: str, texts: tuple[str, ...]) -> str:
    if not texts:
        return ""
    told = "".join(f"<li>{escape(text)}</li>" for text in texts) if len(texts) > 1 else escape(texts[0])
    return f"<dt>{title}</dt><dd>{f'<ul>{told}</ul>' if len(texts) > 1 else told}</dd>"


def _related(title: str, relations: tuple[Relation, ...]) -> str:
    return _listed(title, tuple(f"{entry(r.name).title}: {r.why}" for r in relations))
