"""Checks of regulations on a released file, criterion by criterion, with the figures that answer each.

HIPAA's Safe Harbor (45 CFR 164.514(b)(2)) lists eighteen identifiers. The opinion of the European data protection
authorities on anonymisation (WP216, 2014) asks three questions under the GDPR: can a person be singled out, linked, or
something about them inferred? What a program cannot decide is left to people and says so: it is no legal verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value, distinct_rows
from keepsense.draft.recognizers import are_names_of_people, sign_of
from keepsense.engines.protocol import Engine, Table, started
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput, did_you_mean
from keepsense.guide.regulation_presets import preset
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.intervals import date_span, number_span
from keepsense.privacy.risk_thresholds import MaximumRisk
from keepsense.project.project_file import Project, project_and_folder
from keepsense.recoding import SUPPRESSED
from keepsense.release.folder.ledger import read_ledger
from keepsense.release.folder.place import read_released
from keepsense.release.job.job import Job
from keepsense.secure_random import generator

_LOOKED_AT = 5_000
"""Different values of a column that are looked at."""
_UNIQUE = 0.9
"""From this share of values that one row alone holds on, a column numbers people."""
_FEW = 20
_OLDEST = 89
_LOW, _HIGH = 0.09, 0.2
"""Risks that regulators of medicines accept for data that is published, and for data that is shared under control."""


@dataclass(frozen=True)
class Criterion:
    """One rule: whether the release meets it (None: people must look), why, the columns and the figures it is about.

    >>> Criterion("singling out", True, "every record has company", (), {"smallest class": 5}).verdict
    'met'
    """

    rule: str
    met: bool | None
    why: str
    columns: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Met, not met, or look."""
        return {True: "met", False: "not met", None: "look"}[self.met]


@dataclass(frozen=True, eq=False)
class _Seen:
    """A released file, as rules look at it."""

    job: Job
    table: Table
    values: Mapping[str, Mapping[Value, int]]

    def texts(self, name: str) -> list[str]:
        shown = [str(v) for v in self.values[name] if v is not None and v != SUPPRESSED]
        return shown[:_LOOKED_AT]

    @property
    def quasi_identifiers(self) -> list[str]:
        return [name for name in self.job.every_quasi_identifier if name in self.values]


def check_rules(
    rules: str,
    project: Project | str | Path,
    released: str | Path,
    *,
    folder: str | Path | None = None,
    engine: str | Engine | None = None,
) -> list[Criterion]:
    """Check a released file against rules by name: `hipaa`, `gdpr` or `risk-0.09`.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> found = check_rules("gdpr", done.job.project, done.file, folder=done.job.folder)
    >>> [(criterion.rule, criterion.verdict) for criterion in found]
    [('singling out', 'met'), ('linkability', 'look'), ('inference', 'met')]
    """
    check = RULES.get(rules.lower())
    if check is None:
        raise BadInput(f"no rules are called {rules!r}; there are: {', '.join(RULES)}.{did_you_mean(rules, RULES)}")
    project, home = project_and_folder(project, folder)
    file = Path(released)
    readable(file)
    with started(engine or project.engine.name, **project.engine.options()) as rows:
        job = Job(project, home, rows, generator())
        table = read_released(job, file)
        values = {name: rows.count(table, [name]).rows_of(name) for name in table.columns}
        return check(_Seen(job, table, values))


# ---- HIPAA --------------------------------------------------------------------------------------------------------

_CONTENT = {
    "e-mail addresses": "e-mail address",
    "web addresses": "web address",
    "network addresses": "IP address",
    "bank accounts": "account number",
    "card numbers": "account number",
    "social security numbers": "social security number",
    "telephone numbers": "telephone number",
    "coordinates": "place smaller than a state",
    "street addresses": "place smaller than a state",
    "UUIDs": "any other unique number or code",
    "long keys": "any other unique number or code",
}
"""What cells can be seen to hold, as the rule calls it."""

_PLACE, _DATE, _OTHER = "place smaller than a state", "date, or age above 89", "any other unique number or code"
IDENTIFIERS = (
    *("name", _PLACE, _DATE, "telephone number", "fax number", "e-mail address", "social security number"),
    *("medical record number", "health plan number", "account number", "certificate or licence", "vehicle identifier"),
    *("device identifier", "web address", "IP address", "biometric identifier", "photograph", _OTHER),
)
"""The eighteen of Safe Harbor, in its order."""


