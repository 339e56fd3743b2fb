"""The page around a report: one HTML file with its style inside; reads well on a phone, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """
:root{--ink:#1b2330;--soft:#5b6675;--line:#d9dee6;--paper:#ffffff;--card:#f6f8fb;--before:#9aa7b8;--after:#1d6fb8;
--good:#2b8a4b;--bad:#c2453c;--mark:#e8a33d}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#a3aebd;--line:#36404e;--paper:#12171f;--card:#1a212b;
--before:#6d7b8d;--after:#5aa9ee;--good:#58bd7c;--bad:#ee7d74;--mark:#f0b95c}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:880px;margin:0 auto;padding:24px 18px 60px}
h1{font-size:1.75rem;line-height:1.2;margin:.2em 0}
h2{font-size:1.25rem;margin:2.2em 0 .5em;padding-top:.4em;border-top:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.6em 0 .3em}
p,li{max-width:72ch}
.lead{color:var(--soft);margin-top:0}
.verdict{border-left:5px solid var(--good);background:var(--card);padding:12px 16px;border-radius:4px}
.verdict.no{border-color:var(--bad)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:18px 0}
.figures div{background:var(--card);border-radius:8px;padding:12px 14px}
.figures b{display:block;font-size:1.45rem;line-height:1.2;font-variant-numeric:tabular-nums}
.figures span{color:var(--soft);font-size:.86rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;padding:6px 10px 6px 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.chart{width:100%;height:auto;max-width:720px;display:block;margin:8px 0}
.chart text{fill:var(--ink);font:12px system-ui,sans-serif}
.chart .small{fill:var(--soft);font-size:11px}
.chart .name{fill:var(--soft)}.chart .cutname{font-weight:600}
.chart .axis,.chart .edge{stroke:var(--line);fill:none}
.before{fill:var(--before);background:var(--before)}.after,.plain{fill:var(--after);background:var(--after)}
.safe{fill:var(--good);background:var(--good)}.unsafe{fill:var(--before);background:var(--before)}
.node{fill:var(--paper);stroke:var(--before);stroke-width:2}.cut{fill:var(--mark)}
.legend{font-size:.85rem;color:var(--soft);margin:.2em 0}
.key{margin-right:16px}.key i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:5px}
.warn{background:var(--card);border-left:4px solid var(--mark);padding:8px 14px;border-radius:4px;margin:8px 0}
details{margin:8px 0}summary{cursor:pointer;color:var(--after)}
code{background:var(--card);padding:1px 5px;border-radius:4px;font-size:.9em}
pre{background:var(--card);padding:12px;border-radius:6px;overflow-x:auto}
footer{margin-top:48px;color:var(--soft);font-size:.85rem;border-top:1px solid var(--line);padding-top:12px}
@media (max-width:520px){main{padding:16px 12px 40px}h1{font-size:1.4rem}.chart text{font-size:15px}}
@media print{:root{--ink:#000;--paper:#fff;--card:#f3f3f3;--soft:#444}main{max-width:none;padding:0}
h2{break-after:avoid}.chart,table,.figures{break-inside:avoid}details>*{display:block}}
"""


def page(title: str, body: Sequence[str]) -> str:
    """A whole HTML page.

    >>> page("Report", ["<p>text</p>"]).startswith("<!doctype html>")
    True
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<link rel="icon" href="data:,"><style>{STYLE}</style></head>'
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def figures(items: Sequence[tuple[str, str]]) -> str:
    """A row of large figures with a line of explanation each.

    >>> figures([("5", "people at least")]).count("<div>")
    1
    """
    cells = "".join(f"<div><b>{escape(big)}</b><span>{escape(small)}</span></div>" for big, small in items)
    return f'<div class="figures">{cells}</div>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; every column but the first is set as numbers.

    >>> table(["measure", "value"], [["loss", "0.2"]]).count("<td")
    2
    """

    def cells(kind: str, row: Sequence[str]) -> str:
        return "".join(f"<{kind}{' class=n' if i else ''}>{escape(c)}</{kind}>" for i, c in enumerate(row))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{cells("th", header)}</tr></thead><tbody>{body}</tbody></table></div>'
    )
