"""What a run leaves for people: the released file, a public and an internal report, a certificate.

The files are in the folder of the release, as `keepsense run --report` writes them, and can be downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keepsense.report.report import write_certificate, write_report
from keepsense.studio.serving.downloads import Shelf
from keepsense.studio.session.runs import Run


@dataclass(frozen=True)
class Export:
    """A file to fetch or to look at, and its address.

    >>> Export("Report", "for everybody", "/files/report", True).shown
    True
    """

    title: str
    about: str
    address: str
    shown: bool = False


def exports(made: Run, project_file: Path, shelf: Shelf) -> Mapping[str, Export]:
    """Write the reports and the certificate of a run that was released, and let all be fetched; takes some seconds.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> made = Run(1, job.project, job.folder, "", rehearsed=False).start().wait()
    >>> files = exports(made, job.folder / "keepsense.toml", Shelf())
    >>> list(files), files["certificate"].address
    (['file', 'certificate', 'report', 'internal', 'description', 'project'], '/files/certificate-1')
    """
    outcome = made.outcome
    if outcome is None:
        return {}
    folder = outcome.file.parent
    public = write_report(outcome, folder / "report.html", "public")
    internal = write_report(outcome, folder / "private" / "report.html", alternatives=False)
    paper = write_certificate(outcome, folder / "certificate.html")
    listed = {
        "file": ("The released file", f"{outcome.name}, verified", outcome.file, False),
        "certificate": ("Certificate", "One page: what was promised, verified when, by what.", paper, True),
        "report": ("Report for everybody", "It shows nothing that the release does not show.", public, True),
        "internal": ("Internal report", "With distributions of the original: keep it inside.", internal, True),
        "description": (
            "release.json",
            "The same facts for programs; give it away with the file.",
            _beside(folder),
            False,
        ),
        "project": ("Project file", "The command keepsense run makes the same release with it.", project_file, False),
    }
    return {
        word: Export(title, about, shelf.put(f"{word}-{made.number}", file, show=shown), shown)
        for word, (title, about, file, shown) in listed.items()
    }


def _beside(folder: Path) -> Path:
    from keepsense.release.folder.description import DESCRIPTION

    return folder / DESCRIPTION
