"""The synthetic people: the same for a seed, skewed, hanging together, and with a few words that no taxonomy knows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from keepsense import sample_people
from keepsense.errors import BadInput
from keepsense.sample_people import COLUMNS, SEPARATOR, WORD_COLUMNS, people, write_people


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return people(20_000, seed=11)


def column(table: pa.Table, name: str) -> list[str]:
    return list(table.column(name).to_pylist())


def test_the_table_has_the_promised_columns_and_no_gaps(table: pa.Table) -> None:
    assert tuple(table.column_names) == COLUMNS
    assert table.num_rows == 20_000
    assert all(table.column(name).null_count == 0 for name in COLUMNS)
    assert column(table, "id") == list(range(1, 20_001))
    assert set(column(table, "sex")) == {"female", "male"}
    assert 16 <= min(column(table, "age")) < 20
    assert 90 <= max(column(table, "age")) <= 95
    assert all(len(code) == 5 and code.isdigit() for code in column(table, "postcode"))


def test_a_seed_gives_the_same_people_and_no_seed_gives_new_ones() -> None:
    assert people(500, seed=4).equals(people(500, seed=4))
    assert people(500, seed=4).equals(people(500, seed=np.random.default_rng(4)))
    assert not people(500, seed=4).equals(people(500, seed=5))
    assert not people(500).equals(people(500))


def test_sizes_at_the_edges() -> None:
    assert people(0).num_rows == 0
    assert tuple(people(0).column_names) == COLUMNS
    assert people(1, seed=1).num_rows == 1
    assert people().num_rows == 10_000
    with pytest.raises(BadInput, match="0 or more"):
        people(-3)


@pytest.mark.parametrize("name", WORD_COLUMNS)
def test_values_are_many_and_skewed(table: pa.Table, name: str) -> None:
    counts = [count for _, count in Counter(column(table, name)).most_common()]
    assert len(counts) >= 50
    assert sum(counts[: len(counts) // 5]) > 0.4 * sum(counts)


def test_workplace_follows_occupation(table: pa.Table) -> None:
    pairs = Counter(zip(column(table, "occupation"), column(table, "workplace"), strict=True))
    of_nurses = Counter({place: n for (job, place), n in pairs.items() if job == "nurse"})
    assert of_nurses.most_common(1)[0][0] == "hospital"
    assert pairs["nurse", "coal mine"] == 0
    assert pairs["bus driver", "bus terminal"] > 0


def test_diagnosis_follows_age_and_sex(table: pa.Table) -> None:
    age, sex, diagnosis = (np.array(column(table, name)) for name in ("age", "sex", "diagnosis"))
    assert np.median(age[diagnosis == "cataract"]) > np.median(age) + 15
    assert np.median(age[diagnosis == "acne"]) < np.median(age) - 10
    assert set(sex[diagnosis == "prostate cancer"]) == {"male"}
    assert set(sex[diagnosis == "endometriosis"]) == {"female"}


def test_students_are_young_and_pensioners_old(table: pa.Table) -> None:
    age, occupation = np.array(column(table, "age")), np.array(column(table, "occupation"))
    assert age[occupation == "student"].max() < 35
    assert age[occupation == "pensioner"].min() > 54


def test_interests_are_small_sets_that_follow_the_hobby(table: pa.Table) -> None:
    sets = [text.split(SEPARATOR) for text in column(table, "interests")]
    assert all(1 <= len(words) <= 6 and len(set(words)) == len(words) for words in sets)
    hobby = column(table, "hobby")
    sailors = [words for words, h in zip(sets, hobby, strict=True) if h == "sailing"]
    cooks = [words for words, h in zip(sets, hobby, strict=True) if h == "cooking"]
    assert np.mean(["sailboat" in words for words in sailors]) > 5 * np.mean(["sailboat" in words for words in cooks])


def test_postcodes_belong_to_one_place(table: pa.Table) -> None:
    spellings = {word for words in sample_people.VARIANTS["place"].values() for word in words}
    pairs = zip(column(table, "postcode"), column(table, "place"), strict=True)
    places: dict[str, set[str]] = {}
    for postcode, place in pairs:
        if place not in spellings:
            places.setdefault(postcode[:2], set()).add(place)
    assert all(len(names) == 1 for names in places.values())


@pytest.mark.parametrize("name", WORD_COLUMNS)
def test_some_cells_are_written_otherwise(table: pa.Table, name: str) -> None:
    odd = {word for words in sample_people.VARIANTS[name].values() for word in words}
    share = np.mean([word in odd for word in column(table, name)])
    assert 0 < share < 0.04


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_hold_what_people_gives(tmp_path: Path, kind: str) -> None:
    path = write_people(tmp_path / f"people.{kind}", 2_000, seed=3)
    wanted = people(2_000, seed=3)
    if kind == "csv":
        read = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=wanted.schema))
    else:
        read = parquet.read_table(path)
    assert read.combine_chunks().equals(wanted.combine_chunks())
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_several_batches_make_one_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from keepsense import sample_people as module

    monkeypatch.setattr(module, "_BATCH", 100)
    table = module.people(250, seed=2)
    assert table.column("id").to_pylist() == list(range(1, 251))
    assert len(set(table.column("occupation").to_pylist())) > 20
    module.write_people(tmp_path / "people.csv", 250, seed=2)
    assert len((tmp_path / "people.csv").read_text(encoding="utf-8").splitlines()) == 251


def test_bad_targets_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"people\.xlsx: .*\.csv or \.parquet"):
        write_people(tmp_path / "people.xlsx", 5)
    with pytest.raises(BadInput, match=r"people\.csv: cannot be written there"):
        write_people(tmp_path / "no such folder" / "people.csv", 5)
    with pytest.raises(BadInput, match="0 or more"):
        write_people(tmp_path / "people.csv", -5)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing_half_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from keepsense import sample_people as module

    def interrupted(start: int, n: int, rng: np.random.Generator) -> pa.RecordBatch:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_people(tmp_path / "people.csv", 5)
    assert list(tmp_path.iterdir()) == []
