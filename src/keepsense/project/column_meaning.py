"""What the values of a project's columns mean: taxonomies, senses, distances and items, without rows or an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, Finding
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.formats.hierarchy_formats import format_of, read_hierarchy
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_builder import build_hierarchy, build_shortlist, with_missing
from keepsense.project.project_file import Column
from keepsense.taxonomy.code_systems import SYSTEM, SYSTEMS
from keepsense.taxonomy.formats.taxonomy_library import imported

if TYPE_CHECKING:
    from keepsense.privacy.privacy_model import Model
    from keepsense.semantics.distance import Distance
    from keepsense.sets.concept_sets import ConceptSets
    from keepsense.sets.item_sets import ItemSets
    from keepsense.taxonomy.place_disambiguation import Areas
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.taxonomy.value_mapping import Mapping as Mapped


_BY_ITSELF: Literal["first"] = "first"  # keepsense.taxonomy.sense_disambiguation.ALONE
"""The way to choose a word's sense that looks at nothing but the word."""


def check_language(name: str, language: str | None, taxonomy: Taxonomy) -> None:
    """Refuse a taxonomy that is in another language than the words of the column; codes are of none.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> check_language("job", "de", wordnet())
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: column 'job': its words are in the language 'de', and WordNet 3.0 is in 'en'; give a \
taxonomy in that language, or none
    """
    own = taxonomy.info.get("language", "en")
    if (
        language is not None
        and own != "mul"
        and SYSTEM not in taxonomy.info
        and own.partition("-")[0] != language.partition("-")[0]
    ):
        raise BadInput(
            f"column {name!r}: its words are in the language {language!r}, and {taxonomy.name} is in {own!r}; give a "
            "taxonomy in that language, or none"
        )


def _options(column: Column) -> list[str]:
    """What `keepsense map` has to be told to map a column as its project does."""
    domains = [column.domain] if isinstance(column.domain, str) else column.domain or []
    said: dict[str, list[str]] = {
        "--taxonomy": [] if column.taxonomy is None else [str(column.taxonomy)],
        "--domain": domains,
        "--within": column.within,
        "--senses": [column.senses] if "senses" in column.model_fields_set else [],
        "--separator": [column.delimiter] if KINDS[column.kind].sets else [],
        "--use": [] if column.mapping is None else [column.mapping],
    }
    return [part for option, values in said.items() for value in values for part in (option, value)]


@dataclass(frozen=True, eq=False)
class Given:
    """What a program hands over in memory in place of what a project file names: by column, and the promises.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")])
    >>> Meaning({"job": Column()}, given=Given({"job": jobs})).hierarchy("job", {"nurse": 2, "clerk": 3}).rows()[0]
    ('nurse', 'medic', '*')
    """

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    models: Sequence[Model] = ()


