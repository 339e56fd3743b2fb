"""The publisher's workflow from the outside: commands on every format, from table to verified release."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.pins import terminal

from keepsense.engines.protocol import Reading, engine

FORMATS = ("people.csv", "people.parquet", "people.xlsx", "people.jsonl", "people.arrow", "people.duckdb", "people.db")
FORMATS += ("people.rds", "people.RData", "people.sav", "people.dta")


class Said(terminal.Answer):
    """What a command left behind."""

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def keepsense(folder: Path, *words: str) -> Said:
    done = terminal.keepsense(*words, folder=folder)
    assert "Traceback" not in done.out + done.err
    return Said(done.code, done.out, done.err)


def people(rows: int = 90) -> pa.Table:
    jobs = ("nurse", "surgeon", "baker", "clerk", "farmer", "falconer")
    return pa.table(
        {
            "id": list(range(rows)),
            "sex": ["fm"[i % 2] for i in range(rows)],
            "age": [20 + i % 30 for i in range(rows)],
            "job": [jobs[i % 5] if i != 7 else "falconer" for i in range(rows)],
            "illness": [("flu", "cold", "=asthma")[i % 3] for i in range(rows)],
        }
    )


def write(table: pa.Table, path: Path) -> None:
    if path.suffix == ".csv":
        names = table.column_names
        rows = [",".join(names), *(",".join(str(r[n]) for n in names) for r in table.to_pylist())]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        book.active.append(table.column_names)
        for row in table.to_pylist():
            # an Excel cell that starts with = would be a formula
            book.active.append([v.lstrip("=") if isinstance(v, str) else v for v in row.values()])
        book.save(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    elif path.suffix == ".arrow":
        feather.write_feather(table, path)
    elif path.suffix in (".rds", ".RData", ".sav", ".dta"):
        with engine() as duck:
            duck.write(duck.read(table), path)
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as base:
            base.register("t", table)
            base.execute("CREATE TABLE people AS SELECT * FROM t")
    else:
        with closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE people (id INTEGER, sex TEXT, age INTEGER, job TEXT, illness TEXT)")
            base.executemany(
                "INSERT INTO people VALUES (?, ?, ?, ?, ?)", [tuple(r.values()) for r in table.to_pylist()]
            )
            base.commit()


@pytest.mark.parametrize("name", FORMATS)
def test_from_a_table_to_a_verified_release_in_every_format(tmp_path: Path, name: str) -> None:
    write(people(), tmp_path / name)
    drafted = keepsense(tmp_path, "init", name, "--k", "3", "--json")
    assert drafted.code == 0, drafted.err
    assert drafted.json["rows"] == 90
    done = keepsense(tmp_path, "run", "--json", "--seed", "4242424242")
    assert done.code == 0, done.err
    about = done.json
    assert about["verified"] is True
    assert about["risk"]["after"]["prosecutor, highest"] <= 1 / 3
    assert {p.name for p in (tmp_path / "release").iterdir()} == {name, "release.json", "private"}
    checked = keepsense(tmp_path, "verify", f"release/{name}", "--json")
    assert (checked.code, checked.json["ok"]) == (0, True), checked.out
    assessed = keepsense(tmp_path, "assess", name, f"release/{name}", "-p", "keepsense.toml", "--json")
    assert assessed.code == 0, assessed.err
    assert assessed.json["k"] >= 3
    with engine() as duck:
        released = duck.read(str(tmp_path / "release" / name), Reading())
        assert released.columns == ("sex", "age", "job", "illness")
        assert released.rows == 90 - about["of them left out"] >= 85
        before = duck.read(str(tmp_path / name))
        kept = [dict(zip(t.columns, t.types, strict=True))["illness"] for t in (before, released)]
        assert kept[0] == kept[1]
    public = (tmp_path / "release" / "release.json").read_text(encoding="utf-8") + done.out + done.err
    assert "4242424242" not in public
    assert "falconer" not in public or about["suppressed records"] == 0


def test_a_table_of_another_dialect_and_encoding_is_published(tmp_path: Path) -> None:
    lines = ["städt;wert"] + ["Köln;flu", "Zürich;cold"] * 10
    (tmp_path / "x.csv").write_bytes("\n".join(lines).encode("cp1252"))
    assert keepsense(tmp_path, "init", "x.csv", "-q").code == 0
    done = keepsense(tmp_path, "run", "--json")
    assert done.code == 0, done.err
    assert "Köln" in (tmp_path / "release" / "x.csv").read_text(encoding="utf-8")


def test_formulas_are_defused_on_the_way_to_a_spreadsheet(tmp_path: Path) -> None:
    write(people(), tmp_path / "people.csv")
    keepsense(tmp_path, "init", "people.csv", "-q")
    assert keepsense(tmp_path, "run", "-q").code == 0
    text = (tmp_path / "release" / "people.csv").read_text(encoding="utf-8")
    assert ",=asthma" not in text
    assert ",'=asthma" in text


def test_exit_codes_tell_what_happened(tmp_path: Path) -> None:
    write(people(), tmp_path / "people.csv")
    assert keepsense(tmp_path, "run").code == 2
    keepsense(tmp_path, "init", "people.csv", "-q")
    again = keepsense(tmp_path, "init", "people.csv")
    assert again.code == 2
    assert "--force" in again.err
    project = tmp_path / "keepsense.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("k = 5", "k = 1000"), encoding="utf-8")
    impossible = keepsense(tmp_path, "run", "--json")
    assert impossible.code == 1
    assert impossible.json["exit"] == 1
    assert "you could" in impossible.err
    project.write_text(text.replace("suppression =", "supression ="), encoding="utf-8")
    misspelt = keepsense(tmp_path, "run")
    assert misspelt.code == 2
    assert "Did you mean suppression" in misspelt.err
    assert not (tmp_path / "release").exists()
    project.write_text(text, encoding="utf-8")
    assert keepsense(tmp_path, "run", "-q") == Said(0, "\n", "\n")
    assert keepsense(tmp_path, "verify", "people.csv", "--alone", "--json").json["ok"] is False
    assert keepsense(tmp_path, "verify", "people.csv", "-q").code == 1


def test_a_broken_promise_names_its_classes_only_when_asked(tmp_path: Path) -> None:
    """Swapping keeps no class of k together, so the verifier refuses what was promised."""
    write(people(), tmp_path / "people.csv")
    keepsense(tmp_path, "init", "people.csv", "-q")
    project = tmp_path / "keepsense.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace('name = "optimal"', 'name = "rank swapping"'), encoding="utf-8")
    silent = keepsense(tmp_path, "run")
    assert silent.code == 1
    assert "--show-values" in silent.err
    assert "nurse" not in silent.err
    told = keepsense(tmp_path, "run", "--show-values")
    assert told.code == 1
    assert "fails: " in told.err
    assert not (tmp_path / "release").exists()


def test_next_months_file_reuses_the_recoding(tmp_path: Path) -> None:
    write(people(), tmp_path / "people.csv")
    keepsense(tmp_path, "init", "people.csv", "-q")
    assert keepsense(tmp_path, "run", "-q").code == 0
    write(people(180), tmp_path / "people.csv")
    done = keepsense(tmp_path, "run", "--reuse", "release/private/recoding.json", "--json")
    assert done.code == 0, done.err
    assert done.json["records"] == 180 - done.json["of them left out"] >= 175
    write(people(12), tmp_path / "people.csv")
    assert keepsense(tmp_path, "run", "--reuse", "release/private/recoding.json").code == 1


def test_projects_are_compared_and_the_schema_is_written(tmp_path: Path) -> None:
    write(people(), tmp_path / "people.csv")
    keepsense(tmp_path, "init", "people.csv", "-q")
    keepsense(tmp_path, "init", "people.csv", "-q", "-o", "strict.toml", "--k", "20")
    said = keepsense(tmp_path, "compare", "keepsense.toml", "strict.toml", "--json").json["projects"]
    assert [p["ok"] for p in said] == [True, True]
    assert said[0]["classes"] >= said[1]["classes"]
    assert not (tmp_path / "release").exists()
    assert keepsense(tmp_path, "schema", "-o", "schema.json").code == 0
    assert json.loads((tmp_path / "schema.json").read_text(encoding="utf-8"))["title"] == "Project"
    assert keepsense(tmp_path, "schema").json["title"] == "Project"


def test_hierarchies_on_the_command_line(tmp_path: Path) -> None:
    write(people(), tmp_path / "people.csv")
    built = keepsense(tmp_path, "hierarchy", "build", "people.csv", "job", "-o", "job.json", "--seed", "1", "--json")
    assert built.code == 0, built.err
    assert built.json["values"] == 6
    assert keepsense(tmp_path, "hierarchy", "build", "people.csv", "age", "-o", "age.csv", "-q").code == 0
    assert keepsense(tmp_path, "hierarchy", "convert", "job.json", "job.csv", "-q").code == 0
    assert keepsense(tmp_path, "hierarchy", "convert", "job.csv", "job.xml", "-q").code == 0
    score = keepsense(tmp_path, "hierarchy", "score", "job.csv", "--json").json["hierarchies"][0]
    assert 0 < score["score"] < 1
    assert "GSL" in keepsense(tmp_path, "hierarchy", "explain", "job.csv").out
    better = keepsense(tmp_path, "hierarchy", "improve", "job.csv", "-o", "better.json", "--json").json
    assert better["after"] <= better["before"]
    ranked = keepsense(tmp_path, "hierarchy", "choose", "job.csv", "better.json", "--json").json
    assert ranked["chosen"] in ("job.csv", "better.json")
    top = str(built.json["height"])
    renamed = keepsense(tmp_path, "hierarchy", "edit", "job.csv", "rename", f"level={top}", "label=*", "to=anybody")
    assert renamed.code == 0, renamed.err
    assert "anybody" in (tmp_path / "job.csv").read_text(encoding="utf-8")
    assert keepsense(tmp_path, "hierarchy", "score", "age.csv", "--kind", "numeric", "--json").code == 0
    assert keepsense(tmp_path, "hierarchy", "convert", "job.csv", "job.docx").code == 2
    assert keepsense(tmp_path, "hierarchy", "edit", "job.csv", "renam", "level=1").code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for child processes")
@pytest.mark.parametrize("wait", [0.0, 0.6, 1.5])
def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path, wait: float) -> None:
    table = people(400_000)
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "keepsense.toml").write_text(
        """
        source.path = "people.parquet"
        unlisted = "keep"
        privacy = [{ model = "k-anonymity", k = 3 }]
        release.file = "people.csv"
        [columns]
        id.role = "identifier"
        sex.role = "quasi-identifier"
        age = { role = "quasi-identifier", kind = "numeric" }
        job.role = "quasi-identifier"
        """,
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "keepsense", "run"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and not (tmp_path / "release").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert b"Traceback" not in err
    whole = {"people.csv", "release.json", "private"}
    left = {p.name for p in (tmp_path / "release").iterdir()} if (tmp_path / "release").exists() else set()
    if process.returncode == 0:
        assert left == whole, "the run was over before the interrupt came"
    else:
        # the signal itself ends a process that has done its work and is already going down
        assert process.returncode in (130, -signal.SIGINT), err
        assert left in (set(), whole)
        assert bool(left) == (tmp_path / "ledger.jsonl").exists()