def _hipaa(seen: _Seen) -> list[Criterion]:
    by_name: dict[str, set[str]] = {}
    by_content: dict[str, set[str]] = {}
    told = preset("hipaa").found(seen.values)
    for name in seen.values:
        said = told.get(name, "")
        if said.startswith("remove: ") and seen.texts(name):
            by_name.setdefault(said.removeprefix("remove: "), set()).add(name)
        texts = seen.texts(name)
        sign = sign_of(texts) if texts else None
        named = not said and are_names_of_people(texts)  # places and people share names: Florence, Paris
        kind = _CONTENT.get(sign.name) if sign else "name" if named else None
        if kind is not None:
            by_content.setdefault(kind, set()).add(name)
    places = {name for name, said in told.items() if ("state" in said or "digits" in said) and seen.texts(name)}
    own: dict[str, Callable[[], Criterion]] = {
        _PLACE: lambda: _places(seen, places, by_name.get(_PLACE, set()) | by_content.get(_PLACE, set())),
        _DATE: lambda: _dates(seen),
        _OTHER: lambda: _numbers(seen, by_name.get(_OTHER, set()) | by_content.get(_OTHER, set())),
    }
    return [
        own[kind]() if kind in own else _gone(kind, by_name.get(kind, set()), by_content.get(kind, set()))
        for kind in IDENTIFIERS
    ]


def _gone(kind: str, named: set[str], seen: set[str]) -> Criterion:
    if seen:
        return Criterion(kind, False, "cells hold such; remove the column", tuple(sorted(seen)))
    if named:
        return Criterion(kind, None, "the column's name says so; look, or remove it", tuple(sorted(named)))
    return Criterion(kind, True, "no column is called so, and no cells look so")


def _places(seen: _Seen, named: set[str], exact: set[str]) -> Criterion:
    if exact:
        return Criterion(_PLACE, False, "cells hold addresses or coordinates; remove them", tuple(sorted(exact)))
    long = {name for name in named if any(sum(c.isdigit() for c in text) > 3 for text in seen.texts(name))}
    if long:
        return Criterion(_PLACE, False, "more than three digits of postcodes are released", tuple(sorted(long)))
    if named:
        why = "see that no label is smaller than a state, and no three digits stand for 20,000 people or fewer"
        return Criterion(_PLACE, None, why, tuple(sorted(named)))
    return Criterion(_PLACE, True, "no column is called so, and no cells look so")


def _dates(seen: _Seen) -> Criterion:
    exact, old = set(), set()
    told = preset("hipaa").found(seen.values)
    for name in seen.values:
        said, texts = told.get(name, ""), seen.texts(name)
        column = seen.job.project.columns.get(name)
        dated = "years" in said or (column is not None and KINDS[column.kind].span is date_span)
        if dated and any(not _whole_years(text) for text in texts):
            exact.add(name)
        if said.startswith("all ages") and any(_above(text) for text in texts):
            old.add(name)
    if exact:
        return Criterion(_DATE, False, "dates are more exact than a year", tuple(sorted(exact)))
    if old:
        return Criterion(_DATE, False, "ages above 89 are told apart; make them 90 or more", tuple(sorted(old)))
    return Criterion(_DATE, True, "no date is more exact than a year, and no age above 89 is told")


def _whole_years(text: str) -> bool:
    ends = date_span(text)
    if ends is None:
        return number_span(text) is None or text.isdigit()
    first, last = ends
    starts = first is None or (first.month, first.day) == (1, 1)  # type: ignore[union-attr]
    return starts and (last is None or (last.month, last.day) == (12, 31))  # type: ignore[union-attr]


def _above(text: str) -> bool:
    ends = number_span(text)
    if ends is None:
        return False
    low, high = ends
    if high is None:
        return isinstance(low, float) and low > _OLDEST + 1
    return isinstance(high, float) and high > _OLDEST + 1


def _numbers(seen: _Seen, named: set[str]) -> Criterion:
    unique = {name: _alone(seen.values[name]) for name in seen.values}
    many = {name for name, share in unique.items() if share >= _UNIQUE and seen.table.rows >= _FEW}
    figures = {f"unique values of {name}": round(unique[name], 4) for name in sorted(many | named)}
    if many:
        return Criterion(_OTHER, False, "nearly every row has a value of its own", tuple(sorted(many)), figures)
    if named:
        return Criterion(_OTHER, None, "the column's name says so; look, or remove it", tuple(sorted(named)), figures)
    return Criterion(_OTHER, True, "no column has a value of its own for nearly every row")


