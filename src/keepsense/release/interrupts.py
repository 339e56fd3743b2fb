"""Steps that must all be done or none: Ctrl-C waits until they are over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold an interrupt back until the block is over; for a handful of renames, not for long work.

    >>> with interrupts_held():
    ...     done = True
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[Any] = []
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda *told: held.append(told)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if held:
            number, frame = held[0]
            handler = before[number]
            if callable(handler):
                handler(number, frame)
            elif handler == signal.SIG_DFL:
                signal.raise_signal(number)
