"""How much memory work may take: the limit of a project or half of what is free, and the need of counting a table."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from keepsense.errors import BadInput, TooLarge

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_LEAST = 256 * 2**20
"""Bytes below which nothing works."""
_PROGRAM = 400 * 10**6
"""Bytes that the program and its libraries take before any row is read."""


def limit_of(setting: str | None) -> int:
    """Bytes that work may take at once: as a project file says, or half of what is free now.

    >>> limit_of("4GB"), limit_of("1.5 GiB")
    (4000000000, 1610612736)
    >>> limit_of(None) > 0
    True
    """
    if setting is None:
        return max(_LEAST, free() // 2)
    number = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%|([KMGT]?)(i?)B)\s*", setting)
    if number is None:
        raise BadInput(f"memory = {setting!r} tells no size; write it like 4GB or 40%")
    if number[2] == "%":
        return int(float(number[1]) / 100 * _machine())
    return int(float(number[1]) * (_BINARY if number[4] else _UNITS).get(number[3], 1))


def free() -> int:
    """Bytes that are free on this machine, or in the share of it that this program has.

    >>> free() > 0
    True
    """
    available = _machine() // 2
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024
    with suppress(OSError, ValueError):  # "max" where there is no limit
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text(encoding="ascii"))
        available = min(available, most - int((group / "memory.current").read_text(encoding="ascii")))
    return max(_LEAST, available)


def _machine() -> int:
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 8 * 2**30


def needed(rows: int, columns: int, tuples: int) -> int:
    """Bytes that a run takes: codes and keys of all rows, and what is kept and decided of every distinct tuple.

    >>> needed(10_000_000, 7, 9_000_000) // 10**6
    1962
    """
    return rows * (3 * columns + 24) + tuples * (14 * columns + 70)


def room(limit: int) -> int:
    """Bytes that are left of a limit beside the program itself.

    >>> room(4 * 10**9), room(300_000)
    (3600000000, 200000)
    """
    return limit - min(_PROGRAM, limit // 3)


def needed_apart(rows: int, columns: int) -> int:
    """Bytes that a run takes at least which counts tuples again and again instead of holding them.

    >>> needed_apart(100_000_000, 7) // 10**6
    4300
    """
    return rows * (3 * columns + 22)


def beside_parts(part: int, columns: int, threads: int) -> int:
    """Bytes that counting takes where so many rows are counted at once by each of some threads.

    >>> beside_parts(1 << 20, 7, 2) // 10**6
    339
    """
    return (threads + 1) * part * (4 * columns + 80)


def part_of(left: int, columns: int, threads: int) -> int:
    """Rows to be counted at once, so that counting takes about an eighth of the bytes that are left.

    >>> part_of(4 * 10**9, 7, 2), part_of(10**6, 7, 2)
    (1543209, 4096)
    """
    return min(1 << 22, max(1 << 12, left // 8 // ((threads + 1) * (4 * columns + 80))))


def too_large(rows: int, columns: int, tuples: int, limit: int) -> str:
    """What is said where counting would take more memory than it may.

    >>> print(too_large(100_000_000, 7, 81_000_000, 6 * 10**9))
    counting 100,000,000 rows with about 81,000,000 different combinations of 7 columns takes about 18.5 GB, and \
memory is limited to 6.0 GB; allow more with memory in [engine], make fewer columns quasi-identifiers, make them \
coarser in the source (years in place of days), or release a sample of the rows
    """
    takes = needed(rows, columns, tuples) + limit - room(limit)
    return (
        f"counting {rows:,} rows with about {tuples:,} different combinations of {columns} columns takes about "
        f"{_shown(takes)}, and memory is limited to {_shown(limit)}; allow more with memory in [engine], make fewer "
        "columns quasi-identifiers, make them coarser in the source (years in place of days), or release a sample of "
        "the rows"
    )


def refuse_too_large(rows: int, columns: int, tuples: int, limit: int) -> None:
    """Stop before the work begins where it would take more memory than it may.

    >>> refuse_too_large(10**9, 7, 8 * 10**8, 4 * 10**9)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    keepsense.errors.TooLarge: counting 1,000,000,000 rows with about 800,000,000 different combinations of 7 columns \
takes about 180 GB, and memory is limited to 4.0 GB; ...
    """
    if needed(rows, columns, tuples) > room(limit):
        raise TooLarge(too_large(rows, columns, tuples, limit))


def _shown(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size < 10**11 else f"{size / 1e9:.0f} GB"