@dataclass(frozen=True, eq=False)
class Meaning:
    """Columns by what the project file says about them; its relative paths start at `folder`.

    `taxonomies` are at hand already, by the names that columns give; others are found and kept here. `count` counts
    columns of the table together, for places whose areas other columns name; without it these say nothing.

    >>> words = Meaning({"job": Column(taxonomy="wordnet", domain="person")})
    >>> words.mapping("job", {"nurse": 2, "surgeon": 1}).coverage.values
    1.0
    >>> words.distance("job").pair("nurse", "nurse")
    0.0
    """

    columns: Mapping[str, Column]
    folder: Path = Path()
    taxonomies: dict[str, Taxonomy] = field(default_factory=dict, repr=False)
    given: Given = field(default_factory=Given)
    count: Callable[[Sequence[str]], Counts] | None = field(default=None, repr=False)
    _mapped: dict[tuple[str, bool, frozenset[tuple[Value, int]]], Mapped] = field(default_factory=dict, repr=False)
    _judges: dict[tuple[str, int], Distance] = field(default_factory=dict, repr=False)
    _divided: dict[str, tuple[list[Value], ItemSets]] = field(default_factory=dict, repr=False)

    def column(self, name: str) -> Column:
        """What the project file says about a column."""
        return self.columns[name]

    def taxonomy(self, name: str) -> Taxonomy:
        """Taxonomy of a column, restricted to its domain where that is one concept."""
        column = self.column(name)
        handed = self.given.taxonomies.get(name)
        if column.taxonomy is None and handed is None:
            raise BadInput(f'column {name!r} has no taxonomy; give it one, for instance taxonomy = "wordnet"')
        key = str(column.taxonomy if handed is None else id(handed))
        domain = column.domain if isinstance(column.domain, str) else None
        key = key if domain is None else f"{key}#{domain}"
        key = f"{key} of {name}" if column.taxonomy in SYSTEMS else key  # made from the column's own codes
        if key not in self.taxonomies:
            whole = self.taxonomy_named(str(column.taxonomy), name) if handed is None else handed
            check_language(name, column.language, whole)
            self.taxonomies[key] = whole if domain is None else whole.below(domain)
        return self.taxonomies[key]

    def taxonomy_named(self, name: str, column: str) -> Taxonomy:
        """A taxonomy by its name, or from a file beside the project file; one of codes, from those of a column."""
        from keepsense.taxonomy.formats.taxonomy_library import find

        beside, count = self.folder / name, self.count
        codes = None if count is None else lambda: [v for v in count([column]).values_of(column) if v is not None]
        return find(str(beside) if beside.exists() else name, codes)

    def distance(self, name: str) -> Distance:
        """Semantic distance of a column's values; the same one each time, so that what it measured is known again."""
        from keepsense.semantics.distance import distance

        taxonomy = self.taxonomy(name)
        key = (self.column(name).distance, id(taxonomy))  # kept alive by its distance
        if key not in self._judges:
            self._judges[key] = distance(self.column(name).distance, taxonomy)
        return self._judges[key]

    def mapping(self, name: str, values: Mapping[Value, int], *, alone: bool = False) -> Mapped:
        """Concepts of a column's values: from its mapping file first, then found.

        With `alone` each word is looked up by itself, as differential privacy needs it: what a word means must not
        depend on the other records. Ways to choose senses that do are refused where the project file asks for them.

        >>> birds, machines = {"crane": 9, "heron": 1}, {"crane": 9, "bulldozer": 1}
        >>> words = Meaning({"seen": Column(taxonomy="wordnet")})
        >>> [len({words.mapping("seen", v, alone=a).concepts["crane"] for v in (birds, machines)}) for a in (0, 1)]
        [2, 1]
        """
        column = self.column(name)
        if alone and column.senses != _BY_ITSELF and "senses" in column.model_fields_set:
            raise BadInput(
                f"column {name!r}: senses = {column.senses!r} looks at the other records, which would tell about them; "
                f"under differential privacy set senses = {_BY_ITSELF!r}, or say what words mean in a mapping file"
            )
        if alone and column.taxonomy in SYSTEMS and column.taxonomy not in imported():
            raise BadInput(
                f"column {name!r}: the taxonomy {column.taxonomy!r} is made from the codes in the table, which would "
                "tell about them; under differential privacy import the official file with `keepsense taxonomy import`"
            )
        present = {value: rows for value, rows in values.items() if value is not None}
        key = (name, alone, frozenset(present.items()))
        if key not in self._mapped:
            self._mapped[key] = self._looked_up(name, present, alone=alone)
        return self._mapped[key]

    def _looked_up(self, name: str, values: Mapping[Value, int], *, alone: bool) -> Mapped:
        from keepsense.taxonomy.mapper import map_values

        column = self.column(name)
        return map_values(
            values,
            self.taxonomy(name),
            table=self.own_senses(name),
            senses=_BY_ITSELF if alone else column.senses,
            domain=column.domain if isinstance(column.domain, list) else None,
            column=name,
            within=None if alone else self._areas(name),
            suggestions=column.suggestions,
        )

    def _areas(self, name: str) -> dict[Value, Areas] | None:
        """Where the places of a column lie, as far as other columns of its rows say so."""
        from keepsense.taxonomy.place_disambiguation import beside, is_places

        others = self.column(name).within
        if not others or self.count is None or not is_places(self.taxonomy(name)):
            return None
        counts = self.count([name, *others])
        values, *cells = ([counts.values_of(c)[i] for i in counts.column(c)] for c in (name, *others))
        return beside(values, zip(*cells, strict=True), self.taxonomy(name))

    def findings(self, name: str, values: Mapping[Value, int]) -> list[Finding]:
        """Values of a column that are unknown to its taxonomy, known in part or by several senses: counts, no value.

        Nothing where the column has no taxonomy, or a hierarchy that somebody made.

        >>> words = Meaning({"job": Column(taxonomy="wordnet", domain="person")})
        >>> [finding.code for finding in words.findings("job", {"surgeon": 2, "night nurse": 1, "zxcv": 1})]
        ['W101', 'W110']
        """
        column = self.column(name)
        read = column.hierarchy not in (None, "auto") or name in self.given.hierarchies
        if read or not KINDS[column.kind].words or (column.taxonomy is None and name not in self.given.taxonomies):
            return []
        return self.mapping(name, values).to_settle(_options(column))

    def own_senses(self, name: str) -> Mapped | None:
        """What the publisher's mapping file says that a column's words mean; None where there is none."""
        from keepsense.taxonomy.value_mapping import Mapping as Mapped

        file = self.column(name).mapping
        return None if file is None else Mapped.read(self.folder / file, self.taxonomy(name))

    def hierarchy(self, name: str, rows: Mapping[Value, int], least: int | None = None) -> Hierarchy:
        """Hierarchy of a column over exactly the values it has (a missing cell is one of them): read, or built.

        Labels may list values that no taxonomy knows where at least `least` rows hold them.

        >>> Meaning({"age": Column(kind="numeric")}).hierarchy("age", {"20": 2, "21": 3, "24": 2, "26": 2}).rows()[0]
        ('20', 'under 25', '*')
        """
        column = self.column(name)
        hierarchy = self.given.hierarchies.get(name)
        if hierarchy is None and column.hierarchy not in (None, "auto"):
            file = self.folder / str(column.hierarchy)
            known = column.taxonomy is not None or name in self.given.taxonomies
            hierarchy = read_hierarchy(
                file, name, taxonomy=self.taxonomy(name) if known and format_of(file).concepts else None
            )
        if hierarchy is not None:
            if not any(value is not None for value in rows):
                raise BadInput(f"column {name!r} is empty; drop it or give it another role")
            return with_missing(replace(hierarchy, name=name), rows)
        return build_hierarchy(rows, column.kind, **self._known(name, rows, least))

    def shortlist(self, name: str, rows: Mapping[Value, int], least: int | None = None) -> list[Hierarchy]:
        """Hierarchies that can be built for a column; a run takes the first.

        >>> words = Meaning({"job": Column(taxonomy="wordnet", domain="person")})
        >>> words.shortlist("job", {"nurse": 2, "surgeon": 1})[0].rows()[0]
        ('nurse', '*')
        """
        return build_shortlist(rows, self.column(name).kind, **self._known(name, rows, least))

    def _known(self, name: str, rows: Mapping[Value, int], least: int | None) -> dict[str, Any]:
        """What is known about a column, as a hierarchy of it is built from."""
        column = self.column(name)
        words = column.taxonomy is not None and KINDS[column.kind].words
        return {
            "name": name,
            "order": column.order,
            "taxonomy": self.taxonomy(name) if words else None,
            "mapping": self.mapping(name, rows) if words else None,
            "distance": column.distance,
            "choose": column.choose,
            "least": least,
        }

    def is_number(self, name: str) -> bool:
        """Whether the values of a column are numbers.

        >>> Meaning({"age": Column(kind="numeric")}).is_number("age")
        True
        """
        return KINDS[self.column(name).kind].numbers

    # ---- sets ----------------------------------------------------------------------------------------------------

    def holds_sets(self, name: str) -> bool:
        """Whether the cells of a column are sets of items."""
        return KINDS[self.column(name).kind].sets

    def items(self, name: str, cells: Sequence[Value]) -> ItemSets:
        """Cells of a set-valued column, divided into their items; the same cells are not divided again."""
        from keepsense.sets.item_sets import read_cells

        cells = list(cells)
        if name not in self._divided or self._divided[name][0] != cells:
            self._divided[name] = cells, read_cells(cells, delimiter=self.column(name).delimiter, column=name)
        return self._divided[name][1]

    def concept_sets(self, name: str, items: ItemSets) -> ConceptSets:
        """What the items of a set-valued column mean: by its mapping file first, then by its taxonomy."""
        from keepsense.sets.concept_sets import map_sets

        column = self.column(name)
        if column.taxonomy is None:
            return map_sets(items, None)
        return map_sets(
            items,
            self.taxonomy(name),
            table=self.own_senses(name),
            senses=column.senses,
            domain=column.domain if isinstance(column.domain, list) else None,
            suggestions=column.suggestions,
        )

    def item_rows(self, name: str, rows: Mapping[Value, int]) -> dict[Value, int]:
        """Items of a set-valued column and the rows that hold each, from its cells and theirs.

        >>> Meaning({"likes": Column(kind="set")}).item_rows("likes", {"tea;chess": 2, "tea": 1})
        {'chess': 2, 'tea': 3}
        """
        sets = self.items(name, list(rows))
        weights = np.array(list(rows.values()), dtype=np.int64)
        times = np.bincount(sets.rows.indices, weights[sets.rows.row_of()], len(sets.items)).astype(np.int64)
        return dict(zip(sets.items, times.tolist(), strict=True))
