"""A project with its data: columns, source, meanings of values and promises, opened on demand.

`Job` is all that methods may ask of a project (`keepsense.methods.task`); each part of it is a small value of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from keepsense.counts import Counts, Value, with_joined
from keepsense.engines.protocol import CountsAnew, Engine, Table, Writing
from keepsense.errors import BadInput, TooLarge
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method, method
from keepsense.methods.task import Part, Result, least_size
from keepsense.privacy.beta_likeness import OfConcepts
from keepsense.privacy.dp_promises import differentially_private
from keepsense.privacy.earth_movers_distance import OwnTree
from keepsense.privacy.k_map import POPULATION, with_population
from keepsense.privacy.privacy_model import Model, bind, joined_columns, model, needed_columns
from keepsense.privacy.reference_distributions import Concepts
from keepsense.privacy.t_closeness import TCloseness
from keepsense.project.column_attributes import attributes_of
from keepsense.project.column_meaning import Given, Meaning
from keepsense.project.project_file import Column, Project
from keepsense.project.source_columns import Columns, resolve
from keepsense.release.job.large import outgrown, plain_rows, what_would_do
from keepsense.release.job.sensitive import concepts_of, tree_of
from keepsense.release.job.source import Source

if TYPE_CHECKING:
    from keepsense.semantics.attribute import Attribute
    from keepsense.semantics.distance import Distance
    from keepsense.sets.concept_sets import ConceptSets
    from keepsense.sets.item_sets import ItemSets
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.taxonomy.value_mapping import Mapping as Mapped

_USUAL_K = 5


@dataclass(frozen=True, eq=False)
class Job:
    """A project opened: everything is made when it is first asked for, once.

    `data` is a table in memory in place of the source that the project file names, `given` what else is in memory.
    Without `drawing` steps in which chance has a part are left out.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> job.dropped, job.hierarchies["job"].rows()[0], job.item_rows("likes", {"tea;chess": 2, "tea": 1})
    (('id',), ('nurse', 'medic', '*'), {'chess': 2, 'tea': 3})
    """

    project: Project
    folder: Path
    engine: Engine
    rng: np.random.Generator
    data: object = None
    given: Given = field(default_factory=Given)
    drawing: bool = True

    # ---- the parts -----------------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> Source:
        """The rows, opened and counted once."""
        guess = not differentially_private(self.models)
        return Source(
            self.project,
            self.folder,
            self.engine,
            self.data,
            self.meaning,
            self.hidden_among,
            guess,
            self.rng,
            self.drawing,
        )

    @cached_property
    def columns(self) -> Columns:
        """Roles of the columns that the source has."""
        return resolve(self.project, self.table.columns, self.method)

    @cached_property
    def meaning(self) -> Meaning:
        """What values mean."""
        return Meaning(self.project.columns, self.folder, given=self.given, count=self.count)

    @cached_property
    def method(self) -> Method:
        """The method of the project."""
        return method(self.project.method.name)

    @cached_property
    def models(self) -> list[Model]:
        """What is promised; a model in memory stands for the promise that it spells."""
        return [self._model(promise) for promise in self.project.privacy]

    def _model(self, promise: Mapping[str, Any]) -> Model:
        handed = next((handed for handed in self.given.models if handed.promise() == promise), None)
        parameters = {key: value for key, value in promise.items() if key != "model"}
        made = model(str(promise["model"]), **parameters) if handed is None else handed
        if isinstance(made, OfConcepts) and made.concepts is None:
            # of the values in the classes, which are counted when all promises are known
            name = made.column
            return made.meant(Concepts(lambda: concepts_of(self.meaning, name, self.own_counts.histograms[name])))
        if isinstance(made, TCloseness) and isinstance(made.ground, OwnTree):
            name = made.column
            tree = OwnTree(lambda: tree_of(self.meaning, name, self.count([name]).rows_of(name)))
            return replace(made, ground=tree)
        return made

    @property
    def hidden_among(self) -> int:
        """Among how many people somebody is hidden: as the promises say, or five where none of them does."""
        return max(2, least_size(self.models) or _USUAL_K)

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """Hierarchy of every quasi-identifier: read, or built."""
        return {name: self.hierarchy(name) for name in self.quasi_identifiers}

    def hierarchy(self, name: str) -> Hierarchy:
        """Hierarchy of one quasi-identifier: what the steps before the method left of it, read, or built."""
        if name in self.source.prepared.hierarchies:
            return self.source.prepared.hierarchies[name]
        return self.meaning.hierarchy(name, self.rows_of(name), self.least_listed)

    @property
    def least_listed(self) -> int | None:
        """Rows from which on a label may list a value that no taxonomy knows; None where rows are no measure of people.

        What fewer than k people wrote may tell who they are.
        """
        return None if self.person else self.hidden_among

    def rows_of(self, name: str) -> dict[Value, int]:
        """Values of a quasi-identifier and the rows that hold each; the items of sets."""
        rows = self.counts.rows_of(name)
        return self.item_rows(name, rows) if self.holds_sets(name) else rows

    @cached_property
    def distances(self) -> dict[str, Distance]:
        """Semantic distance of every quasi-identifier whose hierarchy knows what values mean, be it some of them."""
        return self.distances_of(self.hierarchies)

    def distances_of(self, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Distance]:
        """The same where columns have these hierarchies."""
        return {
            name: self.meaning.distance(name)
            for name, tree in hierarchies.items()
            if self.column(name).taxonomy is not None and tree.concepts is not None and (tree.concepts[0] >= 0).any()
        }

    def narrowed(self, counts: Counts) -> Job:
        """The same job for some of its tuples alone; promises that compare with the whole table still do.

        >>> from keepsense.release.example import example_job
        >>> job = example_job()
        >>> job.narrowed(job.counts.some([0, 1])).counts.total < job.counts.total
        True
        """
        models, _ = bind(self.models, self.counts), self.hierarchies
        part = copy.copy(self)  # with what was made already
        vars(part).update(counts=counts, models=models)
        return part

    @property
    def truthful(self) -> bool:
        """Whether the method releases values that are true, if less exact."""
        return bool(self.method.truthful)

    @property
    def about_classes(self) -> bool:
        """Whether classes protect people: not where values were changed and no size of classes is promised."""
        return self.truthful or any(int(m.promise().get("k", 0)) > 1 for m in self.models)

    @property
    def suppression(self) -> float:
        """Share of the records that may be suppressed."""
        return self.project.release.suppression

    @property
    def target(self) -> str | None:
        """The column that readers of the release want to predict, if there is one."""
        return next(iter(self.project.having("target")), None)

    @property
    def person(self) -> str | None:
        """The column that tells which rows belong to one person, if there is one."""
        return next(iter(self.project.having("person")), None)

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """What a function makes of each of some parts, in their order, wherever the engine runs it."""
        return self.engine.each(function, parts)

    def attributes(
        self,
        counts: Counts,
        names: Sequence[str] | None = None,
        *,
        meaning: bool = False,
        apart: bool = False,
    ) -> list[Attribute]:
        """What columns mean to methods that measure distances; with `meaning` every word must be a concept."""
        return attributes_of(self, counts, names, meaning=meaning, apart=apart)

    # ---- counts --------------------------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the quasi-identifiers, with what the models and targets need under each."""
        if POPULATION not in needed_columns(self.models):
            return self.own_counts
        if self.population_counts is None:
            raise BadInput("a promise compares with the population; say where that table is in [population]")
        return with_population(self.own_counts, self.population_counts)

    @cached_property
    def own_counts(self) -> Counts:
        """The same of the source alone, without the tuples that only a population holds."""
        targeted = {name: self.project.columns[name] for name in self.project.having("target")}
        numeric = {name: KINDS[c.kind].numbers and not c.coarse for name, c in targeted.items()}
        needed = [n for n in needed_columns(self.models) if n != POPULATION and n not in self.set_columns]
        targets = [name for name, is_number in numeric.items() if not is_number]
        sums = [*(name for name, is_number in numeric.items() if is_number), *self.project.having("weight")]
        further = dict.fromkeys([*needed, *targets])
        joined = joined_columns(self.models)
        further = {name: None for name in further if name not in joined}
        plain = not joined and not sums and plain_rows(self)
        if plain and self.method.coarser and (large := outgrown(self, further)) is not None:
            return large
        try:
            if joined:
                return self._gathered(joined, further, sums)
            if isinstance(self.engine, CountsAnew):  # columns are at hand as codes, of which nothing need be added up
                counts = self.count(self.quasi_identifiers, histograms=further, sums=sums)
                self.count(self.every_quasi_identifier)
                return counts
            # all columns in one scan; what the method decides on is added up from it
            self.count(self.every_quasi_identifier, histograms=further, sums=sums)
            return self.count(self.quasi_identifiers, histograms=further, sums=sums)
        except TooLarge as error:
            raise TooLarge(f"{error}{what_would_do(self, plain)}") from None

    def _gathered(self, joined: Mapping[str, tuple[str, ...]], further: Iterable[str], sums: Iterable[str]) -> Counts:
        """Counts with histograms of tuples: those of several columns that a promise is about together."""
        names = list(dict.fromkeys(part for parts in joined.values() for part in parts))
        counts = self.count(self.quasi_identifiers, histograms=further, sums=sums)
        wide = self.count([*self.quasi_identifiers, *names])
        return with_joined(counts, wide, joined)

    @cached_property
    def every_count(self) -> Counts:
        """Distinct tuples of all quasi-identifiers of the source, those with sets too."""
        if self.every_quasi_identifier == self.quasi_identifiers:
            return self.own_counts
        return self.count(self.every_quasi_identifier)

    @cached_property
    def population_counts(self) -> Counts | None:
        """Distinct tuples of the quasi-identifiers of everybody, or None where no population is given."""
        return None if self.population is None else self.count_in(self.population)

    def count_in(self, table: Table) -> Counts:
        """Count the quasi-identifiers of another table, a population or a release."""
        return self.engine.count(table, self.every_quasi_identifier)

    def count(self, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()) -> Counts:
        """Count some columns of the source."""
        return self.source.count(columns, histograms=histograms, sums=sums)

    # ---- the release ---------------------------------------------------------------------------------------------

    @property
    def released_name(self) -> str:
        """Name of the released file: as asked for, or that of the source; a table of a server goes into a CSV file."""
        source, file = self.project.source, self.project.release.file
        if file is not None:
            return file
        if self.data is not None or source is None:
            return "released.parquet"
        if "://" in source.path:
            return f"{(source.table or 'released').split('.')[-1].strip(chr(34))}.csv"
        return Path(source.path).name

    @property
    def released_table(self) -> str:
        """Name of the released table or sheet, where the release goes into one."""
        return self.project.release.table or Writing().table

    # ---- what the parts know -------------------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """The source, opened."""
        return self.source.table

    @property
    def population(self) -> Table | None:
        """The table of everybody, opened, or None."""
        return self.source.population

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that are not released."""
        return self.columns.dropped

    @property
    def released(self) -> tuple[str, ...]:
        """Columns of the release."""
        return self.columns.released

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns by which people could be recognized, as far as the method decides on them; at least one."""
        return self.columns.quasi_identifiers

    @property
    def set_columns(self) -> tuple[str, ...]:
        """Set-valued quasi-identifiers that are recoded after the others."""
        return self.columns.set_columns

    @property
    def every_quasi_identifier(self) -> tuple[str, ...]:
        """All columns by which people could be recognized, those with sets too: what promises are about."""
        return self.columns.every_quasi_identifier

    @property
    def coarse(self) -> tuple[str, ...]:
        """Columns that are released in bands, or at a level of their hierarchy, without being quasi-identifiers."""
        return tuple(name for name, column in self.project.columns.items() if column.coarse)

    @property
    def changed_by_steps(self) -> tuple[str, ...]:
        """Columns whose values steps changed, so that they are not true of their records any more."""
        changing = (step for step in self.project.steps if not method(step.name).truthful)
        return tuple(dict.fromkeys(name for step in changing for name in step.columns))

    @property
    def all_rows(self) -> bool:
        """Whether the source has the rows that the method saw: not where steps drew some that are not drawn again."""
        return self.drawing or all(step.columns for step in self.project.steps)

    @property
    def wildcards(self) -> tuple[str, ...]:
        """Quasi-identifiers whose empty cells fit any value."""
        return self.columns.wildcards

    @property
    def missing(self) -> Literal["category", "wildcard"]:
        """What empty cells of the quasi-identifiers are: values of their own, or such that fit any."""
        return self.columns.missing

    def column(self, name: str) -> Column:
        """What the project file says about a column; numbers and dates that steps made coarser are in order only."""
        column = self.project.columns[name]
        tree = self.source.prepared.hierarchies.get(name)
        if tree is None or tree.kind == column.kind:
            return column
        order = [str(value) for value in tree.leaves if value is not None]
        return column.model_copy(update={"kind": tree.kind, "order": order})

    def taxonomy(self, name: str) -> Taxonomy:
        """Taxonomy of a column, restricted to its domain."""
        return self.meaning.taxonomy(name)

    def mapping(self, name: str, values: Mapping[Value, int], *, alone: bool = False) -> Mapped:
        """Concepts of a column's values."""
        return self.meaning.mapping(name, values, alone=alone)

    def own_senses(self, name: str) -> Mapped | None:
        """What the publisher's mapping file says that a column's words mean."""
        return self.meaning.own_senses(name)

    def holds_sets(self, name: str) -> bool:
        """Whether the cells of a column are sets of items."""
        return self.meaning.holds_sets(name)

    def items(self, name: str, cells: Sequence[Value]) -> ItemSets:
        """Cells of a set-valued column, divided into their items."""
        return self.meaning.items(name, cells)

    def concept_sets(self, name: str, items: ItemSets) -> ConceptSets:
        """What the items of a set-valued column mean."""
        return self.meaning.concept_sets(name, items)

    def item_rows(self, name: str, rows: Mapping[Value, int]) -> dict[Value, int]:
        """Items of a set-valued column and the rows that hold each."""
        return self.meaning.item_rows(name, rows)
