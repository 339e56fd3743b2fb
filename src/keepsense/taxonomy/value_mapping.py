"""A mapping of values onto concepts: what each means, how that was decided, and what is left over.

>>> from keepsense.taxonomy.mapper import map_values
>>> from keepsense.taxonomy.embedded_taxonomies import wordnet
>>> hobbies = map_values({"Swimming": 3, "water skiing": 2, "qwertyzz": 1}, wordnet(), senses="joint")
>>> hobbies.labels, hobbies.unmapped, hobbies.coverage.values
(('swimming', 'water-skiing', ''), ('qwertyzz',), 0.6666666666666666)
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows, frozen
from keepsense.counts import Value
from keepsense.errors import Finding
from keepsense.taxonomy import mapping_file
from keepsense.taxonomy.glosses import explain
from keepsense.taxonomy.lookup import lookup, sense_name
from keepsense.taxonomy.mapping_file import DOUBTFUL, SUGGESTED, UNMAPPED
from keepsense.taxonomy.sense_disambiguation import has_glosses
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.word_forms import LONGEST, MISSING_MARKS, looks_numeric


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of a column that are mapped: of its distinct values, and of its rows. Missing cells are not counted.

    >>> Coverage(values=0.5, rows=0.9).rows
    0.9
    """

    values: float
    rows: float


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A value with several senses: the chosen one and the others, as `coach#1`, each with a line that describes it.

    `confidence` is the probability that the likeliest sense is the right one, None where the strategy tells none. Where
    that is too low to choose, `chosen` is what all plausible senses are, or empty texts.

    >>> Ambiguity("coach", ("coach#1", "a trainer"), (("coach#5", "a bus"),)).chosen[0]
    'coach#1'
    """

    value: Value
    chosen: tuple[str, str]
    alternatives: tuple[tuple[str, str], ...]
    confidence: float | None = None


@dataclass(frozen=True, eq=False)
class Mapping:
    """A column's distinct values and the concept each stands for. Made by `map_values` or `Mapping.read`.

    `codes[i]` is the concept of `values[i]`, -1 where it has none; `how[i]` is one of `HOW`; `names[i]` is the name it
    was found under; row i of `candidates` holds all concepts it may mean, the likeliest first; `rows[i]` counts the
    rows that hold it. Missing cells are no value: `missing` counts them. `confidence[i]` is the probability that
    the likeliest sense is the right one, where the strategy tells it.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> from keepsense.taxonomy.mapper import map_values
    >>> jobs = map_values(["Nurses", "nurse", None], from_edges([("nurse", "job"), ("cook", "job")]))
    >>> jobs.concepts, jobs.how, jobs.missing
    ({'Nurses': 0, 'nurse': 0}, ('normalised', 'exact'), 1)
    """

    taxonomy: Taxonomy
    column: str
    values: tuple[Value, ...]
    codes: Ints
    how: tuple[str, ...]
    names: tuple[str, ...]
    candidates: Rows
    rows: NDArray[np.int64]
    missing: int = 0
    senses: str = "first"
    confidence: Floats | None = None
    _place: dict[Value, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        frozen(self.codes)
        frozen(self.rows)
        object.__setattr__(self, "_place", {value: i for i, value in enumerate(self.values)})

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        mapped = int((self.codes >= 0).sum())
        return f"Mapping({self.column!r}: {mapped:,} of {len(self):,} values onto {self.taxonomy.name})"

    @property
    def concepts(self) -> dict[Value, int]:
        """Concept code of every mapped value."""
        return {value: int(code) for value, code in zip(self.values, self.codes, strict=True) if code >= 0}

    def codes_of(self, values: Iterable[Value]) -> Ints:
        """Concept codes of any values of the column, in their order; -1 where unmapped, missing or not in it.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> from keepsense.taxonomy.mapper import map_values
        >>> map_values(["cat"], from_edges([("cat", "pet")])).codes_of(["cat", None]).tolist()
        [0, -1]
        """
        place = self._place
        where = np.fromiter((-1 if is_missing(v) else place.get(v, -1) for v in values), dtype=np.int64)
        found: Ints = np.append(self.codes, np.int32(-1))[where]
        return found

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The chosen sense of each value as a person names it (`coach#1`); empty where unmapped."""
        return tuple(
            sense_name(self.taxonomy, int(code), name) if code >= 0 else ""
            for code, name in zip(self.codes, self.names, strict=True)
        )

    @property
    def unmapped(self) -> tuple[Value, ...]:
        """Values that stand for no concept."""
        return tuple(value for value, code in zip(self.values, self.codes, strict=True) if code < 0)

    @property
    def suggested(self) -> dict[Value, tuple[int, str]]:
        """Values whose head noun alone is known, which stand for nothing until accepted: rows, and that noun's sense.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> from keepsense.taxonomy.mapper import map_values
        >>> map_values({"old nurse": 3}, from_edges([("nurse", "job")])).suggested
        {'old nurse': (3, 'nurse')}
        """
        where = [i for i, how in enumerate(self.how) if how == SUGGESTED]
        likeliest = {i: int(self.candidates[i][0]) for i in where if len(self.candidates[i])}
        return {
            self.values[i]: (int(self.rows[i]), sense_name(self.taxonomy, concept, self.names[i]))
            for i, concept in likeliest.items()
        }

    def suggestions(self, limit: int = 3, at_most: int = 500) -> dict[Value, list[str]]:
        """For the most frequent unmapped values, names in the taxonomy that may be meant; values without are left out.

        The last noun of a phrase comes first, then what is spelled alike.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> from keepsense.taxonomy.mapper import map_values
        >>> map_values(["veternarian"], from_edges([("veterinarian", "person")])).suggestions()
        {'veternarian': ['veterinarian']}
        """
        open_values = [
            i for i, how in enumerate(self.how) if how in (SUGGESTED, UNMAPPED) and _is_word(str(self.values[i]))
        ]
        open_values.sort(key=lambda i: (-int(self.rows[i]), str(self.values[i])))
        chosen = open_values[:at_most]
        names = lookup(self.taxonomy).suggest([str(self.values[i]) for i in chosen], limit)
        nouns = self.suggested
        near = {}
        for i, spelled in zip(chosen, names, strict=True):
            noun = [nouns[self.values[i]][1]] if self.values[i] in nouns else []
            near[self.values[i]] = list(dict.fromkeys([*noun, *spelled]))[:limit]
        return {value: some for value, some in near.items() if some}

    @property
    def ambiguous(self) -> tuple[Ambiguity, ...]:
        """Values that may mean more than one concept and whose sense nobody has given."""
        several = np.flatnonzero((self.candidates.sizes > 1) & (self.codes >= 0)).tolist()
        return tuple(self._ambiguity(i) for i in several if self.how[i] not in ("table", "given", DOUBTFUL))

    @property
    def doubtful(self) -> tuple[Ambiguity, ...]:
        """Values with several senses of which none is likely enough; a person has to say which is meant.

        >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
        >>> from keepsense.taxonomy.mapper import map_values
        >>> (word,) = map_values(["surgery"], wordnet()).doubtful
        >>> word.value, word.chosen, len(word.alternatives)
        ('surgery', ('', ''), 4)
        """
        return tuple(self._ambiguity(i) for i, how in enumerate(self.how) if how == DOUBTFUL)

    def _ambiguity(self, i: int) -> Ambiguity:
        code, name = int(self.codes[i]), self.names[i]
        others = tuple(self._shown(int(c), name) for c in self.candidates[i] if c != code)
        sure = None if self.confidence is None or np.isnan(self.confidence[i]) else float(self.confidence[i])
        return Ambiguity(self.values[i], self._shown(code, name) if code >= 0 else ("", ""), others, sure)

    def _shown(self, concept: int, name: str) -> tuple[str, str]:
        return sense_name(self.taxonomy, concept, name), explain(self.taxonomy, concept)

    @property
    def coverage(self) -> Coverage:
        """Shares of values and of rows that are mapped; 1 where there is nothing to map."""
        mapped = self.codes >= 0
        total = int(self.rows.sum())
        return Coverage(
            float(mapped.mean()) if len(mapped) else 1.0, int(self.rows[mapped].sum()) / total if total else 1.0
        )

    def findings(self, options: Sequence[str] = ()) -> list[Finding]:
        """What a person should look at, in counts; no value of the column appears in a message.

        Commands in the messages have the `options` with which `keepsense map` makes the same mapping.
        """
        return _findings(self, options)

    def to_settle(self, options: Sequence[str] = ()) -> list[Finding]:
        """Those findings that a mapping file settles, none of them an error: what knows few words is poor, not wrong.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> from keepsense.taxonomy.mapper import map_values
        >>> tools = from_edges([("hammer", "tool")], name="tools")
        >>> [finding.code for finding in map_values(["hummus"], tools).to_settle()]
        ['W101']
        """
        codes = {"E101": "W101", **dict.fromkeys(("W101", "W104", "W105", "W110", "W111"))}
        return [
            replace(finding, code=codes[finding.code] or finding.code)
            for finding in self.findings(options)
            if finding.code in codes
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file that a person can edit and `Mapping.read` reads back."""
        mapping_file.save(self, path)

    @staticmethod
    def read(path: str | os.PathLike[str], taxonomy: Taxonomy, *, column: str | None = None) -> Mapping:
        """Read a file written by `save`, edited or not; the column is named after the file unless given."""
        return Mapping(taxonomy, *mapping_file.read(path, taxonomy, column=column))


def is_missing(value: Value) -> bool:
    """Whether a cell holds nothing: None, not-a-number, or blank text.

    >>> [is_missing(cell) for cell in (None, float("nan"), "  ", "NA", 0)]
    [True, True, True, False, False]
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return (isinstance(value, str) and not value.strip()) or type(value).__name__ in ("NAType", "NaTType")


def _is_word(text: str) -> bool:
    """Whether spelling could be what keeps a value from being found."""
    return len(text) <= LONGEST and text.strip() not in MISSING_MARKS and not looks_numeric(text)


def _findings(mapping: Mapping, options: Sequence[str]) -> list[Finding]:
    command = _command(mapping, options)
    texts = [str(value) for value in mapping.values]
    open_texts = [text for text, how in zip(texts, mapping.how, strict=True) if how == UNMAPPED]
    unmapped_rows = int(mapping.rows[mapping.codes < 0].sum())
    numeric = sum(looks_numeric(t) for t, code in zip(texts, mapping.codes.tolist(), strict=True) if code < 0)
    name = mapping.taxonomy.name
    doubtful = [i for i, how in enumerate(mapping.how) if how == DOUBTFUL]
    undecided = [i for i in doubtful if mapping.codes[i] < 0]
    unmapped_rows -= int(mapping.rows[undecided].sum())
    lost = len(mapping.unmapped) - len(undecided)
    by_head = mapping.how.count("head")
    suggested = [int(rows) for how, rows in zip(mapping.how, mapping.rows, strict=True) if how == SUGGESTED]
    unknown = lost - len(suggested)
    unknown_rows = unmapped_rows - sum(suggested)
    ambiguous = sum(
        how not in ("table", "given", DOUBTFUL, SUGGESTED, UNMAPPED) and size > 1
        for how, size in zip(mapping.how, mapping.candidates.sizes.tolist(), strict=True)
    )
    ambiguous_rows = sum(
        int(rows)
        for how, size, rows in zip(mapping.how, mapping.candidates.sizes.tolist(), mapping.rows, strict=True)
        if how not in ("table", "given", DOUBTFUL, SUGGESTED, UNMAPPED) and size > 1
    )
    broken = sum("�" in text or any("\ud800" <= c <= "\udfff" for c in text) for text in texts)
    remarks = [
        ("E101", unknown == len(texts) > 0, f"none of the {_n(lost, 'value')} is in {name}; try another taxonomy"),
        (
            "W101",
            0 < unknown < len(texts),
            f"{unknown:,} of {_n(len(texts), 'value')} ({_n(unknown_rows, 'row')}) not found in {name}; they stay as"
            f" they are until a mapping file says what they mean: {command}",
        ),
        ("W102", mapping.missing > 0, f"{_n(mapping.missing, 'cell')} missing"),
        (
            "W103",
            2 * numeric > len(texts),
            f"the column looks numeric: {_n(numeric, 'value')} of {len(texts):,} are numbers or dates, which no word"
            " names; treat it as a numeric column",
        ),
        (
            "W104",
            ambiguous > 0,
            f"{_n(ambiguous, 'value')} ({_n(ambiguous_rows, 'row')}) with several senses, chosen by {mapping.senses!r};"
            f" look at the alternatives: {command}",
        ),
        (
            "W111",
            bool(doubtful),
            f"{_n(len(doubtful), 'value')} ({_n(int(mapping.rows[doubtful].sum()), 'row')}) with several senses, none"
            f" likely enough: {len(doubtful) - len(undecided):,} taken for what all plausible senses are,"
            f" {len(undecided):,} for nothing; say what they mean in the file that"
            f" {command} writes",
        ),
        ("W105", by_head > 0, f"{_n(by_head, 'value')} mapped by the head noun alone; what stood before it is lost"),
        (
            "W110",
            bool(suggested),
            f"{_n(len(suggested), 'value')} ({_n(sum(suggested), 'row')}) known by the last noun alone, which is not"
            f" used unasked; look at them with {command}, then accept them there, or all of them with"
            ' suggestions = "accept"',
        ),
        (
            "W106",
            any(len(t) > LONGEST for t in open_texts),
            f"{_n(sum(len(t) > LONGEST for t in open_texts), 'value')} longer than {LONGEST:,} characters: texts, not"
            " values",
        ),
        (
            "W107",
            mapping.senses == "lesk" and ambiguous > 0 and not has_glosses(mapping.taxonomy),
            f"{name} has no definitions; the names of neighbouring concepts were compared instead",
        ),
        (
            "W108",
            any(t.strip() in MISSING_MARKS for t in open_texts),
            f"{_n(sum(t.strip() in MISSING_MARKS for t in open_texts), 'value')} that marks missing cells in exports"
            " (NA, ?, ...); make them missing, or map them in a table",
        ),
        ("W109", broken > 0, f"{_n(broken, 'value')} with characters lost in decoding; read the file in its encoding"),
    ]
    return [Finding(code, mapping.column, message) for code, holds, message in remarks if holds]


def _command(mapping: Mapping, options: Sequence[str]) -> str:
    """What shows a person the values that a finding counts."""
    named = " ".join(shlex.quote(part) for part in (mapping.column, *options))
    return f"`keepsense map FILE {named} --output mapping.csv`"


def _n(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
