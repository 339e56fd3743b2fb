"""One open tab: its page, the open table that all tabs share, updates, and long work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from keepsense.errors import BadInput, KeepsenseError

if TYPE_CHECKING:
    from keepsense.studio.serving.desk import Desk
    from keepsense.studio.session.session import Session

T = TypeVar("T")

_FOCUS = """(() => { let left = 100; const look = () => {
  const named = [...document.querySelectorAll('#work [aria-label]')]
    .find(e => e.getAttribute('aria-label') === NAME && e.offsetParent);
  const able = 'button:not([disabled], .term, .figure), input:not([disabled])';
  const ready = named && !named.querySelector('.q-spinner');
  const field = !ready ? null : named.matches(able) ? named :
    named.querySelector('.word .q-btn') || named.querySelector(able);
  if (field) { field.scrollIntoView({block: 'center'}); field.focus(); }
  else if (left-- > 0) setTimeout(look, 100);
}; look(); })()"""
"""Puts the cursor into a field by its name, or into the first one of a part that has the name."""

NO_TABLE = "no table is open; open one first"
"""What a page hears that asks for the table when it was closed meanwhile, in another tab say."""


class Room:
    """One tab's view of the desk; `show` draws a page in its centre.

    >>> room = Room(None, show=print)
    >>> room.go("protect")
    protect
    >>> room.page
    'protect'
    """

    def __init__(self, desk: Desk, show: Callable[[str], None], page: str = "open") -> None:
        self.desk = desk
        self.page = page
        self._show = show
        self._handlers: list[Callable[[], None]] = []

    @property
    def session(self) -> Session:
        """The open session; pages that need one are drawn only while there is one."""
        if self.desk.session is None:
            raise BadInput(NO_TABLE)
        return self.desk.session

    def go(self, page: str) -> None:
        """Show another page in the centre."""
        self.page = page
        self._handlers.clear()
        self._show(page)

    def go_to(self, page: str, field: str) -> None:
        """Show a page, and put the cursor into the field, or the part of the page, that has this name."""
        from nicegui import context

        tab = context.client  # the button that was pressed may go with the page that is left
        self.go(page)
        # parts of a page are drawn when they are worked out: it is looked for until it is there
        tab.run_javascript(_FOCUS.replace("NAME", json.dumps(field)))

    def refresh(self) -> None:
        """Draw the page that is shown anew."""
        self.go(self.page)

    def on_change(self, handler: Callable[[], None]) -> None:
        """Call a function of the page, in this tab, whenever something changed, until the page is drawn anew.

        A change is one of the project, be it in another tab, a new live preview (`desk.live`), or how far a run is.
        """
        self._handlers.append(handler)

    def changed(self) -> None:
        """Tell the page that something changed; the shell calls it."""
        for handler in tuple(self._handlers):
            handler()

    def do(
        self, function: Callable[..., object], *arguments: Any, complain: Callable[[str], None] | None = None
    ) -> bool:
        """Do something that is done at once, a change of the project say; what goes wrong is told as a sentence.

        Returns whether it went well.

        >>> said = []
        >>> def refuse(): raise KeepsenseError("k is at least 2")
        >>> Room(None, print).do(refuse, complain=said.append), said
        (False, ['k is at least 2'])
        """
        try:
            function(*arguments)
        except (KeepsenseError, OSError) as error:
            (complain or self.complain)(sentence(error))
            return False
        return True

    async def work(
        self, function: Callable[..., T], *arguments: Any, complain: Callable[[str], None] | None = None
    ) -> T | None:
        """Do something that takes longer than a blink in a thread; what goes wrong is told as a sentence.

        `complain` gets that sentence, to be shown beside the field that it concerns; without it, it is shown below.

        >>> said = []
        >>> def refuse(): raise KeepsenseError("people.csv: the file is empty")
        >>> asyncio.run(Room(None, print).work(refuse, complain=said.append)), said
        (None, ['people.csv: the file is empty'])
        """
        try:
            return await asyncio.to_thread(function, *arguments)
        except (KeepsenseError, OSError) as error:
            (complain or self.complain)(sentence(error))
            return None

    def later(self, work: Callable[[], Awaitable[None]]) -> None:
        """Begin something that fills the page when it is done; it must see for itself whether its place is still there.

        It is not bound to an element, as a timer would be: a page that is left takes nothing away from under it.
        """
        from nicegui import background_tasks

        async def unhurried() -> None:
            await work()

        background_tasks.create(unhurried(), name="page")

    def complain(self, message: str) -> None:
        """Show a sentence about what went wrong."""
        from nicegui import ui

        ui.notify(message, type="warning", multi_line=True, close_button="Close", timeout=0)


def sentence(error: Exception) -> str:
    """What went wrong in words, with what to do; the system's errors never tell more than the name of the file.

    >>> sentence(KeepsenseError("people.csv: the file is empty")), sentence(OSError(2, "No such file", "/a/b.csv"))
    ('people.csv: the file is empty', 'b.csv: No such file')
    """
    if not isinstance(error, OSError):
        hints = "; ".join(getattr(error, "relax", ()))
        return str(error) + (f" You could: {hints}." if hints else "")
    name = str(error.filename or "").replace("\\", "/").rpartition("/")[2]
    return f"{name}: {error.strerror}" if name else str(error.strerror or "the system refused")
