"""A report of a release: internal, with everything a colleague or an ethics board asks for, or public and short."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Literal

from keepsense import __version__
from keepsense.engines.files import whole_file
from keepsense.publish import Outcome
from keepsense.publish.ledger import today
from keepsense.report import sections
from keepsense.report.page import page

Audience = Literal["internal", "public"]


def write_report(outcome: Outcome, path: str | Path, audience: Audience = "internal") -> Path:
    """Write the report of a run as one HTML file that needs no network.

    The internal report shows original distributions and belongs to the publisher. The public one shows only what the
    released file itself shows.

    >>> write_report.__name__
    'write_report'
    """
    target = Path(path)
    with whole_file(target) as part:
        part.write_text(render(outcome, audience), encoding="utf-8")
    return target


def render(outcome: Outcome, audience: Audience = "internal") -> str:
    """The report as HTML text.

    >>> render.__name__
    'render'
    """
    public = audience == "public"
    title = f"Release of {outcome.file.name}"
    method = outcome.description["method"]["name"]
    lead = f"Made on {today()} with Keepsense {__version__}, method <b>{escape(method)}</b>."
    body = [
        f"<h1>{escape(title)}</h1><p class=lead>{lead}</p>",
        sections.summary(outcome),
        "" if public else sections.warnings(outcome),
        sections.risk(outcome),
        sections.utility(outcome),
        sections.columns(outcome, public=public),
        sections.classes(outcome),
    ]
    if not public:
        body += [sections.association(outcome), sections.search(outcome), sections.timing(outcome), _again()]
    note = (
        "This report holds original distributions: keep it inside." if not public else "This report may be published."
    )
    body.append(f"<footer>{note} Keepsense {__version__}.</footer>")
    return page(title, body)


def _again() -> str:
    return (
        "<h2>How to reproduce</h2><p>Run the project file again; a random method needs its seed, which is the "
        "publisher's secret and stands nowhere in the release.</p><pre>keepsense run keepsense.toml</pre>"
        "<p>Check the released file as a recipient would:</p>"
        "<pre>keepsense verify release/FILE --project keepsense.toml</pre>"
    )
