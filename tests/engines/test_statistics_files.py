"""Tables of R, SPSS and Stata: what they carry, labels as words and back, and files that are none."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadr
import pyreadstat
import pytest
from tests.engines.test_table_formats import AWKWARD, CELLS, KEPT, as_text

from keepsense.engines.formats import statistics_files
from keepsense.engines.formats.statistics_reader import spelled_labels, typed, words_of
from keepsense.engines.formats.table_formats import FORMATS, format_of
from keepsense.engines.protocol import Reading, Writing, engine
from keepsense.errors import BadInput, MissingExtra
from keepsense.release.figures.assess import assess

ENDINGS = ("rds", "rda", "RData", "sav", "zsav", "dta")
OF_R = ("rds", "rda", "RData")
CARRIED = {
    "rds": {"small": "BIGINT", "single": "DOUBLE", "exact": "TIMESTAMP"},
    "sav": {"small": "BIGINT", "single": "DOUBLE", "flag": "VARCHAR"},
    "dta": {"small": "BIGINT", "single": "DOUBLE", "flag": "VARCHAR"},
}
CARRIED["zsav"] = CARRIED["sav"]
CARRIED["rda"] = CARRIED["RData"] = CARRIED["rds"]
TEXTS = {"id": "VARCHAR", "money": "VARCHAR", "long": "VARCHAR", "exact": "VARCHAR", "words": "VARCHAR"}


@pytest.fixture
def duck() -> Iterator[Any]:
    with engine() as running:
        yield running


def called(name: str) -> str:
    """Without blanks, and no word of Stata's own."""
    return name.replace(" ", "_") + "_of"


@pytest.mark.parametrize("ending", ENDINGS)
def test_types_and_cells(duck: Any, tmp_path: Path, ending: str) -> None:
    table = duck.read(pa.table({called(name): cells for name, cells in CELLS.items()}))
    duck.write(table, tmp_path / f"x.{ending}")
    back = duck.read(tmp_path / f"x.{ending}")
    assert back.columns == table.columns
    expected = {called(name): kind for name, kind in (KEPT | TEXTS | CARRIED[ending]).items()}
    assert dict(zip(back.columns, back.types, strict=True)) == expected
    rows = as_text(table)
    if ending not in OF_R:  # SPSS and Stata take an empty text for a missing one
        rows = [tuple(None if cell == "" else cell for cell in row) for row in rows]
    assert as_text(back) == rows


@pytest.mark.parametrize("ending", ENDINGS)
def test_awkward_texts(duck: Any, tmp_path: Path, ending: str) -> None:
    table = duck.read({"one": AWKWARD, "n": list(range(len(AWKWARD)))})
    duck.write(table, tmp_path / f"x.{ending}")
    expected = [(text.rstrip(" ") if text and "sav" in ending else text, number) for text, number in as_text(table)]
    assert as_text(duck.read(tmp_path / f"x.{ending}")) == expected


@pytest.mark.parametrize("ending", ENDINGS)
def test_empty_tables(duck: Any, tmp_path: Path, ending: str) -> None:
    duck.write(
        duck.read(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})), tmp_path / f"x.{ending}"
    )
    back = duck.read(tmp_path / f"x.{ending}")
    assert (back.columns, back.rows) == (("a", "b"), 0)


# ---- labels ----------------------------------------------------------------------------------------------------------

SEX = {1.0: "female", 2.0: "male", 9.0: "no answer"}


