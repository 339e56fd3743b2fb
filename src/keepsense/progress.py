"""Events that long work emits: steps for progress bars, lessons and the guide.

A method takes an optional `listener` and calls it with events; no listener is needed.

>>> seen = []
>>> emit(seen.append, "node", done=3, total=10, chosen="age")
>>> seen[0].name, seen[0].done, seen[0].details["chosen"]
('node', 3, 'age')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a running method: what happened, how far it is, and details for a trace.

    >>> Event("start", 0, 4).fraction
    0.0
    """

    name: str
    done: float = 0.0
    total: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fraction(self) -> float | None:
        """Share of the work that is done, or None where the total is not known."""
        return None if not self.total else min(1.0, self.done / self.total)


Listener = Callable[[Event], None]


def wants_steps(listener: Listener | None) -> TypeGuard[Listener]:
    """Whether a listener wants every single step of a method with what led to it, as lessons do.

    Such a listener says so by an attribute `every_step`. All others, progress bars say, hear only how far the work is;
    what a single step costs to tell is not spent for them.

    >>> class Lesson:
    ...     every_step = True
    ...     def __call__(self, event): ...
    >>> wants_steps(Lesson()), wants_steps(print), wants_steps(None)
    (True, False, False)
    """
    return getattr(listener, "every_step", False) is True


def emit(listener: Listener | None, name: str, done: float = 0.0, total: float | None = None, **details: Any) -> None:
    """Tell the listener, if there is one.

    >>> emit(None, "nobody listens")
    """
    if listener is not None:
        listener(Event(name, done, total, details))
