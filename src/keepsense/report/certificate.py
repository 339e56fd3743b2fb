"""A certificate of a release: one page on what was promised, that it was verified, when, by what, of which file."""

from __future__ import annotations

from datetime import datetime
from html import escape
from pathlib import Path

from keepsense import __version__
from keepsense.files import whole_file
from keepsense.release.run import Outcome
from keepsense.report.page import paragraph, table

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
