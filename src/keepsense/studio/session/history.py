"""A history of immutable states, with undo and redo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from keepsense.errors import BadInput

T = TypeVar("T")

MOST = 200
"""States that are kept; the oldest go first."""


@dataclass(frozen=True)
class History(Generic[T]):
    """A state, those before it and those undone, each with what was done to come to it.

    >>> history = History("k = 5").then("k = 10", "k is 10").then("k = 20", "k is 20")
    >>> back = history.undone()
    >>> back.now, back.undoes, back.redoes, back.redone().now
    ('k = 10', 'k is 10', 'k is 20', 'k = 20')
    >>> back.then("k = 3", "k is 3").can_redo
    False
    """

    now: T
    _done: tuple[tuple[T, str], ...] = ()
    _undone: tuple[tuple[T, str], ...] = ()

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before this one."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is a state that was undone."""
        return bool(self._undone)

    @property
    def undoes(self) -> str:
        """What an undo would take back, in words."""
        return self._done[-1][1] if self._done else ""

    @property
    def redoes(self) -> str:
        """What a redo would do again, in words."""
        return self._undone[-1][1] if self._undone else ""

    def then(self, state: T, what: str) -> History[T]:
        """The next state; what was undone before can no longer be done again."""
        return History(state, (*self._done, (self.now, what))[-MOST:])

    def undone(self) -> History[T]:
        """The state before."""
        if not self._done:
            raise BadInput("there is nothing to undo")
        *done, (state, what) = self._done
        return replace(self, now=state, _done=tuple(done), _undone=(*self._undone, (self.now, what)))

    def redone(self) -> History[T]:
        """The state that was undone last."""
        if not self._undone:
            raise BadInput("there is nothing to redo")
        *undone, (state, what) = self._undone
        return replace(self, now=state, _done=(*self._done, (self.now, what)), _undone=tuple(undone))
