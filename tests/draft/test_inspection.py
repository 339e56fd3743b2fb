"""What an inspection finds out about columns, and the project file that is drafted from it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.release.tables import write_people

from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import inspect
from keepsense.draft.project_text import draft, source_keys, write_draft
from keepsense.engines.protocol import Reading
from keepsense.errors import BadInput
from keepsense.project.project_file import Project, check_project, json_schema, read_project
from keepsense.release.run import run
from keepsense.taxonomy.taxonomy_builder import from_edges


def column(cells: list[Any], name: str = "x") -> Inspected:
    return inspect({name: cells}).columns[0]


@pytest.mark.parametrize(
    ("cells", "name", "kind", "role"),
    [
        ([f"p{i}@example.org" for i in range(30)], "contact", "nominal", "identifier"),
        ([str(i) for i in range(30)], "patient_id", "numeric", "identifier"),
        ([str(i // 3) for i in range(30)], "patientId", "numeric", "person"),
        ([f"+44 20 7946 0{i:03}" for i in range(30)], "x", "nominal", "identifier"),
        (["f", "m"] * 15, "sex", "nominal", "quasi-identifier"),
        ([20 + i % 50 for i in range(60)], "age", "numeric", "quasi-identifier"),
        (["01067", "20095", "01069"] * 10, "x", "code", "quasi-identifier"),
        ([81667 + i % 9 for i in range(40)], "zip", "code", "quasi-identifier"),
        ([f"19{i:02}-01-31" for i in range(10, 40)], "born", "date", "quasi-identifier"),
        (["31/12/1999", "1.2.2003"] * 10, "birthday", "nominal", "quasi-identifier"),
        (["low", "high", "medium"] * 10, "x", "ordinal", "quasi-identifier"),
        (["tea;novel", "novel;jazz", "jazz;tea", "tea"] * 10, "likes", "set", "quasi-identifier"),
        ([["tea", "novel"], ["jazz"]] * 10, "likes", "set", "quasi-identifier"),
        (["flu", "cold", "asthma"] * 10, "diagnosis", "nominal", "sensitive"),
        ([i * 1.37 for i in range(1, 40)], "glucose", "numeric", "sensitive"),
        ([100 + i for i in range(30)], "fnlwgt", "numeric", "weight"),
        ([100 + i for i in range(30)], "survey_weight", "numeric", "weight"),
        (["same"] * 30, "x", "nominal", "insensitive"),
        ([f"complains of pain number {i} since last Monday" for i in range(30)], "note", "nominal", "identifier"),
        ([f"zq{i}x" for i in range(30)], "x", "nominal", "identifier"),
        (["Paris, France", "Lyon, France", "Rome, Italy"] * 9, "place", "nominal", "quasi-identifier"),
    ],
)
def test_kinds_and_roles_are_guessed(cells: list[Any], name: str, kind: str, role: str) -> None:
    found = column(cells, name)
    assert (found.kind, found.role) == (kind, role), found.reason
    assert found.reason


def test_numbers_of_a_column_are_right() -> None:
    seen = column(["a", "a", "b", " ", None, "c"]).profile
    assert (seen.rows, seen.missing, seen.distinct, seen.single, seen.filled) == (6, 2, 3, 2, 4)
    assert dict(seen.values) == {"a": 2, "b": 1, "c": 1}
    assert seen.complete


def test_words_are_looked_up_and_their_domain_is_found() -> None:
    found = column(["nurse", "surgeon", "pilot", "baker", "xyzzq"] * 8, "job")
    assert found.meaning is not None
    assert (found.meaning.taxonomy, found.meaning.domain, found.meaning.rows) == ("wordnet", "person", 0.8)


def test_another_taxonomy_is_tried_when_it_is_given() -> None:
    own = from_edges([("zorg", "thing"), ("blarf", "thing"), ("quux", "thing")])
    cells = ["zorg", "blarf", "quux", "nurse"] * 8
    best = inspect({"x": cells}, taxonomies={"mine": own}).columns[0].meaning
    assert best is not None
    assert (best.taxonomy, best.rows) == ("mine", 0.75)
    assert inspect({"x": cells}, taxonomies={"mine": from_edges([("a", "b")])}).columns[0].meaning is None


def test_an_inspection_says_nothing_of_the_values(tmp_path: Path) -> None:
    from keepsense.commands.inspect_command import as_data

    found = inspect(write_people(tmp_path))
    told = repr(as_data(found))
    for secret in ("Name7", "falconer", "nurse", "asthma"):
        assert secret not in told
    assert "falconer" in repr(as_data(found, values=50))


# ---- drafts ----------------------------------------------------------------------------------------------------------


def test_a_draft_is_the_same_each_time_and_runs_as_it_is(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    text = draft(inspect(path), source={"path": "people.csv"})
    assert text == draft(inspect(path), source={"path": "people.csv"})
    file = write_draft(text, tmp_path / "keepsense.toml")
    project = read_project(file)
    assert project.having("identifier") == ("id", "name")
    assert project.having("sensitive") == ("illness",)
    assert [p["model"] for p in project.privacy] == ["k-anonymity", "l-diversity"]
    assert run(file, rng=1).verification.ok


def test_every_key_of_the_project_file_is_explained_in_a_draft(tmp_path: Path) -> None:
    text = draft(inspect(write_people(tmp_path)))
    for part in json_schema()["$defs"].values():
        for key, about in part["properties"].items():
            assert key in text
            if "description" in about and key not in ("role", "kind"):
                assert about["description"] in text, key


def test_a_project_file_is_not_overwritten_unless_forced(tmp_path: Path) -> None:
    file = tmp_path / "keepsense.toml"
    write_draft("a = 1", file)
    with pytest.raises(BadInput, match="--force"):
        write_draft("a = 2", file)
    assert file.read_text(encoding="utf-8") == "a = 1"
    write_draft("a = 2", file, force=True)
    assert file.read_text(encoding="utf-8") == "a = 2"


def test_passwords_do_not_get_into_the_file(tmp_path: Path) -> None:
    found = source_keys("postgresql://ann:s3cret@host:5432/base", Reading(table="people"), tmp_path)
    assert found == {"path": "postgresql://ann@host:5432/base", "table": "people"}
    assert source_keys(str(tmp_path / "a" / "x.csv"), Reading(delimiter=";"), tmp_path) == {
        "path": "a/x.csv",
        "delimiter": ";",
    }


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=12).filter(lambda name: "\0" not in name and name.strip() == name))
def test_any_column_name_survives_a_draft(name: str) -> None:
    found = inspect({name: ["a", "b"] * 6, f"{name}2": ["c", "d"] * 6}, taxonomies={"t": from_edges([("a", "b")])})
    project = check_project(tomllib.loads(draft(found, source={"path": "x.csv"})))
    assert list(project.columns) == [name, f"{name}2"]


# ---- project files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sorce": {}}, "Did you mean source"),
        ({"release": {"supression": 0.1}}, r"unknown key 'supression' in \[release\]. Did you mean suppression"),
        ({"columns": {"a": {"role": "quasi-identifer"}}}, "Did you mean quasi-identifier"),
        ({"columns": {"a": {"knd": "set"}}}, "Did you mean kind"),
        ({"release": {"suppression": 2}}, "release.suppression"),
        ({"privacy": []}, "no promise is given"),
        ({"privacy": [{"k": 5}]}, "needs a model"),
        ({"columns": {"a": {"role": "person"}, "b": {"role": "person"}}}, "only one column"),
        ({"source": {}}, "source.path is missing"),
    ],
)
def test_mistakes_in_a_project_file_get_a_hint(change: dict[str, Any], message: str) -> None:
    good = {"source": {"path": "x.csv"}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(BadInput, match=message):
        check_project({**good, **change})


def test_the_schema_covers_the_whole_file() -> None:
    schema = json_schema()
    assert set(schema["properties"]) == set(Project.model_fields)
    assert schema["additionalProperties"] is False


def test_the_schema_knows_methods_promises_and_drafts(tmp_path: Path) -> None:
    """A drafted project fits the schema; a misspelt key, a promise without k and a wrong type do not."""
    jsonschema = pytest.importorskip("jsonschema")
    (tmp_path / "people.csv").write_text("job,age,ill\n" + "nurse,30,flu\nclerk,41,cold\nbaker,52,gout\n" * 8)
    text = draft(inspect(tmp_path / "people.csv"), source={"path": "people.csv"})
    checker = jsonschema.Draft202012Validator(json_schema())
    data = tomllib.loads(text)
    assert not list(checker.iter_errors(data))
    for section, value in (
        ("privacy", [{"model": "k-anonymity", "kk": 5}]),
        ("privacy", [{"model": "k-anonymity"}]),
        ("privacy", [{"model": "linkage risk", "threshold": "low"}]),
        ("metod", {"name": "optimal"}),
        ("release", {"folderr": "x"}),
    ):
        assert list(checker.iter_errors({**data, section: value})), section
    assert not list(checker.iter_errors({**data, "privacy": [{"model": "l-diversity", "l": 2, "column": "ill"}]}))


def test_project_files_beside_one_another_have_folders_of_their_own(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from keepsense.cli import app

    write_people(tmp_path)
    for name in ("keepsense.toml", "strict.toml"):
        CliRunner().invoke(app, ["init", str(tmp_path / "people.csv"), "-o", str(tmp_path / name), "-q"])
    folders = [read_project(tmp_path / name).release.folder for name in ("keepsense.toml", "strict.toml")]
    assert folders == ["release", "release-strict"]


def test_one_column_at_most_tells_the_person() -> None:
    visits = [f"p{i % 10}" for i in range(40)]
    columns = inspect({"patient_id": visits, "KEY": visits[::-1], "age": [20 + i % 9 for i in range(40)]}).columns
    assert [column.role for column in columns] == ["person", "identifier", "quasi-identifier"]
    assert columns[1].reason.endswith("the person is patient_id")


def test_a_given_role_stays_whatever_other_columns_tell() -> None:
    """A copy of a hidden column, and a number that tells another column, keep the role that was given."""
    towns = [f"town {i % 7}" for i in range(70)]
    table = {"town": towns, "again": [name.upper() for name in towns], "age": [20 + i % 35 for i in range(70)]}
    table |= {"pay": [100 * age + 3 for age in table["age"]], "patient_id": [f"p{i % 10}" for i in range(70)]}
    roles = {"again": "insensitive", "pay": "sensitive", "age": "quasi-identifier", "town": "quasi-identifier"}
    for said in (roles, {**roles, "again": "person"}):
        columns = {column.name: column for column in inspect(table, roles=said).columns}
        assert {name: columns[name].role for name in said} == said
        assert not any(columns[name].in_bands for name in said)
    assert columns["patient_id"].role != "person"  # one column at most tells the person


def test_what_a_file_of_spss_says_about_its_columns_is_used(tmp_path: Path) -> None:
    """Orders of scales and what a question was about; and the measure is in the release again."""
    pd, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    rows = 60
    random = np.random.default_rng(1)
    frame = pd.DataFrame({name: random.integers(1, 5, rows).astype(float) for name in ("v1", "w2", "x3", "y4")})
    steps = {1.0: "left early", 2.0: "went on", 3.0: "finished", 4.0: "taught"}
    pyreadstat.write_sav(
        frame,
        tmp_path / "x.sav",
        column_labels={
            "v1": "V1. Highest degree",
            "w2": "W2: Marital status",
            "x3": "X3 - How often do you eat out?",
            "y4": "Y4. Are you planning a long-term stay?",
        },
        variable_value_labels={"v1": steps, "w2": steps},
        variable_measure={"v1": "ordinal", "w2": "nominal", "x3": "scale", "y4": "scale"},
    )
    scale, status, question, long = inspect(tmp_path / "x.sav").columns
    assert (scale.kind, scale.order) == ("ordinal", ("left early", "went on", "finished", "taught"))
    assert "in the order that its source says" in scale.notes
    assert (status.kind, status.order) == ("nominal", None)
    assert status.reason == "its label says marital, which others may know"
    assert question.role == "sensitive"
    assert question.reason.startswith("its label is a question")
    assert "coordinates" not in long.reason
    run(write_draft(draft(inspect(tmp_path / "x.sav"), source={"path": "x.sav"}), tmp_path / "keepsense.toml"))
    about = pyreadstat.read_sav(tmp_path / "release" / "x.sav", metadataonly=True)[1]
    assert about.variable_measure["v1"] == "ordinal"
    assert about.column_names_to_labels["v1"] == "V1. Highest degree"


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_categories_in_order_are_a_scale(library: str) -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    order = ["left early", "went on", "finished"]
    frame = pd.DataFrame({"x": pd.Categorical(order[::-1] * 9, categories=order, ordered=True)})
    frame["y"] = pd.Categorical(order * 9, categories=order)
    scale, words = inspect(frame if library == "pandas" else pa.Table.from_pandas(frame)).columns
    assert (scale.kind, scale.order) == ("ordinal", tuple(order))
    assert (words.kind, words.order) == ("nominal", None)


def test_copies_are_found_in_tables_of_many_columns() -> None:
    """An item and the same item reversed, behind more pairs of columns than would be scanned one by one."""
    random = np.random.default_rng(1)
    table = {f"q{j}": random.integers(1, 6, 60).tolist() for j in range(40)}
    table["ra"] = [6 - value for value in table["q39"]]
    found = {column.name: column for column in inspect(table).columns}
    assert "says the same as q39" in found["ra"].notes
    assert found["ra"].role == found["q39"].role
