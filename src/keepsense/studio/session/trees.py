"""Hierarchies of the open table: candidates and their cost, the tree in use, its faults, and edits.

An edited or chosen hierarchy is written next to the project file under a name that depends on its content, and the
project file names it: so an undo brings the earlier one back, and `keepsense run` uses the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput, KeepsenseError
from keepsense.hierarchies.column_kinds import KINDS, Values
from keepsense.hierarchies.formats.hierarchy_formats import write_hierarchy
from keepsense.hierarchies.hierarchy import Hierarchy, assemble, signature
from keepsense.hierarchies.hierarchy_editor import edit
from keepsense.hierarchies.hierarchy_faults import Explanation, Fix, Problem, explain
from keepsense.hierarchies.hierarchy_scores import ASPECTS, Evaluation, evaluate, grade, score
from keepsense.hierarchies.word_concepts import with_concepts
from keepsense.privacy.dp_promises import differentially_private
from keepsense.progress import Listener
from keepsense.release.job.choosing import MOST_TUPLES, Trial, some_tuples

if TYPE_CHECKING:
    from keepsense.release.job.job import Job
    from keepsense.semantics.distance import Distance
    from keepsense.studio.session.session import Session

FOLDER = "hierarchies"
"""Where hierarchy files are kept, beside the project file."""
MOST = 12
"""Candidates of a column that are compared."""
MOST_TRIED = 8
"""Candidates whose cost at the promised k is measured."""
EVEN = (0.25, 0.25, 0.25, 0.25)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A hierarchy that a column could have: how it was made, its size, what it costs and how each level scores.

    `cost` is what all columns lose together with it at the promised k, from 0 to 1; None where that was not measured.
    `levels` are the losses of meaning (GSL) of levels 1 and up, `sizes` the labels of every level.

    >>> Candidate("subsumers", Hierarchy.of_rows([("nurse", "*")]), 0.2, (0.4,), 0.4).sizes
    (1, 1)
    """

    made: str
    hierarchy: Hierarchy
    cost: float | None
    levels: tuple[float, ...]
    gsl: float | None
    chosen: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Labels of each level, from the values up."""
        return tuple(len(labels) for labels in self.hierarchy.labels)

    @property
    def grade(self) -> str:
        """The loss of meaning in a word."""
        return "" if self.gsl is None else grade(self.gsl)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a column, the chosen one among them, and the papers' evaluation of all of them.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     found = candidates(session, "age")
    ...     [candidate.chosen for candidate in found.by_cost()].count(True), len(found.rewards(EVEN)) == len(found.all)
    (1, True)
    """

    column: str
    all: tuple[Candidate, ...]
    evaluation: Evaluation | None

    def by_cost(self) -> list[Candidate]:
        """Those whose cost was measured first, cheapest first; then the others by their loss of meaning."""
        large = float("inf")
        return sorted(self.all, key=lambda c: (large if c.cost is None else round(c.cost, 9), c.gsl or large))

    def rewards(self, weights: Sequence[float]) -> list[float]:
        """The papers' reward E(V) of each candidate under weights of the four aspects; they need not add up to 1."""
        if self.evaluation is None:
            return [0.0] * len(self.all)
        whole = sum(weights)
        shares = [weight / whole for weight in weights] if whole > 0 else list(EVEN)
        shares[-1] = 1.0 - sum(shares[:-1])
        return [float(value) for value in self.evaluation.weighted([max(0.0, s) for s in shares]).values]

    def by_reward(self, weights: Sequence[float]) -> list[Candidate]:
        """The candidates with the highest reward first."""
        order = np.argsort(-np.round(self.rewards(weights), 9), kind="stable").tolist()
        return [self.all[i] for i in order]


def tree_columns(session: Session) -> tuple[str, ...]:
    """Columns that have a hierarchy: the quasi-identifiers, but those that hold sets.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     "age" in tree_columns(session), "interests" in tree_columns(session)
    (True, False)
    """
    said = session.project.columns
    return tuple(name for name in session.project.quasi_identifiers if not KINDS[said[name].kind].sets)


def current(session: Session, column: str) -> Hierarchy:
    """The hierarchy that a column has now; takes a while the first time: to be called in a thread.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     current(session, "age").kind
    'numeric'
    """
    with session.bench.lock:
        return _current(session.job(), column)


