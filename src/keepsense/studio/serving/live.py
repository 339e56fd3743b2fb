"""The preview worker: a thread computes what the release would look like after every change; the last one wins."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread
from typing import Any, Protocol

from keepsense.errors import KeepsenseError


class Previewed(Protocol):
    """What is needed of a session: its project as text, a preview of it, and to hear of changes."""

    @property
    def text(self) -> str:
        """The project file as it stands now."""

    def preview(self, early: Callable[[Any], None] | None = None) -> Any:
        """What the release would look like; `early` is handed what is known before that."""

    def findings(self) -> tuple[Any, ...]:
        """What to look at."""

    def listen(self, function: Callable[[], None]) -> Callable[[], None]:
        """Call a function after every change."""


class Live:
    """The newest preview of a session, and whether a newer one is being worked out.

    What is known early is shown until the rest is. `problem` says why there is none for the project as it stands.
    `changed` is called whenever one of them changes.

    >>> class Counting:
    ...     text = "k = 5"
    ...     def preview(self, early): return 42
    ...     def findings(self):
    ...         return ()
    ...     def listen(self, function): return lambda: None
    >>> with Live(Counting(), lambda: None) as live:
    ...     live.wait()
    ...     live.preview, live.waiting, live.problem
    (42, False, '')
    """

    def __init__(self, session: Previewed, changed: Callable[[], None]) -> None:
        self.preview: Any = None
        self.problem = ""
        self.advice: tuple[Any, ...] = ()
        """What to look at, as of the last preview."""
        self._session = session
        self._changed = changed
        self._shown: str | None = None
        self._early: str | None = None
        self._ended = False
        self._news = Condition()
        self._unlisten = session.listen(self._nudge)
        self._thread = Thread(target=self._work, name="preview", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> bool:
        """Whether the preview is older than the project."""
        return not self._ended and self._shown != self._session.text

    @property
    def aged(self) -> bool:
        """Whether what is shown is that of an earlier state of the project."""
        return self.waiting and self._early != self._session.text

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the preview is that of the project as it stands."""
        with self._news:
            self._news.wait_for(lambda: not self.waiting, seconds)

    def end(self) -> None:
        """Work out no more previews."""
        self._unlisten()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def _nudge(self) -> None:
        with self._news:
            self._news.notify_all()

    def _soon(self, known: Any) -> None:
        """Show what is known early, unless that is less than what is shown."""
        with self._news:
            if self._ended or not (known.after.cells or self.preview is None):
                return
            self.preview, self._early = known, self._session.text
        self._changed()

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._ended or self.waiting)
                if self._ended:
                    return
            text, preview, problem = self._session.text, None, ""
            try:
                preview = self._session.preview(self._soon)
            except KeepsenseError as error:
                problem = str(error)
            except Exception as error:
                # a bug of ours must not end the thread; its message may hold data, its kind does not
                problem = f"the preview could not be worked out ({type(error).__name__})"
            with self._news:
                if not self._ended:
                    self.preview, self.problem, self._shown = preview, problem, text
                self._news.notify_all()
            self._changed()
            if self.waiting:
                continue
            with suppress(Exception):  # what is wrong was told with the preview
                self.advice = self._session.findings()
                self._changed()
