"""What the words of the open table mean, column by column, and the choices of the publisher, in mapping files.

A choice is written into a mapping file next to the project file, under a name that depends on its content: so every
state of the project file keeps the file it was saved with, and an undo brings the earlier choices back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Items
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Literal

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.taxonomy.glosses import gloss
from keepsense.taxonomy.lookup import sense_name
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.mapping_file import SUGGESTED, UNMAPPED
from keepsense.taxonomy.place_disambiguation import is_places
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.value_mapping import Mapping

if TYPE_CHECKING:
    from keepsense.release.job.job import Job
    from keepsense.studio.session.session import Session

State = Literal["in doubt", "unknown", "by its last noun", "chosen among several", "yours"]

FOLDER = "mappings"
"""Where mapping files are kept, beside the project file."""

MOST = 60
"""Words of a column that are listed; rarer ones are only counted."""

_MOST_SENSES = 8


@dataclass(frozen=True)
class Sense:
    """A meaning that a word may have: its name in the taxonomy, what it is, and other words for it.

    `taken` is the one that the word is taken for now.

    >>> Sense("coach#1", "coach, a kind of trainer", ("manager",)).taken
    False
    """

    label: str
    meaning: str
    synonyms: tuple[str, ...]
    taken: bool = False


@dataclass(frozen=True)
class Word:
    """A value that somebody should look at: why, in how many rows it is, what it is taken for, and what it may mean.

    >>> Word("surgery", 3, "in doubt", "", ()).state
    'in doubt'
    """

    value: Value
    rows: int
    state: State
    chosen: str
    senses: tuple[Sense, ...]


@dataclass(frozen=True)
class ColumnWords:
    """A column's words: the taxonomy, how much of the rows and values it covers, and the words to look at.

    `counts` are those of all its words by state, `known` how many are mapped without a doubt.

    >>> ColumnWords("job", "WordNet 3.0", 0.9, 0.8, 12, {"unknown": 3}, ()).to_decide
    3
    """

    column: str
    taxonomy: str
    rows: float
    values: float
    known: int
    counts: Items[str, int]
    words: tuple[Word, ...]

    @property
    def to_decide(self) -> int:
        """Words of which nobody can say what they mean, and nobody has."""
        return sum(self.counts.get(state, 0) for state in ("in doubt", "unknown", "by its last noun"))


def word_columns(session: Session) -> tuple[str, ...]:
    """Columns whose values are words that are described: those whose meaning matters.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     "occupation" in word_columns(session), "age" in word_columns(session)
    (True, False)
    """
    return tuple(
        name
        for name, column in session.project.columns.items()
        if column.role in ("quasi-identifier", "sensitive") and KINDS[column.kind].words
    )


def column_words(session: Session, column: str) -> ColumnWords | None:
    """What the words of a column mean; None where it has no taxonomy. Takes a while: to be called in a thread.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     words = column_words(session, "occupation")
    ...     words.taxonomy, words.rows > 0.8
    ('WordNet 3.0: person', True)
    """
    with session.bench.lock:
        job = session.bench.job(session.project)
        if session.project.columns[column].taxonomy is None:
            return None
        mapping = job.mapping(column, _rows(job, column))
        return _described(column, mapping)


def choose(session: Session, column: str, value: Value, sense: str | None) -> None:
    """Say what a word means, by the name of a sense, or that the taxonomy does not know it (None)."""
    with session.bench.lock:
        job = session.bench.job(session.project)
        rows = _rows(job, column)
        taxonomy = job.taxonomy(column)
        own = job.own_senses(column)
        table: dict[Value, str] = {} if own is None else _entries(own)
        table[value] = sense or UNMAPPED
        chosen = {word: rows.get(word, 0) for word in table}
        mapping = map_values(chosen, taxonomy, table=table, column=column)
        file = _kept(session.folder, column, mapping)
    session.set_mapping(column, file)


def use_mapping_file(session: Session, column: str, file: Path) -> None:
    """Take a mapping file of the publisher for a column, after it was read and found good."""
    with session.bench.lock:
        taxonomy = session.bench.job(session.project).taxonomy(column)
        Mapping.read(file, taxonomy)
        copied = _copied(session.folder, FOLDER, column, file)
    session.set_mapping(column, copied)


def use_taxonomy_file(session: Session, column: str, file: Path) -> None:
    """Take a taxonomy file of the publisher for a column, after it was read and found good."""
    from keepsense.taxonomy.formats import taxonomy_library

    taxonomy_library.find(str(file))
    session.set_taxonomy(column, _copied(session.folder, "taxonomies", file.stem, file))


def known_taxonomies() -> tuple[str, ...]:
    """Taxonomies that can be named without a file.

    >>> "wordnet" in known_taxonomies()
    True
    """
    from keepsense.taxonomy.formats import taxonomy_library

    return tuple(taxonomy_library.names())


def taxonomies_in_words() -> str:
    """What the taxonomies that can be named know.

    >>> taxonomies_in_words().startswith("wordnet: ")
    True
    """
    from keepsense.taxonomy.embedded_taxonomies import EMBEDDED

    said = [f"{name}: {EMBEDDED[name].knows if name in EMBEDDED else 'imported by you'}" for name in known_taxonomies()]
    return "; ".join(said) + "."


# ---- beneath ---------------------------------------------------------------------------------------------------------


def _rows(job: Job, column: str) -> dict[Value, int]:
    rows = job.count([column]).rows_of(column)
    held = job.item_rows(column, rows) if job.holds_sets(column) else rows
    return {value: number for value, number in held.items() if value is not None}


def _entries(mapping: Mapping) -> dict[Value, str]:
    """What a mapping file says, as a table: ids of concepts by value."""
    return {
        value: mapping.taxonomy.id(int(code)) if code >= 0 else UNMAPPED
        for value, code in zip(mapping.values, mapping.codes, strict=True)
    }


def _described(column: str, mapping: Mapping) -> ColumnWords:
    near = mapping.suggestions(limit=3, at_most=MOST)
    doubtful = {word.value for word in mapping.doubtful}
    ambiguous = {word.value for word in mapping.ambiguous}
    counts: dict[str, int] = {}
    listed: list[tuple[int, State]] = []
    for i in range(len(mapping)):
        state = _state(mapping, i, doubtful, ambiguous)
        if state is not None:
            counts[state] = counts.get(state, 0) + 1
            listed.append((i, state))
    order: Sequence[State] = ("in doubt", "unknown", "by its last noun", "yours", "chosen among several")
    listed.sort(key=lambda entry: (order.index(entry[1]), -int(mapping.rows[entry[0]])))
    words = tuple(_word(mapping, i, state, near) for i, state in listed[:MOST])
    share = mapping.coverage
    known = len(mapping) - sum(counts.values())
    return ColumnWords(column, mapping.taxonomy.name, share.rows, share.values, known, counts, words)


def _state(mapping: Mapping, i: int, doubtful: set[Value], ambiguous: set[Value]) -> State | None:
    value, how = mapping.values[i], mapping.how[i]
    if how == "table":
        return "yours"
    if value in doubtful:
        return "in doubt"
    if how == SUGGESTED:
        return "by its last noun"
    if mapping.codes[i] < 0:
        return "unknown"
    return "chosen among several" if value in ambiguous else None


def _word(mapping: Mapping, i: int, state: State, near: Items[Value, Sequence[str]]) -> Word:
    taxonomy, name = mapping.taxonomy, mapping.names[i]
    codes = [int(code) for code in mapping.candidates[i]]
    if not codes:
        found = (taxonomy.senses_of(spelled) for spelled in near.get(mapping.values[i], ()))
        codes = [int(senses[0]) for senses in found if len(senses)]
    chosen = int(mapping.codes[i])
    several = dict.fromkeys(codes)
    senses = tuple(_sense(taxonomy, code, name, taken=code == chosen) for code in several)[:_MOST_SENSES]
    return Word(mapping.values[i], int(mapping.rows[i]), state, _meant(taxonomy, chosen) if chosen >= 0 else "", senses)


def _sense(taxonomy: Taxonomy, code: int, name: str, *, taken: bool) -> Sense:
    others = taxonomy.synonyms(code)[1:]
    also = tuple(word for word in others if word != name)[:4]
    return Sense(sense_name(taxonomy, code, name), _meant(taxonomy, code), also, taken)


def _meant(taxonomy: Taxonomy, code: int) -> str:
    """A concept in words: its definition, or what it is a kind of; a place, where it lies.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
    >>> wordnet, places = embedded("wordnet"), embedded("places")
    >>> _meant(wordnet, wordnet.code("coach#1")), _meant(places, places.code("Kent"))
    ('coach, a kind of trainer', 'Kent, in England')
    """
    name, told = taxonomy.synonyms(code)[0], gloss(taxonomy, code)
    if told:
        return f"{name}: {told}"
    above = " and ".join(taxonomy.label(int(parent)) for parent in taxonomy.parents[code][:2])
    return f"{name}, {'in' if is_places(taxonomy) else 'a kind of'} {above}" if above else name


def _kept(home: Path, column: str, mapping: Mapping) -> str:
    """Write a mapping under a name that depends on what is in it; the path as project files have it."""
    (home / FOLDER).mkdir(exist_ok=True)
    entries = sorted((str(value), entry) for value, entry in _entries(mapping).items())
    digest = sha256(repr(entries).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    path = f"{FOLDER}/{_plain(column)}-{digest}.csv"
    mapping.save(home / path)
    return path


def _copied(home: Path, folder: str, name: str, file: Path) -> str:
    """Copy a file into a folder of the project, again under a name that depends on what is in it."""
    (home / folder).mkdir(exist_ok=True)
    digest = sha256(file.read_bytes()).hexdigest()[:8]
    path = f"{folder}/{_plain(name)}-{digest}{file.suffix.lower()}"
    copyfile(file, home / path)
    return path


def _plain(name: str) -> str:
    """A name that is a file's name everywhere."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    if not name:
        raise BadInput("the column has no name")
    return plain or sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
