"""CSV files as people have them: nothing is guessed away, no person becomes the header."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsense.engines.protocol import Reading, Writing, engine
from keepsense.engines.temporary_folders import PREFIX, sweep
from keepsense.errors import BadInput


def read(path: Path, reading: Reading | None = None) -> dict[str, list[str | None]]:
    with engine() as duck:
        found: dict[str, list[str | None]] = duck.frame(duck.read(path, reading)).to_pydict()
        return found


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["n,nurse,1"] * 15 + ["n,nurse,1,flu"] * 40, 17),
        (["n,nurse,1"] * 50 + ["n,nurse"] + ["n,nurse,1"] * 50, 52),
        (["n,nurse"] * 3 + ["n,nurse,1"] * 50, 2),
    ],
)
def test_rows_that_do_not_fit_the_header_are_refused_by_line(tmp_path: Path, rows: list[str], line: int) -> None:
    (tmp_path / "x.csv").write_text("name,job,age\n" + "\n".join(rows) + "\n")
    with pytest.raises(BadInput, match=f"near line {line} has") as told:
        read(tmp_path / "x.csv")
    assert "nurse" not in str(told.value)


def test_a_line_that_looks_like_a_comment_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("name,job\n" + "a,b\n" * 30 + "#c,d\n" + "e,f\n" * 30)
    found = read(tmp_path / "x.csv")
    assert len(found["name"]) == 61
    assert found["name"][30] == "#c"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_dialects_are_found(tmp_path: Path, mark: str, end: str) -> None:
    other = ";" if mark != ";" else ","
    lines = [
        mark.join(("name", "note", "age")),
        mark.join(("Ann", f'"a{mark}b"', "3")),
        mark.join(("Bo", f"x{other}y", "")),
    ]
    (tmp_path / "x.csv").write_bytes(end.join([*lines, ""]).encode())
    assert read(tmp_path / "x.csv") == {"name": ["Ann", "Bo"], "note": [f"a{mark}b", f"x{other}y"], "age": ["3", None]}


def test_quotes_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "single.csv").write_text("a,b\n'x,y','z'\n'p','q'\n")
    assert read(tmp_path / "single.csv") == {"a": ["x,y", "p"], "b": ["z", "q"]}
    (tmp_path / "escaped.csv").write_text('a,b\n"say \\"hi\\"",z\n')
    assert read(tmp_path / "escaped.csv") == {"a": ['say "hi"'], "b": ["z"]}
    (tmp_path / "apostrophes.csv").write_text("a,b\nO'Neil,it's\nd'Arc,'tis\n")
    assert read(tmp_path / "apostrophes.csv")["a"] == ["O'Neil", "d'Arc"]


def test_names_of_columns_are_made_different(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,,a,A,a_1\n1,2,3,4,5\n")
    assert list(read(tmp_path / "x.csv")) == ["a", "column1", "a_1", "A_2", "a_1_1"]
    (tmp_path / "bare.csv").write_text("1,2\n3,4\n")
    assert read(tmp_path / "bare.csv", Reading(header=False)) == {"column0": ["1", "3"], "column1": ["2", "4"]}


@pytest.mark.parametrize("reading", [Reading(delimiter=";;"), Reading(quote="ab"), Reading(encoding="rot13")])
def test_impossible_dialects_are_refused(tmp_path: Path, reading: Reading) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput):
        read(tmp_path / "x.csv", reading)


def test_an_encoding_that_does_not_fit_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="real encoding"):
        read(tmp_path / "x.csv", Reading(encoding="utf-16"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=8)] * 3),
        min_size=1,
        max_size=12,
    )
)
def test_what_is_written_is_read_again(tmp_path: Path, rows: list[tuple[str, str, str]]) -> None:
    """Whatever the cells hold: delimiters, quotes, line breaks, blanks."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("a", "b", "c"))}
    with engine() as duck:
        table = duck.read(columns)
        duck.write(table, tmp_path / "x.csv", Writing(spreadsheet_safe=False))
        again = duck.read(tmp_path / "x.csv", Reading(delimiter=",", quote='"'))
        assert duck.frame(again).to_pydict() == columns


