"""A fault at every file operation, below Python: afterwards there is a whole release or none, and the next run works.

DuckDB and Arrow write files natively, so the faults are injected by a library that is loaded before all others.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.postgresql import Server, server
from tests.release.tables import write_jobs, write_people

from keepsense.engines.formats.postgresql import MARK, mark
from keepsense.release.folder.ledger import read_ledger

__all__ = ["server"]

COUNT, FAIL, SHORT, KILL, KILL_AFTER = range(5)
MODES = {FAIL: "fails", SHORT: "is done by half", KILL: "is never reached", KILL_AFTER: "is the last"}
PROJECT = """
[source]
path = "people.csv"
[columns.id]
role = "identifier"
[columns.name]
role = "identifier"
[columns.sex]
role = "quasi-identifier"
[columns.age]
role = "quasi-identifier"
kind = "numeric"
[columns.job]
role = "quasi-identifier"
hierarchy = "jobs.csv"
[columns.illness]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = {k}
[release]
suppression = 0.05
{more}
"""
SEEN = ("people.csv", "release.json", "private/recoding.json")


Carrier = Callable[[list[dict[str, Any]]], list[int]]
"""Runs commands, each with its fault; gives their exit codes."""


@pytest.fixture(scope="module")
def carried_out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carrier]:
    """A process with the library that injects faults, from which commands are started."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs gcc on Linux, to inject faults below Python")
    room = tmp_path_factory.mktemp("injected")
    made, source = room / "injected.so", Path(__file__).with_name("injected.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"], check=True)
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    environment = {**os.environ, "LD_PRELOAD": str(made), "COLUMNS": "140", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "tests.release.injecting", str(fresh(room / "warm"))]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, cwd=root, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def carry(cases: list[dict[str, Any]]) -> list[int]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(cases) + "\n")
            process.stdin.flush()
            codes: list[int] = json.loads(process.stdout.readline())
            return codes

        yield carry
        process.stdin.close()


def project(folder: Path, k: int, more: str = "") -> None:
    (folder / "keepsense.toml").write_text(PROJECT.format(k=k, more=more), encoding="utf-8")


def fresh(folder: Path, k: int = 4, more: str = "") -> Path:
    folder.mkdir()
    write_people(folder)
    write_jobs(folder)
    project(folder, k, more)
    return folder


@dataclass(frozen=True)
class Way:
    """A way to a release: what is there before, and the command."""

    name: str
    before: Path | None
    more: str = ""
    words: tuple[str, ...] = ("run",)
    server: Server | None = None

    def ready(self, folder: Path) -> Path:
        """A folder in which the command can be given."""
        table = self.table(folder)
        more = self.more.format(table=table)
        if self.before is None:
            return fresh(folder, more=more)
        shutil.copytree(self.before, folder)
        project(folder, 4, more)
        if self.server is not None:  # each folder has a table of its own
            self.server.execute(f"CREATE TABLE {table} (LIKE before INCLUDING ALL)")
            self.server.execute(f"INSERT INTO {table} SELECT * FROM before")
            self.server.execute(f"COMMENT ON TABLE {table} IS '{MARK} {described(folder, table)}'")
        return folder

    def table(self, folder: Path) -> str:
        return f"t{folder.name}".replace(" ", "_")


def described(folder: Path, table: str) -> str:
    """Digest of the description in a folder, made one of a table of its own."""
    path = folder / "release" / "release.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"before"', f'"{table}"'), encoding="utf-8")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def case(
    folder: Path, room: Path, words: tuple[str, ...], at: int = -1, mode: int = COUNT, **more: Any
) -> dict[str, Any]:
    name = folder.name
    return {
        "folder": str(folder),
        "words": list(words),
        "at": at,
        "mode": mode,
        "said": str(room / f"{name}.said"),
        "steps": str(room / f"{name}.steps"),
        **more,
    }


def seen(folder: Path) -> dict[str, str]:
    """Digests of what a release consists of."""
    place = folder / "release"
    return {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in SEEN if (place / name).exists()}


