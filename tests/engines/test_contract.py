"""What every engine must do. Add an engine to `ENGINES` and it is held to all of this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.engines import Reading, Writing, engine
from keepsense.errors import BadInput, InputWarning
from keepsense.recoding import Cells, Cut, Cuts, Draws

ENGINES = ["duckdb"]
PEOPLE = {
    "name": ["Ann", "Bo", "Cy", "Di", "Ed"],
    "job": ["nurse", "clerk", "nurse", None, "clerk"],
    "age": [31, 40, 31, 52, 40],
    "illness": ["flu", "flu", "cold", "flu", "cold"],
}


@pytest.fixture(params=ENGINES)
def duck(request: pytest.FixtureRequest) -> Iterator[Any]:
    with engine(request.param) as running:
        yield running


def rows(table: Any) -> list[tuple[Any, ...]]:
    return list(zip(*table.arrow().to_pydict().values(), strict=True))


def test_counts_are_sorted_and_complete(duck: Any) -> None:
    counts = duck.count(duck.read(PEOPLE), ["job", "age"], histograms=["illness"], sums=["age"])
    tuples = [(counts.values[0][a], counts.values[1][b]) for a, b in counts.codes.tolist()]
    assert tuples == [("clerk", 40), ("nurse", 31), (None, 52)]
    assert counts.weights.tolist() == [2, 2, 1]
    assert counts.histograms["illness"].values == ("cold", "flu")
    assert counts.histograms["illness"].table().tolist() == [[1, 1], [1, 1], [0, 1]]
    assert counts.sums["age"].tolist() == [80.0, 62.0, 52.0]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_counting_equals_counting_in_memory(cells: list[tuple[Any, int]], random: Any) -> None:
    with engine() as duck:
        columns = {"x": [c[0] for c in cells], "y": [c[1] for c in cells]}
        table = duck.read(columns)
        counts = duck.count(table, ["x", "y"], histograms=["x"])
        seen = {
            (counts.values[0][a], counts.values[1][b]): int(w)
            for (a, b), w in zip(counts.codes.tolist(), counts.weights.tolist(), strict=True)
        }
        assert seen == Counter(cells)
        random.shuffle(cells)
        again = duck.count(duck.read({"x": [c[0] for c in cells], "y": [c[1] for c in cells]}), ["x", "y"])
        assert again.codes.tolist() == counts.codes.tolist()
        assert again.values == counts.values


def test_cuts_and_suppressed_classes(duck: Any) -> None:
    rule = Cuts(
        (
            Cut("job", ("nurse", "clerk", None), ("worker", "worker", "none")),
            Cut("age", (31, 40, 52), ("30-39", "40-59", "40-59")),
        ),
        frozenset({("none", "40-59")}),
    )
    released = duck.recode(duck.read(PEOPLE), [rule], drop=["name"])
    assert released.columns == ("job", "age", "illness")
    assert rows(released) == [
        ("worker", "30-39", "flu"),
        ("worker", "40-59", "flu"),
        ("worker", "30-39", "cold"),
        ("*", "*", "flu"),
        ("worker", "40-59", "cold"),
    ]
    counts = duck.count(duck.read(PEOPLE), ["job", "age"])
    spelled = duck.recode(duck.read(PEOPLE), [rule.cells(counts).bound(counts)], drop=["name"])
    assert rows(spelled) == rows(released), "a rule and the same rule spelled out agree"


def test_a_cut_may_mix_original_and_generalized_values(duck: Any) -> None:
    rule = Cuts((Cut("age", (31, 40, 52), (31, "40s", "50s")),), frozenset({("50s",)}))
    released = rows(duck.recode(duck.read({"age": PEOPLE["age"]}), [rule]))
    assert [age for (age,) in released] == ["31", "40s", "31", "*", "40s"]


def test_several_outputs_are_dealt_to_rows_at_random(duck: Any) -> None:
    n = 400
    counts = Counts.of({"job": ["nurse"] * n})
    cells = Cells(("job",), (("medic", "other"),), np.array([0, 0]), np.array([[0], [1]]), np.array([300, 100]))
    table = duck.read({"job": ["nurse"] * n, "row": list(range(n))})
    first = rows(duck.recode(table, [cells.bound(counts)], rng=1))
    assert Counter(job for job, _ in first) == {"medic": 300, "other": 100}
    assert rows(duck.recode(table, [cells.bound(counts)], rng=1)) == first, "a seed repeats the deal"
    assert rows(duck.recode(table, [cells.bound(counts)], rng=2)) != first
    assert sorted(r for _, r in first) == list(range(n)), "nobody is lost"
    place = [r for job, r in first if job == "other"]
    assert 100 < np.mean(place) < 300, "spread over the table, not at its end"


def test_draws_follow_their_distribution(duck: Any) -> None:
    n = 4000
    draws = Draws("sex", ("f", "m"), ("f", "m", "x"), np.array([[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]))
    table = duck.read({"sex": ["f"] * n + ["m"] * n})
    released = [sex for (sex,) in rows(duck.recode(table, [draws], rng=3))]
    seen = Counter(released[:n])
    assert set(released[n:]) == {"x"}
    assert set(seen) == {"f", "m"}
    assert abs(seen["f"] - 0.75 * n) < 5 * (n * 0.75 * 0.25) ** 0.5


def test_rows_a_recoding_does_not_cover_stop_it(duck: Any) -> None:
    with pytest.raises(BadInput, match=r"row\(s\) hold values of job"):
        duck.recode(duck.read(PEOPLE), [Cuts((Cut("job", ("nurse",), ("medic",)),))])
    counts = Counts.of({"job": ["nurse", "nurse"]})
    cells = Cells(("job",), (("medic",),), np.array([0]), np.array([[0]]), np.array([2])).bound(counts)
    with pytest.raises(BadInput, match="does not know"):
        duck.recode(duck.read(PEOPLE), [cells])
    with pytest.raises(BadInput, match="bind it"):
        duck.recode(duck.read(PEOPLE), [Cells(("job",), (("m",),), np.array([0]), np.array([[0]]), np.array([2]))])
    with pytest.raises(BadInput, match="add up"):
        Cells(("job",), (("m",),), np.array([0]), np.array([[0]]), np.array([1])).bound(counts)


def test_unknown_columns_get_a_hint(duck: Any) -> None:
    with pytest.raises(BadInput, match="Did you mean job"):
        duck.count(duck.read(PEOPLE), ["jobb"])
    with pytest.raises(BadInput, match="keep at least one"):
        duck.recode(duck.read({"a": [1]}), [], drop=["a"])


def test_map_batches(duck: Any) -> None:
    import pyarrow as pa

    def shout(batch: Any) -> Any:
        return pa.record_batch({"job": [None if j is None else j.upper() for j in batch.column("job").to_pylist()]})

    assert [r[0] for r in rows(duck.map_batches(duck.read(PEOPLE), shout, size=2))] == [
        "NURSE",
        "CLERK",
        "NURSE",
        None,
        "CLERK",
    ]


def test_rows_that_hold_all_of_some_values_are_left_out(duck: Any) -> None:
    table = duck.read({"job": ["*", "nurse", "*", None], "age": ["*", "*", "30", None], "n": [1, 2, 3, 4]})
    left = duck.leave_out(table, {"job": "*", "age": "*"})
    assert rows(left) == [("nurse", "*", 2), ("*", "30", 3), (None, None, 4)]
    assert duck.count(left, ["job"]).total == 3
    assert rows(duck.leave_out(table, {})) == rows(table)
    assert rows(duck.leave_out(table, {"job": "pilot"})) == rows(table)
    with pytest.raises(BadInput, match="Did you mean job"):
        duck.leave_out(table, {"jobb": "*"})


def test_rows_are_left_out_by_lists_and_other_types_too(duck: Any) -> None:
    table = duck.read({"likes": [["*"], ["tea", "milk"], None], "age": [1, 2, 3]})
    assert [age for _, age in rows(duck.leave_out(table, {"likes": ("*",)}))] == [2, 3]
    assert [age for _, age in rows(duck.leave_out(table, {"likes": ("tea", "milk"), "age": 2}))] == [1, 3]
    assert rows(duck.leave_out(table, {"likes": "*"})) == rows(table), "a text is no list"


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "jsonl"])
def test_as_written_is_what_comes_back(duck: Any, tmp_path: Path, ending: str) -> None:
    table = duck.read({"t": ["=1+1", "-3", "plain", None, "@x"], "n": [1, 2, 3, 4, 5]})
    target = tmp_path / f"x.{ending}"
    duck.write(table, target)
    expected = [t for t, _ in rows(duck.as_written(table, target.name))]
    assert duck.read(target).arrow()["t"].to_pylist() == expected
    assert (expected[0] == "'=1+1") == (ending in ("csv", "xlsx"))
    plain = duck.as_written(table, target.name, Writing(spreadsheet_safe=False))
    assert rows(plain) == rows(table)


def test_a_stream_has_every_row_in_order_or_shuffled(duck: Any) -> None:
    table = duck.read({"n": list(range(300))})
    stream = duck.stream(table, size=100)
    assert [batch.num_rows for batch in stream] == [100, 100, 100]
    assert duck.stream(table).read_all()["n"].to_pylist() == list(range(300))
    shuffled = [duck.stream(table, Writing(shuffle=True), rng=5).read_all()["n"].to_pylist() for _ in range(2)]
    assert shuffled[0] == shuffled[1], "a seed repeats the order"
    assert shuffled[0] != list(range(300))
    assert sorted(shuffled[0]) == list(range(300))


def test_a_stream_gives_a_database_texts_as_they_are(duck: Any) -> None:
    table = duck.read({"t": ["=1+1"]})
    assert duck.stream(table).read_all().to_pydict() == {"t": ["=1+1"]}, "no spreadsheet opens it"
    assert duck.stream(table, Writing(format="csv")).read_all().to_pydict() == {"t": ["'=1+1"]}


def test_readers_wait_until_they_are_read(duck: Any) -> None:
    first = duck.reader(duck.read(PEOPLE), ["age", "job"])
    second = duck.reader(duck.read({"n": list(range(10))}), size=4)
    assert first.schema.names == ["age", "job"]
    assert [batch.num_rows for batch in second] == [4, 4, 2]
    assert first.read_all().to_pydict() == {"age": PEOPLE["age"], "job": PEOPLE["job"]}
    with pytest.raises(BadInput, match="Did you mean age"):
        duck.reader(duck.read(PEOPLE), ["agee"])


def test_cells_that_differ_are_counted_row_by_row(duck: Any) -> None:
    before = duck.read({"job": ["nurse", "clerk", None, "cook"], "age": [31, 40, 52, 60]})
    after = duck.read({"age": ["31", "40-49", "52", None], "job": ["clerk", "nurse", None, "cook"]})
    assert duck.differing(before, after, ["job", "age"]) == {"job": 0.5, "age": 0.5}
    assert duck.differing(before, before, ["job"]) == {"job": 0.0}
    assert duck.differing(before, after, []) == {}
    with pytest.raises(BadInput, match="has no column 'size'"):
        duck.differing(before, after, ["size"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "arrow", "xlsx", "duckdb", "sqlite"])
def test_every_format_comes_back(duck: Any, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"people.{ending}"
    duck.write(duck.read(PEOPLE), target, Writing(delimiter="\t" if ending == "tsv" else ","))
    again = duck.read(target)
    assert again.columns == tuple(PEOPLE)
    text = ending in ("csv", "tsv")
    assert [str(a) for a in again.arrow()["age"].to_pylist()] == ["31", "40", "31", "52", "40"]
    assert again.arrow()["job"].to_pylist() == PEOPLE["job"]
    assert text == (again.types[2].upper() == "VARCHAR")
    assert [p.name for p in tmp_path.iterdir()] == [target.name], "nothing half-written stays"


def test_frames_of_other_libraries_come_in(duck: Any) -> None:
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for frame in (polars.DataFrame(PEOPLE), polars.DataFrame(PEOPLE).lazy(), pandas.DataFrame(PEOPLE)):
        assert duck.count(duck.read(frame), ["age"]).weights.tolist() == [2, 2, 1]
    with pytest.raises(BadInput, match="cannot read rows from a int"):
        duck.read(7)


def test_text_stays_text(duck: Any, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('code;note\n007;"a;b"\n1.50;\n', encoding="utf-8")
    table = duck.read(tmp_path / "x.csv")
    assert table.arrow().to_pydict() == {"code": ["007", "1.50"], "note": ["a;b", None]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings_are_sniffed(duck: Any, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "x.csv").write_bytes("place,n\nOrléans,1\nMálaga,2\n".encode(encoding))
    if encoding == "cp1252":
        with pytest.warns(InputWarning, match="read as Windows-1252"):
            duck.read(tmp_path / "x.csv")
        table = duck.read(tmp_path / "x.csv", Reading(encoding="cp1252"))
        assert table.arrow()["place"].to_pylist() == ["Orléans", "Málaga"]
        return
    assert duck.read(tmp_path / "x.csv").arrow().to_pydict() == {"place": ["Orléans", "Málaga"], "n": ["1", "2"]}


def test_csv_cannot_carry_formulas(duck: Any, tmp_path: Path) -> None:
    cells = ["=1+1", "+cmd", "-3", "@x", "plain", "-x", ""]
    duck.write(duck.read({"t": cells}), tmp_path / "x.csv")
    written = duck.read(tmp_path / "x.csv").arrow()["t"].to_pylist()
    assert written[:6] == ["'=1+1", "'+cmd", "-3", "'@x", "plain", "'-x"]
    duck.write(duck.read({"t": cells}), tmp_path / "y.csv", Writing(spreadsheet_safe=False))
    assert duck.read(tmp_path / "y.csv").arrow()["t"].to_pylist()[0] == "=1+1"


def test_shuffled_rows(duck: Any, tmp_path: Path) -> None:
    table = duck.read({"n": list(range(200))})
    duck.write(table, tmp_path / "a.parquet", Writing(shuffle=True))
    shuffled = duck.read(tmp_path / "a.parquet").arrow()["n"].to_pylist()
    assert shuffled != list(range(200))
    assert sorted(shuffled) == list(range(200))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "the file is empty"),
        ("x.parquet", b"PAR1 and nothing", "cannot be read"),
        ("x.xlsx", b"no workbook", "not an Excel workbook"),
        ("x.arrow", b"no arrow", "not an Arrow file"),
        ("x.sqlite", b"no base" * 99, "not an SQLite database"),
        ("x.jsonl", b"{not json", "cannot be read"),
        ("x.strange", b"?", "tells no format"),
    ],
)
def test_bad_files_are_refused(duck: Any, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message) as refusal:
        duck.read(tmp_path / name)
    assert str(tmp_path) not in str(refusal.value), "no path leaks into a message"


def test_more_bad_input(duck: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        duck.read(tmp_path / "none.csv")
    with pytest.raises(BadInput, match="folder"):
        duck.read(tmp_path, Reading(format="csv"))
    (tmp_path / "x.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no encoding is called"):
        duck.read(tmp_path / "x.csv", Reading(encoding="utf-99"))
    with pytest.raises(BadInput, match="different lengths"):
        duck.read({"a": [1, 2], "b": [1]})
    (tmp_path / "y.csv").write_bytes(b"\xff\xfea\x00\n\x00\x00\xd8\x00")
    with pytest.raises(BadInput, match="is not valid utf-16"):
        duck.read(tmp_path / "y.csv")


def test_a_failed_write_leaves_nothing(duck: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        duck.write(duck.read(PEOPLE), tmp_path / "nowhere" / "x.csv")
    with pytest.raises(BadInput, match="tells no format"):
        duck.write(duck.read(PEOPLE), tmp_path / "x.weird")
    assert list(tmp_path.iterdir()) == []


def test_unknown_engines() -> None:
    with pytest.raises(BadInput, match="no engine is called 'duckbd'"):
        engine("duckbd")