def survey(path: Path, rows: int = 40) -> None:
    """As it comes out of SPSS or Stata: codes with labels, a missing code, numbers with one marked value."""
    frame = pd.DataFrame(
        {
            "sex": [9.0 if i == 7 else 1.0 + i % 2 for i in range(rows)],
            "age": [99.0 if i == 3 else 20.0 + i % 10 for i in range(rows)],
            "town": ["Ulm" if i % 3 else "Bonn" for i in range(rows)],
        }
    )
    labels = {"sex": "Sex of the person", "age": "Age in years"}
    values = {"sex": SEX, "age": {99.0: "not asked"}}
    if path.suffix == ".dta":
        frame.loc[frame["sex"] == 9.0, "sex"] = np.nan
        pyreadstat.write_dta(
            frame, path, column_labels=labels, variable_value_labels={"sex": {1.0: "female", 2.0: "male"}},
            variable_format={"age": "%8.0g"},
        )  # fmt: skip
    else:
        pyreadstat.write_sav(
            frame, path, column_labels=labels, variable_value_labels=values,
            missing_ranges={"sex": [9.0], "age": [99.0]}, variable_format={"sex": "F1.0", "age": "F3.0"},
        )  # fmt: skip


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_are_words_and_missing_codes_are_missing(duck: Any, tmp_path: Path, ending: str) -> None:
    survey(tmp_path / f"x.{ending}")
    table = duck.read(tmp_path / f"x.{ending}")
    assert table.types == ("VARCHAR", "BIGINT", "VARCHAR")
    frame = duck.frame(table)
    assert frame["sex"].to_pylist()[5:9] == ["male", "female", None, "female"]
    assert frame["age"].to_pylist()[3] == (None if ending == "sav" else 99)
    assert frame["age"].to_pylist()[4] == 24


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_releases_keep_labels_and_codes(tmp_path: Path, ending: str) -> None:
    survey(tmp_path / f"people.{ending}")
    reader = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[ending]
    with engine() as duck:
        table = duck.read({"sex": ["male", "female", "*"], "age": ["20 to 29"] * 3, "town": ["Ulm", None, "Bonn"]})
        like = str(tmp_path / f"people.{ending}")
        duck.write(table, tmp_path / f"released.{ending}", Writing(like=like))
        frame, about = reader(tmp_path / f"released.{ending}")
        assert as_text(duck.read(tmp_path / f"released.{ending}")) == as_text(table)
    assert about.column_names_to_labels["sex"] == "Sex of the person"
    assert about.column_names_to_labels["age"] == "Age in years"
    codes = {word: code for code, word in about.variable_value_labels["sex"].items()}
    assert (codes["female"], codes["male"]) == (1, 2)
    assert codes["*"] > 2
    assert set(codes) == {"female", "male", "*"}, "labels that nobody has any more are not released"
    assert frame["sex"].tolist() == [2, 1, codes["*"]]


def test_factors_of_r_are_factors_again(duck: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"job": pd.Categorical(["nurse", "clerk", None]), "town": ["Ulm", None, "Bonn"]})
    pyreadr.write_rds(str(tmp_path / "x.rds"), frame)
    table = duck.read(tmp_path / "x.rds")
    assert duck.frame(table).to_pydict() == {"job": ["nurse", "clerk", None], "town": ["Ulm", None, "Bonn"]}
    duck.write(table, tmp_path / "y.rds", Writing(like=str(tmp_path / "x.rds")))
    back = pyreadr.read_r(str(tmp_path / "y.rds"))[None]
    assert isinstance(back["job"].dtype, pd.CategoricalDtype)
    assert not isinstance(back["town"].dtype, pd.CategoricalDtype)


def several_frames(path: Path) -> None:
    """A file as `save(people, towns, file = ...)` of R writes it: two data frames, one after the other."""
    frames = {
        "people": pd.DataFrame({"job": pd.Categorical(["nurse", "clerk", None]), "town": ["Ulm", None, "Bonn"]}),
        "towns": pd.DataFrame({"town": ["Ulm", "Bonn"], "people": [126_000, 330_000]}),
    }
    parts, content = [], b""
    for name, frame in frames.items():
        pyreadr.write_rdata(str(path), frame, df_name=name)
        content = path.read_bytes()
        parts.append(content[HEAD_OF_R : -len(END_OF_R)])
    path.write_bytes(b"".join([content[:HEAD_OF_R], *parts, END_OF_R]))


HEAD_OF_R = len(b"RDX2\nX\n") + 12
"""Bytes before the objects that R saved: the format and three versions."""
END_OF_R = struct.pack(">i", 254)
"""What ends a list of them."""


