"""Where `fcntl` is missing, as on Windows: runs work, locks are those of `msvcrt`, or none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import sys
sys.modules["fcntl"] = None  # as where there is none
from pathlib import Path
"""

RELEASES = """
from keepsense.project.project_file import Project
from keepsense.release.run import run

Path("people.csv").write_text("job\\n" + "nurse\\nclerk\\n" * 5)
project = Project.model_validate({
    "source": {"path": "people.csv"},
    "columns": {"job": {"role": "quasi-identifier"}},
    "privacy": [{"model": "k-anonymity", "k": 5}],
})
for _ in range(2):
    assert run(project).verification.ok
names = sorted(path.name for path in Path("release").iterdir())
assert names == ["people.csv", "private", "release.json"], names
"""

# Windows locks bytes of a file, per open handle; other libraries must not take this system for it
MSVCRT = """
import os, keepsense.files, types
held = {}
def locking(descriptor, mode, size):
    at = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
    if held.setdefault(at, descriptor) != descriptor:
        raise OSError(13, "Permission denied")
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2, LK_LOCK=1)
"""

LOCKS = """
from keepsense.files import hold
with open("lock", "a+b") as first, open("lock", "a+b") as second:
    first.write(b"content")
    place = first.tell()
    assert hold(first.fileno()) is True
    assert first.tell() == place, "the place in the file is as it was"
    assert hold(second.fileno()) is False, "another has it"
    assert hold(first.fileno()) is True
assert len({at for _, at in held}) == 1 and max(at for _, at in held) > 1_000_000, "no byte of the content is locked"
"""

OTHER_RUN = """
from keepsense.errors import BadInput
from keepsense.files import hold
Path("release").mkdir(exist_ok=True)
with open("release/.keepsense.lock", "a") as other:
    assert hold(other.fileno()) is True
    try:
        run(project)
    except BadInput as error:
        assert "another run is writing into the folder" in str(error)
    else:
        raise AssertionError("two runs in one folder")
"""

# Windows removes no file that is open
OPEN_FILES_STAY = """
unlink = Path.unlink
def refused(self, missing_ok=False):
    if self.name == ".keepsense.lock":
        raise PermissionError(13, "The process cannot access the file")
    unlink(self, missing_ok)
Path.unlink = refused
for _ in range(2):
    assert run(project).verification.ok
"""


def _runs(script: str, folder: Path) -> None:
    """Runs without failing; its temporary files lie apart, for it does not see whose others are in use."""
    (apart := folder / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(apart)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(RELEASES, id="no locks at all"),
        pytest.param(MSVCRT + LOCKS, id="bytes are locked"),
        pytest.param(RELEASES + MSVCRT + OTHER_RUN, id="another run is kept away"),
        pytest.param(RELEASES + OPEN_FILES_STAY, id="open files stay"),
    ],
)
def test_without_fcntl(tmp_path: Path, script: str) -> None:
    _runs(BEGIN + script, tmp_path)


def test_a_release_that_another_program_holds_open_is_refused_and_stays(tmp_path: Path) -> None:
    """Renaming onto a file that Excel has open fails on Windows: nothing changes then."""
    script = (
        BEGIN
        + RELEASES
        + """
before = {path: path.read_bytes() for path in Path("release").rglob("*") if path.is_file()}
replace = Path.replace
def refused(self, target):
    if Path(target).parts[-2:] == ("release", "people.csv"):
        raise PermissionError(13, "The process cannot access the file because it is being used by another process")
    return replace(self, target)
Path.replace = refused
try:
    run(project)
except OSError:
    pass
else:
    raise AssertionError("it was replaced")
assert {path: path.read_bytes() for path in Path("release").rglob("*") if path.is_file()} == before
"""
    )
    _runs(script, tmp_path)