def check(folder: Path, way: Way, code: int, earlier: dict[str, str], entries: int, where: str) -> None:
    """There is a whole release, or the one before, and the ledger knows of it."""
    now, ledger = seen(folder), read_ledger(folder)
    assert len(ledger) >= entries, f"{where}: the ledger lost an entry"
    if code == 0:
        assert len(now) == (3 if way.server is None else 2), f"{where}: exit 0 without a whole release"
        assert len(ledger) == entries + 1, f"{where}: exit 0 without an entry in the ledger"
    elif code > 0:
        assert code in (1, 2), f"{where}: exit {code}"
        if now != earlier:
            assert len(ledger) > entries, f"{where}: a release that the ledger does not know"
        hidden = [p.name for p in folder.rglob(".*") if "unverified" in p.name or p.name.endswith((".lock", ".json"))]
        assert not hidden or "unlink" in where or "rmdir" in where, f"{where}: left behind {hidden}"
    if "people.csv" in now and now.get("people.csv") != earlier.get("people.csv"):
        assert now["people.csv"] in {entry.digest for entry in ledger}, f"{where}: released, but not in the ledger"
    if way.server is not None and code >= 0:
        marked = mark(way.server.address(), way.table(folder))
        assert marked == now.get("release.json"), f"{where}: the description is of another table"
    if "people.csv" in now and code >= 0:
        about = json.loads((folder / "release" / "release.json").read_text(encoding="utf-8"))
        assert about["sha256"] == now["people.csv"], f"{where}: the description is of another file"


def swept(carried_out: Carrier, room: Path, way: Way, modes: tuple[int, ...], every: int) -> int:
    """Let every so-many-th step of a way go wrong in each of the modes; how many faults there were."""
    ready = way.ready(room / "counted")
    entries = len(read_ledger(ready))
    counting = case(ready, room, way.words)
    assert carried_out([counting]) == [0], Path(counting["said"]).read_text(encoding="utf-8")
    steps = Path(counting["steps"]).read_text(encoding="utf-8").splitlines()
    assert {line.split()[0] for line in steps} >= {"open", "write", "rename", "fsync", "mkdir"} - (
        {"mkdir"} if way.before else set()
    )
    faults = [(at, mode) for mode in modes for at in range(mode % every, len(steps), every)]
    cases, earlier = [], {}
    for at, mode in faults:
        folder = way.ready(room / f"{at} {mode}")
        earlier[at, mode] = seen(folder)
        cases += [case(folder, room, way.words, at, mode), case(folder, room, ("run",)) | {"steps": os.devnull}]
        cases[-1]["said"] = str(room / f"{at} {mode}.again")
    # the state after the fault is looked at before the next run changes it
    codes = carried_out(cases[::2])
    for (at, mode), code in zip(faults, codes, strict=True):
        where = f"{way.name}, step {at} of {len(steps)} ({steps[at]}) {MODES[mode]}"
        reached = len((room / f"{at} {mode}.steps").read_text(encoding="utf-8").splitlines()) > at
        assert code == -9 if reached and mode in (KILL, KILL_AFTER) else code >= 0, f"{where}: ended with {code}"
        check(room / f"{at} {mode}", way, code, earlier[at, mode], entries, where)
    again = carried_out(cases[1::2])
    for (at, mode), code in zip(faults, again, strict=True):
        folder = room / f"{at} {mode}"
        said = (room / f"{at} {mode}.again").read_text(encoding="utf-8")
        where = f"{way.name}, the run after step {at} of {len(steps)} ({steps[at]}) {MODES[mode]}"
        assert code == 0, f"{where}: {said}"
        check(folder, way, 0, earlier[at, mode], len(read_ledger(folder)) - 1, where)
        files = {p.relative_to(folder / "release").as_posix() for p in (folder / "release").rglob("*")}
        assert not list(folder.glob(".*")), f"{where}: {list(folder.glob('.*'))}"
        assert files <= {"people.csv", "release.json", "private", "private/recoding.json"}, f"{where}: {files}"
    return len(faults)


@pytest.fixture
def ways(carried_out: Carrier, tmp_path: Path) -> dict[str, Way]:
    """The ways to a release in a folder."""
    before = fresh(tmp_path / "before", 3)
    assert carried_out([case(before, tmp_path, ("run",))]) == [0]
    again = ("run", "--reuse", "release/private/recoding.json")
    return {
        "release": Way("release", None),
        "re-release": Way("re-release", before),
        "reuse": Way("reuse", before, words=again),
    }


@pytest.mark.parametrize("name", ["release", "re-release"])
def test_some_faults_leave_a_whole_release_or_none(
    carried_out: Carrier, tmp_path: Path, ways: dict[str, Way], name: str
) -> None:
    assert swept(carried_out, tmp_path, ways[name], (FAIL, KILL), every=6) > 5


@pytest.mark.long
@pytest.mark.parametrize("name", ["release", "re-release", "reuse"])
def test_a_fault_at_any_step_leaves_a_whole_release_or_none(
    carried_out: Carrier, tmp_path: Path, ways: dict[str, Way], name: str
) -> None:
    assert swept(carried_out, tmp_path, ways[name], (FAIL, SHORT, KILL, KILL_AFTER), every=1) > 50


def into_database(carried_out: Carrier, room: Path, server: Server, *, again: bool) -> Way:
    """A way into a table of a database, one that is there already or a new one."""
    more, before = f'database = "{server.address()}"\ntable = "{{table}}"', None
    if again:
        before = fresh(room / "before", 3, more.format(table="before"))
        assert carried_out([case(before, room, ("run",))]) == [0]
    return Way("database again" if again else "database", before, more, server=server)