def test_one_of_several_frames_is_read_by_its_name(duck: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.RData"
    several_frames(path)
    assert set(pyreadr.read_r(str(path))) == {"people", "towns"}
    with pytest.raises(BadInput, match=r"x\.RData: say which table to read; it has people, towns"):
        duck.read(path)
    with pytest.raises(BadInput, match=r"there is no table 'jobs'; it has people, towns"):
        duck.read(path, Reading(table="jobs"))
    table = duck.read(path, Reading(table="people"))
    assert duck.frame(table).to_pydict() == {"job": ["nurse", "clerk", None], "town": ["Ulm", None, "Bonn"]}
    duck.write(table, tmp_path / "y.rda", Writing(like=str(path), like_table="people", table="released"))
    back = pyreadr.read_r(str(tmp_path / "y.rda"))
    assert list(back) == ["released"]
    assert isinstance(back["released"]["job"].dtype, pd.CategoricalDtype)
    assert not isinstance(back["released"]["town"].dtype, pd.CategoricalDtype)


def test_the_only_frame_needs_no_name(duck: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.rda"
    pyreadr.write_rdata(str(path), pd.DataFrame({"job": pd.Categorical(["nurse", "clerk"])}), df_name="people")
    table = duck.read(path)
    assert duck.frame(table).to_pydict() == {"job": ["nurse", "clerk"]}
    duck.write(table, tmp_path / "y.rda", Writing(like=str(path)))
    assert isinstance(pyreadr.read_r(str(tmp_path / "y.rda"))["released"]["job"].dtype, pd.CategoricalDtype)


def test_words_of_codes() -> None:
    assert words_of([1.0, 3.0], {1.0: "yes"}) is None
    assert words_of(["a", None], {"a": "apple"}) == ["apple", None]
    assert spelled_labels({1.0: "x", 2.5: "x"}) == {1.0: "x (1)", 2.5: "x (2.5)"}
    assert typed([0.1, None], "%9.0g", "float").type == pa.float32()
    assert typed([1.0, 2.0], "%9.0g", "float").type == pa.int64()
    assert typed([None, None], "F8.2", "double").type == pa.float64()
    assert typed([dt.datetime(2020, 1, 1, 10, 0, 0, 455999)], "DATETIME20", "double").to_pylist() == [
        dt.datetime(2020, 1, 1, 10, 0, 0, 456000)
    ]


# ---- files that are none ---------------------------------------------------------------------------------------------


def vector_of_r() -> bytes:
    """An .rds file that holds a number, no data frame."""
    return b"X\n" + struct.pack(">iii", 2, 0x00040200, 0x00020300) + struct.pack(">iii", 13, 1, 7)


@pytest.mark.parametrize("ending", ["rds", "rda", "sav", "dta"])
def test_damaged_files_are_refused_with_a_remedy(duck: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    duck.write(duck.read({"name": ["Ann", "Bo"] * 50, "n": list(range(100))}), path)
    whole = path.read_bytes()
    wrong = [whole[: len(whole) // 3], b"name,n\nAnn,1\n", b"\0" * 400]
    for content in [*wrong, *([vector_of_r()] if ending in OF_R else [])]:
        path.write_bytes(content)
        with pytest.raises(
            BadInput, match=rf"x\.{ending}: this is not .*; save it again, or save it as CSV"
        ) as refusal:
            duck.read(path)
        assert "Ann" not in str(refusal.value)
    path.write_bytes(b"")
    with pytest.raises(BadInput, match="the file is empty"):
        duck.read(path)


def test_a_process_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.sav").write_bytes(b"x")
    (tmp_path / "slow.py").write_text("import time; time.sleep(60)", encoding="utf-8")
    monkeypatch.setattr(statistics_files, "_SCRIPT", tmp_path / "slow.py")
    monkeypatch.setattr(statistics_files, "_PATIENCE", 0.2)
    with engine() as duck, pytest.raises(BadInput, match="did not end"):
        duck.read(tmp_path / "x.sav")


@pytest.mark.parametrize(
    ("ending", "extra"), [("rds", "r"), ("rda", "r"), ("sav", "statistics"), ("dta", "statistics")]
)
def test_what_is_not_installed_is_named(
    duck: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, extra: str
) -> None:
    path = tmp_path / f"x.{ending}"
    path.write_bytes(b"x")
    monkeypatch.setattr(statistics_files, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"keepsense\[{extra}\]"):
        duck.read(path)
    with pytest.raises(MissingExtra, match=rf"keepsense\[{extra}\]"):
        duck.write(duck.read({"a": [1]}), path)
    assert FORMATS[format_of(path.name).name].extra == extra


@pytest.mark.parametrize("name", ["the job", "9a", "a" * 65, "to", "a,b", "tail."])
def test_names_that_spss_does_not_take(duck: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"SPSS has no columns called .* rename it"):
        duck.write(duck.read({name: ["x"]}), tmp_path / "x.sav")


@pytest.mark.parametrize("name", ["the job", "9a", "a" * 33, "a.b", "long", "str12"])
def test_names_that_stata_does_not_take(duck: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"Stata has no columns called .* rename it"):
        duck.write(duck.read({name: ["x"]}), tmp_path / "x.dta")


def test_texts_that_are_too_long(duck: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="32,767 bytes"):
        duck.write(duck.read({"a": ["x" * 32_768]}), tmp_path / "x.sav")


def test_assessments_read_them(tmp_path: Path) -> None:
    survey(tmp_path / "x.sav")
    survey(tmp_path / "y.dta")
    assessment = assess(tmp_path / "x.sav", tmp_path / "y.dta", ["sex", "town"])
    assert assessment.rows_before == assessment.rows_after == 40
    assert assessment.columns[0].distance == 0


def test_missing_cells_of_r_in_csv(duck: Any, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('"","age","job"\n"1",NA,"nurse"\n"2",33,NA\n', encoding="utf-8")
    frame = duck.frame(duck.read(tmp_path / "x.csv", Reading(empty=("NA",))))
    assert frame["age"].to_pylist() == [None, "33"]
    assert frame["job"].to_pylist() == ["nurse", None]
