"""The front door: a frame in, a verified frame of the same kind out, and everything that belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import keepsense as ks
from keepsense.errors import BadInput, Infeasible

JOBS = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*"), ("cashier", "office", "*")]
COLUMNS: dict[str, list[Any]] = {
    "id": [f"p{i}" for i in range(40)],
    "age": [20 + i % 8 for i in range(40)],
    "job": [JOBS[i % 4][0] for i in range(40)],
    "illness": [("flu", "cold", "asthma")[i % 3] for i in range(40)],
    "visits": [i % 5 for i in range(40)],
}
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "job"],
    "identifiers": ["id"],
    "sensitive": {"illness": ks.LDiversity(2)},
    "insensitive": ["visits"],
}
FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "lazy polars": lambda: pl.LazyFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "duckdb": lambda: duckdb.from_arrow(pa.table(COLUMNS)),
    "columns": lambda: dict(COLUMNS),
}


def as_columns(frame: Any) -> dict[str, list[Any]]:
    """Any frame as plain lists."""
    if isinstance(frame, dict):
        return {name: list(values) for name, values in frame.items()}
    if isinstance(frame, pd.DataFrame):
        return {str(name): frame[name].tolist() for name in frame}
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    columns: dict[str, list[Any]] = frame.to_pydict()
    return columns


PAY: dict[str, list[Any]] = {
    "age": [20 + i % 8 for i in range(200)],
    "job": [JOBS[i % 4][0] for i in range(200)],
    "pay": [1000 + 37 * (i * 7 % 100) for i in range(200)],
}


@pytest.mark.parametrize(
    "given",
    [{"insensitive": ["pay"]}, {"sensitive": ["pay"]}, {"target": "pay"}, {"columns": {"pay": {"role": "sensitive"}}}],
)
def test_a_column_whose_role_is_given_is_released_as_it_is_with_a_finding(given: dict[str, Any]) -> None:
    """Exact pay points at people: a guessed role draws bands around it, a given one does not."""
    roles: dict[str, Any] = {"quasi_identifiers": ["age", "job"]}
    release = ks.anonymize(PAY, k=4, seed=1, **roles, **given)
    assert sorted(release.frame["pay"]) == sorted(PAY["pay"])
    assert [finding.where for finding in release.findings if finding.code == "W409"] == ["pay"]
    assert next(column.guessed for column in release.columns if column.name == "pay") is False
    guessed = ks.anonymize(PAY, k=4, seed=1, **roles)
    assert all(isinstance(value, str) for value in guessed.frame["pay"])


def test_a_column_is_banded_where_a_width_is_given() -> None:
    roles: dict[str, Any] = {"quasi_identifiers": ["age", "job"], "sensitive": ["pay"]}
    release = ks.anonymize(PAY, k=4, seed=1, **roles, columns={"pay": {"width": 500}})
    assert "1500 to 1999" in set(release.frame["pay"])
    assert "W409" not in {finding.code for finding in release.findings}
    assert next(column.how for column in release.columns if column.name == "pay") == "in bands of 500"


@pytest.mark.parametrize("kind", FRAMES)
def test_the_frame_that_comes_out_is_of_the_kind_that_went_in(kind: str) -> None:
    data: Any = FRAMES[kind]()
    release = ks.anonymize(data, k=4, seed=1, **ROLES)
    assert type(release.frame) is type(data)
    columns = as_columns(release.frame)
    assert release.verification.ok
    assert sorted(columns) == ["age", "illness", "job", "visits"]
    assert sorted(columns["visits"]) == sorted(COLUMNS["visits"])
    assert sorted(columns["illness"]) == sorted(COLUMNS["illness"])
    classes: dict[tuple[Any, Any], int] = {}
    for pair in zip(columns["age"], columns["job"], strict=True):
        classes[pair] = classes.get(pair, 0) + 1
    assert min(classes.values()) >= 4


def test_untouched_columns_keep_their_types() -> None:
    frame = pd.DataFrame(COLUMNS).assign(
        when=pd.to_datetime("2026-01-01"), big=pd.array([None, 3] * 20, dtype="Int64"), flag=[True, False] * 20
    )
    frame["illness"] = frame["illness"].astype("category")
    options = {**ROLES, "insensitive": ["visits", "when", "big", "flag"]}
    released = ks.anonymize(frame, k=4, **options).frame
    for name in ("visits", "when", "big", "flag", "illness"):
        assert released[name].dtype == frame[name].dtype, name


def test_a_path_gives_an_arrow_table(tmp_path: Path) -> None:
    pd.DataFrame(COLUMNS).to_csv(tmp_path / "people.csv", index=False)
    release = ks.anonymize(tmp_path / "people.csv", k=4, **ROLES)
    assert isinstance(release.frame, pa.Table)
    assert release.frame.num_rows == 40
    assert list(tmp_path.iterdir()) == [tmp_path / "people.csv"]


def test_what_is_not_said_is_guessed_and_told() -> None:
    release = ks.anonymize({**COLUMNS, "town": ["Galway", "Cork"] * 20}, k=4, **ROLES)
    told = {column.name: column for column in release.columns}
    assert told["town"].role == "quasi-identifier"
    assert told["town"].guessed
    assert told["town"].reason
    assert not told["age"].guessed
    assert not told["id"].released


def test_hierarchies_and_taxonomies_in_memory_are_used() -> None:
    jobs = ks.Hierarchy.of_rows(JOBS)
    release = ks.anonymize(
        {"job": COLUMNS["job"]}, k=20, quasi_identifiers=["job"], hierarchies={"job": jobs}, suppression=0.0
    )
    assert set(release.frame["job"]) == {"medic", "office"}
    from keepsense.taxonomy.taxonomy_builder import from_edges

    kinds = from_edges([("nurse", "medic"), ("surgeon", "medic"), ("clerk", "office"), ("cashier", "office"),
                        ("medic", "work"), ("office", "work")], name="jobs")  # fmt: skip
    release = ks.anonymize(
        {"job": COLUMNS["job"]}, k=20, quasi_identifiers=["job"], taxonomies={"job": kinds}, suppression=0.0
    )
    assert set(release.frame["job"]) == {"medic", "office"}


def test_next_month_is_recoded_alike() -> None:
    release = ks.anonymize(pd.DataFrame(COLUMNS), k=4, method="optimal", **ROLES)
    later = pd.DataFrame(COLUMNS).iloc[::-1].reset_index(drop=True)
    again = release.apply(later)
    assert again.verification.ok
    assert sorted(again.frame["age"]) == sorted(release.frame["age"])


def test_an_unmet_goal_gives_nothing() -> None:
    with pytest.raises(Infeasible):
        ks.anonymize({"age": [1, 2, 3]}, k=5, quasi_identifiers=["age"])


def test_a_misspelt_column_is_named_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="Did you mean age"):
        ks.anonymize(COLUMNS, quasi_identifiers=["ages"])


def test_two_roles_for_a_column_are_refused() -> None:
    with pytest.raises(BadInput, match="choose one role"):
        ks.anonymize(COLUMNS, quasi_identifiers=["age"], identifiers=["age"])


def test_nothing_shows_a_value_of_a_person(tmp_path: Path) -> None:
    secret = {**COLUMNS, "illness": [f"secret{i % 3}" for i in range(40)]}
    release = ks.anonymize(secret, k=4, **ROLES)
    results: list[Any] = [
        release,
        release.verification,
        ks.inspect(secret),
        ks.assess(secret, release.frame, ["age", "job"], sensitive=["illness"]),
        ks.compare(secret, ["optimal"], k=4, **ROLES),
        ks.guide(secret),
    ]
    for result in results:
        shown = repr(result) + result._repr_html_()
        assert "secret" not in shown, type(result)
        assert "p17" not in shown
        assert len(repr(result)) < 200
        assert "<script" not in shown


def test_names_are_escaped_in_notebooks() -> None:
    release = ks.anonymize(
        {"<script>alert(1)</script>": [1, 2] * 20}, k=4, quasi_identifiers="<script>alert(1)</script>"
    )
    assert "<script>" not in release._repr_html_()


def test_a_report_and_a_saved_release(tmp_path: Path) -> None:
    release = ks.anonymize(pd.DataFrame(COLUMNS), k=4, **ROLES)
    assert "Verified" in release.report(tmp_path / "report.html").read_text()
    file = release.save(tmp_path / "release")
    assert file.is_file()
    assert (tmp_path / "release" / "release.json").is_file()
    assert oct((tmp_path / "release" / "private").stat().st_mode)[-3:] == "700"


def test_verify_tells_a_broken_promise() -> None:
    assert ks.verify(pd.DataFrame({"job": ["a", "a", "b"]}), k=2, quasi_identifiers="job").ok is False


def test_compare_says_what_each_method_would_lose() -> None:
    comparison = ks.compare(COLUMNS, ["optimal", "mondrian"], k=4, **ROLES)
    assert [trial.name for trial in comparison] == ["optimal", "mondrian"]
    assert all(trial.ok and trial.figure("utility", "certainty penalty") is not None for trial in comparison)


def test_guide_is_a_function_though_a_package_has_its_name() -> None:
    import keepsense.guide.catalogue

    assert ks.guide(COLUMNS).advice
    assert keepsense.guide.catalogue.entry("datafly")
