"""Spark as an engine: its own frames, chance that does not depend on partitions, and the same as DuckDB decides."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.spark import NEEDS_JAVA, session, started

import keepsense as ks
from keepsense.counts import Counts
from keepsense.engines.protocol import Reading, at_home, engine
from keepsense.engines.spark import count, input_files
from keepsense.engines.spark import count as counting
from keepsense.engines.spark.recode import numbers
from keepsense.engines.spark.session import spark_session
from keepsense.errors import BadInput, MissingExtra
from keepsense.project.project_file import EngineChoice, Project
from keepsense.recoding import Cells, Draws
from keepsense.release.run import run
from keepsense.sample_people import people

COLUMNS = {
    "sex": {"role": "quasi-identifier"},
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "postcode": {"role": "quasi-identifier", "kind": "code"},
    "diagnosis": {"role": "sensitive"},
}


def project(named: str, **keys: Any) -> Project:
    return Project.model_validate(
        {
            "unlisted": "drop",
            "columns": COLUMNS,
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "method": {"name": named},
            "release": {"folder": "release", "file": "people.parquet", "suppression": 0.05},
            **keys,
        }
    )


def rows_of(file: Path) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*pq.read_table(file).to_pydict().values(), strict=True))


def spread(table: Any, parts: int) -> Any:
    """A frame of Spark with the rows of an Arrow table, in another order, in so many partitions."""
    order = np.random.default_rng(parts).permutation(table.num_rows)
    return session().createDataFrame(table.take(order)).repartition(parts)


# ---- what it takes ---------------------------------------------------------------------------------------------------


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyspark", None)
    with pytest.raises(MissingExtra, match=r"keepsense\[spark\]"):
        engine("spark")


def test_without_java_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pyspark = pytest.importorskip("pyspark")
    monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MissingExtra, match="Java 17"):
        engine("spark")


def test_keys_of_a_cluster_are_for_engines_that_have_one() -> None:
    assert EngineChoice(name="spark", master="spark://head:7077").options() == {"master": "spark://head:7077"}
    with pytest.raises(ValueError, match="has no master"):
        EngineChoice(name="duckdb", master="spark://head:7077")
    assert at_home({"job": ["nurse"]}) is None


@pytest.mark.long
@NEEDS_JAVA
def test_a_session_that_runs_is_used_and_not_replaced(tmp_path: Path) -> None:
    running = session()
    assert spark_session().sparkContext is running.sparkContext
    with pytest.raises(BadInput, match="runs in this program already"):
        engine("spark://127.0.0.1:1")
    with pytest.raises(BadInput, match="staging folder of the engine does not exist"):
        engine("spark", session=running, staging=str(tmp_path / "nowhere"))
    with engine("spark", session=running, staging=str(tmp_path)) as rows:
        rows.read({"job": ["nurse"]})
        assert len(list(tmp_path.iterdir())) == 1, "what goes to the cluster lies in the staging folder"
    assert not list(tmp_path.iterdir())
    assert running.range(3).count() == 3, "the session stays"


# ---- chance ----------------------------------------------------------------------------------------------------------


def test_numbers_depend_on_the_key_and_the_row_alone() -> None:
    identities = pa.array([str(i) for i in range(20_000)])
    drawn = numbers(b"k" * 16)(identities).to_numpy()
    parts = {}
    for some in (identities[:7], identities[7:12_000], identities[12_000:]):
        parts |= dict(zip(some.to_pylist(), numbers(b"k" * 16)(some).to_pylist(), strict=True))
    assert [parts[row] for row in identities.to_pylist()] == drawn.tolist()
    share = (drawn.view(np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    assert abs(share.mean() - 0.5) < 5 * (1 / 12 / len(share)) ** 0.5
    assert len(set(drawn.tolist())) == len(drawn)


@pytest.mark.long
@NEEDS_JAVA
def test_draws_and_deals_do_not_depend_on_partitions_and_plans_do_not_show_the_key() -> None:
    table = people(600, 1).select(["sex", "age"])
    sexes = np.array(table["sex"].to_pylist())
    values = tuple(sorted(set(sexes)))
    counts = Counts.of({"sex": sorted(sexes)})
    weights = counts.weights
    codes = np.array([[0], [1], [0], [1]])
    dealt = np.array([weights[0] - 20, 20, 30, weights[1] - 30])
    rules = [
        Cells(("sex",), (("a", "b"),), np.array([0, 0, 1, 1]), codes, dealt).bound(counts),
        Draws("sex", ("a", "b"), ("a", "b"), np.array([[0.8, 0.2], [0.3, 0.7]])),
    ]
    assert values == counts.values[0]
    released = []
    with started("spark") as running:
        for frame in (spread(table, 1), spread(table, 5), spread(table, 5)):
            after = running.recode(running.read(frame), rules, rng=11)
            assert not after.ordered
            released.append(Counter(zip(*running.frame(after).to_pydict().values(), strict=True)))
        plan = after.frame._jdf.queryExecution().toString()
        from keepsense.secure_random import generator

        key = generator(11).bytes(16)
        assert key.hex() not in plan
        assert str(key) not in plan
        other = running.recode(running.read(spread(table, 5)), rules, rng=12)
        assert Counter(zip(*running.frame(other).to_pydict().values(), strict=True)) != released[0]
    assert released[0] == released[1] == released[2]


# ---- the same as DuckDB ----------------------------------------------------------------------------------------------


@pytest.mark.long
@NEEDS_JAVA
@pytest.mark.parametrize(
    ("few", "many", "sums"),
    [(0, 0, ["age"]), (0, 0, []), (0, 10**6, []), (0, 10**6, ["age"]), (10**6, 10**6, ["age"])],
    ids=["packed and added up", "packed", "coded by tasks", "packed for sums", "coded by the driver"],
)
def test_counts_are_those_of_duckdb(few: int, many: int, sums: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "FEW", few)
    monkeypatch.setattr(counting, "MANY", many)
    monkeypatch.setattr(count, "_TOGETHER", 70)
    whole = people(500, 2)
    gaps = pa.array(np.arange(500) % 7 == 0)
    table = whole.set_column(2, "age", pc.if_else(gaps, None, whole["age"]))
    names, further = ["sex", "age", "postcode"], ["diagnosis", "hobby", "age"]
    with started("spark") as spark, engine("duckdb") as duck:
        rows = replace(spark.read(spread(table, 3)), size=500)
        here = spark.count(rows, names, histograms=further, sums=sums)
        there = duck.count(duck.read(table), names, histograms=further, sums=sums)
    same_counts(here, there)


def same_counts(here: Counts, there: Counts) -> None:
    assert here.values == there.values
    assert np.array_equal(here.codes, there.codes)
    assert np.array_equal(here.weights, there.weights)
    assert here.sums.keys() == there.sums.keys()
    assert all(np.array_equal(here.sums[name], there.sums[name]) for name in here.sums)
    assert here.histograms.keys() == there.histograms.keys()
    for name in here.histograms:
        assert here.histograms[name].values == there.histograms[name].values
        assert np.array_equal(here.histograms[name].table(), there.histograms[name].table())


@pytest.mark.long
@NEEDS_JAVA
@pytest.mark.parametrize("together", [70, 10**6])
def test_counts_of_parquet_files_are_those_of_duckdb(
    together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count, "_TOGETHER", together)
    whole = people(500, 2).select(["sex", "age", "postcode", "hobby"])
    every = pa.DictionaryArray.from_arrays(pa.array(np.arange(500) % 3, pa.int32()), pa.array(["x", "y", "z", "never"]))
    gaps = pa.array(np.arange(500) % 7 == 0)
    table = whole.set_column(2, "postcode", pc.if_else(gaps, None, whole["postcode"])).append_column("band", every)
    (tmp_path / "people.parquet").mkdir()
    for i in range(2):
        file = tmp_path / "people.parquet" / f"part-{i}.parquet"
        pq.write_table(table.slice(250 * i, 250), file, row_group_size=60)
    names, further = ["sex", "age", "postcode", "band"], ["hobby", "age"]
    with started("spark") as spark, engine("duckdb") as duck:
        read = spark.read(tmp_path / "people.parquet")
        assert len(read.files) == 2
        assert not read.only(names).files
        assert not spark.leave_out(read, {"sex": "male"}).files, "other rows than those of the files"
        assert not spark.read(tmp_path / "people.parquet", Reading(empty=("x",))).files, "other cells"
        there = duck.count(duck.read(table), names, histograms=further)
        same_counts(spark.count(read, names, histograms=further), there)
        fewer = spark.count(spark.leave_out(read, {"sex": "male"}), names)
        assert fewer.total == there.total - there.rows_of("sex")["male"]


@pytest.mark.long
@NEEDS_JAVA
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_a_whole_run_releases_and_describes_the_same(method: str, tmp_path: Path) -> None:
    """One method for each form of recoding; what all methods decide is compared in test_methods.py."""
    table = people(800, 3)
    done = {}
    for name in ("duckdb", "spark"):
        (tmp_path / name).mkdir()
        with started(name) as rows:
            done[name] = run(project(method), data=table, folder=tmp_path / name, engine=rows, rng=5)
    first, second = done["duckdb"], done["spark"]
    assert rows_of(first.file) == rows_of(second.file)
    told = [{k: v for k, v in d.description.items() if k not in ("sha256", "keepsense")} for d in done.values()]
    assert told[0] == told[1], "what was lost, and which risk is left"
    assert second.verification.ok


@pytest.mark.long
@NEEDS_JAVA
def test_a_frame_of_spark_is_anonymized_where_it_is() -> None:
    table = people(500, 5).select(["sex", "age", "diagnosis", "hobby"])
    frame = spread(table, 4)
    assert at_home(frame) == "spark"
    wishes: dict[str, Any] = {"k": 5, "quasi_identifiers": ["sex", "age"], "sensitive": "diagnosis", "seed": 3}
    release = ks.anonymize(frame, insensitive="hobby", method="optimal", **wishes)
    assert release.verification.ok
    assert release.outcome.job.engine.name == "spark"
    after = release.frame
    assert type(after) is type(frame)
    assert dict(after.dtypes)["diagnosis"] == "string"
    assert Counter(after.select("hobby").toArrow()["hobby"].to_pylist()).total() <= 500
    other = ks.anonymize(table, insensitive="hobby", method="optimal", engine="duckdb", **wishes).frame
    same = sorted(map(str, after.toArrow().to_pylist()))
    assert same == sorted(map(str, other.to_pylist())), "and as it would be elsewhere"


@pytest.mark.long
@NEEDS_JAVA
def test_a_folder_of_parquet_files_is_read_by_the_executors(tmp_path: Path) -> None:
    table = people(300, 6).drop_columns(["interests"])
    (tmp_path / "people.parquet").mkdir()
    for i in range(3):
        pq.write_table(table.slice(100 * i, 100), tmp_path / "people.parquet" / f"part-{i}.parquet", row_group_size=40)
    with started("spark") as running:
        read = running.read(tmp_path / "people.parquet")
        assert (read.rows, read.columns) == (300, tuple(table.column_names))
        assert running.frame(read).to_pydict() == table.to_pydict(), "in the order of the files"
        (tmp_path / "empty.parquet").mkdir()
        with pytest.raises(BadInput, match="holds no Parquet file"):
            running.read(tmp_path / "empty.parquet")


@pytest.mark.long
@NEEDS_JAVA
@pytest.mark.parametrize("splits", [1, 7])
def test_a_plain_text_file_is_read_by_the_executors_as_duckdb_reads_it(
    splits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "LEAST", 0)
    rows = [f"{i};{'x' * (i % 17)};{i % 5} käse|^]\\.;" for i in range(500)]
    for end in ("\n", "\r\n"):
        (tmp_path / "plain.csv").write_bytes(end.join(["job;age;note;job", *rows, ""]).encode())
        with started("spark") as spark, engine("duckdb") as duck:
            size = (tmp_path / "plain.csv").stat().st_size // splits
            spark._session.conf.set("spark.sql.files.maxPartitionBytes", size)
            spark._session.conf.set("spark.sql.files.openCostInBytes", 0)
            table = input_files.of_lines(spark._session, spark._room, str(tmp_path / "plain.csv"), Reading())
            assert table is not None
            there = duck.frame(duck.read(tmp_path / "plain.csv"))
            assert spark.frame(table).to_pydict() == there.to_pydict(), "in the order of the file, too"
            assert (table.rows, table.columns) == (500, ("job", "age", "note", "job_1"))


@pytest.mark.long
@NEEDS_JAVA
def test_any_other_text_file_passes_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "LEAST", 0)
    others = {
        "quoted.csv": b'job,note\nnurse,"a,b"\n',
        "broken.csv": b'job,note\nnurse,"a\nb"\n',
        "gap.csv": b"job,note\nnurse,a\n\nclerk,b\n",
        "marked.csv": b"\xef\xbb\xbfjob,note\nnurse,a\n",
        "lone.csv": b"job\nnurse\n",
        "people.jsonl": b'{"job": "nurse", "note": "a"}\n',
    }
    with started("spark") as spark, engine("duckdb") as duck:
        for name, content in others.items():
            (tmp_path / name).write_bytes(content)
            assert input_files.of_lines(spark._session, spark._room, str(tmp_path / name), Reading()) is None, name
            here, there = (rows.frame(rows.read(tmp_path / name)).to_pydict() for rows in (spark, duck))
            assert here == there, name
        (tmp_path / "ragged.csv").write_bytes(b"job,note\nnurse,a\nclerk\n")
        with pytest.raises(BadInput, match="has 1 cells, but the header has 2"):
            spark.read(tmp_path / "ragged.csv")
