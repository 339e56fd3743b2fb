"""From a PostgreSQL table into another: nobody sees a release before it is verified, and none stays that is not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.postgresql import Server, server
from tests.release.tables import project, write_jobs

from keepsense.engines.formats.postgresql import mark
from keepsense.engines.protocol import engine
from keepsense.errors import BadInput, InDoubt, Infeasible
from keepsense.methods.method import METHODS, method
from keepsense.project.project_file import Project
from keepsense.recoding import Cut, Cuts
from keepsense.release.folder import place
from keepsense.release.folder.ledger import read_ledger
from keepsense.release.folder.place import place_of
from keepsense.release.job.job import Job
from keepsense.release.run import run
from keepsense.release.verify import verify_file
from keepsense.secure_random import generator

__all__ = ["server"]


@pytest.fixture
def people(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of people with types of its own, and the password where it belongs."""
    server.execute(
        "DROP TABLE IF EXISTS people, anonymous, other",
        "CREATE TABLE people (id bigint, sex text, age int, job text, likes text[], joined date, illness text)",
        "INSERT INTO people SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 20 + i % 40,"
        " (ARRAY['nurse','surgeon','dentist','clerk','baker','farmer'])[1 + i % 6],"
        " ARRAY[(ARRAY['cat','dog'])[1 + i % 2], (ARRAY['tea','milk','jam'])[1 + i % 3]],"
        " DATE '2020-01-01' + i, (ARRAY['flu','cold','asthma'])[1 + i % 3] FROM generate_series(0, 119) i",
    )
    write_jobs(tmp_path)
    monkeypatch.setenv("PGPASSWORD", server.password)
    return tmp_path


def plan_for(server: Server, **changes: Any) -> Project:
    columns = {
        "id": {"role": "identifier"},
        "sex": {"role": "quasi-identifier"},
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
        "likes": {"role": "quasi-identifier", "kind": "set"},
        "joined": {"role": "insensitive", "accept": "identifying"},
        "illness": {"role": "sensitive"},
    }
    data: dict[str, Any] = {
        "source": {"path": server.without_password(), "table": "people"},
        "columns": columns,
        "release": {
            "database": server.without_password(),
            "table": "anonymous",
            "suppression": 0.05,
            "suppressed": "keep",
        },
    }
    return project(**{**data, **changes})


def there(server: Server, table: str = "anonymous") -> bool:
    return bool(server.execute(f"SELECT to_regclass('{table}') IS NOT NULL")[0][0])


def test_a_table_becomes_a_verified_table(server: Server, people: Path) -> None:
    done = run(plan_for(server), folder=people, rng=1)
    assert (done.table, done.name) == ("anonymous", "anonymous")
    rows = server.execute("SELECT sex, age, job, likes FROM anonymous")
    assert len(rows) == 120
    classes = Counter((sex, age, job, tuple(likes)) for sex, age, job, likes in rows)
    hidden = classes.pop(("*", "*", "*", ("*",)), 0)
    assert min(classes.values()) >= 4
    assert hidden <= 6
    described = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'anonymous'"
    types = dict(server.execute(f"{described} ORDER BY ordinal_position"))
    assert (types["joined"], types["likes"]) == ("date", "ARRAY")
    assert list(types) == ["sex", "age", "job", "likes", "joined", "illness"]
    folder = {p.relative_to(people).as_posix() for p in people.rglob("*")} - {"jobs.csv"}
    assert folder == {
        "release",
        "release/release.json",
        "release/private",
        "release/private/recoding.json",
        "ledger.jsonl",
    }
    public = (people / "release" / "release.json").read_text(encoding="utf-8")
    assert server.password not in public
    assert str(server.port) not in public
    assert json.loads(public)["verified"] is True
    again = run(plan_for(server), folder=people, rng=2)
    assert again.verification.ok, "an earlier release is replaced"


def test_the_released_table_can_be_checked_later(server: Server, people: Path) -> None:
    run(plan_for(server), folder=people, rng=1)
    found, _ = verify_file(plan_for(server), server.without_password(), folder=people)
    assert found.ok
    server.execute("UPDATE anonymous SET sex = 'x' WHERE ctid = (SELECT min(ctid) FROM anonymous)")
    found, _ = verify_file(plan_for(server), server.without_password(), folder=people)
    assert not found.ok


