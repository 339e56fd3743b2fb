"""The pages of the studio: one module each, with its entry in `PAGES`; the six steps come first, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keepsense.registry import Registry
from keepsense.studio.session.steps import STEPS
from keepsense.studio.widgets.room import Room


@dataclass(frozen=True)
class Page:
    """A page of the studio: its title, what one does there in a sentence, and the function that draws it.

    `draw` is called inside the centre of the room, in one tab; it draws with NiceGUI what the room's session holds, and
    is called again when the tab comes back to the page or asks for it by `room.refresh()`. It must come back at once:
    what takes longer goes through `await room.work(...)` in a handler, or into the session's own threads. Values and
    names of the data are shown as text, never as HTML or Markdown.

    >>> Page("Open", "Choose a table.", "folder_open", print).title
    'Open'
    """

    title: str
    about: str
    icon: str
    draw: Callable[[Room], None]


PAGES: Registry[Page] = Registry("page", packages=["keepsense.studio.pages"], first=STEPS)
"""Pages by the last part of their address: `PAGES.add("protect", Page("Protect", "...", "shield", draw))`."""
