"""What every engine must do: whichever is registered is held to all of this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark import EVERY_ENGINE, started

from keepsense.counts import Counts
from keepsense.engines.formats.table_formats import format_of
from keepsense.engines.protocol import Reading, Writing, engine
from keepsense.errors import BadInput, InputWarning
from keepsense.recoding import Cells, Cut, Cuts, Draws

PEOPLE = {
    "name": ["Ann", "Bo", "Cy", "Di", "Ed"],
    "job": ["nurse", "clerk", "nurse", None, "clerk"],
    "age": [31, 40, 31, 52, 40],
    "illness": ["flu", "flu", "cold", "flu", "cold"],
}


@pytest.fixture(params=EVERY_ENGINE)
def running(request: pytest.FixtureRequest) -> Iterator[Any]:
    with started(request.param) as running:
        yield running


def rows(running: Any, table: Any) -> list[tuple[Any, ...]]:
    return list(zip(*running.frame(table).to_pydict().values(), strict=True))


def test_counts_are_sorted_and_complete(running: Any) -> None:
    counts = running.count(running.read(PEOPLE), ["job", "age"], histograms=["illness"], sums=["age"])
    tuples = [(counts.values[0][a], counts.values[1][b]) for a, b in counts.codes.tolist()]
    assert tuples == [("clerk", 40), ("nurse", 31), (None, 52)]
    assert counts.weights.tolist() == [2, 2, 1]
    assert counts.histograms["illness"].values == ("cold", "flu")
    assert counts.histograms["illness"].table().tolist() == [[1, 1], [1, 1], [0, 1]]
    assert counts.sums["age"].tolist() == [80.0, 62.0, 52.0]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_counting_equals_counting_in_memory(cells: list[tuple[Any, int]], random: Any) -> None:
    counting_equals_counting_in_memory("duckdb", cells, random)


@pytest.mark.parametrize("size", [1, 30])
@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_counting_equals_counting_in_memory_everywhere(name: str, size: int) -> None:
    """The same without a search for examples, which a cluster takes too long for."""
    random = Random(size)
    counting_equals_counting_in_memory(
        name, [(random.choice(["a", "b", None]), random.randint(0, 3)) for _ in range(size)], random
    )


def counting_equals_counting_in_memory(name: str, cells: list[tuple[Any, int]], random: Any) -> None:
    with started(name) as running:
        columns = {"x": [c[0] for c in cells], "y": [c[1] for c in cells]}
        table = running.read(columns)
        counts = running.count(table, ["x", "y"], histograms=["x"])
        seen = {
            (counts.values[0][a], counts.values[1][b]): int(w)
            for (a, b), w in zip(counts.codes.tolist(), counts.weights.tolist(), strict=True)
        }
        assert seen == Counter(cells)
        random.shuffle(cells)
        again = running.count(running.read({"x": [c[0] for c in cells], "y": [c[1] for c in cells]}), ["x", "y"])
        assert again.codes.tolist() == counts.codes.tolist()
        assert again.values == counts.values


def test_cuts_and_suppressed_classes(running: Any) -> None:
    rule = Cuts(
        (
            Cut("job", ("nurse", "clerk", None), ("worker", "worker", "none")),
            Cut("age", (31, 40, 52), ("30-39", "40-59", "40-59")),
        ),
        frozenset({("none", "40-59")}),
    )
    released = running.recode(running.read(PEOPLE), [rule], drop=["name"])
    assert released.columns == ("job", "age", "illness")
    assert rows(running, released) == [
        ("worker", "30-39", "flu"),
        ("worker", "40-59", "flu"),
        ("worker", "30-39", "cold"),
        ("*", "*", "flu"),
        ("worker", "40-59", "cold"),
    ]
    counts = running.count(running.read(PEOPLE), ["job", "age"])
    spelled = running.recode(running.read(PEOPLE), [rule.cells(counts).bound(counts)], drop=["name"])
    assert rows(running, spelled) == rows(running, released), "a rule and the same rule spelled out agree"


def test_a_cut_may_mix_original_and_generalized_values(running: Any) -> None:
    rule = Cuts((Cut("age", (31, 40, 52), (31, "40s", "50s")),), frozenset({("50s",)}))
    released = rows(running, running.recode(running.read({"age": PEOPLE["age"]}), [rule]))
    assert [age for (age,) in released] == ["31", "40s", "31", "*", "40s"]


def test_several_outputs_are_dealt_to_rows_at_random(running: Any) -> None:
    n = 400
    counts = Counts.of({"job": ["nurse"] * n})
    cells = Cells(("job",), (("medic", "other"),), np.array([0, 0]), np.array([[0], [1]]), np.array([300, 100]))
    table = running.read({"job": ["nurse"] * n, "row": list(range(n))})
    first = rows(running, running.recode(table, [cells.bound(counts)], rng=1))
    assert Counter(job for job, _ in first) == {"medic": 300, "other": 100}
    assert rows(running, running.recode(table, [cells.bound(counts)], rng=1)) == first, "a seed repeats the deal"
    assert rows(running, running.recode(table, [cells.bound(counts)], rng=2)) != first
    assert sorted(r for _, r in first) == list(range(n)), "nobody is lost"
    place = [r for job, r in first if job == "other"]
    assert 100 < np.mean(place) < 300, "spread over the table, not at its end"


def test_draws_follow_their_distribution(running: Any) -> None:
    n = 4000
    draws = Draws("sex", ("f", "m"), ("f", "m", "x"), np.array([[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]))
    table = running.read({"sex": ["f"] * n + ["m"] * n})
    released = [sex for (sex,) in rows(running, running.recode(table, [draws], rng=3))]
    seen = Counter(released[:n])
    assert set(released[n:]) == {"x"}
    assert set(seen) == {"f", "m"}
    assert abs(seen["f"] - 0.75 * n) < 5 * (n * 0.75 * 0.25) ** 0.5


def test_rows_a_recoding_does_not_cover_stop_it(running: Any) -> None:
    with pytest.raises(BadInput, match=r"row\(s\) hold values of job"):
        running.recode(running.read(PEOPLE), [Cuts((Cut("job", ("nurse",), ("medic",)),))])
    counts = Counts.of({"job": ["nurse", "nurse"]})
    cells = Cells(("job",), (("medic",),), np.array([0]), np.array([[0]]), np.array([2])).bound(counts)
    with pytest.raises(BadInput, match="does not know"):
        running.recode(running.read(PEOPLE), [cells])
    with pytest.raises(BadInput, match="bind it"):
        running.recode(
            running.read(PEOPLE), [Cells(("job",), (("m",),), np.array([0]), np.array([[0]]), np.array([2]))]
        )
    with pytest.raises(BadInput, match="add up"):
        Cells(("job",), (("m",),), np.array([0]), np.array([[0]]), np.array([1])).bound(counts)


def test_unknown_columns_get_a_hint(running: Any) -> None:
    with pytest.raises(BadInput, match="Did you mean job"):
        running.count(running.read(PEOPLE), ["jobb"])
    with pytest.raises(BadInput, match="keep at least one"):
        running.recode(running.read({"a": [1]}), [], drop=["a"])


def test_rows_that_hold_all_of_some_values_are_left_out(running: Any) -> None:
    table = running.read({"job": ["*", "nurse", "*", None], "age": ["*", "*", "30", None], "n": [1, 2, 3, 4]})
    left = running.leave_out(table, {"job": "*", "age": "*"})
    assert rows(running, left) == [("nurse", "*", 2), ("*", "30", 3), (None, None, 4)]
    assert running.count(left, ["job"]).total == 3
    assert rows(running, running.leave_out(table, {})) == rows(running, table)
    assert rows(running, running.leave_out(table, {"job": "pilot"})) == rows(running, table)
    with pytest.raises(BadInput, match="Did you mean job"):
        running.leave_out(table, {"jobb": "*"})


def test_rows_are_left_out_by_lists_and_other_types_too(running: Any) -> None:
    table = running.read({"likes": [["*"], ["tea", "milk"], None], "age": [1, 2, 3]})
    assert [age for _, age in rows(running, running.leave_out(table, {"likes": ("*",)}))] == [2, 3]
    assert [age for _, age in rows(running, running.leave_out(table, {"likes": ("tea", "milk"), "age": 2}))] == [1, 3]
    assert rows(running, running.leave_out(table, {"likes": "*"})) == rows(running, table), "a text is no list"


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "jsonl"])
def test_what_is_read_as_written_is_what_comes_back(running: Any, tmp_path: Path, ending: str) -> None:
    table = running.read({"t": ["=1+1", "-3", "plain", None, "@x"], "n": [1, 2, 3, 4, 5]})
    target, form = tmp_path / f"x.{ending}", format_of(f"x.{ending}")
    running.write(table, target)
    expected = running.reader(table, ["t"], Writing(format=form.name)).read_all()["t"].to_pylist()
    assert running.frame(running.read(target))["t"].to_pylist() == expected
    assert (expected[0] == "'=1+1") == form.runs_formulas
    plain = running.reader(table, writing=Writing(format=form.name, spreadsheet_safe=False)).read_all()
    assert plain.to_pydict() == running.frame(table).to_pydict()


def test_a_stream_has_every_row_in_order_or_shuffled(running: Any) -> None:
    table = running.read({"n": list(range(100_000))})
    sizes = [batch.num_rows for batch in running.reader(table)]
    assert sum(sizes) == 100_000
    assert max(sizes) < 100_000, "in parts, never as a whole"
    assert running.reader(table, in_order=True).read_all()["n"].to_pylist() == list(range(100_000))
    shuffled = [running.reader(table, writing=Writing(shuffle=True), rng=5).read_all()["n"].to_pylist() for _ in "ab"]
    assert shuffled[0] == shuffled[1], "a seed repeats the order"
    assert shuffled[0] != list(range(100_000))
    assert sorted(shuffled[0]) == list(range(100_000))


def test_a_stream_gives_a_database_texts_as_they_are(running: Any) -> None:
    table = running.read({"t": ["=1+1"]})
    asked = Writing(format="postgresql")
    assert running.reader(table, writing=asked).read_all().to_pydict() == {"t": ["=1+1"]}, "no spreadsheet opens it"


def test_readers_wait_until_they_are_read(running: Any) -> None:
    first = running.reader(running.read(PEOPLE), ["age", "job"])
    second = running.reader(running.read({"n": list(range(10))}))
    assert first.schema.names == ["age", "job"]
    assert second.read_all()["n"].to_pylist() == list(range(10))
    assert first.read_all().to_pydict() == {"age": PEOPLE["age"], "job": PEOPLE["job"]}
    with pytest.raises(BadInput, match="Did you mean age"):
        running.reader(running.read(PEOPLE), ["agee"])


def test_cells_that_differ_are_counted_row_by_row(running: Any) -> None:
    before = running.read({"job": ["nurse", "clerk", None, "cook"], "age": [31, 40, 52, 60]})
    after = running.read({"age": ["31", "40-49", "52", None], "job": ["clerk", "nurse", None, "cook"]})
    assert running.differing(before, after, ["job", "age"]) == {"job": 0.5, "age": 0.5}
    assert running.differing(before, before, ["job"]) == {"job": 0.0}
    assert running.differing(before, after, []) == {}
    with pytest.raises(BadInput, match="has no column 'size'"):
        running.differing(before, after, ["size"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "arrow", "xlsx", "duckdb", "sqlite"])
def test_every_format_comes_back(running: Any, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"people.{ending}"
    running.write(running.read(PEOPLE), target, Writing(delimiter="\t" if ending == "tsv" else ","))
    again = running.read(target)
    assert again.columns == tuple(PEOPLE)
    text = ending in ("csv", "tsv")
    assert [str(a) for a in running.frame(again)["age"].to_pylist()] == ["31", "40", "31", "52", "40"]
    assert running.frame(again)["job"].to_pylist() == PEOPLE["job"]
    assert (running.frame(again)["age"].to_pylist() == PEOPLE["age"]) != text
    assert [p.name for p in tmp_path.iterdir()] == [target.name], "nothing half-written stays"


def test_what_is_no_frame_is_refused(running: Any) -> None:
    with pytest.raises(BadInput, match="cannot read rows from a int"):
        running.read(7)


def test_histograms_and_sums_come_from_one_scan_and_project(running: Any) -> None:
    table = running.read({**PEOPLE, "stay": [1.5, None, 2.0, 4.0, 0.5]})
    counts = running.count(table, ["job", "age"], histograms=["illness", "name", "age"], sums=["stay"])
    for names in (["job"], ["age"], ["age", "job"]):
        again = running.count(table, names, histograms=["illness", "name"], sums=["stay"])
        fewer = counts.project(names)
        order = np.lexsort(fewer.codes.T[::-1])
        assert fewer.codes[order].tolist() == again.codes.tolist()
        assert fewer.weights[order].tolist() == again.weights.tolist()
        assert fewer.sums["stay"][order].tolist() == again.sums["stay"].tolist()
        for name in ("illness", "name"):
            assert fewer.histograms[name].values == again.histograms[name].values
            assert fewer.histograms[name].table()[order].tolist() == again.histograms[name].table().tolist()
    assert counts.histograms["age"].table().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 1]], "of a counted column, too"


def test_an_empty_table_counts_nothing(running: Any) -> None:
    empty = running.leave_out(running.read({"a": ["x"], "b": [1]}), {"a": "x"})
    counts = running.count(empty, ["a"], histograms=["b"], sums=["b"])
    assert (len(counts), counts.total, counts.histograms["b"].values) == (0, 0, ())


def test_profiles_tell_lists_texts_and_gaps(running: Any) -> None:
    table = running.read({"likes": [["tea"], ["tea"], None], "job": ["nurse", " ", None]})
    likes, job = running.profiles(table)
    assert (likes.holds_lists, likes.distinct, likes.missing, dict(likes.values)) == (True, 1, 1, {("tea",): 2})
    assert (job.holds_lists, job.distinct, job.missing, job.single) == (False, 1, 2, 1)
    assert [profile.name for profile in running.profiles(table, columns=["job"])] == ["job"]


def test_profiles_of_what_was_counted_are_the_same(running: Any) -> None:
    cells = {
        "job": ["nurse", "nurse", " ", "", None, "clerk", "baker", "baker"],
        "age": [31, 31, 40, 9, None, 40, 5, 7],
        "ill": ["flu", "\u00a0", "flu", None, "cold", "cold", "gout", ""],
    }
    for limit in (2, 100):
        counted, fresh = running.read(cells), running.read(cells)
        running.count(counted, ["job", "age"], histograms=["ill"])
        first, second = (
            [(p.name, p.type, p.rows, p.missing, p.distinct, p.single, list(p.values.items()), p.blank) for p in made]
            for made in (running.profiles(counted, limit), running.profiles(fresh, limit))
        )
        assert first == second


def test_scratch_files_vanish_with_the_engine(running: Any) -> None:
    place = running.scratch("beside.parquet")
    place.write_bytes(b"x")
    running.close()
    assert not place.exists()


def test_text_stays_text(running: Any, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('code;note\n007;"a;b"\n1.50;\n', encoding="utf-8")
    table = running.read(tmp_path / "x.csv")
    assert running.frame(table).to_pydict() == {"code": ["007", "1.50"], "note": ["a;b", None]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings_are_sniffed(running: Any, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "x.csv").write_bytes("place,n\nOrléans,1\nMálaga,2\n".encode(encoding))
    if encoding == "cp1252":
        with pytest.warns(InputWarning, match="read as Windows-1252"):
            running.read(tmp_path / "x.csv")
        table = running.read(tmp_path / "x.csv", Reading(encoding="cp1252"))
        assert running.frame(table)["place"].to_pylist() == ["Orléans", "Málaga"]
        return
    assert running.frame(running.read(tmp_path / "x.csv")).to_pydict() == {
        "place": ["Orléans", "Málaga"],
        "n": ["1", "2"],
    }


def test_csv_cannot_carry_formulas(running: Any, tmp_path: Path) -> None:
    cells = ["=1+1", "+cmd", "-3", "@x", "plain", "-x", ""]
    running.write(running.read({"t": cells}), tmp_path / "x.csv")
    written = running.frame(running.read(tmp_path / "x.csv"))["t"].to_pylist()
    assert written[:6] == ["'=1+1", "'+cmd", "-3", "'@x", "plain", "'-x"]
    running.write(running.read({"t": cells}), tmp_path / "y.csv", Writing(spreadsheet_safe=False))
    assert running.frame(running.read(tmp_path / "y.csv"))["t"].to_pylist()[0] == "=1+1"


def test_shuffled_rows(running: Any, tmp_path: Path) -> None:
    table = running.read({"n": list(range(200))})
    running.write(table, tmp_path / "a.parquet", Writing(shuffle=True))
    shuffled = running.frame(running.read(tmp_path / "a.parquet"))["n"].to_pylist()
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
def test_bad_files_are_refused(running: Any, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message) as refusal:
        running.read(tmp_path / name)
    assert str(tmp_path) not in str(refusal.value), "no path leaks into a message"


def test_more_bad_input(running: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        running.read(tmp_path / "none.csv")
    with pytest.raises(BadInput, match="folder"):
        running.read(tmp_path, Reading(format="csv"))
    (tmp_path / "x.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no encoding is called"):
        running.read(tmp_path / "x.csv", Reading(encoding="utf-99"))
    with pytest.raises(BadInput, match="different lengths"):
        running.read({"a": [1, 2], "b": [1]})
    (tmp_path / "y.csv").write_bytes(b"\xff\xfea\x00\n\x00\x00\xd8\x00")
    with pytest.raises(BadInput, match="is not valid utf-16"):
        running.read(tmp_path / "y.csv")


def test_a_failed_write_leaves_nothing(running: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        running.write(running.read(PEOPLE), tmp_path / "nowhere" / "x.csv")
    with pytest.raises(BadInput, match="tells no format"):
        running.write(running.read(PEOPLE), tmp_path / "x.weird")
    assert list(tmp_path.iterdir()) == []


def test_unknown_engines() -> None:
    with pytest.raises(BadInput, match="no engine is called 'duckbd'"):
        engine("duckbd")
