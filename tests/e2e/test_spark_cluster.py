"""A real cluster on loopback, with a million people: a worker is killed, the driver is killed, and what comes of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark import NEEDS_JAVA, Cluster, cluster, environment

from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.verification.verifier import verify

pytestmark = [pytest.mark.long, NEEDS_JAVA]

ROWS = 1_000_000
FEWER = 100_000
"""Rows of the runs whose driver is killed, and of the next one: what they leave behind is the same as with more."""
QUASI = ("sex", "age", "postcode", "occupation")
PROJECT = """
unlisted = "drop"
[source]
path = "people.parquet"
[engine]
name = "spark"
master = "{master}"
[columns.sex]
role = "quasi-identifier"
[columns.age]
role = "quasi-identifier"
kind = "numeric"
[columns.postcode]
role = "quasi-identifier"
kind = "code"
[columns.occupation]
role = "quasi-identifier"
[columns.diagnosis]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "l-diversity"
l = 2
column = "diagnosis"
[method]
name = "optimal"
[release]
folder = "release"
suppression = 0.05
"""

# Runs the project; when the executors have begun to write the release, it kills what it is told to kill. Where they
# are done before that is seen, it kills when the verifier begins: the run is in its middle then, too.
DRIVER = """
import os, signal, sys, threading, time
from pathlib import Path
from keepsense.release.run import run

folder, victim = Path(sys.argv[1]), int(sys.argv[2])
begun, lock = threading.Event(), threading.Lock()
killed = []

def kill():
    with lock:
        if victim and not killed:
            killed.append(victim)
            os.kill(os.getpid() if victim < 0 else victim, signal.SIGKILL)

def watch():
    begun.wait()
    while not killed:
        if next(folder.glob("tmp/keepsense-*/*/_temporary/**/part-*"), None):
            kill()
        time.sleep(0.01)

def listener(event):
    if event.name == "stage" and event.details["stage"] == "write":
        begun.set()
    if event.name == "stage" and event.details["stage"] == "verify":
        kill()

if victim:
    threading.Thread(target=watch, daemon=True).start()
done = run(folder / "keepsense.toml", rng=7, listener=listener)
assert done.verification.ok
print("released", done.verification.records, done.verification.classes, len(killed))
"""


def write_table(folder: Path, rows: int) -> None:
    from keepsense.sample_people import write_people

    write_people(folder / "people.parquet", rows, seed=3)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path, running: Cluster) -> Path:
    (tmp_path / "keepsense.toml").write_text(PROJECT.format(master=running.master), encoding="utf-8")
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def run(folder: Path, victim: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "driver.py", str(folder), str(victim)],
        cwd=folder,
        env={**environment(folder), "TMPDIR": str(folder / "tmp")},
        capture_output=True,
        text=True,
        timeout=900,
    )


def leftovers(folder: Path) -> list[str]:
    """What a run left behind where nobody should find anything."""
    rooms = [path.name for path in (folder / "tmp").glob("keepsense-*")]
    drafts = [path.name for path in (folder / "release").glob(".*")] if (folder / "release").exists() else []
    return rooms + drafts


def test_a_killed_driver_releases_nothing_and_the_next_run_cleans_up(folder: Path, running: Cluster) -> None:
    write_table(folder, FEWER)
    killed = run(folder, -1)
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    assert not list((folder / "release").glob("[!.]*")), "nothing is released"
    assert leftovers(folder), "it was killed in the middle"
    running.wait("activeapps", 0)
    done = run(folder, 0)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("released")
    assert (folder / "release" / "people.parquet").is_file()
    assert leftovers(folder) == []


def test_a_killed_worker_does_not_stop_a_release(folder: Path, running: Cluster) -> None:
    write_table(folder, ROWS)
    running.wait("activeapps", 0)
    running.wait("aliveworkers", 2)
    victim = running.workers[0]
    done = run(folder, victim.pid)
    assert done.returncode == 0, done.stderr[-2000:]
    assert victim.wait(30) == -signal.SIGKILL
    _, records, classes, kills = done.stdout.split()
    assert int(kills) == 1
    assert int(records) > 0.94 * ROWS
    # somebody else looks, too
    again = verify(folder / "release" / "people.parquet", [KAnonymity(5)], quasi_identifiers=QUASI)
    assert again.ok
    assert (again.records, again.classes) == (int(records), int(classes))
    assert leftovers(folder) == []