KILLED = """
import json, os, sys
from keepsense.project.project_file import Project
from keepsense.release.folder import place
from keepsense.release.run import run

where, folder, asked = sys.argv[1:]
whole = place._Table.publish

def cut(*given):
    if where == "after":
        whole(*given)
    os.kill(os.getpid(), 9)

place._Table.publish = cut
run(Project.model_validate(json.loads(asked)), folder=folder, rng=2)
"""


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_kill_between_table_and_description_is_mended_at_the_next_start(
    server: Server, people: Path, where: str, earlier: bool
) -> None:
    asked = plan_for(server)
    files = (people / "release" / "release.json", people / "release" / "private" / "recoding.json")
    if earlier:
        run(plan_for(server, privacy=[{"model": "k-anonymity", "k": 12}]), folder=people, rng=1)
        old = [file.read_bytes() for file in files]
    text = json.dumps(asked.model_dump(mode="json", exclude_defaults=True))
    assert subprocess.run([sys.executable, "-c", KILLED, where, str(people), text], check=False).returncode == -9
    job = Job(asked, people, engine(), generator(1))
    with place_of(job).draft(job):
        pass  # the start of a run, and no more of it
    if where == "after":
        assert json.loads(files[0].read_text())["promises"][0]["k"] == 4
    elif earlier:
        assert [file.read_bytes() for file in files] == old
    else:
        assert not any(file.exists() for file in files)
    digest = sha256(files[0].read_bytes()).hexdigest() if files[0].exists() else None
    assert mark(server.address(), "anonymous") == digest, "the table knows its description"
    assert not [path for path in people.rglob("*") if path.name.startswith("before")]


def test_a_release_of_which_nobody_knows_whether_it_is_out_stays_in_the_ledger(
    server: Server, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(draft: Any, description: str) -> None:
        raise InDoubt("nobody knows")

    run(plan_for(server, privacy=[{"model": "k-anonymity", "k": 12}]), folder=people, rng=1)
    description = people / "release" / "release.json"
    old = description.read_bytes()
    monkeypatch.setattr(place._Table, "publish", lost)
    with pytest.raises(InDoubt):
        run(plan_for(server), folder=people, rng=1)
    monkeypatch.undo()
    monkeypatch.setenv("PGPASSWORD", server.password)
    assert len(read_ledger(people)) == 2
    assert description.read_bytes() != old
    job = Job(plan_for(server), people, engine(), generator(1))
    with place_of(job).draft(job):
        assert description.read_bytes() == old, "the server, asked again, has the release before"


def test_a_method_made_to_cheat_leaves_no_table(server: Server, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cheat(method: Any, plan: Any, parameters: Any, listener: Any) -> list[Any]:
        values = {name: plan.counts.values_of(name) for name in plan.quasi_identifiers}
        return [Cuts(tuple(Cut(name, kept, kept) for name, kept in values.items()))]

    honest = method("optimal")
    monkeypatch.setitem(METHODS._entries, "optimal", replace(honest, runner=cheat))
    columns = {**plan_for(server).model_dump()["columns"], "likes": {"role": "identifier"}}
    with pytest.raises(Infeasible, match="does not keep its promise"):
        run(plan_for(server, columns=columns), folder=people, rng=np.random.default_rng(1))
    assert honest.name == "optimal"
    assert not there(server)
    assert not (people / "release").exists()


def test_foreign_tables_and_the_source_are_never_replaced(server: Server, people: Path) -> None:
    server.execute("CREATE TABLE other (x int)")
    release = {"database": server.without_password(), "suppression": 0.05}
    with pytest.raises(BadInput, match="did not release"):
        run(plan_for(server, release={**release, "table": "other"}), folder=people, rng=1)
    with pytest.raises(BadInput, match="the table it is made from"):
        run(plan_for(server, release={**release, "table": "people"}), folder=people, rng=1)
    assert server.execute("SELECT count(*) FROM people")[0][0] == 120
    with pytest.raises(BadInput, match="postgresql://"):
        run(plan_for(server, release={"database": "people.db", "table": "x"}), folder=people, rng=1)


def test_a_table_is_released_as_a_file_unless_a_database_is_named(server: Server, people: Path) -> None:
    columns = {**plan_for(server).model_dump()["columns"], "likes": {"role": "identifier"}}
    done = run(plan_for(server, columns=columns, release={"suppression": 0.05}), folder=people, rng=1)
    assert done.file.name == "people.csv"
    assert done.table is None


def test_people_with_several_rows_are_counted_in_tables_too(server: Server, people: Path) -> None:
    columns = {**plan_for(server).model_dump()["columns"], "id": {"role": "person"}, "likes": {"role": "identifier"}}
    promise = [{"model": "(X,Y)-anonymity", "k": 3, "person": "id"}]
    done = run(plan_for(server, columns=columns, privacy=promise), folder=people, rng=1)
    assert done.verification.ok
    assert "id" not in {
        row[0]
        for row in server.execute("SELECT column_name FROM information_schema.columns WHERE table_name = 'anonymous'")
    }
