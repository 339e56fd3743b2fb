"""Loops that Numba compiles: they are kept between runs where a folder can be written, and work everywhere.

Numba wants to write beside the code, into the user's cache or where `NUMBA_CACHE_DIR` points, and gives up where it may
not. A read-only installation for a user without a home gets a private folder among the temporary files instead, or
compiles anew in every process; the user is told once.

>>> @njit(cache=True, nogil=True)
... def twice(number):
...     return 2 * number
>>> twice(21), twice.py_func(4)
(42, 8)
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import config
from numba.core.caching import FunctionCache

Loop = TypeVar("Loop", bound=Callable[..., Any])
_Cache: Any = FunctionCache  # its methods carry no types

COMPILED_ANEW = (
    "compiled loops cannot be kept, so every run compiles them again for some seconds; point NUMBA_CACHE_DIR to a "
    "folder that can be written"
)
"""What is said, once, where no folder takes what was compiled."""
KEPT_ELSEWHERE = (
    "compiled loops are kept among the temporary files, for no other folder takes them; point NUMBA_CACHE_DIR to a "
    "folder that can be written and stays"
)
"""What is said, once, where only a temporary folder takes what was compiled."""
_told: set[str] = set()


def njit(*, cache: bool = True, **options: Any) -> Callable[[Loop], Loop]:
    """Numba's decorator of that name; a cache that cannot be written costs time, and never the run.

    >>> @njit(cache=False)
    ... def half(number):
    ...     return number / 2
    >>> half(5)
    2.5
    """

    def decorate(function: Loop) -> Loop:
        dispatcher: Any = numba.njit(**options)(function)
        if cache:
            stored = _stored(function)
            if stored is not None:
                dispatcher._cache = stored
        return cast("Loop", dispatcher)

    return decorate


class _Stored(_Cache):  # type: ignore[misc]
    """What was compiled of a function, in files; a full folder, or files of somebody else, cost time only."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            return super().load_overload(signature, context)
        except (OSError, EOFError):
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        try:
            super().save_overload(signature, compiled)
        except OSError:
            self.disable()
            _tell(COMPILED_ANEW)


def _stored(function: Callable[..., Any]) -> _Stored | None:
    """Where a function is kept: where Numba would, else in a temporary folder, else nowhere."""
    try:
        return _Stored(function)
    except (RuntimeError, OSError):  # no folder takes it, or the function is of no file
        if not Path(function.__code__.co_filename).exists():
            return None
    settings: Any = config
    chosen, folder = settings.CACHE_DIR, temporary_folder()
    if folder is not None:
        settings.CACHE_DIR = str(folder)
        try:
            stored = _Stored(function)
        except (RuntimeError, OSError):
            pass
        else:
            _tell(KEPT_ELSEWHERE)
            return stored
        finally:
            settings.CACHE_DIR = chosen
    _tell(COMPILED_ANEW)
    return None


def temporary_folder() -> Path | None:
    """The user's own folder for compiled loops among the temporary files, or None where it cannot be had.

    What lies there is run, so nobody else may have made it or be able to write to it.

    >>> folder = temporary_folder()
    >>> folder is None or folder.name.startswith("keepsense-compiled")
    True
    """
    user = os.getuid() if hasattr(os, "getuid") else None
    try:
        folder = Path(tempfile.gettempdir()) / f"keepsense-compiled{'' if user is None else f'-{user}'}"
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(about.st_mode) or (user is not None and (about.st_uid != user or about.st_mode & 0o077)):
        return None
    return folder


def _tell(message: str) -> None:
    if not _told:
        _told.add(message)
        warnings.warn(message, RuntimeWarning, stacklevel=2)