def only_released(server: Server) -> None:
    """Every table there is keeps its promise, and none is a stage that somebody forgot."""
    tables = {name for (name,) in server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert not [name for name in tables if "keepsense" in name]
    for name in sorted(tables):
        grouped = f'SELECT count(*) AS n FROM "{name}" GROUP BY sex, age, job'
        assert server.execute(f"SELECT min(n) FROM ({grouped}) x")[0][0] >= (3 if name == "before" else 4)
        server.execute(f'DROP TABLE "{name}"')


@pytest.mark.parametrize("again", [False, True])
def test_some_faults_leave_a_whole_table_of_a_database_or_none(
    carried_out: Carrier, tmp_path: Path, server: Server, again: bool
) -> None:
    way = into_database(carried_out, tmp_path, server, again=again)
    assert swept(carried_out, tmp_path, way, (FAIL, KILL_AFTER), every=5) > 5
    only_released(server)


@pytest.mark.long
@pytest.mark.parametrize("again", [False, True])
def test_a_fault_at_any_step_leaves_a_whole_table_of_a_database_or_none(
    carried_out: Carrier, tmp_path: Path, server: Server, again: bool
) -> None:
    way = into_database(carried_out, tmp_path, server, again=again)
    assert swept(carried_out, tmp_path, way, (FAIL, SHORT, KILL, KILL_AFTER), every=1) > 20
    only_released(server)


NOBODY = 65_534


@pytest.fixture
def shared_room() -> Iterator[Path]:
    """A folder that every user may look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_somebody(folder: Path, room: Path) -> dict[str, Any]:
    """A run by somebody for whom permissions count, which they do not for root."""
    return case(folder, room, ("run",), user=NOBODY if os.geteuid() == 0 else None)


@pytest.fixture
def small_disk(shared_room: Path) -> Iterator[Path]:
    """A file system of its own, of a mebibyte."""
    place = shared_room / "disk"
    place.mkdir()
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("needs root, on Unix, to mount a file system")
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let us mount a file system; Unix")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_leaves_a_whole_release_or_none(
    carried_out: Carrier, small_disk: Path, tmp_path: Path
) -> None:
    """However little is free, from nothing to enough."""
    way, codes = Way("a full disk", None), []
    for free in (0, 4, 8, 16, 24, 32, 64):
        folder = fresh(small_disk / f"{free}")
        filler = small_disk / "filler"
        with filler.open("wb") as file:
            space = os.statvfs(small_disk)
            os.posix_fallocate(file.fileno(), 0, max(1, space.f_bavail * space.f_frsize - free * 1024))
        run = case(folder, tmp_path, ("run",))
        codes += carried_out([run])
        check(folder, way, codes[-1], {}, 0, f"{free} KiB are free")
        filler.unlink()
        assert carried_out([run]) == [0], Path(run["said"]).read_text(encoding="utf-8")
        check(folder, way, 0, {}, len(read_ledger(folder)) - 1, f"after {free} KiB were free")
        shutil.rmtree(folder)
    assert codes[0] == 2
    assert codes[-1] == 0


def test_a_folder_that_is_read_only_is_told(carried_out: Carrier, shared_room: Path) -> None:
    folder = fresh(shared_room / "project")
    folder.chmod(0o555)
    run = as_somebody(folder, shared_room)
    assert carried_out([run]) == [2]
    assert len(Path(run["said"]).read_text(encoding="utf-8").splitlines()) == 1
    assert {path.name for path in folder.iterdir()} == {"people.csv", "jobs.csv", "keepsense.toml"}
    folder.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, on Unix, to give a file to somebody else")
def test_a_ledger_of_another_user_is_kept_or_told(carried_out: Carrier, shared_room: Path) -> None:
    folder = fresh(shared_room / "project")
    assert carried_out([case(folder, shared_room, ("run",))]) == [0]
    ledger = folder / "ledger.jsonl"
    before = ledger.read_bytes()
    shutil.rmtree(folder / "release")
    os.chown(folder, NOBODY, NOBODY)
    ledger.chmod(0o600)
    run = as_somebody(folder, shared_room)
    assert carried_out([run]) == [2]
    assert "ledger.jsonl" in Path(run["said"]).read_text(encoding="utf-8")
    assert ledger.read_bytes() == before
    assert not (folder / "release").exists()
    ledger.chmod(0o644)
    assert carried_out([run]) == [0], Path(run["said"]).read_text(encoding="utf-8")
    assert ledger.read_bytes().startswith(before)
    assert len(read_ledger(folder)) == 2
