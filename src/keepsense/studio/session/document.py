"""The project file as a document: its states, changes from one to the next, undo, and saving.

Every change is checked as a whole, saved at once and can be undone; what is refused raises a `KeepsenseError` and
changes nothing. A version that another program wrote is never overwritten: `conflict` says that there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput
from keepsense.methods.method import method as find_method
from keepsense.privacy.privacy_model import model
from keepsense.progress import Event, Listener
from keepsense.project.project_file import Project, check_project
from keepsense.project.toml_editor import Keys, loaded, with_keys
from keepsense.studio.session.changes import method_keys, promises_with_k
from keepsense.studio.session.history import History
from keepsense.studio.session.saving import FileChanged, SavedFile


class Outdated(Exception):
    """What is being worked out is about a state of the project that is no more.

    >>> raise Outdated
    Traceback (most recent call last):
    ...
    keepsense.studio.session.document.Outdated
    """


class Document:
    """A project file with its states; `listen` tells of every change.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     document = Document(Path(folder) / "keepsense.toml", "[[privacy]]\\nmodel = 'k-anonymity'\\nk = 5\\n")
    ...     document.set_k(7)
    ...     document.project.privacy[0]["k"], document.undoes, document.saved
    ...     document.undo()
    ...     document.project.privacy[0]["k"]
    (7, 'k is 7', True)
    5
    """

    def __init__(self, file: Path, text: str, *, saved: bool = False) -> None:
        self.file = file
        self._states = History(text)
        self._project = check_project(loaded(text, file.name), file.name)
        self._saved = SavedFile(file, text if saved else None)
        self._complaint = ""
        self._listeners: list[Callable[[], None]] = []
        self.closed = False
        """Whether nobody looks at it any more: then long work on it ends."""
        if not saved:
            self.save()

    @property
    def folder(self) -> Path:
        """Where the project file is, and where its paths start."""
        return self.file.parent

    @property
    def text(self) -> str:
        """The project file as it stands now."""
        return self._states.now

    @property
    def project(self) -> Project:
        """The project as it stands now."""
        return self._project

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

    def set_taxonomy(self, column: str, taxonomy: str | None, domain: str | list[str] | None = None) -> None:
        """Take the meaning of a column's words from another taxonomy, by name or file, or from none."""
        at = ("columns", column)
        keys: dict[tuple[str, ...], object] = {(*at, "taxonomy"): taxonomy, (*at, "domain"): domain}
        if taxonomy is None:
            keys |= {(*at, key): None for key in ("suggestions", "language", "within")}
        self.change(keys, f"{column}: {taxonomy or 'no taxonomy'}")

    def set_mapping(self, column: str, mapping: str | None) -> None:
        """Use a mapping file that says what the words of a column mean, or none."""
        self.forget()
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

    @contextmanager
    def as_one(self, what: str) -> Iterator[None]:
        """Several changes that one undo takes back together; `what` says them in words."""
        before = self._states
        yield
        if self.text != before.now:
            self._states = before.then(self.text, what)

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

    def forget(self) -> None:
        """What was read of files beside the project file may be another; who keeps something of them drops it."""

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
        self.forget()
        self._moved(project)

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

    def while_it_stands(self) -> Listener:
        """A listener for long work on the project as it stands: raises `Outdated` once it changed.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     document = Document(Path(folder) / "x.toml", "[[privacy]]\\nmodel = 'k-anonymity'\\nk = 5\\n")
        ...     stands = document.while_it_stands()
        ...     document.set_k(7)
        ...     stands(Event("step"))
        Traceback (most recent call last):
        ...
        keepsense.studio.session.document.Outdated
        """
        seen = self.text

        def heard(_: Event) -> None:
            if self.closed or seen != self.text:
                raise Outdated

        return heard
