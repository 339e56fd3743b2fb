"""Map the values of a column onto concepts: the user's table first, then look-ups, then the choice of senses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.taxonomy import place_disambiguation
from keepsense.taxonomy import value_mapping as result
from keepsense.taxonomy.code_systems import SYSTEM, written
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.mapping_file import DOUBTFUL, SUGGESTED, UNMAPPED, entry_code
from keepsense.taxonomy.sense_disambiguation import (
    DEFAULT,
    DOUBT,
    DistanceMatrix,
    Evidence,
    check_strategy,
    choose,
    likeliest,
    probabilities,
    shared,
)
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.taxonomy.value_mapping import is_missing
from keepsense.taxonomy.word_forms import LONGEST, normalise

Table = Mapping[Any, Concept | None] | result.Mapping
"""Values and the concepts they stand for; None, an empty text or `unmapped` says that a value stands for none."""


Suggestions = Literal["ask", "accept"]
"""What becomes of a value that is known by its last noun alone: somebody is asked, or its noun stands for it."""


def map_values(  # noqa: PLR0913
    values: Iterable[Any] | Mapping[Any, int],
    taxonomy: Taxonomy,
    *,
    table: Table | None = None,
    senses: str = DEFAULT,
    weights: Sequence[int] | None = None,
    domain: Concept | Sequence[Concept] | None = None,
    distance: DistanceMatrix | None = None,
    column: str = "values",
    within: Mapping[Any, place_disambiguation.Areas] | None = None,
    suggestions: Suggestions = "ask",
) -> result.Mapping:
    """Map the values of a column onto concepts.

    `values` is the column itself, its distinct values (with `weights`, their numbers of rows), a dictionary of value
    and number of rows, or such pairs. Each value is looked up by the rules of `keepsense.taxonomy.lookup`. The `table`
    (a dictionary or a mapping read from a file) wins over them all; an entry also covers other spellings of its value
    that are not in the table themselves. Of several senses `senses` chooses: "context", "first", "lesk" or "joint"
    (see `keepsense.taxonomy.sense_disambiguation`, also for `distance`). "context" says how sure it is (`confidence`);
    where
    no sense is likely enough, the value is *doubtful*: it stands for the lowest concept that all its plausible senses
    share, or, where that would say nothing, for none until a person decides. `domain` admits only concepts below the
    given ones, "person" for occupations, say; the table is free of it. Values with the same candidates always get the
    same sense. A value whose head noun alone is known is *suggested*: it stands for no concept until somebody accepts
    that, in the table or, for all of them, with `suggestions="accept"`. Of places that share a name
    `keepsense.taxonomy.place_disambiguation` chooses; `within` holds, for values, areas that other columns name
    (`place_disambiguation.beside`).

    Nothing is dropped: every value is mapped, unmapped or missing, and `Mapping.findings` counts what to look at. A
    look-up takes microseconds; the index of WordNet's names is made once, in about a quarter of a second.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> jobs = map_values(["coach", "pilot", "Nurses"], wordnet(), table={"pilot": "pilot#1"}, domain="person")
    >>> jobs.labels, jobs.how
    (('coach#1', 'pilot#1', 'nurse#1'), ('exact', 'table', 'normalised'))
    >>> [map_values(["old nurse"], wordnet(), suggestions=s).labels for s in ("ask", "accept")]
    [('',), ('nurse#1',)]
    """
    if suggestions not in get_args(Suggestions):
        raise BadInput(f"{column}: suggestions must be 'ask' or 'accept', not {suggestions!r}")
    counts, missing = _counted(values, weights, column)
    rules = _Rules(table, taxonomy)
    inside = _inside(taxonomy, domain)
    look = lookup(taxonomy)
    how: list[str] = []
    names: list[str] = []
    options: list[tuple[int, ...]] = []
    shown = written if SYSTEM in taxonomy.info else str
    for value in counts:
        text = shown(value)
        rule = rules.of(value, text)
        if rule:
            (code,) = rule
            how.append("table")
            names.append(text if len(text) <= LONGEST else "")
            options.append(() if code is None else (code,))
        else:
            found = look.find(text, inside)
            asked = found is not None and found.how == "head" and suggestions == "ask"
            how.append(SUGGESTED if asked else found.how if found else UNMAPPED)
            names.append(found.name if found else "")
            options.append(found.concepts if found else ())
    rows = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
    where = np.repeat(np.arange(len(options), dtype=np.int32), [len(o) for o in options])
    candidates = Rows.from_pairs(where, np.array([c for o in options for c in o], dtype=np.int32), len(options))
    doubt = DOUBT
    if senses == DEFAULT and place_disambiguation.is_places(taxonomy):
        areas = place_disambiguation.areas_of(counts, options, within or {})
        codes, confidence = place_disambiguation.located(taxonomy, candidates, names, areas, column)
        doubt = place_disambiguation.SURE
        for i, way in enumerate(how):  # what a person has said is not weighed
            if way in ("table", "given") and options[i]:
                codes[i], confidence[i] = options[i][0], np.nan
    else:
        used = [() if way == SUGGESTED else concepts for way, concepts in zip(how, options, strict=True)]
        codes, confidence = _chosen(_Words(used, names, how, rows), taxonomy, senses, distance, column)
    open_values = np.array([way == SUGGESTED for way in how], dtype=np.bool_)
    codes = np.where(open_values, np.int32(-1), codes).astype(np.int32)
    confidence = np.where(open_values, 1.0, confidence)
    how = [DOUBTFUL if sure < doubt else way for way, sure in zip(how, confidence.tolist(), strict=True)]
    return result.Mapping(
        taxonomy, column, tuple(counts), codes, tuple(how), tuple(names), candidates, rows, missing, senses, confidence
    )


class _Words(NamedTuple):
    """What is known of each value: the concepts it may mean, under which name and how they were found, its rows."""

    options: Sequence[tuple[int, ...]]
    names: Sequence[str]
    how: Sequence[str]
    rows: NDArray[np.int64]


def _chosen(
    values: _Words, taxonomy: Taxonomy, senses: str, distance: DistanceMatrix | None, column: str
) -> tuple[Ints, Floats]:
    """One concept of each value's options, and how likely it is the right one (not a number where nobody says).

    Values with the same options are one word, in an order of our own.
    """
    check_strategy(senses)
    words = {option: i for i, option in enumerate(sorted(set(values.options) - {()}))}
    weights = np.zeros(len(words))
    place = np.fromiter((words.get(o, -1) for o in values.options), dtype=np.int64, count=len(values.options))
    np.add.at(weights, place[place >= 0], values.rows[place >= 0])
    row = np.repeat(np.arange(len(words), dtype=np.int32), [len(w) for w in words])
    candidates = Rows.from_pairs(row, np.array([c for w in words for c in w], dtype=np.int32), len(words))
    sure = np.full(len(words), np.nan)
    if senses == DEFAULT:
        chances = probabilities(taxonomy, candidates, _evidence(values, candidates, place, taxonomy, column))
        picked = likeliest(candidates, chances)
        sure = chances[candidates.starts[:-1] + picked]
    else:
        picked = choose(senses, taxonomy, candidates, weights, distance)
    concept = np.append(candidates.indices[candidates.starts[:-1] + picked], np.int32(-1)).astype(np.int32)
    doubtful = np.flatnonzero(sure < DOUBT)
    if len(doubtful):
        theirs = np.isin(candidates.row_of(), doubtful)
        concept[doubtful] = shared(taxonomy, candidates.taken(doubtful), chances[theirs])
    return concept[place], np.append(sure, np.nan)[place]


def _evidence(values: _Words, candidates: Rows, place: NDArray[np.int64], taxonomy: Taxonomy, column: str) -> Evidence:
    """How often each sense was met, under whichever of a word's names it was met most; and which words are guesses."""
    look = lookup(taxonomy)
    met = np.zeros(len(candidates.indices))
    guessed = np.ones(len(candidates), dtype=np.bool_)
    several = candidates.sizes > 1
    for name, way, word in set(zip(values.names, values.how, place.tolist(), strict=True)):
        if word >= 0:
            guessed[word] &= way == "head"
            if several[word]:
                mine = slice(candidates.starts[word], candidates.starts[word + 1])
                met[mine] = np.maximum(met[mine], look.met(name, candidates.indices[mine].tolist()))
    return Evidence(met, guessed, column)


