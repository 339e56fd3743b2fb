"""The source and the population of a project, opened and counted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from keepsense.counts import Counts
from keepsense.engines.protocol import Engine, Table
from keepsense.errors import BadInput, did_you_mean
from keepsense.project.coarse_columns import coarse_cut
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Project
from keepsense.project.project_file import Source as Place
from keepsense.project.source_columns import check_names
from keepsense.recoding import Cuts
from keepsense.release.job.steps import Prepared, refuse_steps, stepped
from keepsense.secure_random import generator


@dataclass(frozen=True, eq=False)
class Source:
    """A project's rows in an engine; opened when first asked for, and every count made once.

    `data` is a table in memory that takes the place of the file that the project names. Columns that are released
    coarser than they are, by a width or a level, are so from here on: nothing that comes after sees them exactly. Their
    outermost bands hold at least `least` rows.
    Without `guess` a text file is read as the project says, or else in the usual way: its rows have no say in how they
    are read. Without `drawing` steps in which chance has a part are left out: what they drew once is not known.

    >>> from keepsense.release.example import example_job
    >>> source = example_job().source
    >>> source.count(["job"]).rows_of("job") == source.count(["job", "age"]).rows_of("job")
    True
    >>> source.count(["job", "age"]) is source.count(["job", "age"])
    True
    """

    project: Project
    folder: Path
    engine: Engine
    data: object = None
    meaning: Meaning | None = None
    least: int = 1
    guess: bool = True
    rng: np.random.Generator | None = None
    drawing: bool = True
    _counted: dict[tuple[str, ...], Counts] = field(default_factory=dict, repr=False)

    @property
    def table(self) -> Table:
        """The source after its steps: what everything else is about."""
        return self.prepared.table

    @cached_property
    def prepared(self) -> Prepared:
        """The source after the steps of its project, and what they did."""
        if not self.project.steps:
            return Prepared(self.opened)
        refuse_steps(self.project)
        meaning = self.meaning or Meaning(self.project.columns, self.folder)
        rng = generator(self.rng)
        return stepped(self.opened, self.project, self.engine, meaning, rng, drawing=self.drawing)

    @cached_property
    def opened(self) -> Table:
        """The source, opened; refuses columns that the project file does not list, or lists and the source lacks."""
        if self.data is not None:
            table = self.engine.read(self.data, self.project.reading(None))
        elif self.project.source is not None:
            table = self._opened(self.project.source)
        else:
            raise BadInput("the project names no source; add a [source] section with the path of the table")
        check_names(self.project, table.columns)
        return self._coarse(table)

    def _coarse(self, table: Table) -> Table:
        columns = {name: column for name, column in self.project.columns.items() if column.coarse}
        if not columns:
            return table
        whole = self.meaning or Meaning(self.project.columns, self.folder)
        meaning = replace(whole, count=partial(self.engine.count, table))  # this table is not open for others yet
        cuts = []
        for name, column in columns.items():
            rows = self.engine.count(table, [name]).rows_of(name)
            cuts.append(coarse_cut(name, column, rows, partial(meaning.hierarchy, name, rows), self.least))
        return self.engine.recode(table, [Cuts(tuple(cuts))])

    @cached_property
    def population(self) -> Table | None:
        """The table of everybody, opened, or None; it must have the quasi-identifiers."""
        if self.project.population is None:
            return None
        table = self._opened(self.project.population)
        for name in self.project.quasi_identifiers:
            if name not in table.columns:
                raise BadInput(
                    f"the population lacks the quasi-identifier {name!r}.{did_you_mean(name, table.columns)}"
                )
        return table

    def _opened(self, place: Place) -> Table:
        how = replace(self.project.reading(place), guess=self.guess)
        return self.engine.read(located(self.folder, place), how)

    def count(self, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()) -> Counts:
        """Count some columns of the source, or add up what was counted of more of them: the rows are not read again."""
        names, further, numbers = tuple(columns), tuple(histograms), tuple(sums)

        def covers(counts: Counts) -> bool:
            known = (counts.names, counts.histograms, counts.sums)
            return all(
                set(wanted) <= set(there) for wanted, there in zip((names, further, numbers), known, strict=True)
            )

        counts = self._counted.get(names)
        if counts is None or not covers(counts):
            wider = next((counts for counts in self._counted.values() if covers(counts)), None)
            counts = (
                self.engine.count(self.table, names, histograms=further, sums=numbers)
                if wider is None
                else wider.project(names)
            )
            self._counted[names] = counts
        if tuple(counts.histograms) == further and tuple(counts.sums) == numbers:
            return counts
        # the same arrays, without what was counted along for others
        return replace(
            counts,
            histograms={name: counts.histograms[name] for name in further},
            sums={name: counts.sums[name] for name in numbers},
        )


def located(folder: Path, place: Place) -> str:
    """Where a source lies: relative paths start at the project file.

    >>> located(Path("projects"), Place(path="people.csv")).replace("\\\\", "/")
    'projects/people.csv'
    """
    return place.path if "://" in place.path else str(folder / place.path)
