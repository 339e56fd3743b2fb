"""The persons of released rows, found again from the source and the private recoding, for promises about people.

The column that identifies people is not released, so that the file alone does not show how many of them share a class.
The publisher still has the source and the recoding. Recoded again, the source gives as many rows of each class as the
file has, or the file was changed; for the number of people in a class the order of its rows does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.errors import BadInput
from keepsense.recoding import Cells, Draws, Recoding
from keepsense.release.folder.describe import PRIVATE, RECODING
from keepsense.release.folder.place import reading_of, writing_of
from keepsense.release.folder.recoding_file import read_recodings
from keepsense.release.job.job import Job
from keepsense.release.job.suppressed import settle_suppressed

ON_A_COPY = "or check a copy of the release that still has the column (--person)"


def columns_beside(job: Job) -> tuple[str, ...]:
    """Columns that are not released, but that promises are about.

    >>> from keepsense.release.example import example_job
    >>> columns_beside(example_job())
    ()
    """
    return tuple(dict.fromkeys(name for model in job.models for name in model.columns if name in job.dropped))


def rows_beside(job: Job, file: Path) -> tuple[Path | None, str]:
    """A file with these columns for the rows of a release, in its order; or None, and why nobody can tell.

    >>> from keepsense.release.example import example_job, example_release
    >>> rows_beside(example_job(), example_release().file)
    (None, '')
    """
    names = columns_beside(job)
    recoding = file.parent / PRIVATE / RECODING
    if not names:
        return None, ""
    if not recoding.is_file():
        return None, f"keep {PRIVATE}/{RECODING} beside the release, {ON_A_COPY}"
    if set(job.set_columns):
        return None, f"sets are recoded by chance, so the recoding does not tell whose rows they are: {ON_A_COPY[3:]}"
    rules = read_recodings(recoding)
    if not all(_settled(rule) for rule in rules):
        return None, f"records were dealt by chance, so the recoding does not tell whose they are: {ON_A_COPY[3:]}"
    try:
        again = _recoded_again(job, rules, names)
    except BadInput:
        return None, f"the source is another than the one that was released: bring it back, {ON_A_COPY}"
    waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, key in enumerate(_keys(job, again)):
        waiting[key].append(at)
    released = job.engine.frame(job.engine.read(str(file), reading_of(job, file)))
    order = [waiting[key].pop() if waiting[key] else -1 for key in _keys(job, released)]
    if -1 in order or len(order) != again.num_rows:
        return None, f"the file is not what its recoding makes of the source: one of them was changed, {ON_A_COPY}"
    path = job.engine.scratch("whose.parquet")
    job.engine.write(job.engine.read(again.take(np.array(order)).select(list(names))), path)
    return path, ""


def _settled(rule: Recoding) -> bool:
    """Whether every row of a tuple becomes the same."""
    if isinstance(rule, Cells):
        return len(np.unique(rule.source)) == len(rule.source)
    return not isinstance(rule, Draws)


def _recoded_again(job: Job, rules: Sequence[Recoding], names: Sequence[str]) -> Any:
    """The quasi-identifiers as they would be released, and the columns beside them."""
    wanted = (*job.quasi_identifiers, *names)
    rows = job.engine.recode(job.table, list(rules), drop=[n for n in job.table.columns if n not in wanted])
    rows, _ = settle_suppressed(job, rows)
    # through a file of the same format, so that cells read alike
    path = job.engine.scratch(f"again-{job.released_name}")
    job.engine.write(rows, path, replace(writing_of(job), shuffle=False))
    return job.engine.frame(job.engine.read(str(path), reading_of(job, path)))


def _keys(job: Job, frame: Any) -> list[tuple[str, ...]]:
    return list(zip(*(map(str, frame[name].to_pylist()) for name in job.quasi_identifiers), strict=True))