def _counted(
    values: Iterable[Any] | Mapping[Any, int], weights: Sequence[int] | None, column: str
) -> tuple[dict[Value, int], int]:
    """Distinct values with their rows, in order of first appearance, and the number of missing cells."""
    if isinstance(values, str | bytes):
        raise BadInput(f"{column}: a single text was given as the values; give a list of values")
    if not isinstance(values, Iterable):
        raise BadInput(f"{column}: a {type(values).__name__} was given as the values; give a list of values")
    items = list(values.items()) if isinstance(values, Mapping) else list(values)
    if weights is not None:
        if isinstance(values, Mapping) or len(weights) != len(items):
            raise BadInput(f"{column}: {len(weights):,} weights do not fit {len(items):,} values; give one for each")
        items = list(zip(items, weights, strict=True))
    paired = isinstance(values, Mapping) or weights is not None
    counts: dict[Value, int] = {}
    missing = 0
    for item in items:
        value, rows = item if paired or _is_pair(item) else (item, 1)
        if not isinstance(rows, int | np.integer) or rows < 0:
            raise BadInput(f"{column}: the number of rows of a value is {rows!r}; it must be a whole number, 0 or more")
        if is_missing(value):
            missing += int(rows)
            continue
        try:
            counts[value] = counts.get(value, 0) + int(rows)
        except TypeError:
            raise BadInput(
                f"{column}: a value is a {type(value).__name__}; map single words or phrases, one set member at a time"
            ) from None
    return counts, missing


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | np.integer)


