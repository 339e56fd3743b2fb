"""The verifier's own group-by and its own reading of each promise: SQL over DuckDB, nothing shared with the models."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput, Finding
from keepsense.privacy.verify import Check, is_text_file

_SLACK = 1e-9


class Audit:
    """One verification: tables loaded into a private in-memory DuckDB, grouped once, asked many times."""

    def __init__(self) -> None:
        import duckdb

        # tables larger than memory spill here, not into the folder the program happens to run in
        self._spill = tempfile.TemporaryDirectory(prefix="keepsense-", ignore_cleanup_errors=True)
        limits: dict[str, Any] = {
            "temp_directory": self._spill.name,
            "memory_limit": "40%",
        }  # the engine beside it needs some, too
        self.sql = duckdb.connect(":memory:", config=limits)
        self._size: dict[str, int] = {}
        self._columns: dict[str, dict[str, str]] = {}
        self._lists: dict[str, set[str]] = {}
        self._counted: dict[str, str] = {}
        self._failed: list[str] = []
        self._shown: list[str] | None = None
        self.suppressed = 0
        self.classes = 0

    def __enter__(self) -> Audit:
        return self

    def __exit__(self, *_: object) -> None:
        self.sql.close()
        self._spill.cleanup()

    # ---- tables ----------------------------------------------------------------------------------------------------

    def load(self, table: str, source: Any, delimiter: str | None = None, beside: Any = None) -> None:
        """Read a file or frame under a name; every value as text, so that files and frames compare."""
        import duckdb
        import pyarrow as pa

        try:
            names = self._raw(table, source, delimiter, pa)
            reading = f"{table}_raw"
            if beside is not None:
                further = self._raw(f"{table}_beside", beside, None, pa)
                if self._one(f"SELECT count(*) FROM {reading}") != self._one(
                    f"SELECT count(*) FROM {table}_beside_raw"
                ):
                    raise BadInput("the hidden columns and the release have different numbers of rows")
                renamed = ", ".join(f"c{i} AS c{len(names) + i}" for i in range(len(further)))
                reading = f"{reading} POSITIONAL JOIN (SELECT {renamed} FROM {table}_beside_raw)"
                self._shown = names
                names = [*names, *further]
            self._lists[table] = {
                str(name)
                for name, kind, *_ in self._ask(f"DESCRIBE SELECT * FROM {reading}")
                if str(kind).endswith("[]")
            }
            listed = ", ".join(f"CAST(c{i} AS VARCHAR) AS c{i}" for i in range(len(names)))
            self._ask(f"CREATE TABLE {table} AS SELECT {listed} FROM {reading}")
        except (duckdb.Error, pa.ArrowException, TypeError, OSError) as error:
            what = f"file {str(source)!r}" if isinstance(source, str | Path) else f"{table} table"
            raise BadInput(f"the verifier cannot read the {what}: {str(error).splitlines()[0][:200]}") from None
        # SQL names are ours: a column of the release may have any name, and DuckDB does not tell A from a.
        self._columns[table] = {name: f"c{i}" for i, name in enumerate(names)}
        self._size[table] = self._one(f"SELECT count(*) FROM {table}")

    def _raw(self, table: str, source: Any, delimiter: str | None, pa: Any) -> list[str]:
        """Make a view of a file or frame with columns c0, c1, ...; return its column names."""
        if isinstance(source, pa.RecordBatchReader):
            names = list(source.schema.names)
            self.sql.register(f"{table}_raw", _numbered(source, pa))  # a stream, so read once only
            return names
        if not isinstance(source, str | Path):
            arrow = _arrow(source, pa)
            self.sql.register(f"{table}_raw", arrow.rename_columns([f"c{i}" for i in range(arrow.num_columns)]))
            return list(arrow.column_names)
        path = Path(source)
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file")
        if is_text_file(path):
            mark = "" if delimiter is None else f", delim = '{delimiter.replace(chr(39), chr(39) * 2)}'"
            reader = (
                f"read_csv('{_escaped(path)}', all_varchar = true, header = true, allow_quoted_nulls = false{mark})"
            )
        else:
            reader = f"read_parquet('{_escaped(path)}')"
        names = [row[0] for row in self._ask(f"DESCRIBE SELECT * FROM {reader}")]
        renamed = ", ".join(f"c{i}" for i in range(len(names)))
        self._ask(f"CREATE VIEW {table}_raw AS SELECT * FROM {reader} AS t({renamed})")
        return names

    def rows(self, table: str) -> int:
        """Rows of a loaded table."""
        return self._size[table]

    def columns(self, table: str) -> list[str]:
        """Columns of a loaded table."""
        return list(self._columns[table])

    def shown(self) -> list[str]:
        """Columns that recipients see: those of the release without the ones beside it."""
        return self.columns("released") if self._shown is None else list(self._shown)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return list(self.sql.execute(query).fetchall())

    def _one(self, query: str) -> Any:
        return self._ask(query)[0][0]

    def _in(self, table: str, column: str) -> str:
        return self._columns[table][column]

    def changed_rows(self, columns: Sequence[str]) -> int:
        """Rows of the release whose values in some columns occur more often than in the original, or not at all.

        Where the release has as many rows as the original this is the number of changed rows.
        """
        now, before = (", ".join(self._in(table, c) for c in columns) for table in ("released", "original"))
        return int(
            self._one(f"SELECT count(*) FROM (SELECT {now} FROM released EXCEPT ALL SELECT {before} FROM original)")
        )

    # ---- classes ---------------------------------------------------------------------------------------------------

    def group(self, quasi_identifiers: list[str], marker: str, wild: Collection[str]) -> None:
        """Number the combinations of quasi-identifiers: `own` records have one, `n` records fit it."""
        self.names = quasi_identifiers
        self.keys = [self._in("released", name) for name in quasi_identifiers]
        self.wild = {self._in("released", name) for name in quasi_identifiers if name in wild}
        missing = self.missing = "wildcard" if self.wild else "category"
        keys = ", ".join(self.keys)
        quoted = marker.replace("'", "''")
        # a suppressed list holds the mark and nothing else
        marks = {c: f"[{quoted}]" if c in self._lists["released"] else quoted for c in self.keys}
        gone = " AND ".join(f"{c} IS NOT DISTINCT FROM '{mark}'" for c, mark in marks.items())
        lost = int(self._one(f"SELECT count(*) FROM released WHERE {gone}"))
        self.suppressed = 0 if lost == self._size["released"] else lost
        self._ask(f"CREATE TABLE kept AS SELECT * FROM released {f'WHERE NOT ({gone})' if self.suppressed else ''}")
        gaps = [f"(CASE WHEN {c} IS NULL THEN {1 << i} ELSE 0 END)" for i, c in enumerate(self.keys) if c in self.wild]
        mask = " + ".join(["0", *gaps])
        self._ask(
            f"CREATE TABLE tuples AS SELECT *, CAST(row_number() OVER () AS BIGINT) AS class_, {mask} AS gaps_ FROM "
            f"(SELECT {keys}, count(*) AS own_ FROM kept GROUP BY ALL)"
        )
        self._ask("CREATE TABLE sizes (class_ BIGINT, own BIGINT, n BIGINT)")
        if missing == "category":
            self._ask("INSERT INTO sizes SELECT class_, own_, own_ FROM tuples")
        else:
            parts = " UNION ALL ".join(
                f"SELECT a.class_, b.own_ FROM tuples a JOIN tuples b ON {how}" for how in self._fits("b.gaps_")
            )
            self._ask(
                f"INSERT INTO sizes SELECT t.class_, any_value(t.own_), sum(p.own_) FROM tuples t "
                f"JOIN ({parts}) p USING (class_) GROUP BY t.class_"
            )
        self.classes = int(self._one("SELECT count(*) FROM tuples"))

    def _fits(self, other_gaps: str) -> list[str]:
        """Conditions under which tuple a fits tuple b, one for each two patterns of missing columns."""
        patterns = [row[0] for row in self._ask("SELECT DISTINCT gaps_ FROM tuples")]
        found = []
        for p in patterns:
            for q in patterns:
                both = [c for i, c in enumerate(self.keys) if not (p | q) >> i & 1]
                same = "".join(f" AND a.{c} IS NOT DISTINCT FROM b.{c}" for c in both)
                found.append(f"a.gaps_ = {p} AND {other_gaps} = {q}{same}")
        return found

    def _counted_by(self, column: str) -> str:
        """Table (class_, value, n) of one more column under each class, made once."""
        if column not in self._columns["released"]:
            raise _Unseen(f"column {column!r} is not in the release, so the promise cannot be checked on it")
        if column not in self._counted:
            table = f"cells_{len(self._counted)}"
            join = " AND ".join(f"k.{c} IS NOT DISTINCT FROM t.{c}" for c in self.keys)
            grouped = (
                f"SELECT {', '.join(self.keys)}, {self._in('released', column)} AS value, count(*) AS n "
                f"FROM kept GROUP BY ALL"
            )
            own = f"SELECT t.class_, k.value, k.n FROM ({grouped}) k JOIN tuples t ON {join}"
            if self.missing == "category":
                self._ask(f"CREATE TABLE {table} AS {own}")
            else:
                self._ask(f"CREATE TABLE {table}_own AS {own}")
                keys = ", ".join(f"t.{c}" for c in self.keys)
                tagged = f"(SELECT o.value, o.n, t.gaps_, {keys} FROM {table}_own o JOIN tuples t USING (class_))"
                parts = " UNION ALL ".join(
                    f"SELECT a.class_, b.value, b.n FROM tuples a JOIN {tagged} b ON {how}"
                    for how in self._fits("b.gaps_")
                )
                self._ask(
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
            unseen = promise.get("about") == "mechanism"
            why = "the recoding does not keep it" if unseen else "the verifier does not know this promise"
            return Check(promise, elsewhere, reason="" if elsewhere else why)
        try:
            found = reader(promise, evidence)
        except _Unseen as unseen:
            return Check(promise, elsewhere, reason="" if elsewhere else str(unseen))
        except KeyError as key:
            return Check(promise, False, reason=f"the promise lacks its parameter {key}")
        except (TypeError, ValueError):
            return Check(promise, False, reason="a parameter of the promise is no number")
        if not found.holds and promise.get("about") == "mechanism":
            hint = "a promise about a mechanism is not visible in a file; check the recoding"
            return Check(promise, elsewhere, reason="" if elsewhere else hint)
        return found

    def _judged(self, promise: dict[str, Any], per_class: str, bad: str, worst: str) -> Check:
        """Outcome for a query that gives `class_` and `x`: classes where `bad` holds, the worst `x` (min or max)."""
        query = f"SELECT s.class_, s.own, p.x FROM ({per_class}) p JOIN sizes s USING (class_)"
        (found,) = self._ask(
            f"SELECT count(*) FILTER ({bad}), coalesce(sum(own) FILTER ({bad}), 0), {worst}(x) FROM ({query})"
        )
        broken, records, extreme = found
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
        reference = dict(self._ask(f"SELECT {self._in(whole, column)}, count(*) FROM {whole} GROUP BY ALL"))
        rows = self._ask(f"SELECT class_, value, n FROM {table} ORDER BY class_")
        limit = float(promise["t"]) + _SLACK
        try:
            far = class_distances(rows, reference, promise, evidence.get(column, {}), limit)
        except LookupError as error:
            raise _Unseen(str(error.args[0])) from None
        bad = [c for c, x in far.items() if x > limit]
        own = dict(self._ask("SELECT class_, own FROM sizes"))
        if bad:
            self._failed.append(f"SELECT unnest([{', '.join(map(str, bad))}]) AS class_")
        return Check(promise, not bad, len(bad), sum(own[c] for c in bad), max(far.values(), default=None))

    def _fitting(self) -> str:
        """Table of (class_, own, people): how many of the population fit each class."""
        if "population" not in self._size:
            raise _Unseen("the promise compares with a population; give it to the verifier, recoded like the release")
        lacking = [name for name in self.names if name not in self._columns["population"]]
        if lacking:
            raise _Unseen(f"the population lacks the column {lacking[0]!r}")
        if self.missing == "wildcard":
            open_ = {c: f" OR t.{c} IS NULL OR p.{c} IS NULL" if c in self.wild else "" for c in self.keys}
            same = " AND ".join(f"(t.{c} IS NOT DISTINCT FROM p.{c}{also})" for c, also in open_.items())
        else:
            same = " AND ".join(f"t.{c} IS NOT DISTINCT FROM p.{c}" for c in self.keys)
        grouped = f"(SELECT *, count(*) AS people FROM ({self._population()}) GROUP BY ALL)"
        return (
            f"SELECT t.class_, any_value(t.own_) AS own_, coalesce(sum(p.people), 0) AS people "
            f"FROM tuples t LEFT JOIN {grouped} p ON {same} GROUP BY t.class_"
        )

    def _population(self) -> str:
        """The population's quasi-identifiers under the release's names."""
        pairs = zip(self.keys, self.names, strict=True)
        listed = ", ".join(f"{self._in('population', name)} AS {key}" for key, name in pairs)
        return f"SELECT {listed} FROM population"

    def _map(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        query = f"SELECT class_, people AS x FROM ({self._fitting()})"
        return self._judged(promise, query, f"x < {int(promise['k'])}", "min")

    def _presence(self, promise: dict[str, Any], evidence: Mapping[str, Any]) -> Check:
        low, high = float(promise["lower"]) - _SLACK, float(promise["upper"]) + _SLACK
        query = f"SELECT class_, own_ / nullif(people, 0) AS x FROM ({self._fitting()})"
        found = self._judged(promise, query, f"x IS NULL OR x < {low!r} OR x > {high!r}", "max")
        if low > 0 and found.holds:
            join = " AND ".join(f"t.{c} IS NOT DISTINCT FROM p.{c}" for c in self.keys)
            alone = int(self._one(f"SELECT count(*) FROM ({self._population()}) p ANTI JOIN tuples t ON {join}"))
            if alone:
                return Check(promise, False, 0, 0, 0.0, f"{alone:,} people of the population fit no released record")
        return found

    # ---- remarks ---------------------------------------------------------------------------------------------------

    def remarks(self, k: int) -> list[Finding]:
        """What a publisher should look at though no promise is broken; `k` is the largest one promised."""
        found = []
        if 0 < self.suppressed < k:
            found.append(
                Finding(
                    "W211",
                    "release",
                    f"only {self.suppressed} record(s) are suppressed, fewer than {k}; better drop them",
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
        keys = ", ".join(self.keys)
        union = " UNION ".join(self._failed)
        return tuple(self._ask(f"SELECT {keys} FROM tuples WHERE class_ IN ({union}) ORDER BY class_ LIMIT {limit}"))


class _Unseen(Exception):
    """A promise that cannot be checked with what there is."""


def _numbered(reader: Any, pa: Any) -> Any:
    """A stream of record batches with its columns called c0, c1, ..."""
    schema = pa.schema([field.with_name(f"c{i}") for i, field in enumerate(reader.schema)])
    batches = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in reader)
    return pa.RecordBatchReader.from_batches(schema, batches)


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
