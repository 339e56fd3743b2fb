"""One opened table and its project: everything the studio shows and does, without a browser.

A `Session` is made by `Session.open` (a table or a project file by its path), `Session.of_frame` or `Session.sample`.
It drafts a project as `keepsense init` does, or takes the one that is there, and keeps it as immutable states:

- what is there: `name`, `rows`, `columns` (each with its guess and reason), `head(n)`, `project`, `text`, `file`;
- what to decide: `decisions`, `steps`, `confirm(step)`, `agree(decision)`, `findings()` with `settle(remedy)`;
- changes, each of which is checked, saved to `keepsense.toml` and can be undone: `change`, `set_role`, `set_kind`,
  `set_taxonomy`, `set_mapping`, `set_k`, `set_promises`, `set_method`, `set_parameter`, `set_weight`,
  `set_suppression`, `undo`, `redo`; what is refused raises a `KeepsenseError` and changes nothing;
- saving: `saved`, `conflict`, `save(force=True)` keeps ours, `reload()` takes theirs;
- work, to be done in a thread: `preview()` is what a release would look like, always of the newest state
  (`keepsense.studio.session.preview`); `start()` begins a full run and comes back at once
  (`keepsense.studio.session.runs`), `runs` are those that were made;
- `listen(function)` is called after every change, in the thread that made it, and gives back what ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsense.engines import Reading
from keepsense.errors import BadInput, KeepsenseError, did_you_mean
from keepsense.hierarchies.kinds import KINDS
from keepsense.methods.registry import method as find_method
from keepsense.privacy import model
from keepsense.progress import Event
from keepsense.project.file import Project, check_project
from keepsense.project.inspection.decide import Decision, decisions
from keepsense.project.inspection.inspect import Inspection
from keepsense.project.inspection.inspected import Inspected
from keepsense.project.lines import Keys, loaded, with_keys
from keepsense.project.roles import ROLES
from keepsense.release.job.job import Job
from keepsense.studio.session.advice import Advice, Remedy, findings, of_decision
from keepsense.studio.session.bench import Bench
from keepsense.studio.session.changes import kind_keys, method_keys, promises_with_k, role_keys
from keepsense.studio.session.columns import ColumnView, as_it_stands, column_views
from keepsense.studio.session.history import History
from keepsense.studio.session.opening import opened
from keepsense.studio.session.preview import Preview, preview
from keepsense.studio.session.rows import Rows, as_text, first_values
from keepsense.studio.session.runs import Run, shares_of
from keepsense.studio.session.saving import FileChanged, SavedFile
from keepsense.studio.session.steps import STEPS, Step, fingerprint

HEAD = 20
"""Rows of the table that are shown."""
_PREVIEWS = 40
"""Previews that are kept."""


class Session:
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
        self.file = file
        self.inspection = inspection
        self._states = History(text)
        self._project = check_project(loaded(text, file.name), file.name)
        self._saved = SavedFile(file, text if saved else None)
        self._complaint = ""
        self._confirmed: dict[str, str] = {}
        self._settled: set[str] = set()
        self._listeners: list[Callable[[], None]] = []
        self._previews: dict[str, Preview] = {}
        self._advice: dict[str, tuple[Advice, ...]] = {}
        self.runs: tuple[Run, ...] = ()
        self.bench = Bench(file.parent, self._project.engine.options())
        if not saved:
            self.save()

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
        from keepsense.engines import Writing, started

        file = Path(folder) / f"{name}.parquet"
        with started() as rows:
            rows.write(rows.read(frame), file, Writing(shuffle=False))
        return cls.open(file)

    @classmethod
    def sample(cls, folder: str | Path, rows: int = 2_000) -> Session:
        """Open synthetic people, the same each time, written into the folder."""
        from keepsense.sample import write_people

        file = Path(folder) / "people.csv"
        if not file.exists():
            write_people(file, rows, seed=7)
        return cls.open(file)

    def close(self) -> None:
        """End what the session holds open; its project file stays."""
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
    def folder(self) -> Path:
        """Where the project file is, and where its paths start."""
        return self.file.parent

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return self.inspection.rows

    @property
    def text(self) -> str:
        """The project file as it stands now."""
        return self._states.now

    @property
    def project(self) -> Project:
        """The project as it stands now."""
        return self._project

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
        """The first rows of the table, as they are in the file."""
        with self.bench.lock:
            job = self.bench.job(self._project)
            return as_text(tuple(job.table.columns), first_values(job, rows))

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
        return asked + self._advice[text]

    def settle(self, remedy: Remedy) -> None:
        """Do what settles a finding, in one change that can be undone."""
        if remedy.agrees:
            self._settled.add(remedy.agrees)
            self._tell()
        before = self._states
        for column, role in remedy.roles.items():
            self.set_role(column, role)
        if self.text != before.now:
            self._states = before.then(self.text, remedy.text)
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
        confirmed = self._confirmed.get(name)
        if confirmed is None:
            return Step(name, "decide", "Not looked at yet.")
        if confirmed != fingerprint(self._project, name):
            return Step(name, "stale", "Something that it rests on has changed since you looked at it.")
        return Step(name, "done", "Looked at, and nothing has changed since.")

    def confirm(self, step: str) -> None:
        """Note that a step was looked at as things stand now."""
        self._confirmed[step] = fingerprint(self._project, step)
        self._tell()

    # ---- changes -------------------------------------------------------------------------------------------------

    def change(self, keys: Keys, what: str) -> None:
        """Set keys of the project file (None takes one out), check the whole, and save it; `what` says it in words."""
        text = with_keys(self.text, keys, self.file.name)
        if text == self.text:
            return
        project = check_project(loaded(text, self.file.name), self.file.name)
        for promise in project.privacy:
            model(str(promise["model"]), **{key: value for key, value in promise.items() if key != "model"})
        for chosen in (project.method.name, project.set_method.name):
            find_method(chosen)
        self._states = self._states.then(text, what)
        self._moved(project)

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

    def set_taxonomy(self, column: str, taxonomy: str | None, domain: str | list[str] | None = None) -> None:
        """Take the meaning of a column's words from another taxonomy, by name or file, or from none."""
        at = ("columns", column)
        keys: dict[tuple[str, ...], object] = {(*at, "taxonomy"): taxonomy, (*at, "domain"): domain}
        if taxonomy is None:
            keys |= {(*at, key): None for key in ("suggestions", "language", "within")}
        self.change(keys, f"{column}: {taxonomy or 'no taxonomy'}")

    def set_mapping(self, column: str, mapping: str | None) -> None:
        """Use a mapping file that says what the words of a column mean, or none."""
        self.bench.forget()
        self.change({("columns", column, "mapping"): mapping}, f"{column}: {mapping or 'no'} mapping file")

    def set_hierarchy(self, column: str, hierarchy: str | None) -> None:
        """Use a hierarchy file for a column, or build one (None)."""
        self.change({("columns", column, "hierarchy"): hierarchy or "auto"}, f"{column}: another hierarchy")

    def set_weight(self, column: str, weight: float) -> None:
        """Say how much the loss of a column counts."""
        value = None if weight == 1 else float(weight)
        self.change({("columns", column, "weight"): value}, f"{column} weighs {weight:g}")

    def set_k(self, k: int) -> None:
        """Ask for classes of at least k people, in the promise that says so, or in one more."""
        self.set_promises(promises_with_k(self._project, int(k)), f"k is {k}")

    def set_promises(self, promises: Sequence[Mapping[str, Any]], what: str = "other promises") -> None:
        """Promise this, and nothing else."""
        self.change({("privacy",): [dict(promise) for promise in promises]}, what)

    def set_method(self, name: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Use another method, with these parameters and no others."""
        chosen = find_method(name)
        keys = method_keys(self._project, chosen.name, parameters or {})
        self.change(keys, f"the method is {chosen.name}")

    def set_parameter(self, name: str, value: object) -> None:
        """Set a parameter of the method, or leave it to the method (None)."""
        self.change({("method", "parameters", name): value}, f"{name} is {value}")

    def set_suppression(self, share: float) -> None:
        """Let at most this share of the records be suppressed."""
        self.change({("release", "suppression"): float(share)}, f"suppression up to {share:.0%}")

    # ---- back and forth ------------------------------------------------------------------------------------------

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return self._states.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is something to do again."""
        return self._states.can_redo

    @property
    def undoes(self) -> str:
        """What an undo would take back, in words."""
        return self._states.undoes

    @property
    def redoes(self) -> str:
        """What a redo would do again, in words."""
        return self._states.redoes

    def undo(self) -> None:
        """Take the last change back."""
        self._states = self._states.undone()
        self._moved(check_project(loaded(self.text, self.file.name), self.file.name))

    def redo(self) -> None:
        """Do again what was undone last."""
        self._states = self._states.redone()
        self._moved(check_project(loaded(self.text, self.file.name), self.file.name))

    def _moved(self, project: Project) -> None:
        self._project = project
        self.save()
        self._tell()

    # ---- saving --------------------------------------------------------------------------------------------------

    @property
    def saved(self) -> bool:
        """Whether the project file holds what is shown."""
        return self._saved.text == self.text and not self._complaint

    @property
    def conflict(self) -> str:
        """Why the project file could not be saved, as a sentence; empty where it is saved."""
        return self._complaint

    def save(self, *, force: bool = False) -> None:
        """Write the project file; where somebody else wrote it since, `conflict` says so and theirs stays.

        With `force` ours takes its place.
        """
        try:
            self._saved.write(self.text, force=force)
            self._complaint = ""
        except (FileChanged, BadInput) as error:
            self._complaint = str(error)

    def reload(self) -> None:
        """Take the project file as it is on the disk, in place of ours, which an undo brings back."""
        text = self._saved.read()
        project = check_project(loaded(text, self.file.name), self.file.name)
        self._complaint = ""
        if text != self.text:
            self._states = self._states.then(text, "the file as somebody else left it")
        self.bench.forget()
        self._moved(project)

    # ---- work ----------------------------------------------------------------------------------------------------

    def job(self) -> Job:
        """The project, opened, with its hierarchies; to be used while `bench.lock` is held, in a thread."""
        return self.bench.with_hierarchies(self.bench.job(self._project))

    def preview(self) -> Preview:
        """What a release would look like as things stand; takes about two seconds, the first time longer.

        Where the project changes meanwhile, what was begun is dropped, and the newest state is looked at.
        """
        with self.bench.lock:
            while True:
                text = self.text
                if text not in self._previews:
                    try:
                        self._previews[text] = self._look_ahead(text)
                        self._advice.clear()
                    except _OutdatedError:
                        continue
                while len(self._previews) > _PREVIEWS:
                    del self._previews[next(iter(self._previews))]
                return self._previews[text]

    def _look_ahead(self, text: str) -> Preview:
        def heard(event: Event) -> None:
            if self.text != text:
                raise _OutdatedError

        return preview(self.job(), listener=heard)

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

    # ---- hearing of changes --------------------------------------------------------------------------------------

    def listen(self, function: Callable[[], None]) -> Callable[[], None]:
        """Call a function after every change; what comes back ends that."""
        self._listeners.append(function)

        def end() -> None:
            if function in self._listeners:
                self._listeners.remove(function)

        return end

    def _tell(self) -> None:
        for function in tuple(self._listeners):
            function()


class _OutdatedError(Exception):
    """The project changed while it was looked at."""


def _k_of(project: Project) -> str:
    sizes = [str(promise["k"]) for promise in project.privacy if "k" in promise]
    return sizes[0] if sizes else "-"