def candidates(session: Session, column: str) -> Candidates:
    """The hierarchies that a column could have, each with what it costs; takes some seconds: to be called in a thread.

    First those that can be built for it, then those of its kind by other rules. They are judged by the loss that all
    columns share at the promised k, and by the four aspects of the papers.
    """
    with session.bench.lock:
        job = session.job()
        now = _current(job, column)
        leaves = now.leaves
        trees: dict[object, Hierarchy] = {signature(now): now}
        for tree in _offered(job, column):
            if set(tree.leaves) == set(leaves) and tree.height >= 1:
                trees.setdefault(signature(tree), _in_order(tree, leaves))
            if len(trees) >= MOST:
                break
        listed = list(trees.values())
        judge = _judge(job, column)
        costs = _costs(job, column, listed, session.unhurried())
        made = []
        given = job.column(column).hierarchy not in (None, "auto")
        for number, tree in enumerate(listed):
            levels, total = _scored(tree, judge)
            how = str(tree.info.get("made") or ("yours" if number == 0 and given else _example(tree)))
            made.append(Candidate(how, tree, costs[number], levels, total, number == 0))
        return Candidates(column, tuple(made), _evaluated(job, column, listed, judge))


def losses(session: Session, column: str) -> tuple[float, ...]:
    """How much meaning each level of a column's hierarchy loses, from the lowest up; nothing where nobody can tell.

    Words without a taxonomy have no meaning to lose. To be called in a thread.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     levels = losses(session, "age")
    >>> 0 < levels[0] < levels[-1]
    True
    """
    with session.bench.lock:
        job = session.job()
        tree = _current(job, column)
        return _scored(tree, _judge(job, column))[0] if tree.height else ()


def explained(session: Session, column: str) -> Explanation | None:
    """Where the hierarchy of a column loses meaning, and its faults with what mends each; None without a taxonomy.

    To be called in a thread.
    """
    with session.bench.lock:
        job = session.job()
        judge, tree = _judge(job, column), _current(job, column)
        if judge is None or tree.height < 1:
            return None
        try:
            known = tree if tree.concepts is not None else with_concepts(tree, judge.taxonomy, unknown="list")
            told = explain(known, judge, unknown="list")
            return replace(told, problems=tuple(p for p in told.problems if not _listed(known, p)))
        except KeepsenseError:  # no value has a concept
            return None


def _listed(tree: Hierarchy, problem: Problem) -> bool:
    """Whether a label stands below one that lists it by name, which is no fault however both are understood."""
    if problem.fault != "labels out of order":
        return False
    code = tree.labels[problem.level].index(problem.label)
    above = str(tree.labels[problem.level + 1][int(tree.parents[problem.level][code])])
    return str(problem.label) in re.split(r", | or ", above)


def change(session: Session, column: str, operation: str, **arguments: Any) -> Hierarchy:
    """Edit the hierarchy of a column (see `keepsense.hierarchies.hierarchy_editor`); what would contradict itself is
    refused."""
    with session.bench.lock.first():
        job = session.job()
        made = edit(_current(job, column), operation, **arguments).after
        _use(session, job, column, made, f"{column}: {_in_words(operation, arguments)}")
        return made


def mend(session: Session, column: str, fix: Fix) -> Hierarchy:
    """Do what mends a fault."""
    with session.bench.lock.first():
        job = session.job()
        made = fix.apply(_current(job, column))
        _use(session, job, column, made, f"{column}: {fix.text}")
        return made


def use(session: Session, column: str, hierarchy: Hierarchy, what: str = "another hierarchy") -> None:
    """Let a column have this hierarchy."""
    with session.bench.lock.first():
        _use(session, session.job(), column, hierarchy, f"{column}: {what}")


def use_file(session: Session, column: str, file: str | Path) -> None:
    """Let a column have the hierarchy of a file, which must hold all its values."""
    from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy

    with session.bench.lock.first():
        job = session.job()
        tree = read_hierarchy(Path(file).expanduser(), column)
        tree.lookup([value for value in _current(job, column).leaves if value is not None])
        judge = _judge(job, column)
        if judge is not None and tree.concepts is None:
            tree = with_concepts(tree, judge.taxonomy, unknown="list")
        _use(session, job, column, replace(tree, name=column), f"{column}: the hierarchy of {Path(file).name}")


# ---- making ----------------------------------------------------------------------------------------------------------


def _current(job: Job, column: str) -> Hierarchy:
    if column not in job.hierarchies:
        raise BadInput(f"column {column!r} has no hierarchy: it is no quasi-identifier")
    return job.hierarchies[column]


def _offered(job: Job, column: str) -> list[Hierarchy]:
    """What can be built for a column, what a run would take first, and what its kind offers besides."""
    rows, said = job.rows_of(column), job.column(column)
    offered = job.meaning.shortlist(column, rows, job.least_listed)
    kind = KINDS[said.kind]
    if kind.candidates is not None and None not in rows:
        spelled = {_number(value): value for value in rows} if kind.numbers else {value: value for value in rows}
        with suppress(KeepsenseError):  # too few values for some rules
            made = kind.candidates(Values(column, {v: rows[text] for v, text in spelled.items()}, said.order))
            offered += [_spelled(tree, spelled) for tree in made]
    return offered


