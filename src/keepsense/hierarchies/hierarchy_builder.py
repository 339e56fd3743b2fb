"""Build hierarchies: of one column of any kind, or candidates and the best one for every column of a table."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS, Values
from keepsense.hierarchies.group_widths import positions
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, assemble, signature
from keepsense.hierarchies.hierarchy_candidates import candidates
from keepsense.hierarchies.hierarchy_choice import Choice, by_gsl, choose
from keepsense.hierarchies.word_concepts import Unknowns
from keepsense.progress import Listener, emit
from keepsense.recoding import SUPPRESSED
from keepsense.semantics.distance import Distance
from keepsense.semantics.distance import distance as make_distance
from keepsense.taxonomy.sense_disambiguation import DEFAULT
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.taxonomy.value_mapping import Mapping as Mapped

MISSING = "(missing)"
"""Label that missing cells had on higher levels in earlier releases; they stay empty now."""


def build_hierarchy(  # noqa: PLR0913
    rows: Mapping[Value, int],
    kind: str = "nominal",
    *,
    name: str = "column",
    order: Sequence[str] | None = None,
    taxonomy: Taxonomy | None = None,
    mapping: Mapped | None = None,
    distance: str = "wu-palmer",
    choose: Literal["first", "gsl"] = "first",
    least: int | None = None,
) -> Hierarchy:
    """Build the hierarchy of a column from its values, each with the number of rows that hold it.

    Words take their meaning from the taxonomy, by `mapping` where it says which concept each means: every level of the
    taxonomy that groups them stays, and near siblings are listed together; `choose="gsl"` takes the lowest GSL of the
    papers' candidates instead. Without a taxonomy nothing but the top is above them. Ordinal columns
    need their `order`. A missing cell (None) stays empty up to the top. Labels may list values that no taxonomy knows
    where at least `least` rows hold them.

    >>> build_hierarchy({"20": 2, "21": 3, "24": 2, "26": 2}, "numeric").rows()[0]
    ('20', 'under 25', '*')
    >>> build_hierarchy({"low": 5, "high": 2, None: 1}, "ordinal", order=["low", "high"]).rows()[-1]
    (None, '*')
    """
    values = Values(name, _present(rows, name), order, taxonomy, mapping, distance, choose, least)
    return with_missing(KINDS[kind].build(values), rows)


def build_shortlist(
    rows: Mapping[Value, int],
    kind: str = "nominal",
    *,
    name: str = "column",
    **known: Any,
) -> list[Hierarchy]:
    """Hierarchies that a column may have, for people to choose from; `build_hierarchy` builds the first alone.

    `known` is what `build_hierarchy` takes. Kinds without a choice have one.

    >>> [tree.height for tree in build_shortlist({"low": 5, "high": 2}, "ordinal", order=["low", "high"])]
    [1]
    """
    values, entry = Values(name, _present(rows, name), **known), KINDS[kind]
    made = [entry.build(values)] if entry.shortlist is None else entry.shortlist(values)
    return [with_missing(hierarchy, rows) for hierarchy in made]


def _present(rows: Mapping[Value, int], name: str) -> dict[Value, int]:
    present = {value: count for value, count in rows.items() if value is not None}
    if not present:
        raise BadInput(f"column {name!r} is empty; drop it or give it another role")
    return present


def with_missing(hierarchy: Hierarchy, values: Mapping[Value, int]) -> Hierarchy:
    """The hierarchy with a leaf for missing cells where there are some and it has none; they stay empty up to the top.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*")], name="job")
    >>> with_missing(jobs, {"nurse": 2, None: 1}).rows()[1]
    (None, None, '*')
    """
    if None not in values or None in hierarchy.leaves:
        return hierarchy
    rows = hierarchy.rows()
    leaf = (*[None] * hierarchy.height, rows[0][-1]) if hierarchy.height else (None,)
    larger = Hierarchy.of_rows([*rows, leaf], name=hierarchy.name, kind=hierarchy.kind)
    if hierarchy.concepts is None:
        return larger
    known = [dict(zip(*level, strict=True)) for level in zip(hierarchy.labels, hierarchy.concepts, strict=True)]
    concepts = tuple(
        np.array([concept_of.get(label, -1) for label in labels], dtype=np.int32)
        for concept_of, labels in zip(known, larger.labels, strict=True)
    )
    return replace(larger, concepts=concepts, info=hierarchy.info)


@dataclass(frozen=True, eq=False)
class TableHierarchies:
    """Candidates of each column, and the best of each by GSL.

    >>> made = hierarchies_for({"age": [31, 45, 62, 70]})
    >>> made.best["age"] in made.candidates["age"]
    True
    """

    candidates: Mapping[str, list[Hierarchy]]
    choice: Choice

    @property
    def best(self) -> dict[str, Hierarchy]:
        """The chosen hierarchy of each column."""
        return dict(self.choice.hierarchies)


def hierarchies_for(  # noqa: PLR0913
    columns: Counts | Mapping[str, Mapping[Value, int] | Iterable[Value]],
    taxonomy: Taxonomy | Mapping[str, Taxonomy] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[Value]] | None = None,
    senses: Mapping[str, Mapping[Value, Concept] | Mapped] | None = None,
    strategy: str = DEFAULT,
    wanted: int = 100,
    distance: str = "wu-palmer",
    k: int | Sequence[int] | None = None,
    unknown: Unknowns = "refuse",
    preferences: Mapping[str, float] | None = None,
    rng: np.random.Generator | int | None = None,
    listener: Listener | None = None,
) -> TableHierarchies:
    """Build candidates for every column of a table and choose the best of each.

    A column is a dictionary of values and their numbers of rows, its cells, or comes from `Counts`. Its kind is
    guessed from its values (numbers, dates, digit strings of one length, words) unless `kinds` says it; ordinal columns
    need their order in `orders`. Words are looked up in the taxonomy, one for all columns or one a column.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> table = {"job": ["nurse", "pilot", "clerk"], "age": [31, 45, 62], "zip": ["81667", "81675", "01069"]}
    >>> made = hierarchies_for(table, wordnet(), wanted=20, rng=1)
    >>> {name: hierarchy.kind for name, hierarchy in made.best.items()}
    {'job': 'nominal', 'age': 'numeric', 'zip': 'code'}
    """
    counted = _counted(columns)
    for what, given in (("kinds", kinds), ("orders", orders), ("senses", senses), ("preferences", preferences)):
        strange = [name for name in given or () if name not in counted]
        if strange:
            hint = did_you_mean(strange[0], counted)
            raise BadInput(f"{what}: there is no column {strange[0]!r} among {', '.join(counted)}.{hint}")
    draw = np.random.default_rng(rng)
    made: dict[str, list[Hierarchy]] = {}
    judges: dict[str, Distance] = {}
    for i, (name, rows) in enumerate(counted.items()):
        values, counts = list(rows), list(rows.values())
        order = (orders or {}).get(name)
        kind = KINDS[(kinds or {}).get(name) or ("ordinal" if order is not None else guess_kind(values))]
        if kind.candidates is None:
            own = taxonomy.get(name) if isinstance(taxonomy, Mapping) else taxonomy
            if own is None:
                raise BadInput(f"{name}: the column holds words; give a taxonomy that knows them")
            judges[name] = make_distance(distance, own)
            made[name] = candidates(
                values,
                own,
                counts,
                wanted=wanted,
                senses=(senses or {}).get(name),
                strategy=strategy,
                distance=judges[name],
                k=k,
                unknown=unknown,
                name=name,
                rng=draw,
            )
        else:
            made[name] = _distinct(kind.candidates(Values(name, rows, order)))
        emit(listener, "column", i + 1, len(counted), column=name, candidates=len(made[name]))
    scored = {name: by_gsl(judge, unknown=unknown) for name, judge in judges.items()}
    return TableHierarchies(made, choose(made, scored, preferences=preferences))


def guess_kind(values: Iterable[Value]) -> str:
    """The kind of a column by its values: all numbers, all dates, all digit strings of one length above 3, or words.

    >>> guess_kind([1, 2.5]), guess_kind(["2020-01-31"]), guess_kind(["81667", "01069"]), guess_kind(["nurse", "12"])
    ('numeric', 'date', 'code', 'nominal')
    """
    present = [v.item() if isinstance(v, np.generic) else v for v in values if v is not None]
    if not present:
        return "nominal"
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in present):
        return "numeric"
    if all(isinstance(v, datetime.date) or (isinstance(v, str) and _is_day(v)) for v in present):
        return "date"
    texts = [v for v in present if isinstance(v, str) and v.isascii() and v.isdigit()]
    if len(texts) == len(present) and len({len(t) for t in texts}) == 1 and len(texts[0]) > 3:
        return "code"
    return "nominal"


def _is_day(text: str) -> bool:
    if len(text) < 10 or text[4:5] != "-" or text[7:8] != "-":
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _counted(columns: Counts | Mapping[str, Mapping[Value, int] | Iterable[Value]]) -> dict[str, dict[Value, int]]:
    if isinstance(columns, Counts):
        return {name: columns.rows_of(name) for name in columns.names}
    found: dict[str, dict[Value, int]] = {}
    for name, cells in columns.items():
        rows: dict[Value, int] = {}
        items = cells.items() if isinstance(cells, Mapping) else ((v, 1) for v in cells)
        for value, count in items:
            plain = value.item() if isinstance(value, np.generic) else value
            rows[plain] = rows.get(plain, 0) + int(count)
        if not rows:
            raise BadInput(f"{name}: the column is empty")
        found[name] = rows
    if not found:
        raise BadInput("the table has no columns")
    return found


def _distinct(made: list[Hierarchy]) -> list[Hierarchy]:
    """The hierarchies without those that are like an earlier one."""
    return list({signature(h): h for h in reversed(made)}.values())[::-1]


# Hierarchies above labels that were released already


def coarser(hierarchy: Hierarchy, outputs: Mapping[Value, Value]) -> Hierarchy:
    """The hierarchy over what its leaves became: a label's way up is that of all values it stands for together.

    Where these part at a level, the label of the lowest level at which they meet stands in its place: it is true of
    all of them. Levels that say nothing new are left out. Leaves without an output are left out, too. Labels of numbers
    and dates keep their order, and nothing else of what those are.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> coarser(jobs, {"nurse": "medic", "surgeon": "medic", "clerk": "clerk"}).rows()
    [('medic', 'medic', '*'), ('clerk', 'office', '*')]
    >>> coarser(jobs, {"nurse": "medic", "surgeon": "medic", "clerk": "office"}).rows()
    [('medic', '*'), ('office', '*')]
    """
    members: dict[Value, list[int]] = {}
    changed = any(outputs.get(leaf, leaf) != leaf for leaf in hierarchy.leaves)
    for leaf, row in zip(hierarchy.leaves, range(len(hierarchy.leaves)), strict=True):
        if leaf in outputs:
            members.setdefault(outputs[leaf], []).append(row)
    if changed and KINDS[hierarchy.kind].ordered:
        place_of = positions(hierarchy)
        members = dict(sorted(members.items(), key=lambda item: _first(place_of, item[1])))
    names = list(members)
    nodes = [(level, code) for level, labels in enumerate(hierarchy.labels) for code in range(len(labels))]
    place = {node: i for i, node in enumerate(nodes)}
    labels: list[Value] = [hierarchy.labels[level][code] for level, code in nodes]
    known = np.array([*(int(hierarchy.concept_codes(level)[code]) for level, code in nodes), UNKNOWN], dtype=np.int32)
    labels.append(SUPPRESSED)  # above hierarchies of several roots
    ways = np.array([_way(hierarchy, rows, place, name) for name, rows in members.items()], dtype=np.int64)
    own = [known[way[0]] if labels[way[0]] == name else UNKNOWN for name, way in zip(names, ways, strict=True)]
    telling = [
        level for level in range(ways.shape[1]) if any(labels[ways[i, level]] != name for i, name in enumerate(names))
    ]
    columns = [np.arange(len(names)), *(ways[:, level] for level in telling)]
    return assemble(
        hierarchy.name,
        np.stack(columns, axis=1),
        [names, *(labels for _ in telling)],
        kind="ordinal" if changed and KINDS[hierarchy.kind].ordered else hierarchy.kind,
        concepts=None if hierarchy.concepts is None else [np.array(own, dtype=np.int32), *(known for _ in telling)],
        info=hierarchy.info,
    )


def _first(place_of: Floats, rows: list[int]) -> float:
    """Where the lowest of some leaves lies; what lies nowhere, such as a missing cell, goes last."""
    places = place_of[rows]
    known = places[np.isfinite(places)]
    return float(known.min()) if len(known) else np.inf


def _way(hierarchy: Hierarchy, rows: list[int], place: Mapping[tuple[int, int], int], name: Value) -> list[int]:
    """What stands at each level above the leaves for some of them together: where they meet, at that level or above.

    Below the level whose label they have already nothing is known of them any more.
    """
    meets: list[int] = []
    beyond = len(place)
    for level in range(hierarchy.height, 0, -1):
        codes = np.unique(hierarchy.codes[rows, level])
        beyond = place[(level, int(codes[0]))] if len(codes) == 1 else beyond
        meets.append(beyond)
        if len(codes) == 1 and hierarchy.labels[level][codes[0]] == name:
            meets += [beyond] * (level - 1)
            break
    return meets[::-1] or [len(place)]