def _alone(rows: Mapping[Value, int]) -> float:
    """Share of the rows whose value no other row has."""
    return sum(n == 1 for value, n in rows.items() if value is not None) / max(1, sum(rows.values()))


# ---- GDPR ---------------------------------------------------------------------------------------------------------


def _sizes(seen: _Seen) -> NDArray[np.int64]:
    names = seen.quasi_identifiers
    return seen.job.engine.count(seen.table, names).weights if names else np.array([seen.table.rows])


def _gdpr(seen: _Seen) -> list[Criterion]:
    sizes = _sizes(seen)
    return [_singling_out(seen, sizes), _linkability(seen, sizes), _inference(seen)]


def _singling_out(seen: _Seen, sizes: NDArray[np.int64]) -> Criterion:
    smallest = int(sizes.min())
    others = [name for name in seen.values if name not in seen.quasi_identifiers]
    alone = {name: _alone(seen.values[name]) for name in others}
    figures: dict[str, float] = {
        "smallest class": smallest,
        "records alone in their class": round(float((sizes == 1).sum() / sizes.sum()), 6),
        **{f"found by {name} alone": round(share, 6) for name, share in alone.items() if share},
    }
    telling = tuple(sorted(name for name, share in alone.items() if share))
    if smallest < 2:
        return Criterion("singling out", False, "some records have no other like them", (), figures)
    if telling:
        why = "values that one record alone has, in columns that are released as they are"
        return Criterion("singling out", None, why, telling, figures)
    return Criterion("singling out", True, f"every record looks like at least {smallest - 1} others", (), figures)


def _linkability(seen: _Seen, sizes: NDArray[np.int64]) -> Criterion:
    highest, average = 1 / int(sizes.min()), len(sizes) / int(sizes.sum())
    names, own = set(seen.table.columns), seen.job.released_name
    earlier = [entry for entry in read_ledger(seen.job.folder) if names & set(entry.columns) and entry.file != own]
    figures = {
        "highest risk of a right link": round(highest, 6),
        "average risk of a right link": round(average, 6),
        "other releases with columns of these": len(earlier),
    }
    if highest > _HIGH:
        return Criterion("linkability", False, f"a record is linked rightly with a chance above {_HIGH}", (), figures)
    if highest > _LOW:
        why = f"the chance of a right link is above {_LOW}, as regulators accept it for the public"
        return Criterion("linkability", None, why, (), figures)
    if earlier:
        return Criterion("linkability", None, "earlier releases hold some of the same columns", (), figures)
    return Criterion("linkability", True, f"no record is linked rightly with a chance above {_LOW}", (), figures)


def _inference(seen: _Seen) -> Criterion:
    sensitive = [name for name in seen.job.project.having("sensitive") if name in seen.values]
    if not sensitive:
        return Criterion("inference", None, "no column is declared sensitive; say which are", ())
    figures: dict[str, float] = {}
    disclosed = []
    for name in sensitive:
        fewest, told = _mixed(seen, name)
        figures |= {f"fewest values of {name} in a class": fewest, f"records whose {name} is told": round(told, 6)}
        if fewest < 2:
            disclosed.append(name)
    if disclosed:
        return Criterion("inference", False, "all of a class share one sensitive value", tuple(disclosed), figures)
    return Criterion("inference", True, "every class holds several sensitive values", (), figures)


def _mixed(seen: _Seen, name: str) -> tuple[int, float]:
    """Fewest different values in a class, and the share of records in classes that hold one value only."""
    names = [other for other in seen.quasi_identifiers if other != name]
    counts = seen.job.engine.count(seen.table, [*names, name])
    distinct, group = distinct_rows(np.stack([np.zeros(len(counts), np.int64), *map(counts.column, names)], axis=1))
    different = np.bincount(group, minlength=len(distinct))
    records = np.bincount(group, counts.weights, len(distinct))
    return int(different.min()), float(records[different == 1].sum() / records.sum())


def _low_risk(seen: _Seen) -> list[Criterion]:
    limit = MaximumRisk(_LOW)
    smallest = int(_sizes(seen).min())
    why = f"the smallest class has {smallest} records, and {limit.least_size} are needed"
    figures = {"highest risk": round(1 / smallest, 6)}
    return [Criterion("risk of at most 0.09", smallest >= (limit.least_size or 0), why, (), figures)]


RULES: Mapping[str, Callable[[_Seen], list[Criterion]]] = {"hipaa": _hipaa, "gdpr": _gdpr, "risk-0.09": _low_risk}
"""Checks by the name of the rules."""
