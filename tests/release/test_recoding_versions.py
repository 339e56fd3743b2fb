"""Recoding files carry the version of their format; those from before there were versions are still read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.release.folder.recoding_file import read_recodings, save_recodings

RULES = [Cuts((Cut("sex", ("f", "m"), ("*", "*"), 1),))]


def test_a_file_states_its_version_and_a_bare_list_is_read_as_before(tmp_path: Path) -> None:
    file = tmp_path / "recoding.json"
    save_recodings(list(RULES), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("keepsense recoding", 2)
    file.write_text(json.dumps(document["rules"]), encoding="utf-8")
    assert [rule.levels for rule in read_recodings(file)] == [(1,)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 4}, "use a newer one"),
        ({"version": "2"}, "not a recoding file"),
        ({"version": 1}, "not a recoding file"),
        ({"format": "keepsense hierarchy"}, "not a recoding file"),
        ({"rules": {}}, "not a recoding file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    file = tmp_path / "recoding.json"
    save_recodings(list(RULES), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(document | change), encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_recodings(file)


def long_cells() -> Cells:
    size = 30_000
    counts = Counts.of({"n": list(range(size)), "job": ["nurse", None, "clerk"] * (size // 3)})
    codes = np.stack([np.arange(size) % 300, np.arange(size) % 2], axis=1)
    cells = Cells(
        ("n", "job"),
        (tuple(range(300)), ("medic", "*")),
        np.arange(size)[::-1],
        codes,
        np.ones(size),
        np.arange(size) % 7 == 0,
    )
    return cells.bound(counts)


def test_long_recodings_are_packed_and_come_back(tmp_path: Path) -> None:
    cells, file = long_cells(), tmp_path / "recoding.json"
    labels = tuple(f"label {i}" for i in range(60_000))
    cuts = Cuts((Cut("place", labels, labels),), frozenset((label,) for label in (*labels[:-1], None)))
    save_recodings([cells, cuts], file)
    assert json.loads(file.read_text(encoding="utf-8"))["version"] == 3
    again, rule = read_recodings(file)
    assert isinstance(again, Cells)
    assert isinstance(rule, Cuts)
    assert rule.suppress == cuts.suppress
    assert again.values == cells.values
    for name in ("source", "codes", "multiplicity", "suppressed"):
        before, after = getattr(cells, name), getattr(again, name)
        assert before.dtype == after.dtype
        assert before.tolist() == after.tolist()
    assert again.inputs is not None
    assert cells.inputs is not None
    assert again.inputs.values == cells.inputs.values
    assert again.inputs.codes.tolist() == cells.inputs.codes.tolist()
    packed = json.loads(file.read_text(encoding="utf-8"))["rules"][0]
    for name in ("codes", "source", "multiplicity", "suppressed"):
        assert len(packed[name]["packed"]) < len(json.dumps(getattr(cells, name).tolist())) / 2


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [10**12]},
        {"shape": [30_000, 2, 1]},
        {"shape": [-30_000, 2]},
        {"shape": [29_999, 2]},
        {"shape": [True, 60_000]},
        {"kind": "<f8"},
        {"kind": "|O"},
        {"packed": "AAAA"},
        {"packed": "no base64!"},
        {"packed": None},
    ],
)
def test_damaged_arrays_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "recoding.json"
    save_recodings([long_cells()], file)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["rules"][0]["codes"] |= change
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BadInput, match="not a recoding file"):
        read_recodings(file)
