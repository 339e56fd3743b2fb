"""The session: one open table and its project, with everything the studio shows and does, without a browser.

A `Session` is made by `Session.open` (a table or a project file by its path), `Session.of_frame` or `Session.sample`.
It drafts a project as `keepsense init` does, or takes the one that is there, and keeps it as immutable states:

- what is there: `name`, `rows`, `columns` (each with its guess and reason), `head(n)`, `project`, `text`, `file`;
- what to decide: `decisions`, `steps`, `confirm(step)`, `agree(decision)`, `findings()` with `settle(remedy)`;
- changes, undoing them and saving: those of every `Document` (`keepsense.studio.session.document`), and `set_role` and
  `set_kind`, which know what was found out about the columns;
- work, to be done in a thread: `preview()` is what a release would look like, always of the newest state
  (`keepsense.studio.session.preview`); `start()` begins a full run and comes back at once
  (`keepsense.studio.session.runs`), `runs` are those that were made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import Inspection
from keepsense.draft.open_questions import Decision, decisions
from keepsense.engines.protocol import Reading
from keepsense.errors import BadInput, KeepsenseError, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.progress import Event, Listener
from keepsense.project.project_file import Project
from keepsense.project.roles import ROLES
from keepsense.release.job.job import Job
from keepsense.studio.session.advice import Advice, findings, of_decision
from keepsense.studio.session.bench import Bench
from keepsense.studio.session.changes import kind_keys, role_keys
from keepsense.studio.session.columns import ColumnView, as_it_stands, column_views
from keepsense.studio.session.document import Document, Outdated
from keepsense.studio.session.opening import opened
from keepsense.studio.session.preview import Preview, at_first, preview
from keepsense.studio.session.remedies import Remedy
from keepsense.studio.session.rows import Rows, as_text
from keepsense.studio.session.runs import Run, shares_of
from keepsense.studio.session.steps import STEPS, Step, fingerprint

HEAD = 20
"""Rows of the table that are shown."""
_PREVIEWS = 40
"""Previews that are kept."""


class Session(Document):
    """One opened table and its project.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     session.set_role("age", "identifier")
    ...     session.project.columns["age"].role, session.undoes
    ...     session.undo()
    ...     session.project.columns["age"].role
    ('identifier', 'age is identifier')
    'quasi-identifier'
    """

    # ---- opening -------------------------------------------------------------------------------------------------

    def __init__(self, file: Path, text: str, inspection: Inspection, *, saved: bool = False) -> None:
        super().__init__(file, text, saved=saved)
        self.inspection = inspection
        self._confirmed: dict[str, str] = {}
        self._settled: set[str] = set()
        self._previews: dict[str, Preview] = {}
        self._advice: dict[str, tuple[Advice, ...]] = {}
        self._head: tuple[tuple[str, int], Rows] | None = None
        self.runs: tuple[Run, ...] = ()
        self.bench = Bench(file.parent, self._project.engine.options())

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        folder: str | Path | None = None,
        reading: Reading | None = None,
        language: str | None = None,
    ) -> Session:
        """Open a table, a project file (`.toml`) or a project of ARX.

        The project of a table is `keepsense.toml` in `folder`, or beside the table: the one that is there where it is
        about this table, a draft where there is none, and a draft under another name where it is about another table.
        """
        made = opened(path, folder, reading, language)
        return cls(made.file, made.text, made.inspection, saved=made.saved)

    @classmethod
    def of_frame(cls, frame: object, folder: str | Path, name: str = "table") -> Session:
        """Open a frame (pandas, Polars, Arrow, a mapping of columns): it is written to a Parquet file in the folder."""
        from keepsense.engines.protocol import Writing, started

        file = Path(folder) / f"{name}.parquet"
        with started() as rows:
            rows.write(rows.read(frame), file, Writing(shuffle=False))
        return cls.open(file)

    @classmethod
    def sample(cls, folder: str | Path, rows: int = 2_000) -> Session:
        """Open synthetic people, the same each time, written into the folder."""
        from keepsense.sample_people import write_people

        file = Path(folder) / "people.csv"
        if not file.exists():
            write_people(file, rows, seed=7)
        return cls.open(file)

    def close(self) -> None:
        """End what the session holds open, and what is being worked out; its project file stays."""
        self.closed = True
        for made in self.runs:
            made.cancel()
            made.wait(10)
            made.discard()
        with self.bench.lock:
            self.bench.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---- what is there -------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the table."""
        source = self._project.source
        return Path(source.path).name if source is not None and "://" not in source.path else self.inspection.source

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return self.inspection.rows

    @property
    def columns(self) -> tuple[ColumnView, ...]:
        """Every column with its role, and what was guessed about it and why."""
        return column_views(self.inspection, self._project, self._settled)

    def inspected(self, name: str) -> Inspected:
        """What was found out about a column."""
        for column in self.inspection.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.inspection.columns]
        raise BadInput(f"there is no column {name!r}.{did_you_mean(name, names)}")

    def head(self, rows: int = HEAD) -> Rows:
        """The first rows of the table, as they are in the file; who asks again does not wait for a preview."""
        asked = (repr(self._project.source), rows)
        if self._head is None or self._head[0] != asked:
            with self.bench.lock:
                job = self.bench.job(self._project)
                self._head = (asked, as_text(tuple(job.table.columns), self.bench.first_rows(job, rows)))
        return self._head[1]

    # ---- what to decide ------------------------------------------------------------------------------------------

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The two or three questions that matter most and that nobody answered yet."""
        asked = decisions(as_it_stands(self.inspection, self._project, self._settled), most=99)
        return tuple(d for d in asked if d.question not in self._settled and not self._chosen(d))[:3]

    def _chosen(self, decision: Decision) -> bool:
        return bool(decision.columns) and all(name in self._settled for name in decision.columns)

    def agree(self, decision: Decision) -> None:
        """Answer a question: it is as was assumed."""
        self._settled |= {decision.question}
        self._tell()

    def findings(self) -> tuple[Advice, ...]:
        """What to look at, each with what settles it: questions about roles first; to be asked for in a thread."""
        asked = tuple(of_decision(decision) for decision in self.decisions)
        text = self.text
        if text not in self._advice:
            with self.bench.lock:
                try:
                    self._advice = {text: tuple(findings(self.job(), self.seen))}
                except KeepsenseError as error:
                    self._advice = {text: (Advice("", error.column or "", str(error), "open"),)}
        return asked + self._unsettled()

    def _unsettled(self) -> tuple[Advice, ...]:
        """What was found out about the project as it stands, and that nobody has noted."""
        known = self._advice.get(self.text, ())
        return tuple(a for a in known if f"{a.code} {a.where}: {a.message}" not in self._settled)

    def settle(self, remedy: Remedy) -> None:
        """Do what settles a finding, in one change that can be undone."""
        if remedy.agrees or remedy.notes:
            self._settled.add(remedy.agrees or remedy.notes)
            self._tell()
        with self.as_one(remedy.text):
            for column, role in remedy.roles.items():
                self.set_role(column, role)
            if remedy.keys:
                self.change(remedy.keys, remedy.text)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The six steps and how far each is."""
        return tuple(self._step(name) for name in STEPS)

    def _step(self, name: str) -> Step:
        if name == "open" and self.decisions:
            number = len(self.decisions)
            return Step(name, "decide", f"{number} question{'' if number == 1 else 's'} about roles.")
        waiting = [advice for advice in self._unsettled() if advice.step == name]
        if any(advice.code.startswith("E") for advice in waiting):
            return Step(name, "decide", "Something stands in the way of a release; the findings say what.")
        confirmed = self._confirmed.get(name)
        if confirmed is None and waiting:
            number = len(waiting)
            return Step(name, "decide", f"{number} finding{'' if number == 1 else 's'} to look at.")
        if confirmed is None:
            return Step(name, "ahead", "Not looked at yet.")
        if confirmed != fingerprint(self._project, name):
            return Step(name, "stale", "Something that it rests on has changed since you looked at it.")
        return Step(name, "done", "Looked at, and nothing has changed since.")

    def confirm(self, step: str) -> None:
        """Note that a step was looked at as things stand now."""
        self._confirmed[step] = fingerprint(self._project, step)
        self._tell()

    # ---- roles and kinds -----------------------------------------------------------------------------------------

    def set_role(self, column: str, role: str) -> None:
        """Give a column another role, and the keys and promises that a draft gives a column of that role."""
        if role not in ROLES:
            raise BadInput(
                f"no role is called {role!r}; there are {', '.join(ROLES)}.{did_you_mean(role, list(ROLES))}"
            )
        seen, said = self.inspected(column), self._project.columns.get(column)
        self._settled.add(column)
        if said is not None and said.model_dump(exclude_unset=True).get("role") == role:
            self._tell()
            return
        self.change(role_keys(self._project, seen, role), f"{column} is {role}")

    def set_kind(self, column: str, kind: str) -> None:
        """Say what the values of a column are; what was said about their meaning goes where it no longer fits."""
        keys = kind_keys(self._project, self.inspected(column), KINDS.name_of(kind))
        self.change(keys, f"{column} is {KINDS.name_of(kind)}")

    # ---- work ----------------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Read everything anew that lies beside the project file."""
        self.bench.forget()

    def unhurried(self) -> Listener:
        """A listener for long work that fills a page: as `while_it_stands`, and what somebody pressed goes first."""
        stands = self.while_it_stands()

        def heard(event: Event) -> None:
            self.bench.lock.give_way()
            stands(event)

        return heard

    def job(self) -> Job:
        """The project, opened, with its hierarchies; to be used while `bench.lock` is held, in a thread."""
        return self.bench.with_hierarchies(self.bench.job(self._project))

    def preview(self, early: Callable[[Preview], None] | None = None) -> Preview:
        """What a release would look like as things stand; takes about two seconds, the first time longer.

        `early` is handed what is known before that: rows and risk as they are, then figures of some combinations. Where
        the project changes meanwhile, what was begun is dropped, and the newest state is looked at.
        """
        while True:
            text, listener = self.text, self.while_it_stands()
            if text not in self._previews:
                try:
                    with self.bench.lock:
                        self._previews[text] = self._look_ahead(listener, early)
                        self._advice.clear()
                except Outdated:
                    if self.closed:
                        raise
                    continue
            while len(self._previews) > _PREVIEWS:
                del self._previews[next(iter(self._previews))]
            if text in self._previews and text == self.text:
                return self._previews[text]

    def _look_ahead(self, listener: Listener, early: Callable[[Preview], None] | None) -> Preview:
        job = self.bench.job(self._project)
        rows = self.bench.first_rows(job)

        def known(seen: Preview) -> None:
            listener(Event("early"))
            if early is not None:
                early(seen)

        if early is not None and "hierarchies" not in vars(job):
            known(at_first(job, rows))
        job = self.bench.with_hierarchies(job, listener)
        return preview(job, values=rows, listener=listener, early=None if early is None else known)

    @property
    def seen(self) -> Preview | None:
        """The preview of the state that is shown, where it was made already."""
        return self._previews.get(self.text)

    def start(self, *, rehearsed: bool = True) -> Run:
        """Begin a full run of the project as it stands; `rehearsed` releases nothing."""
        made = Run(len(self.runs) + 1, self._project, self.folder, self.text, rehearsed, told=self._tell)
        if self.runs:
            made.shares = shares_of(self.runs[-1])
        self.runs = (*self.runs, made)
        made.name = f"{self._project.method.name}, k = {_k_of(self._project)}"
        return made.start()

    @property
    def running(self) -> Run | None:
        """The run that goes on, if one does."""
        return next((made for made in self.runs if not made.ended), None)


def _k_of(project: Project) -> str:
    sizes = [str(promise["k"]) for promise in project.privacy if "k" in promise]
    return sizes[0] if sizes else "-"
