"""Columns with another type than when a recoding was made, and which of their values are the same."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from decimal import Decimal

from keepsense.counts import Value
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.project.project_file import Column

_TYPES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("truth values", (bool,)),
    ("numbers", (int, float, Decimal)),
    ("text", (str,)),
    ("dates", (datetime.date, datetime.time)),
)


def type_of(values: Iterable[Value]) -> str:
    """What the values of a column are, in a word; empty where there are none, or of several types.

    >>> type_of([24, None, 31.5]), type_of(["24"]), type_of([24, "31"])
    ('numbers', 'text', '')
    """
    names = set()
    for value in values:
        if value is not None:
            names.add(next((name for name, types in _TYPES if isinstance(value, types)), type(value).__name__))
    return names.pop() if len(names) == 1 else ""


def changed_type(before: Iterable[Value], now: Iterable[Value]) -> tuple[str, str] | None:
    """What a column held and what it holds, where these are two types.

    >>> changed_type(["01069"], [1069]), changed_type([24], [31.5])
    (('text', 'numbers'), None)
    """
    types = type_of(before), type_of(now)
    return types if all(types) and types[0] != types[1] else None


def as_before(inputs: Iterable[Value], retyped: tuple[str, str] | None, column: Column) -> Callable[[Value], Value]:
    """What values were in the type of the earlier table; None where that cannot be told.

    >>> as_before(["01069", "81667"], ("text", "numbers"), Column(kind="code"))(1069)
    '01069'
    """
    if retyped is None:
        return lambda value: value
    before, _ = retyped
    if before == "text":
        lengths = {len(text) for text in inputs if isinstance(text, str) and text.isdigit()}
        digits = all(isinstance(text, str) and text.isdigit() for text in inputs if text is not None)
        length = lengths.pop() if digits and len(lengths) == 1 else 0  # 01069 that became 1069
        numbers = {_number(text): text for text in inputs} if KINDS[column.kind].numbers else {}
        return lambda value: numbers.get(_number(value), str(value).zfill(length))
    if before == "numbers":
        known = {_number(value): value for value in inputs}
        return lambda value: None if (number := _number(value)) is None else known.get(number, number)
    if before == "dates":
        spelled = {str(value): value for value in inputs}
        return lambda value: spelled.get(str(value), value)
    return lambda value: value


def _number(value: Value) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
