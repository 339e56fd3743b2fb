"""A table of PostgreSQL through the installed command: inspected, drafted, and released as a file."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.postgresql import Server, server

__all__ = ["server"]

JOBS = ("nurse", "surgeon", "baker", "clerk", "farmer")


@pytest.fixture
def table(server: Server) -> str:
    """A table of people in a schema of its own, with types that files lack."""
    server.execute(
        "DROP SCHEMA IF EXISTS clinic CASCADE",
        "CREATE SCHEMA clinic",
        "CREATE TABLE clinic.people (id integer, sex char(1), born date, job text, illness varchar(40),"
        " paid numeric(8, 2), seen timestamptz, allergies text[])",
        "INSERT INTO clinic.people SELECT i, substr('fm', 1 + i % 2, 1), date '1960-01-01' + (i % 20) * 366,"
        f" (ARRAY{list(JOBS)})[1 + i % 5], (ARRAY['flu', 'cold', 'fever'])[1 + i % 3], 1000 + i / 10.0,"
        " timestamptz '2024-01-01 00:00+00' + i * interval '1 hour', ARRAY['nuts', 'it''s, dust']"
        " FROM generate_series(1, 120) AS i",
    )
    return "clinic.people"


def keepsense(folder: Path, *words: str, password: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the installed command, or the module where the script is not installed."""
    script = Path(sys.executable).with_name("keepsense")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "keepsense"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    environment |= {"KEEPSENSE_HOME": str(folder / "home"), "COLUMNS": "120", "NO_COLOR": "1"}
    environment |= {"PGPASSFILE": str(folder / "none")} | ({} if password is None else {"PGPASSWORD": password})
    done = subprocess.run(
        [*program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def test_from_a_database_table_to_a_verified_file(server: Server, table: str, tmp_path: Path) -> None:
    address = server.without_password()
    drafted = keepsense(tmp_path, "init", address, "--table", table, "--k", "3", password=server.password)
    assert drafted.returncode == 0, drafted.stderr
    text = (tmp_path / "keepsense.toml").read_text(encoding="utf-8")
    assert address in text
    assert server.password not in text
    made = keepsense(tmp_path, "run", "--json", password=server.password)
    assert made.returncode == 0, made.stderr
    said = json.loads(made.stdout)
    assert said["verified"] is True
    released = tmp_path / said["file"]
    assert released.suffix == ".csv"
    with released.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert "id" not in rows[0]
    assert set(rows[0]) >= {"sex", "job", "illness"}
    for found in tmp_path.rglob("*"):
        if found.is_file():
            assert server.password.encode() not in found.read_bytes(), f"the password is in {found.name}"


def test_a_password_given_in_the_address_stays_out_of_the_project_file(
    server: Server, table: str, tmp_path: Path
) -> None:
    drafted = keepsense(tmp_path, "init", server.address(), "--table", table, "--quiet")
    assert drafted.returncode == 0, drafted.stderr
    assert server.password not in (tmp_path / "keepsense.toml").read_text(encoding="utf-8")
    assert server.password not in drafted.stdout + drafted.stderr


def test_what_goes_wrong_is_told_without_secrets(server: Server, table: str, tmp_path: Path) -> None:
    wrong = server.address(password="s3cr3t")
    for words, message in (
        ((wrong, "--table", table), "the user or the password is wrong"),
        ((server.without_password(), "--table", table), "PGPASSWORD"),
        ((server.address(), "--table", "clinic.peopel"), "Did you mean people"),
        ((server.address(),), "which PostgreSQL table"),
    ):
        said = keepsense(tmp_path, "inspect", *words)
        assert said.returncode == 2
        assert message in " ".join(said.stderr.split())
        assert "s3cr3t" not in said.stdout + said.stderr
        assert server.password not in said.stdout + said.stderr
