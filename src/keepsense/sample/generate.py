"""A seeded generator of synthetic people whose columns hang together as real ones do.

Who people work for depends on what they do, what they have on their age and sex, what they like on their hobby. Values
are skewed, and a few cells are misspelled, sloppily written or too new for the taxonomy, as in every real table.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from keepsense.errors import BadInput
from keepsense.sample._words import DIAGNOSES, OCCUPATIONS, PENSIONER, PLACES, PUPIL, STUDENT, THEMES, VARIANTS

COLUMNS = ("id", "sex", "age", "postcode", "place", "occupation", "workplace", "hobby", "interests", "diagnosis")
"""Columns of the sample, in order."""

WORD_COLUMNS = ("occupation", "workplace", "hobby", "place", "diagnosis")
"""Columns that hold one word or phrase; `interests` holds several."""

SEPARATOR = ";"
"""What separates the words of the set-valued column `interests`."""

_BATCH = 100_000
_VARIANT_SHARE = 0.04
_MOST_INTERESTS = 6
_YOUNGEST, _OLDEST = 16, 95
_AGES = np.arange(_YOUNGEST, _OLDEST + 1)

Codes = NDArray[np.int64]
Chances = NDArray[np.float64]


def people(n: int = 10_000, seed: np.random.Generator | int | None = None) -> pa.Table:
    """Make a table of `n` synthetic people.

    The same seed gives the same people; without one they are new each time. `interests` is a set of words separated by
    `SEPARATOR`. A million people take a few seconds.

    >>> people(3, seed=7).column("sex").to_pylist() == people(3, seed=7).column("sex").to_pylist()
    True
    >>> people(-1)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: sample: the number of people must be 0 or more, not -1
    """
    return pa.Table.from_batches(_batches(n, seed), _schema())


def write_people(path: str | os.PathLike[str], n: int = 10_000, seed: np.random.Generator | int | None = None) -> Path:
    """Write synthetic people to a `.csv` or `.parquet` file, in batches; the file appears only when it is whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_people(Path(folder) / "people.csv", 100, seed=1)
    ...     len(path.read_text(encoding="utf-8").splitlines())
    101
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise BadInput(
            f"{target.name}: sample people are written as .csv or .parquet; end the file name in one of these"
        )
    batches = _batches(n, seed)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise BadInput(f"{target.name}: cannot be written there ({error.strerror}); choose another folder") from None
    try:
        with os.fdopen(handle, "wb") as out, _writer(out, kind) as writer:
            for batch in batches:
                writer.write_batch(batch)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadInput(f"{target.name}: cannot be written ({error.strerror})") from None
        raise
    return target


def _writer(out: Any, kind: str) -> Any:
    if kind == ".csv":
        from pyarrow import csv

        # no word of the sample holds a comma or a quote, so the file needs no quotes: pleasant to look at
        out.write((",".join(COLUMNS) + "\n").encode())
        return csv.CSVWriter(out, _schema(), write_options=csv.WriteOptions(include_header=False, quoting_style="none"))
    from pyarrow import parquet

    return parquet.ParquetWriter(out, _schema())


def _schema() -> pa.Schema:
    kinds = {"id": pa.int64(), "age": pa.int64()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])


def _batches(n: int, seed: np.random.Generator | int | None) -> Iterator[pa.RecordBatch]:
    if n < 0:
        raise BadInput(f"sample: the number of people must be 0 or more, not {n}")
    rng = np.random.default_rng(seed)
    return (_batch(start, min(_BATCH, n - start), rng) for start in range(0, n, _BATCH))


def _batch(start: int, n: int, rng: np.random.Generator) -> pa.RecordBatch:
    woman = (rng.random(n) < 0.51).astype(np.int64)
    age = _AGES[_draw(rng, _age_chances(), np.zeros(n, np.int64))]
    group = np.digitize(age, (35, 65))
    place = _draw(rng, _by_rank(len(_places()))[None, :], np.zeros(n, np.int64))
    occupation, workplace = _work(rng, woman, age)
    theme, hobby = _hobbies(rng, group)
    diagnosis = _draw(rng, _diagnosis_chances(), group * 2 + woman)
    # three digits after the place's two; low ones are city centres, where more people live
    postcode = (10 + place) * 1000 + (rng.random(n) ** 3 * 60).astype(np.int64)
    columns = {
        "id": pa.array(np.arange(start + 1, start + n + 1)),
        "sex": pa.array(["male", "female"]).take(pa.array(woman)),
        "age": pa.array(age),
        "postcode": pa.array(postcode).cast(pa.string()),
        "place": _written(rng, "place", _places(), place),
        "occupation": _written(rng, "occupation", _occupations(), occupation),
        "workplace": _written(rng, "workplace", _workplaces(), workplace),
        "hobby": _written(rng, "hobby", _theme_words(3), hobby),
        "interests": _interests(rng, theme),
        "diagnosis": _written(rng, "diagnosis", tuple(DIAGNOSES), diagnosis),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in COLUMNS], schema=_schema())


# ---- what depends on what --------------------------------------------------------------------------------------------


def _work(rng: np.random.Generator, woman: Codes, age: Codes) -> tuple[Codes, Codes]:
    """Occupation by sex, unless one still studies or has retired; workplace by occupation."""
    occupation = _draw(rng, _occupation_chances(), woman)
    stage = rng.random(len(age))
    studies = np.interp(age, (16, 18, 22, 26, 34), (0.97, 0.85, 0.5, 0.12, 0.0))
    retired = np.interp(age, (55, 60, 65, 70, 80), (0.0, 0.08, 0.6, 0.94, 1.0))
    student, pensioner, pupil = range(len(OCCUPATIONS), len(OCCUPATIONS) + 3)
    occupation[stage < studies] = student
    occupation[stage < retired] = pensioner
    row = np.where((occupation == student) & (age < 19), pupil, occupation)
    return occupation, _draw(rng, _workplace_chances(), row)


