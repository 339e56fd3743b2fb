"""A report of a release: internal, with everything a colleague or an ethics board asks for, or public and short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from keepsense import __version__
from keepsense.files import whole_file
from keepsense.release.folder.ledger import today
from keepsense.release.run import Outcome
from keepsense.report import choices, classes, columns, dictionary, exposed, measured, records, sections
from keepsense.report.page import page
from keepsense.report.subject import Subject

Audience = Literal["internal", "public"]


@dataclass(frozen=True)
class Section:
    """A part of a report: its title, and what draws it as HTML, or as nothing where it does not apply.

    >>> [section.title for section in SECTIONS if not section.public][:3]
    ['Records before and after', 'To look at', 'Who stands out']
    """

    id: str
    title: str
    draw: Callable[[Subject], str]
    public: bool = True


SECTIONS = (
    Section("changes", "What was changed", sections.changes),
    Section("records", "Records before and after", records.beside, public=False),
    Section("warnings", "To look at", sections.warnings, public=False),
    Section("risk", "Risk of being recognized", measured.risk),
    Section("exposed", "Who stands out", exposed.exposed, public=False),
    Section("utility", "What it is still worth", measured.utility),
    Section("columns", "Columns by which people could be recognized", columns.columns),
    Section("classes", "Classes of records that look alike", classes.classes),
    Section("sensitive", "Sensitive columns", classes.sensitive),
    Section("dictionary", "What the columns mean", dictionary.dictionary),
    Section("together", "What goes together", measured.association, public=False),
    Section("alternatives", "Alternatives considered", choices.alternatives, public=False),
    Section("again", "How to reproduce it", sections.again, public=False),
)
"""All parts of a report, in their order; a chart is added to one of them, or as another."""


def write_report(
    outcome: Outcome, path: str | Path, audience: Audience = "internal", *, alternatives: bool = True
) -> Path:
    """Write the report of a run as one HTML file that needs no network.

    The internal report shows original distributions and belongs to the publisher. The public one shows only what the
    released file and its description show. Without `alternatives` no other methods are tried for the internal one.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> write_report(done, done.file.parent / "report.html", "public").name
    'report.html'
    """
    target = Path(path)
    text = render(outcome, audience, alternatives=alternatives)
    with whole_file(target) as part:
        # the internal one shows original distributions: for its owner alone, wherever it is written
        part.touch(mode=0o644 if audience == "public" else 0o600)
        part.write_text(text, encoding="utf-8")
    return target


def render(outcome: Outcome, audience: Audience = "internal", *, alternatives: bool = True) -> str:
    """The report as HTML text.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> "Verified: every promise below holds" in render(done, "public")
    True
    """
    subject = Subject(outcome, audience == "public", alternatives)
    title = f"Release of {outcome.name}"
    method = outcome.description["method"]["name"]
    lead = f"Report of {today()}, Keepsense {__version__}, method <b>{escape(str(method))}</b>."
    note = (
        "For the public: it shows nothing that the released file and its description do not show."
        if subject.public
        else "Internal: it shows original distributions, so keep it inside."
    )
    head = [
        f"<h1>{escape(title)}</h1><p class=lead>{lead} {note}</p>",
        sections.summary(subject),
    ]
    drawn = [
        (section.id, section.title, section.draw(subject))
        for section in SECTIONS
        if section.public or not subject.public
    ]
    remark = "This report may be published." if subject.public else "This report is internal: keep it inside."
    return page(title, "".join(head), drawn, f"{remark} Keepsense {__version__}.")
