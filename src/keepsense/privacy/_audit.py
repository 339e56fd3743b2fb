"""The verifier's own group-by and its own reading of each promise: SQL over DuckDB, nothing shared with the models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput, Finding
from keepsense.privacy.verify import Check, is_text_file

_SLACK = 1e-9


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


class Audit:
    """One verification: tables loaded into a private in-memory DuckDB, grouped once, asked many times."""

    def __init__(self) -> None:
        import duckdb

        self.sql = duckdb.connect(":memory:")
        self._size: dict[str, int] = {}
        self._columns: dict[str, list[str]] = {}
        self._counted: dict[str, str] = {}
        self._failed: list[str] = []
        self.suppressed = 0
        self.classes = 0

    # ---- tables ----------------------------------------------------------------------------------------------------

    def load(self, table: str, source: Any, delimiter: str | None = None, beside: Any = None) -> None:
        """Read a file or frame under a name; every value as text, so that files and frames compare."""
        import duckdb
        import pyarrow as pa

        try:
            if isinstance(source, str | Path):
                self._load_file(table, Path(source), delimiter)
            else:
                self.sql.register(f"{table}_raw", _arrow(source, pa))
            reading = f"{table}_raw"
            if beside is not None:
                self.sql.register(f"{table}_beside", _arrow(beside, pa))
                counted = [self._one(f"SELECT count(*) FROM {t}") for t in (reading, f"{table}_beside")]
                if counted[0] != counted[1]:
                    raise BadInput("the hidden columns and the release have different numbers of rows")
                reading = f"(SELECT * FROM {reading} POSITIONAL JOIN {table}_beside)"
            columns = self.sql.sql(f"SELECT * FROM {reading} LIMIT 0").columns
            listed = ", ".join(f"CAST({_name(c)} AS VARCHAR) AS {_name(c)}" for c in columns)
            self.sql.execute(f"CREATE TABLE {table} AS SELECT {listed} FROM {reading}")
        except (duckdb.Error, pa.ArrowException, TypeError, OSError) as error:
            what = f"file {str(source)!r}" if isinstance(source, str | Path) else f"{table} table"
            raise BadInput(f"the verifier cannot read the {what}: {str(error).splitlines()[0][:200]}") from None
        self._columns[table] = list(columns)
        self._size[table] = self._one(f"SELECT count(*) FROM {table}")

    def _load_file(self, table: str, path: Path, delimiter: str | None) -> None:
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file")
        if is_text_file(path):
            mark = "" if delimiter is None else f", delim = '{delimiter.replace(chr(39), chr(39) * 2)}'"
            reader = f"read_csv('{_escaped(path)}', all_varchar = true, header = true{mark})"
        else:
            reader = f"read_parquet('{_escaped(path)}')"
        self.sql.execute(f"CREATE VIEW {table}_raw AS SELECT * FROM {reader}")

    def rows(self, table: str) -> int:
        """Rows of a loaded table."""
        return self._size[table]

    def columns(self, table: str) -> list[str]:
        """Columns of a loaded table."""
        return self._columns[table]

    def _one(self, query: str) -> Any:
        found = self.sql.execute(query).fetchone()
        assert found is not None
        return found[0]

    def changed_rows(self, columns: Sequence[str]) -> int:
        """Rows of the release whose values in some columns occur more often than in the original, or not at all.

        Where the release has as many rows as the original this is the number of changed rows.
        """
        listed = ", ".join(map(_name, columns))
        return int(
            self._one(f"SELECT count(*) FROM (SELECT {listed} FROM released EXCEPT ALL SELECT {listed} FROM original)")
        )

    # ---- classes ---------------------------------------------------------------------------------------------------

    def group(self, quasi_identifiers: list[str], marker: str, missing: str) -> None:
        """Number the combinations of quasi-identifiers: `own` records have one, `n` records fit it."""
        self.keys = quasi_identifiers
        self.missing = missing
        keys = ", ".join(map(_name, quasi_identifiers))
        quoted = marker.replace("'", "''")
        gone = " AND ".join(f"{_name(c)} IS NOT DISTINCT FROM '{quoted}'" for c in quasi_identifiers)
        lost = int(self._one(f"SELECT count(*) FROM released WHERE {gone}"))
        self.suppressed = 0 if lost == self._size["released"] else lost
        self.sql.execute(
            f"CREATE TABLE kept AS SELECT * FROM released {f'WHERE NOT ({gone})' if self.suppressed else ''}"
        )
        mask = " + ".join(f"(CASE WHEN {_name(c)} IS NULL THEN {1 << i} ELSE 0 END)" for i, c in enumerate(self.keys))
        self.sql.execute(
            f"CREATE TABLE tuples AS SELECT *, CAST(row_number() OVER () AS BIGINT) AS class_, {mask} AS gaps_ FROM "
            f"(SELECT {keys}, count(*) AS own_ FROM kept GROUP BY ALL)"
        )
        self.sql.execute("CREATE TABLE sizes (class_ BIGINT, own BIGINT, n BIGINT)")
        if missing == "category":
            self.sql.execute("INSERT INTO sizes SELECT class_, own_, own_ FROM tuples")
        else:
            parts = " UNION ALL ".join(
                f"SELECT a.class_, b.own_ FROM tuples a JOIN tuples b ON {how}" for how in self._fits("b.gaps_")
            )
            self.sql.execute(
                f"INSERT INTO sizes SELECT t.class_, any_value(t.own_), sum(p.own_) FROM tuples t "
                f"JOIN ({parts}) p USING (class_) GROUP BY t.class_"
            )
        self.classes = int(self._one("SELECT count(*) FROM tuples"))

    def _fits(self, other_gaps: str) -> list[str]:
        """Conditions under which tuple a fits tuple b, one for each two patterns of missing columns."""
        patterns = [row[0] for row in self.sql.execute("SELECT DISTINCT gaps_ FROM tuples").fetchall()]
        found = []
        for p in patterns:
            for q in patterns:
                both = [c for i, c in enumerate(self.keys) if not (p | q) >> i & 1]
                same = "".join(f" AND a.{_name(c)} = b.{_name(c)}" for c in both)
                found.append(f"a.gaps_ = {p} AND {other_gaps} = {q}{same}")
        return found

    def _counted_by(self, column: str) -> str:
        """Table (class_, value, n) of one more column under each class, made once."""
        if column not in self._columns["released"]:
            raise _Unseen(f"column {column!r} is not in the release, so the promise cannot be checked on it")
        if column not in self._counted:
            table = f"cells_{len(self._counted)}"
            join = " AND ".join(f"k.{_name(c)} IS NOT DISTINCT FROM t.{_name(c)}" for c in self.keys)
            own = (
                f"SELECT t.class_, k.{_name(column)} AS value, count(*) AS n "
                f"FROM kept k JOIN tuples t ON {join} GROUP BY ALL"
            )
            if self.missing == "category":
                self.sql.execute(f"CREATE TABLE {table} AS {own}")
            else:
                self.sql.execute(f"CREATE TABLE {table}_own AS {own}")
                keys = ", ".join(f"t.{_name(c)}" for c in self.keys)
                tagged = f"(SELECT o.value, o.n, t.gaps_, {keys} FROM {table}_own o JOIN tuples t USING (class_))"
                parts = " UNION ALL ".join(
                    f"SELECT a.class_, b.value, b.n FROM tuples a JOIN {tagged} b ON {how}"
                    for how in self._fits("b.gaps_")
                )
                self.sql.execute(
                    f"CREATE TABLE {table} AS "
                    f"SELECT class_, value, CAST(sum(n) AS BIGINT) AS n FROM ({parts}) GROUP BY ALL"
                )
            self._counted[column] = table
        return self._counted[column]

    # ---- promises --------------------------------------------------------------------------------------------------

    def check(self, promise: dict[str, Any], evidence: Mapping[str, Any], elsewhere: bool) -> Check:
        """Compute one promise from its definition."""
        readers: dict[str, Callable[[dict[str, Any], Mapping[str, Any]], Check]] = {
            "k-anonymity": self._k,
            "probabilistic k-anonymity": self._k,
            "(X,Y)-anonymity": self._people,
            "l-diversity": self._diversity,
            "t-closeness": self._closeness,
            "maximum risk": self._maximum,
            "average risk": self._average,
            "k-map": self._map,
            "delta-presence": self._presence,
        }
        reader = readers.get(str(promise.get("model")))
        if reader is None:
            return Check(promise, elsewhere, reason="" if elsewhere else "the verifier does not know this promise")
        try:
            found = reader(promise, evidence)
        except _Unseen as unseen:
            return Check(promise, elsewhere, reason="" if elsewhere else str(unseen))
        except KeyError as key:
            return Check(promise, False, reason=f"the promise lacks its parameter {key}")
        if not found.holds and elsewhere:
            return Check(promise, True)
        if not found.holds and promise.get("about") == "mechanism":
            return Check(
                promise, False, reason="a promise about a mechanism is not visible in a file; check the recoding"
            )
        return found

    def _judged(self, promise: dict[str, Any], per_class: str, bad: str, worst: str) -> Check:
        """Outcome for a query that gives `class_` and `x`: classes where `bad` holds, the worst `x` (min or max)."""
        query = f"SELECT s.class_, s.own, p.x FROM ({per_class}) p JOIN sizes s USING (class_)"
        broken, records, extreme = self.sql.execute(
            f"SELECT count(*) FILTER ({bad}), coalesce(sum(own) FILTER ({bad}), 0), {worst}(x) FROM ({query})"
        ).fetchone()  # type: ignore[misc]
        if broken:
            self._failed.append(f"SELECT class_ FROM ({query}) WHERE {bad}")
        return Check(promise, broken == 0, int(broken), int(records), None if extreme is None else float(extreme))

    def _k(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        return self._judged(promise, "SELECT class_, n AS x FROM sizes", f"x < {int(promise['k'])}", "min")

    def _maximum(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        limit = float(promise["threshold"]) + _SLACK
        return self._judged(promise, "SELECT class_, 1.0::DOUBLE / n AS x FROM sizes", f"x > {limit!r}", "max")

    def _average(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        mean = self._one("SELECT sum(own::DOUBLE / n) / sum(own) FROM sizes")
        good = mean <= float(promise["threshold"]) + _SLACK
        return Check(promise, good, 0 if good else self.classes, 0 if good else self._size["released"], float(mean))

    def _people(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        table = self._counted_by(str(promise["person"]))
        return self._judged(
            promise, f"SELECT class_, count(*) AS x FROM {table} GROUP BY class_", f"x < {int(promise['k'])}", "min"
        )

    def _diversity(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        table, form = self._counted_by(str(promise["column"])), promise.get("form", "distinct")
        if form == "distinct":
            query = f"SELECT class_, count(*) AS x FROM {table} GROUP BY class_"
            return self._judged(promise, query, f"x < {int(promise['l'])}", "min")
        if form == "entropy":
            query = f"SELECT class_, exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) AS x FROM {table} GROUP BY class_"
            return self._judged(promise, query, f"x < {float(promise['l']) * (1 - _SLACK)!r}", "min")
        if form == "recursive":
            ranked = f"SELECT *, row_number() OVER (PARTITION BY class_ ORDER BY n DESC) AS r FROM {table}"
            query = (
                f"SELECT class_, max(n) / nullif(coalesce(sum(n) FILTER (r >= {int(promise['l'])}), 0), 0) AS x "
                f"FROM ({ranked}) GROUP BY class_"
            )
            return self._judged(promise, query, f"x IS NULL OR x >= {float(promise['c'])!r}", "max")
        raise _Unseen(f"the verifier knows no form {form!r} of l-diversity")

    def _closeness(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        from keepsense.privacy._ground_audit import class_distances

        column = str(promise["column"])
        table = self._counted_by(column)
        whole = "original" if column in self._columns.get("original", ()) else "released"
        reference = dict(self.sql.execute(f"SELECT {_name(column)}, count(*) FROM {whole} GROUP BY ALL").fetchall())
        rows = self.sql.execute(f"SELECT class_, value, n FROM {table} ORDER BY class_").fetchall()
        limit = float(promise["t"]) + _SLACK
        try:
            far = class_distances(rows, reference, promise, evidence.get(column, {}), limit)
        except LookupError as error:
            raise _Unseen(str(error.args[0])) from None
        bad = [c for c, x in far.items() if x > limit]
        own = dict(self.sql.execute("SELECT class_, own FROM sizes").fetchall())
        if bad:
            self._failed.append(f"SELECT unnest([{', '.join(map(str, bad))}]) AS class_")
        return Check(promise, not bad, len(bad), sum(own[c] for c in bad), max(far.values(), default=None))

    def _fitting(self) -> str:
        """Table of (class_, own, people): how many of the population fit each class."""
        if "population" not in self._size:
            raise _Unseen("the promise compares with a population; give it to the verifier, recoded like the release")
        lacking = [c for c in self.keys if c not in self._columns["population"]]
        if lacking:
            raise _Unseen(f"the population lacks the column {lacking[0]!r}")
        if self.missing == "wildcard":
            same = " AND ".join(
                f"(t.{_name(c)} = p.{_name(c)} OR t.{_name(c)} IS NULL OR p.{_name(c)} IS NULL)" for c in self.keys
            )
        else:
            same = " AND ".join(f"t.{_name(c)} IS NOT DISTINCT FROM p.{_name(c)}" for c in self.keys)
        keys = ", ".join(map(_name, self.keys))
        grouped = f"(SELECT {keys}, count(*) AS people FROM population GROUP BY ALL)"
        return (
            f"SELECT t.class_, any_value(t.own_) AS own_, coalesce(sum(p.people), 0) AS people "
            f"FROM tuples t LEFT JOIN {grouped} p ON {same} GROUP BY t.class_"
        )

    def _map(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        query = f"SELECT class_, people AS x FROM ({self._fitting()})"
        return self._judged(promise, query, f"x < {int(promise['k'])}", "min")

    def _presence(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        low, high = float(promise["lower"]) - _SLACK, float(promise["upper"]) + _SLACK
        query = f"SELECT class_, own_ / nullif(people, 0) AS x FROM ({self._fitting()})"
        found = self._judged(promise, query, f"x IS NULL OR x < {low!r} OR x > {high!r}", "max")
        if low > 0 and found.holds:
            join = " AND ".join(f"t.{_name(c)} IS NOT DISTINCT FROM p.{_name(c)}" for c in self.keys)
            alone = int(self._one(f"SELECT count(*) FROM population p ANTI JOIN tuples t ON {join}"))
            if alone:
                return Check(promise, False, 0, 0, 0.0, f"{alone:,} people of the population fit no released record")
        return found

    # ---- remarks ---------------------------------------------------------------------------------------------------

    def remarks(self) -> list[Finding]:
        """What a publisher should look at though no promise is broken."""
        found = []
        if 0 < self.suppressed < 5:
            found.append(
                Finding(
                    "W211", "release", f"only {self.suppressed} record(s) are suppressed; they stand out, drop them"
                )
            )
        blank = self.missing == "wildcard" and self._one(
            f"SELECT coalesce(sum(own_), 0) FROM tuples WHERE gaps_ = {(1 << len(self.keys)) - 1}"
        )
        if blank:
            found.append(
                Finding("W212", "release", f"{int(blank):,} record(s) are missing everywhere and fit everybody")
            )
        return found

    def examples(self, limit: int) -> tuple[tuple[Any, ...], ...]:
        """Combinations of quasi-identifiers that break a promise: only for those who may see them."""
        if not self._failed:
            return ()
        keys = ", ".join(map(_name, self.keys))
        union = " UNION ".join(self._failed)
        return tuple(
            self.sql.execute(
                f"SELECT {keys} FROM tuples WHERE class_ IN ({union}) ORDER BY class_ LIMIT {limit}"
            ).fetchall()
        )


class _Unseen(Exception):
    """A promise that cannot be checked with what there is."""


def _arrow(source: Any, pa: Any) -> Any:
    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "to_arrow_table"):
        return source.to_arrow_table()
    if isinstance(source, Mapping):
        return pa.table({name: pa.array(list(map(_text, column))) for name, column in source.items()})
    return pa.table(source)


def _text(value: Any) -> str | None:
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")
