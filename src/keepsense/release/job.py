"""From a project file to what methods need: the open table, its counts, hierarchies, meanings and promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.engines import Reading, Writing
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import Model, needed_columns, with_population
from keepsense.privacy.presence import POPULATION
from keepsense.project.file import Column, Project, Source
from keepsense.release.mechanisms import promised

if TYPE_CHECKING:
    from keepsense.methods.aggregate.concepts import ConceptSets
    from keepsense.methods.aggregate.items import ItemSets
    from keepsense.semantics import Distance
    from keepsense.taxonomy import Mapping as Mapped
    from keepsense.taxonomy import Taxonomy

Random = np.random.Generator | int | None


@dataclass(frozen=True, eq=False)
class Job:
    """A project opened: everything is made when it is first asked for, once.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> job.dropped, job.hierarchies["job"].rows()[0], job.item_rows("likes", {"tea;chess": 2, "tea": 1})
    (('id',), ('nurse', 'medic', '*'), {'chess': 2, 'tea': 3})
    """

    project: Project
    folder: Path
    engine: Any
    rng: np.random.Generator

    @cached_property
    def table(self) -> Any:
        """The source, opened; refuses columns that the project file does not list, or lists and the source lacks."""
        table = self.engine.read(self.located(self.project.source), _reading(self.project.source))
        for name in self.project.columns:
            if name not in table.columns:
                raise BadInput(
                    f"the project file lists the column {name!r}, but the source has no such column."
                    f"{did_you_mean(name, table.columns)}"
                )
        unlisted = [name for name in table.columns if name not in self.project.columns]
        if unlisted and self.project.unlisted == "refuse":
            raise BadInput(
                f"the source has columns that the project file does not list: {', '.join(unlisted)}; give each a role, "
                'or set unlisted = "drop" or "keep"'
            )
        return table

    def located(self, source: Source) -> str:
        """Where a source lies: relative paths start at the project file."""
        if "://" in source.path:
            return source.path
        return str(self.folder / source.path)

    @property
    def released_name(self) -> str:
        """Name of the released file: as asked for, or that of the source; a table of a server goes into a CSV file."""
        source = self.project.source
        if self.project.release.file is None and "://" in source.path:
            return f"{(source.table or 'released').split('.')[-1].strip(chr(34))}.csv"
        return self.project.release.file or Path(source.path).name

    @property
    def released_table(self) -> str:
        """Name of the released table or sheet, where the release goes into one."""
        return self.project.release.table or Writing().table

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that are not released."""
        gone = set(self.project.having("identifier", "person"))
        if self.project.unlisted == "drop":
            gone |= {name for name in self.table.columns if name not in self.project.columns}
        return tuple(name for name in self.table.columns if name in gone)

    @cached_property
    def models(self) -> list[Model]:
        """What is promised."""
        found: list[Model] = []
        for promise in self.project.privacy:
            options = dict(promise)
            name = str(options.pop("model"))
            found.append(promised(name, **options))
        return found

    @cached_property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns by which people could be recognized, as far as the method decides on them; at least one."""
        chosen = self.project.quasi_identifiers
        if not chosen:
            raise BadInput('no column has the role "quasi-identifier"; name those by which people could be recognized')
        single = tuple(name for name in chosen if not self.holds_sets(name))
        if self._method.sets == "only":
            if single:
                raise BadInput(
                    f"the method {self._method.name!r} is for sets, but {single[0]!r} holds single values: name a "
                    "method for those in [method], and this one in [set_method]"
                )
            return chosen
        if self._method.sets == "together":
            return chosen
        if not single:
            raise BadInput("all quasi-identifiers hold sets; choose a method for sets, such as set microaggregation")
        return single

    @property
    def set_columns(self) -> tuple[str, ...]:
        """Set-valued quasi-identifiers, recoded one after another inside the classes of what is recoded before."""
        if self._method.sets == "together":
            return ()
        return tuple(name for name in self.project.quasi_identifiers if self.holds_sets(name))

    @property
    def every_quasi_identifier(self) -> tuple[str, ...]:
        """All columns by which people could be recognized, those with sets too: what promises are about."""
        return tuple(dict.fromkeys((*self.quasi_identifiers, *self.set_columns)))

    @property
    def _method(self) -> Any:
        from keepsense.release.techniques import technique

        return technique(self.project.method.name)

    @property
    def truthful(self) -> bool:
        """Whether the method releases values that are true, if less exact."""
        return bool(self._method.truthful)

    @property
    def released(self) -> tuple[str, ...]:
        """Columns of the release."""
        return tuple(name for name in self.table.columns if name not in self.dropped)

    @property
    def missing(self) -> Literal["category", "wildcard"]:
        """What empty cells of the quasi-identifiers are: values of their own, or such that fit any.

        Where columns differ the stricter reading counts for all; the verifier goes by `wildcards`, column by column.
        """
        return "wildcard" if self.wildcards == self.every_quasi_identifier else "category"

    @property
    def wildcards(self) -> tuple[str, ...]:
        """Quasi-identifiers whose empty cells fit any value."""
        return tuple(name for name in self.every_quasi_identifier if self.column(name).missing == "wildcard")

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the quasi-identifiers, with what the models and targets need under each."""
        if POPULATION not in needed_columns(self.models):
            return self.own_counts
        if self.population is None:
            raise BadInput("a promise compares with the population; say where that table is in [population]")
        return with_population(self.own_counts, self.count_in(self.population))

    @cached_property
    def own_counts(self) -> Counts:
        """The same of the source alone, without the tuples that only a population holds."""
        targets = [n for n in self.project.having("target") if self.project.columns[n].kind != "numeric"]
        numbers = [n for n in self.project.having("target") if self.project.columns[n].kind == "numeric"]
        needed = [n for n in needed_columns(self.models) if n != POPULATION and n not in self.set_columns]
        sums = [*numbers, *self.project.having("weight")]
        return self.count(self.quasi_identifiers, histograms=dict.fromkeys([*needed, *targets]), sums=sums)

    @cached_property
    def population(self) -> Any:
        """The table of everybody, opened, or None; it must have the quasi-identifiers."""
        given = self.project.population
        if given is None:
            return None
        table = self.engine.read(self.located(given), _reading(given))
        for name in self.quasi_identifiers:
            if name not in table.columns:
                raise BadInput(
                    f"the population lacks the quasi-identifier {name!r}.{did_you_mean(name, table.columns)}"
                )
        return table

    def count_in(self, table: Any) -> Counts:
        """Count the quasi-identifiers of another table, a population or a release."""
        found: Counts = self.engine.count(table, self.every_quasi_identifier)
        return found

    @cached_property
    def every_count(self) -> Counts:
        """Distinct tuples of all quasi-identifiers of the source, those with sets too."""
        if self.every_quasi_identifier == self.quasi_identifiers:
            return self.own_counts
        return self.count_in(self.table)

    def count(self, columns: Sequence[str], *, histograms: Any = (), sums: Any = ()) -> Counts:
        """Count some columns of the source."""
        found: Counts = self.engine.count(self.table, columns, histograms=histograms, sums=sums)
        return found

    # ---- meaning -------------------------------------------------------------------------------------------------

    @cached_property
    def _taxonomies(self) -> dict[str, Taxonomy]:
        return {}

    def taxonomy(self, name: str) -> Taxonomy:
        """Taxonomy of a column, restricted to its domain."""
        column = self.column(name)
        if column.taxonomy is None:
            raise BadInput(f'column {name!r} has no taxonomy; give it one, for instance taxonomy = "wordnet"')
        key = f"{column.taxonomy}#{column.domain}"
        if key not in self._taxonomies:
            from keepsense.taxonomy.library import find

            beside = self.folder / column.taxonomy
            whole = find(str(beside) if beside.exists() else column.taxonomy)
            self._taxonomies[key] = whole if column.domain is None else whole.below(column.domain)
        return self._taxonomies[key]

    def mapping(self, name: str, values: Mapping[Value, int]) -> Mapped:
        """Concepts of a column's values: from its mapping file first, then found."""
        from keepsense.taxonomy import map_values

        column, taxonomy, table = self.column(name), self.taxonomy(name), self.own_senses(name)
        words = {value: rows for value, rows in values.items() if value is not None}
        return map_values(words, taxonomy, table=table, senses=column.senses, column=name)

    def own_senses(self, name: str) -> Mapped | None:
        """What the publisher's mapping file says that a column's words mean; None where there is none."""
        from keepsense.taxonomy import Mapping as Mapped

        file = self.column(name).mapping
        return None if file is None else Mapped.read(self.folder / file, self.taxonomy(name))

    def column(self, name: str) -> Column:
        """What the project file says about a column."""
        return self.project.columns[name]

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """Hierarchy of every quasi-identifier: read, or built."""
        from keepsense.release.hierarchies import hierarchy_of

        found = {}
        for name in self.quasi_identifiers:
            rows = self.counts.rows_of(name)
            found[name] = hierarchy_of(self, name, self.item_rows(name, rows) if self.holds_sets(name) else rows)
        return found

    @cached_property
    def distances(self) -> dict[str, Distance]:
        """Semantic distance of every quasi-identifier whose hierarchy knows what values mean, be it some of them."""
        from keepsense.semantics import distance

        return {
            name: distance(self.column(name).distance, self.taxonomy(name))
            for name, tree in self.hierarchies.items()
            if self.column(name).taxonomy is not None and tree.concepts is not None and (tree.concepts[0] >= 0).any()
        }

    # ---- sets ----------------------------------------------------------------------------------------------------

    def holds_sets(self, name: str) -> bool:
        """Whether the cells of a column are sets of items."""
        return self.column(name).kind == "set"

    def items(self, name: str, cells: Sequence[Value]) -> ItemSets:
        """Cells of a set-valued column, divided into their items."""
        from keepsense.methods.aggregate.items import read_cells

        return read_cells(cells, delimiter=self.column(name).delimiter, column=name)

    def concept_sets(self, name: str, items: ItemSets) -> ConceptSets:
        """What the items of a set-valued column mean: by its mapping file first, then by its taxonomy."""
        from keepsense.methods.aggregate.concepts import map_sets

        column = self.column(name)
        senses = "first" if column.senses == "joint" else column.senses
        if column.taxonomy is None:
            return map_sets(items, None, senses=senses)
        return map_sets(items, self.taxonomy(name), table=self.own_senses(name), senses=senses)

    def item_rows(self, name: str, rows: Mapping[Value, int]) -> dict[Value, int]:
        """Items of a set-valued column and the rows that hold each, from its cells and theirs."""
        sets = self.items(name, list(rows))
        weights = np.array(list(rows.values()), dtype=np.int64)
        times = np.bincount(sets.rows.indices, weights[sets.rows.row_of()], len(sets.items)).astype(np.int64)
        return dict(zip(sets.items, times.tolist(), strict=True))


def _reading(source: Source) -> Reading:
    return Reading(source.format, source.delimiter, source.quote, source.encoding, source.header, source.table)
