"""What a release must not tell: columns released as they are, and how they are made coarser."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsense.errors import BadInput
from keepsense.project.bands import bands, fitting_width
from keepsense.project.file import Project
from keepsense.release.run import run
from keepsense.release.verify import verify_file


def released(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, columns: Mapping[str, list[Any]]) -> None:
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def asking(columns: dict[str, dict[str, Any]], k: int = 5, **sections: Any) -> Project:
    return Project.model_validate(
        {
            "source": {"path": "people.csv"},
            "columns": columns,
            "privacy": [{"model": "k-anonymity", "k": k}],
            **sections,
        }
    )


def paid(rows: int = 200) -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    pay = [f"{value:.2f}" for value in rng.uniform(18_000, 79_000, rows - 1)]
    return {"sex": ["f", "m"] * (rows // 2), "pay": [*pay, "9412377"]}


# ---- in bands --------------------------------------------------------------------------------------------------------


def test_a_sensitive_number_is_released_in_open_ended_bands_that_tell_no_extreme(tmp_path: Path) -> None:
    write(tmp_path, paid())
    columns = {"sex": {"role": "quasi-identifier"}, "pay": {"role": "sensitive", "kind": "numeric", "width": 10_000}}
    asked = asking(columns, privacy=[{"model": "l-diversity", "l": 3, "column": "pay"}])
    done = run(asked, folder=tmp_path, rng=1)
    labels = Counter(row["pay"] for row in released(done.file))
    assert set(labels) == {
        "under 20000",
        *(f"{start} to under {start + 10_000}" for start in range(20_000, 70_000, 10_000)),
        "70000 or more",
    }
    assert min(labels["under 20000"], labels["70000 or more"]) >= 5
    assert done.description["columns"]["pay"]["width"] == 10_000
    assert "9412377" not in (done.file.parent / "release.json").read_text()
    assert verify_file(asked, done.file, folder=tmp_path)[0].ok


def test_a_column_that_is_no_quasi_identifier_is_released_at_a_level_of_its_hierarchy(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 10, "seen": [f"2024-{1 + i % 3:02}-{1 + i:02}" for i in range(20)]})
    columns = {"sex": {"role": "quasi-identifier"}, "seen": {"kind": "date", "level": 1}}
    rows = released(run(asking(columns), folder=tmp_path, rng=1).file)
    assert {row["seen"] for row in rows} == {"2024-01", "2024-02", "2024-03"}


def test_a_level_that_the_hierarchy_does_not_have_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 10, "seen": ["2024-01-05", "2024-02-05"] * 10})
    columns = {"sex": {"role": "quasi-identifier"}, "seen": {"kind": "date", "level": 9}}
    with pytest.raises(BadInput, match="at level 9 of its hierarchy"):
        run(asking(columns), folder=tmp_path)


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        ({"role": "quasi-identifier", "kind": "numeric", "width": 10}, "not for the role quasi-identifier"),
        ({"role": "identifier", "level": 1}, "not for the role identifier"),
        ({"role": "sensitive", "level": 1, "width": 10}, "not both"),
    ],
)
def test_bands_are_for_columns_that_are_released_as_they_are_otherwise(column: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        asking({"pay": column})


def test_words_have_no_bands(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 10, "pay": ["much", "little"] * 10})
    columns = {"sex": {"role": "quasi-identifier"}, "pay": {"role": "sensitive", "width": 10}}
    with pytest.raises(BadInput, match="holds a value that is no number"):
        run(asking(columns), folder=tmp_path)


@given(
    st.dictionaries(
        st.decimals(-1000, 1000, places=2).map(str) | st.integers(-1000, 1000), st.integers(1, 4), min_size=1
    ),
    st.sampled_from([0.05, 0.3, 1, 2.5, 100]),
    st.integers(1, 6),
)
def test_every_band_holds_its_numbers_and_the_outermost_enough_rows(
    rows: dict[str | int, int], width: float, least: int
) -> None:
    held: Counter[object] = Counter()
    for value, label in bands(rows, width, least=least).items():
        number, text = float(str(value)), str(label)
        ends = re.findall(r"-?\d+(?:\.\d+)?", text)
        if text.startswith("under"):
            assert number < float(ends[0])
        elif text.endswith("or more") or text.startswith("at least"):
            assert number >= float(ends[0])
        elif " to " in text:
            low, high = map(float, ends)
            whole = "under" not in text
            assert low <= number <= high if whole else low <= number < high
            assert high + whole - low == pytest.approx(width)
        else:
            assert text == "*" or (width == 1 and number == float(text))
        held[text] += rows[value]  # type: ignore[index]
    for text, number in held.items():
        if str(text).startswith(("under", "at least")) or str(text).endswith("or more"):
            assert number >= least


def test_a_proposed_width_is_round_and_looks_past_extremes() -> None:
    pay = dict.fromkeys(range(20_000, 60_000, 100), 1) | {9_412_377: 1}
    assert fitting_width(pay) == 5_000
    assert fitting_width({0.01 * i: 1 for i in range(100)}) == 0.1
