"""The queue of computations: one at a time, and answers to a person go before the filling of a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, get_ident


class Turns:
    """A lock that its holder may take again, and that can be handed over in the middle of long work.

    Who takes it by `first` is in a hurry: nobody else gets it before, and work that calls `give_way` now and then
    lets go of it until nobody is in a hurry any more. Such work must not be in the midst of a query when it does.

    >>> from threading import Thread
    >>> turns, done = Turns(), []
    >>> def press():
    ...     with turns.first():
    ...         done.append("what was pressed")
    >>> with turns:
    ...     pressed = Thread(target=press)
    ...     pressed.start()
    ...     while not turns.hurried:
    ...         pass
    ...     turns.give_way()
    ...     done.append("what fills a page")
    >>> pressed.join()
    >>> done
    ['what was pressed', 'what fills a page']
    """

    def __init__(self) -> None:
        self._news = Condition()
        self._holder: int | None = None
        self._depth = 0
        self._hurried = 0

    @property
    def hurried(self) -> bool:
        """Whether somebody in a hurry waits."""
        return self._hurried > 0

    def __enter__(self) -> Turns:
        self._take(1)
        return self

    def __exit__(self, *exception: object) -> None:
        self._let_go(1)

    @contextmanager
    def first(self) -> Iterator[None]:
        """Take it before all others."""
        self._take(1, hurried=True)
        try:
            yield
        finally:
            self._let_go(1)

    def give_way(self) -> None:
        """Where somebody in a hurry waits, let go, and come back when nobody does; nothing where it is not held."""
        if not self._hurried or self._holder != get_ident():
            return
        depth = self._depth
        self._let_go(depth)
        self._take(depth)

    def _take(self, times: int, *, hurried: bool = False) -> None:
        with self._news:
            if self._holder != get_ident():
                self._hurried += hurried
                try:
                    self._news.wait_for(lambda: self._holder is None and (hurried or not self._hurried))
                finally:
                    self._hurried -= hurried
                self._holder = get_ident()
            self._depth += times

    def _let_go(self, times: int) -> None:
        with self._news:
            self._depth -= times
            if not self._depth:
                self._holder = None
                self._news.notify_all()