class _Rules:
    """A table made ready: codes (None for no concept) by value, and by spelling where all entries spelled so agree."""

    def __init__(self, table: Table | None, taxonomy: Taxonomy) -> None:
        self._exact: dict[Any, int | None] = {}
        if isinstance(table, result.Mapping):
            for value, code, how in zip(table.values, table.codes, table.how, strict=True):
                if how not in (SUGGESTED, UNMAPPED) and (how != DOUBTFUL or code >= 0):
                    concept = table.taxonomy.id(int(code)) if code >= 0 else None
                    self._exact[value] = entry_code(concept, taxonomy)
        elif table is None or isinstance(table, Mapping):
            self._exact = {value: entry_code(entry, taxonomy) for value, entry in (table or {}).items()}
        else:
            raise BadInput(f"table: give a dictionary of value and concept, or a mapping; not a {type(table).__name__}")
        self._spelled: dict[str, set[int | None]] = {}
        for value, rule in self._exact.items():
            for key in {str(value), normalise(str(value)[:LONGEST])} - {""}:
                self._spelled.setdefault(key, set()).add(rule)

    def of(self, value: Any, text: str) -> set[int | None]:
        """The one rule for a value, or an empty set."""
        if value in self._exact:
            return {self._exact[value]}
        for key in (text, normalise(text)) if self._spelled and len(text) <= LONGEST else ():
            if len(self._spelled.get(key, ())) == 1:
                return self._spelled[key]
        return set()


def _inside(taxonomy: Taxonomy, domain: Concept | Sequence[Concept] | None) -> NDArray[np.bool_] | None:
    if domain is None:
        return None
    wanted = [domain] if isinstance(domain, int | str | np.integer) else list(domain)
    inside = np.zeros(len(taxonomy), dtype=np.bool_)
    inside[taxonomy.closure(taxonomy.codes(wanted), taxonomy.children)] = True
    return inside