def test_compressed_files_both_ways(tmp_path: Path) -> None:
    with engine() as duck:
        duck.write(duck.read({"a": ["x", "y"], "b": ["1", "2"]}), tmp_path / "x.csv.gz")
        with gzip.open(tmp_path / "x.csv.gz", "rt") as file:
            assert file.read() == "a,b\nx,1\ny,2\n"
        assert duck.frame(duck.read(tmp_path / "x.csv.gz")).to_pydict() == {"a": ["x", "y"], "b": ["1", "2"]}
    (tmp_path / "no.csv.gz").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="not compressed"):
        read(tmp_path / "no.csv.gz")


def test_records_in_cells_are_looked_at_but_not_counted(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"home": {"town": "Oslo"}, "job": "nurse"}\n' * 4)
    with engine() as duck:
        table = duck.read(tmp_path / "x.jsonl")
        assert [p.distinct for p in duck.profiles(table)] == [1, 1]
        with pytest.raises(BadInput, match="records in its cells"):
            duck.count(table, ["home"])


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks as Unix has them")
def test_rooms_of_killed_programs_are_swept_and_living_ones_kept(tmp_path: Path) -> None:
    """A killed program cannot clear away its copy of a table; the next one does."""
    code = "import time; from keepsense.engines.protocol import engine; duck = engine()"
    code += "; print(duck.scratch('x').parent, flush=True); time.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    room = Path(process.stdout.readline().strip())
    assert room.parent == tmp_path
    sweep(tmp_path)
    assert room.is_dir(), "its program lives"
    process.kill()
    process.wait()
    process.stdout.close()
    sweep(tmp_path)
    assert not room.exists()
    young, old = tmp_path / f"{PREFIX}young", tmp_path / f"{PREFIX}old"
    young.mkdir()
    old.mkdir()
    os.utime(old, (time.time() - 10**6,) * 2)
    sweep(tmp_path)
    assert (young.exists(), old.exists()) == (True, False)


def test_a_person_does_not_become_the_header(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("ann,31\nbob,32\ncat,33\n")
    with pytest.raises(BadInput, match="looks like a record") as told:
        read(tmp_path / "x.csv")
    assert "ann" not in str(told.value)
    assert read(tmp_path / "x.csv", Reading(header=False)) == {
        "column0": ["ann", "bob", "cat"],
        "column1": ["31", "32", "33"],
    }
    assert list(read(tmp_path / "x.csv", Reading(header=True))) == ["ann", "31"]
    (tmp_path / "years.csv").write_text("town,2019\nOslo,good\nBergen,bad\n")
    assert list(read(tmp_path / "years.csv")) == ["town", "2019"], "a number above words is a name"


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    with engine() as duck:
        table = duck.read({"v": ["a", "b"], "job": ["x", "x"], "n": ["1", "2"]})
        assert [p.distinct for p in duck.profiles(table)] == [2, 1, 2]


def test_baskets_of_different_sizes_are_one_column_of_sets(tmp_path: Path) -> None:
    items = ["milk", "bread", "beer", "soap", "tea"]
    lines = [";".join(items[i % 3 : i % 3 + 1 + i % 4] if i % 3 + i % 4 < 5 else items[:2]) for i in range(60)]
    (tmp_path / "baskets.csv").write_text("\n".join(lines) + "\n")
    assert read(tmp_path / "baskets.csv") == {"items": lines}


def test_blanks_part_a_file_only_where_they_cut_every_line_alike(tmp_path: Path) -> None:
    (tmp_path / "x.data").write_text("job age town\nnurse 31 Bonn\nclerk 40 Rome\n")
    assert read(tmp_path / "x.data") == {"job": ["nurse", "clerk"], "age": ["31", "40"], "town": ["Bonn", "Rome"]}
    (tmp_path / "y.txt").write_text("job\nstaff nurse\nclerk\ntruck driver\n")
    assert read(tmp_path / "y.txt") == {"job": ["staff nurse", "clerk", "truck driver"]}
