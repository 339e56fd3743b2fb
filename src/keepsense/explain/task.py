"""A lesson as a task for a method: what a method may ask of a job, answered from a small table in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.lessons.lesson import Lesson
from keepsense.lessons.recorder import Story
from keepsense.methods.task import Part, Result
from keepsense.privacy.privacy_model import Model
from keepsense.project.column_attributes import attributes_of
from keepsense.project.project_file import Column
from keepsense.semantics.attribute import Attribute
from keepsense.semantics.distance import Distance
from keepsense.sets.concept_sets import ConceptSets
from keepsense.sets.item_sets import ItemSets
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.value_mapping import Mapping as Mapped


@dataclass(frozen=True, eq=False)
class LessonTask:
    """What a method asks of a job, for the table of a lesson; the story hears what is counted.

    >>> from keepsense.lessons.lesson import example
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> lesson = example()
    >>> task = LessonTask(lesson, Story(lesson, ("age",), 2), [KAnonymity(2)], np.random.default_rng(1))
    >>> task.counts.names, task.column("age").kind
    (('age',), 'numeric')
    """

    lesson: Lesson
    story: Story
    models: Sequence[Model]
    rng: np.random.Generator
    suppression: float = 0.0
    person: str | None = None

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that the method decides on."""
        return self.story.names

    every_quasi_identifier = quasi_identifiers

    @property
    def released(self) -> tuple[str, ...]:
        """All columns of the table."""
        return tuple(self.lesson.columns)

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the quasi-identifiers."""
        return self.count(self.quasi_identifiers)

    def count(self, columns: Sequence[str]) -> Counts:
        """Distinct tuples of some columns, which the method will speak of from now on."""
        self.story.tuple_of = self.lesson.tuple_of(columns)
        self.story.beside = tuple(name for name in columns if name not in self.quasi_identifiers)
        return self.lesson.count(columns)

    @property
    def target(self) -> str | None:
        """The column that the release is to predict."""
        return next(iter(self.lesson.targets), None)

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """How the values of each quasi-identifier generalize."""
        return {name: self.lesson.hierarchies[name] for name in self.quasi_identifiers}

    @property
    def distances(self) -> dict[str, Distance]:
        """Semantic distance of every quasi-identifier whose hierarchy knows what values mean, be it some of them."""
        trees = {name: tree for name, tree in self.hierarchies.items() if self.column(name).taxonomy is not None}
        return {
            name: self.lesson.meaning.distance(name)
            for name, tree in trees.items()
            if tree.concepts is not None and (tree.concepts[0] >= 0).any()
        }

    def column(self, name: str) -> Column:
        """What is known of a column."""
        return self.lesson.column(name)

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """What a function makes of each of some parts."""
        return [function(part) for part in parts]

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

    def taxonomy(self, name: str) -> Taxonomy:
        """Taxonomy of a column's words."""
        return self.lesson.meaning.taxonomy(name)

    def mapping(self, name: str, values: Mapping[Value, int], *, alone: bool = False) -> Mapped:
        """Concepts of a column's words."""
        return self.lesson.meaning.mapping(name, values, alone=alone)

    def own_senses(self, name: str) -> Mapped | None:
        """What a mapping file says that a column's words mean."""
        return self.lesson.meaning.own_senses(name)

    def items(self, name: str, cells: Sequence[Value]) -> ItemSets:
        """Cells of a column of sets, divided into their items."""
        return self.lesson.meaning.items(name, cells)

    def concept_sets(self, name: str, items: ItemSets) -> ConceptSets:
        """What the items of a column of sets mean."""
        return self.lesson.meaning.concept_sets(name, items)
