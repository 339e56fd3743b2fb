"""What a recoding takes and gives, as Arrow arrays that an engine can look up: the same for all engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keepsense.arrays import Ints, used_codes
from keepsense.counts import Value
from keepsense.engines import arrow
from keepsense.errors import BadInput


def typed(column: str, values: Sequence[Value], kind: Any) -> Any:
    """Input values as an Arrow array of the type that a table's column has.

    >>> import pyarrow as pa
    >>> typed("age", ("old",), pa.int64())
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the recoding of column 'age' is for values of another type than the table's
    """
    import pyarrow as pa

    try:
        return arrow.array(_as_lists(values), kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise BadInput(f"the recoding of column {column!r} is for values of another type than the table's") from None


def cells_of(values: Sequence[Value], kind: Any = None) -> Any:
    """Output values as one Arrow array: as they are where they have one type, or are of the `kind`, else as text.

    >>> cells_of([31, "40s", True]).to_pylist()
    ['31', '40s', 'true']
    """
    import pyarrow as pa

    try:
        return arrow.array(_as_lists(values), kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([text_of(v) for v in values], pa.string())


def text_of(value: Value) -> str | None:
    """A value as DuckDB spells it.

    >>> text_of(True), text_of(("tea", "milk")), text_of(None), text_of(31)
    ('true', '[tea, milk]', None, '31')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(str(text_of(item)) for item in value)}]"
    return None if value is None else str(value)


def decoded(values: Sequence[Value], codes: Ints) -> Any:
    """Outputs from codes and their dictionary; values that no code stands for have no say in the type.

    >>> decoded((31, 40, "old"), np.array([1, 0, 1])).to_pylist()
    [40, 31, 40]
    """
    used, places = used_codes(codes)
    return cells_of([values[code] for code in used.tolist()]).take(positions(places))


def positions(codes: Any) -> Any:
    """Codes as Arrow takes them.

    >>> positions(np.array([2, 0])).to_pylist()
    [2, 0]
    """
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(codes))


def not_covered(lost: int, names: Sequence[str]) -> BadInput:
    """What is said of rows that find no output.

    >>> str(not_covered(2, ["job"]))
    '2 row(s) hold values of job that the recoding does not know; make it for this table'
    """
    return BadInput(
        f"{lost:,} row(s) hold values of {', '.join(names)} that the recoding does not know; make it for this table"
    )


def _as_lists(values: Sequence[Value]) -> list[Any]:
    return [list(v) if isinstance(v, tuple) else v for v in values]