def _number(value: Value) -> Value:
    """A number however it is written; what is none stays as it is."""
    try:
        number = float(str(value))
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def _spelled(tree: Hierarchy, texts: Mapping[Value, Value]) -> Hierarchy:
    """The hierarchy with its leaves as the table has them."""
    leaves = tuple(texts.get(leaf, leaf) for leaf in tree.leaves)
    return replace(tree, labels=(leaves, *tree.labels[1:]))


def _in_order(tree: Hierarchy, leaves: Sequence[Value]) -> Hierarchy:
    """The hierarchy with its leaves in another order, that of the others it is compared with."""
    codes = tree.codes[tree.lookup(leaves)]
    return assemble(tree.name, codes, tree.labels, kind=tree.kind, concepts=tree.concepts, info=tree.info)


def _example(tree: Hierarchy) -> str:
    """A hierarchy of which nobody said how it is made, by what becomes of one of its values.

    >>> codes = np.array([[0, 0, 0], [1, 1, 0]])
    >>> _example(assemble("born", codes, [["1941-05-13", "1952-01-01"], ["1940s", "1950s"], ["*"]]))
    '1952-01-01 → 1950s'
    """
    values = [place for place, leaf in enumerate(tree.leaves) if leaf is not None]
    if not values:
        return "everything becomes one"
    place = values[len(values) // 2]
    path = [str(tree.labels[level][int(tree.codes[place, level])]) for level in range(tree.height + 1)]
    return " → ".join(label for label in dict.fromkeys(path) if label != "*")


def _judge(job: Job, column: str) -> Distance | None:
    words = job.column(column).taxonomy is not None and KINDS[job.column(column).kind].words
    return job.meaning.distance(column) if words else None


def _scored(tree: Hierarchy, judge: Distance | None) -> tuple[tuple[float, ...], float | None]:
    try:
        gsl = score(tree, judge, unknown="list")
    except KeepsenseError:  # words without a taxonomy
        return (), None
    return tuple(float(loss) for loss in gsl.levels), float(gsl.total)


def _costs(job: Job, column: str, trees: Sequence[Hierarchy], listener: Listener) -> list[float | None]:
    costs: list[float | None] = [None] * len(trees)
    if not job.truthful or differentially_private(job.models):
        return costs
    trial = Trial(job, some_tuples(job.counts, MOST_TUPLES), listener=listener)
    for number, tree in enumerate(trees[:MOST_TRIED]):
        try:
            costs[number] = float(trial.loss({**job.hierarchies, column: tree}))
        except KeepsenseError:
            continue
    return costs


def _evaluated(job: Job, column: str, trees: Sequence[Hierarchy], judge: Distance | None) -> Evaluation | None:
    rows = job.rows_of(column)
    try:
        return evaluate(trees, judge, [rows.get(leaf, 0) for leaf in trees[0].leaves], job.hidden_among, unknown="list")
    except KeepsenseError:
        return None


def _use(session: Session, job: Job, column: str, tree: Hierarchy, what: str) -> None:
    """Let the project file name a hierarchy that is written down."""
    session.change({("columns", column, "hierarchy"): written_tree(session, job, column, tree)}, what)


def written_tree(session: Session, job: Job, column: str, tree: Hierarchy) -> str:
    """Write a hierarchy under a name that depends on what is in it; its place, as a project file names it."""
    known = job.taxonomy(column) if job.column(column).taxonomy is not None and tree.concepts is not None else None
    folder = session.folder / FOLDER
    folder.mkdir(exist_ok=True)
    digest = sha256(repr((tree.rows(), tree.kind)).encode("utf-8", "surrogatepass")).hexdigest()[:10]
    plain = re.sub(r"[^A-Za-z0-9]+", "-", column).strip("-").lower() or "column"
    file = folder / f"{plain}-{digest}.json"
    if not file.exists():
        write_hierarchy(replace(tree, name=column), file, taxonomy=known)
    return f"{FOLDER}/{file.name}"


def _in_words(operation: str, arguments: Mapping[str, Any]) -> str:
    if operation == "move":
        return f"{arguments.get('label')} goes under {arguments.get('to')}"
    if operation == "rename":
        return f"{arguments.get('label')} is called {arguments.get('to')}"
    if operation == "merge":
        return f"{len(arguments.get('labels', ()))} labels are {arguments.get('into')}"
    if operation == "insert_level":
        return f"a level above level {arguments.get('above')}"
    if operation == "drop_level":
        return f"level {arguments.get('level')} is gone"
    return operation.replace("_", " ")


ASPECT_MEANINGS: Mapping[str, str] = dict(
    zip(
        ASPECTS,
        (
            "How little meaning is lost on the way up: the papers' GSL",
            "How little the tree itself gives away: flat trees say less",
            "How low the first level lies on which every label holds k rows",
            "How few values are thrown together by one step up",
        ),
        strict=True,
    )
)
"""What the aspects of the reward mean, in a sentence each."""
