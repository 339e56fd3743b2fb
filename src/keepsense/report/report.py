"""The report of a release, internal or public, and its certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Literal

from keepsense import __version__
from keepsense.files import whole_file
from keepsense.release.folder.ledger import today
from keepsense.release.run import Outcome
from keepsense.report import choice_section, column_section, people_section, release_section, risk_and_utility_section
from keepsense.report.html_page import page, paragraph, table
from keepsense.report.report_subject import Subject

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
    Section("changes", "What was changed", release_section.changes),
    Section("records", "Records before and after", people_section.beside, public=False),
    Section("warnings", "To look at", release_section.warnings, public=False),
    Section("risk", "Risk of being recognized", risk_and_utility_section.risk),
    Section("exposed", "Who stands out", people_section.exposed, public=False),
    Section("utility", "What it is still worth", risk_and_utility_section.utility),
    Section("columns", "Columns by which people could be recognized", column_section.columns),
    Section("classes", "Classes of records that look alike", people_section.classes),
    Section("sensitive", "Sensitive columns", people_section.sensitive),
    Section("dictionary", "What the columns mean", release_section.dictionary),
    Section("together", "What goes together", risk_and_utility_section.association, public=False),
    Section("alternatives", "Alternatives considered", choice_section.alternatives, public=False),
    Section("again", "How to reproduce it", release_section.again, public=False),
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
        release_section.summary(subject),
    ]
    drawn = [
        (section.id, section.title, section.draw(subject))
        for section in SECTIONS
        if section.public or not subject.public
    ]
    remark = "This report may be published." if subject.public else "This report is internal: keep it inside."
    return page(title, "".join(head), drawn, f"{remark} Keepsense {__version__}.")


# The certificate: one page on what was promised, that it was verified, when, by what, of which file

_STYLE = """
:root{color-scheme:light dark;--ink:#1b2330;--soft:#566172;--line:#d9dee6;--paper:#fff;--good:#2b8a4b}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#a9b4c2;--line:#36404e;--paper:#12171f;--good:#58bd7c}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
main{max-width:720px;margin:0 auto;padding:32px 20px}h1{font-size:1.6rem;margin:.1em 0 .3em}h2{font-size:1.05rem;
margin:1.6em 0 .3em}p{margin:.3em 0}.lead{color:var(--soft)}.seal{border-left:6px solid var(--good);padding:4px 0 4px
16px;font-weight:600}ul{margin:.4em 0;padding-left:1.2em}table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.88em}thead{display:none}
footer{margin-top:2em;color:var(--soft);font-size:.86rem}@page{margin:16mm}@media print{main{padding:0}}
"""


def certificate(outcome: Outcome, when: datetime | None = None) -> str:
    """The certificate as HTML that needs no network; it tells nothing that the release's description does not tell.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> text = certificate(done)
    >>> done.description["sha256"] in text, "shared by at least 4 records" in text, "<script" in text
    (True, True, False)
    """
    about = outcome.description
    moment = (when or datetime.now().astimezone()).strftime("%Y-%m-%d %H:%M %Z").strip()
    promised = "".join(f"<li>{escape(sentence)}</li>" for sentence in about["in words"])
    facts = [
        ("File", outcome.name),
        ("SHA-256 of the file", str(about["sha256"])),
        ("Records", f"{about['records']:,} in {about['classes']:,} classes"),
        ("Suppressed", f"{about['suppressed records']:,} records, {about['suppression limit']:.1%} were allowed"),
        ("Columns removed", str(about["removed columns"])),
        ("Method", str(about["method"]["name"])),
        ("Verified", moment),
        ("Verified by", f"the verifier of Keepsense {__version__}, which shares no code with the methods"),
    ]
    body = [
        "<h1>Certificate of a release</h1>",
        paragraph(f"{outcome.name}, {moment}", "lead"),
        '<p class="seal">The written file was read back, and every promise below holds.</p>',
        f"<h2>What was promised</h2><ul>{promised}</ul>",
        f"<h2>What was verified</h2>{table(('fact', 'figure'), facts, words=(0, 1))}",
        "<h2>How to check it</h2>",
        paragraph(
            "Compute the SHA-256 of the file, and compare. Anybody who has the file can verify its promises again with "
            "`keepsense verify`; release.json beside it names them."
        ),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Certificate of a release</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><link rel="icon" href="data:,">'
        f"<style>{_STYLE}</style></head><body><main>{''.join(body)}<footer>A promise is about this file, and about "
        f"what others may know as the columns' roles say. Keepsense {__version__}.</footer></main></body></html>\n"
    )


def write_certificate(outcome: Outcome, path: str | Path) -> Path:
    """Write the certificate as one HTML file.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> write_certificate(done, done.file.parent / "certificate.html").name
    'certificate.html'
    """
    target = Path(path)
    text = certificate(outcome)
    with whole_file(target) as part:
        part.write_text(text, encoding="utf-8")
    return target
