"""Steps of a project file: changes of the rows before its method decides, one after the other.

Whatever comes later (hierarchies, the method, promises about sensitive values, the checks of what columns tell) sees
the table as the steps left it, and the verifier reads the file that comes out at the end: one promise for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.engines.protocol import Engine, Table
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_builder import coarser
from keepsense.methods.method import LEFT_OUT, Method, method
from keepsense.methods.task import Part, Result
from keepsense.privacy.privacy_model import Model
from keepsense.project.column_attributes import attributes_of
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column, Project, Step
from keepsense.project.roles import ROLES
from keepsense.recoding import Cells, Cuts, Recoding
from keepsense.release.job.nearest import found_by_nearest

if TYPE_CHECKING:
    from keepsense.semantics.attribute import Attribute
    from keepsense.semantics.distance import Distance
    from keepsense.sets.concept_sets import ConceptSets
    from keepsense.sets.item_sets import ItemSets
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.taxonomy.value_mapping import Mapping as Mapped

_SECRET = {"seed", "rng"}


@dataclass(frozen=True, eq=False)
class Done:
    """A step that was done: by which method, with what, and the share of detail that each column lost in it.

    `lost` is the mean over rows of (values that a label stands for - 1) / (values of the hierarchy - 1).

    >>> Done(Step(name="sampling", parameters={"size": 5}), method("sampling"), 5).described()["rows"]
    5
    """

    step: Step
    method: Method
    rows: int
    lost: Mapping[str, float] = field(default_factory=dict)

    @property
    def draws(self) -> bool:
        """Whether chance had a part in it: done again, it comes out otherwise."""
        return draws(self.method)

    def described(self) -> dict[str, Any]:
        """What the public description says of it."""
        return {
            "name": self.step.name,
            "columns": list(self.step.columns),
            "parameters": {key: value for key, value in self.step.parameters.items() if key not in _SECRET},
            "rows": self.rows,
            **({"lost": {name: round(share, 3) for name, share in self.lost.items()}} if self.lost else {}),
        }


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table after its steps, and the hierarchies of the columns that became coarser in them.

    `found` is, for columns whose values were changed, the share of people whom the nearest value still finds.

    >>> from keepsense.release.example import example_job
    >>> example_job().source.prepared.done
    ()
    """

    table: Table
    done: tuple[Done, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    found: Mapping[str, float] = field(default_factory=dict)


def draws(method: Method) -> bool:
    """Whether a method draws rows or values, so that it comes out otherwise when it is done again.

    >>> draws(method("sampling")), draws(method("global recoding"))
    (True, False)
    """
    return not method.whole_values


def refuse_steps(project: Project) -> None:
    """Refuse steps that cannot be done, or would break what is promised otherwise, before anything is read.

    >>> promise = {"model": "k-anonymity", "k": 2}
    >>> project = Project.model_validate({"privacy": [promise], "steps": [{"name": "optimal"}]})
    >>> refuse_steps(project)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: step 1: 'optimal' is no step of a project file; name it in [method], or one of these: ...
    """
    for number, step in enumerate(project.steps, start=1):
        try:
            _refuse(project, step, method(step.name))
        except BadInput as error:
            raise BadInput(f"step {number}: {error}") from None


def _refuse(project: Project, step: Step, chosen: Method) -> None:
    chosen.check_step()
    if not step.columns and project.having("weight") and not chosen.whole_values:
        raise BadInput(
            f"{chosen.name} changes how many people each row stands for, but "
            f"{project.having('weight')[0]!r} would be released as it was; draw first and weigh then"
        )
    for name in step.columns:
        column = project.columns.get(name)
        if column is None:
            raise BadInput(f"the project file lists no column {name!r}.{did_you_mean(name, list(project.columns))}")
        if not ROLES[column.role].described:
            raise BadInput(f"column {name!r} has the role {column.role}; steps are for columns that are released")
        if KINDS[column.kind].sets:
            raise BadInput(f"column {name!r} holds sets, which only a method for sets changes; see [set_method]")
        if column.coarse:
            raise BadInput(f"column {name!r} has a width or a level; leave that out of [columns.{name}], or the step")
        if column.role == "quasi-identifier":
            _refuse_quasi_identifier(project, name, chosen)


def _refuse_quasi_identifier(project: Project, name: str, chosen: Method) -> None:
    if not chosen.truthful:
        raise BadInput(
            f"{chosen.name} changes values, and {name!r} is a quasi-identifier: promises about classes would be about "
            "values that nobody has; name it in [method], or give the column another role"
        )
    if project.population is not None:
        raise BadInput(
            f"column {name!r} is looked up in the population, which is not recoded by steps; recode it in both tables "
            "first, or leave the step out"
        )


def stepped(
    table: Table,
    project: Project,
    engine: Engine,
    meaning: Meaning,
    rng: np.random.Generator,
    *,
    drawing: bool = True,
) -> Prepared:
    """Do the steps of a project one after the other; without `drawing` only those in which chance has no part.

    >>> from keepsense.release.example import example_job
    >>> coded = {"name": "top and bottom coding", "columns": ["age"], "parameters": {"top": 50}}
    >>> job = example_job(steps=[coded, {"name": "sampling", "parameters": {"size": 16}}])
    >>> job.table.rows, sorted(job.count(["age"]).rows_of("age"))[-1], [done.rows for done in job.source.prepared.done]
    (16, '50 or more', [20, 16])
    """
    done: list[Done] = []
    trees: dict[str, Hierarchy] = {}
    found: dict[str, float] = {}
    for step in project.steps:
        chosen = method(step.name)
        if draws(chosen) and not drawing:
            continue
        task = _Task(project, step, table, engine, meaning, rng, trees)
        lost: dict[str, float] = {}
        for rule in chosen.run_step(task, step.parameters):
            if isinstance(rule, Cuts) and chosen.truthful:
                lost |= _coarsened(task, rule, trees)
            elif isinstance(rule, Cells):
                for name in step.columns:
                    share = found_by_nearest(rule, name, numbers=KINDS[project.columns[name].kind].numbers)
                    found[name] = min(share, found.get(name, 1.0))
            table = _applied(engine, table, rule, rng)
        done.append(Done(step, chosen, table.rows, lost))
    return Prepared(table, tuple(done), trees, found)


def _applied(engine: Engine, table: Table, rule: Recoding, rng: np.random.Generator) -> Table:
    recoded = engine.recode(table, [rule], rng=rng)
    marks: Any = rule.info.get(LEFT_OUT)
    return recoded if marks is None else engine.leave_out(recoded, marks)


def _coarsened(task: _Task, rule: Cuts, trees: dict[str, Hierarchy]) -> dict[str, float]:
    """Keep what lies above the labels of a rule; the share of detail that each column loses by it."""
    lost = {}
    for cut in rule.cuts:
        outputs = dict(zip(cut.inputs, _alike(cut.outputs), strict=True))
        before = task.hierarchies[cut.name]
        rows = task.count([cut.name]).rows_of(cut.name)
        behind: dict[Value, int] = {}
        for output in outputs.values():
            behind[output] = behind.get(output, 0) + 1
        gone = sum(number * (behind[outputs[value]] - 1) for value, number in rows.items())
        lost[cut.name] = gone / (max(1, sum(rows.values())) * max(1, len(outputs) - 1))
        trees[cut.name] = coarser(before, outputs)
    return lost


def _alike(outputs: Sequence[Value]) -> list[Value]:
    """Outputs as a column of one type holds them: all of them text where some are."""
    if not any(isinstance(output, str) for output in outputs):
        return list(outputs)
    return [None if output is None else str(output) for output in outputs]


@dataclass(frozen=True, eq=False)
class _Task:
    """What the method of a step may ask (`keepsense.methods.task`): the columns of the step, and no promise."""

    project: Project
    step: Step
    table: Table
    engine: Engine
    whole: Meaning
    rng: np.random.Generator
    trees: Mapping[str, Hierarchy]

    suppression = 0.0
    target: str | None = None
    models: Sequence[Model] = ()

    @cached_property
    def meaning(self) -> Meaning:
        """What values mean in the table as it is now."""
        return replace(self.whole, count=partial(self.engine.count, self.table))

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns of the step."""
        return tuple(self.step.columns)

    @property
    def every_quasi_identifier(self) -> tuple[str, ...]:
        """All columns by which people could be recognized, of one value a cell."""
        return tuple(name for name in self.project.quasi_identifiers if not self.meaning.holds_sets(name))

    @property
    def released(self) -> tuple[str, ...]:
        """All columns of the table."""
        return tuple(self.table.columns)

    @property
    def person(self) -> str | None:
        """The column that tells which rows belong to one person."""
        return next(iter(self.project.having("person")), None)

    @property
    def counts(self) -> Counts:
        """Distinct tuples of the columns."""
        return self.count(self.quasi_identifiers)

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How the values of each column generalize, as earlier steps left it."""
        return {
            name: self.trees.get(name) or self.meaning.hierarchy(name, self.count([name]).rows_of(name))
            for name in self.quasi_identifiers
        }

    @property
    def distances(self) -> dict[str, Distance]:
        """Semantic distances of the columns that have a taxonomy."""
        words = (name for name in self.quasi_identifiers if self.column(name).taxonomy is not None)
        return {name: self.meaning.distance(name) for name in words}

    def column(self, name: str) -> Column:
        return self.project.columns[name]

    def count(self, columns: Sequence[str]) -> Counts:
        return self.engine.count(self.table, columns)

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        return self.engine.each(function, parts)

    def attributes(
        self, counts: Counts, names: Sequence[str] | None = None, *, meaning: bool = False, apart: bool = False
    ) -> list[Attribute]:
        return attributes_of(self, counts, names, meaning=meaning, apart=apart)

    def taxonomy(self, name: str) -> Taxonomy:
        return self.meaning.taxonomy(name)

    def mapping(self, name: str, values: Mapping[Value, int], *, alone: bool = False) -> Mapped:
        return self.meaning.mapping(name, values, alone=alone)

    def own_senses(self, name: str) -> Mapped | None:
        return self.meaning.own_senses(name)

    def items(self, name: str, cells: Sequence[Value]) -> ItemSets:
        return self.meaning.items(name, cells)

    def concept_sets(self, name: str, items: ItemSets) -> ConceptSets:
        return self.meaning.concept_sets(name, items)