def _hobbies(rng: np.random.Generator, group: Codes) -> tuple[Codes, Codes]:
    """Theme by age group, hobby within the theme."""
    weights = np.array([theme[:3] for theme in THEMES.values()], dtype=np.float64).T
    theme = _draw(rng, weights / weights.sum(axis=1, keepdims=True), group)
    return theme, _draw(rng, _theme_chances(3), theme)


def _interests(rng: np.random.Generator, theme: Codes) -> pa.Array:
    """One to six different words, most of them of the hobby's theme, the others of any."""
    n = len(theme)
    size = 1 + (rng.random(n) ** 1.2 * _MOST_INTERESTS).astype(np.int64)
    person = np.repeat(np.arange(n), size)
    other = rng.integers(0, len(THEMES), len(person))
    themes = np.where(rng.random(len(person)) < 0.7, theme[person], other)
    words = _theme_words(4)
    word = _draw(rng, _theme_chances(4), themes)
    once = np.unique(person * len(words) + word)
    starts = np.searchsorted(once, np.arange(n + 1) * len(words))
    chosen = pa.array(words).take(pa.array(once % len(words)))
    from pyarrow import compute

    return compute.binary_join(pa.ListArray.from_arrays(pa.array(starts, pa.int32()), chosen), SEPARATOR)


def _written(rng: np.random.Generator, column: str, words: Sequence[str], codes: Codes) -> pa.Array:
    """The words of the codes; a small share of the cells is written otherwise."""
    spellings, first, count = list(words), np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    for word, variants in VARIANTS[column].items():
        at = words.index(word)
        first[at], count[at] = len(spellings), len(variants)
        spellings.extend(variants)
    odd = (rng.random(len(codes)) < _VARIANT_SHARE) & (count[codes] > 0)
    chosen = codes[odd]
    codes = codes.copy()
    codes[odd] = first[chosen] + (rng.random(len(chosen)) * count[chosen]).astype(np.int64)
    return pa.array(spellings, pa.string()).take(pa.array(codes))


# ---- tables of chances -----------------------------------------------------------------------------------------------


def _draw(rng: np.random.Generator, chances: Chances, row: Codes) -> Codes:
    """For each entry of `row` one column of that row of the table of chances, by inverting all rows' sums at once."""
    height, width = chances.shape
    sums = np.cumsum(chances, axis=1)
    sums /= sums[:, -1:]
    stacked = (sums + np.arange(height)[:, None]).ravel()
    drawn = np.searchsorted(stacked, row + rng.random(len(row)), side="right")
    column: Codes = np.minimum(drawn - row * width, width - 1)
    return column


def _by_rank(n: int) -> Chances:
    """Skewed chances of a list that is ordered likeliest first."""
    weights = 1.0 / np.arange(1, n + 1) ** 0.8
    chances: Chances = weights / weights.sum()
    return chances


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(","))


@cache
def _places() -> tuple[str, ...]:
    return _split(PLACES)


@cache
def _occupations() -> tuple[str, ...]:
    return (*OCCUPATIONS, STUDENT[0], PENSIONER[0])


@cache
def _workplaces() -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in _workplace_lists() for word in _split(words)))


def _workplace_lists() -> list[str]:
    return [places for _, _, places in OCCUPATIONS.values()] + [STUDENT[1], PENSIONER[1], PUPIL[1]]


@cache
def _age_chances() -> Chances:
    chances: Chances = np.interp(_AGES, (16, 30, 50, 65, 80, 96), (0.8, 1.1, 1.3, 1.0, 0.5, 0.0))[None, :]
    return chances


@cache
def _occupation_chances() -> Chances:
    size = np.array([weight for weight, _, _ in OCCUPATIONS.values()], dtype=np.float64)
    women = np.array([share for _, share, _ in OCCUPATIONS.values()], dtype=np.float64) / 100
    return np.stack([size * (1 - women), size * women])


@cache
def _workplace_chances() -> Chances:
    return _ranked(_workplace_lists(), _workplaces())


@cache
def _diagnosis_chances() -> Chances:
    """Rows: age group times two, plus one for women."""
    factors: Mapping[str, tuple[float, float]] = {
        "all": (1, 1),
        "women": (0.4, 1),
        "men": (1, 0.4),
        "only women": (0, 1),
        "only men": (1, 0),
    }
    table = [
        [often[group] * factors[who][woman] for *often, who in DIAGNOSES.values()]
        for group in range(3)
        for woman in range(2)
    ]
    return np.array(table, dtype=np.float64)


@cache
def _theme_words(field: int) -> tuple[str, ...]:
    """All hobbies (field 3) or all interests (field 4)."""
    return tuple(dict.fromkeys(word for theme in THEMES.values() for word in _split(str(theme[field]))))


@cache
def _theme_chances(field: int) -> Chances:
    return _ranked([str(theme[field]) for theme in THEMES.values()], _theme_words(field))


def _ranked(lists: Sequence[str], words: Sequence[str]) -> Chances:
    """One row a list: the chances of its words, likeliest first, over all words."""
    column = {word: j for j, word in enumerate(words)}
    table = np.zeros((len(lists), len(words)))
    for i, text in enumerate(lists):
        chosen = _split(text)
        table[i, [column[word] for word in chosen]] = _by_rank(len(chosen))
    return table
