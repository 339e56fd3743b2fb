"""From a project file to what methods need: the open table, its counts, hierarchies, meanings and promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.engines import Reading
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import Model, model, needed_columns
from keepsense.publish.project import Column, Project, Source
from keepsense.taxonomy import Mapping as Mapped
from keepsense.taxonomy import Taxonomy

Random = np.random.Generator | int | None


@dataclass(frozen=True, eq=False)
class Plan:
    """A project opened: everything is made when it is first asked for, once.

    >>> Plan.__name__
    'Plan'
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
    def dropped(self) -> tuple[str, ...]:
        """Columns that are not released."""
        gone = set(self.project.having("identifier", "person"))
        if self.project.unlisted == "drop":
            gone |= {name for name in self.table.columns if name not in self.project.columns}
        return tuple(name for name in self.table.columns if name in gone)

    @cached_property
    def models(self) -> list[Model]:
        """What is promised."""
        found = []
        for promise in self.project.privacy:
            options = dict(promise)
            found.append(model(str(options.pop("model")), **options))
        return found

    @cached_property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns by which people could be recognized; at least one."""
        found = self.project.quasi_identifiers
        if not found:
            raise BadInput('no column has the role "quasi-identifier"; name those by which people could be recognized')
        return found

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the quasi-identifiers, with what the models and targets need under each."""
        targets = [n for n in self.project.having("target") if self.project.columns[n].kind != "numeric"]
        numbers = [n for n in self.project.having("target") if self.project.columns[n].kind == "numeric"]
        histograms = dict.fromkeys([*needed_columns(self.models), *targets])
        return self.count(self.quasi_identifiers, histograms=histograms, sums=numbers)

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
            if column.taxonomy == "wordnet":
                from keepsense.taxonomy import wordnet

                whole = wordnet()
            else:
                from keepsense.taxonomy.loaders import read_taxonomy

                whole = read_taxonomy(self.folder / column.taxonomy)
            self._taxonomies[key] = whole if column.domain is None else whole.below(column.domain)
        return self._taxonomies[key]

    def mapping(self, name: str, values: Mapping[Value, int]) -> Mapped:
        """Concepts of a column's values: from its mapping file first, then found."""
        from keepsense.taxonomy import map_values

        column, taxonomy = self.column(name), self.taxonomy(name)
        table = None if column.mapping is None else Mapped.read(self.folder / column.mapping, taxonomy)
        words = {value: rows for value, rows in values.items() if value is not None}
        return map_values(words, taxonomy, table=table, senses=column.senses, column=name)

    def column(self, name: str) -> Column:
        """What the project file says about a column."""
        return self.project.columns[name]

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """Hierarchy of every quasi-identifier: read, or built."""
        from keepsense.publish.hierarchies import hierarchy_of

        counts = self.counts
        found = {}
        for name in self.quasi_identifiers:
            rows = dict(zip(counts.values_of(name), counts.marginal(name).tolist(), strict=True))
            found[name] = hierarchy_of(self, name, rows)
        return found


def _reading(source: Source) -> Reading:
    return Reading(source.format, source.delimiter, source.quote, source.encoding, None, source.table)
