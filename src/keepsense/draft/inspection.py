"""Inspect a table: what each column is, what it means, and which role it may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from keepsense.counts import Value
from keepsense.display import Shown, Summary
from keepsense.draft import vocabulary
from keepsense.draft.cell_formats import date_format, missing_marks, number_format
from keepsense.draft.column_relations import determine_each_other, pairs_of, settled, undoes
from keepsense.draft.inspected_column import Inspected
from keepsense.draft.recognizers import are_codes, are_numbers, delimiter_of
from keepsense.draft.role_rules import Facts, Guess, by_default, by_label, role_of
from keepsense.draft.taxonomy_choice import NONE_FITS, Library, areas_beside
from keepsense.engines.formats.table_formats import Declared, format_of
from keepsense.engines.frames import orders_of
from keepsense.engines.protocol import MOST_VALUES, Engine, Profile, Reading, Table, started
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.ordinal_scales import order_of
from keepsense.project.roles import ROLES
from keepsense.taxonomy.code_systems import system_of
from keepsense.taxonomy.taxonomy import Taxonomy

SAID = "as you said"
"""Reason of a role that nobody had to guess."""

_NOTHING = Declared()
_FEW = 0.0005  # below it, a share would be shown as none


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
    language: str | None = None,
    roles: Mapping[str, str] | None = None,
    limit: int = MOST_VALUES,
    engine: str | Engine | None = None,
) -> Inspection:
    """Inspect a table: counts, uniqueness, missing cells, and guesses of what each column is, each with its reason.

    `taxonomies` by name are tried on columns of words, all of the library unless others are given; the one that fits
    best is proposed, where one fits. With the `language` of the words only those in it are. `roles` that are known need
    no guess. Guesses err on the side of privacy: a column of which nothing is known is taken for one by which people
    could be recognized. The result names no value of the table unless it is asked for its profiles.

    >>> found = inspect({"job": ["nurse", "surgeon", "clerk", "nurse"], "illness": ["flu", "flu", "cold", "cold"]})
    >>> [(c.name, c.role, c.kind) for c in found.columns]
    [('job', 'quasi-identifier', 'nominal'), ('illness', 'sensitive', 'nominal')]
    """
    known = Library(taxonomies, language)
    with started(engine) as running:
        table = running.read(source, reading)
        seen = running.profiles(table, limit)
        beside = frozenset(word for profile in seen for word in vocabulary.words_of(profile.name))
        items = Counter(vocabulary.stem_of(profile.name) for profile in seen)
        told, counted = _declared(source, reading), pairs_of(running, table, seen)
        columns = settled(
            [
                _inspected(
                    Facts(profile, "", beside, items[vocabulary.stem_of(profile.name)]),
                    known,
                    roles or {},
                    told.get(profile.name, _NOTHING),
                )
                for profile in seen
            ],
            determine_each_other(counted),
            undoes(counted),
            counted.most,
        )
        columns = tuple(placed(column, known, running, table) for column in columns)
    if isinstance(source, str | Path):
        form = format_of(str(source), None if reading is None else reading.format).name
        return Inspection(without_password(str(source)), form, seen[0].rows, columns)
    return Inspection("table", "memory", seen[0].rows, columns)


def _declared(source: object, reading: Reading | None) -> Mapping[str, Declared]:
    """What a file or frame says about its columns beyond their names."""
    if not isinstance(source, str | Path):
        return {name: Declared(order=order) for name, order in orders_of(source).items()}
    form = format_of(str(source), None if reading is None else reading.format)
    return {} if form.declared is None else form.declared(str(source), reading or Reading())


def _inspected(facts: Facts, known: Library, roles: Mapping[str, str], told: Declared = _NOTHING) -> Inspected:
    profile = facts.profile
    said = roles.get(profile.name)
    empty = (*missing_marks(profile.values), *(("",) if profile.blank else ()))
    if empty:
        profile = _without(profile, empty)
    kind, note, delimiter, order, form = _ordered(profile, told.order) or _kind(profile, list(profile.values))
    facts = replace(facts, profile=profile, kind=kind, label=told.label)
    guess = Guess(said, SAID, "sure") if said is not None else role_of(facts) or by_label(facts)
    notes = [note] if note else []
    meaning = None
    coded = not KINDS[kind].words and _may_be_coded(profile, kind)
    if (KINDS[kind].words or coded) and (guess is None or ROLES[guess.role].released) and profile.distinct > 2:
        matched = known.match(_items(profile.values, delimiter) if KINDS[kind].sets else profile.values, profile.name)
        meaning = matched.known
        notes += [matched.why_not] if matched.why_not and not coded else []
        kind = "nominal" if coded and meaning is not None else kind
    if guess is None:
        guess = by_default(facts, known=meaning is not None)
    if empty:
        notes.append(f"{', '.join(mark or 'blanks' for mark in empty)}: taken for missing")
    if profile.missing:
        share = profile.missing / profile.rows
        notes.append(f"{f'{share:.1%}' if share >= _FEW else 'fewer than 0.1%'} of the cells are empty")
    return Inspected(
        profile,
        guess.role,
        kind,
        guess.reason,
        meaning,
        delimiter,
        order,
        tuple(notes),
        guess.confidence,
        empty,
        form,
        given=said is not None,
    )


def placed(column: Inspected, known: Library, running: Engine, table: Table) -> Inspected:
    """A column of places matched again, in view of the columns that say where these lie; any other as it is.

    >>> towns = {"town": ["London", "Windsor", "Hamilton", "Cambridge"] * 2, "province": ["Ontario"] * 8}
    >>> inspect(towns).columns[0].meaning.within
    ('province',)
    """
    if column.kind != "nominal" or not ROLES[column.role].released or column.profile.distinct < 2:
        return column
    areas = areas_beside(running, table, column.name, table.columns)
    matched = None if areas is None else known.match(column.profile.values, column.name, areas)
    if matched is None or matched.known is None:
        return column
    return replace(column, meaning=matched.known, notes=tuple(n for n in column.notes if not n.startswith(NONE_FITS)))


def _without(profile: Profile, marks: Sequence[str]) -> Profile:
    """A profile in which marks of missing values are no values."""
    rows = {value: n for value, n in profile.values.items() if str(value) in marks}
    return replace(
        profile,
        missing=profile.missing + sum(rows.values()),
        distinct=profile.distinct - len(rows),
        single=profile.single - sum(n == 1 for n in rows.values()),
        values={value: n for value, n in profile.values.items() if value not in rows},
    )


def _may_be_coded(profile: Profile, kind: str) -> bool:
    """Whether values that are no words may be codes of a taxonomy, such as diagnoses."""
    if kind == "code":
        return True
    words = vocabulary.words_of(profile.name)
    named = vocabulary.named_like(profile.name, vocabulary.CODED) or system_of(profile.values, words) is not None
    return KINDS[kind].numbers and bool(named) and not vocabulary.counts_things(profile.name, profile.values)


class _Kind(NamedTuple):
    """The kind of a column, a note about it, the delimiter of a set, the order of a scale, and how it is written."""

    kind: str
    note: str = ""
    delimiter: str | None = None
    order: tuple[str, ...] | None = None
    format: str | None = None


def _ordered(profile: Profile, order: Sequence[str] | None) -> _Kind | None:
    """A scale in the order that the source has for it, where all values are on it."""
    there = {str(value) for value in profile.values}
    if order is None or not profile.complete or len(there) < 3 or not there <= set(order):
        return None
    return _Kind("ordinal", "in the order that its source says", order=tuple(word for word in order if word in there))


def _kind(profile: Profile, values: Sequence[Value]) -> _Kind:
    """Kind of a column by its values."""
    from keepsense.hierarchies.kinds.date_kind import as_date

    if profile.holds_lists:
        return _Kind("set")
    if values and all(as_date(v) is not None for v in values):
        return _Kind("date")
    postal = vocabulary.named_like(profile.name, vocabulary.POSTCODES)
    if values and (are_codes(values) or (postal and all(len(str(v)) <= 10 for v in values))):
        return _Kind("code")
    if are_numbers(values):
        return _Kind("nominal" if _names_things(profile) else "numeric")
    scale = order_of(values, profile.name) if profile.complete else None
    if scale is not None and len(scale.values) > 2:
        return _Kind("ordinal", f"in the order of {scale.what}", order=tuple(map(str, scale.values)))
    texts = [v for v in values if isinstance(v, str)]
    if len(texts) == len(values) and (written := date_format(texts)) is not None:
        return _Kind("date", "the order of day and month is a guess" if written[1] else "", format=written[0])
    if len(texts) == len(values) and (form := number_format(texts)) is not None:
        return _Kind("numeric", format=form)
    delimiter = delimiter_of(profile.values)
    return _Kind("set", delimiter=delimiter) if delimiter else _Kind("nominal")


def _names_things(profile: Profile) -> bool:
    """Whether numbers are names of few things: a code, a type, a flag."""
    words = set(vocabulary.words_of(profile.name))
    return all(str(value) in ("0", "1", "0.0", "1.0") for value in profile.values) or (
        bool(words & {"id", "code", "cd", "type", "category", "cat", "flag", "status", "iucr"})
        and profile.distinct <= 200
        and profile.uniqueness < 0.2
    )


def looked_at(profile: Profile, taxonomies: Mapping[str, Taxonomy] | None = None) -> Inspected:
    """What one column is and which knowledge fits it, whatever its role.

    >>> looked_at(Profile("size", "VARCHAR", 6, 0, 3, 0, {"S": 2, "L": 2, "M": 2})).order
    ('S', 'M', 'L')
    """
    return _inspected(Facts(profile, ""), Library(taxonomies), {profile.name: "quasi-identifier"})


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
