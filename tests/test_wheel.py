"""The wheel that others install holds all that Keepsense reads at run time."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "keepsense"


@pytest.mark.long
def test_the_built_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    reached = subprocess.run(
        [*pip, "download", "--no-deps", "--dest", str(tmp_path / "probe"), "hatchling"], check=False
    )
    if reached.returncode:
        pytest.skip("needs a package index, and none can be reached")
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("keepsense-*.whl")
    held = {name: entry.file_size for entry in zipfile.ZipFile(wheel).infolist() if (name := entry.filename)}
    source = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc")]
    data = [path for path in source if path.suffix != ".py"]
    assert {path.name for path in data} >= {"py.typed", "wordnet.taxonomy", "places.taxonomy", "WORDNET-LICENSE.txt"}
    for path in source:
        assert held.get(path.relative_to(ROOT / "src").as_posix()) == path.stat().st_size, path.name
    assert any(name.endswith("entry_points.txt") for name in held)
