"""Look at a table before anything is done to it: what each column is, what it means, and which role it may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from keepsense.counts import Value
from keepsense.engines import Engine, Reading, started
from keepsense.engines.profile import MOST_VALUES, Profile
from keepsense.hierarchies.kinds import KINDS
from keepsense.project import patterns
from keepsense.project.roles import ROLES
from keepsense.shown import Shown, Summary
from keepsense.taxonomy import Taxonomy

MOST_WORDS = 500
"""Most distinct values of a column that are looked up in a taxonomy."""

COVERED = 0.5
"""Share of rows whose words a taxonomy must know to be proposed."""

SAID = "as you said"
"""Reason of a role that nobody had to guess."""

DOMAINS = ("person", "location", "activity", "state#2", "artifact", "organization", "food", "animal", "plant", "event")
"""Concepts of WordNet below which all words of a column often lie; the right one settles most senses."""


@dataclass(frozen=True)
class KnownWords:
    """How well a taxonomy covers a column: shares of the distinct values looked at and of their rows.

    >>> KnownWords("wordnet", "person", 0.9, 0.99, 140).rows
    0.99
    """

    taxonomy: str
    domain: str | None
    values: float
    rows: float
    looked_up: int


@dataclass(frozen=True, eq=False)
class Inspected:
    """What was found out about one column, and what is guessed from it, with the reason.

    >>> Inspected(Profile("sex", "VARCHAR", 4, 0, 2, 0), "quasi-identifier", "nominal", "its name").name
    'sex'
    """

    profile: Profile
    role: str
    kind: str
    reason: str
    meaning: KnownWords | None = None
    delimiter: str | None = None
    order: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.profile.name


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Shown):
    """A whole table inspected.

    >>> inspect({"job": ["nurse", "clerk", "nurse"], "age": [31, 40, 35]}).rows
    3
    """

    source: str
    format: str
    rows: int
    columns: tuple[Inspected, ...]

    def having(self, *roles: str) -> tuple[str, ...]:
        """Columns guessed to have one of the roles."""
        return tuple(c.name for c in self.columns if c.role in roles)

    def summary(self) -> Summary:
        """How large the table is, and the guess about each column with its reason."""
        rows = [(c.name, c.role, c.kind, f"{c.profile.distinct:,}", c.reason) for c in self.columns]
        return Summary(
            f"{self.rows:,} rows, {len(self.columns)} columns", ("column", "role", "kind", "values", "why"), rows
        )


def without_password(address: str) -> str:
    """A database's address without its password, which belongs into no file and on no screen; a path as it is.

    >>> without_password("postgresql://me:se@cr:et@db/people?password=x&sslmode=require")
    'postgresql://me@db/people?sslmode=require'
    """
    if "://" not in address:
        return address
    scheme, _, rest = address.partition("://")
    place, mark, options = rest.partition("?")
    host, slash, path = place.partition("/") if "@" not in place else _after_user(place)
    kept = "&".join(option for option in options.split("&") if not option.lower().startswith("password="))
    return f"{scheme}://{host}{slash}{path}{mark if kept else ''}{kept}"


def _after_user(place: str) -> tuple[str, str, str]:
    user, _, where = place.rpartition("@")
    host, slash, path = where.partition("/")
    return f"{user.partition(':')[0]}@{host}", slash, path


def inspect(
    source: object,
    reading: Reading | None = None,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    roles: Mapping[str, str] | None = None,
    limit: int = MOST_VALUES,
    engine: str | Engine | None = None,
) -> Inspection:
    """Inspect a table: counts, uniqueness, missing cells, and guesses of what each column is, each with its reason.

    `taxonomies` by name are tried on columns of words, WordNet unless others are given; the one that knows most rows
    is proposed. `roles` that are known need no guess. Guesses err on the side of privacy: a column of which nothing is
    known is taken for one by which people could be recognized. The result names no value of the table unless it is
    asked for its profiles.

    >>> found = inspect({"job": ["nurse", "surgeon", "clerk", "nurse"], "illness": ["flu", "flu", "cold", "cold"]})
    >>> [(c.name, c.role, c.kind) for c in found.columns]
    [('job', 'quasi-identifier', 'nominal'), ('illness', 'sensitive', 'nominal')]
    """
    with started(engine) as running:
        table = running.read(source, reading)
        seen = running.profiles(table, limit)
    known = _Taxonomies(taxonomies)
    columns = _one_each([_inspected(profile, known, (roles or {}).get(profile.name)) for profile in seen])
    from keepsense.engines.formats import format_of

    if isinstance(source, str | Path):
        form = format_of(str(source), None if reading is None else reading.format).name
        return Inspection(without_password(str(source)), form, seen[0].rows, columns)
    return Inspection("table", "memory", seen[0].rows, columns)


def _one_each(columns: Sequence[Inspected]) -> tuple[Inspected, ...]:
    """Roles that one column at most can have stay with the first; the others get the safe guess."""
    taken: set[str] = set()
    settled = []
    for column in columns:
        role = ROLES[column.role]
        if role.single and role.name in taken:
            other = "quasi-identifier" if role.released else "identifier"
            column = replace(column, role=other, reason=f"{column.reason}; another column is the {role.name} already")
        taken.add(role.name)
        settled.append(column)
    return tuple(settled)


class _Taxonomies:
    """Taxonomies, loaded only when the first column of words turns up."""

    def __init__(self, taxonomies: Mapping[str, Taxonomy] | None) -> None:
        self._given = taxonomies

    def all(self) -> Mapping[str, Taxonomy]:
        if self._given is None:
            from keepsense.taxonomy import wordnet

            self._given = {"wordnet": wordnet()}
        return self._given

    def of(self, values: Mapping[Value, int], column: str) -> KnownWords | None:
        """The taxonomy that knows the words of most rows, with the domain that holds nearly all of them."""
        words = dict(list(values.items())[:MOST_WORDS])
        coverages = [self._covered(name, taxonomy, words, column) for name, taxonomy in self.all().items()]
        best = max(coverages, key=lambda coverage: coverage.rows, default=None)
        return best if best is not None and best.rows >= COVERED else None

    def _covered(self, name: str, taxonomy: Taxonomy, words: Mapping[Value, int], column: str) -> KnownWords:
        from keepsense.taxonomy import map_values
        from keepsense.taxonomy.mapping.senses import ALONE

        whole = map_values(words, taxonomy, senses=ALONE, column=column).coverage
        domain, rows = None, 0.0
        for concept in DOMAINS if name == "wordnet" and whole.rows >= COVERED else ():
            inside = map_values(words, taxonomy, senses=ALONE, domain=concept, column=column).coverage.rows
            if inside >= 0.95 * whole.rows and inside > rows:
                domain, rows = concept, inside
        return KnownWords(name, domain, whole.values, whole.rows, len(words))


def _inspected(profile: Profile, known: _Taxonomies, said: str | None = None) -> Inspected:
    values = list(profile.values)
    texts = [v for v in values if isinstance(v, str)]
    kind, note, delimiter, order = _kind(profile, values)
    notes = [note] if note else []
    guess = (said, SAID) if said is not None else _by_shape(profile, texts) or _by_name(profile, kind)
    role, reason = guess or (None, "")
    meaning = None
    if KINDS[kind].words and (role is None or ROLES[role].released) and profile.distinct > 2:
        meaning = known.of(_items(profile.values, delimiter) if KINDS[kind].sets else profile.values, profile.name)
    if role is None:
        role, reason = _by_default(profile, values, kind, meaning)
    if profile.missing:
        notes.append(f"{profile.missing / profile.rows:.1%} of the cells are empty")
    return Inspected(profile, role, kind, reason, meaning, delimiter, order, tuple(notes))


class _Guess(NamedTuple):
    """The kind of a column, what to note about it, the delimiter of a set and the order of a scale."""

    kind: str
    note: str = ""
    delimiter: str | None = None
    order: tuple[str, ...] | None = None


def _kind(profile: Profile, values: Sequence[Value]) -> _Guess:
    """Kind of a column by its values."""
    from keepsense.hierarchies.kinds.date import as_date

    if profile.holds_lists:
        return _Guess("set")
    if values and all(as_date(v) is not None for v in values):
        return _Guess("date")
    postal = patterns.named_like(profile.name, patterns.POSTCODES)
    if values and (patterns.are_codes(values) or (postal and all(len(str(v)) <= 10 for v in values))):
        return _Guess("code")
    if patterns.are_numbers(values):
        return _Guess("numeric")
    if patterns.are_other_dates(values):
        return _Guess("nominal", 'looks like dates; write them as 2026-01-31 and make it kind = "date"')
    scale = patterns.scale_of(values) if profile.complete else None
    if scale is not None:
        return _Guess("ordinal", order=tuple(scale))
    delimiter = patterns.delimiter_of(profile.values)
    return _Guess("set", delimiter=delimiter) if delimiter else _Guess("nominal")


def kind_of(profile: Profile) -> str:
    """What the values of a column are.

    >>> kind_of(Profile("age", "VARCHAR", 2, 0, 2, 2, {"31": 1, "40": 1}))
    'numeric'
    """
    return _kind(profile, list(profile.values)).kind


def _items(values: Mapping[Value, int], delimiter: str | None) -> dict[Value, int]:
    """Items of sets and the rows that hold them, most frequent first."""
    items: dict[Value, int] = {}
    for cell, rows in values.items():
        for part in cell if isinstance(cell, tuple) else str(cell).split(delimiter or ";"):
            item = part.strip() if isinstance(part, str) else part
            if item not in (None, ""):
                items[item] = items.get(item, 0) + rows
    return dict(sorted(items.items(), key=lambda pair: (-pair[1], str(pair[0]))))


def _by_shape(profile: Profile, texts: Sequence[str]) -> tuple[str, str] | None:
    """What the values themselves give away, whatever the column is called."""
    pattern = patterns.pattern_of(texts)
    if pattern is not None:
        return "identifier", f"holds {pattern}"
    if profile.filled == 0:
        return "insensitive", "has no values"
    if patterns.is_free_text(texts) and profile.uniqueness > 0.5:
        return "identifier", "free text, in which anything may stand"
    return None


def _by_name(profile: Profile, kind: str) -> tuple[str, str] | None:
    name = profile.name
    if named := patterns.named_like(name, patterns.WEIGHTS) or ("weight" if _sampling(name) else None):
        return "weight", f"its name says {named}: a sampling weight"
    if named := patterns.named_like(name, patterns.IDENTIFIERS):
        if profile.uniqueness > 0.95 or named not in ("id", "ids", "identifier", "key"):
            return "identifier", f"its name says {named}, and {_share(profile)} of the values occur once"
        if profile.uniqueness > 0.05:
            times = profile.filled / profile.distinct
            return "person", f"its name says {named}, and each occurs in about {times:.1f} rows"
    if named := patterns.named_like(name, patterns.SENSITIVE):
        return "sensitive", f"its name says {named}"
    if (named := patterns.named_like(name, patterns.KNOWN_BY_OTHERS)) and (
        profile.uniqueness < 0.95 or KINDS[kind].sets or not KINDS[kind].words
    ):
        return "quasi-identifier", f"its name says {named}, which others may know"
    return None


def _sampling(name: str) -> bool:
    words = set(patterns.words_of(name))
    return "weight" in words and bool(words & {"sampling", "survey", "design", "sample", "expansion"})


def _by_default(profile: Profile, values: Sequence[Value], kind: str, meaning: KnownWords | None) -> tuple[str, str]:
    if profile.distinct == 1:
        return "insensitive", "has one value only"
    if KINDS[kind].numbers and profile.uniqueness > 0.5 and any("." in str(v) for v in values):
        return "sensitive", "measured numbers, which others rarely know"
    if profile.uniqueness > 0.95 and profile.rows >= 20 and meaning is None:
        return "identifier", f"{_share(profile)} of its values occur only once"
    return "quasi-identifier", "nothing tells that others cannot know it: the safe guess"


def _share(profile: Profile) -> str:
    return f"{profile.single / max(1, profile.distinct):.0%}"
