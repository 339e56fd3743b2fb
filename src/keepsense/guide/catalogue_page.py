"""An entry of the catalogue as an offline HTML page, without scripts or network."""

from __future__ import annotations

from html import escape

from keepsense.guide import catalogue_text, flowchart_drawing
from keepsense.guide.catalogue import children, entry, flowchart
from keepsense.methods.method import Described, Relation

_STYLE = (
    """
:root { color-scheme: light dark; --ink:#1d2a2a; --paper:#fbfcfc; --muted:#566; --accent:#00695c; --line:#7b8f8f;
  --box:#fff; --soft:#e0f2f1; --ask:#fff8e1; --bad:#b3261e; --good:#1b6e3c; --rule:#d8e2e1; }
@media (prefers-color-scheme: dark) { :root { --ink:#e4ecec; --paper:#131a1a; --muted:#9fb1b0; --accent:#4db6ac;
  --line:#7d9493; --box:#1b2525; --soft:#14312e; --ask:#33301c; --bad:#ff8a80; --good:#81c995; --rule:#2b3939; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 62rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2rem 0 .6rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h1, h2, h3 { text-wrap: balance; } a { color: var(--accent); } p { max-width: 46rem; }
.lead { font-size: 1.1rem; } .muted { color: var(--muted); }
.two { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 2rem; }
@media (min-width: 56rem) { .two { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
dl.entry dt { font-weight: 600; margin-top: .7rem; } dl.entry dd { margin: 0; } ul { padding-left: 1.2rem; margin: 0; }
@media (max-width: 34rem) { body { padding: 1rem; } }
@media print { body { max-width: none; } }
"""
    + flowchart_drawing.STYLE
    + catalogue_text.STYLE
)


def page(title: str, body: str, style: str = "") -> str:
    """A whole HTML document that needs nothing from outside; `style` adds to the style of all pages.

    >>> page("Datafly", "<p>x</p>")[-29:]
    '<body><p>x</p></body></html>\\n'
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n<body>{body}</body></html>\n"
    )


def entry_page(name: str) -> str:
    """An entry of the catalogue as a page, with its flowchart and, for families, their tree.

    >>> "InfoGain" in entry_page("infogain mondrian")
    True
    """
    described = entry(name)
    body = [
        f'<p class="muted">Keepsense guide: {escape(described.kind)}</p><h1>{escape(described.title)}</h1>',
        f'<p class="lead">{escape(described.intent)}</p><div class="two"><section>',
        _described(described),
        "</section><section><h2>Steps</h2>",
        flowchart_drawing.draw_svg(flowchart(described.name), described.title),
        "</section></div>",
    ]
    below = children(described.name)
    if below:
        body.append(f"<h2>Below it</h2>{catalogue_text.draw_tree_svg(catalogue_text.tree(described.name))}")
        if any(other.nine for child in (described, *below) for other in (child, *children(child.name))):
            note = "Dashed: not among the nine algorithms of Ben Fredj et al. (2015), Fig. 9."
            body.append(f'<p class="muted">{note}</p>')
    return page(described.title, "".join(body))


def _described(described: Described) -> str:
    parts = [
        _listed("Use it when", described.use),
        _listed("Rather not when", described.avoid),
        _listed("It needs", described.inputs),
        _listed("It guarantees", (described.guarantee,)),
        _listed("For example", (described.example,)),
        _listed("Cost", (described.cost,)),
        _related("Goes well with", described.combines),
        _related("Does not go with", described.conflicts),
        _listed("Paper", (described.paper,)),
        _listed("In project files", (f'name = "{described.name}"',) if described.in_projects else ()),
    ]
    return f'<dl class="entry">{"".join(parts)}</dl>'


def _listed(title: str, texts: tuple[str, ...]) -> str:
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<dt>{title}</dt><dd>{f'<ul>{items}</ul>' if len(texts) > 1 else escape(texts[0])}</dd>"


def _related(title: str, relations: tuple[Relation, ...]) -> str:
    return _listed(title, tuple(f"{entry(relation.name).title}: {relation.why}" for relation in relations))
