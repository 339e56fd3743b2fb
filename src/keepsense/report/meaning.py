"""Where the meaning of a column's words comes from, and why that taxonomy was taken: for the publisher alone."""

from __future__ import annotations

from keepsense.hierarchies.kinds import KINDS
from keepsense.report import page
from keepsense.report.subject import Subject


def taken(subject: Subject, name: str) -> str:
    """Which taxonomy a column's words were looked up in, and how well it fits them, in figures; nothing in public.

    Nothing either where the column has no words, no taxonomy, or a hierarchy that somebody made.

    >>> from dataclasses import replace
    >>> from keepsense.release.example import example_job, example_release
    >>> columns = {name: {"role": "insensitive"} for name in ("id", "age", "illness", "likes")}
    >>> columns["job"] = {"role": "quasi-identifier", "taxonomy": "wordnet"}
    >>> subject = Subject(replace(example_release(), job=example_job(columns=columns)))
    >>> "Taken because it names 100% of the values exactly" in taken(subject, "job")
    True
    """
    column = subject.job.column(name)
    made = column.hierarchy not in (None, "auto")
    if subject.public or made or column.taxonomy is None or not KINDS[column.kind].words:
        return ""
    matched = subject.job.meaning.fit(name, subject.marginal(subject.before, name))
    reason = f"it {matched.known.reason}" if matched.known is not None else ""
    because = f"Taken because {reason}." if reason else f"Taken because the project file says so; {matched.why_not}."
    return page.paragraph(f"Meaning from {subject.job.taxonomy(name).name}. {because}", "note")
