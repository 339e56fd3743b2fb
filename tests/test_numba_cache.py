"""Compiled loops where no folder takes them. Folders are regular files here: rights do not bind who runs as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import keepsense
from keepsense import numba_cache
from keepsense.numba_cache import COMPILED_ANEW, KEPT_ELSEWHERE, njit, temporary_folder

PACKAGE = Path(keepsense.__file__).parent


@pytest.fixture
def closed(tmp_path: Path) -> dict[str, str]:
    """The environment of an installation that nobody can write to, and of a user without a place for files."""
    copy = tmp_path / "installed" / "keepsense"
    for folder, folders, files in os.walk(PACKAGE):
        folders[:] = [name for name in folders if name != "__pycache__"]
        here = copy / Path(folder).relative_to(PACKAGE)
        here.mkdir(parents=True)
        for file in files:
            (here / file).symlink_to(Path(folder, file))
        (here / "__pycache__").write_text("no folder")
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("no folder")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    below = str(nowhere / "below")
    places = {"NUMBA_CACHE_DIR": below, "HOME": below, "XDG_CACHE_HOME": below, "TMPDIR": str(temporary)}
    return {**os.environ, **places, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}


def run(environment: dict[str, str], *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=600)


CALL = """
import importlib, pkgutil, numpy as np, keepsense
names = [m.name for m in pkgutil.walk_packages(keepsense.__path__, "keepsense.") if m.name.endswith("_kernels")]
for name in names:
    importlib.import_module(name)
from keepsense.sets.set_kernels import add_rows
reach = np.zeros(2)
add_rows(np.arange(6.0).reshape(3, 2), np.array([0, 2]), 2, reach)
print(len(names), reach.tolist(), len(add_rows.stats.cache_hits), keepsense.__file__)
"""


def test_a_closed_installation_keeps_loops_among_the_temporary_files(closed: dict[str, str], tmp_path: Path) -> None:
    first, second = (run(closed, "-c", CALL, folder=tmp_path) for _ in range(2))
    assert first.returncode == 0, first.stderr
    number, *sums, hits, file = first.stdout.split()
    assert int(number) > 10
    assert sums == ["[4.0,", "6.0]"]
    assert hits == "0"
    assert Path(file).is_relative_to(tmp_path)
    assert first.stderr.count(KEPT_ELSEWHERE) == 1
    assert first.stderr.count("Warning") == 1
    assert second.stdout.split()[-2] == "1"  # what the first compiled was there


def test_loops_are_compiled_anew_where_not_even_a_temporary_folder_takes_them(
    closed: dict[str, str], tmp_path: Path
) -> None:
    Path(closed["TMPDIR"], _own_name()).write_text("no folder")
    for _ in range(2):
        done = run(closed, "-c", CALL, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "[4.0, 6.0] 0" in done.stdout
        assert done.stderr.count(COMPILED_ANEW) == 1
        assert done.stderr.count("Warning") == 1


@pytest.mark.long
def test_the_command_releases_from_a_closed_installation_and_says_it_once(
    closed: dict[str, str], tmp_path: Path
) -> None:
    rows = "\n".join(f"{20 + i % 40},{'mf'[i % 2]}" for i in range(200))
    (tmp_path / "people.csv").write_text(f"age,sex\n{rows}\n")
    (tmp_path / "keepsense.toml").write_text(
        '[source]\npath = "people.csv"\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[method]\nname = "mondrian"\n'
        '[columns.age]\nrole = "quasi-identifier"\nkind = "numeric"\n[columns.sex]\nrole = "quasi-identifier"\n'
    )
    done = run(closed, "-m", "keepsense", "run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "release" / "people.csv").exists()
    assert done.stderr.count(f"keepsense: warning: {KEPT_ELSEWHERE}") == 1


def _own_name() -> str:
    folder = temporary_folder()
    assert folder is not None
    return folder.name


def test_a_temporary_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = temporary_folder()
    assert folder is not None
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    assert temporary_folder() is None
    folder.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    assert temporary_folder() is None


def test_a_folder_that_closes_later_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "loops.py"
    source.write_text("from keepsense.numba_cache import njit\n@njit()\ndef thrice(n):\n    return 3 * n\n")
    folder = tmp_path / "kept"
    monkeypatch.setattr("numba.config.CACHE_DIR", str(folder))
    monkeypatch.setattr(numba_cache, "_told", set())
    space: dict[str, Any] = {}
    exec(compile(source.read_text(), str(source), "exec"), space)
    shutil.rmtree(folder)
    folder.write_text("no folder")
    with pytest.warns(RuntimeWarning, match="compiles them again"):
        assert space["thrice"](2) == 6
    assert space["thrice"](2.5) == 7.5  # and nothing is said again


def test_a_function_of_no_file_is_compiled_without_a_word() -> None:
    space: dict[str, Any] = {}
    exec("def third(number):\n    return number / 3", space)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert njit()(space["third"])(9) == 3
