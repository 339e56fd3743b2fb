"""Projects of ARX, in archives made by hand as ARX writes them."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from typer.testing import CliRunner

from keepsense.cli import app
from keepsense.draft.arx_project import read_arx_project
from keepsense.errors import BadInput
from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy

ROLES = {
    "name": "IDENTIFYING_ATTRIBUTE",
    "the age": "QUASI_IDENTIFYING_ATTRIBUTE",
    "job": "QUASI_IDENTIFYING_ATTRIBUTE",
    "illness": "SENSITIVE_ATTRIBUTE",
    "stay": "INSENSITIVE_ATTRIBUTE",
}
CRITERIA = ("3-anonymity", "distinct-2-diversity for attribute 'illness'")
JOBS = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]


def config(criteria: tuple[str, ...] = CRITERIA, limit: str = "0.1") -> str:
    spelled = "".join(f"<criterion>{c.replace('<', '&lt;')}</criterion>" for c in criteria)
    return (
        f"<config><relativeMaxOutliers>{limit}</relativeMaxOutliers><attributeWeights><attributeWeight><attribute>job"
        f"</attribute><weight>0.5</weight></attributeWeight></attributeWeights><criteria>{spelled}</criteria></config>"
    )


def definition(more: str = "") -> str:
    ref = f"<ref>hierarchies/job.csv</ref><min>All</min><max>All</max>{more}"
    columns = "".join(
        f"<assigment><name>{name}</name><type>{role}</type><datatype>String</datatype>"
        f"{ref if name == 'job' else ''}</assigment>"
        for name, role in ROLES.items()
    )
    return f"<definition>{columns}</definition>"


def archive(entries: Mapping[str, str] | None = None, *, delimiter: str = ";", packed: bool = True) -> bytes:
    """An archive as ARX saves it; `entries` are put in place of the usual ones, an empty one is left out."""
    rows = [list(ROLES)]
    for i in range(60):
        job = JOBS[i % 3][0]
        rows.append([f"person {i}", str(30 + i % 2), job, ("flu", "cold", "cough")[i // 3 % 3], str(i % 5)])
    usual = {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>",
        "project.dat": "\xac\xed never read",
        "project.xml": f"<project><name>Example</name><separator>{delimiter}</separator></project>",
        "data/input.csv": "".join(delimiter.join(row) + "\n" for row in rows),
        "input/config.xml": config(),
        "input/definition.xml": definition(),
        "input/hierarchies/job.csv": "".join(delimiter.join(row) + "\n" for row in JOBS),
    }
    made = io.BytesIO()
    with ZipFile(made, "w") as file:
        for name, text in {**usual, **(entries or {})}.items():
            if text:
                file.writestr(ZipInfo(name), text, ZIP_DEFLATED if packed else ZIP_STORED)
    return made.getvalue()


def saved(folder: Path, raw: bytes) -> Path:
    path = folder / "people.deid"
    path.write_bytes(raw)
    return path


def test_roles_hierarchies_promises_and_the_limit_are_read(tmp_path: Path) -> None:
    project = read_arx_project(saved(tmp_path, archive()))
    assert dict(project.roles) == {
        "name": "identifier",
        "the age": "quasi-identifier",
        "job": "quasi-identifier",
        "illness": "sensitive",
        "stay": "insensitive",
    }
    assert project.promises == (
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2, "column": "illness"},
    )
    assert (project.suppression, project.left_out, list(project.hierarchies)) == (0.1, (), ["job"])


@pytest.mark.parametrize("delimiter", [";", ","])
def test_a_project_becomes_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delimiter: str) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, archive(delimiter=delimiter))
    answer = CliRunner().invoke(app, ["init", "people.deid", "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["left out"] == []
    project = tomllib.loads((tmp_path / "keepsense.toml").read_text(encoding="utf-8"))
    assert project["source"]["path"] == "people/table.csv"
    assert [promise["model"] for promise in project["privacy"]] == ["k-anonymity", "l-diversity"]
    assert project["release"]["suppression"] == 0.1
    assert {name: column["role"] for name, column in project["columns"].items()}["illness"] == "sensitive"
    hierarchy = project["columns"]["job"]["hierarchy"]
    assert set(read_hierarchy(tmp_path / hierarchy).leaves) == {"nurse", "surgeon", "clerk"}
    done = CliRunner().invoke(app, ["run", "--json", "--set", 'columns.stay.accept="identifying"'])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["verified"]
    again = CliRunner().invoke(app, ["init", "people.deid", "-o", "other.toml"])
    assert again.exit_code != 0
    assert "this is there already" in " ".join(str(again.output).split()) + str(again.exception)


@pytest.mark.parametrize(
    ("spelled", "promise"),
    [
        ("5-anonymity", {"model": "k-anonymity", "k": 5}),
        (
            "shannon-entropy-3.0-diversity for attribute 'illness'",
            {"model": "l-diversity", "form": "entropy", "l": 3, "column": "illness"},
        ),
        (
            "recursive-(4.0,3)-diversity for attribute 'illness'",
            {"model": "l-diversity", "form": "recursive", "c": 4.0, "l": 3, "column": "illness"},
        ),
        (
            "0.2-closeness with equal ground-distance for attribute 'illness'",
            {"model": "t-closeness", "t": 0.2, "column": "illness", "ground": "equal"},
        ),
        (
            "0.2-closeness with ordered distance for attribute 'illness'",
            {"model": "t-closeness", "t": 0.2, "column": "illness", "ground": "ordered"},
        ),
        ("1.5-disclosure privacy for attribute 'ill'", {"model": "delta-disclosure", "delta": 1.5, "column": "ill"}),
        (
            "enhanced-1.0-likeness for attribute 'ill'",
            {"model": "beta-likeness", "form": "enhanced", "beta": 1.0, "column": "ill"},
        ),
        ("(1.0E-2)-avg-reidentification-risk", {"model": "average risk", "threshold": 0.01}),
        (
            "(0.1, 0.2 (0.2), 0.0)-avg-reidentification-risk",
            {"model": "strict-average risk", "threshold": 0.1, "k": 5},
        ),
        ("(0.0)-sample-uniqueness", {"model": "k-anonymity", "k": 2}),
    ],
)
def test_models_in_our_words(tmp_path: Path, spelled: str, promise: dict[str, object]) -> None:
    project = read_arx_project(saved(tmp_path, archive({"input/config.xml": config((spelled,))})))
    assert project.promises == (promise,)


@pytest.mark.parametrize(
    "spelled",
    [
        "Inclusion",
        "(5)-map estimated as (unknown)-anonymity (POISSON)",
        "(0.1,0.5)-presence",
        "(1.0E-4)-population-uniqueness (dankar)",
        "0.2-closeness with hierarchical ground-distance for attribute 'illness'",
        "(2.0,1.0E-6)-DP",
        "grassberger-entropy-3.0-diversity for attribute 'illness'",
        "profitability (prosecutor)",
        "something new",
    ],
)
def test_models_that_are_not_taken_over_are_named(tmp_path: Path, spelled: str) -> None:
    project = read_arx_project(saved(tmp_path, archive({"input/config.xml": config((spelled, "5-anonymity"))})))
    assert project.promises == ({"model": "k-anonymity", "k": 5},)
    assert len(project.left_out) == 1
    assert project.left_out[0].startswith(f"The model {spelled!r} is left out: ")


@pytest.mark.parametrize(
    ("spelled", "promise", "more"),
    [
        (
            "(0.1, 0.0909 (0.09), 0.05)-avg-reidentification-risk",
            {"model": "strict-average risk", "threshold": 0.1, "k": 12},
            "no record at all",
        ),
        ("(0.05)-sample-uniqueness", {"model": "k-anonymity", "k": 2}, "promises that there are none"),
    ],
)
def test_what_is_promised_beyond_theirs_is_told(
    tmp_path: Path, spelled: str, promise: dict[str, object], more: str
) -> None:
    project = read_arx_project(saved(tmp_path, archive({"input/config.xml": config((spelled,))})))
    assert project.promises == (promise,)
    assert [more in sentence for sentence in project.left_out] == [True]


def test_hierarchical_closeness_brings_the_hierarchy_of_its_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spelled = "0.6-closeness with hierarchical ground-distance for attribute 'illness'"
    ill = "flu;chest;*\ncough;chest;*\ncold;nose;*\n"
    entries = {"input/config.xml": config(("3-anonymity", spelled)), "input/hierarchies/illness.csv": ill}
    saved(tmp_path, archive(entries))
    answer = CliRunner().invoke(app, ["init", "people.deid", "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["left out"] == []
    project = tomllib.loads((tmp_path / "keepsense.toml").read_text(encoding="utf-8"))
    promise = {"model": "t-closeness", "t": 0.6, "column": "illness", "ground": "hierarchical"}
    assert project["privacy"][1] == promise
    assert set(read_hierarchy(tmp_path / project["columns"]["illness"]["hierarchy"]).leaves) == {"flu", "cough", "cold"}
    done = CliRunner().invoke(app, ["run", "--json", "--set", 'columns.stay.accept="identifying"'])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["verified"]


def test_weights_become_weights_of_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    both = (
        "<attributeWeight><attribute>the age</attribute><weight>0.75</weight></attributeWeight>"
        "<attributeWeight><attribute>illness</attribute><weight>0.0</weight></attributeWeight></attributeWeights>"
    )
    saved(tmp_path, archive({"input/config.xml": config().replace("</attributeWeights>", both)}))
    answer = CliRunner().invoke(app, ["init", "people.deid", "--json"])
    assert answer.exit_code == 0, answer.output
    (sentence,) = json.loads(answer.stdout)["left out"]
    assert sentence.startswith("Column 'illness': its weight")
    columns = tomllib.loads((tmp_path / "keepsense.toml").read_text(encoding="utf-8"))["columns"]
    assert columns["the age"]["weight"] == 1.5
    assert "weight" not in columns["job"], "half, which ARX gives to all, is 1"


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("Loss (0.5/1.0/1.0)", []),
        ("Non-monotonic discernability", ['metric = "discernibility"']),
        ("Monotonic discernability (DM*)", ['metric = "discernibility"']),
        ("Average equivalence class size", ['metric = "average class size"']),
        ("Ambiguity", ["least loss instead"]),
    ],
)
def test_utility_measures_have_their_words(tmp_path: Path, measure: str, told: list[str]) -> None:
    spelled = config().replace("<config>", f"<config><metric>{measure}</metric>")
    left_out = read_arx_project(saved(tmp_path, archive({"input/config.xml": spelled}))).left_out
    assert [words in sentence for words, sentence in zip(told, left_out, strict=True)] == [True] * len(told)


def test_settings_that_are_not_taken_over_are_named(tmp_path: Path) -> None:
    more = "<response>true</response><microaggregationFunction>Arithmetic mean</microaggregationFunction>"
    spelled = definition(more).replace("<min>All", "<min>1")
    levels, means, target = read_arx_project(saved(tmp_path, archive({"input/definition.xml": spelled}))).left_out
    assert "levels" in levels
    assert "means" in means
    assert "target" in target


BOMB = '<!DOCTYPE config [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><config>&b;</config>'


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"input/config.xml": BOMB}, "declares a document type or entities"),
        ({"input/config.xml": '<!DOCTYPE c SYSTEM "file:///etc/passwd"><c/>'}, "declares a document type"),
        ({"input/config.xml": "<a>" * 60 + "</a>" * 60}, "nested deeper"),
        ({"input/config.xml": "<config>"}, r"is not XML \(line 1\)"),
        ({"input/config.xml": config(limit="7")}, "suppression limit"),
        ({"../../outside.csv": "x"}, "outside of itself"),
        ({"/etc/outside.csv": "x"}, "outside of itself"),
        ({"lattice.xml": " " * (1 << 27)}, "many times its size"),
        ({"data/input.csv": ""}, "has no data/input.csv"),
        ({"project.xml": "<project><separator>;;</separator></project>"}, "separator"),
    ],
)
def test_hostile_archives_are_refused(tmp_path: Path, entries: dict[str, str], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        read_arx_project(saved(tmp_path, archive(entries)))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"people\.deid: this is not an ARX project \(BadZipFile\)"):
        read_arx_project(saved(tmp_path, b"PK no archive"))


def test_names_of_columns_lead_nowhere_else(tmp_path: Path) -> None:
    spelled = definition().replace("<name>job<", "<name>x/../../job<").replace("<name>stay<", "<name>a\\b<")
    raw = archive({"input/definition.xml": spelled, "input/hierarchies/job.csv": ""})
    project = read_arx_project(saved(tmp_path, raw))
    project.unpack(tmp_path / "inner" / "people")
    assert {file.name for file in tmp_path.iterdir()} == {"people.deid", "inner"}
    assert {file.name for file in (tmp_path / "inner").rglob("*")} == {"people", "table.csv"}
