"""Start and stop the studio: one process, one address of this machine, one session that all tabs share."""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

from keepsense.errors import BadInput, MissingExtra
from keepsense.studio.serving.desk import Desk
from keepsense.studio.serving.private import private_folder
from keepsense.studio.serving.readiness import make_ready
from keepsense.studio.serving.security import ADDRESS, FILES, UPLOAD_LIMIT, Guard
from keepsense.studio.widgets.room import NO_TABLE

_FRAMEWORK = "NICEGUI_STORAGE_PATH"
"""Says where the framework keeps what it wants to remember."""

_LATE = ("has been deleted.", NO_TABLE)
"""How errors end that a click meets whose page was left, or whose table was closed, before it was answered."""

_LAST_RESORT = "last resort"
_GRACE = 5.0
"""Seconds that work which was told to stop has to do so, before the program ends without it."""


def serve(
    table: str | None = None,
    *,
    sample: bool = False,
    port: int = 0,
    browser: bool = True,
    upload_limit: int = UPLOAD_LIMIT,
    say: Callable[[str], None] = print,
) -> None:
    """Run the studio until it is told to end (Ctrl-C), on a table or project file, the sample, or with none open.

    `port` 0 takes one that is free. The address with its token is said by `say`, and opened in the browser unless
    `browser` is False. What is uploaded stays in a private folder that is removed at the end.

    >>> serve("/nowhere/people.csv", browser=False)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: people.csv: there is no such file; check its name, or start the studio without one
    """
    if table is not None and "://" not in table and not Path(table).is_file():
        raise BadInput(f"{Path(table).name}: there is no such file; check its name, or start the studio without one")
    with private_folder() as private, _temporary_files_in(private), _listening(port) as listener:
        server, guard = _made(listener, private, upload_limit, table, sample=sample)
        say(guard.url)
        if browser:
            threading.Thread(target=webbrowser.open, args=(guard.url,), daemon=True).start()
        server.run(sockets=[listener])
        _leave(private)


def _made(
    listener: socket.socket, private: Path, upload_limit: int, table: str | None, *, sample: bool
) -> tuple[Any, Guard]:
    """The server with the pages in it and the guard before it."""
    try:
        import uvicorn
        from fastapi import FastAPI
        from nicegui import app as pages
        from nicegui import ui
    except ImportError:
        raise MissingExtra("the studio needs NiceGUI; run: pip install 'keepsense[studio]'") from None
    from keepsense.studio.serving.downloads import routes
    from keepsense.studio.shell import add_pages

    # a click whose answer comes when its page was left already; there is nothing to mend, and nobody to tell
    logging.getLogger("nicegui").addFilter(lambda record: not record.getMessage().endswith(_LATE))
    desk = Desk(private)
    outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, routes=[*routes(desk.shelf, FILES)])
    add_pages(desk, upload_limit)
    ui.run_with(
        outer,
        title="Keepsense studio",
        dark=None,
        language="en-US",
        tailwind=False,
        gzip_middleware_factory=None,  # the way is short
        show_welcome_message=False,
        reconnect_timeout=30.0,
    )
    guard = Guard(outer, listener.getsockname()[1], limit=upload_limit)

    class Server(uvicorn.Server):
        """Ends when it is told to, and that is no error."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            """Stop what is under way and end, by force where it does not stop."""
            super().handle_exit(sig, frame)
            self._captured_signals.clear()  # it would be raised again afterwards
            threading.Thread(target=desk.end, daemon=True).start()
            threading.Thread(target=_end_at_last, args=(private,), name=_LAST_RESORT, daemon=True).start()

    pages.on_startup(lambda: threading.Thread(target=make_ready, name="readiness", daemon=True).start())
    pages.on_startup(lambda: threading.Thread(target=desk.begin, args=(table,), kwargs={"sample": sample}).start())
    config = uvicorn.Config(
        guard,
        log_level="error",
        access_log=False,
        ws="wsproto",
        ws_max_size=4 * 1024 * 1024,
        timeout_graceful_shutdown=1,
        server_header=False,
        proxy_headers=False,
    )
    return Server(config), guard


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket at this machine's own address, and at no other."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let others listen at the same port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, port))
            listener.listen(64)  # whoever is quicker than the server waits
        except OSError:
            raise BadInput(f"port {port} is taken by another program; choose another, or none") from None
        yield listener
    finally:
        listener.close()


@contextmanager
def _temporary_files_in(private: Path) -> Iterator[None]:
    """Whatever this process writes for a while, be it the parts of an upload, goes into the private folder."""
    before, named = tempfile.tempdir, os.environ.get(_FRAMEWORK)
    tempfile.tempdir = str(private)
    os.environ[_FRAMEWORK] = str(private / "framework")  # it looks when it is imported
    try:
        yield
    finally:
        tempfile.tempdir = before
        os.environ.pop(_FRAMEWORK)
        if named is not None:
            os.environ[_FRAMEWORK] = named


def _leave(private: Path) -> None:
    """Wait for what was told to stop, and end the program here, whether it did or not, without a trace.

    Ending it as usual would pull the ground from under a thread that computes outside of the interpreter.
    """
    end = time.monotonic() + _GRACE
    while _working() and time.monotonic() < end:
        time.sleep(0.05)
    _end_now(private)


def _working() -> bool:
    """Whether a thread of ours is still at work."""
    here = threading.current_thread()
    return any(thread is not here and thread.name != _LAST_RESORT for thread in threading.enumerate())


def _end_at_last(private: Path) -> None:
    """The same where even the server does not stop."""
    time.sleep(2 * _GRACE)
    _end_now(private)


def _end_now(private: Path) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    rmtree(private, ignore_errors=True)
    os._exit(0)
