"""What a careful reviewer tried: lone suppressed records, two runs at once, tampering, odd cells, killed runs."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.tables import project, write_jobs, write_people

from keepsense.engines.protocol import Writing
from keepsense.errors import BadInput, Infeasible
from keepsense.project.project_file import check_project
from keepsense.release.folder import place
from keepsense.release.folder.ledger import FILE, Entry, entered, read_ledger
from keepsense.release.folder.place import LOCK
from keepsense.release.run import run
from keepsense.release.verify import verify_file


def table(folder: Path, rows: list[tuple[Any, ...]], *, name: str = "people.csv") -> Path:
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder / name


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def town_project(**changes: Any) -> Any:
    columns = {"town": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
    return project(**{"columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}], **changes})


ALONE = [("town", "illness"), *[("Oslo", "flu"), ("Bergen", "cold")] * 40, ("Fedje", "AIDS")]


# ---- suppressed records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["auto", "drop", "keep"])
def test_a_lone_suppressed_record_does_not_tell_its_illness(tmp_path: Path, asked: str) -> None:
    table(tmp_path, ALONE)
    done = run(town_project(release={"suppression": 0.05, "suppressed": asked}), folder=tmp_path, rng=1)
    released = rows_of(done.file)
    assert len(released) == 80
    assert "AIDS" not in {row["illness"] for row in released}
    assert done.description["suppressed records"] == 1
    assert done.description["of them left out"] == 1
    assert ("W406" in [finding.code for finding in done.findings]) is (asked == "keep")


@pytest.mark.parametrize("asked", ["auto", "keep"])
@pytest.mark.parametrize(
    ("promise", "stay"),
    [
        ({"model": "l-diversity", "l": 2, "column": "illness"}, False),
        ({"model": "l-diversity", "l": 1, "column": "illness"}, True),
        ({"model": "t-closeness", "t": 0.3, "column": "illness"}, False),
        ({"model": "t-closeness", "t": 0.99, "column": "illness"}, True),
        ({"model": "average risk", "threshold": 0.1}, False),
        ({"model": "average risk", "threshold": 0.4}, True),
    ],
)
def test_suppressed_records_keep_every_promise_or_go(
    tmp_path: Path, asked: str, promise: dict[str, Any], stay: bool
) -> None:
    """Four hidden people are enough for k = 3, and all have the same rare illness."""
    promises = [{"model": "k-anonymity", "k": 3}, promise]
    both = [("Oslo", "cold"), ("Bergen", "flu")] * 40
    table(tmp_path, [*ALONE[:-1], *both, *[(f"village {i}", "AIDS") for i in range(4)]])
    release = {"suppression": 0.05, "suppressed": asked}
    done = run(town_project(privacy=promises, release=release), folder=tmp_path, rng=1)
    assert Counter(row["town"] for row in rows_of(done.file))["*"] == (4 if stay else 0)


def test_enough_mixed_suppressed_records_are_kept_as_a_class(tmp_path: Path) -> None:
    rare = [(f"village {i}", ("gout", "mumps")[i % 2]) for i in range(6)]
    table(tmp_path, [*ALONE[:-1], *rare])
    promises = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 1, "column": "illness"}]
    release = {"suppression": 0.2}
    kept = run(town_project(privacy=promises, release=release), folder=tmp_path, rng=1)
    assert Counter(row["town"] for row in rows_of(kept.file))["*"] == 6
    promises[1] = {"model": "l-diversity", "l": 3, "column": "illness"}
    alike = [("Oslo", illness) for illness in ("flu", "cold", "gout", "acne")] * 10
    table(tmp_path, [ALONE[0], *alike, *[(town.replace("Oslo", "Bergen"), ill) for town, ill in alike], *rare])
    dropped = run(town_project(privacy=promises, release=release), folder=tmp_path, rng=1)
    assert "*" not in {row["town"] for row in rows_of(dropped.file)}
    assert dropped.description["of them left out"] == 6


def test_people_beside_the_release_stay_in_step_when_records_are_left_out(tmp_path: Path) -> None:
    rows = [(str(i), ("Oslo", "Bergen")[i % 2] if i else "Fedje", "flu") for i in range(41)]
    table(tmp_path, [("who", "town", "illness"), *rows])
    columns = {
        "who": {"role": "person"},
        "town": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    }
    promise = [{"model": "(X,Y)-anonymity", "k": 5, "person": "who"}]
    done = run(project(columns=columns, privacy=promise, release={"suppression": 0.1}), folder=tmp_path, rng=1)
    assert len(rows_of(done.file)) == 40
    columns["who"] = {"role": "insensitive"}
    with pytest.raises(BadInput, match='role "person"'):
        run(project(columns=columns, privacy=promise, release={"suppression": 0.1}), folder=tmp_path, rng=1)


# ---- what the verifier sees ------------------------------------------------------------------------------------------


def test_a_column_that_nobody_expects_is_found(tmp_path: Path) -> None:
    table(tmp_path, ALONE)
    job = town_project(release={"suppression": 0.05})
    done = run(job, folder=tmp_path, rng=1)
    assert verify_file(job, done.file, folder=tmp_path)[0].ok
    lines = done.file.read_text(encoding="utf-8").splitlines()
    done.file.write_text(
        "\n".join(f"{line},{'realname' if i == 0 else f'N{i}'}" for i, line in enumerate(lines)) + "\n"
    )
    found, _ = verify_file(job, done.file, folder=tmp_path)
    assert [f.code for f in found.findings if f.is_error] == ["E209"]


def test_columns_with_formulas_are_checked_too(tmp_path: Path) -> None:
    table(tmp_path, [("town", "illness"), *[("Oslo", "=x"), ("Bergen", "+x")] * 20, *[("Oslo", "flu")] * 5])
    job = town_project(
        privacy=[{"model": "k-anonymity", "k": 5}, {"model": "t-closeness", "t": 0.9, "column": "illness"}]
    )
    done = run(job, folder=tmp_path, rng=1)
    text = done.file.read_text(encoding="utf-8")
    assert "Oslo,'=x" in text
    done.file.write_text(text.replace("'=x", "cancer", 1), encoding="utf-8")
    found, _ = verify_file(job, done.file, folder=tmp_path)
    assert "E207" in [f.code for f in found.findings]


def test_marks_and_names_that_mean_something_else_are_refused(tmp_path: Path) -> None:
    table(tmp_path, [("town", "illness"), *[("*", "flu"), ("Oslo", "cold")] * 10])
    with pytest.raises(BadInput, match="mark of suppressed"):
        run(town_project(), folder=tmp_path, rng=1)
    pq.write_table(pa.table({"town": ["Oslo"] * 10, "=cmd|x": ["a"] * 10}), tmp_path / "odd.parquet")
    columns = {"town": {"role": "quasi-identifier"}, "=cmd|x": {}}
    odd = project(columns=columns, source={"path": "odd.parquet"}, release={"file": "odd.csv"})
    with pytest.raises(BadInput, match="rename it"):
        run(odd, folder=tmp_path, rng=1)
    harmless = project(columns=columns, source={"path": "odd.parquet"})
    assert run(harmless, folder=tmp_path, rng=1).verification.ok


def test_every_sensitive_column_without_a_promise_is_named(tmp_path: Path) -> None:
    table(tmp_path, [("town", "illness", "debt"), *[("Oslo", "flu", "1"), ("Oslo", "cold", "2")] * 10])
    columns = {**town_project().model_dump()["columns"], "debt": {"role": "sensitive"}}
    promises = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "illness"}]
    done = run(project(columns=columns, privacy=promises), folder=tmp_path, rng=1)
    assert [(f.code, f.where) for f in done.findings if f.code == "W404"] == [("W404", "debt")]


# ---- types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["optimal", "semantic mondrian", "local recoding"])
def test_dates_times_and_decimals_can_be_quasi_identifiers(tmp_path: Path, method: str) -> None:
    days = [dt.date(1950 + i % 20, 1 + i % 12, 1) for i in range(80)]
    data = {
        "born": days,
        "seen": [dt.datetime(2020, 1, 1 + i % 3, 10, 30) for i in range(80)],
        "paid": [decimal.Decimal(i % 4) / 4 for i in range(80)],
        "illness": ["flu", "cold"] * 40,
    }
    pq.write_table(pa.table(data), tmp_path / "people.parquet")
    columns = {
        "born": {"role": "quasi-identifier", "kind": "date"},
        "seen": {"role": "quasi-identifier"},
        "paid": {"role": "quasi-identifier", "kind": "numeric"},
        "illness": {"role": "sensitive"},
    }
    job = project(
        columns=columns, source={"path": "people.parquet"}, method={"name": method}, release={"suppression": 0.1}
    )
    done = run(job, folder=tmp_path, rng=1)
    assert done.verification.ok
    if method == "optimal":
        again = run(job, folder=tmp_path, rng=2, reuse=tmp_path / "release" / "private" / "recoding.json")
        assert again.verification.ok


@pytest.mark.parametrize(
    ("key", "value"), [("suppression", True), ("suppression", "0.1"), ("suppression", float("nan"))]
)
def test_a_limit_is_a_number(key: str, value: Any) -> None:
    data = {"source": {"path": "x.csv"}, "privacy": [{"model": "k-anonymity", "k": 2}], "release": {key: value}}
    with pytest.raises(BadInput, match=key):
        check_project(data)
    column = {"weight": float("inf")}
    with pytest.raises(BadInput, match="weight"):
        check_project({**data, "release": {}, "columns": {"x": column}})


# ---- folders ---------------------------------------------------------------------------------------------------------


def test_a_folder_holds_one_release(tmp_path: Path) -> None:
    table(tmp_path, ALONE)
    table(tmp_path, ALONE, name="others.csv")
    run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
    about = json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))
    assert about["release"] == "people.csv"
    other = town_project(source={"path": "others.csv"}, release={"suppression": 0.05})
    with pytest.raises(BadInput, match=r"holds the release 'people\.csv'"):
        run(other, folder=tmp_path, rng=1)
    assert len(read_ledger(tmp_path)) == 1


@pytest.mark.parametrize("name", ["ledger.jsonl", "jobs.csv", "keepsense.toml", "people.csv"])
def test_files_of_the_project_are_not_overwritten(tmp_path: Path, name: str) -> None:
    write_people(tmp_path)
    write_jobs(tmp_path)
    (tmp_path / "keepsense.toml").touch()
    run(project(), folder=tmp_path, rng=1)
    before = (tmp_path / name).read_bytes()
    asked = {"folder": ".", "file": name, "suppression": 0.05}
    with pytest.raises(BadInput, match=r"overwrite|tells no format"):
        run(project(release=asked), folder=tmp_path, rng=1)
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("name", ["release.json", "private"])
def test_names_that_keepsense_needs_are_refused(tmp_path: Path, name: str) -> None:
    table(tmp_path, ALONE)
    with pytest.raises(BadInput):
        run(town_project(release={"file": name, "suppression": 0.05}), folder=tmp_path, rng=1)
    (tmp_path / "release" / "people.csv").mkdir(parents=True)
    with pytest.raises(BadInput, match="folder"):
        run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
    assert not (tmp_path / "release" / "release.json").exists()
    assert not (tmp_path / FILE).exists()


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    """Of runs with different promises into one folder, whatever is there afterwards keeps what it says."""
    table(tmp_path, [("town", "illness"), *[(f"t{i % 40}", "flu") for i in range(4000)]])
    outcomes: list[str] = []

    def go(k: int) -> None:
        columns = {"town": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
        job = project(columns=columns, privacy=[{"model": "k-anonymity", "k": k}])
        try:
            run(job, folder=tmp_path, rng=1)
            outcomes.append(f"done {k}")
        except BadInput as error:
            outcomes.append(str(error))

    runs = [threading.Thread(target=go, args=(k,)) for k in (2, 3000, 2, 3000, 2, 3000)]
    for one in runs:
        one.start()
        time.sleep(0.02)
    for one in runs:
        one.join()
    assert any(told.startswith("done") for told in outcomes)
    assert all(told.startswith("done") or "another run" in told for told in outcomes), outcomes
    about = json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))
    sizes = Counter(row["town"] for row in rows_of(tmp_path / "release" / "people.csv"))
    assert min(sizes.values()) >= about["promises"][0]["k"]
    assert len(read_ledger(tmp_path)) == sum(told.startswith("done") for told in outcomes)
    assert not (tmp_path / "release" / LOCK).exists()


def test_drafts_of_a_killed_run_are_swept_and_its_lock_does_not_bind(tmp_path: Path) -> None:
    table(tmp_path, ALONE)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / ".unverified.0abc.people.csv").write_text("raw")
    (tmp_path / "release" / LOCK).touch()
    assert run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1).verification.ok
    assert sorted(p.name for p in (tmp_path / "release").iterdir()) == ["people.csv", "private", "release.json"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals as Unix has them")
def test_a_run_that_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    """SIGTERM while the table is read and written: no part, no copy of it."""
    table(tmp_path, [("town", "illness"), *[(f"t{i}", "flu") for i in range(60_000)]])
    room = tmp_path / "tmp"
    room.mkdir()
    (tmp_path / "keepsense.toml").write_text(
        '[source]\npath = "people.csv"\n[columns.town]\nrole = "quasi-identifier"\nkind = "code"\n'
        '[columns.illness]\nrole = "sensitive"\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n',
        encoding="utf-8",
    )
    environment = {**os.environ, "TMPDIR": str(room)}
    for wait in (0.6, 1.2, 1.8):
        program = [sys.executable, "-m", "keepsense", "run", "-q"]
        process = subprocess.Popen(program, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
        time.sleep(wait)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
        # negative where the signal meets a process that is going up or down by itself
        assert process.returncode in (143, 0, -signal.SIGTERM, -signal.SIGINT), told
        # a room that was made in the very moment may stay, empty, until the next program sweeps it
        assert not [p for p in room.rglob("*") if p.is_file() and p.name != "lock"]
        assert not list(tmp_path.glob("release/.*"))


@pytest.mark.parametrize("moment", ["people.csv", "release.json", "recoding.json"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_in_the_moment_of_publishing_waits_until_all_of_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, moment: str
) -> None:
    """Released file, description, recoding and ledger appear together, though somebody stops the run in between."""
    number = getattr(signal, name, None)
    if number is None:
        pytest.skip(f"there is no {name} here")
    table(tmp_path, ALONE)
    put, seen = os.replace, []

    def interrupted(source: Any, target: Any, **options: Any) -> None:
        if Path(target).name == moment and not Path(target).parent.name.startswith(".unverified"):
            seen.append(moment)
            signal.raise_signal(number)
        put(source, target, **options)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    before = signal.signal(number, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)
    assert seen == [moment]
    released = tmp_path / "release"
    about = json.loads((released / "release.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256((released / "people.csv").read_bytes()).hexdigest()
    assert about["sha256"] == digest == read_ledger(tmp_path)[0].digest
    assert (released / "private" / "recoding.json").is_file()
    assert not [p for p in released.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("held", [False, True], ids=["before the lock is held", "when it is held"])
def test_an_interrupt_at_the_lock_leaves_no_folder_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    table(tmp_path, ALONE)
    truly, tries = place.hold, []

    def interrupted(descriptor: int) -> bool | None:
        tries.append(descriptor)
        if len(tries) > 1:
            return truly(descriptor)
        if held:
            truly(descriptor)
        raise KeyboardInterrupt

    monkeypatch.setattr(place, "hold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
    assert len(tries) == 2
    assert not (tmp_path / "release").exists()


# ---- the ledger ------------------------------------------------------------------------------------------------------


def test_a_release_that_does_not_appear_is_not_entered(tmp_path: Path) -> None:
    first = Entry("2026-01-31", "a.csv", ("job",), [])
    with entered(tmp_path, first):
        pass
    seen = []

    def fail() -> None:
        with entered(tmp_path, Entry("2026-02-28", "b.csv", ("job",), [])):
            seen.extend(read_ledger(tmp_path))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert len(seen) == 2, "it is entered before it appears"
    assert read_ledger(tmp_path) == [first]


@pytest.mark.parametrize("line", [b"\xff\xfe", b"[]", b'{"date": 1}', b'"x"', b'{"epsilon": "much"}'])
def test_a_damaged_ledger_is_told(tmp_path: Path, line: bytes) -> None:
    (tmp_path / FILE).write_bytes(line + b"\n")
    with pytest.raises(BadInput, match="damaged"):
        read_ledger(tmp_path)


def test_a_matrix_names_only_what_the_release_shows(tmp_path: Path) -> None:
    jobs = ("nurse", "surgeon", "baker", "clerk")
    table(tmp_path, [("job", "x"), *[(jobs[i % 4], "1") for i in range(400)], ("pope", "1")])
    columns = {"job": {"role": "quasi-identifier", "taxonomy": "wordnet"}, "x": {}}
    promise = [{"model": "linkage risk", "threshold": 1.0}]
    for seed in range(6):
        job = project(
            columns=columns,
            privacy=promise,
            method={"name": "post-randomization", "parameters": {"keep": 0.05}},
            release={"folder": f"r{seed}"},
        )
        done = run(job, folder=tmp_path, rng=seed)
        shown = {row["job"] for row in rows_of(done.file)}
        told = done.description["transition matrices"]["job"]
        assert set(told["values"]) - {"other"} <= shown
        assert all(abs(sum(row) - 1) < 1e-6 for row in told["chances"])


def test_hints_fit_what_went_wrong(tmp_path: Path) -> None:
    """A promise that is broken can be relaxed; a format that cannot carry a value cannot."""
    table(tmp_path, ALONE)
    swap = town_project(method={"name": "rank swapping"})
    with pytest.raises(Infeasible) as stopped:
        run(swap, folder=tmp_path, rng=1)
    assert stopped.value.relax[0].startswith("promise what 'rank swapping' can")
    assert "ask for a smaller promise" in stopped.value.relax


def test_a_promise_about_a_population_can_be_verified_later(tmp_path: Path) -> None:
    write_people(tmp_path)
    write_people(tmp_path, rows=360, name="everybody.csv")
    write_jobs(tmp_path)
    job = project(population={"path": "everybody.csv"}, privacy=[{"model": "k-map", "k": 5}])
    done = run(job, folder=tmp_path, rng=1)
    assert verify_file(job, done.file, folder=tmp_path)[0].ok
    (tmp_path / "release" / "private" / "recoding.json").unlink()
    found, _ = verify_file(job, done.file, folder=tmp_path)
    assert not found.ok, "without the recoding nobody can tell"


def test_a_column_of_one_value_is_not_hidden(tmp_path: Path) -> None:
    table(tmp_path, [("town", "illness"), *[("Oslo", "flu"), ("Oslo", "cold")] * 10])
    done = run(town_project(), folder=tmp_path, rng=1)
    assert {row["town"] for row in rows_of(done.file)} == {"Oslo"}


# ---- a second look ---------------------------------------------------------------------------------------------------


def test_probabilistic_k_hides_whole_records_not_only_columns(tmp_path: Path) -> None:
    """Four jobs and four towns, every pair once: groups by column alone leave the table as it is."""
    pairs = [(f"job{a}", f"town{b}", f"ill{a}{b}") for a in range(4) for b in range(4)]
    table(tmp_path, [("job", "town", "illness"), *pairs])
    columns = {
        "job": {"role": "quasi-identifier"},
        "town": {"role": "quasi-identifier"},
        "illness": {"role": "insensitive", "accept": "identifying"},
    }
    promise = [{"model": "probabilistic k-anonymity", "k": 4}]
    right = 0
    for seed in range(12):
        job = project(
            columns=columns,
            privacy=promise,
            method={"name": "strict rank swapping"},
            release={"folder": f"r{seed}"},
        )
        done = run(job, folder=tmp_path, rng=seed)
        right += len({tuple(row.values()) for row in rows_of(done.file)} & set(pairs))
    assert right / (12 * 16) < 0.4, "about a quarter of the records keep both values by chance"
    apart = {"name": "strict rank swapping", "parameters": {"together": False}}
    with pytest.raises(Infeasible, match="probabilistic"):
        run(project(columns=columns, privacy=promise, method=apart), folder=tmp_path, rng=1)


def test_linkage_is_measured_on_what_is_released(tmp_path: Path) -> None:
    """For post-randomization too: an attack on the released file fares as the description says."""
    from keepsense.engines.protocol import engine
    from keepsense.release.figures.measure import linkage
    from keepsense.release.job.job import Job

    jobs = ("nurse", "surgeon", "baker", "clerk")
    table(tmp_path, [("job", "x"), *[(jobs[i % 4], "1") for i in range(60)]])
    columns = {"job": {"role": "quasi-identifier", "taxonomy": "wordnet"}, "x": {}}
    promise = [{"model": "linkage risk", "threshold": 1.0}]
    method = {"name": "post-randomization", "parameters": {"keep": 0.4}}
    done = run(project(columns=columns, privacy=promise, method=method), folder=tmp_path, rng=7)
    released = Counter(row["job"] for row in rows_of(done.file))
    cells = done.recodings[0]
    assert Counter(dict(zip(cells.values[0], [0] * 4, strict=True))).keys() >= released.keys()
    made = Counter[str]()
    for code, times in zip(cells.codes[:, 0].tolist(), cells.multiplicity.tolist(), strict=True):
        made[cells.values[0][code]] += times
    assert made == released, "the draw that was measured is the one that is released"
    with engine() as running:
        job = Job(project(columns=columns, privacy=promise, method=method), tmp_path, running, done.job.rng)
        assert linkage(job, done.recodings).risk == pytest.approx(
            done.description["risk"]["after"]["linked by meaning"]
        )


def test_differential_privacy_tells_nothing_that_is_computed_from_the_table(tmp_path: Path) -> None:
    table(tmp_path, [("sex",), *[("f",), ("m",)] * 20, ("",)])
    columns = {"sex": {"role": "quasi-identifier", "order": ["f", "m"]}}
    promise = [{"model": "differential privacy", "epsilon": 1.0}]
    method = {"name": "randomized response"}
    with pytest.raises(BadInput, match="empty cells"):
        run(project(columns=columns, privacy=promise, method=method), folder=tmp_path, rng=1)
    columns["sex"]["order"] = ["f", "m", ""]
    done = run(project(columns=columns, privacy=promise, method=method), folder=tmp_path, rng=1)
    assert done.description["utility"] == {}
    assert done.description["risk"] == {}
    assert all("lost" not in column for column in done.description["columns"].values())


def test_a_wildcard_is_one_in_its_own_column_only(tmp_path: Path) -> None:
    rows = [*[("x", "1")] * 5, *[("y", "1")] * 5, ("x", "")]
    table(tmp_path, [("a", "b"), *rows])
    for wild, good in (("a", False), ("b", True)):
        columns = {n: {"role": "quasi-identifier", "missing": "wildcard" if n == wild else "category"} for n in "ab"}
        job = project(columns=columns, privacy=[{"model": "k-anonymity", "k": 5}], release={"suppression": 0.0})
        found, _ = verify_file(job, tmp_path / "people.csv", folder=tmp_path)
        assert found.ok is good, wild


def test_what_describes_a_release_changes_only_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from keepsense.release.folder import place as places

    table(tmp_path, ALONE)
    run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
    before = {p: p.read_bytes() for p in (tmp_path / "release").rglob("*") if p.is_file()}

    def full(self: Any, description: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(places._File, "publish", full)
    strict = town_project(privacy=[{"model": "k-anonymity", "k": 20}], release={"suppression": 0.05})
    with pytest.raises(OSError, match="disk full"):
        run(strict, folder=tmp_path, rng=1)
    assert {p: p.read_bytes() for p in (tmp_path / "release").rglob("*") if p.is_file()} == before
    assert len(read_ledger(tmp_path)) == 1


def test_a_description_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    table(tmp_path, ALONE)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "release.json").write_text('{"mine": 1}')
    with pytest.raises(BadInput, match="folder of its own"):
        run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
    asked = {"folder": ".", "file": "ledger.jsonl", "suppression": 0.05}
    with pytest.raises(BadInput, match="overwrite"):
        run(town_project(release=asked), folder=tmp_path, rng=1)


def test_the_released_file_can_be_told_from_others(tmp_path: Path) -> None:
    import hashlib

    table(tmp_path, ALONE)
    done = run(town_project(release={"suppression": 0.05}), folder=tmp_path, rng=1)
    digest = hashlib.sha256(done.file.read_bytes()).hexdigest()
    assert json.loads((tmp_path / "release" / "release.json").read_text())["sha256"] == digest
    assert read_ledger(tmp_path)[-1].digest == digest


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("optimal", {"metric": 5}),
        ("optimal", {"suppression": "x"}),
        ("local recoding", {"seconds": "x"}),
        ("rank swapping", {"k": "many"}),
        ("rank swapping", {"k": True}),
        ("randomized response", {"epsilon": "x"}),
        ("post-randomization", {"keep": "x"}),
        ("set microaggregation", {"distance": 5}),
    ],
)
def test_parameters_of_another_type_are_refused(tmp_path: Path, method: str, parameters: dict[str, Any]) -> None:
    table(tmp_path, ALONE)
    columns = {**town_project().model_dump()["columns"]}
    if method.startswith("set"):
        columns["town"] = {"role": "quasi-identifier", "kind": "set"}
    job = project(columns=columns, method={"name": method, "parameters": parameters}, release={"suppression": 0.1})
    with pytest.raises(BadInput):
        run(job, folder=tmp_path, rng=1)


def test_edits_follow_other_methods_and_other_types(tmp_path: Path) -> None:
    data = {"age": [30 + i % 6 for i in range(60)], "sex": ["f", "m"] * 30, "x": ["1"] * 60}
    pq.write_table(pa.table(data), tmp_path / "people.parquet")
    columns = {
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "sex": {"role": "quasi-identifier"},
        "x": {},
    }
    edits = {"edits": [{"age": ["31"], "sex": ["f"]}]}
    swapped = run(
        project(
            source={"path": "people.parquet"},
            columns=columns,
            privacy=[{"model": "linkage risk", "threshold": 1.0}],
            method={"name": "rank swapping", "parameters": {"k": 20, **edits}},
        ),
        folder=tmp_path,
        rng=1,
    )
    released = pq.read_table(swapped.file).to_pylist()
    assert not any(row["age"] == 31 and row["sex"] == "f" for row in released)
    grouped = project(
        source={"path": "people.parquet"},
        columns=columns,
        method={"name": "microaggregation of records", "parameters": edits},
        release={"folder": "other"},
    )
    run(grouped, folder=tmp_path, rng=1)


def test_classes_of_a_release_count_its_sets(tmp_path: Path) -> None:
    rows = [
        ("fm"[i % 2], ";".join(sorted({"tea", "jam", "milk"} - {("tea", "jam", "milk")[i % 3]}))) for i in range(120)
    ]
    table(tmp_path, [("sex", "likes"), *rows])
    columns = {"sex": {"role": "quasi-identifier"}, "likes": {"role": "quasi-identifier", "kind": "set"}}
    done = run(project(columns=columns, privacy=[{"model": "k-anonymity", "k": 5}]), folder=tmp_path, rng=1)
    sizes = Counter(tuple(row.values()) for row in rows_of(done.file)).values()
    assert done.description["utility"]["average class size"] == pytest.approx(120 / len(sizes))
    assert done.description["utility"]["discernibility"] == sum(n * n for n in sizes)


def test_a_folder_that_is_taken_is_refused_before_anything_is_decided(tmp_path: Path) -> None:
    table(tmp_path, ALONE)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "release.json").write_text('{"keepsense": "0", "release": "others.csv"}')
    events: list[str] = []
    with pytest.raises(BadInput, match=r"others\.csv"):
        run(town_project(release={"suppression": 0.05}), folder=tmp_path, listener=lambda e: events.append(e.name))
    assert "counted" not in events
    assert "decided" not in events


def test_a_ledger_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(BadInput, match=r"ledger of releases cannot be read \(Is a directory\)"):
        read_ledger(tmp_path)


def test_a_full_disk_leaves_the_ledger_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Entry("2026-01-31", "people.csv", ("job",), [])
    with entered(tmp_path, first):
        pass
    before = (tmp_path / FILE).read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(BadInput, match="No space left"), entered(tmp_path, first):
        pass
    assert (tmp_path / FILE).read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


@pytest.mark.skipif(not Path("/dev/shm").is_dir() or os.name != "posix" or os.getuid() != 0, reason="needs to mount")
def test_a_really_full_disk_gives_no_half_line(tmp_path: Path) -> None:
    """A file system of one page: the entry does not fit, and nothing of it stays."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine does not let us mount a file system")
    try:
        with entered(tmp_path, Entry("2026-01-31", "people.csv", ("job",), [])):
            pass
        before = (tmp_path / FILE).read_bytes()
        large = Entry("2026-01-31", "people.csv", ("job",), [], notes=["x" * 20_000])
        with pytest.raises(BadInput, match="No space left"), entered(tmp_path, large):
            pass
        assert (tmp_path / FILE).read_bytes() == before
        assert read_ledger(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


# ---- who may look ----------------------------------------------------------------------------------------------------


def mode_of(path: Path) -> str:
    return oct(path.stat().st_mode)[-3:]


def test_what_is_not_the_release_is_for_its_owner_alone(tmp_path: Path) -> None:
    from keepsense.report.report import write_report

    write_people(tmp_path)
    write_jobs(tmp_path)
    (tmp_path / "release" / "private").mkdir(parents=True, mode=0o755)
    done = run(project(), folder=tmp_path, rng=1)
    private = tmp_path / "release" / "private"
    write_report(done, private / "report.html", alternatives=False)
    assert mode_of(private) == "700"
    assert {mode_of(file) for file in private.iterdir()} == {"600"}


def test_a_draft_of_a_killed_run_is_for_its_owner_alone_and_swept(tmp_path: Path) -> None:
    from keepsense.release.example import example_job
    from keepsense.release.folder.place import place_of

    job = example_job()
    place = place_of(job, tmp_path / "release")
    with place.draft(job) as draft:
        draft.write(job.table, Writing())
        rooms = [path for path in (tmp_path / "release").iterdir() if path.is_dir()]
        assert [mode_of(room) for room in rooms] == ["700"]
        assert draft.read_back().parent == rooms[0]
    stale = tmp_path / "release" / ".unverified.dead"
    stale.mkdir(parents=True)
    (stale / "people.csv").write_text("secret")
    with place.draft(job):
        assert not stale.exists()
