"""The groups of a division, other cuts of each, and how one of them is taken."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from statistics import fmean
from typing import TYPE_CHECKING, Any

from keepsense.errors import KeepsenseError
from keepsense.methods.generalize.user_cuts import CUTS, WHOLE, CannotCut, in_words, parts_of
from keepsense.progress import Event, Listener
from keepsense.release.job.choosing import some_tuples
from keepsense.release.job.job import Job
from keepsense.studio.session.estimate import Estimate, estimate

if TYPE_CHECKING:
    from keepsense.studio.session.session import Session

MOST_TUPLES = 1_500
"""Combinations on which a division is shown."""
GATHERED = "classes"
"""What stands for the column of a table that was gathered into classes, and not cut."""
MOST_GROUPS = 80
"""Groups of a division that are drawn."""


@dataclass
class Group:
    """A group of records on the way from the whole table to classes: how it was cut, and what became of it.

    `part` is what `cuts` of the project file call it; empty where the method takes none, or gathers records.

    >>> Group(20, {"age": "20 to 60"}, "whole").parts
    []
    """

    records: int
    values: dict[str, str]
    part: str = ""
    column: str = ""
    parts: list[Group] = field(default_factory=list)


class _Watching:
    """Hears how a table is divided, and remembers it as a tree."""

    every_step = True

    def __init__(self, job: Job, also: Listener) -> None:
        self.also = also
        self.names = job.quasi_identifiers
        self.weights = job.counts.weights
        self.takes_cuts = CUTS in signature(job.method.function).parameters
        self.root: Group | None = None
        self._open: dict[frozenset[int], Group] = {}
        self.settled: list[Group] = []

    def __call__(self, event: Event) -> None:
        self.also(event)
        if event.name == "whole":
            self.root = self._group(event.details["part"], WHOLE if self.takes_cuts else "")
        elif event.name == "cut":
            parts = event.details["parts"]
            key = frozenset(int(t) for tuples, _ in parts for t in tuples)
            parent = self._open.pop(key, None)
            if parent is not None:
                parent.column = str(event.details["column"])
                names = parts_of(parent.part) if parent.part else ("", "")
                parent.parts = [self._group(*each) for each in zip(parts, names, strict=True)]
        elif event.name == "settle" and "part" in event.details:
            self.settled.append(self._group(event.details["part"]))

    def _group(self, released: tuple[Any, tuple[Any, ...]], part: str = "") -> Group:
        tuples, values = released
        shown = {name: str(value) for name, value in zip(self.names, values, strict=False)}
        group = Group(int(self.weights[tuples].sum()), shown, part)
        self._open[frozenset(int(t) for t in tuples)] = group
        return group


def division(session: Session) -> Group | None:
    """How the method divided the table into classes, or gathered it into them; None where it does neither. In a thread.

    Shown on some of the combinations where there are many: on more of them where these are too few for given cuts.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> people = {"age": [20 + i % 40 for i in range(200)], "job": ["nurse", "clerk", "pilot", "baker"] * 50}
    >>> with tempfile.TemporaryDirectory() as folder, Session.of_frame(people, folder) as session:
    ...     session.set_method("mondrian")
    ...     tree = division(session)
    ...     tree.records, [part.part for part in tree.parts]
    (200, ['1', '2'])
    """
    with session.bench.lock:
        job = session.job()
        if not job.truthful or job.method.whole_values:
            return None
        most = MOST_TUPLES
        while True:
            part = _narrowed(job, most)
            watching = _Watching(part, session.unhurried())
            try:
                _run(part, watching)
                break
            except CannotCut:
                if part is job:
                    return None
                most *= 4
            except KeepsenseError:
                return None
    if watching.root is not None:
        return watching.root
    if not watching.settled:
        return None
    whole = Group(sum(group.records for group in watching.settled), {}, column=GATHERED)
    whole.parts = sorted(watching.settled, key=lambda group: -group.records)
    return whole


def _narrowed(job: Job, most: int) -> Job:
    counts = some_tuples(job.counts, most)
    return job if counts is job.counts else job.narrowed(counts)


def _run(job: Job, listener: Listener) -> None:
    parameters = dict(job.project.method.parameters)
    if job.method.time_limit is not None:
        parameters.setdefault(job.method.time_limit, 2.0)
    job.method.run(job, parameters, listener)


def pruned(group: Group, most: int = MOST_GROUPS) -> Group:
    """The tree with at most so many groups: the deepest cuts are left out.

    >>> tree = Group(4, {}, "whole", "age", [Group(2, {}, "1"), Group(2, {}, "2")])
    >>> pruned(tree, 1).parts
    []
    """
    kept: set[int] = set()
    row = [group]
    while row and len(kept) + len(row) <= most:
        kept |= {id(member) for member in row}
        row = [part for member in row for part in member.parts]

    def copied(member: Group) -> Group:
        return replace(member, parts=[copied(part) for part in member.parts if id(part) in kept])

    return copied(group)


# ---- another cut -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """A column that a group could be cut at: what each column of the table would lose then, or `why` it cannot be.

    `now` is what they would lose as it is.

    >>> Cut("job", {"age": 0.25, "job": 0.5}, {"age": 0.5, "job": 0.5}).more
    -0.125
    """

    column: str
    lost: Mapping[str, float]
    now: Mapping[str, float]
    why: str = ""
    note: str = ""
    """On what the figures rest."""

    @property
    def safe(self) -> bool:
        """Whether both parts keep every promise."""
        return not self.why

    @property
    def mean(self) -> float:
        """What the columns would lose on average."""
        return fmean(self.lost.values())

    @property
    def more(self) -> float:
        """How much more the columns would lose on average than now; below zero where they would lose less."""
        return fmean(self.lost[name] - self.now.get(name, 0.0) for name in self.lost)


def attempt(session: Session, part: str, above: Mapping[str, str], column: str) -> Cut:
    """What would be lost if a group were cut at a column, and the method went on below it; to be called in a thread.

    `above` are the columns at which the groups around it are cut.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> people = {"age": [20 + i % 40 for i in range(200)], "job": ["nurse", "clerk", "pilot", "baker"] * 50}
    >>> with tempfile.TemporaryDirectory() as folder, Session.of_frame(people, folder) as session:
    ...     session.set_method("mondrian")
    ...     jobs_first = attempt(session, "whole", {}, "job")
    ...     jobs_first.safe, sorted(jobs_first.lost)
    (True, ['age', 'job'])
    """
    now = session.preview().found
    lost = {} if now is None else now.lost
    with session.bench.lock.first():
        wanted = _with(own_cuts(session), part, above, column)
        try:
            then = _estimated(session, wanted, now)
        except CannotCut as error:
            return Cut(column, {}, lost, error.why)
        except KeepsenseError as error:
            return Cut(column, {}, lost, str(error))
    return Cut(column, then.lost, lost, note=then.note)


def as_it_is(session: Session, column: str) -> Cut:
    """The cut that is made now: what is lost is what would be released; to be called in a thread.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     as_it_is(session, "age").more
    0.0
    """
    now = session.preview().found
    if now is None:
        return Cut(column, {}, {}, "nothing can be released as it is")
    return Cut(column, now.lost, now.lost, note=now.note)


def _estimated(session: Session, cuts: Mapping[str, str], earlier: Estimate | None) -> Estimate:
    job = session.job()
    method = job.project.method
    chosen = method.model_copy(update={"parameters": {**method.parameters, CUTS: dict(cuts)}})
    other = copy.copy(job)  # with what was counted and built already
    vars(other)["project"] = job.project.model_copy(update={"method": chosen})
    return estimate(other, session.bench.first_rows(job), session.while_it_stands(), earlier=earlier)


def cut_here(session: Session, part: str, above: Mapping[str, str], column: str) -> None:
    """Let a group be cut at a column; the cuts above it stay as they are now, so that it is the same group.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     session.set_method("mondrian")
    ...     cut_here(session, "whole", {}, "occupation")
    ...     session.undoes, session.project.method.parameters
    ('the whole table is cut by occupation', {'cuts': {'whole': 'occupation'}})
    """
    wanted = _with(own_cuts(session), part, above, column)
    session.change({("method", "parameters", CUTS): wanted}, f"{in_words(part)} is cut by {column}")


def leave_to_method(session: Session, part: str = WHOLE) -> None:
    """Let the method choose at which column a group is cut, and all groups inside it."""
    left = {other: column for other, column in own_cuts(session).items() if not _inside(other, part)}
    session.change({("method", "parameters", CUTS): left or None}, f"the method chooses the cuts of {in_words(part)}")


def own_cuts(session: Session) -> dict[str, str]:
    """The cuts that somebody chose: at which column each group is cut.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     session.set_method("mondrian")
    ...     cut_here(session, "1", {"whole": "age"}, "occupation")
    ...     chosen = own_cuts(session)
    ...     leave_to_method(session, "1")
    ...     chosen, own_cuts(session), session.undoes
    ({'whole': 'age', '1': 'occupation'}, {'whole': 'age'}, 'the method chooses the cuts of part 1')
    """
    cuts = session.project.method.parameters.get(CUTS)
    return {str(part): str(column) for part, column in cuts.items()} if isinstance(cuts, Mapping) else {}


def _with(cuts: Mapping[str, str], part: str, above: Mapping[str, str], column: str) -> dict[str, str]:
    """Cuts with one more: what was chosen inside the group goes with it, and what is above is written down."""
    rest = {other: chosen for other, chosen in cuts.items() if not _inside(other, part)}
    wanted = {**rest, **above, part: column}
    return dict(sorted(wanted.items(), key=lambda item: (item[0] != WHOLE, len(item[0]), item[0])))


def _inside(part: str, other: str) -> bool:
    """Whether a part is another one, or lies inside it.

    >>> _inside("12", "1"), _inside("12", "whole"), _inside("whole", "1")
    (True, True, False)
    """
    return other == WHOLE or part.startswith(other)
