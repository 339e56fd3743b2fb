"""Codes that are masked from the end, such as postcodes: the first characters are the coarser part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS, MISSING, Kind, Rule, Values
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import SUPPRESSED


def masked(
    values: Iterable[Value],
    *,
    keep: str = "start",
    mask: str = "*",
    steps: Sequence[int] | None = None,
    name: str = "codes",
) -> Hierarchy:
    """Strings such as postcodes with ever more characters masked, from the end (`keep="start"`) or from the start.

    `steps` says how many characters each level masks; by default one more at each. Strings of different lengths are
    masked as if the short ones went on. The top masks everything.

    >>> masked(["81667", "81675", "01069"], steps=[2, 4]).rows()[0]
    ('81667', '816**', '8****', '*')
    """
    leaves = list(dict.fromkeys(values))
    if not leaves:
        raise BadInput(f"{name}: the column has no values to mask")
    if len(mask) != 1 or keep not in ("start", "end"):
        raise BadInput(f"{name}: the mask must be one character, and keep must be start or end")
    texts = [None if value is None else str(value) for value in leaves]
    longest = max((len(text) for text in texts if text is not None), default=0)
    hidden = list(range(1, longest)) if steps is None else list(steps)
    if any(not 0 < step < max(longest, 2) for step in hidden) or sorted(set(hidden)) != hidden:
        raise BadInput(f"{name}: steps must grow from at least 1 to at most {longest - 1} masked characters")
    rows = []
    for value, text in zip(leaves, texts, strict=True):
        labels = [MISSING if text is None else _masked(text, longest, step, keep, mask) for step in hidden]
        rows.append((value, *labels, SUPPRESSED))
    return Hierarchy.of_rows(rows, name=name, kind="code")


def _masked(text: str, length: int, step: int, keep: str, mask: str) -> str:
    left = length - step
    hidden = mask * (length - min(left, len(text)))
    return text[:left] + hidden if keep == "start" else hidden + text[max(0, len(text) - left) :]


def by_prefix(values: Iterable[Value], *, name: str = "codes") -> Hierarchy:
    """Codes masked from the end, at those levels only that join some and not all of them: others lose without gain.

    >>> by_prefix(["A40", "A41", "A410"]).rows()[1:]
    [('A41', 'A41*', '*'), ('A410', 'A41*', '*')]
    >>> by_prefix(["A11", "A12", "A13"]).rows()[0]
    ('A11', '*')
    """
    leaves = list(dict.fromkeys(values))
    texts = ["" if value is None else str(value) for value in leaves]
    longest = max(map(len, texts), default=0)
    steps, before = [], len(set(texts))
    for step in range(1, longest):
        groups = len({text[: longest - step] for text in texts})
        if 1 < groups < before:
            steps.append(step)
            before = groups
    return masked(leaves, steps=steps, name=name)


def mask_rule(released: Mapping[Value, Value], mask: str = "*") -> Rule | None:
    """The masking by which codes were released, as told by what became of some; None where it is none.

    >>> rule = mask_rule({"81667": "816**", "0106": "010**"})
    >>> rule("99425"), rule("99"), rule("994251")
    ('994**', '99***', '994**')
    >>> mask_rule({"81667": "816**", "01069": "east"}) is None
    True
    """
    pairs = [(str(code), str(label)) for code, label in released.items() if code is not None]
    lengths = {len(label) for _, label in pairs}
    if len(lengths) != 1:
        return None
    length = lengths.pop()
    for keep in ("start", "end"):
        # how much is left is told by the longest code; what short ones leave is no more than they have
        left = max(len(label.rstrip(mask) if keep == "start" else label.lstrip(mask)) for _, label in pairs)
        if 0 < left < length and all(_masked(text, length, length - left, keep, mask) == out for text, out in pairs):
            step = length - left
            return lambda value, keep=keep, step=step: _masked(str(value), length, step, keep, mask)  # type: ignore[misc]
    return None


def _covers(labels: Sequence[Value], values: Sequence[Value], mask: str = "*") -> NDArray[np.bool_]:
    """Which codes begin, or end, with what each label shows of them."""
    texts = ["" if value is None else str(value) for value in values]
    table = np.zeros((len(labels), len(texts)), dtype=np.bool_)
    for row, label in zip(table, map(str, labels), strict=True):
        shown = label.strip(mask)
        if not shown or shown == label:
            row[:] = [text == label for text in texts]
        elif label.startswith(shown):
            row[:] = [text.startswith(shown) for text in texts]
        elif label.endswith(shown):
            row[:] = [text.endswith(shown) for text in texts]
    return table


def _build(values: Values) -> Hierarchy:
    """Digits of one length, such as postcodes, character by character; other codes where a prefix is shared."""
    texts = [str(value) for value in values.rows]
    alike = all(text.isdigit() for text in texts) and len(set(map(len, texts))) == 1
    return masked(values.rows, name=values.name) if alike else by_prefix(values.rows, name=values.name)


def _candidates(values: Values) -> list[Hierarchy]:
    longest = max(len(str(value)) for value in values.rows)
    steps = [list(range(by, longest, by)) for by in range(1, max(2, longest))]
    return [masked(values.rows, keep=keep, steps=own, name=values.name) for keep in ("start", "end") for own in steps]


KINDS.add(
    "code",
    Kind(
        "code",
        "codes whose ends can be hidden",
        "postcodes, product codes",
        build=_build,
        candidates=_candidates,
        rule=lambda released, order: mask_rule(released),
        covers=_covers,
    ),
    outdated=("masked",),
)
